/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation, failure and destruction of endpoints, and their pending
 * requests. */
#include "tag.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* --- Creation ------------------------------------------------------------- */

/* Checks an untrusted address of a peer, so that libfabric does not read beyond
 * its end. For a socket address, libfabric derives the length from the address
 * family, so the family must be that of this interface's own address. A string
 * must end with NUL. */
static int is_valid_name(const ugni_iface_t *iface, const void *name)
{
    switch (iface->port->info->addr_format) {
    case FI_SOCKADDR:
    case FI_SOCKADDR_IN:
    case FI_SOCKADDR_IN6:
        return memcmp(name, iface->port->name, sizeof(sa_family_t)) == 0;
    case FI_ADDR_STR:
        return memchr(name, '\0', iface->port->name_length) != NULL;
    default:
        return 1;
    }
}

/* Copies an interface address from a peer, which is untrusted input, to
 * ep->addr and ep->peer. */
static ucs_status_t take_address(ugni_iface_t *iface, const char *address,
                                 size_t length, ugni_ep_t *ep)
{
    if ((length < sizeof(ep->addr) + iface->port->name_length) ||
        !is_valid_name(iface, address + sizeof(ep->addr))) {
        return UCS_ERR_INVALID_ADDR;
    }
    memcpy(&ep->addr, address, sizeof(ep->addr));
    ep->addr.start  = le64toh(ep->addr.start);
    ep->addr.space  = le64toh(ep->addr.space);
    ep->addr.pid    = le32toh(ep->addr.pid);
    ep->addr.key    = le32toh(ep->addr.key);
    ep->addr.device = le32toh(ep->addr.device);
    ep->addr.nonce  = le32toh(ep->addr.nonce);
    return ugni_port_peer(iface->port, address + sizeof(ep->addr), ep->addr.key,
                          &ep->peer);
}

ucs_status_t ugni_ep_connect(ugni_iface_t *iface, const void *address,
                             size_t length, ugni_ep_t **ep_p)
{
    ugni_ep_t *ep = calloc(1, sizeof(*ep));
    ucs_status_t status;

    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = take_address(iface, address, length, ep);
    if (status != UCS_OK) {
        free(ep);
        return status;
    }
    ucx_ep_init(&ep->super, &iface->super);
    ucx_pending_init(&ep->pending);
    ugni_flush_init(&ep->flushes);
    ugni_link_init(&ep->todo);
    ugni_link_init(&ep->queued);
    ugni_link_init(&ep->sent);
    ugni_link_init(&ep->ended);
    ugni_link_add(&iface->eps, &ep->link);
    *ep_p = ep;
    return UCS_OK;
}

ucs_status_t ugni_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                            uct_ep_h *ep_p)
{
    const uint64_t needed = UCT_EP_PARAM_FIELD_DEV_ADDR |
                            UCT_EP_PARAM_FIELD_IFACE_ADDR;
    size_t length = SIZE_MAX;
    ugni_ep_t *ep;
    ucs_status_t status;

    if ((params->field_mask & needed) != needed) {
        return UCS_ERR_UNSUPPORTED; /* Endpoints connect only to interfaces */
    }
    if (params->field_mask & UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH) {
        length = params->iface_addr_length;
    }
    if ((params->dev_addr == NULL) || (params->iface_addr == NULL) ||
        ((params->field_mask & UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH) &&
         (params->dev_addr_length < sizeof(ugni_wire_device_t)))) {
        return UCS_ERR_INVALID_ADDR;
    }
    status = ugni_ep_connect((ugni_iface_t *)iface, params->iface_addr, length,
                             &ep);
    if (status == UCS_OK) {
        *ep_p = &ep->super;
    }
    return status;
}

/* --- Failure and destruction ---------------------------------------------- */

/* Calls the completion of a send, if it has one. */
static void end_send(ugni_send_t *send, ucs_status_t status)
{
    void (*done)(ugni_send_t * send, ucs_status_t status) = send->done;

    send->done = NULL;
    if (done != NULL) {
        done(send, status);
    }
}

/* Returns whether a failed endpoint waits for this send. If the failure will be
 * reported to the user, the endpoint waits for all sends with a completion,
 * otherwise only for those that also use memory of the user. */
static int is_awaited(const ugni_ep_t *ep, const ugni_send_t *send)
{
    return (send->done != NULL) &&
           (send->op.is_zcopy || (ep->state & UGNI_EP_TELL));
}

