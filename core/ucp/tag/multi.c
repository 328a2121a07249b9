/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eager tagged messages of several fragments (multi.h): what the first
 * fragment contains in addition to the data, matching, and the receive.
 * multi/send.c and multi/recv.c have the code that active messages use as
 * well.
 */
#include "ucp/tag/multi.h"

#include "ucp/dt/dt.h"
#include "ucp/learn/lead.h"
#include "ucp/proto/fragment.h"
#include "ucp/stats/stats.h"
#include "ucp/tag/eager.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- sending -- */

static unsigned multi_query(const ucp_proto_query_t *query,
                            ucp_proto_range_t *range)
{
    return ucp_multi_query(query, ucp_eager_max(query, &ucp_tag_eager_own),
                           range);
}

static size_t header_size(const ucp_request_t *req)
{
    return sizeof(ucp_tag_multi_first_t);
}

static void pack_header(const ucp_request_t *req, void *dest)
{
    ucp_tag_multi_first_t first = {
        .tag     = ucp_le64(ucp_send_tag(req)->tag),
        .request = ucp_le32(ucp_send_tag(req)->sync ? req->id : 0),
    };

    memcpy(dest, &first, sizeof(first));
}

static const ucp_multi_class_t tag_class = {
    .kind        = UCP_MULTI_FIRST_TAG,
    .header_size = header_size,
    .pack_header = pack_header,
    .end         = ucp_tag_eager_sent,
};

/* Returns whether a message can be one message by zero-copy: of many in flight,
 * that takes less time than fragments. Not if the user has set from which size
 * on messages are sent by zero-copy: then the size is one that is not. */
static int is_single(const ucp_request_t *req, uint32_t attr)
{
    const ucp_ep_config_t *config = req->send.ep->config;

    return (attr & UCP_OP_ATTR_FLAG_MULTI_SEND) &&
           !(attr & UCP_PROTO_ATTR_SOON) &&
           ucp_fragment_is_zcopy(config, req->dt.dt_class,
                                 ucp_tag_eager_own.zcopy_hdr) &&
           (req->worker->context->options.zcopy_thresh == SIZE_MAX) &&
           (req->dt.length + ucp_tag_eager_own.total <=
            ucp_ep_config_am(config)->max_zcopy);
}

static ucs_status_t multi_init(ucp_request_t *req, uint32_t attr)
{
    ucp_ep_h ep = req->send.ep;
    ucs_status_t status;

    attr = ucp_multi_attr(req, attr);
    if (is_single(req, attr)) {
        return ucp_proto_init(req, &ucp_proto_tag_eager_zcopy, attr);
    }

    status = ucp_multi_send_init(req, &tag_class, attr);
    if (status != UCS_OK) {
        return status;
    }
    ucp_stats_sent(ep, UCP_STATS_TAG_MULTI, req->dt.length);
    if ((ucp_ep_stats(ep) != NULL) && ucp_send_tag(req)->sync) {
        ucs_stats_add(ucp_stats_ep_record(ucp_ep_stats(ep)), UCP_STATS_SYNC, 1);
    }
    return ucp_send_tag(req)->sync ? ucp_wireup_expect_reply(req) : UCS_OK;
}

static ucs_status_t multi_progress(ucp_request_t *req)
{
    return ucp_multi_send_progress(req);
}

static void multi_abort(ucp_request_t *req, ucs_status_t status)
{
    ucp_send_tag(req)->sync = 0;
    if (ucp_send_tag(req)->all_sent) {
        /* All data is sent, and the send has only waited for the
         * acknowledgement */
        ucp_tag_eager_sent(req, status);
        return;
    }
    /* Detach the request from the endpoint: the transport may still use the
     * buffer after the endpoint is freed. */
    ucp_request_ep_del(req);
    ucp_request_id_del(req);
    ucp_multi_send_abort(req, status);
}

const ucp_proto_t ucp_proto_tag_multi = {
    .name     = "eager/multi",
    .ops      = UCP_TAG_OPS,
    .query    = multi_query,
    .init     = multi_init,
    .progress = multi_progress,
    .abort    = multi_abort,
    .flags    = UCP_PROTO_FLAG_MESSAGES | UCP_PROTO_FLAG_TAG_AM,
    .reply    = UCP_AM_ID_EAGER_SYNC_ACK,
};

