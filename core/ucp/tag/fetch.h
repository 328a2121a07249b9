/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unexpected announcements of data that the sender would send eagerly, but that
 * is too long for an eager message of tag offload (offload.h). The receiver
 * starts the rendezvous without a posted receive, into memory of its own, so
 * that the send completes without a receive.
 */
#ifndef UCP_TAG_FETCH_H
#define UCP_TAG_FETCH_H

#include "ucp/tag/rndv.h"

/** Stores an unexpected message and starts to fetch its data. `rts`: an
 *  announcement with UCP_RNDV_RTS_FETCH, already checked. Returns zero if there
 *  is no memory: the data is then fetched when a receive matches. */
int ucp_tag_fetch(ucp_worker_h worker, const ucp_tag_rts_t *rts);

#endif
