/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Growing array of pointers that assigns small integer ids to objects. Freed
 * places are reused, the most recent first. Not thread-safe.
 */
#ifndef UCS_PTR_ARRAY_H
#define UCS_PTR_ARRAY_H

#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/* A used place contains the pointer (lowest bit clear); a free one the index of
 * the next free place, shifted left, with the lowest bit set. */
typedef struct ucs_ptr_array {
    uintptr_t *elems;
    unsigned size;      /* places allocated */
    unsigned count;     /* places in use */
    unsigned free_head; /* index; UINT32_MAX if no place is free */
} ucs_ptr_array_t;

#define UCS_PTR_ARRAY_MAX (1u << 30)

void ucs_ptr_array_init(ucs_ptr_array_t *array);
void ucs_ptr_array_cleanup(ucs_ptr_array_t *array);

/** Allocates `size` places, so that only insertions beyond them can fail.
 *  UCS_ERR_NO_MEMORY or UCS_ERR_EXCEEDS_LIMIT leaves the array unchanged. */
ucs_status_t ucs_ptr_array_reserve(ucs_ptr_array_t *array, unsigned size);

/** Inserts a pointer (even address, may be NULL) and returns its index. */
ucs_status_t ucs_ptr_array_insert(ucs_ptr_array_t *array, void *value,
                                  unsigned *index_p);

/** Frees a used place. */
void ucs_ptr_array_remove(ucs_ptr_array_t *array, unsigned index);

static inline unsigned ucs_ptr_array_count(const ucs_ptr_array_t *array)
{
    return array->count;
}

/** Returns whether an index is in use, and if so, its pointer. Any value of the
 *  index is allowed. Hot path. */
static UCS_F_ALWAYS_INLINE int
ucs_ptr_array_lookup(const ucs_ptr_array_t *array, unsigned index,
                     void **value_p)
{
    if (ucs_unlikely((index >= array->size) || (array->elems[index] & 1))) {
        return 0;
    }

    *value_p = (void *)array->elems[index];
    return 1;
}

#define ucs_ptr_array_for_each(_value, _index, _array) \
    for ((_index) = 0; (_index) < (_array)->size; ++(_index)) \
        if (((_array)->elems[_index] & 1) == 0 && \
            (((_value) = (__typeof__(_value))(_array)->elems[_index]), 1))

END_C_DECLS

#endif
