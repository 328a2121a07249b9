/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules for acknowledgement, retransmission and ordering of packets.
 *
 * A packet is lost if three later packets are acknowledged before it, or if its
 * acknowledgement does not arrive before the timeout. The timeout follows the
 * round-trip time as in RFC 6298; the window follows losses as in TCP (RFC
 * 5681): it doubles until the first loss, then it is halved, and grows by one
 * packet per round trip. A timeout that was only too early has no effect on the
 * window (the idea of Eifel, RFC 4015): on a loaded processor the peer is often
 * stopped for longer than the timeout.
 */
#include "ud_window.h"

void ud_window_init(ud_window_t *window, const ud_window_params_t *params,
                    uint32_t tx_psn)
{
    *window           = (ud_window_t){.params = params};
    window->tx_psn    = tx_psn;
    window->acked     = tx_psn;
    window->recover   = tx_psn;
    window->window    = (params->max_window < UD_INITIAL_WINDOW) ?
                        params->max_window : UD_INITIAL_WINDOW;
    window->threshold = params->max_window;
    window->rto       = params->min_rto;
}

/* --- Sending -------------------------------------------------------------- */

static double rto_of(const ud_window_t *window)
{
    double rto = window->srtt + (4 * window->rttvar);

    rto = (rto < window->params->min_rto) ? window->params->min_rto : rto;
    for (unsigned i = 0; (i < window->timeouts) &&
         (rto < window->params->max_rto); ++i) {
        rto *= window->params->backoff;
    }
    return (rto > window->params->max_rto) ? window->params->max_rto : rto;
}

/* Updates the timeout's estimates with one measured round trip. */
static void take_sample(ud_window_t *window, double rtt)
{
    double error;

    if (window->srtt == 0) {
        window->srtt   = rtt;
        window->rttvar = rtt / 2;
        return;
    }
    error           = rtt - window->srtt;
    window->srtt   += error / 8;
    error           = (error < 0) ? -error : error;
    window->rttvar += (error - window->rttvar) / 4;
}

static void grow(ud_window_t *window)
{
    if (window->window >= window->params->max_window) {
        return;
    }
    if ((window->window < window->threshold) ||
        (++window->grown >= window->window)) {
        ++window->window;
        window->grown = 0;
    }
}

/* Shrinks the window once for all packets that were in flight at the first
 * loss. */
static void shrink(ud_window_t *window, const ud_tx_t *lost, unsigned to)
{
    if (ud_psn_before(lost->psn, window->recover)) {
        return;
    }
    window->recover   = window->tx_psn;
    window->threshold = window->window / 2;
    if (window->threshold < UD_MIN_WINDOW) {
        window->threshold = UD_MIN_WINDOW;
    }
    window->window      = (to == 0) ? window->threshold : to;
    window->grown       = 0;
    window->undo_window = 0;
}

static void set_lost(ud_window_t *window, ud_tx_t *tx)
{
    tx->state |= UD_TX_LOST;
    --window->in_flight;
    ++window->num_lost;
}

void ud_window_keep(ud_window_t *window, ud_tx_t *tx, double now)
{
    ud_window_sent(window, tx, now);
    set_lost(window, tx);
}

void ud_window_connected(ud_window_t *window, uint32_t rx_psn, double now)
{
    window->rx_psn     = rx_psn;
    window->progressed = now;
    window->deadline   = now + window->rto;
}

/* A packet has arrived that counts as lost and was not sent again: nothing was
 * lost at the timeout, and the remaining packets are still in flight. */
static void undo_time_out(ud_window_t *window)
{
    ud_tx_t *tx;

    window->window      = window->undo_window;
    window->threshold   = window->undo_threshold;
    window->undo_window = 0;
    for (tx = window->tx_head; tx != NULL; tx = tx->next) {
        if (tx->state & UD_TX_LOST) {
            tx->state &= (uint8_t)~UD_TX_LOST;
            --window->num_lost;
            ++window->in_flight;
        }
    }
}

/* The packet has arrived: it is neither in flight nor lost. */
static void set_arrived(ud_window_t *window, const ud_tx_t *tx)
{
    if (tx->state & UD_TX_LOST) {
        --window->num_lost;
    } else if (!(tx->state & UD_TX_SACKED)) {
        --window->in_flight;
    }
}

/* Marks packets that the peer has received after a gap, and lost packets. */
static void take_sack(ud_window_t *window, uint32_t ack, uint64_t sack,
                      double now)
{
    uint32_t highest = ack + UD_SACK_BITS -
                       (uint32_t)__builtin_clzll(sack);
    double patience  = window->srtt + (4 * window->rttvar);
    ud_tx_t *tx;

    for (tx = window->tx_head;
         (tx != NULL) && !ud_psn_before(highest, tx->psn); tx = tx->next) {
        if (tx->state & UD_TX_SACKED) {
            continue;
        }
        if ((tx->psn != ack) && (sack >> (tx->psn - ack - 1) & 1)) {
            set_arrived(window, tx);
            tx->state = UD_TX_SACKED;
        } else if (!(tx->state & UD_TX_LOST) &&
                   (highest - tx->psn >= UD_REORDER) &&
                   ((tx->resends == 0) || (now - tx->sent > patience))) {
            /* Acknowledgements of packets sent before a retransmission do not
             * show that the retransmission is lost: wait for one round trip. */
            shrink(window, tx, 0);
            set_lost(window, tx);
        }
    }
}

