/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The few compiler and preprocessor helpers that public headers rest on.
 * Nothing here needs the library; internal helpers live in core/ucs/sys.
 */
#ifndef UCS_COMPILER_DEF_H
#define UCS_COMPILER_DEF_H

/*
 * Around the declarations of a public header: C linkage, and visible outside
 * the shared object although the libraries are built with hidden symbols.
 */
#ifdef __cplusplus
#define BEGIN_C_DECLS _Pragma("GCC visibility push(default)") extern "C" {
#define END_C_DECLS } _Pragma("GCC visibility pop")
#else
#define BEGIN_C_DECLS _Pragma("GCC visibility push(default)")
#define END_C_DECLS _Pragma("GCC visibility pop")
#endif

#include <stddef.h>
#include <stdint.h>

/* Shrinks a structure or an enum to the bytes that its members need. */
#define UCS_S_PACKED __attribute__((packed))

/* Branch hints for the hot path. */
#define ucs_likely(_x) __builtin_expect(!!(_x), 1)
#define ucs_unlikely(_x) __builtin_expect(!!(_x), 0)

#define UCS_F_ALWAYS_INLINE inline __attribute__((always_inline))
#define UCS_F_NOINLINE __attribute__((noinline))
#define UCS_F_NORETURN __attribute__((noreturn))
#define UCS_F_COLD __attribute__((cold, noinline))
#define UCS_F_MAYBE_UNUSED __attribute__((unused))
#define UCS_F_NONNULL __attribute__((nonnull))
#define UCS_F_PRINTF(_fmt, _args) __attribute__((format(printf, _fmt, _args)))
#define UCS_F_CTOR __attribute__((constructor))
#define UCS_F_DTOR __attribute__((destructor))
#define UCS_V_ALIGNED(_align) __attribute__((aligned(_align)))
#define UCS_V_UNUSED __attribute__((unused))

/*
 * Marks what a newer function replaces. The warning at each use is for those
 * who ask for it by defining UCS_WARN_DEPRECATED: programs that use the old
 * names, which all keep working, shall build clean as they are.
 */
#ifdef UCS_WARN_DEPRECATED
#define UCS_DEPRECATED __attribute__((deprecated))
#else
#define UCS_DEPRECATED
#endif

#ifdef __cplusplus
#define UCS_STATIC_ASSERT(_cond) static_assert((_cond), #_cond)
#else
#define UCS_STATIC_ASSERT(_cond) _Static_assert((_cond), #_cond)
#endif

/* The value with only bit _i set; the value with the lowest _i bits set,
 * where _i may be anything from 0 to 64. */
#define UCS_BIT(_i) (1ul << (_i))
#define UCS_MASK(_i) ((_i) >= 64 ? ~0ul : (UCS_BIT((_i) & 63) - 1))

/* Text and token pasting after macro expansion. */
#define UCS_PP_MAKE_STRING_(_x) #_x
#define UCS_PP_MAKE_STRING(_x) UCS_PP_MAKE_STRING_(_x)
#define UCS_PP_TOKENPASTE_(_a, _b) _a##_b
#define UCS_PP_TOKENPASTE(_a, _b) UCS_PP_TOKENPASTE_(_a, _b)
#define UCS_PP_UNIQUE_ID __COUNTER__

#define ucs_offsetof(_type, _member) offsetof(_type, _member)

/* From a pointer to a member to the structure around it. */
#define ucs_container_of(_ptr, _type, _member) \
    ((_type *)((char *)(_ptr) - offsetof(_type, _member)))

/* The same, for a type whose first member is its base "super". */
#define ucs_derived_of(_ptr, _type) ucs_container_of(_ptr, _type, super)

#define ucs_static_array_size(_array) (sizeof(_array) / sizeof((_array)[0]))

#endif
