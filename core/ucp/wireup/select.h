/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects the lanes of an endpoint: which local interfaces reach which of the
 * peer's, and which pairs are best for the features of the context.
 */
#ifndef UCP_SELECT_H
#define UCP_SELECT_H

#include "ucp/proto/lane.h"
#include "ucp/wireup/address.h"
#include "ucp/wireup/records.h"

/** Constraints of the selection. */
typedef struct ucp_select_params {
    int err_mode; /**< Non-zero for UCP_ERR_HANDLING_MODE_PEER */
    /** Non-zero: the user creates the endpoint, and lanes that need a handshake
     *  may be selected. Zero: the library creates it for replies; only lanes
     *  that the peer requests are connected by a handshake */
    int by_user;
    /** The lanes that the peer requests, or NULL */
    const ucp_wireup_request_t *request;
} ucp_select_params_t;

/**
 * Selects the lanes to a peer: lane 0 for active messages, the lanes that the
 * peer requests, lanes for operations that lane 0 does not support or is slower
 * at, and lanes that share large transfers, in this order. Returns
 * UCS_ERR_UNREACHABLE if there is no lane for active messages, or if a lane
 * that the peer requests is not possible; a log line gives the reasons. If lane
 * 0 has to be connected endpoint to endpoint, `aux` is the interface that
 * carries the handshake.
 */
ucs_status_t ucp_wireup_select(ucp_worker_h worker,
                               const ucp_address_info_t *peer,
                               const ucp_select_params_t *params,
                               ucp_selected_lane_t lanes[UCP_MAX_LANES],
                               unsigned *num_lanes_p, ucp_selected_lane_t *aux);

/** Selects an interface that sends messages to the peer without a handshake,
 *  and sets `aux`. Returns zero if there is none. */
int ucp_wireup_select_aux(ucp_worker_h worker, const ucp_address_info_t *peer,
                          int err_mode, ucp_selected_lane_t *aux);

#endif
