/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of objects of one size (mpool.h): creation, growth by chunks, release,
 * and reports of objects that were not released. */
#include <ucs/datastruct/mpool.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/datastruct/mpool_memory.h"
#include "ucs/debug/assert.h"
#include "ucs/sys/math.h"
#include "ucs/sys/sys.h"

/* Maximum number of warnings about objects that were not released. */
#define MPOOL_LEAKS_SHOWN 8

/* Describes a chunk. This description is allocated separately from the memory
 * of the chunk, which may be special (registered, or on a device). */
struct ucs_mpool_chunk {
    struct ucs_mpool_chunk *next;
    void *memory; /* as allocated, to release it */
    char *elems;  /* aligned start: array of objects, each after its header
                   * (ucs_mpool_elem_t) */
    unsigned num_elems; /* length of that array */
};

typedef struct ucs_mpool_chunk mpool_chunk_t;

static const ucs_mpool_ops_t default_ops;

void ucs_mpool_params_reset(ucs_mpool_params_t *params)
{
    memset(params, 0, sizeof(*params));
    params->alignment       = UCS_CACHE_LINE_SIZE;
    params->elems_per_chunk = 128;
    params->max_elems       = UINT_MAX;
    params->max_chunk_size  = 1ul << 20;
    params->grow_factor     = 2.0;
    params->name            = "";
}

