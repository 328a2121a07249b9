/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Variables that programs see. The core's libraries call their own core_NAME for
 * the linker (see core/compat); programs look for NAME, with the size.
 */
#ifndef UCS_TYPE_PUBLIC_TABLE_H
#define UCS_TYPE_PUBLIC_TABLE_H

#include <ucs/sys/compiler_def.h>

/** Gives a table that this file defines its public name, too. */
#define UCS_PUBLIC_TABLE(_name)                           \
    extern __typeof__(_name) public_##_name __asm__(#_name) \
        __attribute__((alias("core_" #_name), visibility("default")))

#endif
