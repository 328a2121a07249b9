/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Zero-copy of a request's data by put or get over the lanes that share the
 * transfer (rails.h): for the data of a rendezvous, and for the user's put and
 * get.
 */
#ifndef UCP_ZCOPY_H
#define UCP_ZCOPY_H

#include "ucp/proto/memhs.h"
#include "ucp/proto/rails.h"

/** If the lanes of `rails` need a registration of the local buffer: registers
 *  it, or uses the user's memory handle. Returns zero if that is not
 *  possible. */
int ucp_zcopy_register(ucp_ep_h ep, const ucp_rails_t *rails,
                       const ucp_dt_iter_t *dt, size_t length,
                       ucp_memhs_t *memhs);

/**
 * Posts put or get of a chunk of the request's data, to or from `address` of
 * the peer, and advances req->dt. While the transport processes the operation,
 * it is counted in req->send.comp. `key`: the remote key for the chunk's lane.
 * Returns UCS_ERR_NO_RESOURCE if the lane has no send resources; req->lane is
 * then this lane.
 */
ucs_status_t ucp_zcopy_post(ucp_request_t *req, const ucp_rails_t *rails,
                            const ucp_rails_chunk_t *chunk, uint64_t address,
                            uct_rkey_t key, const ucp_memhs_t *memhs);

#endif
