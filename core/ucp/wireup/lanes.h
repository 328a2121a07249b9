/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creates the lanes to a peer whose address is known: selection, the
 * transports' endpoints and the endpoint configuration.
 */
#ifndef UCP_WIREUP_LANES_H
#define UCP_WIREUP_LANES_H

#include "ucp/proto/ep.h"
#include "ucp/wireup/select.h"

/** Lanes that do not belong to an endpoint yet. */
typedef struct ucp_wireup_lanes {
    unsigned num; /**< Number of elements in use in the next two arrays */
    ucp_selected_lane_t selected[UCP_MAX_LANES]; /**< Indexed by lane */
    uct_ep_h uct[UCP_MAX_LANES]; /**< Transports' endpoints, by lane */
    /** Interface and address of the auxiliary link, which carries the
     *  handshake if lane 0 itself has to be connected */
    ucp_selected_lane_t aux;
    /** NULL if lane 0 carries the handshake, or if none is needed */
    uct_ep_h aux_uct;
    const ucp_ep_config_t *config;
} ucp_wireup_lanes_t;

/** Creates the lanes that `params` allows. On failure nothing
 *  is left allocated. */
ucs_status_t ucp_wireup_lanes_make(ucp_worker_h worker,
                                   const ucp_address_info_t *peer,
                                   const ucp_select_params_t *params,
                                   ucp_wireup_lanes_t *lanes);

/** Destroys lanes that do not belong to an endpoint. */
void ucp_wireup_lanes_destroy(ucp_wireup_lanes_t *lanes);

/** Creates a transport's endpoint that is connected to the peer's interface of
 *  this lane. */
ucs_status_t ucp_wireup_connect_to_iface(ucp_worker_h worker,
                                         const ucp_address_info_t *peer,
                                         const ucp_selected_lane_t *selected,
                                         uct_ep_h *uct_p);

#endif
