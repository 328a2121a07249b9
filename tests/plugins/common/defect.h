/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects a planted defect: the name of the folder that a library was loaded from.
 * The kit's tests copy a library into a folder of that name.
 */
#ifndef TEST_DEFECT_H
#define TEST_DEFECT_H

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* Was the library that contains `object` loaded from a folder with this name? */
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
