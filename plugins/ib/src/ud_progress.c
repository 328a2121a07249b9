/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress: completions, acknowledgements, deadlines, pending requests and
 * failed endpoints.
 */
#include "ud_am.h"
#include "ud_send.h"
#include "ud_service.h"

enum {
    MAX_POLL    = 256,
    MAX_LATE    = 64, /* Maximum number of rounds of progress by which received
                       * packets postpone the check of deadlines */
    /* In a round without received packets, an acknowledgement is sent before
     * its delay has passed if it acknowledges at least this many packets */
    BURST       = 32,
    PROBE_AFTER = 2, /* Number of consecutive timeouts of an endpoint after
                      * which UD_PROBE is sent */
};

unsigned ud_poll_sends(ud_iface_t *iface)
{
    struct ibv_wc wc[MAX_POLL];
    int num = ibv_poll_cq(iface->send_cq, (int)iface->config.tx_max_poll, wc);

    if (num <= 0) {
        return 0;
    }
    for (int i = 0; i < num; ++i) {
        iface->done_sn = (uint32_t)wc[i].wr_id + 1;
        if (ib_unlikely(wc[i].status != IBV_WC_SUCCESS)) {
            ud_qp_failed(iface);
        }
    }
    iface->num_signaled -= ib_min((size_t)num, iface->num_signaled);
    if (ib_unlikely(iface->leaving != NULL) && !iface->in_service) {
        ud_desc_end_leaving(iface, 0);
    }
    return (unsigned)num;
}

/* --- Acknowledgements ----------------------------------------------------- */

/* Sends UD_ACK. Returns 0 if there are no send resources. */
static int send_ack(ud_iface_t *iface, ud_ep_t *ep)
{
    ud_wire_ack_t packet;
    struct ibv_sge sge = {(uintptr_t)&packet, sizeof(packet), 0};

    if (!ud_has_queue(iface)) {
        return 0;
    }
    ud_wire_fill(&packet.head, ep, UD_ACK, 0);
    if (ib_unlikely(ep->state & UD_EP_HOLDS)) {
        packet.head.kind |= UD_BUSY;
    }
    packet.sack = htole64(ucx_window_sack(&ep->window));
    if (!ud_post(iface, ep->ah, ep->qpn, &sge, 1, 1, 0)) {
        return 0;
    }
    ucx_window_acked(&ep->window);
    ib_link_remove(&ep->owing);
    return 1;
}

/* In iface->owing, the endpoints whose acknowledgement is due at once are
 * first. The others follow in the order in which their packets were received.
 * Therefore the loop ends at the first endpoint whose acknowledgement can
 * wait. */
void ud_send_acks(ud_iface_t *iface, unsigned enough)
{
    ud_ep_t *ep;

    while (!ib_link_is_alone(&iface->owing)) {
        ep = ib_container_of(iface->owing.next, ud_ep_t, owing);
        if (((ep->window.owed < enough) &&
             !ucx_window_ack_is_due(&ep->window, iface->now)) ||
            !send_ack(iface, ep)) {
            break;
        }
    }
}

void ud_owe_ack(ud_iface_t *iface, ud_ep_t *ep)
{
    if ((ep->window.owed == 0) || (ep->state & UD_EP_FAILED)) {
        return; /* A message that a callback has sent meanwhile has carried the
                 * acknowledgement, or the endpoint has failed */
    }
    if (ib_unlikely(ep->window.ack_now)) {
        ib_link_remove(&ep->owing);
        ib_link_insert(&iface->owing, &ep->owing);
    } else {
        ib_link_queue(&iface->owing, &ep->owing);
    }
}

