/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small messages whose copies to staged memory are made in the background:
 * several that arrive in one progress are copied together.
 */
#ifndef UCP_TAG_STAGED_H
#define UCP_TAG_STAGED_H

#include "ucp/base/request.h"
#include "ucp/stage/stage.h"

/** Returns a fragment if a message of this length should be copied to staged
 *  memory in the background; NULL if it should be copied at once. */
ucp_stage_frag_t *ucp_tag_staged_frag(const ucp_dt_iter_t *dt, size_t length);

/** Starts the copy, which completes the receive. Its information is set. */
void ucp_tag_staged_start(ucp_request_t *req, ucp_stage_frag_t *frag,
                          const void *payload, size_t length);

#endif
