/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eager active messages of several fragments. The first fragment contains the
 * head and the user's header in addition to data. This file packs these two,
 * and receives: it stores the data, and calls the handler when all of it has
 * arrived. The code for the fragments, which tagged messages use as well, is in
 * multi/send.c and multi/recv.c.
 */
#include "ucp/am/eager.h"
#include "ucp/am/multi.h"
#include "ucp/am/recv.h"
#include "ucp/multi/multi.h"
#include "ucp/stats/stats.h"
#include "ucs/debug/log.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(ucp_multi_fragment_t) + sizeof(ucp_am_head_t) <
                   UCP_AM_HEADER_RESERVE,
               "the longest header fits beside it");

/* --------------------------------------------------------------- sending -- */

static unsigned multi_query(const ucp_proto_query_t *query,
                            ucp_proto_range_t *range)
{
    return ucp_multi_query(query, ucp_eager_max(query, &ucp_am_eager_own),
                           range);
}

static size_t header_size(const ucp_request_t *req)
{
    return sizeof(ucp_am_head_t) + ucp_send_am(req)->header_length;
}

static void pack_header(const ucp_request_t *req, void *dest)
{
    ucp_am_head_t *head = dest;

    head->word = ucp_le64(ucp_am_send_word(req));
    if (ucp_send_am(req)->header_length > 0) {
        memcpy(head + 1, ucp_send_am(req)->header,
               ucp_send_am(req)->header_length);
    }
}

static const ucp_multi_class_t am_class = {
    .kind        = UCP_MULTI_FIRST_AM,
    .header_size = header_size,
    .pack_header = pack_header,
    .end         = ucp_am_eager_end,
};

static ucs_status_t multi_init(ucp_request_t *req, uint32_t attr)
{
    ucs_status_t status = ucp_multi_send_init(req, &am_class,
                                              ucp_multi_attr(req, attr));

    if (ucp_send_am(req)->reply) {
        ucp_send_am(req)->wire |= UCP_AM_WIRE_REPLY;
    }
    if (status == UCS_OK) {
        ucp_stats_sent(req->send.ep, UCP_STATS_AM_MULTI,
                       req->dt.length + ucp_send_am(req)->header_length);
    }
    return status;
}

static ucs_status_t multi_progress(ucp_request_t *req)
{
    return ucp_multi_send_progress(req);
}

const ucp_proto_t ucp_proto_am_multi = {
    .name     = "am/multi",
    .ops      = UCP_AM_OPS,
    .query    = multi_query,
    .init     = multi_init,
    .progress = multi_progress,
    .abort    = ucp_multi_send_abort,
    .flags    = UCP_PROTO_FLAG_MESSAGES,
};

/* ------------------------------------------------------------- receiving -- */

typedef struct {
    ucp_multi_recv_t super;
    /* Contains the received data; NULL until data arrives */
    ucp_am_desc_t *desc;
    size_t capacity; /* Bytes of data that `desc` can hold */
    uint64_t word;   /* The head, as ucp_am_word() returns it */
    int is_lost;     /* Data was lost because there was no memory */
    char header[];
} am_multi_t;

static void free_multi(am_multi_t *multi)
{
    if (multi->desc != NULL) {
        ucp_am_desc_free(ucp_worker_am(multi->super.ep->worker), multi->desc);
    }
    free(multi);
}

static ucs_status_t reserve(am_multi_t *multi, size_t needed)
{
    ucp_am_worker_t *am = ucp_worker_am(multi->super.ep->worker);
    size_t capacity     = ucp_multi_capacity(multi->super.length, needed);
    ucp_am_desc_t *desc;

    if (needed <= multi->capacity) {
        return UCS_OK;
    }

    desc = ucp_am_desc_get(am, capacity);
    if ((desc == NULL) && (needed < capacity)) {
        capacity = needed;
        desc     = ucp_am_desc_get(am, capacity);
    }
    if (desc == NULL) {
        multi->is_lost = 1;
        return UCS_ERR_NO_MEMORY;
    }
    if (multi->desc != NULL) {
        memcpy(ucp_am_desc_data(desc), ucp_am_desc_data(multi->desc),
               multi->super.received);
        ucp_am_desc_free(am, multi->desc);
    }
    multi->desc     = desc;
    multi->capacity = capacity;
    return UCS_OK;
}

