/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Background copies of small tagged messages to receive buffers that the
 * processor cannot access: the copier (stage/stage.h) can execute those of
 * several messages together.
 */
#ifndef UCP_TAG_STAGED_H
#define UCP_TAG_STAGED_H

#include "ucp/base/request.h"
#include "ucp/stage/stage.h"

/** Returns a fragment (a buffer in host memory) if a message of this length
 *  should be copied in the background; NULL if the caller should deliver it at
 *  once. */
ucp_stage_frag_t *ucp_tag_staged_frag(const ucp_dt_iter_t *dt, size_t length);

/** Starts the copy of `payload` by way of the fragment; the receive completes
 *  when the copy is complete. The caller has set req->recv.info. */
void ucp_tag_staged_start(ucp_request_t *req, ucp_stage_frag_t *frag,
                          const void *payload, size_t length);

#endif
