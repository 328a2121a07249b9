/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory pools of plugins (mpool_create of <ucx/host.h>). A plugin takes
 * elements from the free list and puts them back by inline functions
 * (ucx_mpool_get). This file fills the list, and reports elements that were not
 * put back when the pool is destroyed.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/debug/log.h"
#include "ucs/sys/math.h"
#include "uct/base/host_services.h"

/* Default size of a chunk in bytes, and the smallest default number of elements
 * in a chunk. */
#define UCT_MPOOL_CHUNK_SIZE 65536
#define UCT_MPOOL_CHUNK_MIN  8

typedef struct uct_host_mpool {
    ucx_mpool_t super;         /* has the free list; the plugin sees it */
    ucx_mpool_params_t params; /* as passed by the plugin, but with a minimum
                                * `alignment` and a default for elems_per_chunk;
                                * members that an older plugin does not have are
                                * zero */
    char *name;                /* for messages */
    size_t stride;             /* bytes from one element to the next */
    unsigned num_elems;        /* number of elements in all chunks */
    void **chunks;             /* array of the allocated chunks */
    unsigned num_chunks;       /* length of that array */
} uct_host_mpool_t;

/* Returns the offset of the first element in a chunk. */
static size_t uct_host_mpool_padding(const uct_host_mpool_t *mp,
                                     const void *chunk)
{
    uintptr_t aligned = (uintptr_t)chunk + mp->params.align_offset;

    return ucs_padding(aligned, mp->params.alignment);
}

