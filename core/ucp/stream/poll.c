/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_stream_worker_poll: returns endpoints with stored data. An endpoint is
 * returned once for all data that has arrived; it is returned again after more
 * data arrives.
 */
#include "ucp/proto/ep.h"
#include "ucp/stream/stream.h"

ssize_t ucp_stream_worker_poll(ucp_worker_h worker,
                               ucp_stream_poll_ep_t *poll_eps, size_t max_eps,
                               unsigned flags)
{
    ucs_list_link_t *ready = &ucp_worker_stream(worker)->ready;
    size_t count           = 0;
    ucp_stream_t *stream;

    if (!(worker->context->features & UCP_FEATURE_STREAM) || (flags != 0)) {
        return UCS_ERR_INVALID_PARAM;
    }

    ucp_worker_enter(worker);
    for (; (count < max_eps) && !ucs_list_is_empty(ready); ++count) {
        stream = ucs_list_head(ready, ucp_stream_t, ready);
        ucs_list_del_init(&stream->ready);
        poll_eps[count].ep        = stream->ep;
        poll_eps[count].user_data = stream->ep->user_data;
        poll_eps[count].flags     = 0;
    }
    ucp_worker_leave(worker);
    return (ssize_t)count;
}