/* ------------------------------------------------------------- receiving -- */

void ucp_tag_multi_free(ucp_tag_multi_t *multi)
{
    if (multi != NULL) {
        free(multi->bytes);
        free(multi);
    }
}

static int is_gathered(const ucp_tag_multi_t *multi)
{
    return (multi->desc != NULL) || multi->is_fetched ||
           (multi->req->dt.dt_class == UCP_DT_CLASS_GENERIC);
}

/* Makes the buffer large enough for `needed` bytes, and for later data if
 * memory allows. Returns zero if out of memory. */
static int grow(ucp_tag_multi_t *multi, size_t needed)
{
    size_t capacity = ucp_multi_capacity(multi->super.length, needed);
    char *bytes     = realloc(multi->bytes, capacity);

    if (bytes == NULL) {
        capacity = needed;
        do {
            bytes = realloc(multi->bytes, capacity);
        } while ((bytes == NULL) && ucp_reserve_spend(multi->worker));
    }
    if (bytes == NULL) {
        return 0;
    }
    multi->bytes    = bytes;
    multi->capacity = capacity;
    return 1;
}

static ucs_status_t gather(ucp_tag_multi_t *multi, const void *data,
                           size_t length)
{
    size_t needed = multi->super.received + length;

    if ((needed > multi->capacity) && !grow(multi, needed)) {
        multi->is_lost = 1;
        return UCS_ERR_NO_MEMORY;
    }
    if (length > 0) {
        memcpy(multi->bytes + multi->super.received, data, length);
    }
    return UCS_OK;
}

static ucs_status_t take_data(ucp_multi_recv_t *msg, const void *data,
                              size_t length)
{
    ucp_tag_multi_t *multi = (ucp_tag_multi_t *)msg;

    return is_gathered(multi) ?
               gather(multi, data, length) :
               ucp_dt_iter_unpack(&multi->req->dt, msg->received, data, length);
}

/* Ends the receive of data before the message is complete. Later fragments are
 * dropped, and the message is freed. But the rendezvous of a fetched message
 * still writes to `bytes`: the message is freed when it ends. */
static void give_up(ucp_tag_multi_t *multi)
{
    if (multi->is_fetched) {
        multi->req = NULL;
    } else {
        ucp_multi_recv_remove(&multi->super);
        ucp_tag_multi_free(multi);
    }
}

/* Completes a receive. Does not access its message, which may be freed. */
static void complete(ucp_request_t *req, ucs_status_t status)
{
    req->flags &= ~UCP_REQUEST_FLAG_ARRIVING;
    ucp_dt_iter_finish(&req->dt);
    ucp_request_complete_recv(req, status);
}

/* Completes the receive of a message that is not in its endpoint's list of
 * arriving messages (multi/recv.c). Data of a generic datatype is unpacked in
 * one call: some datatypes (MPICH's) cannot unpack a part that ends inside an
 * element. */
static void end_receive(ucp_tag_multi_t *multi, ucs_status_t status)
{
    ucp_request_t *req = multi->req;

    if ((status == UCS_OK) && is_gathered(multi)) {
        status = ucp_dt_iter_unpack(&req->dt, 0, multi->bytes,
                                    multi->super.length);
    }
    ucp_tag_multi_free(multi);
    complete(req, status);
}

void ucp_tag_multi_ended(ucp_tag_multi_t *multi, ucs_status_t status)
{
    ucp_recv_desc_t *desc = multi->desc;
    ucp_worker_h worker   = multi->worker;
    size_t length         = multi->super.length;
    int is_lost           = multi->is_lost;

    if (desc == NULL) {
        end_receive(multi, status);
        return;
    }

    multi->ended  = 1;
    multi->status = status;
    /* Not in the queue: a probe has removed it for the user, who owns it */
    if ((status != UCS_OK) && desc->is_queued) {
        ucp_tag_unexpected_remove(ucp_worker_tag(worker), desc);
        ucp_tag_unexpected_free(desc);
        if (is_lost) {
            ucp_worker_lost(worker, "a tagged message", length);
        }
    }
}

