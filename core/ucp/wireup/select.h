/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choosing the lanes of an endpoint: which interfaces of ours reach which of
 * the peer's, and which pairs are best for what the context is used for.
 */
#ifndef UCP_SELECT_H
#define UCP_SELECT_H

#include "ucp/wireup/address.h"
#include "ucp/wireup/records.h"

/** The longest message that carries UCP's own headers and keys; a transport
 *  whose messages are shorter has none, as far as UCP is concerned. */
enum { UCP_MIN_AM_BCOPY = 256 };

typedef struct ucp_lane_choice {
    uint8_t iface_index;  /**< Of the worker's */
    uint8_t entry_index;  /**< Of the address's */
    uint8_t remote_md;    /**< The peer's domain, or UCP_NULL_MD */
    uint8_t to_ep;        /**< Connected endpoint to endpoint (handshake.h) */
    uint8_t asked_lane;   /**< The peer's lane that is its other side, or
                               UCP_NULL_LANE */
    uint8_t remote_device; /**< The first of the address's entries that is on
                                the same device */
} ucp_lane_choice_t;

/** What is allowed. */
typedef struct ucp_select_params {
    int                        err_mode; /**< Peer failures matter */
    int                        by_user;  /**< Made by the user, not to answer:
                                              its lanes may be connected
                                              endpoint to endpoint */
    const ucp_wireup_request_t *request; /**< The lanes that the peer asks for,
                                              or NULL */
} ucp_select_params_t;

/**
 * Finds the lanes to a peer: first the one for active messages, then those that
 * do what it cannot, or faster. UCS_ERR_UNREACHABLE, with a log line that says
 * why for each candidate, when there is none for active messages. Where lane 0
 * has to be connected endpoint to endpoint, `aux` is how to agree on that.
 */
ucs_status_t
ucp_wireup_select(ucp_worker_h worker, const ucp_address_info_t *peer,
                  const ucp_select_params_t *params,
                  ucp_lane_choice_t lanes[UCP_MAX_LANES],
                  unsigned *num_lanes_p, ucp_lane_choice_t *aux);

/** Finds a way to send the peer messages without a handshake; zero: none. */
int ucp_wireup_select_aux(ucp_worker_h worker, const ucp_address_info_t *peer,
                          int err_mode, ucp_lane_choice_t *aux);

#endif
