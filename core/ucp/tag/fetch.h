/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unexpected messages that are shorter than the sender's UCX_RNDV_THRESH, but
 * too long for an eager message of tag offload (offload.h), so that the sender
 * announces them. The receiver starts the rendezvous at once, into memory of
 * the library: the send completes although no receive is posted.
 */
#ifndef UCP_TAG_FETCH_H
#define UCP_TAG_FETCH_H

#include "ucp/tag/rndv.h"

/** Stores an unexpected message and starts to fetch its data. `rts`: an
 *  announcement with UCP_RNDV_RTS_FETCH, already checked. Returns zero if there
 *  is no memory: the data is then fetched when a receive matches. */
int ucp_tag_fetch(ucp_worker_h worker, const ucp_tag_rts_t *rts);

#endif
