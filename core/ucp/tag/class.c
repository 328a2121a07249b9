/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_tag_class: what tagged messages contribute to every worker (ucp_class_t,
 * see base/class.h): messages and their handlers, protocols, set-up, and the
 * end and cancellation of receives.
 */
#include "ucp/base/class.h"

#include "ucp/dt/dt.h"
#include "ucp/stats/stats.h"
#include "ucp/tag/eager.h"
#include "ucp/tag/match.h"
#include "ucp/tag/multi.h"
#include "ucp/tag/offload.h"
#include "ucp/tag/rndv.h"

static ucs_status_t worker_init(ucp_worker_h worker,
                                const ucp_worker_params_t *params)
{
    ucp_tag_match_t *tm = ucp_worker_tag(worker);
    ucs_status_t status;

    status = ucp_tag_match_init(tm, worker->context->tag_sender_mask);
    if ((status == UCS_OK) && (worker->stats != NULL)) {
        tm->stats = ucp_stats_worker_record(worker->stats);
    }
    return status;
}

static void worker_cleanup(ucp_worker_h worker)
{
    ucp_tag_offload_cleanup(worker);
    ucp_tag_match_cleanup(ucp_worker_tag(worker));
}

static void end_receive(ucp_request_t *req, ucs_status_t status)
{
    ucp_dt_iter_finish(&req->dt);
    ucp_request_complete_recv(req, status);
}

/* Completes posted receives with UCS_ERR_CANCELED when the worker is
 * destroyed. Receives that a callback posts in this loop complete without a
 * call of their callback, so that the loop terminates. */
static void worker_end(ucp_worker_h worker)
{
    ucp_tag_match_t *tm = ucp_worker_tag(worker);
    uint64_t end        = tm->expected.sn;
    ucp_request_t *req;

    while ((req = ucp_tag_expected_any(tm)) != NULL) {
        ucp_tag_expected_remove(tm, req);
        if (ucp_recv_tag(req)->sn >= end) {
            req->flags &= ~UCP_REQUEST_FLAG_CALLBACK;
        }
        end_receive(req, UCS_ERR_CANCELED);
    }
}

/* Called when a message is lost because memory is exhausted: completes all
 * posted receives with an error. All are removed first, because callbacks may
 * post receives, which wait for later messages. */
static void worker_lost(ucp_worker_h worker)
{
    ucp_tag_match_t *tm = ucp_worker_tag(worker);
    ucs_queue_head_t posted;
    ucp_request_t *req;

    ucs_queue_head_init(&posted);
    while ((req = ucp_tag_expected_any(tm)) != NULL) {
        ucp_tag_expected_remove(tm, req);
        ucs_queue_push(&posted, &req->recv.queue);
    }
    while (!ucs_queue_is_empty(&posted)) {
        req = ucs_container_of(ucs_queue_pull(&posted), ucp_request_t,
                               recv.queue);
        end_receive(req, UCS_ERR_NO_MEMORY);
    }
}

/* A receive that a message has matched is not cancelled: no other receive would
 * get the message. */
static int cancel(ucp_request_t *req)
{
    if (!(req->flags & UCP_REQUEST_FLAG_EXPECTED)) {
        return 0;
    }
    ucp_tag_expected_remove(ucp_worker_tag(req->worker), req);
    end_receive(req, UCS_ERR_CANCELED);
    return 1;
}

static const char *describe(const ucp_request_t *req, char *text, size_t max)
{
    if (req->flags & UCP_REQUEST_FLAG_EXPECTED) {
        snprintf(text, max, ", not matched yet");
    } else if (req->flags & UCP_REQUEST_FLAG_ARRIVING) {
        snprintf(text, max, " by eager/multi");
    } else if (!(req->flags & UCP_REQUEST_FLAG_BY_RNDV) ||
               (ucp_recv_rndv(req)->complete != ucp_request_complete_recv)) {
        return NULL;
    } else {
        ucp_rndv_describe(req, text, max);
    }
    return "tag_recv";
}

static const ucp_class_sent_t eager_sent = {
    {UCP_STATS_TAG_SHORT, UCP_STATS_TAG_BCOPY, UCP_STATS_TAG_ZCOPY}, 0};
static const ucp_class_sent_t sync_sent = {{UCP_STATS_TAG_SHORT,
                                            UCP_STATS_TAG_BCOPY,
                                            UCP_STATS_TAG_ZCOPY},
                                           UCP_STATS_SYNC};

static const ucp_class_message_t messages[] = {
    {UCP_AM_ID_EAGER, UCP_STATS_RECV_TAG_MSGS, sizeof(ucp_eager_hdr_t),
     ucp_tag_eager_handler, &eager_sent},
    {UCP_AM_ID_EAGER_SYNC, UCP_STATS_RECV_TAG_MSGS,
     sizeof(ucp_eager_sync_hdr_t), ucp_tag_eager_sync_handler, &sync_sent},
    {UCP_AM_ID_EAGER_SYNC_ACK, 0, 0, ucp_tag_eager_sync_ack_handler},
    {UCP_AM_ID_RNDV_RTS, 0, 0, ucp_tag_rts_handler},
    {UCP_AM_ID_TAG_OFFLOAD, 0, 0, ucp_tag_offload_handler},
};

static const ucp_proto_t *const protos[] = {
    &ucp_proto_tag_eager_short,  &ucp_proto_tag_eager_bcopy,
    &ucp_proto_tag_eager_zcopy,  &ucp_proto_tag_multi,
    &ucp_proto_tag_rndv,         &ucp_proto_tag_offload_eager,
    &ucp_proto_tag_offload_rndv, &ucp_proto_tag_offload_fetch,
};

const ucp_class_t ucp_tag_class = {
    .name           = "tag",
    .messages       = messages,
    .num_messages   = sizeof(messages) / sizeof(messages[0]),
    .protos         = protos,
    .num_protos     = sizeof(protos) / sizeof(protos[0]),
    .multi          = &ucp_tag_multi_receiver,
    .worker_init    = worker_init,
    .worker_end     = worker_end,
    .worker_cleanup = worker_cleanup,
    .worker_lost    = worker_lost,
    .layout         = ucp_tag_offload_layout,
    .iface_opened   = ucp_tag_offload_iface_opened,
    .cancel         = cancel,
    .describe       = describe,
};