ud_tx_t *ud_window_take_ack(ud_window_t *window, uint32_t ack, uint64_t sack,
                            double now)
{
    ud_tx_t *done = NULL, *last = NULL, *tx;
    int was_early = 0;

    if ((ack - window->acked) > (window->tx_psn - window->acked)) {
        return NULL; /* older than the last one, or of packets never sent */
    }
    while (window->acked != ack) {
        tx         = window->tx_head;
        was_early |= tx->state & UD_TX_LOST;
        set_arrived(window, tx);
        grow(window);
        if (done == NULL) {
            done = tx;
        }
        last            = tx;
        window->tx_head = tx->next;
        ++window->acked;
    }
    if (last != NULL) {
        last->next = NULL;
        /* A packet sent twice gives no sample: its acknowledgement is
         * ambiguous. */
        if (last->resends == 0) {
            take_sample(window, now - last->sent);
        }
        window->timeouts   = 0;
        window->progressed = now;
        window->rto        = rto_of(window);
        window->deadline   = now + window->rto;
        if (window->undo_window > 0) {
            if (was_early) {
                undo_time_out(window);
            } else if (!ud_psn_before(ack, window->recover)) {
                window->undo_window = 0;
            }
        }
    }
    if (sack != 0) {
        take_sack(window, ack, sack, now);
    }
    return done;
}

ud_tx_t *ud_window_resend(ud_window_t *window, double now)
{
    ud_tx_t *tx;

    if ((window->num_lost == 0) || (window->in_flight >= window->window)) {
        return NULL;
    }
    for (tx = window->tx_head; !(tx->state & UD_TX_LOST); tx = tx->next) {
    }
    tx->state    &= (uint8_t)~UD_TX_LOST;
    tx->resends  += (tx->resends < UINT8_MAX);
    tx->sent      = now;
    --window->num_lost;
    ++window->in_flight;
    ++window->num_resends;
    return tx;
}

void ud_window_time_out(ud_window_t *window, double now)
{
    int is_first       = (window->timeouts == 0);
    unsigned size      = is_first ? window->window : window->undo_window;
    unsigned threshold = is_first ? window->threshold : window->undo_threshold;
    ud_tx_t *tx;

    if (window->tx_head != NULL) {
        window->recover = window->tx_head->psn; /* a timeout always shrinks */
        shrink(window, window->tx_head, UD_MIN_WINDOW);
        window->undo_window    = size;
        window->undo_threshold = threshold;
    }
    for (tx = window->tx_head; tx != NULL; tx = tx->next) {
        if (tx->state == 0) {
            set_lost(window, tx);
        }
    }
    ++window->timeouts;
    window->rto      = rto_of(window);
    window->deadline = now + window->rto;
}

int ud_window_hold(ud_window_t *window, int is_busy, double now)
{
    if (!is_busy && !window->is_held) {
        return 0;
    }
    window->is_held    = is_busy;
    window->progressed = now;
    /* Everything in flight may have been dropped. */
    window->deadline   = is_busy ? now + window->params->max_rto : now;
    return 1;
}

ud_tx_t *ud_window_abandon(ud_window_t *window)
{
    ud_tx_t *list = window->tx_head;

    window->tx_head   = NULL;
    window->acked     = window->tx_psn;
    window->in_flight = 0;
    window->num_lost  = 0;
    return list;
}

/* --- Receiving ------------------------------------------------------------ */

/* Keeps a packet that is out of order, unless it is a duplicate. */
static int keep(ud_window_t *window, ud_rx_t *rx, uint32_t psn)
{
    ud_rx_t **link = &window->rx_head;

    if ((rx == NULL) || (psn - window->rx_psn > UD_SACK_BITS) ||
        (window->num_kept >= window->params->max_kept)) {
        return 0;
    }
    while ((*link != NULL) && ud_psn_before((*link)->psn, psn)) {
        link = &(*link)->next;
    }
    if ((*link != NULL) && ((*link)->psn == psn)) {
        ++window->num_duplicates;
        return 0;
    }
    rx->psn  = psn;
    rx->next = *link;
    *link    = rx;
    ++window->num_kept;
    return 1;
}

ud_rx_result_t ud_window_arrived(ud_window_t *window, ud_rx_t *rx,
                                 uint32_t psn, double now)
{
    if (window->owed++ == 0) {
        window->owed_since = now;
    }
    if (psn == window->rx_psn) {
        ++window->rx_psn;
        /* If there is a gap, the sender waits for this acknowledgement. */
        window->ack_now |= (window->rx_head != NULL);
        return UD_RX_IN_ORDER;
    }
    window->ack_now = 1;
    if (ud_psn_before(psn, window->rx_psn)) {
        ++window->num_duplicates;
        return UD_RX_DROPPED;
    }
    return keep(window, rx, psn) ? UD_RX_KEPT : UD_RX_DROPPED;
}

ud_rx_t *ud_window_drop_kept(ud_window_t *window)
{
    ud_rx_t *rx = window->rx_head;

    if (rx != NULL) {
        window->rx_head = rx->next;
        --window->num_kept;
    }
    return rx;
}

uint64_t ud_window_sack(const ud_window_t *window)
{
    uint64_t sack = 0;

    for (const ud_rx_t *rx = window->rx_head; rx != NULL; rx = rx->next) {
        sack |= (uint64_t)1 << (rx->psn - window->rx_psn - 1);
    }
    return sack;
}
