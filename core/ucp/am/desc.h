/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that a handler of active messages may keep: in the transport's buffer,
 * in a copy, or an announcement of data that is still at the sender. The user
 * has a pointer to the data; the descriptor precedes it:
 *
 *   transport's:  | headroom: descriptor | head 8 | data ...
 *   copy:         | pad | descriptor | 8 | data ...
 *                                          ^ aligned; the user's pointer
 *
 *   IN_CALL --consumed--> TAKEN --handler returns--> freed
 *      `----handler returns UCS_INPROGRESS--> HELD --consumed--> freed
 *      `----handler returns another status--> freed
 *
 * Consumed: by ucp_am_recv_data_nbx or ucp_am_data_release, which the handler
 * may call itself.
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
    ucs_list_link_t link; /**< In the worker's list while HELD */
    size_t length;        /**< Bytes of data, received or at the sender */
    uint8_t state;        /**< ucp_am_desc_state_t */
    uint8_t home;         /**< ucp_am_desc_home_t */
    /** 1: the data is still at the sender, and the bytes after the descriptor
     *  are the announcement (RTS) */
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

/** Creates a descriptor for a copy of `size` bytes, in state IN_CALL. Frees
 *  the worker's reserve and tries once more if out of memory. Returns NULL if
 *  that fails, too. */
ucp_am_desc_t *ucp_am_desc_get(ucp_am_worker_t *am, size_t size);

/** Frees a descriptor that is in no list; the transport gets its buffer
 *  back. */
void ucp_am_desc_free(ucp_am_worker_t *am, ucp_am_desc_t *desc);

/** Called when the handler has returned and the user keeps the descriptor. */
static inline void ucp_am_desc_hold(ucp_am_worker_t *am, ucp_am_desc_t *desc)
{
    desc->state = UCP_AM_DESC_HELD;
    ucs_list_add_tail(&am->held, &desc->link);
}

/** Called when the user has consumed the data. */
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
