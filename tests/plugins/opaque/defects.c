/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deliberate defects of the example plugin opaque, which the conformance kit
 * must find. With the linker option --wrap, calls of opaque_touchable() in the
 * plugin call the function in this file. The name of the library's folder
 * selects a defect; if it names none, all calls are passed on.
 */
#include "opaque.h"

#include "../common/defect.h"

void *__real_opaque_touchable(const void *address, size_t length);
void *__wrap_opaque_touchable(const void *address, size_t length);

static int breaks(const char *defect)
{
    return defect_is(&opaque_transport, defect);
}

/* Defect copies-shifted: if a copy has more than 1000 bytes, its address is one
 * byte too high. */
void *__wrap_opaque_touchable(const void *address, size_t length)
{
    char *touchable = __real_opaque_touchable(address, length);

    return ((touchable != NULL) && (length > 1000) &&
            breaks("copies-shifted")) ?
               touchable + 1 :
               touchable;
}
