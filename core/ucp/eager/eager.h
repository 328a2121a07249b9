/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the eager protocols of tagged messages, active messages and streams
 * share. An eager protocol sends the data at once, without a reply of the
 * receiver.
 */
#ifndef UCP_EAGER_H
#define UCP_EAGER_H

#include "ucp/proto/ep.h"

/** Sizes of what the eager messages of a class of operations (base/class.h)
 *  contain in addition to the data. */
typedef struct ucp_eager_own {
    size_t total;     /**< Bytes in addition to the data, at most */
    size_t zcopy_hdr; /**< Zero-copy: bytes that precede the data */
    size_t min_iov;   /**< Zero-copy: iov entries that a message needs */
} ucp_eager_own_t;

/** Queries of the protocols that send the data in one message of the transport:
 *  short, with `own` bytes in addition to the data; buffered copy; zero-copy.
 *  The user's thresholds replace the comparison of costs. */
unsigned ucp_eager_query_short(const ucp_proto_query_t *query, size_t own,
                               ucp_proto_range_t *range);
unsigned ucp_eager_query_bcopy(const ucp_proto_query_t *query,
                               const ucp_eager_own_t *own,
                               ucp_proto_range_t *range);
unsigned ucp_eager_query_zcopy(const ucp_proto_query_t *query,
                               const ucp_eager_own_t *own,
                               ucp_proto_range_t *range);

/** Maximum length of the data of a message that is sent eagerly as one message
 *  of the transport, in bytes. */
size_t ucp_eager_max(const ucp_proto_query_t *query,
                     const ucp_eager_own_t *own);

/** Completes a send whose buffer the transport does not use any more. */
typedef void (*ucp_eager_end_t)(ucp_request_t *req, ucs_status_t status);

/** Called with the status of am_short. Completes the send; but if the status
 *  is UCS_INPROGRESS, the transport sends the message in its next progress,
 *  and the request waits in worker->deferred until then. Returns the result of
 *  the progress function. */
ucs_status_t ucp_eager_short_sent(ucp_request_t *req, ucs_status_t status,
                                  ucp_eager_end_t end);

/** Called by the `init` of a protocol that uses ucp_eager_bcopy(), as its last
 *  step: starts to copy small staged data in the background if other small data
 *  is copied at this time. `attr`: as for `init`. */
void ucp_eager_fetch(ucp_request_t *req, uint32_t attr);

/** Returns whether the data of a request for which ucp_eager_fetch() was called
 *  can be packed. UCS_ERR_NO_RESOURCE: it is still being copied; the progress
 *  function returns this. Another error is that of the copy. */
ucs_status_t ucp_eager_fetch_status(ucp_request_t *req);

/** Sends all of the data in one message of buffered copy, which `pack` writes.
 *  `flags`: UCX_SEND_FLAG_*. Returns the result of the progress function. */
ucs_status_t ucp_eager_bcopy(ucp_request_t *req, uint8_t id,
                             uct_pack_callback_t pack, unsigned flags,
                             ucp_eager_end_t end);

/** Sends a message by zero-copy with req->send.comp. Returns UCS_INPROGRESS if
 *  the transport still uses the buffer: `done` is called when it does not any
 *  more. */
ucs_status_t ucp_eager_zcopy(ucp_request_t *req, uint8_t id, const void *header,
                             size_t header_size, const uct_iov_t *iov,
                             size_t iovcnt, uct_completion_callback_t done);

/** Called if am_short has returned UCS_INPROGRESS: creates a request that
 *  completes in the next progress, in which the transport sends the message.
 *  Returns what the user's call returns: the request, or NULL if the user
 *  wants no request or memory is short. */
ucs_status_ptr_t ucp_eager_deferred(ucp_ep_h ep, size_t length,
                                    const ucp_request_param_t *param);

#endif
