/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Public variables. The core's libraries have core_NAME for the linker (see
 * core/compat); programs use NAME, with its size.
 */
#ifndef UCS_TYPE_PUBLIC_TABLE_H
#define UCS_TYPE_PUBLIC_TABLE_H

#include <ucs/sys/compiler_def.h>

/** Also defines the public name of a table that this file defines. */
#define UCS_PUBLIC_TABLE(_name) \
    extern __typeof__(_name) public_##_name __asm__(#_name) \
        __attribute__((alias("core_" #_name), visibility("default")))

#endif