static ucs_status_t uct_host_chunk_alloc(uct_host_mpool_t *mp, size_t *size_p,
                                         void **chunk_p)
{
    if (mp->params.chunk_alloc != NULL) {
        return mp->params.chunk_alloc(mp->params.arg, size_p, chunk_p);
    }

    *chunk_p = malloc(*size_p);
    return (*chunk_p == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
}

static void uct_host_chunk_free(uct_host_mpool_t *mp, void *chunk)
{
    if (mp->params.chunk_free != NULL) {
        mp->params.chunk_free(mp->params.arg, chunk);
    } else if (mp->params.chunk_alloc == NULL) {
        free(chunk);
    }
}

/* Returns an error text if a parameter is invalid, otherwise NULL. align_offset
 * may be any number from 0 to elem_size, also an odd one: ucx_mpool_elem_next()
 * does not require that elements are aligned. */
static const char *uct_host_mpool_fault(const ucx_mpool_params_t *params)
{
    if (!ucs_is_pow2(params->alignment) || (params->alignment > 4096)) {
        return "alignment is not a power of two from 1 to 4096";
    } else if (params->elem_size < sizeof(void *)) {
        return "elem_size is smaller than a pointer";
    } else if (params->elem_size > (SIZE_MAX / 4)) {
        return "elem_size is too large";
    } else if (params->align_offset > params->elem_size) {
        return "align_offset lies outside the element";
    } else if (params->max_elems == 0) {
        return "max_elems is 0; UINT_MAX means no limit";
    }
    return NULL;
}

ucs_status_t uct_host_mpool_create(const ucx_mpool_params_t *params,
                                   ucx_mpool_t **mpool_p)
{
    uct_host_mpool_t *mp;
    const char *fault;

    if ((params == NULL) || (mpool_p == NULL) ||
        !UCX_TABLE_HAS(params, max_elems)) {
        return UCS_ERR_INVALID_PARAM;
    }

    fault = uct_host_mpool_fault(params);
    if (fault != NULL) {
        ucs_error("memory pool %s: %s (elem_size %zu, alignment %zu, "
                  "align_offset %zu, max_elems %u)",
                  (params->name == NULL) ? "?" : params->name, fault,
                  params->elem_size, params->alignment, params->align_offset,
                  params->max_elems);
        return UCS_ERR_INVALID_PARAM;
    }

    mp = calloc(1, sizeof(*mp));
    if (mp == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    memcpy(&mp->params, params, ucs_min(params->size, sizeof(mp->params)));
    mp->params.alignment = ucs_max(params->alignment, sizeof(void *));
    mp->stride = ucs_align_up_pow2(params->elem_size, mp->params.alignment);
    mp->name   = strdup((params->name == NULL) ? "plugin" : params->name);
    if (mp->name == NULL) {
        free(mp);
        return UCS_ERR_NO_MEMORY;
    }

    if (mp->params.elems_per_chunk == 0) {
        mp->params.elems_per_chunk = (unsigned)
            ucs_max((size_t)UCT_MPOOL_CHUNK_SIZE / mp->stride,
                    (size_t)UCT_MPOOL_CHUNK_MIN);
    }

    *mpool_p = &mp->super;
    return UCS_OK;
}

/* Adds the elements of a new chunk to the front of the free list, in ascending
 * order of their addresses. */
static void uct_host_mpool_carve(uct_host_mpool_t *mp, void *chunk, size_t size)
{
    const unsigned room = mp->params.max_elems - mp->num_elems;
    char *first         = (char *)chunk + uct_host_mpool_padding(mp, chunk);
    size_t available    = size - (size_t)(first - (char *)chunk);
    size_t count, i;
    char *elem;

    count = (available >= mp->params.elem_size) ?
                ((available - mp->params.elem_size) / mp->stride) + 1 :
                0;
    count = ucs_min(count, (size_t)room);
    for (i = count; i-- > 0;) {
        elem = first + (i * mp->stride);
        if (mp->params.elem_init != NULL) {
            mp->params.elem_init(mp->params.arg, elem, chunk);
        }
        ucx_mpool_put(&mp->super, elem);
    }

    mp->num_elems += (unsigned)count;
}

static ucs_status_t uct_host_mpool_add_chunk(uct_host_mpool_t *mp)
{
    unsigned count = ucs_min(mp->params.elems_per_chunk,
                             mp->params.max_elems - mp->num_elems);
    ucs_status_t status;
    void **chunks, *chunk;
    size_t size;

    if (ucs_check_mul(mp->stride, count, &size) ||
        ucs_check_add(size, mp->params.alignment, &size)) {
        return UCS_ERR_NO_MEMORY;
    }

    chunks = realloc(mp->chunks,
                     ((size_t)mp->num_chunks + 1) * sizeof(*chunks));
    if (chunks == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    mp->chunks = chunks;
    status     = uct_host_chunk_alloc(mp, &size, &chunk);
    if (status != UCS_OK) {
        return status;
    }

    mp->chunks[mp->num_chunks++] = chunk;
    uct_host_mpool_carve(mp, chunk, size);
    return UCS_OK;
}

void *uct_host_mpool_grow(ucx_mpool_t *mpool)
{
    uct_host_mpool_t *mp = (uct_host_mpool_t *)mpool;
    ucx_mpool_elem_t *elem;
    ucs_status_t status;

    if ((mpool->free_list == NULL) && (mp->num_elems < mp->params.max_elems)) {
        status = uct_host_mpool_add_chunk(mp);
        if (status != UCS_OK) {
            ucs_diag("memory pool %s: could not grow beyond %u elements: %s",
                     mp->name, mp->num_elems, ucs_status_string(status));
        }
    }

    elem = mpool->free_list;
    if (elem != NULL) {
        mpool->free_list = ucx_mpool_elem_next(elem);
    }
    return elem;
}

void uct_host_mpool_destroy(ucx_mpool_t *mpool)
{
    uct_host_mpool_t *mp = (uct_host_mpool_t *)mpool;
    unsigned num_free    = 0;
    ucx_mpool_elem_t *elem;
    unsigned i;

    for (elem = mpool->free_list; elem != NULL;
         elem = ucx_mpool_elem_next(elem)) {
        ++num_free;
    }

    if (num_free != mp->num_elems) {
        ucs_warn("memory pool %s: %d elements were not released", mp->name,
                 (int)(mp->num_elems - num_free));
    }

    for (i = 0; i < mp->num_chunks; ++i) {
        uct_host_chunk_free(mp, mp->chunks[i]);
    }
    free(mp->chunks);
    free(mp->name);
    free(mp);
}
