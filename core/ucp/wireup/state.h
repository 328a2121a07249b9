/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wire-up state of a worker: for keepalive, the deadlines of handshakes,
 * messages in fragments, and rejections. It is stored in the worker's area for
 * this folder (base/area.h).
 */
#ifndef UCP_WIREUP_STATE_H
#define UCP_WIREUP_STATE_H

#include "ucp/base/worker.h"
#include "ucp/wireup/deadline.h"
#include "ucp/wireup/keepalive.h"

typedef struct ucp_wireup_worker {
    ucp_keepalive_t keepalive;
    ucp_wireup_deadlines_t deadlines;
    /** Incomplete messages, of which some fragments have arrived, the oldest
     *  first (fragments.c) */
    ucs_list_link_t partial;
    unsigned num_partial; /**< Length of `partial` */
    /** Length of `rejections` */
    unsigned num_rejections;
    /** Rejections that are being sent (reject.c) */
    ucs_list_link_t rejections;
} ucp_wireup_worker_t;

UCP_AREA_ACCESSOR(ucp_worker_wireup, struct ucp_worker, areas.wireup,
                  ucp_wireup_worker_t)

#endif
