/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends a wire-up message in fragments if it exceeds the longest message of the
 * transport, and reassembles received fragments (fragments.h). A sender may
 * fail or be malicious, so the memory for incomplete messages is limited: the
 * receiver drops messages above UCP_WIREUP_MAX_MESSAGE, allocates memory only
 * for bytes that have arrived, and drops the oldest incomplete message if there
 * are MAX_PARTIAL of them.
 */
#include "ucp/wireup/fragments.h"

#include "ucp/order/queue.h"
#include "ucp/wireup/handshake.h"
#include "ucp/wireup/introduce.h"
#include "ucp/wireup/state.h"
#include "ucs/debug/log.h"
#include "ucs/sys/math.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PARTIAL = 1024 };

/* A message of which some fragments have arrived. */
typedef struct {
    ucs_list_link_t link;
    ucp_wire_end_t sender;
    uint8_t am_id;
    size_t total;    /* Bytes of the whole message */
    size_t received; /* Bytes in `bytes`: the message's beginning */
    char *bytes;
} partial_t;

/* ------------------------------------------------------------- sending -- */

static ucs_status_t send_one(ucp_ep_h ep, ucp_wireup_link_t *link,
                             uint8_t am_id, const void *message, size_t length)
{
    return (link != NULL) ? ucp_wireup_link_send(link, am_id, message, length) :
                            ucp_ep_send_control(ep, am_id, message, length);
}

