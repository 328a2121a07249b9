/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making the lanes to a peer whose address is known: choosing them, creating
 * the transports' endpoints, and the configuration that goes with them.
 */
#ifndef UCP_WIREUP_LANES_H
#define UCP_WIREUP_LANES_H

#include "ucp/core/ep.h"
#include "ucp/wireup/select.h"

/** Lanes that no endpoint owns yet. */
typedef struct ucp_wireup_lanes {
    unsigned              num;
    ucp_lane_choice_t     choice[UCP_MAX_LANES];
    uct_ep_h              uct[UCP_MAX_LANES];
    ucp_lane_choice_t     aux;      /**< The way to agree on lanes, where lane 0
                                         itself has to be connected */
    uct_ep_h              aux_uct;  /**< NULL: lane 0 is the way, or none is
                                         needed */
    const ucp_ep_config_t *config;
} ucp_wireup_lanes_t;

/** Makes the lanes that `params` allows. Nothing is left behind on failure. */
ucs_status_t ucp_wireup_lanes_make(ucp_worker_h worker,
                                   const ucp_address_info_t *peer,
                                   const ucp_select_params_t *params,
                                   ucp_wireup_lanes_t *lanes);

/** For lanes that no endpoint took. */
void ucp_wireup_lanes_destroy(ucp_wireup_lanes_t *lanes);

/** A transport's endpoint to the interface that the choice names. */
ucs_status_t
ucp_wireup_connect_to_iface(ucp_worker_h worker, const ucp_address_info_t *peer,
                            const ucp_lane_choice_t *choice, uct_ep_h *uct_p);

#endif
