/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choosing the lanes of an endpoint: which interfaces of ours reach which of
 * the peer's, and which pairs are best for what the context is used for.
 */
#ifndef UCP_SELECT_H
#define UCP_SELECT_H

#include "ucp/wireup/address.h"

typedef struct ucp_lane_choice {
    uint8_t iface_index;  /**< Of the worker's */
    uint8_t entry_index;  /**< Of the address's */
    uint8_t remote_md;    /**< The peer's domain, or UCP_NULL_MD */
} ucp_lane_choice_t;

/**
 * Finds the lanes to a peer: first the one for active messages, then those that
 * do what it cannot, or faster. UCS_ERR_UNREACHABLE, with a log line that says
 * why for each candidate, when there is none for active messages.
 */
ucs_status_t
ucp_wireup_select(ucp_worker_h worker, const ucp_address_info_t *peer,
                  int err_mode, ucp_lane_choice_t lanes[UCP_MAX_LANES],
                  unsigned *num_lanes_p);

#endif
