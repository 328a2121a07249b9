/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_stream_class: what streams contribute to workers and endpoints
 * (ucp_class_t, see base/class.h): messages and their handlers, protocols, and
 * functions for their creation, close and release.
 */
#include "ucp/base/class.h"

#include "ucp/stats/stats.h"
#include "ucp/stream/stream.h"

static ucs_status_t worker_init(ucp_worker_h worker,
                                const ucp_worker_params_t *params)
{
    return ucp_stream_worker_init(ucp_worker_stream(worker));
}

static void worker_cleanup(ucp_worker_h worker)
{
    ucp_stream_worker_cleanup(ucp_worker_stream(worker));
}

static int cancel(ucp_request_t *req)
{
    if (!(req->flags & UCP_REQUEST_FLAG_STREAM)) {
        return 0;
    }
    ucp_stream_recv_cancel(req);
    return 1;
}

static const char *describe(const ucp_request_t *req, char *text, size_t max)
{
    return (req->flags & UCP_REQUEST_FLAG_STREAM) ? "stream_recv" : NULL;
}

static const ucp_class_sent_t stream_sent = {
    {UCP_STATS_STREAM_SHORT, UCP_STATS_STREAM_COPY, UCP_STATS_STREAM_ZCOPY}, 0};

static const ucp_class_message_t messages[] = {
    {UCP_AM_ID_STREAM, UCP_STATS_RECV_STREAM_MSGS, sizeof(ucp_stream_head_t),
     ucp_stream_handler, &stream_sent},
    {UCP_AM_ID_STREAM_OPEN, 0, 0, ucp_stream_open_handler},
    {UCP_AM_ID_STREAM_CLOSE, 0, 0, ucp_stream_close_handler},
};

static const ucp_proto_t *const protos[] = {
    &ucp_proto_stream_short,
    &ucp_proto_stream_copy,
    &ucp_proto_stream_place,
};

const ucp_class_t ucp_stream_class = {
    .name           = "stream",
    .messages       = messages,
    .num_messages   = sizeof(messages) / sizeof(messages[0]),
    .protos         = protos,
    .num_protos     = sizeof(protos) / sizeof(protos[0]),
    .worker_init    = worker_init,
    .worker_end     = ucp_stream_worker_release,
    .worker_cleanup = worker_cleanup,
    .ep_init        = ucp_stream_ep_add,
    .ep_close       = ucp_stream_ep_close,
    .ep_fail        = ucp_stream_ep_end,
    .ep_free        = ucp_stream_ep_del,
    .cancel         = cancel,
    .describe       = describe,
};
