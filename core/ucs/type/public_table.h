/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Public variables. Inside the core's libraries, the symbol of such a variable
 * is core_NAME; programs refer to the symbol NAME. The size of that symbol must
 * be the size of the variable, because the linker may create a copy of that
 * size in a program (copy relocation; see core/compat/README.md).
 */
#ifndef UCS_TYPE_PUBLIC_TABLE_H
#define UCS_TYPE_PUBLIC_TABLE_H

#include <ucs/sys/compiler_def.h>

/** Defines the symbol NAME as an alias of core_NAME, for _name = NAME. Used in
 *  the file that defines the variable. */
#define UCS_PUBLIC_TABLE(_name) \
    extern __typeof__(_name) public_##_name __asm__(#_name) \
        __attribute__((alias("core_" #_name), visibility("default")))

#endif
