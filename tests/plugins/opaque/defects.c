/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The defects of this plugin. The linker lets calls between its files come here
 * first (--wrap). The name of the library's folder selects a defect; without one,
 * all calls are passed on.
 */
#include "opaque.h"

#include "../common/defect.h"

void *__real_opaque_touchable(const void *address, size_t length);
void *__wrap_opaque_touchable(const void *address, size_t length);

static int breaks(const char *defect)
{
    return defect_is(&opaque_transport, defect);
}

/* copies-shifted: the address of a copy of more than 1000 bytes is one byte too
 * high. */
void *__wrap_opaque_touchable(const void *address, size_t length)
{
    char *touchable = __real_opaque_touchable(address, length);

    return ((touchable != NULL) && (length > 1000) &&
            breaks("copies-shifted")) ?
               touchable + 1 :
               touchable;
}
