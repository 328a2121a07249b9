/* SPDX-License-Identifier: BSD-3-Clause */
/* iWARP: keeps the connection of a destroyed endpoint until the peer's endpoint
 * is destroyed too; see rc_iwarp.h. */
#include "rc_iwarp.h"
#include "rc_join.h"
#include "rc_send.h"

static ucs_status_t send_bye(rc_iface_t *iface, rc_ep_t *ep)
{
    uint8_t header      = RC_AM_ONLY_FC | RC_AM_BYE;
    ucs_status_t status = rc_check(iface, ep);
    struct ibv_sge sge  = {(uintptr_t)&header, sizeof(header), 0};
    struct ibv_send_wr wr;

    if (status == UCS_OK) {
        rc_wr_inline(&wr, IBV_WR_SEND, &sge, 1);
        status = rc_post(iface, ep, &wr, 1);
    }
    return status;
}

/* Keeps the endpoint and its connection for at most UCX_RC_LINGER_TIMEOUT after
 * the first call for this endpoint. */
static void stay(rc_iface_t *iface, rc_ep_t *ep)
{
    if (!(ep->state & RC_EP_LINGERS)) {
        ep->state |= RC_EP_LINGERS;
        ep->wait_end = iface->host->time() + iface->config.linger;
    }
    if (rc_link_is_alone(&ep->ending)) {
        rc_link_add_tail(&iface->ending, &ep->ending);
    }
}

/* Returns whether the peer may use the connection: it is established, or
 * librdmacm is establishing it, so that it may already be established at the
 * peer. */
static int has_peer(const rc_ep_t *ep)
{
    return !(ep->state & RC_EP_FAILED) &&
           ((ep->state & RC_EP_CONNECTED) ||
            ((ep->state & (RC_EP_JOINING | RC_EP_GREETS)) &&
             (ep->join_id != NULL)));
}

int rc_linger_is_quiet(const rc_ep_t *ep)
{
    const ib_op_t *op = ep->ops;

    while ((op != NULL) && (op->done == rc_desc_done)) {
        op = op->next;
    }
    return (rc_iface_of((rc_ep_t *)ep)->join != NULL) && has_peer(ep) &&
           (op == NULL);
}

int rc_linger(rc_ep_t *ep)
{
    rc_iface_t *iface = rc_iface_of(ep);
    ucs_status_t status;

    if ((iface->join == NULL) || !has_peer(ep)) {
        return 0;
    }
    if ((ep->state & (RC_EP_BYE_SENT | RC_EP_BYE_TAKEN)) ==
        (RC_EP_BYE_SENT | RC_EP_BYE_TAKEN)) {
        return 0;
    }
    stay(iface, ep);
    if ((ep->state & RC_EP_CONNECTED) && !(ep->state & RC_EP_BYE_SENT)) {
        status = send_bye(iface, ep);
        if (status == UCS_OK) {
            ep->state |= RC_EP_BYE_SENT;
            /* The endpoint is destroyed, so no flush of the user needs a read
             * after this message. */
            ep->state &= (uint16_t)~RC_EP_UNSEEN;
        } else if (status == UCS_ERR_NO_RESOURCE) {
            rc_link_remove(&ep->waiting);
            rc_link_add_tail(&iface->waiting, &ep->waiting);
        }
    }
    return 1;
}

void rc_linger_bye(rc_iface_t *iface, uint32_t qpn)
{
    rc_ep_t *ep = rc_ep_by_qpn(iface, qpn);

    if (ep != NULL) {
        ep->state |= RC_EP_BYE_TAKEN;
    }
}

/* If the peer has closed the connection after RC_AM_BYE and all data has
 * arrived, the error handler is not called: only the next send returns the
 * error. This is the same as on InfiniBand and RoCE, where nothing reports that
 * the peer has destroyed its queue pair. */
void rc_linger_disconnected(rc_ep_t *ep)
{
    int left = (ep->state & RC_EP_BYE_TAKEN) && !(ep->state & RC_EP_UNSEEN) &&
               (ep->done_sn == ep->sn) && ucx_pending_is_empty(&ep->pending);

    rc_ep_fail(ep, UCS_ERR_CONNECTION_RESET, !left);
    if (left) {
        ep->state |= RC_EP_LEFT;
    }
}

static ucs_status_t drop(void *arg, void *data, size_t length, unsigned flags)
{
    return UCS_OK;
}

static unsigned num_lingering(const rc_iface_t *iface)
{
    unsigned num = 0;

    for (uint32_t i = 0; i < iface->eps_size; ++i) {
        num += (iface->eps[i] != NULL) &&
               (iface->eps[i]->state & RC_EP_ZOMBIE) && has_peer(iface->eps[i]);
    }
    return num;
}

void rc_linger_all(rc_iface_t *iface)
{
    double end = iface->host->time() + iface->config.linger;

    if (iface->join == NULL) {
        return;
    }
    for (unsigned id = 0; id < UCT_AM_ID_MAX; ++id) {
        iface->super.am[id].cb = drop;
    }
    while ((num_lingering(iface) > 0) && (iface->host->time() < end)) {
        rc_join_run(iface);
        (void)rc_iface_progress(&iface->super);
    }
}
