/* SPDX-License-Identifier: BSD-3-Clause */
/* Matching of rendezvous announcements, for tag/rndv.c, which receives them. */
#ifndef UCP_TAG_RECV_H
#define UCP_TAG_RECV_H

#include "ucp/base/worker.h"

struct ucp_tag_rts;

/** Called when a rendezvous announcement, already checked, has arrived: matches
 *  a receive, or stores the announcement until a receive is posted. */
ucs_status_t ucp_tag_rndv_arrived(ucp_worker_h worker,
                                  const struct ucp_tag_rts *rts, size_t size);

/** Called when the sender cancels: if its announcement is not matched, drops
 *  and rejects the announcement. */
void ucp_tag_rndv_withdrawn(ucp_worker_h worker, const struct ucp_tag_rts *rts);

#endif