/* Moves posted sends from ep->sent to port->disowned and calls their
 * completions with ep->status. libfabric uses their buffers until it completes
 * them: fi_cancel() need not end a send. With `wait`, the sends for which
 * is_awaited() is true stay in ep->sent. */
static void disown_sent(ugni_ep_t *ep, int wait)
{
    ugni_iface_t *iface = ugni_iface_of(ep);
    ugni_link_t *link   = ep->sent.next;
    ugni_send_t *send;

    while (link != &ep->sent) {
        send = ugni_container_of(link, ugni_send_t, link);
        link = link->next;
        if (wait && is_awaited(ep, send)) {
            continue;
        }
        ugni_link_remove(&send->link);
        ugni_link_add(&iface->port->disowned, &send->link);
        if (ep->state & UGNI_EP_FAILED) {
            ugni_link_remove(&send->all); /* Flushes do not wait for this
                                           * send */
        }
        send->ep = NULL;
        end_send(send, ep->status);
    }
}

/* Ends the sends that libfabric has not accepted. If the failure will be
 * reported, their completions are called then (ep->ended), otherwise now. */
static void end_queued(ugni_ep_t *ep)
{
    ugni_iface_t *iface = ugni_iface_of(ep);
    ugni_send_t *send;

    while (!ugni_link_is_alone(&ep->queued)) {
        send = ugni_container_of(ep->queued.next, ugni_send_t, link);
        ugni_link_remove(&send->link);
        if ((ep->state & UGNI_EP_TELL) && (send->done != NULL)) {
            send->status = ep->status;
            ugni_link_add(&ep->ended, &send->link);
            continue;
        }
        end_send(send, ep->status);
        ugni_send_free(iface->port, send);
    }
}

/* Calls the completions of the sends in ep->ended, and frees the sends. */
static void end_ended(ugni_ep_t *ep)
{
    ugni_send_t *send;

    while (!ugni_link_is_alone(&ep->ended)) {
        send = ugni_container_of(ep->ended.next, ugni_send_t, link);
        ugni_link_remove(&send->link);
        end_send(send, send->status);
        ugni_send_free(ugni_iface_of(ep)->port, send);
    }
}

void ugni_ep_settle(ugni_ep_t *ep)
{
    ep->state &= ~UGNI_EP_TELL;
    end_ended(ep);
    ugni_tag_end_ops(ep, &ep->status);
    ugni_flush_update(ep);
    ugni_flush_update_all(ugni_iface_of(ep));
}

/* Removes the completions of sends. Called when the user destroys an endpoint:
 * no completion may be called afterwards, except after a flush with
 * UCT_FLUSH_FLAG_CANCEL. */
static void forget_completions(ugni_link_t *list)
{
    ugni_link_t *link;

    for (link = list->next; link != list; link = link->next) {
        ugni_container_of(link, ugni_send_t, link)->done = NULL;
    }
}

/* Returns whether the endpoint has to be in iface->todo. */
static int needs_progress(const ugni_ep_t *ep)
{
    if (ep->state & UGNI_EP_FAILED) {
        return (ep->state & UGNI_EP_TELL) && ugni_link_is_alone(&ep->sent);
    }
    return !ugni_link_is_alone(&ep->queued) ||
           !ucx_pending_is_empty(&ep->pending);
}

void ugni_ep_update(ugni_ep_t *ep)
{
    ugni_iface_t *iface = ugni_iface_of(ep);

    if (ep->busy > 0) {
        return;
    }
    if (needs_progress(ep)) {
        if (ugni_link_is_alone(&ep->todo)) {
            ugni_link_add(&iface->todo, &ep->todo);
        }
    } else if ((ep->state & UGNI_EP_ZOMBIE) &&
               (!(ep->state & UGNI_EP_CANCELED) ||
                ugni_link_is_alone(&ep->sent))) {
        disown_sent(ep, 0);
        end_ended(ep);
        ugni_link_remove(&ep->todo);
        ugni_link_remove(&ep->link);
        free(ep);
    }
}

