/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receive side of tag matching, as the other folders see it.
 */
#ifndef UCP_TAG_RECV_H
#define UCP_TAG_RECV_H

#include "ucp/core/worker.h"

struct ucp_tag_rts;

/** A rendezvous announcement has come, and was checked: gives it to the receive
 *  that fits, or keeps its bytes until there is one. */
ucs_status_t ucp_tag_rndv_arrived(ucp_worker_h worker,
                                  const struct ucp_tag_rts *rts, size_t size);

/** The sender wants to cancel: drops its announcement if that waits for a
 *  receive, and tells the sender. */
void ucp_tag_rndv_withdrawn(ucp_worker_h worker,
                            const struct ucp_tag_rts *rts);

#endif
