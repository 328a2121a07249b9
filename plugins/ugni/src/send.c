/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a send (ugni_send_t): it is allocated, queued, posted to
 * libfabric and completed. */
#include "iface.h"

#include <string.h>

ucs_status_t ugni_check_send(const ugni_ep_t *ep)
{
    if (ep->state & UGNI_EP_FAILED) {
        return (ep->state & UGNI_EP_TELL) ? UCS_ERR_NO_RESOURCE : ep->status;
    }
    return (ugni_link_is_alone(&ep->queued) &&
            (ugni_iface_of(ep)->tx_free > 0)) ?
               UCS_OK :
               UCS_ERR_NO_RESOURCE;
}

ucs_status_t ugni_send_new(ugni_ep_t *ep, ugni_send_t **send_p)
{
    ugni_iface_t *iface = ugni_iface_of(ep);
    ucs_status_t status = ugni_check_send(ep);
    ugni_send_t *send;
    void *desc;

    if (status != UCS_OK) {
        return status;
    }
    send = ucx_mpool_get(iface->host, iface->port->sends[iface->kind]);
    if (send == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    desc = send->desc;
    memset(send, 0, sizeof(*send));
    send->desc = desc;
    ugni_link_init(&send->link);
    ugni_link_init(&send->all);
    send->op.kind = (uint8_t)iface->kind;
    send->ep      = ep;
    send->peer    = ep->peer;
    *send_p       = send;
    return UCS_OK;
}

void ugni_send_cancel(ugni_send_t *send)
{
    ucx_mpool_put(ugni_iface_of(send->ep)->port->sends[send->op.kind], send);
}

void ugni_send_start(ugni_send_t *send)
{
    ugni_ep_t *ep       = send->ep;
    ugni_iface_t *iface = ugni_iface_of(ep);

    send->number = iface->next_number++;
    if (ugni_link_is_alone(&ep->sent)) {
        ep->moved = iface->host->time();
    }
    --iface->tx_free;
    ugni_link_add(&iface->outstanding, &send->all);
    ugni_link_add(&ep->queued, &send->link);
    ++ep->busy;
    ugni_ep_push(ep);
    --ep->busy;
    ugni_ep_update(ep);
}

/* Logs the error of a send that libfabric has rejected, if it is -FI_EMSGSIZE:
 * a change of the configuration may avoid it. Any error fails the endpoint. */
static void report(const ugni_ep_t *ep, ssize_t rc)
{
    const ugni_iface_t *iface  = ugni_iface_of(ep);
    const struct fi_info *info = iface->port->info;
    const ucx_host_t *host     = iface->host;

    if (rc == -FI_EMSGSIZE) {
        ucx_error("ugni: the provider %s rejects an operation of %s that is "
                  "within its limits: %s; a smaller UCX_UGNI_SEG_SIZE (%zu) "
                  "may help",
                  info->fabric_attr->prov_name, info->domain_attr->name,
                  fi_strerror((int)-rc), iface->config.seg_size);
    }
}

void ugni_ep_push(ugni_ep_t *ep)
{
    ugni_send_t *send;
    ssize_t rc;

    while (!ugni_link_is_alone(&ep->queued)) {
        send = ugni_container_of(ep->queued.next, ugni_send_t, link);
        if (ugni_is_fenced(ep, send)) {
            return;
        }
        rc = send->post(ep, send);
        if (rc == -FI_EAGAIN) {
            return;
        }
        if (rc != 0) {
            report(ep, rc);
            ugni_ep_fail(ep, UCS_ERR_CONNECTION_RESET, 1);
            return;
        }
        send->op.epoch = send->peer->epoch;
        send->posted   = ++ugni_iface_of(ep)->port->posts;
        ugni_link_remove(&send->link);
        ugni_link_add(&ep->sent, &send->link);
    }
}

/* Returns `send` if it is a put or get that was posted before `first`,
 * otherwise `first`. */
static ugni_send_t *earlier(ugni_send_t *first, ugni_send_t *send)
{
    return (send->op.is_copy && (send->posted != 0) &&
            ((first == NULL) || (send->posted < first->posted))) ?
               send :
               first;
}

ugni_send_t *ugni_send_first(const ugni_port_t *port)
{
    const ugni_iface_t *iface = port->ifaces[UGNI_RDMA];
    ugni_send_t *first        = NULL;
    ugni_link_t *link;

    for (link = port->disowned.next; link != &port->disowned;
         link = link->next) {
        first = earlier(first, ugni_container_of(link, ugni_send_t, link));
    }
    if (iface == NULL) {
        return first;
    }
    for (link = iface->outstanding.next; link != &iface->outstanding;
         link = link->next) {
        first = earlier(first, ugni_container_of(link, ugni_send_t, all));
    }
    return first;
}

void ugni_send_free(ugni_port_t *port, ugni_send_t *send)
{
    ugni_iface_t *iface = port->ifaces[send->op.kind];

    ugni_link_remove(&send->link);
    ugni_link_remove(&send->all);
    if (iface != NULL) {
        ++iface->tx_free;
    }
    ucx_mpool_put(port->sends[send->op.kind], send);
}

/* Ends a send that is in no list of an endpoint. If the endpoint has failed and
 * the failure is not reported yet, the completion of a failed send is deferred
 * until the report. After the report, the user may assume that no operation to
 * the peer, on any endpoint, uses the user's memory. */
static void end(ugni_port_t *port, ugni_send_t *send, ucs_status_t status)
{
    ugni_ep_t *ep = send->ep;

    if ((ep != NULL) && (ep->state & UGNI_EP_TELL) && (status != UCS_OK) &&
        (send->done != NULL)) {
        send->status = status;
        ugni_link_add(&ep->ended, &send->link);
        return;
    }
    if (send->done != NULL) {
        send->done(send, ((ep != NULL) && (ep->state & UGNI_EP_CANCELED)) ?
                             UCS_ERR_CANCELED :
                             status);
    }
    ugni_send_free(port, send);
}

void ugni_send_done(ugni_port_t *port, ugni_send_t *send, ucs_status_t status)
{
    ugni_iface_t *iface = port->ifaces[send->op.kind];
    ugni_peer_t *peer   = send->peer;
    int is_old          = send->op.epoch != peer->epoch;
    ugni_ep_t *ep       = send->ep;

    ugni_link_remove(&send->link);
    if (iface == NULL) { /* The interface is closed, its endpoints are freed */
        end(port, send, status);
        return;
    }
    if (ep != NULL) {
        ++ep->busy;
    }
    if (!is_old) {
        ugni_am_done(send);
    }
    /* If a message has failed, the connection is lost; an access to remote
     * memory may only have been rejected. Of several operations that fail
     * together, only the first one ends the connection: ugni_port_lost() starts
     * a new epoch, so that is_old is set for the others. */
    if (!is_old && ((status == UCS_ERR_CONNECTION_RESET) ||
                    ((status != UCS_OK) && (iface->kind == UGNI_SMSG)))) {
        ugni_port_lost(port, peer->fi_addr, status);
    }
    if ((ep != NULL) && (status != UCS_OK)) {
        ugni_ep_fail(ep, status, 1);
    }
    end(port, send, status);
    if (ep != NULL) {
        ep->moved = iface->host->time();
        ugni_flush_update(ep);
        --ep->busy;
        ugni_ep_update(ep);
    }
    ugni_flush_update_all(iface);
}
