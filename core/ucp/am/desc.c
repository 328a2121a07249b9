/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocation and release of ucp_am_desc_t, the header of data that a handler
 * of active messages may keep (desc.h), and the layout of received messages
 * that leaves space for it.
 */
#include "ucp/am/desc.h"

#include "ucp/base/worker.h"
#include "ucs/sys/math.h"

#include <stdlib.h>

enum {
    /* Minimum alignment of the data in a copy, in bytes; a larger alignment
     * that the user requests is used instead */
    LEAST_ALIGNMENT       = 16,
    /* If the user's alignment is above this, copies are not pooled: the
     * elements of the pool would be mostly padding */
    MOST_POOLED_ALIGNMENT = 256,
    /* Copies of more bytes of data are not pooled */
    SMALL_DESC_SIZE       = 256,
};

static size_t copy_alignment(const ucp_am_worker_t *am)
{
    return (am->misaligned >= LEAST_ALIGNMENT) ? am->misaligned + 1 :
                                                 LEAST_ALIGNMENT;
}

ucs_status_t ucp_am_worker_init(ucp_am_worker_t *am,
                                const ucp_worker_params_t *params)
{
    size_t alignment = 1;
    ucs_mpool_params_t pool;

    if (params->field_mask & UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT) {
        alignment = params->am_alignment;
        if (!ucs_is_pow2(alignment)) {
            return UCS_ERR_INVALID_PARAM;
        }
    }

    am->handlers     = NULL;
    am->num_handlers = 0;
    am->misaligned   = alignment - 1;
    am->prefix       = ucs_align_up_pow2(sizeof(ucp_am_desc_t) +
                                             sizeof(ucp_am_head_t),
                                         copy_alignment(am));
    ucs_list_head_init(&am->held);

    ucs_mpool_params_reset(&pool);
    pool.elem_size       = SMALL_DESC_SIZE;
    pool.alignment       = LEAST_ALIGNMENT;
    pool.elems_per_chunk = 32;
    pool.name            = "ucp_active_messages";
    if (alignment <= MOST_POOLED_ALIGNMENT) {
        pool.elem_size += am->prefix;
        pool.alignment = copy_alignment(am);
    }
    return ucs_mpool_init(&pool, &am->descs);
}

void ucp_am_receive_layout(const ucp_am_worker_t *am,
                           uct_iface_params_t *params)
{
    size_t alignment = ucs_max(am->misaligned + 1, _Alignof(ucp_am_desc_t));

    params->rx_headroom     = UCP_RX_HEADROOM;
    params->am_alignment    = alignment;
    params->am_align_offset = sizeof(ucp_am_head_t) % alignment;
}

void ucp_am_worker_release_held(ucp_worker_h worker)
{
    ucp_am_worker_t *am = ucp_worker_am(worker);

    while (!ucs_list_is_empty(&am->held)) {
        ucp_am_desc_done(am, ucs_list_head(&am->held, ucp_am_desc_t, link));
    }
}

static ucp_am_desc_t *desc_get(ucp_am_worker_t *am, size_t size)
{
    int from_heap = (size > SMALL_DESC_SIZE) ||
                    (am->misaligned >= MOST_POOLED_ALIGNMENT);
    ucp_am_desc_t *desc;
    void *memory;

    if (!from_heap) {
        memory = ucs_mpool_get_inline(&am->descs);
    } else if ((size > SIZE_MAX - am->prefix) ||
               posix_memalign(&memory, copy_alignment(am), am->prefix + size)) {
        memory = NULL;
    }
    if (memory == NULL) {
        return NULL;
    }

    desc        = ucp_am_desc_of((char *)memory + am->prefix);
    desc->state = UCP_AM_DESC_IN_CALL;
    desc->home  = from_heap ? UCP_AM_DESC_HEAP : UCP_AM_DESC_POOL;
    desc->rndv  = 0;
    return desc;
}

ucp_am_desc_t *ucp_am_desc_get(ucp_am_worker_t *am, size_t size)
{
    ucp_am_desc_t *desc = desc_get(am, size);

    if (ucs_unlikely(desc == NULL) &&
        ucp_reserve_spend(ucs_container_of(am, ucp_worker_t, areas.am))) {
        desc = desc_get(am, size);
    }
    return desc;
}

void ucp_am_desc_free(ucp_am_worker_t *am, ucp_am_desc_t *desc)
{
    void *memory = ucp_am_desc_data(desc) - am->prefix;

    switch (desc->home) {
    case UCP_AM_DESC_UCT:
        uct_iface_release_desc(desc);
        break;
    case UCP_AM_DESC_POOL:
        ucs_mpool_put_inline(memory);
        break;
    default:
        free(memory);
        break;
    }
}
