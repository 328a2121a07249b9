/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handshake that connects lanes endpoint to endpoint (handshake.h): its
 * states and the handlers of its messages. handshake_send.c composes the
 * messages, reject.c answers requests for which no endpoint can be created.
 */
#include "ucp/wireup/handshake.h"

#include "ucp/base/ids.h"
#include "ucp/wireup/create.h"
#include "ucp/wireup/fragments.h"
#include "ucp/wireup/introduce.h"
#include "ucp/wireup/reject.h"
#include "ucs/debug/log.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- the end -- */

/* Frees the state of the handshake, with its stubs. Called by progress, or when
 * the endpoint is freed, and not where the handshake ends: callers on the stack
 * may still use a stub there. */
static void retire(void *arg)
{
    ucp_wireup_t *wireup = arg;

    ucp_wireup_link_close(&wireup->link);
    ucp_wireup_deadline_stop(wireup->ep);
    ucp_ep_wireup(wireup->ep)->handshake = NULL;
    wireup->ep->connecting               = 0;
    free(wireup);
}

static int is_over(const ucp_wireup_t *wireup)
{
    return (wireup->state == UCP_WIREUP_DONE) &&
           ((wireup->link.uct == NULL) ||
            ucp_wireup_link_is_idle(&wireup->link));
}

static void retire_if_over(ucp_wireup_t *wireup)
{
    if (is_over(wireup) && !wireup->retiring) {
        wireup->retiring = 1;
        uct_worker_oneshot_post(wireup->ep->worker->uct, &wireup->retire,
                                retire, wireup);
    }
}

static void link_sent(ucp_wireup_link_t *link)
{
    retire_if_over(ucs_container_of(link, ucp_wireup_t, link));
}

void ucp_wireup_release(ucp_ep_h ep)
{
    if (ucp_ep_wireup(ep)->handshake != NULL) {
        ucp_wireup_deadline_stop(ep);
        ucp_wireup_link_close(&ucp_ep_wireup(ep)->handshake->link);
    }
}

void ucp_wireup_free(ucp_ep_h ep)
{
    if (ucp_ep_wireup(ep)->handshake != NULL) {
        uct_worker_oneshot_cancel(ep->worker->uct, retire,
                                  ucp_ep_wireup(ep)->handshake);
        retire(ucp_ep_wireup(ep)->handshake);
    }
}

int ucp_wireup_owns(ucp_ep_h ep, uct_ep_h uct)
{
    ucp_wireup_t *wireup = ucp_ep_wireup(ep)->handshake;
    unsigned i;

    if ((wireup == NULL) || is_over(wireup)) {
        return 0;
    }
    for (i = 0; i < UCP_MAX_LANES; ++i) {
        if (wireup->stubs[i].real == uct) {
            return 1;
        }
    }
    return wireup->link.uct == uct;
}

ucp_wireup_link_t *ucp_wireup_early_link(ucp_ep_h ep)
{
    ucp_wireup_t *wireup = ucp_ep_wireup(ep)->handshake;

    return ((wireup != NULL) && (wireup->state == UCP_WIREUP_REQUESTED) &&
            (wireup->link.uct != NULL)) ?
               &wireup->link :
               NULL;
}

/* --------------------------------------------------------------- start -- */

static void set_lane(ucp_ep_h ep, unsigned lane, uct_ep_h uct)
{
    if (lane == UCP_AM_LANE) {
        ep->am = uct;
    } else {
        ep->more[lane - 1].uct = uct;
    }
}

static ucp_wireup_t *create(ucp_ep_h ep, const ucp_wireup_lanes_t *lanes,
                            ucp_wireup_state_t state)
{
    ucp_wireup_t *wireup = calloc(1, sizeof(*wireup));
    unsigned i;

    if (wireup == NULL) {
        return NULL;
    }

    wireup->ep    = ep;
    wireup->state = state;
    for (i = 0; i < lanes->num; ++i) {
        if (lanes->selected[i].to_ep) {
            ucp_wireup_stub_init(&wireup->stubs[i], lanes->uct[i],
                                 &wireup->link);
            set_lane(ep, i, &wireup->stubs[i].super);
        }
    }
    if (lanes->aux_uct != NULL) {
        ucp_wireup_link_init(&wireup->link, lanes->aux_uct,
                             &ep->worker->ifaces[lanes->aux.iface_index],
                             link_sent);
    }
    ucp_ep_wireup(ep)->handshake = wireup;
    ep->connecting               = 1;
    ucp_wireup_deadline_start(ep);
    return wireup;
}

