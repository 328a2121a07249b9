/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connects lanes endpoint to endpoint, for transports whose endpoints cannot be
 * created with the address of an interface.
 *
 *   requester                                responder
 *   REQUESTED  --- REQUEST: addresses ---->  creates and connects its side
 *              <-- REPLY: addresses -------  REPLIED
 *   connects,
 *   DONE       --- ACK ------------------->  DONE
 *
 * A side sends over such a lane only after its peer has reported that the lane
 * is connected at the peer's side. Until then a stub (stub.h) takes the place
 * of the lane: a send over it waits in the endpoint's queue, and so do all
 * later sends. If lane 0 needs no handshake, it carries the messages of the
 * handshake, in order with all other messages; otherwise an auxiliary link
 * (link.h) carries them. A request also introduces the endpoint (introduce.h):
 * the endpoint that the responder creates becomes the reply endpoint for the
 * requester.
 *
 * Each endpoint that a user creates requests a peer endpoint of its own. Two
 * workers that connect to each other at the same time get two independent pairs
 * of endpoints, so that the order of the requests does not matter.
 */
#ifndef UCP_WIREUP_HANDSHAKE_H
#define UCP_WIREUP_HANDSHAKE_H

#include "ucp/wireup/deadline.h"
#include "ucp/wireup/lanes.h"
#include "ucp/wireup/link.h"
#include "ucp/wireup/stub.h"

/** State of one side of a handshake; see the picture above. */
typedef enum {
    UCP_WIREUP_REQUESTED,
    UCP_WIREUP_REPLIED,
    /** All lanes are connected. A later progress frees the structure
     *  ucp_wireup; if the ACK is still queued on the auxiliary link, after the
     *  ACK is sent */
    UCP_WIREUP_DONE,
} ucp_wireup_state_t;

/** A handshake of an endpoint. */
struct ucp_wireup {
    ucp_ep_h ep;
    ucp_wireup_state_t state;
    ucp_wireup_deadline_t deadline; /**< Not running once DONE */
    ucp_wireup_link_t link; /**< Not in use if lane 0 carries all messages */
    int retiring;           /**< Non-zero: `retire` is registered, and the next
                             *   progress frees this structure */
    uct_oneshot_t retire;
    /** Indexed by lane; stubs of lanes that need no handshake are not in use */
    ucp_wireup_stub_t stubs[UCP_MAX_LANES];
};
typedef struct ucp_wireup ucp_wireup_t;

/** Wire-up state of an endpoint. */
typedef struct ucp_wireup_ep {
    /** The handshake under way, while ep->connecting is set; otherwise NULL */
    ucp_wireup_t *handshake;
} ucp_wireup_ep_t;

UCP_AREA_ACCESSOR(ucp_ep_wireup, struct ucp_ep, areas.wireup, ucp_wireup_ep_t)

/** Starts the handshake for the lanes that need one; no effect if there are
 *  none. `request`: the peer's request that the endpoint was created for; NULL
 *  if the endpoint sends a request itself. */
ucs_status_t ucp_wireup_begin(ucp_ep_h ep, const ucp_address_info_t *peer,
                              const ucp_wireup_lanes_t *lanes,
                              const ucp_wireup_request_t *request);

/** Sends the request for the lanes that need a handshake. */
ucs_status_t ucp_wireup_send_request(ucp_ep_h ep,
                                     const ucp_address_info_t *peer,
                                     const ucp_wireup_lanes_t *lanes);

/** Sends the reply to the request, with the addresses of this side of the
 *  requested lanes. */
ucs_status_t ucp_wireup_send_reply(ucp_ep_h ep, const ucp_wireup_lanes_t *lanes,
                                   const ucp_wireup_request_t *request);

/** Returns the auxiliary link, or NULL if lane 0 carries the messages. */
static inline ucp_wireup_link_t *ucp_wireup_link_of(ucp_wireup_t *wireup)
{
    return (wireup->link.uct != NULL) ? &wireup->link : NULL;
}

/** Returns the auxiliary link while the endpoint waits for the reply to its
 *  request; otherwise NULL, and also if lane 0 carries the handshake. */
ucp_wireup_link_t *ucp_wireup_early_link(ucp_ep_h ep);

/** Non-zero if this transport's endpoint belongs to the auxiliary link of the
 *  endpoint, or to a lane whose place a stub still takes. */
int ucp_wireup_owns(ucp_ep_h ep, uct_ep_h uct);

/** ucp_wireup_release(): closes the auxiliary link, when the lanes are
 *  destroyed. ucp_wireup_free(): frees the rest of the state, when the
 *  endpoint is freed. */
void ucp_wireup_release(ucp_ep_h ep);
void ucp_wireup_free(ucp_ep_h ep);

/** Set up and clean up the wire-up state of a worker. */
void ucp_wireup_worker_init(ucp_worker_h worker);
void ucp_wireup_worker_cleanup(ucp_worker_h worker);

/** Called when `uct` has failed, a transport's endpoint that is not part of a
 *  UCP endpoint. If it carries a rejection (reject.h), drops the rejection and
 *  returns non-zero. */
int ucp_wireup_link_failed(ucp_worker_h worker, uct_ep_h uct);

/** UCT callbacks for received messages; `arg` is the worker. */
ucs_status_t ucp_wireup_request_handler(void *arg, void *data, size_t length,
                                        unsigned flags);
ucs_status_t ucp_wireup_reply_handler(void *arg, void *data, size_t length,
                                      unsigned flags);
ucs_status_t ucp_wireup_ack_handler(void *arg, void *data, size_t length,
                                    unsigned flags);

#endif