ucs_status_t ucp_wireup_send(ucp_ep_h ep, ucp_wireup_link_t *link,
                             uint8_t am_id, const void *message, size_t length)
{
    size_t max          = (link != NULL) ? link->max :
                                           ucp_ep_config_am(ep->config)->max_bcopy;
    ucs_status_t status = UCS_OK;
    ucp_wireup_fragment_t *fragment;
    size_t offset, part;

    if (length > UCP_WIREUP_MAX_MESSAGE) {
        ucs_error("ep %p: a message of wire-up of %zu bytes exceeds the limit"
                  " of %d",
                  ep, length, UCP_WIREUP_MAX_MESSAGE);
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    if (length <= max) {
        return send_one(ep, link, am_id, message, length);
    }

    fragment = malloc(max);
    if (fragment == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    fragment->sender = ucp_ep_wire_end(ep);
    fragment->am_id  = am_id;
    fragment->total  = ucp_le32((uint32_t)length);
    for (offset = 0; (offset < length) && (status == UCS_OK); offset += part) {
        part             = ucs_min(length - offset, max - sizeof(*fragment));
        fragment->offset = ucp_le32((uint32_t)offset);
        memcpy(fragment + 1, (const char *)message + offset, part);
        status = send_one(ep, link, UCP_AM_ID_WIREUP_FRAGMENT, fragment,
                          sizeof(*fragment) + part);
    }
    free(fragment);
    return status;
}

/* ----------------------------------------------------------- receiving -- */

static uct_am_callback_t handler_of(uint8_t am_id)
{
    switch (am_id) {
    case UCP_AM_ID_INTRODUCE:
        return ucp_wireup_introduce_handler;
    case UCP_AM_ID_WIREUP_REQUEST:
        return ucp_wireup_request_handler;
    case UCP_AM_ID_WIREUP_REPLY:
        return ucp_wireup_reply_handler;
    default:
        return NULL;
    }
}

static int is_from(const partial_t *partial, const ucp_wire_end_t *end)
{
    return memcmp(&partial->sender, end, sizeof(*end)) == 0;
}

static partial_t *find(ucp_worker_h worker, const ucp_wire_end_t *end)
{
    partial_t *partial;

    ucs_list_for_each(partial, &ucp_worker_wireup(worker)->partial, link) {
        if (is_from(partial, end)) {
            return partial;
        }
    }
    return NULL;
}

static void drop(ucp_worker_h worker, partial_t *partial)
{
    ucs_list_del(&partial->link);
    --ucp_worker_wireup(worker)->num_partial;
    free(partial->bytes);
    free(partial);
}

void ucp_wireup_fragments_forget(ucp_worker_h worker, const ucp_wire_end_t *end)
{
    partial_t *partial = find(worker, end);

    if (partial != NULL) {
        drop(worker, partial);
    }
}

void ucp_wireup_fragments_cleanup(ucp_worker_h worker)
{
    while (!ucs_list_is_empty(&ucp_worker_wireup(worker)->partial)) {
        drop(worker, ucs_list_head(&ucp_worker_wireup(worker)->partial,
                                   partial_t, link));
    }
}

static partial_t *begin(ucp_worker_h worker,
                        const ucp_wireup_fragment_t *fragment, size_t total)
{
    ucp_wireup_worker_t *wireup = ucp_worker_wireup(worker);
    partial_t *partial;

    ucp_wireup_fragments_forget(worker, &fragment->sender);
    if (wireup->num_partial == MAX_PARTIAL) {
        ucs_diag("wire-up: too many incomplete messages: dropped the oldest");
        drop(worker, ucs_list_head(&wireup->partial, partial_t, link));
    }

    partial = ucp_reserve_malloc(worker, sizeof(*partial));
    if (partial == NULL) {
        ucp_worker_lost(worker, "a message of wire-up", total);
        return NULL;
    }
    memset(partial, 0, sizeof(*partial));
    partial->sender = fragment->sender;
    partial->am_id  = fragment->am_id;
    partial->total  = total;
    ucs_list_add_tail(&wireup->partial, &partial->link);
    ++wireup->num_partial;
    return partial;
}

/* Appends bytes to a message. Returns zero if out of memory. */
static int append(ucp_worker_h worker, partial_t *partial, const void *bytes,
                  size_t length)
{
    char *longer;

    do {
        longer = realloc(partial->bytes, partial->received + length);
    } while ((longer == NULL) && ucp_reserve_spend(worker));
    if (longer == NULL) {
        return 0;
    }
    memcpy(longer + partial->received, bytes, length);
    partial->bytes = longer;
    partial->received += length;
    return 1;
}

/* The message is complete: calls its handler, as the transport does for a
 * message that was not fragmented. */
static void deliver(ucp_worker_h worker, partial_t *partial)
{
    uct_am_callback_t handler = handler_of(partial->am_id);
    size_t length             = partial->total;
    char *bytes               = partial->bytes;

    partial->bytes = NULL;
    drop(worker, partial);
    handler(worker, bytes, length, 0);
    free(bytes);
}

ucs_status_t ucp_wireup_fragment_handler(void *arg, void *data, size_t length,
                                         unsigned flags)
{
    ucp_worker_h worker = arg;
    ucp_wireup_fragment_t fragment;
    partial_t *partial;
    size_t total, offset, part;

    if (length <= sizeof(fragment)) {
        ucs_debug("dropped a fragment of wire-up of %zu bytes: too short",
                  length);
        return UCS_OK;
    }

    ucp_wire_take(&fragment, data, sizeof(fragment));
    total  = ucp_le32_get(fragment.total);
    offset = ucp_le32_get(fragment.offset);
    part   = length - sizeof(fragment);
    if ((handler_of(fragment.am_id) == NULL) ||
        (total > UCP_WIREUP_MAX_MESSAGE) || (part > total) ||
        (offset > total - part)) {
        ucs_debug("dropped a fragment of wire-up: %zu bytes at %zu of %zu, of"
                  " message %u",
                  part, offset, total, fragment.am_id);
        return UCS_OK;
    }

    partial = (offset == 0) ? begin(worker, &fragment, total) :
                              find(worker, &fragment.sender);
    if ((partial == NULL) || (partial->am_id != fragment.am_id) ||
        (partial->total != total) || (partial->received != offset)) {
        ucs_debug("dropped a fragment of wire-up: it does not follow another");
        ucp_wireup_fragments_forget(worker, &fragment.sender);
        return UCS_OK;
    }

    if (!append(worker, partial, (const char *)data + sizeof(fragment), part)) {
        ucp_worker_lost(worker, "a message of wire-up", total);
        drop(worker, partial);
    } else if (partial->received == total) {
        deliver(worker, partial);
    }
    return UCS_OK;
}
