/* SPDX-License-Identifier: BSD-3-Clause */
/* The class that terminates chains of superclasses. A program may contain a
 * copy of this variable (copy relocation), so the drop-in library libucs.so.0
 * is built with this file too (core/compat/README.md). */
#include <ucs/type/class.h>

ucs_class_t __attribute__((visibility("default"))) void_class = {
    "void",
    0,
    NULL,
    NULL,
};