void ugni_ep_fail(ugni_ep_t *ep, ucs_status_t status, int tell)
{
    ugni_iface_t *iface = ugni_iface_of(ep);

    if (ep->state & UGNI_EP_FAILED) {
        return;
    }
    ep->state |= UGNI_EP_FAILED;
    ep->status = status;
    if (status != UCS_ERR_CANCELED) {
        ep->peer->contact = UGNI_CONTACT_NONE; /* Do not send UGNI_ID_CLOSED to
                                                * this peer */
    }
    ep->moved = iface->host->time();
    if (tell && !(ep->state & (UGNI_EP_ZOMBIE | UGNI_EP_INTERNAL))) {
        ep->state |= UGNI_EP_TELL;
    }
    ++ep->busy;
    disown_sent(ep, 1);
    end_queued(ep);
    ugni_flush_update(ep);
    ugni_flush_update_all(iface);
    --ep->busy;
    ugni_ep_update(ep);
}

void ugni_ep_abandon(ugni_ep_t *ep)
{
    ++ep->busy;
    disown_sent(ep, 0);
    ugni_flush_update(ep);
    ugni_flush_update_all(ugni_iface_of(ep));
    --ep->busy;
    ugni_ep_update(ep);
}

/* Fails all endpoints of the interface to this address. Callbacks of the user
 * may free any endpoint. `busy` keeps the current endpoint allocated until the
 * loop has read its successor. */
static void fail_all(ugni_iface_t *iface, fi_addr_t fi_addr,
                     ucs_status_t status)
{
    ugni_link_t *link = iface->eps.next;
    ugni_ep_t *ep;

    while (link != &iface->eps) {
        ep = ugni_container_of(link, ugni_ep_t, link);
        ++ep->busy;
        if (ep->peer->fi_addr == fi_addr) {
            ugni_ep_fail(ep, status, 1);
        }
        link = link->next;
        --ep->busy;
        ugni_ep_update(ep);
    }
}

void ugni_port_lost(ugni_port_t *port, fi_addr_t fi_addr, ucs_status_t status)
{
    ugni_peer_t *peer;

    for (peer = port->peers; peer != NULL; peer = peer->next) {
        if (peer->fi_addr == fi_addr) {
            peer->number  = 0;
            peer->sent[0] = 0;
            peer->sent[1] = 0;
            peer->contact = UGNI_CONTACT_NONE;
            ++peer->epoch;
        }
    }
    for (int kind = 0; kind < UGNI_NUM_KINDS; ++kind) {
        if (port->ifaces[kind] != NULL) {
            fail_all(port->ifaces[kind], fi_addr, status);
        }
    }
}

void ugni_ep_destroy(uct_ep_h uct_ep)
{
    ugni_ep_t *ep = (ugni_ep_t *)uct_ep;

    ++ep->busy;
    if (!(ep->state & UGNI_EP_FAILED)) {
        /* If the last messages were injected, this sends a message with a
         * completion after them. The close of the interface waits for that
         * completion, and thus for the injected messages. */
        (void)ugni_ep_am_confirm(ep);
    }
    --ep->busy;
    ep->state |= UGNI_EP_ZOMBIE;
    ep->state &= ~UGNI_EP_TELL;
    ugni_tag_end_ops(ep, NULL);
    if (!(ep->state & UGNI_EP_CANCELED)) {
        forget_completions(&ep->sent);
        forget_completions(&ep->queued);
        forget_completions(&ep->ended);
        ugni_flush_drop(ep);
    }
    ugni_ep_update(ep);
}

ucs_status_t ugni_ep_invalidate(uct_ep_h uct_ep, unsigned flags)
{
    ugni_ep_fail((ugni_ep_t *)uct_ep, UCS_ERR_ENDPOINT_TIMEOUT, 1);
    return UCS_OK;
}

/* --- Pending requests ----------------------------------------------------- */

ucs_status_t ugni_ep_pending_add(uct_ep_h uct_ep, uct_pending_req_t *req,
                                 unsigned flags)
{
    ugni_ep_t *ep = (ugni_ep_t *)uct_ep;

    if (ucx_pending_is_empty(&ep->pending) &&
        (ugni_check_send(ep) != UCS_ERR_NO_RESOURCE)) {
        return UCS_ERR_BUSY;
    }
    ucx_pending_push(&ep->pending, req);
    ugni_ep_update(ep);
    return UCS_OK;
}

void ugni_ep_pending_purge(uct_ep_h uct_ep, uct_pending_purge_callback_t cb,
                           void *arg)
{
    ucx_pending_purge(&((ugni_ep_t *)uct_ep)->pending, cb, arg);
}
