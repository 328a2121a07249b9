/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tag offload: the agreement of an endpoint and its peer to send tagged
 * messages by the tag slots (offload.h).
 */
#include "ucp/tag/offload.h"

#include "ucp/base/ids.h"
#include "ucp/order/queue.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

/* State of an endpoint, in ep->bits.tag[0]. */
enum {
    NOT_ASKED,
    ASKED,  /* The first ASK was sent: UCP_TAG_PATH_ASK */
    AGREED, /* The second ASK was sent: UCP_TAG_PATH_SLOTS, sends wait */
    IN_USE, /* The second ASK was answered: UCP_TAG_PATH_SLOTS */
    REFUSED,
};

/* The ASK stays behind all tagged messages that the user has sent, so the
 * second AGREE shows that the peer has handled them. */
static ucs_status_t send_ask(ucp_ep_h ep)
{
    const ucp_tag_offload_msg_t ask = {
        .asker = ucp_ep_wire_end(ep),
        .kind  = UCP_TAG_OFFLOAD_ASK,
    };

    return ucp_ep_send_in_order(ep, UCP_AM_ID_TAG_OFFLOAD, &ask, sizeof(ask));
}

void ucp_tag_offload_ask(ucp_ep_h ep)
{
    if ((ep->bits.tag[0] != NOT_ASKED) ||
        (ucp_worker_tag(ep->worker)->offload == NULL)) {
        return;
    }
    if ((ucp_wireup_introduce(ep) == UCS_OK) && (send_ask(ep) == UCS_OK)) {
        ep->bits.tag[0] = ASKED;
    }
}

int ucp_tag_offload_is_agreed(ucp_ep_h ep)
{
    return ep->bits.tag[0] == IN_USE;
}

static void set_path(ucp_ep_h ep, ucp_tag_path_t path, uint8_t state)
{
    const ucp_ep_config_t *config = ucp_ep_config_tag(ep->worker, ep->config,
                                                      path);

    if (config != NULL) {
        ep->config      = config;
        ep->bits.tag[0] = state;
    }
}

/* Handles the answer to an ASK of the endpoint. If there is no memory for the
 * new configuration, the endpoint continues with active messages. */
static void answered(ucp_ep_h ep, uint8_t kind)
{
    if (ep->bits.tag[0] == ASKED) {
        if (kind != UCP_TAG_OFFLOAD_AGREE) {
            set_path(ep, UCP_TAG_PATH_AM, REFUSED);
            return;
        }
        set_path(ep, UCP_TAG_PATH_SLOTS, AGREED);
        if ((ep->bits.tag[0] == AGREED) && (send_ask(ep) != UCS_OK)) {
            ucs_debug("ep %p: fails before tag offload is agreed", ep);
        }
    } else if ((ep->bits.tag[0] == AGREED) && (kind == UCP_TAG_OFFLOAD_AGREE)) {
        ep->bits.tag[0] = IN_USE;
        ucp_ep_continue(ep);
    }
}

/* The answer must not wait behind tagged messages to the same peer. Those may
 * wait for an answer of the peer: if the answers of both sides waited behind
 * them, neither would be sent. */
static void answer(ucp_worker_h worker, const ucp_wire_end_t *asker,
                   uint8_t kind)
{
    const ucp_tag_offload_msg_t message = {.asker = *asker, .kind = kind};
    ucp_ep_h ep                         = ucp_wireup_reply_ep(worker, asker);

    if ((ep == NULL) || (ucp_ep_send_ahead(ep, UCP_AM_ID_TAG_OFFLOAD, &message,
                                           sizeof(message)) != UCS_OK)) {
        ucs_diag("cannot answer worker %lx, which asks for tag offload",
                 ucp_le64_get(asker->worker_uuid));
    }
}

/* Returns the endpoint of this worker that has asked, or NULL. */
static ucp_ep_h find_asker(ucp_worker_h worker, const ucp_wire_end_t *end)
{
    ucp_ep_h ep = (ucp_le64_get(end->worker_uuid) == worker->uuid) ?
                      ucp_id_get(worker->ep_ids,
                                 (uint32_t)ucp_le64_get(end->ep_id)) :
                      NULL;

    return ((ep != NULL) && (ep->secret == ucp_wire_end_secret(end)) &&
            !(ep->flags & UCP_EP_FLAG_FAILED)) ?
               ep :
               NULL;
}

/* Handles a message. `offload`: NULL if the message came by another interface
 * than the one that matches tags. */
static void handle(ucp_worker_h worker, ucp_tag_offload_t *offload,
                   const void *data, size_t length)
{
    ucp_tag_offload_msg_t message;
    ucp_ep_h ep;

    if (length != sizeof(message)) {
        ucs_diag("dropped a message about tag offload of %zu bytes: wrong size",
                 length);
        return;
    }
    ucp_wire_take(&message, data, sizeof(message));
    if (message.kind == UCP_TAG_OFFLOAD_ASK) {
        if (offload != NULL) {
            offload->is_used = 1;
        }
        answer(worker, &message.asker,
               (offload != NULL) ? UCP_TAG_OFFLOAD_AGREE :
                                   UCP_TAG_OFFLOAD_REFUSE);
        return;
    }
    ep = find_asker(worker, &message.asker);
    if (ep == NULL) {
        ucs_debug("dropped an answer about tag offload: no such endpoint");
        return;
    }
    answered(ep, message.kind);
}

ucs_status_t ucp_tag_offload_handler(void *arg, void *data, size_t length,
                                     unsigned flags)
{
    handle(arg, NULL, data, length);
    return UCS_OK;
}

ucs_status_t ucp_tag_offload_iface_handler(void *arg, void *data, size_t length,
                                           unsigned flags)
{
    ucp_tag_offload_t *offload = arg;

    handle(offload->worker, offload, data, length);
    return UCS_OK;
}
