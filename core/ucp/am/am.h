/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages: a message contains the id of a handler, the user's function
 * that the receiver calls for it. Wire format (sizes in bytes), and the
 * worker's table of handlers.
 *
 *   AM        | head 8 | payload | user's header |
 *   AM_REPLY  | head 8 | payload | user's header | sender's end 16 |
 *   AM_RNDV   | head 8 | announcement of rndv.h | user's header |
 *   FIRST_AM  | fragment's header, multi.h | head 8 | user's header | payload |
 *
 *   head      | id 2 | flags 2 | length of the user's header 4 |
 *
 * In AM and AM_REPLY the payload precedes the user's header, so that the
 * payload is always at the same offset: a transport can then align it in its
 * buffers.
 *
 * A sender's end is a ucp_wire_end_t: the UUID of its worker and the id of its
 * endpoint.
 */
#ifndef UCP_AM_H
#define UCP_AM_H

#include <endian.h>
#include <ucs/sys/compiler_def.h>
#include <uct/api/uct.h>

#include "ucp/base/worker.h"
#include "ucs/datastruct/list.h"
#include <ucs/datastruct/mpool.h>

/** Identifiers of messages. */
enum {
    UCP_AM_ID_AM       = 11, /**< A whole message */
    /** A whole message with the sender's end, so that the handler gets an
     *  endpoint for replies */
    UCP_AM_ID_AM_REPLY = 12,
    UCP_AM_ID_AM_RNDV  = 13, /**< Announces the data of a rendezvous (RTS,
                              *   ready to send) */
};

typedef struct ucp_am_desc ucp_am_desc_t;

typedef struct {
    ucp_le64_t word;
} ucp_am_head_t;

_Static_assert(sizeof(ucp_am_head_t) == 8, "wire layout");

/** Flags of the head. */
enum {
    /** Sent by the deprecated ucp_am_send_nb: delivered only to a handler that
     *  was set by the deprecated ucp_worker_set_am_handler */
    UCP_AM_WIRE_OLD   = UCS_BIT(0),
    /** AM_RNDV, FIRST_AM: the handler gets a reply endpoint */
    UCP_AM_WIRE_REPLY = UCS_BIT(2),
};

/** Returns the head as one number, in the processor's byte order. */
static UCS_F_ALWAYS_INLINE uint64_t ucp_am_word(unsigned id, unsigned flags,
                                                size_t header_length)
{
    return (uint64_t)id | ((uint64_t)flags << 16) |
           ((uint64_t)header_length << 32);
}

static UCS_F_ALWAYS_INLINE unsigned ucp_am_word_id(uint64_t word)
{
    return (unsigned)(word & UINT16_MAX);
}

static UCS_F_ALWAYS_INLINE unsigned ucp_am_word_flags(uint64_t word)
{
    return (unsigned)((word >> 16) & UINT16_MAX);
}

static UCS_F_ALWAYS_INLINE size_t ucp_am_word_header_length(uint64_t word)
{
    return (size_t)(word >> 32);
}

/** Flags of ucp_am_handler_t, in addition to UCP_AM_FLAG_* of the user. */
enum {
    /** Set by the deprecated ucp_worker_set_am_handler: the handler gets only
     *  messages with UCP_AM_WIRE_OLD. `arg` is from malloc() and is freed when
     *  the handler is replaced or removed */
    UCP_AM_HANDLER_OLD = UCS_BIT(8),
};

typedef struct ucp_am_handler {
    ucp_am_recv_callback_t cb; /**< NULL if the id has no handler */
    void *arg;
    uint32_t flags; /**< UCP_AM_FLAG_*, UCP_AM_HANDLER_* */
} ucp_am_handler_t;

/** State of a worker for active messages. */
typedef struct ucp_am_worker {
    ucp_am_handler_t *handlers; /**< Indexed by id */
    unsigned num_handlers;
    uintptr_t misaligned; /**< The user's alignment - 1: bits that must be 0 in
                           *   the address of received data */
    size_t prefix;        /**< Bytes before the data in a copy: descriptor,
                           *   head and padding */
    /** Pool of descriptors with space for small messages (desc.h) */
    ucs_mpool_t descs;
    ucs_list_link_t held; /**< Descriptors that the user keeps: those in the
                           *   state HELD (desc.h) */
} ucp_am_worker_t;

UCP_AREA_ACCESSOR(ucp_worker_am, struct ucp_worker, areas.am, ucp_am_worker_t)

/** Initializes the state. The data that handlers get is aligned to
 *  params->am_alignment. Returns UCS_ERR_INVALID_PARAM if this alignment is not
 *  a power of two. */
ucs_status_t ucp_am_worker_init(ucp_am_worker_t *am,
                                const ucp_worker_params_t *params);

/** Sets the headroom and the alignment with which an interface delivers
 *  messages, so that their data is aligned and a descriptor (desc.h) fits
 *  before it. The caller sets the field mask of `params`. */
void ucp_am_receive_layout(const ucp_am_worker_t *am,
                           uct_iface_params_t *params);

/** Rejects the rendezvous announcements (RTS) in the list `held`: their data is
 *  not received, and the peers' sends complete with UCS_ERR_CANCELED. */
void ucp_am_worker_reject_held(ucp_worker_h worker);

/** Frees the descriptors in the list `held`. The interfaces must be open,
 *  because buffers of transports are returned to them. */
void ucp_am_worker_release_held(ucp_worker_h worker);
void ucp_am_worker_cleanup(ucp_am_worker_t *am);

/** Sets the handler of `id`, or removes it if `cb` is NULL. Frees the `arg` of
 *  the earlier handler if it has UCP_AM_HANDLER_OLD. After a failure the caller
 *  still owns `arg`. */
ucs_status_t ucp_am_handler_set(ucp_worker_h worker, unsigned id,
                                ucp_am_recv_callback_t cb, void *arg,
                                uint32_t flags);

/** Sends an active message. `flags`: the user's UCP_AM_SEND_FLAG_*; `wire`:
 *  flags of the head (UCP_AM_WIRE_*). */
ucs_status_ptr_t ucp_am_send(ucp_ep_h ep, unsigned id, const void *header,
                             size_t header_length, const void *buffer,
                             size_t count, unsigned flags, unsigned wire,
                             const ucp_request_param_t *param);

/** UCT callbacks for received messages; `arg` is the worker. */
ucs_status_t ucp_am_handler(void *arg, void *data, size_t length,
                            unsigned flags);
ucs_status_t ucp_am_reply_handler(void *arg, void *data, size_t length,
                                  unsigned flags);
ucs_status_t ucp_am_rndv_handler(void *arg, void *data, size_t length,
                                 unsigned flags);

#endif
