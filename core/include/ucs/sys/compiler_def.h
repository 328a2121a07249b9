/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compiler and preprocessor macros that public headers use. They do not need
 * the library.
 */
#ifndef UCS_COMPILER_DEF_H
#define UCS_COMPILER_DEF_H

/*
 * Enclose the declarations of a public header: C linkage, and default
 * visibility, because the libraries are built with hidden symbols.
 */
#ifndef BEGIN_C_DECLS /* other libraries also have macros of this name */
#ifdef __cplusplus
#define BEGIN_C_DECLS \
    _Pragma("GCC visibility push(default)") extern "C" \
    {
#define END_C_DECLS \
    } \
    _Pragma("GCC visibility pop")
#else
#define BEGIN_C_DECLS _Pragma("GCC visibility push(default)")
#define END_C_DECLS   _Pragma("GCC visibility pop")
#endif
#endif

#include <alloca.h>
#include <stddef.h>
#include <stdint.h>
#include <ucs/sys/preprocessor.h>

/* Removes padding from a structure, or makes an enum as small as its values
 * allow. */
#define UCS_S_PACKED __attribute__((packed))

/* Accesses through this type may alias objects of any other type. */
#define UCS_S_MAY_ALIAS __attribute__((may_alias))

/* Branch hints for the hot path. */
#define ucs_likely(_x)   __builtin_expect(!!(_x), 1)
#define ucs_unlikely(_x) __builtin_expect(!!(_x), 0)

#define UCS_F_ALWAYS_INLINE       inline __attribute__((always_inline))
#define UCS_F_NOINLINE            __attribute__((noinline))
#define UCS_F_NORETURN            __attribute__((__noreturn__))
#define UCS_F_COLD                __attribute__((cold, noinline))
#define UCS_F_MAYBE_UNUSED        __attribute__((unused))
#define UCS_F_NONNULL             __attribute__((nonnull))
#define UCS_F_NON_NULL            UCS_F_NONNULL
#define UCS_F_PURE                __attribute__((pure))
#define UCS_F_NO_SANITIZE_ADDRESS __attribute__((no_sanitize_address))
#define UCS_F_PRINTF(_fmt, _args) __attribute__((format(printf, _fmt, _args)))
#define UCS_F_CTOR                __attribute__((constructor))
#define UCS_F_DTOR                __attribute__((destructor))
#define UCS_V_ALIGNED(_align)     __attribute__((aligned(_align)))
#define UCS_V_UNUSED              __attribute__((unused))

/* Sets a variable to zero, to suppress a false compiler warning that it is
 * uninitialized. */
#define UCS_V_INITIALIZED(_var) (_var = (ucs_typeof(_var))0)

#define UCS_EMPTY_STATEMENT \
    { \
    }

/* Begin a function that runs when its shared object is loaded, or unloaded. The
 * body follows. */
#define UCS_STATIC_INIT \
    static void UCS_F_CTOR UCS_PP_APPEND_UNIQUE_ID(ucs_static_init_)(void)
#define UCS_STATIC_CLEANUP \
    static void UCS_F_DTOR UCS_PP_APPEND_UNIQUE_ID(ucs_static_cleanup_)(void)

/* Maximum bytes that a function should allocate on the stack by alloca(). */
#define UCS_ALLOCA_MAX_SIZE 1200

/*
 * Marks functions that newer ones replace. All of them keep working, so the
 * compiler warns about a use only if the program defines UCS_WARN_DEPRECATED.
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

/* The value with only bit _i set, and the value with the lowest _i bits set. _i
 * is 0 to 63 for UCS_BIT, and 0 to 64 for UCS_MASK. */
#define UCS_BIT(_i)  (1ul << (_i))
#define UCS_MASK(_i) ((_i) >= 64 ? ~0ul : (UCS_BIT((_i)&63) - 1))

/* Bit number _i of a value: 0 or 1. */
#define UCS_BIT_GET(_value, _i) (!!((_value)&UCS_BIT(_i)))

/* Pointer arithmetic in bytes: the address _offset bytes after _ptr, the number
 * of bytes from _start to _end, and the address after an object of _type at
 * _ptr. */
#define UCS_PTR_BYTE_OFFSET(_ptr, _offset) \
    ((void *)((intptr_t)(_ptr) + (intptr_t)(_offset)))
#define UCS_PTR_BYTE_DIFF(_start, _end) \
    ((ptrdiff_t)((uintptr_t)(_end) - (uintptr_t)(_start)))
#define UCS_PTR_TYPE_OFFSET(_ptr, _type) \
    UCS_PTR_BYTE_OFFSET(_ptr, sizeof(_type))

/* The compiler does not move memory accesses across this macro. The processor
 * may still reorder them. */
#define ucs_compiler_fence() __asm__ volatile("" ::: "memory")

/* Prefetch the cache line of an address, for reading or writing. The "nt" forms
 * do not keep it in the cache for later uses. */
#define ucs_read_prefetch(_ptr)  __builtin_prefetch((const void *)(_ptr), 0, 3)
#define ucs_write_prefetch(_ptr) __builtin_prefetch((const void *)(_ptr), 1, 3)
#define ucs_nt_read_prefetch(_ptr) \
    __builtin_prefetch((const void *)(_ptr), 0, 0)
#define ucs_nt_write_prefetch(_ptr) \
    __builtin_prefetch((const void *)(_ptr), 1, 0)

/* Properties of types and expressions at compile time. */
#define ucs_typeof(_expr)               __typeof__(_expr)
#define ucs_is_constant(_expr)          __builtin_constant_p(_expr)
#define ucs_is_unsigned_type(_type)     ((_type)0 < (_type)-1)
#define ucs_field_type(_type, _field)   ucs_typeof(((_type *)0)->_field)
#define ucs_field_sizeof(_type, _field) sizeof(((_type *)0)->_field)
#ifdef __cplusplus
extern "C++" {
template <typename ucs_a, typename ucs_b> struct ucs_same_type_impl {
    enum { value = 0 };
};
template <typename ucs_a> struct ucs_same_type_impl<ucs_a, ucs_a> {
    enum { value = 1 };
};
}
#define ucs_same_type(_type1, _type2) \
    (ucs_same_type_impl<_type1, _type2>::value)
#else
#define ucs_same_type(_type1, _type2) \
    __builtin_types_compatible_p(_type1, _type2)
#endif

/* Exchanges the values that two pointers point to. */
#define ucs_swap(_ptr1, _ptr2) \
    do { \
        ucs_typeof(*(_ptr1)) _ucs_tmp = *(_ptr1); \
        *(_ptr1)                      = *(_ptr2); \
        *(_ptr2)                      = _ucs_tmp; \
    } while (0)

/* Iterates over an array: _elem points to each of its _size elements. */
#define ucs_carray_for_each(_elem, _array, _size) \
    for ((_elem) = (_array); (_elem) < ((_array) + (_size)); ++(_elem))

#define ucs_offsetof(_type, _member) offsetof(_type, _member)

/* Returns the structure that contains a member, given a pointer to the
 * member. */
#define ucs_container_of(_ptr, _type, _member) \
    ((_type *)((char *)(_ptr)-offsetof(_type, _member)))

/* Returns the structure whose member "super" (its base) is at a pointer. */
#define ucs_derived_of(_ptr, _type) ucs_container_of(_ptr, _type, super)

#define ucs_static_array_size(_array) (sizeof(_array) / sizeof((_array)[0]))

#endif
