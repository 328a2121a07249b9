/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Areas: bytes in a worker, an endpoint or a request whose structure another
 * folder defines, usually that of a class of operations (base/class.h). Offset
 * and size are constants, so that access is as fast as to a named member.
 */
#ifndef UCP_AREA_H
#define UCP_AREA_H

#include <stddef.h>
#include <stdint.h>
#include <ucs/sys/compiler_def.h>

/** Declares an area of `_size` bytes, aligned to 8. */
#define UCP_AREA(_name, _size) _Alignas(8) char _name[_size]

/** Defines `_accessor`, which returns the structure in the area `_member` of an
 *  object of type `_owner`. Does not compile if the area is too small. */
#define UCP_AREA_ACCESSOR(_accessor, _owner, _member, _type) \
    _Static_assert(sizeof(_type) <= sizeof(((_owner *)NULL)->_member), \
                   "the area " #_member " is too small for " #_type); \
    static UCS_F_ALWAYS_INLINE _type *_accessor(const _owner *owner) \
    { \
        return (_type *)(uintptr_t)owner->_member; \
    }

#endif
