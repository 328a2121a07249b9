/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eager active messages of several fragments.
 */
#ifndef UCP_AM_MULTI_H
#define UCP_AM_MULTI_H

#include "ucp/multi/multi.h"

extern const ucp_multi_receiver_t ucp_am_multi_receiver;

/** Prepares a send in fragments; `copy` as in multi/multi.h. */
ucs_status_t ucp_am_multi_send_init(ucp_request_t *req, int copy);

#endif
