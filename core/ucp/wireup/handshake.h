/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connecting lanes endpoint to endpoint, for transports whose endpoints cannot
 * be created towards an interface.
 *
 *   asker                                     answerer
 *   ASKED      --- REQUEST: my addresses -->  makes its half, connects it
 *              <-- REPLY: mine -------------  ANSWERED
 *   connects,
 *   DONE       --- ACK ------------------->   DONE
 *
 * Nothing goes over such a lane before its own side knows that the other is
 * connected: until then a stub stands in for it and everything waits in the
 * endpoint's queue. Where lane 0 needs no handshake it carries these messages,
 * in order with the others; else an auxiliary link does. A request introduces
 * the endpoint as well (introduce.h): the answerer's half is the endpoint that
 * answers it.
 *
 * Each endpoint that a user makes asks for a pair of its own. Two workers that
 * connect to each other at once get two pairs, each with its own life, and
 * nothing depends on who was first.
 */
#ifndef UCP_WIREUP_HANDSHAKE_H
#define UCP_WIREUP_HANDSHAKE_H

#include "ucp/wireup/lanes.h"
#include "ucp/wireup/link.h"
#include "ucp/wireup/stub.h"

typedef enum {
    UCP_WIREUP_ASKED,
    UCP_WIREUP_ANSWERED,
    UCP_WIREUP_DONE      /**< What waits on the link (the ACK) still leaves */
} ucp_wireup_state_t;

struct ucp_wireup {
    ucp_ep_h           ep;
    ucp_wireup_state_t state;
    ucp_wireup_link_t  link;    /**< Not in use: lane 0 carries it all */
    int                retiring; /**< The next progress frees it */
    uct_oneshot_t      retire;
    ucp_wireup_stub_t  stubs[UCP_MAX_LANES]; /**< By lane */
};
typedef struct ucp_wireup ucp_wireup_t;

/** An endpoint has got these lanes: starts what they need to be connected.
 *  `request`: the peer asked for the endpoint; NULL: it asks. */
ucs_status_t ucp_wireup_begin(ucp_ep_h ep, const ucp_address_info_t *peer,
                              const ucp_wireup_lanes_t *lanes,
                              const ucp_wireup_request_t *request);

/** The link by which a message gets past lanes that are not connected yet.
 *  NULL: there is none, and lane 0 will do. */
ucp_wireup_link_t *ucp_wireup_early_link(ucp_ep_h ep);

/** Non-zero if the endpoint needs this one of a transport for its wire-up. */
int ucp_wireup_owns(ucp_ep_h ep, uct_ep_h uct);

/** Lets the link go with the lanes, and frees the rest with the endpoint. */
void ucp_wireup_release(ucp_ep_h ep);
void ucp_wireup_free(ucp_ep_h ep);

/** What a worker has left of it. */
void ucp_wireup_worker_init(ucp_worker_h worker);
void ucp_wireup_worker_cleanup(ucp_worker_h worker);

/** An endpoint of a transport has failed that belongs to no endpoint of ours.
 *  Non-zero if it was one of wire-up. */
int ucp_wireup_link_failed(ucp_worker_h worker, uct_ep_h uct);

/** Receive side: UCT callbacks, `arg` is the worker. */
ucs_status_t ucp_wireup_request_handler(void *arg, void *data, size_t length,
                                        unsigned flags);
ucs_status_t ucp_wireup_reply_handler(void *arg, void *data, size_t length,
                                      unsigned flags);
ucs_status_t ucp_wireup_ack_handler(void *arg, void *data, size_t length,
                                    unsigned flags);

#endif
