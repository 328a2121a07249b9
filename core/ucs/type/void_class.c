/* SPDX-License-Identifier: BSD-3-Clause */
/* The class that terminates chains of superclasses. Programs may contain a copy
 * of it, so libucs has its own (see core/compat). */
#include <ucs/type/class.h>

ucs_class_t __attribute__((visibility("default"))) void_class = {
    "void",
    0,
    NULL,
    NULL,
};
