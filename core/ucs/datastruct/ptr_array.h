/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Growing array of pointers. The index of a pointer serves as a small integer
 * id of an object. Free entries are reused, the most recently freed one first.
 * Not thread-safe.
 */
#ifndef UCS_PTR_ARRAY_H
#define UCS_PTR_ARRAY_H

#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/* An entry in use contains the pointer, whose lowest bit is 0. A free entry
 * contains 2 * (index of the next free entry) + 1. */
typedef struct ucs_ptr_array {
    uintptr_t *elems;
    unsigned size;      /* number of allocated entries */
    unsigned count;     /* number of entries in use */
    unsigned free_head; /* index of the first free entry; UINT32_MAX: none is
                         * free */
} ucs_ptr_array_t;

/* Maximum number of entries. */
#define UCS_PTR_ARRAY_MAX (1u << 30)

void ucs_ptr_array_init(ucs_ptr_array_t *array);
void ucs_ptr_array_cleanup(ucs_ptr_array_t *array);

/** Allocates `size` entries in total, so that inserting cannot fail while fewer
 *  are in use. On UCS_ERR_NO_MEMORY or UCS_ERR_EXCEEDS_LIMIT the array is
 *  unchanged. */
ucs_status_t ucs_ptr_array_reserve(ucs_ptr_array_t *array, unsigned size);

/** Inserts a pointer (even address, may be NULL) and returns its index. */
ucs_status_t ucs_ptr_array_insert(ucs_ptr_array_t *array, void *value,
                                  unsigned *index_p);

/** Frees the entry at `index`, which must be in use. */
void ucs_ptr_array_remove(ucs_ptr_array_t *array, unsigned index);

static inline unsigned ucs_ptr_array_count(const ucs_ptr_array_t *array)
{
    return array->count;
}

/** Returns whether the entry at `index` is in use; if so, *value_p receives its
 *  pointer. `index` may have any value. Hot path. */
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
