/* SPDX-License-Identifier: BSD-3-Clause */
/* The class that terminates chains of superclasses. Programs may hold a copy
 * of this variable, so the drop-in library libucs.so.0 is built with this file
 * too (core/compat/README.md). */
#include <ucs/type/class.h>

ucs_class_t __attribute__((visibility("default"))) void_class = {
    "void",
    0,
    NULL,
    NULL,
};