void ud_take_ack(ud_iface_t *iface, ud_ep_t *ep, uint32_t ack, uint64_t sack)
{
    ucx_window_tx_t *tx, *next;

    if (ib_likely((ack == ep->window.acked) && (sack == 0))) {
        return;
    }
    tx = ucx_window_take_ack(&ep->window, ack, sack, iface->now);
    if (ib_unlikely(ep->window.num_lost > 0)) {
        ib_link_queue(&iface->resending, &ep->resending);
    }
    if (ucx_window_is_idle(&ep->window)) {
        ib_link_remove(&ep->active);
    }
    if ((tx != NULL) && !ucx_pending_is_empty(&ep->pending)) {
        ib_link_queue(&iface->ready, &ep->ready);
    }
    for (; tx != NULL; tx = next) {
        next = tx->next;
        ud_desc_done(iface, (ud_desc_t *)tx, UCS_OK);
    }
    if (ib_unlikely(ep->flushes != NULL)) {
        ud_flush_end(ep, UCS_OK);
    }
}

/* --- Deadlines ------------------------------------------------------------ */

void ud_watch(ud_iface_t *iface, ud_ep_t *ep, double deadline)
{
    ib_link_queue(&iface->active, &ep->active);
    if (deadline < iface->next_deadline) {
        iface->next_deadline = deadline;
    }
}

static double next_rto(const ud_iface_t *iface, double rto)
{
    rto *= iface->window_params.backoff;
    return (rto < iface->window_params.max_rto) ? rto :
                                                  iface->window_params.max_rto;
}

/* Handles the endpoint's deadline if it has passed. Returns the next deadline,
 * or 0 if the endpoint has failed. */
static double check_deadline(ud_iface_t *iface, ud_ep_t *ep)
{
    double now = iface->now;

    if (!(ep->state & UD_EP_CONNECTED)) {
        if ((now - ep->started >= iface->window_params.timeout) &&
            !iface->in_service) {
            ud_ep_fail(ep, UCS_ERR_ENDPOINT_TIMEOUT, 1);
            return 0;
        }
        if (now >= ep->connect_at) {
            ep->connect_rto = next_rto(iface, ep->connect_rto);
            ud_connect(iface, ep);
        }
        return ep->connect_at;
    }
    /* ud_ep_fail() leads to calls of the user's callbacks, so the service
     * thread does not call it. The user's next progress fails the endpoint,
     * unless an acknowledgement arrives before. */
    if (ucx_window_has_expired(&ep->window, now) && !iface->in_service) {
        ud_ep_fail(ep, UCS_ERR_ENDPOINT_TIMEOUT, 1);
        return 0;
    }
    if (!ep->is_late &&
        (now - ep->window.deadline > iface->window_params.min_rto / 2)) {
        /* Neither the user nor the service thread has made progress at the
         * deadline. The acknowledgement may have arrived meanwhile, or the peer
         * may have waited for this process. Therefore the deadline is postponed
         * once by a short time. */
        ep->is_late         = 1;
        ep->window.deadline = now + (iface->window_params.min_rto / 4);
    }
    if (now >= ep->window.deadline) {
        ep->is_late = 0;
        ucx_window_time_out(&ep->window, now);
        ib_link_queue(&iface->resending, &ep->resending);
        if (ep->window.timeouts >= PROBE_AFTER) {
            (void)ud_send_control(iface, ep, UD_PROBE);
        }
    }
    return ep->window.deadline;
}

/* Checks all endpoints with a deadline and computes iface->next_deadline. This
 * is rare: an acknowledgement moves the deadline of its endpoint but does not
 * update next_deadline. So next_deadline passes only after a loss, or once per
 * timeout while packets are in flight. */
static void check_deadlines(ud_iface_t *iface)
{
    double next    = iface->now + iface->window_params.max_rto, deadline;
    double soonest = iface->now + (iface->window_params.min_rto / 8);
    ib_link_t list;
    ud_ep_t *ep;

    iface->late = 0;
    ib_link_take_all(&iface->active, &list);
    while (!ib_link_is_alone(&list)) {
        ep = ib_container_of(list.next, ud_ep_t, active);
        ib_link_remove(&ep->active);
        ib_link_queue(&iface->active, &ep->active);
        deadline = check_deadline(iface, ep);
        if ((deadline > 0) && (deadline < next)) {
            next = deadline;
        }
    }
    iface->next_deadline = (next > soonest) ? next : soonest;
}

