/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives eager messages in fragments: checks each fragment and finds its
 * message. The class of the message (tagged or active messages, see
 * base/class.h) stores the data.
 */
#include "ucp/multi/multi.h"

#include "ucp/base/class.h"
#include "ucp/stats/stats.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"
#include "ucs/sys/math.h"

enum {
    /* Maximum number of incomplete messages that arrive for one endpoint. A
     * peer sends its messages one after another, so only a faulty peer has as
     * many. */
    MAX_ARRIVING = 64,

    /* A message up to this size in bytes gets memory for all of its data with
     * the first fragment: pages without data use no physical memory. */
    LEAST_CAPACITY = 1 << 20,

    /* A larger message gets memory for this many times its received bytes, but
     * for at least LEAST_CAPACITY bytes and at most its length. */
    GROWTH = 8,
};

size_t ucp_multi_capacity(size_t length, size_t needed)
{
    size_t capacity;

    if (__builtin_mul_overflow(needed, (size_t)GROWTH, &capacity)) {
        return length;
    }
    return ucs_min(length, ucs_max(capacity, (size_t)LEAST_CAPACITY));
}

static ucp_multi_recv_t *find(ucp_ep_h ep, uint32_t message)
{
    ucp_multi_recv_t *msg;

    for (msg = ucp_ep_multi(ep)->arriving;
         (msg != NULL) && (msg->message != message); msg = msg->next) {
    }
    return msg;
}

/* Returns the link in the endpoint's list that points to `msg`; if `msg` is
 * NULL, the link at the end of the list. The list is short (MAX_ARRIVING). */
static ucp_multi_recv_t **link_to(ucp_ep_h ep, const ucp_multi_recv_t *msg)
{
    ucp_multi_recv_t **link;

    for (link = &ucp_ep_multi(ep)->arriving; *link != msg;
         link = &(*link)->next) {
    }
    return link;
}

void ucp_multi_recv_remove(ucp_multi_recv_t *msg)
{
    *link_to(msg->ep, msg) = msg->next;
    --ucp_ep_multi(msg->ep)->num_arriving;
    ucp_ep_replied(msg->ep);
}

static void end(ucp_multi_recv_t *msg, ucs_status_t status)
{
    ucp_multi_recv_remove(msg);
    msg->ops->end(msg, status);
}

void ucp_multi_recv_abort(ucp_ep_h ep, ucs_status_t status)
{
    while (ucp_ep_multi(ep)->arriving != NULL) {
        end(ucp_ep_multi(ep)->arriving,
            (status == UCS_OK) ? UCS_ERR_CANCELED : status);
    }
}

/* Stores the payload of a fragment. The caller has checked that it does not
 * exceed the length of the message. */
static void take(ucp_multi_recv_t *msg, const char *payload, size_t length)
{
    ucs_status_t status = msg->ops->data(msg, payload, length);

    msg->received += length;
    msg->ep->worker->received += length;
    if ((status != UCS_OK) || (msg->received == msg->length)) {
        end(msg, status);
    }
}

static const ucp_multi_receiver_t *receiver_of(unsigned kind)
{
    const ucp_class_t *const *class;

    for (class = ucp_classes; *class != NULL; ++class) {
        if (((*class)->multi != NULL) && ((*class)->multi->kind == kind)) {
            return (*class)->multi;
        }
    }
    return NULL;
}

static void take_first(ucp_ep_h ep, const ucp_multi_fragment_t *fragment,
                       const char *data, size_t length)
{
    uint32_t message      = ucp_le32_get(fragment->message);
    uint64_t total        = ucp_le64_get(fragment->position);
    ucp_multi_recv_t *msg = find(ep, message);
    const char *payload;
    const ucp_multi_receiver_t *receiver;

    if ((msg != NULL) || (ucp_ep_multi(ep)->num_arriving == MAX_ARRIVING) ||
        (total == 0) || (total > SSIZE_MAX)) {
        ucs_diag("dropped message %u of %lu bytes: %s", message, total,
                 (msg != NULL) ? "a message of this number exists" :
                 (ucp_ep_multi(ep)->num_arriving == MAX_ARRIVING) ?
                                 "its sender has too many incomplete messages" :
                                 "its length is invalid");
        return;
    }

    receiver = receiver_of(fragment->kind);
    if (receiver == NULL) {
        ucs_diag("dropped a fragment of unknown kind %u", fragment->kind);
        return;
    }
    msg = receiver->begin(ep, fragment, data, length, &payload);
    if (msg == NULL) {
        return;
    }

    msg->ep            = ep;
    msg->message       = message;
    msg->length        = total;
    msg->received      = 0;
    msg->is_cut        = 0;
    msg->next          = NULL;
    *link_to(ep, NULL) = msg;
    ++ucp_ep_multi(ep)->num_arriving;
    length -= (size_t)(payload - data);
    if (length > total) {
        ucs_diag("dropped message %u of %lu bytes: its first fragment has %zu",
                 message, total, length);
        end(msg, UCS_ERR_IO_ERROR);
        return;
    }
    take(msg, payload, length);
}

static void take_next(ucp_ep_h ep, const ucp_multi_fragment_t *fragment,
                      const char *payload, size_t length)
{
    uint64_t offset       = ucp_le64_get(fragment->position);
    ucp_multi_recv_t *msg = find(ep, ucp_le32_get(fragment->message));

    if (msg == NULL) {
        ucs_debug("dropped a fragment of %zu bytes: no such message", length);
        return;
    }

    if (length == 0) {
        ucs_diag("message %u of %zu bytes ends after %zu: its sender could not"
                 " pack more",
                 msg->message, msg->length, msg->received);
        msg->is_cut = 1;
        end(msg, UCS_ERR_IO_ERROR);
        return;
    }

    if ((offset != msg->received) || (length > msg->length - msg->received)) {
        ucs_diag("message %u of %zu bytes ends after %zu: %zu more at %lu",
                 msg->message, msg->length, msg->received, length, offset);
        end(msg, UCS_ERR_IO_ERROR);
        return;
    }
    take(msg, payload, length);
}

ucs_status_t ucp_multi_handler(void *arg, void *data, size_t length,
                               unsigned flags)
{
    ucp_worker_h worker = arg;
    ucp_multi_fragment_t fragment;
    const char *rest;
    ucp_ep_h ep;

    if (length < sizeof(fragment)) {
        ucs_diag("dropped a fragment of %zu bytes: too short", length);
        return UCS_OK;
    }

    ucp_wire_take(&fragment, data, sizeof(fragment));
    length -= sizeof(fragment);
    rest = (const char *)data + sizeof(fragment);
    ep   = ucp_wireup_reply_ep(worker, &fragment.sender);
    if ((ep == NULL) || (ep->flags & UCP_EP_FLAG_FAILED)) {
        ucs_debug("dropped a fragment of %zu bytes: its sender is unknown, or "
                  "has ended",
                  length);
        return UCS_OK;
    }

    if (fragment.kind == UCP_MULTI_NEXT) {
        take_next(ep, &fragment, rest, length);
    } else {
        take_first(ep, &fragment, rest, length);
    }
    return UCS_OK;
}
