/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A shared object without an entry point that links a plugin: a look-up of the
 * entry point by name would find the linked plugin's.
 */
#include <ucx/plugin.h>

extern int fake_entries;

__attribute__((visibility("default"))) int *fake_borrowed(void);

int *fake_borrowed(void)
{
    return &fake_entries;
}