static void ended(ucp_multi_recv_t *msg, ucs_status_t status)
{
    ucp_tag_multi_ended((ucp_tag_multi_t *)msg, status);
}

static const ucp_multi_recv_ops_t recv_ops = {take_data, ended};

static void take_request(ucp_tag_multi_t *multi, ucp_request_t *req,
                         ucp_tag_t tag, size_t length)
{
    multi->req = req;
    req->flags |= UCP_REQUEST_FLAG_ARRIVING;
    req->recv.info.sender_tag = tag;
    req->recv.info.length     = length;
    if (ucp_le32_get(multi->request) != 0) {
        ucp_tag_eager_sync_ack(multi->worker, &multi->sender, multi->request);
    }
}

void ucp_tag_multi_match(ucp_recv_desc_t *desc, ucp_request_t *req)
{
    ucp_tag_multi_t *multi = ucp_tag_multi_of(desc);
    ucs_status_t status    = UCS_OK;

    /* clears the pointer in the descriptor: the receive owns the message now */
    memset(desc + 1, 0, sizeof(multi));
    multi->desc = NULL;
    take_request(multi, req, desc->tag, desc->length);
    if (desc->length > req->dt.length) {
        status = UCS_ERR_MESSAGE_TRUNCATED;
    } else if (!is_gathered(multi)) {
        status = ucp_dt_iter_unpack(&req->dt, 0, multi->bytes,
                                    multi->super.received);
        free(multi->bytes);
        multi->bytes = NULL;
    }
    if (status != UCS_OK) {
        give_up(multi);
        complete(req, status);
    }
}

/* Matches a posted receive, or adds an unexpected message. Returns zero if
 * later fragments are to be dropped. */
static int deliver(ucp_tag_multi_t *multi, ucp_tag_t tag, size_t length)
{
    ucp_worker_h worker = multi->worker;
    ucp_tag_match_t *tm = ucp_worker_tag(worker);
    ucp_request_t *req  = ucp_tag_expected_match(tm, tag);

    if (req == NULL) {
        do {
            multi->desc = ucp_tag_unexpected_add(tm, UCP_RECV_DESC_MULTI, tag,
                                                 length, &multi, sizeof(multi),
                                                 0);
        } while ((multi->desc == NULL) && ucp_reserve_spend(worker));
        if (multi->desc != NULL) {
            return 1;
        }
        ucp_tag_multi_free(multi);
        ucp_worker_lost(worker, "a tagged message", length);
        return 0;
    }

    take_request(multi, req, tag, length);
    if (length > req->dt.length) {
        end_receive(multi, UCS_ERR_MESSAGE_TRUNCATED);
        return 0;
    }
    return 1;
}

static ucp_multi_recv_t *begin(ucp_ep_h ep,
                               const ucp_multi_fragment_t *fragment,
                               const char *data, size_t length,
                               const char **payload_p)
{
    uint64_t total = ucp_le64_get(fragment->position);
    ucp_tag_multi_first_t first;
    ucp_tag_multi_t *multi;

    if (length < sizeof(first)) {
        ucs_diag("dropped a tagged message of %lu bytes: its first fragment is"
                 " too short",
                 total);
        return NULL;
    }

    multi = ucp_reserve_malloc(ep->worker, sizeof(*multi));
    if (multi == NULL) {
        ucp_worker_lost(ep->worker, "a tagged message", total);
        return NULL;
    }

    memset(multi, 0, sizeof(*multi));
    ucp_wire_take(&first, data, sizeof(first));
    multi->super.ops = &recv_ops;
    multi->worker    = ep->worker;
    multi->sender    = fragment->sender;
    multi->request   = first.request;
    *payload_p       = data + sizeof(first);
    ucp_stats_received(ep->worker, UCP_STATS_RECV_TAG_MSGS, total);
    ucp_lead_received(ep, total, fragment->lead);
    return deliver(multi, ucp_le64_get(first.tag), total) ? &multi->super :
                                                            NULL;
}

const ucp_multi_receiver_t ucp_tag_multi_receiver = {
    .kind  = UCP_MULTI_FIRST_TAG,
    .begin = begin,
};