/* --- Endpoints that wait -------------------------------------------------- */

static void resend(ud_iface_t *iface, ud_ep_t *ep)
{
    ud_desc_t *desc;

    while (ud_has_queue(iface) && !(ep->state & UD_EP_FAILED)) {
        desc = (ud_desc_t *)ucx_window_resend(&ep->window, iface->now);
        if (desc == NULL) {
            break;
        }
        ((ud_wire_t *)desc->data)->kind |= UD_ASK;
        if (!ud_post_desc(iface, ep, desc, 1)) {
            break; /* The packet counts as lost again after its timeout */
        }
    }
    if ((ep->window.num_lost > 0) && !ud_has_queue(iface)) {
        ib_link_queue(&iface->resending, &ep->resending);
    }
}

static void resend_all(ud_iface_t *iface)
{
    ib_link_t list;
    ud_ep_t *ep;

    ib_link_take_all(&iface->resending, &list);
    while (!ib_link_is_alone(&list)) {
        ep = ib_container_of(list.next, ud_ep_t, resending);
        ib_link_remove(&ep->resending);
        resend(iface, ep);
        ud_ep_finish(ep); /* Sends UD_FIN if there were no send resources for it
                           * before */
    }
}

void ud_handle_deadlines(ud_iface_t *iface)
{
    if ((iface->now >= iface->next_deadline) &&
        !ib_link_is_alone(&iface->active)) {
        check_deadlines(iface);
    }
    if (!ib_link_is_alone(&iface->resending)) {
        resend_all(iface);
    }
}

/* Called if iface->leaving is not empty but no posted request is signaled, so
 * that no completion would release these packets. Sends a signaled UD_RESET to
 * the peer of a failed endpoint. The completion releases the packets, and
 * UD_RESET informs the peer, if it still exists. */
static void ask_for_completion(ud_iface_t *iface)
{
    iface->unsignaled = iface->moderation;
    (void)ud_send_control(iface, iface->leaving->ep, UD_RESET);
}

/* Handles the endpoints in iface->ready: completes flushes and fails endpoints
 * if the service thread has left this to the user's thread, and dispatches
 * pending requests. Returns the number of dispatched requests. */
static unsigned dispatch(ud_iface_t *iface)
{
    unsigned count = 0;
    ib_link_t list;
    ud_ep_t *ep;

    ib_link_take_all(&iface->ready, &list);
    while (!ib_link_is_alone(&list)) {
        ep = ib_container_of(list.next, ud_ep_t, ready);
        ib_link_remove(&ep->ready);
        ++ep->busy;
        if (ib_unlikely(ep->flushes != NULL)) {
            ud_flush_end(ep, (ucs_status_t)ep->status);
        }
        if (ib_unlikely(ep->state & UD_EP_GONE)) {
            ud_ep_gone(ep);
        }
        count += ucx_pending_dispatch(&ep->pending);
        --ep->busy;
        if (!ucx_pending_is_empty(&ep->pending) &&
            !(ep->state & UD_EP_FAILED) && ucx_window_is_open(&ep->window)) {
            /* The request waits for the send queue or for memory: try again in
             * the next round. A request that waits for the peer is dispatched
             * when an acknowledgement arrives. */
            ib_link_queue(&iface->ready, &ep->ready);
        }
        ud_ep_finish(ep);
    }
    return count;
}

/* Calls the user's error handler for the endpoints in iface->failed whose
 * packets are all released. The others stay in the list. */
static unsigned tell_failures(ud_iface_t *iface)
{
    unsigned count = 0;
    ib_link_t list;
    ud_ep_t *ep;

    ib_link_take_all(&iface->failed, &list);
    while (!ib_link_is_alone(&list)) {
        ep = ib_container_of(list.next, ud_ep_t, failed);
        ib_link_remove(&ep->failed);
        if (ep->leaving > 0) {
            ib_link_queue(&iface->failed, &ep->failed);
            continue;
        }
        ++count;
        (void)iface->host->iface_ep_failed(&iface->super, &ep->super,
                                           (ucs_status_t)ep->status);
    }
    return count;
}

