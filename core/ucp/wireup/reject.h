/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers a peer's request to connect lanes (handshake.h) with an error, when
 * no endpoint could be created that would carry the reply.
 */
#ifndef UCP_WIREUP_REJECT_H
#define UCP_WIREUP_REJECT_H

#include "ucp/wireup/address.h"
#include "ucp/wireup/records.h"

/** Sends the rejection. Best effort: no reply is sent if the peer cannot be
 *  reached, memory is short, or too many rejections are pending. */
void ucp_wireup_reject(ucp_worker_h worker, const ucp_address_info_t *peer,
                       const ucp_wireup_request_t *request,
                       ucs_status_t status);

#endif
