/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_am_desc_t describes data that a handler of active messages may keep. The
 * data is in the transport's buffer or in a copy, or it is still at the sender
 * and only its announcement has arrived. The user has a pointer to the data;
 * the descriptor precedes the data:
 *
 *   transport's buffer:  | headroom: descriptor | head 8 | data ...
 *   copy:                | pad | descriptor | 8 unused | data ...
 *                                                         ^ aligned, the user's
 *                                                           pointer
 *
 * States during and after the call of the handler:
 *
 *   IN_CALL --consumed--> TAKEN --handler returns--> freed
 *      `----handler returns UCS_INPROGRESS--> HELD --consumed--> freed
 *      `----handler returns another status--> freed
 *
 * The data is consumed by ucp_am_recv_data_nbx or ucp_am_data_release, which
 * may be called in the handler or later.
 */
#ifndef UCP_AM_DESC_H
#define UCP_AM_DESC_H

#include "ucp/am/am.h"

typedef enum {
    UCP_AM_DESC_IN_CALL,
    UCP_AM_DESC_TAKEN,
    UCP_AM_DESC_HELD,
} ucp_am_desc_state_t;

typedef enum {
    UCP_AM_DESC_UCT,  /**< In the transport's buffer */
    UCP_AM_DESC_POOL, /**< A copy from the pool */
    UCP_AM_DESC_HEAP, /**< A copy from the heap */
} ucp_am_desc_home_t;

struct ucp_am_desc {
    ucs_list_link_t link; /**< In ucp_am_worker_t::held in the state HELD */
    /** Bytes of data, in this process or at the sender */
    size_t length;
    uint8_t state; /**< ucp_am_desc_state_t */
    uint8_t home;  /**< ucp_am_desc_home_t */
    /** 1: the data is still at the sender, and the announcement (RTS) is in its
     *  place */
    uint8_t rndv;
};

_Static_assert(sizeof(ucp_am_desc_t) == UCP_RX_HEADROOM,
               "the headroom is for descriptors of any class");

static UCS_F_ALWAYS_INLINE ucp_am_desc_t *ucp_am_desc_of(void *data)
{
    return (ucp_am_desc_t *)((char *)data - sizeof(ucp_am_head_t)) - 1;
}

static UCS_F_ALWAYS_INLINE char *ucp_am_desc_data(ucp_am_desc_t *desc)
{
    return (char *)(desc + 1) + sizeof(ucp_am_head_t);
}

/** Creates a descriptor for a copy of `size` bytes, in state IN_CALL. If out of
 *  memory, frees the worker's reserve (base/reserve.h) and tries once more.
 *  Returns NULL if that fails, too. */
ucp_am_desc_t *ucp_am_desc_get(ucp_am_worker_t *am, size_t size);

/** Frees a descriptor that is in no list. If the data is in a transport's
 *  buffer, the transport gets the buffer back. */
void ucp_am_desc_free(ucp_am_worker_t *am, ucp_am_desc_t *desc);

/** Called when the handler has returned UCS_INPROGRESS: the user keeps the
 *  descriptor. */
static inline void ucp_am_desc_hold(ucp_am_worker_t *am, ucp_am_desc_t *desc)
{
    desc->state = UCP_AM_DESC_HELD;
    ucs_list_add_tail(&am->held, &desc->link);
}

/** Called when the user has consumed the data. Frees the descriptor if the
 *  handler has returned; otherwise the caller of the handler frees it. */
static inline void ucp_am_desc_done(ucp_am_worker_t *am, ucp_am_desc_t *desc)
{
    if (desc->state == UCP_AM_DESC_HELD) {
        ucs_list_del(&desc->link);
        ucp_am_desc_free(am, desc);
    } else {
        desc->state = UCP_AM_DESC_TAKEN;
    }
}

#endif
