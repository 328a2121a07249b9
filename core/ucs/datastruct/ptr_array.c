/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of pointers (ptr_array.h): growth, and the list of free entries. */
#include "ucs/datastruct/ptr_array.h"

#include <stdlib.h>

#include "ucs/debug/assert.h"
#include "ucs/sys/math.h"

#define PTR_ARRAY_NONE UINT32_MAX

/* Returns the value of a free entry: the encoded index of the next free
 * entry. */
static uintptr_t free_place(unsigned next)
{
    return ((uintptr_t)next << 1) | 1;
}

static unsigned next_free(uintptr_t elem)
{
    return (unsigned)(elem >> 1);
}

void ucs_ptr_array_init(ucs_ptr_array_t *array)
{
    array->elems     = NULL;
    array->size      = 0;
    array->count     = 0;
    array->free_head = PTR_ARRAY_NONE;
}

void ucs_ptr_array_cleanup(ucs_ptr_array_t *array)
{
    free(array->elems);
    ucs_ptr_array_init(array);
}

static ucs_status_t ptr_array_grow(ucs_ptr_array_t *array, unsigned min_size)
{
    unsigned size = ucs_max(array->size * 2, 8u);
    uintptr_t *elems;
    unsigned i;

    size = ucs_min(ucs_max(size, min_size), UCS_PTR_ARRAY_MAX);
    if (size < min_size) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }

    elems = realloc(array->elems, size * sizeof(*elems));
    if (elems == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    for (i = size; i-- > array->size;) {
        elems[i]         = free_place(array->free_head);
        array->free_head = i;
    }

    array->elems = elems;
    array->size  = size;
    return UCS_OK;
}

ucs_status_t ucs_ptr_array_reserve(ucs_ptr_array_t *array, unsigned size)
{
    return (size > array->size) ? ptr_array_grow(array, size) : UCS_OK;
}

ucs_status_t ucs_ptr_array_insert(ucs_ptr_array_t *array, void *value,
                                  unsigned *index_p)
{
    ucs_status_t status;
    unsigned index;

    if ((uintptr_t)value & 1) {
        return UCS_ERR_INVALID_PARAM;
    }

    if (array->free_head == PTR_ARRAY_NONE) {
        status = ptr_array_grow(array, array->size + 1);
        if (status != UCS_OK) {
            return status;
        }
    }

    index               = array->free_head;
    array->free_head    = next_free(array->elems[index]);
    array->elems[index] = (uintptr_t)value;
    ++array->count;
    *index_p = index;
    return UCS_OK;
}

void ucs_ptr_array_remove(ucs_ptr_array_t *array, unsigned index)
{
    ucs_assert_always((index < array->size) && !(array->elems[index] & 1));
    array->elems[index] = free_place(array->free_head);
    array->free_head    = index;
    --array->count;
}