/* Sends an acknowledgement without UD_BUSY to the peers that UD_EP_HOLDS has
 * stopped, so that they send again. */
static void end_holding(ud_iface_t *iface)
{
    ud_ep_t *ep;

    iface->has_held = 0;
    for (uint32_t i = 0; i < iface->num_slots; ++i) {
        ep = iface->slots[i].ep;
        if ((ep != NULL) && (ep->state & UD_EP_HOLDS)) {
            ep->state &= (uint16_t)~UD_EP_HOLDS;
            ep->window.owed += 1;
            ep->window.ack_now = 1;
            ud_owe_ack(iface, ep);
        }
    }
}

/* Does the work that the service thread has left to the user's thread. Returns
 * the number of delivered messages. */
static unsigned take_over(ud_iface_t *iface)
{
    unsigned count = ud_recv_deliver_deferred(iface);

    iface->has_deferred = 0;
    if (iface->leaving != NULL) {
        ud_desc_end_leaving(iface, 0);
    }
    if (iface->has_held) {
        end_holding(iface);
    }
    if (iface->service.is_paused) {
        ud_service_resume(iface);
    }
    if (iface->service.is_due) {
        ud_service_check(iface);
    }
    return count;
}

/* One round of progress. This is a separate function, so that a call of
 * progress that does nothing saves no registers. */
static __attribute__((noinline)) unsigned poll(ud_iface_t *iface)
{
    unsigned count = 0, sends = 0;

    UCX_EXCLUDE_SERVICE(&iface->guard);

    if (ib_unlikely(iface->has_deferred)) {
        count = take_over(iface);
    }
    count += ud_recv_poll(iface);
    if (iface->num_signaled > 0) {
        sends = ud_poll_sends(iface);
    } else if (ib_unlikely(iface->leaving != NULL)) {
        ask_for_completion(iface);
    }
    if (ib_unlikely(iface->is_down)) {
        ud_qp_restart(iface);
    }
    if (!ib_link_is_alone(&iface->active) || !ib_link_is_alone(&iface->owing)) {
        ud_time(iface);
        /* While packets arrive, send only acknowledgements that are due. When
         * no packet has arrived, a burst may have ended, and the peer may wait
         * for the acknowledgement of its packets. */
        ud_send_acks(iface, (count == 0) ? BURST : UINT_MAX);
        /* When a deadline has passed, check the deadlines in the next round
         * without received packets. Before that, acknowledgements may still be
         * in the receive queue, and packets that have arrived might be
         * retransmitted. If every round receives packets, check after MAX_LATE
         * rounds. */
        if ((iface->now >= iface->next_deadline) &&
            ((count == 0) || (++iface->late > MAX_LATE)) &&
            !ib_link_is_alone(&iface->active)) {
            check_deadlines(iface);
        }
    }
    if (ib_unlikely(!ib_link_is_alone(&iface->resending))) {
        resend_all(iface);
    }
    if (ib_unlikely(!ib_link_is_alone(&iface->ready))) {
        count += dispatch(iface);
    }
    if (ib_unlikely(!ib_link_is_alone(&iface->failed))) {
        count += tell_failures(iface);
    }
    return count + sends;
}

unsigned ud_iface_progress(uct_iface_h uct_iface)
{
    ud_iface_t *iface = (ud_iface_t *)uct_iface;

    __atomic_store_n(&iface->rounds, iface->rounds + 1, __ATOMIC_RELAXED);
    if ((__atomic_load_n(&iface->num_eps, __ATOMIC_RELAXED) == 0) &&
        (iface->rounds % UD_IDLE_ROUNDS != 0)) {
        return 0;
    }
    return poll(iface);
}