ucs_status_t ucp_wireup_begin(ucp_ep_h ep, const ucp_address_info_t *peer,
                              const ucp_wireup_lanes_t *lanes,
                              const ucp_wireup_request_t *request)
{
    int needed = 0;
    unsigned i;

    for (i = 0; i < lanes->num; ++i) {
        needed |= lanes->selected[i].to_ep;
    }
    if (!needed) {
        return UCS_OK;
    }

    if (create(ep, lanes,
               (request != NULL) ? UCP_WIREUP_REPLIED : UCP_WIREUP_REQUESTED) ==
        NULL) {
        if (lanes->aux_uct != NULL) {
            uct_ep_destroy(lanes->aux_uct);
        }
        return UCS_ERR_NO_MEMORY;
    }
    if ((request != NULL) &&
        (ucp_wireup_remember(ep, &request->sender) != UCS_OK)) {
        return UCS_ERR_NO_MEMORY;
    }
    return (request != NULL) ? ucp_wireup_send_reply(ep, lanes, request) :
                               ucp_wireup_send_request(ep, peer, lanes);
}

/* ---------------------------------------------------------- connecting -- */

/* Calls the function of the request that was in the pending queue of a stub. If
 * the function lacks send resources, adds the request to the pending queue of
 * the transport's endpoint. */
static void resume_pending(ucp_ep_h ep, uct_ep_h uct, uct_pending_req_t *req)
{
    ucs_status_t status;

    while (req->func(req) != UCS_OK) {
        status = uct->ops->pending_add(uct, req, 0);
        if (status == UCS_ERR_BUSY) {
            continue;
        }
        if (status != UCS_OK) {
            ucp_ep_fail(ep, status);
        }
        return;
    }
}

/* Both sides are connected: replaces the stubs by the transport's endpoints.
 * Replaces all of them before a waiting request continues, because that request
 * may use any lane. */
static void open_lanes(ucp_ep_h ep)
{
    ucp_wireup_t *wireup     = ucp_ep_wireup(ep)->handshake;
    uct_pending_req_t *first = NULL;
    uct_ep_h waited_for      = NULL;
    uct_pending_req_t *req;
    uct_ep_h uct;
    unsigned i;

    wireup->state = UCP_WIREUP_DONE;
    ucp_wireup_deadline_stop(ep);
    for (i = 0; i < ep->config->num_lanes; ++i) {
        uct = ucp_wireup_stub_take(&wireup->stubs[i]);
        if (uct == NULL) {
            continue;
        }
        set_lane(ep, i, uct);
        /* At most one stub has a request: an endpoint waits for one lane at a
         * time */
        req = ucx_pending_pop(&wireup->stubs[i].waiting);
        if (req != NULL) {
            first      = req;
            waited_for = uct;
        }
    }
    retire_if_over(wireup);
    if (first != NULL) {
        resume_pending(ep, waited_for, first);
    }
}

static ucs_status_t connect_stubs(ucp_ep_h ep, const ucp_wireup_reply_t *reply)
{
    const ucp_wireup_record_t *record;
    ucs_status_t status;
    unsigned i;

    for (i = 0; i < ep->config->num_lanes; ++i) {
        uct_ep_h real = ucp_ep_wireup(ep)->handshake->stubs[i].real;

        if (real == NULL) {
            continue;
        }
        record = ucp_wireup_record_find(reply->lanes, reply->num_lanes, i);
        if (record == NULL) {
            return UCS_ERR_UNREACHABLE;
        }
        status = uct_ep_connect_to_ep_sized(
            real, (const uct_device_addr_t *)record->dev_addr,
            record->dev_addr_length, (const uct_ep_addr_t *)record->ep_addr,
            record->ep_addr_length);
        if (status != UCS_OK) {
            return status;
        }
    }
    return UCS_OK;
}

/* ------------------------------------------------------------ messages -- */

/* Returns the endpoint that `end` identifies if its handshake is in this
 * state, otherwise NULL. */
static ucp_ep_h find_waiting(ucp_worker_h worker, const ucp_wire_end_t *end,
                             ucp_wireup_state_t state)
{
    ucp_ep_h ep = (ucp_le64_get(end->worker_uuid) == worker->uuid) ?
                      ucp_id_get(worker->ep_ids,
                                 (uint32_t)ucp_le64_get(end->ep_id)) :
                      NULL;

    return ((ep != NULL) && (ep->secret == ucp_wire_end_secret(end)) &&
            !(ep->flags & UCP_EP_FLAG_FAILED) &&
            (ucp_ep_wireup(ep)->handshake != NULL) &&
            (ucp_ep_wireup(ep)->handshake->state == state)) ?
               ep :
               NULL;
}

