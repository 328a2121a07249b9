/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receive side of tag matching, as the other folders see it.
 */
#ifndef UCP_TAG_RECV_H
#define UCP_TAG_RECV_H

#include "ucp/core/worker.h"

/** A rendezvous announcement has come: gives it to the receive that fits, or
 *  keeps its bytes until there is one. */
ucs_status_t ucp_tag_rndv_arrived(ucp_worker_h worker, ucp_tag_t tag,
                                  size_t length, const void *rts,
                                  size_t rts_size);

#endif
