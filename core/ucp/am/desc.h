/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a handler of active messages may keep: data, in the transport's buffer
 * or in a copy, or the announcement of data that is still at its sender. The
 * user holds a pointer to the data; this stands in front of it:
 *
 *   transport's:  | headroom: descriptor | head 8 | data ...
 *   copy:         | pad | descriptor | 8 | data ...
 *                                          ^ aligned; what the user holds
 *
 *   IN_CALL --used up--> TAKEN --handler returns--> freed
 *      `----handler returns UCS_INPROGRESS--> HELD --used up--> freed
 *      `----handler returns something else--> freed
 *
 * Used up: by ucp_am_recv_data_nbx or ucp_am_data_release, which the handler
 * itself may call.
 */
#ifndef UCP_AM_DESC_H
#define UCP_AM_DESC_H

#include "ucp/am/am.h"

typedef enum {
    UCP_AM_DESC_IN_CALL,
    UCP_AM_DESC_TAKEN,
    UCP_AM_DESC_HELD
} ucp_am_desc_state_t;

typedef enum {
    UCP_AM_DESC_UCT,    /**< In the transport's buffer */
    UCP_AM_DESC_POOL,   /**< A copy */
    UCP_AM_DESC_HEAP    /**< Likewise */
} ucp_am_desc_home_t;

struct ucp_am_desc {
    ucs_list_link_t link;    /**< HELD */
    size_t          length;  /**< Bytes of data, here or at the sender */
    uint8_t         state;   /**< ucp_am_desc_state_t */
    uint8_t         home;    /**< ucp_am_desc_home_t */
    uint8_t         rndv;    /**< It is an announcement */
};

/** What interfaces are asked to leave free in front of a message. */
enum { UCP_AM_HEADROOM = sizeof(ucp_am_desc_t) };

static UCS_F_ALWAYS_INLINE ucp_am_desc_t *ucp_am_desc_of(void *data)
{
    return (ucp_am_desc_t *)((char *)data - sizeof(ucp_am_head_t)) - 1;
}

static UCS_F_ALWAYS_INLINE char *ucp_am_desc_data(ucp_am_desc_t *desc)
{
    return (char *)(desc + 1) + sizeof(ucp_am_head_t);
}

/** One for `size` bytes, IN_CALL. NULL: out of memory. */
ucp_am_desc_t *ucp_am_desc_get(ucp_am_worker_t *am, size_t size);

/** Frees one that is in no list; the transport's goes back to it. */
void ucp_am_desc_free(ucp_am_worker_t *am, ucp_am_desc_t *desc);

/** The handler has returned and keeps it. */
static inline void ucp_am_desc_hold(ucp_am_worker_t *am, ucp_am_desc_t *desc)
{
    desc->state = UCP_AM_DESC_HELD;
    ucs_list_add_tail(&am->held, &desc->link);
}

/** The user has used it up. */
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