/* Calls a handler with a copy of the message: the addresses in it are read
 * several times, also by plugins, and the peer may still write to the
 * original. */
static ucs_status_t handle_copy(
    ucp_worker_h worker, const void *data, size_t length,
    void (*handle)(ucp_worker_h worker, const void *message, size_t length))
{
    void *message = ucp_reserve_malloc(worker, length);

    if (message == NULL) {
        ucp_worker_lost(worker, "a message about lanes", length);
        return UCS_OK;
    }

    ucp_wire_take(message, data, length);
    handle(worker, message, length);
    free(message);
    return UCS_OK;
}

static void handle_request(ucp_worker_h worker, const void *data, size_t length)
{
    ucp_wireup_request_t request;
    ucp_address_info_t *peer;
    ucs_status_t status;
    ucp_ep_h ep;

    if (!ucp_wireup_request_parse(data, length, &request) ||
        ucp_wireup_has_half(worker, &request.sender)) {
        ucs_debug("dropped a request for lanes of %zu bytes: malformed, or"
                  " a repeated one",
                  length);
        return;
    }

    peer = ucp_reserve_malloc(worker, sizeof(*peer));
    if (peer == NULL) {
        ucp_worker_lost(worker, "a request for lanes", length);
        return;
    }

    status = ucp_address_unpack(request.address, request.address_length, peer);
    if (status != UCS_OK) {
        goto out; /* Already logged. Without the address no rejection can be
                   * sent */
    }

    do {
        status = ucp_ep_create_to_peer(
            worker, peer,
            UCP_EP_FLAG_INTERNAL | ((request.flags & UCP_INTRODUCE_ERR_MODE) ?
                                        UCP_EP_FLAG_ERR_MODE :
                                        0),
            &request, &ep);
    } while ((status == UCS_ERR_NO_MEMORY) && ucp_reserve_spend(worker));
    if (status != UCS_OK) {
        ucs_diag("rejected the lanes that worker %s requested: %s", peer->name,
                 ucs_status_string(status));
        ucp_wireup_reject(worker, peer, &request, status);
    }
out:
    free(peer);
}

ucs_status_t ucp_wireup_request_handler(void *arg, void *data, size_t length,
                                        unsigned flags)
{
    return handle_copy(arg, data, length, handle_request);
}

static void handle_reply(ucp_worker_h worker, const void *data, size_t length)
{
    ucp_wireup_reply_t reply;
    ucs_status_t status;
    ucp_ep_h ep;

    ep = ucp_wireup_reply_parse(data, length, &reply) ?
             find_waiting(worker, &reply.requester, UCP_WIREUP_REQUESTED) :
             NULL;
    if (ep == NULL) {
        ucs_debug("dropped a reply about lanes of %zu bytes: malformed, or no"
                  " endpoint waits for it",
                  length);
        return;
    }

    status = reply.status;
    if (status == UCS_OK) {
        status = connect_stubs(ep, &reply);
    }
    if (status == UCS_OK) {
        status = ucp_wireup_send(
            ep, ucp_wireup_link_of(ucp_ep_wireup(ep)->handshake),
            UCP_AM_ID_WIREUP_ACK, &reply.sender, sizeof(reply.sender));
    }
    if (status != UCS_OK) {
        ucs_diag("ep %p: its lanes to worker %lx cannot be connected: %s", ep,
                 ep->peer_uuid, ucs_status_string(status));
        ucp_ep_fail(ep, status);
        return;
    }
    open_lanes(ep);
}

ucs_status_t ucp_wireup_reply_handler(void *arg, void *data, size_t length,
                                      unsigned flags)
{
    return handle_copy(arg, data, length, handle_reply);
}

ucs_status_t ucp_wireup_ack_handler(void *arg, void *data, size_t length,
                                    unsigned flags)
{
    ucp_wire_end_t end;
    ucp_ep_h ep = NULL;

    if (length == sizeof(end)) {
        ucp_wire_take(&end, data, sizeof(end));
        ep = find_waiting(arg, &end, UCP_WIREUP_REPLIED);
    }
    if (ep == NULL) {
        ucs_debug("dropped an acknowledgement of lanes: no endpoint waits for"
                  " it");
        return UCS_OK;
    }
    open_lanes(ep);
    return UCS_OK;
}