ucs_status_t ucs_mpool_init(const ucs_mpool_params_t *params, ucs_mpool_t *mp)
{
    struct ucs_mpool_data *data;
    size_t alignment = params->alignment;
    size_t bytes;

    if ((params->elem_size == 0) || !ucs_is_pow2(alignment) ||
        (params->elems_per_chunk == 0) || (params->max_elems == 0) ||
        !(params->grow_factor >= 1.0) ||
        (params->align_offset > params->elem_size)) {
        ucs_error("memory pool '%s': invalid parameters (object size %zu, "
                  "alignment %zu at %zu, %u objects a chunk, %u at most, "
                  "growth %g)",
                  (params->name == NULL) ? "" : params->name, params->elem_size,
                  alignment, params->align_offset, params->elems_per_chunk,
                  params->max_elems, params->grow_factor);
        return UCS_ERR_INVALID_PARAM;
    }

    /* at least the alignment of a pointer, for the header before each object */
    alignment = ucs_max(alignment, sizeof(ucs_mpool_elem_t));
    if (ucs_check_add(params->elem_size, sizeof(ucs_mpool_elem_t) + alignment,
                      &bytes) ||
        ucs_check_add(sizeof(*data), params->priv_size, &bytes)) {
        return UCS_ERR_INVALID_PARAM;
    }

    data = mpool_memory_alloc(&bytes, mpool_memory_of(params->malloc_safe));
    if (data == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    memset(data, 0, bytes);
    data->elem_size        = params->elem_size;
    data->stride           = ucs_align_up_pow2(params->elem_size +
                                                   sizeof(ucs_mpool_elem_t),
                                               alignment);
    data->alignment        = alignment;
    data->align_offset     = sizeof(ucs_mpool_elem_t) + params->align_offset;
    data->malloc_safe      = params->malloc_safe;
    data->max_elems        = params->max_elems;
    data->next_chunk_elems = params->elems_per_chunk;
    data->grow_factor      = params->grow_factor;
    data->max_chunk_size   = params->max_chunk_size;
    data->ops              = (params->ops == NULL) ? &default_ops : params->ops;
    data->priv             = data + 1;
    ucs_strncpy_zero(data->name, (params->name == NULL) ? "" : params->name,
                     sizeof(data->name));
    mp->freelist = NULL;
    mp->data     = data;
    return UCS_OK;
}

void *ucs_mpool_priv(ucs_mpool_t *mp)
{
    return mp->data->priv;
}

const char *ucs_mpool_name(const ucs_mpool_t *mp)
{
    return mp->data->name;
}

static ucs_status_t mpool_chunk_memory(ucs_mpool_t *mp, size_t *size_p,
                                       void **memory_p)
{
    const ucs_mpool_ops_t *ops = mp->data->ops;
    size_t wanted              = *size_p;
    ucs_status_t status;

    if (ops->chunk_alloc == NULL) {
        *memory_p = mpool_memory_alloc(size_p,
                                       mpool_memory_of(mp->data->malloc_safe));
        return (*memory_p == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
    }

    status = ops->chunk_alloc(mp, size_p, memory_p);
    ucs_assert((status != UCS_OK) || (*size_p >= wanted));
    (void)wanted;
    return status;
}

static void mpool_chunk_free(ucs_mpool_t *mp, mpool_chunk_t *chunk)
{
    if (mp->data->ops->chunk_release == NULL) {
        mpool_memory_free(chunk->memory);
    } else {
        mp->data->ops->chunk_release(mp, chunk->memory);
    }

    mpool_memory_free(chunk);
}

/* Adds a chunk with at least `wanted` objects, as far as the maximum number of
 * objects of the pool permits: fewer if necessary, more if the allocated memory
 * has space for them. UCS_ERR_NO_RESOURCE if the maximum is reached. */
static ucs_status_t mpool_grow(ucs_mpool_t *mp, unsigned wanted)
{
    struct ucs_mpool_data *data = mp->data;
    ucs_mpool_elem_t *elem;
    ucs_status_t status;
    mpool_chunk_t *chunk;
    uintptr_t base;
    size_t size, room;
    unsigned i;

    wanted = ucs_min(wanted, data->max_elems - data->num_elems);
    if (wanted == 0) {
        return UCS_ERR_NO_RESOURCE;
    }

    if (ucs_check_mul(wanted, data->stride, &size) ||
        ucs_check_add(size, data->alignment + data->stride, &size)) {
        return UCS_ERR_NO_MEMORY;
    }

    chunk = mpool_memory_alloc(&(size_t){sizeof(*chunk)},
                               mpool_memory_of(data->malloc_safe));
    if (chunk == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    /* The stride was added only to check for an overflow; `alignment` bytes are
     * enough to align the first object. */
    size -= data->stride;
    status = mpool_chunk_memory(mp, &size, &chunk->memory);
    if (status != UCS_OK) {
        mpool_memory_free(chunk);
        return status;
    }

    base = (uintptr_t)chunk->memory;
    base += ucs_padding(base + data->align_offset, data->alignment);
    room             = ((uintptr_t)chunk->memory + size - base) / data->stride;
    chunk->elems     = (char *)base;
    chunk->num_elems = (unsigned)ucs_min(room, (size_t)(data->max_elems -
                                                        data->num_elems));
    chunk->next      = data->chunks;
    data->chunks     = chunk;
    data->num_elems += chunk->num_elems;

    for (i = chunk->num_elems; i-- > 0;) {
        elem = (ucs_mpool_elem_t *)(chunk->elems + i * data->stride);
        if (data->ops->obj_init != NULL) {
            data->ops->obj_init(mp, elem + 1, chunk->memory);
        }
        elem->next   = mp->freelist;
        mp->freelist = elem;
        ucs_mpool_poison(mp, elem + 1);
    }

    return UCS_OK;
}

static ucs_status_t mpool_grow_next(ucs_mpool_t *mp)
{
    struct ucs_mpool_data *data = mp->data;
    size_t limit = ucs_max(data->max_chunk_size / data->stride, (size_t)1);
    ucs_status_t status;
    double wanted;

    wanted = ucs_min(data->next_chunk_elems, (double)limit);
    wanted = ucs_min(wanted, (double)(INT_MAX / 2));
    status = mpool_grow(mp, ucs_max((unsigned)wanted, 1u));
    if (status == UCS_OK) {
        data->next_chunk_elems = wanted * data->grow_factor;
    }

    return status;
}

void *ucs_mpool_get_grow(ucs_mpool_t *mp)
{
    ucs_status_t status = mpool_grow_next(mp);

    if (status != UCS_OK) {
        if (status != UCS_ERR_NO_RESOURCE) {
            ucs_debug("memory pool '%s' cannot grow beyond %u objects: %s",
                      mp->data->name, mp->data->num_elems,
                      ucs_status_string(status));
        }
        return NULL;
    }

    return ucs_mpool_get_inline(mp);
}

static unsigned mpool_num_free(const ucs_mpool_t *mp)
{
    const ucs_mpool_elem_t *elem;
    unsigned count = 0;

    for (elem = mp->freelist; elem != NULL; elem = elem->next) {
        ++count;
    }

    return count;
}

ucs_status_t ucs_mpool_hugetlb_malloc(ucs_mpool_t *mp, size_t *size_p,
                                      void **chunk_p)
{
    *chunk_p = mpool_memory_alloc(size_p,
                                  mpool_memory_of(mp->data->malloc_safe) |
                                      MPOOL_MEMORY_HUGE);
    return (*chunk_p == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
}

void ucs_mpool_hugetlb_free(ucs_mpool_t *mp, void *chunk)
{
    (void)mp;
    mpool_memory_free(chunk);
}

ucs_status_t ucs_mpool_reserve(ucs_mpool_t *mp, unsigned num_elems)
{
    unsigned num_free = mpool_num_free(mp);

    if (num_free >= num_elems) {
        return UCS_OK;
    } else if (num_elems - num_free >
               mp->data->max_elems - mp->data->num_elems) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }

    return mpool_grow(mp, num_elems - num_free);
}

unsigned ucs_mpool_num_elems(const ucs_mpool_t *mp)
{
    return mp->data->num_elems;
}

unsigned ucs_mpool_num_used(const ucs_mpool_t *mp)
{
    return mp->data->num_elems - mpool_num_free(mp);
}

int ucs_mpool_is_exhausted(const ucs_mpool_t *mp)
{
    return (mp->freelist == NULL) &&
           (mp->data->num_elems >= mp->data->max_elems);
}

void *ucs_mpool_get(ucs_mpool_t *mp)
{
    return ucs_mpool_get_inline(mp);
}

void ucs_mpool_put(void *obj)
{
    ucs_mpool_put_inline(obj);
}

/* Makes the address sanitizer report accesses to a free object. */
void ucs_mpool_poison(ucs_mpool_t *mp, void *obj)
{
#ifdef UCS_MPOOL_POISON
    ASAN_POISON_MEMORY_REGION(obj, mp->data->elem_size);
#else
    (void)mp;
    (void)obj;
#endif
}

void ucs_mpool_unpoison(ucs_mpool_t *mp, void *obj)
{
#ifdef UCS_MPOOL_POISON
    ASAN_UNPOISON_MEMORY_REGION(obj, mp->data->elem_size);
#else
    (void)mp;
    (void)obj;
#endif
}

static void mpool_report_leak(ucs_mpool_t *mp, ucs_mpool_elem_t *elem)
{
    char text[256] = "";

    if (mp->data->ops->obj_str != NULL) {
        mp->data->ops->obj_str(mp, elem + 1, text, sizeof(text));
    }

    ucs_warn("memory pool '%s': object %p was never returned%s%s",
             mp->data->name, (void *)(elem + 1), (*text != '\0') ? ": " : "",
             text);
}

/* Sets `mpool` in the headers of all free objects to NULL, so that the headers
 * of objects in use are those in which it is not NULL. Empties the list of free
 * objects. */
static void mpool_mark_free(ucs_mpool_t *mp)
{
    ucs_mpool_elem_t *elem, *next;

    for (elem = mp->freelist; elem != NULL; elem = next) {
        next = elem->next;
        ucs_mpool_unpoison(mp, elem + 1);
        elem->mpool = NULL;
    }

    mp->freelist = NULL;
}

void ucs_mpool_cleanup(ucs_mpool_t *mp, int leak_check)
{
    struct ucs_mpool_data *data = mp->data;
    ucs_mpool_elem_t *elem;
    mpool_chunk_t *chunk;
    unsigned leaked = 0;
    unsigned i;

    mpool_mark_free(mp);
    while ((chunk = data->chunks) != NULL) {
        for (i = 0; i < chunk->num_elems; ++i) {
            elem = (ucs_mpool_elem_t *)(chunk->elems + i * data->stride);
            if ((elem->mpool != NULL) && (leaked++ < MPOOL_LEAKS_SHOWN) &&
                leak_check) {
                mpool_report_leak(mp, elem);
            }
            if (data->ops->obj_cleanup != NULL) {
                data->ops->obj_cleanup(mp, elem + 1);
            }
        }

        data->chunks = chunk->next;
        mpool_chunk_free(mp, chunk);
    }

    if (leak_check && (leaked > MPOOL_LEAKS_SHOWN)) {
        ucs_warn("memory pool '%s': %u more objects were never returned",
                 data->name, leaked - MPOOL_LEAKS_SHOWN);
    }

    mpool_memory_free(data);
    mp->data = NULL;
}