static ucs_status_t take_data(ucp_multi_recv_t *msg, const void *data,
                              size_t length)
{
    am_multi_t *multi   = (am_multi_t *)msg;
    ucs_status_t status = reserve(multi, msg->received + length);

    if ((status == UCS_OK) && (length > 0)) {
        memcpy(ucp_am_desc_data(multi->desc) + msg->received, data, length);
    }
    return status;
}

static void run_handler(am_multi_t *multi)
{
    ucp_ep_h ep               = multi->super.ep;
    ucp_am_desc_t *desc       = multi->desc;
    ucp_am_recv_param_t param = {.recv_attr = UCP_AM_RECV_ATTR_FLAG_DATA};
    const ucp_am_handler_t *handler;

    handler = ucp_am_handler_find(ep->worker, multi->word);
    if (handler == NULL) {
        return;
    }

    if (ucp_am_word_flags(multi->word) & UCP_AM_WIRE_REPLY) {
        param.recv_attr |= UCP_AM_RECV_ATTR_FIELD_REPLY_EP;
        param.reply_ep = ep;
        ep->flags |= UCP_EP_FLAG_EXPOSED;
    }
    desc->length = multi->super.received;
    if (ucp_am_call(ep->worker, handler, desc, multi->header,
                    ucp_am_word_header_length(multi->word),
                    &param) == UCS_INPROGRESS) {
        multi->desc = NULL; /* the user keeps the descriptor */
    }
}

static void ended(ucp_multi_recv_t *msg, ucs_status_t status)
{
    am_multi_t *multi   = (am_multi_t *)msg;
    ucp_worker_h worker = msg->ep->worker;
    size_t length       = msg->length;
    int is_lost;

    /* If the sender could not pack all data, the message ends early (is_cut).
     * The handler then gets a shorter message, as it does with a message of one
     * fragment. */
    if ((status == UCS_OK) || (msg->is_cut && (reserve(multi, 1) == UCS_OK))) {
        run_handler(multi);
    } else {
        ucs_diag("lost an active message of %zu bytes: %s", msg->length,
                 ucs_status_string(status));
    }
    is_lost = multi->is_lost;
    free_multi(multi);
    if (is_lost) {
        ucp_worker_lost(worker, "an active message", length);
    }
}

static const ucp_multi_recv_ops_t recv_ops = {take_data, ended};

static ucp_multi_recv_t *begin(ucp_ep_h ep,
                               const ucp_multi_fragment_t *fragment,
                               const char *data, size_t length,
                               const char **payload_p)
{
    uint64_t total = ucp_le64_get(fragment->position);
    size_t header_length;
    ucp_am_head_t head;
    am_multi_t *multi;
    uint64_t word;

    if (length < sizeof(head)) {
        ucs_diag("dropped an active message of %lu bytes: its first fragment is"
                 " too short",
                 total);
        return NULL;
    }

    ucp_wire_take(&head, data, sizeof(head));
    word          = ucp_le64_get(head.word);
    header_length = ucp_am_word_header_length(word);
    if (header_length > length - sizeof(head)) {
        ucs_diag("dropped an active message: header of %zu bytes exceeds %zu",
                 header_length, length - sizeof(head));
        return NULL;
    }
    if (ucp_am_handler_find(ep->worker, word) == NULL) {
        return NULL;
    }

    multi = ucp_reserve_malloc(ep->worker, sizeof(*multi) + header_length);
    if (multi == NULL) {
        ucp_worker_lost(ep->worker, "an active message", total);
        return NULL;
    }

    multi->super.ops = &recv_ops;
    multi->desc      = NULL;
    multi->capacity  = 0;
    multi->word      = word;
    multi->is_lost   = 0;
    memcpy(multi->header, data + sizeof(head), header_length);
    ucp_stats_received(ep->worker, UCP_STATS_RECV_AM_MSGS,
                       total + header_length);
    *payload_p = data + sizeof(head) + header_length;
    return &multi->super;
}

const ucp_multi_receiver_t ucp_am_multi_receiver = {
    .kind  = UCP_MULTI_FIRST_AM,
    .begin = begin,
};
