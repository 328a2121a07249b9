/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the eager protocols of tagged messages, active messages and streams
 * share. An eager protocol sends the data at once, without waiting for the
 * receiver. It uses one of three calls of the transport: am_short, am_bcopy
 * (buffered copy) or am_zcopy (zero-copy).
 */
#ifndef UCP_EAGER_H
#define UCP_EAGER_H

#include "ucp/proto/ep.h"

/** The sizes of the headers in the eager messages of a class of operations
 *  (base/class.h). */
typedef struct ucp_eager_own {
    size_t total; /**< Maximum number of header bytes in a message */
    /** Zero-copy: bytes of the header argument of am_zcopy */
    size_t zcopy_hdr;
    /** Zero-copy: minimum number of iov entries that the transport must
     *  support */
    size_t min_iov;
} ucp_eager_own_t;

/** For ucp_proto_t::query of protocols that send all data in one message of the
 *  transport, by am_short, am_bcopy or am_zcopy: set the sizes for which the
 *  protocol is a candidate, and its cost. `own`: header bytes, or a description
 *  of all headers. The user's thresholds (UCX_ZCOPY_THRESH and others) limit
 *  the sizes. */
unsigned ucp_eager_query_short(const ucp_proto_query_t *query, size_t own,
                               ucp_proto_range_t *range);
unsigned ucp_eager_query_bcopy(const ucp_proto_query_t *query,
                               const ucp_eager_own_t *own,
                               ucp_proto_range_t *range);
unsigned ucp_eager_query_zcopy(const ucp_proto_query_t *query,
                               const ucp_eager_own_t *own,
                               ucp_proto_range_t *range);

/** Returns the maximum number of data bytes that can be sent eagerly in one
 *  message of the transport. */
size_t ucp_eager_max(const ucp_proto_query_t *query,
                     const ucp_eager_own_t *own);

/** Completes a send. Called when the transport does not use the send's buffer
 *  any more. */
typedef void (*ucp_eager_end_t)(ucp_request_t *req, ucs_status_t status);

/** Called with the status of am_short. Completes the send by `end`, unless the
 *  status is UCS_ERR_NO_RESOURCE, or UCS_INPROGRESS: the transport then sends
 *  the message in its next progress, and that progress completes the request,
 *  which waits in worker->deferred. Returns the result of the progress
 *  function. */
ucs_status_t ucp_eager_short_sent(ucp_request_t *req, ucs_status_t status,
                                  ucp_eager_end_t end);

/** The last step of `init` of a protocol that uses ucp_eager_bcopy(). If the
 *  data is contiguous, small and staged (in memory that the processor cannot
 *  access), and other small data is being copied or was copied since the last
 *  progress, starts to copy the data to a host buffer in the background.
 *  `attr`: UCP_OP_ATTR_* of the user's call; with
 *  UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL no copy is started. */
void ucp_eager_fetch(ucp_request_t *req, uint32_t attr);

/** Called after ucp_eager_fetch() has started a copy. Returns UCS_OK if the
 *  copy is complete and the data can be packed. Returns UCS_ERR_NO_RESOURCE if
 *  the copy is in flight; the progress function then returns this status.
 *  Otherwise returns the error of the copy. */
ucs_status_t ucp_eager_fetch_status(ucp_request_t *req);

/** Sends all of the data in one message by am_bcopy. `pack` writes the message;
 *  `flags`: UCX_SEND_FLAG_*. Completes the send by `end`, unless there are no
 *  send resources or the copy of ucp_eager_fetch() is in flight. Returns the
 *  result of the progress function. */
ucs_status_t ucp_eager_bcopy(ucp_request_t *req, uint8_t id,
                             uct_pack_callback_t pack, unsigned flags,
                             ucp_eager_end_t end);

/** Sends a message by am_zcopy with the completion req->send.comp. Returns
 *  UCS_INPROGRESS if the transport still uses the buffer; `done` is then called
 *  when the transport has finished with it. */
ucs_status_t ucp_eager_zcopy(ucp_request_t *req, uint8_t id, const void *header,
                             size_t header_size, const uct_iov_t *iov,
                             size_t iovcnt, uct_completion_callback_t done);

/** Called if am_short has returned UCS_INPROGRESS for a send without a request:
 *  the transport has copied the data, and sends it in the next progress.
 *  Creates a request that completes in that progress, and returns it as the
 *  result of the user's call. Returns NULL (the user's call succeeds at once)
 *  if the user has set UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL, or if there is no
 *  memory for a request. This is safe, because the user may already reuse the
 *  buffer, and the message will be sent. */
ucs_status_ptr_t ucp_eager_deferred(ucp_ep_h ep, size_t length,
                                    const ucp_request_param_t *param);

#endif
