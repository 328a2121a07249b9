/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of a worker for introductions, handshakes, rejections and keepalive
 * (wire-up): its area in ucp_worker.
 */
#ifndef UCP_WIREUP_STATE_H
#define UCP_WIREUP_STATE_H

#include "ucp/base/worker.h"
#include "ucp/wireup/deadline.h"
#include "ucp/wireup/keepalive.h"

typedef struct ucp_wireup_worker {
    ucp_keepalive_t keepalive;
    ucp_wireup_deadlines_t deadlines;
    /** Fragmented messages that are received in part (fragments.c) */
    ucs_list_link_t partial;
    unsigned num_partial;
    unsigned num_rejections;
    /** Rejections that are being sent (reject.c) */
    ucs_list_link_t rejections;
} ucp_wireup_worker_t;

UCP_AREA_ACCESSOR(ucp_worker_wireup, struct ucp_worker, areas.wireup,
                  ucp_wireup_worker_t)

#endif
