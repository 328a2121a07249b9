/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects a deliberate defect of a plugin by the name of the folder from which
 * its library was loaded. The tests of the conformance kit (ucx-plugin-check)
 * copy the library into a folder with the name of the defect that the kit must
 * find.
 */
#ifndef TEST_DEFECT_H
#define TEST_DEFECT_H

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* Returns whether the library that contains the address `object` was loaded
 * from a folder with this name. */
static inline int defect_is(const void *object, const char *name)
{
    const size_t length = strlen(name);
    const char *end;
    Dl_info info;

    if (dladdr(object, &info) == 0) {
        return 0;
    }
    end = strrchr(info.dli_fname, '/');
    return (end != NULL) && ((size_t)(end - info.dli_fname) > length) &&
           (end[-(ptrdiff_t)length - 1] == '/') &&
           (strncmp(end - length, name, length) == 0);
}

#endif
