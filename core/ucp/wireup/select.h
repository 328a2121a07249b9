/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choosing the lane of an endpoint: which interface of ours reaches which of
 * the peer's, and which pair is best.
 */
#ifndef UCP_SELECT_H
#define UCP_SELECT_H

#include "ucp/wireup/address.h"

typedef struct ucp_lane_choice {
    unsigned iface_index;  /**< Of the worker's */
    unsigned entry_index;  /**< Of the address's */
} ucp_lane_choice_t;

/** Finds the best lane for active messages. UCS_ERR_UNREACHABLE, with a log
 *  line that says why for each candidate, when there is none. */
ucs_status_t ucp_wireup_select_am(ucp_worker_h worker,
                                  const ucp_address_info_t *peer,
                                  int err_mode, ucp_lane_choice_t *choice);

#endif
