/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A shared object without an entry point that links a plugin as a library.
 * dlsym() on this object finds the entry point of the linked plugin, which the
 * core must not use.
 */
#include <ucx/plugin.h>

extern int fake_entries;

__attribute__((visibility("default"))) int *fake_borrowed(void);

int *fake_borrowed(void)
{
    return &fake_entries;
}
