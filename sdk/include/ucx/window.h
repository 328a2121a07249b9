/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reliable, ordered delivery over a network that loses, repeats and reorders
 * packets: the state of one connection. The functions use no device, clock,
 * lock or allocation: the caller sends and receives the packets, and passes the
 * time in seconds. Optional.
 *
 * A packet to send is a ucx_window_tx_t in a buffer of the caller, which keeps
 * the buffer until the packet is acknowledged. A packet received out of order
 * is a ucx_window_rx_t in a receive buffer. The window keeps the buffer until
 * all packets before it have arrived.
 *
 * What a sender calls (an example is stream.c and timer.c in
 * sdk/examples/udp/src):
 *  - for each packet: ucx_window_is_open(), then ucx_window_sent();
 *  - for an acknowledgement: ucx_window_take_ack(), which returns the packets
 *    whose buffers can be freed, then ucx_window_resend() until it returns
 *    NULL;
 *  - when `deadline` has passed: ucx_window_has_expired(). If it returns 0:
 *    ucx_window_time_out(), then ucx_window_resend() until it returns NULL.
 *
 * What a receiver calls:
 *  - for each packet: ucx_window_arrived(). If it returns
 *    UCX_WINDOW_RX_IN_ORDER: ucx_window_next() until it returns NULL;
 *  - for each packet that it sends, and for a separate acknowledgement when
 *    ucx_window_ack_is_due(): ucx_window_sack(), which is sent together with
 *    rx_psn, then ucx_window_acked().
 *
 * A packet counts as lost if a packet whose number is higher by three or more
 * is acknowledged before it, or if its own acknowledgement does not arrive
 * before the timeout. The timeout follows the round-trip time as in RFC 6298;
 * the window follows losses as in TCP (RFC 5681): it doubles per round trip
 * until the first loss, then it is halved, and grows by one packet per round
 * trip. A timeout after which the packets turn out to have arrived has no
 * lasting effect on the window (the idea of Eifel, RFC 4015): on a loaded
 * processor the peer is often stopped for longer than the timeout.
 */
#ifndef UCX_WINDOW_H
#define UCX_WINDOW_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <ucx/abi.h>

UCX_BEGIN_DECLS

enum {
    /** Maximum number of packets after a gap that one acknowledgement can
     *  report */
    UCX_WINDOW_SACK_BITS = 64,
    UCX_WINDOW_REORDER   = 3, /**< A packet counts as lost when another packet,
                               *   sent this many packets later or more, is
                               *   acknowledged */
    /** Window of a new connection, in packets; max_window if that is less */
    UCX_WINDOW_INITIAL   = 32,
    UCX_WINDOW_MIN = 8, /**< Smallest window that losses lead to, in packets: a
                         *   few control packets can always be sent */
};

/** A packet that was sent. The caller keeps it until it is acknowledged. */
typedef struct ucx_window_tx {
    struct ucx_window_tx *next;
    double sent; /**< Time of the last transmission */
    /** Sequence number of the packet */
    uint32_t psn;
    uint8_t state;   /**< UCX_WINDOW_TX_* */
    uint8_t resends; /**< Number of retransmissions; stays at UINT8_MAX when it
                      *   is reached */
} ucx_window_tx_t;

enum {
    UCX_WINDOW_TX_SACKED = 1 << 0, /**< Acknowledged selectively */
    UCX_WINDOW_TX_LOST   = 1 << 1, /**< Must be retransmitted */
};

/** A packet that was received out of order. */
typedef struct ucx_window_rx {
    struct ucx_window_rx *next;
    uint32_t psn;
} ucx_window_rx_t;

/** Parameters of all connections of an interface. */
typedef struct ucx_window_params {
    unsigned max_window; /**< Maximum number of unacknowledged packets */
    unsigned max_kept;   /**< Maximum number of out-of-order packets that are
                          *   kept, 0 to UCX_WINDOW_SACK_BITS */
    /** Lower and upper limit of the retransmission timeout, in seconds */
    double min_rto;
    double max_rto;
    double backoff; /**< Factor by which the timeout grows for each consecutive
                     *   timeout */
    /** Seconds until the connection fails if neither a new acknowledgement nor
     *  the report of a busy peer arrives */
    double timeout;
    /** Seconds by which an acknowledgement may be delayed. A packet that is
     * sent in this time carries the acknowledgement, which saves a packet. */
    double ack_delay;
} ucx_window_params_t;

/** State of one connection. Times are those that the caller passes as `now`. */
typedef struct ucx_window {
    const ucx_window_params_t *params;
    /** Sending: the list contains the packets from `acked` to `tx_psn` - 1 */
    ucx_window_tx_t *tx_head, *tx_tail;
    uint32_t tx_psn; /**< Sequence number of the next packet */
    uint32_t acked;  /**< All packets before this number are acknowledged */
    /** A loss of a packet before this number does not reduce the window,
     *  because the window was reduced for earlier losses of the same flight. */
    uint32_t recover;
    unsigned window;    /**< Congestion window: number of packets that may be in
                         *   flight */
    unsigned threshold; /**< At and above this size the window grows by one
                         *   packet per round trip, below it by one per
                         *   acknowledged packet */
    unsigned grown;     /**< Number of packets acknowledged since the window
                         *   last grew or shrank; counted only at and above
                         *   `threshold` */
    unsigned in_flight; /**< Number of packets sent that are neither
                         *   acknowledged nor counted as lost */
    unsigned num_lost;  /**< Number of packets with UCX_WINDOW_TX_LOST */
    unsigned since_ask; /**< Number of packets sent since the last one that
                         *   requested an acknowledgement */
    unsigned timeouts;  /**< Number of consecutive timeouts, without a new
                         *   acknowledgement */
    /** Values of `window` and `threshold` before the first of the timeouts that
     * `timeouts` counts. They are kept until it is known whether packets were
     * lost at that timeout; otherwise undo_window is 0. */
    unsigned undo_window, undo_threshold;
    int is_held; /**< The peer has reported that it is busy: alive, but dropping
                  *   packets */
    /** Smoothed round-trip time (0: not measured yet), its variation and the
     *  retransmission timeout, in seconds */
    double srtt, rttvar, rto;
    double deadline; /**< Time at which the retransmission timeout ends; each
                      *   new acknowledgement restarts the timeout */
    /** Time from which params->timeout is counted: the last time at which a new
     *  acknowledgement arrived, a packet was sent into an empty window, the
     *  connection was established, or the peer reported that it is busy or no
     *  longer busy. */
    double progressed;
    /** Receiving */
    ucx_window_rx_t *rx_head; /**< Received out of order, sorted by psn */
    uint32_t rx_psn;          /**< Sequence number of the next packet to
                               *   deliver */
    /** Number of packets in the list rx_head */
    unsigned num_kept;
    unsigned owed; /**< Number of received packets that this side has not
                    *   acknowledged yet */
    int ack_now;   /**< An acknowledgement is due without delay */
    /** Time at which the oldest packet in `owed` arrived */
    double owed_since;
    /** Counters of retransmissions, and of packets received more than once */
    uint64_t num_resends, num_duplicates;
} ucx_window_t;

typedef enum {
    /** Deliver the packet, then the packets from ucx_window_next() */
    UCX_WINDOW_RX_IN_ORDER,
    UCX_WINDOW_RX_KEPT,    /**< The window owns the buffer now */
    UCX_WINDOW_RX_DROPPED, /**< A duplicate, or the packet cannot be kept */
} ucx_window_result_t;

/** Returns whether `a` comes before `b`; sequence numbers wrap. */
static inline int ucx_psn_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

/** Initializes a window whose first packet has the number tx_psn. *params must
 *  stay valid while the window is used. */
static inline void ucx_window_init(ucx_window_t *window,
                                   const ucx_window_params_t *params,
                                   uint32_t tx_psn)
{
    memset(window, 0, sizeof(*window));
    window->params    = params;
    window->tx_psn    = tx_psn;
    window->acked     = tx_psn;
    window->recover   = tx_psn;
    window->window    = (params->max_window < UCX_WINDOW_INITIAL) ?
                            params->max_window :
                            UCX_WINDOW_INITIAL;
    window->threshold = params->max_window;
    window->rto       = params->min_rto;
}

/* --- Sending -------------------------------------------------------------- */

/** Returns whether a new packet may be sent. Lost packets are sent first. */
static inline int ucx_window_is_open(const ucx_window_t *window)
{
    return (window->in_flight < window->window) && (window->num_lost == 0) &&
           (window->tx_psn - window->acked < window->params->max_window);
}

/** Returns whether all packets sent are acknowledged. */
static inline int ucx_window_is_idle(const ucx_window_t *window)
{
    return window->tx_head == NULL;
}

/** Returns whether the next packet must request an acknowledgement. Called once
 * for each packet, before ucx_window_sent(). Four requests per window make
 * acknowledgements arrive before the window is full. No request is made while
 * less than a quarter of the window is unacknowledged. */
static inline int ucx_window_asks(ucx_window_t *window)
{
    unsigned quarter = window->window / 4;

    if ((++window->since_ask < quarter) ||
        (window->tx_psn + 1 - window->acked < quarter)) {
        return 0;
    }
    window->since_ask = 0;
    return 1;
}

/** Records that the packet was posted to the device with window->tx_psn in its
 *  header. The packet joins the end of the list. */
static inline void ucx_window_sent(ucx_window_t *window, ucx_window_tx_t *tx,
                                   double now)
{
    tx->next    = NULL;
    tx->psn     = window->tx_psn++;
    tx->state   = 0;
    tx->resends = 0;
    tx->sent    = now;
    if (window->tx_head == NULL) {
        window->tx_head    = tx;
        window->progressed = now;
        window->deadline   = now + window->rto;
    } else {
        window->tx_tail->next = tx;
    }
    window->tx_tail = tx;
    ++window->in_flight;
}

/** Returns whether the connection has failed: packets are unacknowledged, and
 *  params->timeout has passed since `progressed`. */
static inline int ucx_window_has_expired(const ucx_window_t *window, double now)
{
    return (window->tx_head != NULL) &&
           (now - window->progressed >= window->params->timeout);
}

/** Returns the retransmission timeout: from the round-trip time, multiplied by
 *  `backoff` for each consecutive timeout, within the limits. */
static inline double ucx_window_rto_of_(const ucx_window_t *window)
{
    double rto = window->srtt + (4 * window->rttvar);

    rto = (rto < window->params->min_rto) ? window->params->min_rto : rto;
    for (unsigned i = 0;
         (i < window->timeouts) && (rto < window->params->max_rto); ++i) {
        rto *= window->params->backoff;
    }
    return (rto > window->params->max_rto) ? window->params->max_rto : rto;
}

/** Updates the timeout's estimates with one measured round trip. */
static inline void ucx_window_take_sample_(ucx_window_t *window, double rtt)
{
    double error;

    if (window->srtt == 0) {
        window->srtt   = rtt;
        window->rttvar = rtt / 2;
        return;
    }
    error = rtt - window->srtt;
    window->srtt += error / 8;
    error = (error < 0) ? -error : error;
    window->rttvar += (error - window->rttvar) / 4;
}

/** Lets the window grow for one acknowledged packet. */
static inline void ucx_window_grow_(ucx_window_t *window)
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

/** Shrinks the window because of the lost packet: to `to` packets, or to half
 * if `to` is 0. Of the packets that were in flight together, only the first
 * loss shrinks the window: the other losses have the same cause. */
static inline void ucx_window_shrink_(ucx_window_t *window,
                                      const ucx_window_tx_t *lost, unsigned to)
{
    if (ucx_psn_before(lost->psn, window->recover)) {
        return;
    }
    window->recover   = window->tx_psn;
    window->threshold = window->window / 2;
    if (window->threshold < UCX_WINDOW_MIN) {
        window->threshold = UCX_WINDOW_MIN;
    }
    window->window      = (to == 0) ? window->threshold : to;
    window->grown       = 0;
    window->undo_window = 0;
}

static inline void ucx_window_set_lost_(ucx_window_t *window,
                                        ucx_window_tx_t *tx)
{
    tx->state |= UCX_WINDOW_TX_LOST;
    --window->in_flight;
    ++window->num_lost;
}

/** Adds a packet to the list while the connection is not established yet.
 * window->tx_psn is in the packet's header already. ucx_window_resend() returns
 * the packet when it can be sent. */
static inline void ucx_window_keep(ucx_window_t *window, ucx_window_tx_t *tx,
                                   double now)
{
    ucx_window_sent(window, tx, now);
    ucx_window_set_lost_(window, tx);
}

/** Records that the connection is established: the timeouts start now. rx_psn
 *  is the number of the first packet that the peer sends. */
static inline void ucx_window_connected(ucx_window_t *window, uint32_t rx_psn,
                                        double now)
{
    window->rx_psn     = rx_psn;
    window->progressed = now;
    window->deadline   = now + window->rto;
}

/** Called when, after a timeout, a packet that counts as lost is acknowledged
 * before it is retransmitted. So nothing was lost at the timeout, and the
 * remaining packets are still in flight: restores the window. */
static inline void ucx_window_undo_time_out_(ucx_window_t *window)
{
    ucx_window_tx_t *tx;

    window->window      = window->undo_window;
    window->threshold   = window->undo_threshold;
    window->undo_window = 0;
    for (tx = window->tx_head; tx != NULL; tx = tx->next) {
        if (tx->state & UCX_WINDOW_TX_LOST) {
            tx->state &= (uint8_t)~UCX_WINDOW_TX_LOST;
            --window->num_lost;
            ++window->in_flight;
        }
    }
}

/** Subtracts a packet that has arrived from the number of packets in flight, or
 *  from that of lost packets. A packet that was acknowledged selectively is in
 *  neither number. */
static inline void ucx_window_set_arrived_(ucx_window_t *window,
                                           const ucx_window_tx_t *tx)
{
    if (tx->state & UCX_WINDOW_TX_LOST) {
        --window->num_lost;
    } else if (!(tx->state & UCX_WINDOW_TX_SACKED)) {
        --window->in_flight;
    }
}

/** Processes a selective acknowledgement, which is not 0: marks the packets
 *  that the peer has received after a gap, and the packets that count as lost
 *  because of that. */
static inline void ucx_window_take_sack_(ucx_window_t *window, uint32_t ack,
                                         uint64_t sack, double now)
{
    uint32_t highest = ack + UCX_WINDOW_SACK_BITS -
                       (uint32_t)__builtin_clzll(sack);
    double patience = window->srtt + (4 * window->rttvar);
    ucx_window_tx_t *tx;

    for (tx = window->tx_head;
         (tx != NULL) && !ucx_psn_before(highest, tx->psn); tx = tx->next) {
        if (tx->state & UCX_WINDOW_TX_SACKED) {
            continue;
        }
        if ((tx->psn != ack) && (sack >> (tx->psn - ack - 1) & 1)) {
            ucx_window_set_arrived_(window, tx);
            tx->state = UCX_WINDOW_TX_SACKED;
        } else if (!(tx->state & UCX_WINDOW_TX_LOST) &&
                   (highest - tx->psn >= UCX_WINDOW_REORDER) &&
                   ((tx->resends == 0) || (now - tx->sent > patience))) {
            /* An acknowledgement of a packet that was sent before this
             * retransmission does not show that the retransmission is lost:
             * wait for one round trip. */
            ucx_window_shrink_(window, tx, 0);
            ucx_window_set_lost_(window, tx);
        }
    }
}

/** Processes an acknowledgement: the peer has received all packets before
 * `ack`, and the later packets in `sack` (bit i: ack + 1 + i). The numbers are
 * untrusted: impossible values are ignored. Returns the acknowledged packets in
 * order, linked by `next`. */
static inline ucx_window_tx_t *ucx_window_take_ack(ucx_window_t *window,
                                                   uint32_t ack, uint64_t sack,
                                                   double now)
{
    ucx_window_tx_t *done = NULL, *last = NULL, *tx;
    int was_early = 0;

    if ((ack - window->acked) > (window->tx_psn - window->acked)) {
        return NULL; /* Older than the last acknowledgement, or of packets never
                      * sent */
    }
    while (window->acked != ack) {
        tx = window->tx_head;
        was_early |= tx->state & UCX_WINDOW_TX_LOST;
        ucx_window_set_arrived_(window, tx);
        ucx_window_grow_(window);
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
            ucx_window_take_sample_(window, now - last->sent);
        }
        window->timeouts   = 0;
        window->progressed = now;
        window->rto        = ucx_window_rto_of_(window);
        window->deadline   = now + window->rto;
        if (window->undo_window > 0) {
            if (was_early) {
                ucx_window_undo_time_out_(window);
            } else if (!ucx_psn_before(ack, window->recover)) {
                window->undo_window = 0;
            }
        }
    }
    if (sack != 0) {
        ucx_window_take_sack_(window, ack, sack, now);
    }
    return done;
}

/** Returns the next lost packet for retransmission and counts it as in flight.
 *  Returns NULL if no packet is lost or the window is full. */
static inline ucx_window_tx_t *ucx_window_resend(ucx_window_t *window,
                                                 double now)
{
    ucx_window_tx_t *tx;

    if ((window->num_lost == 0) || (window->in_flight >= window->window)) {
        return NULL;
    }
    for (tx = window->tx_head; !(tx->state & UCX_WINDOW_TX_LOST);
         tx = tx->next) {
    }
    tx->state &= (uint8_t)~UCX_WINDOW_TX_LOST;
    tx->resends += (tx->resends < UINT8_MAX);
    tx->sent = now;
    --window->num_lost;
    ++window->in_flight;
    ++window->num_resends;
    return tx;
}

/** Called when the deadline has passed: all packets in flight count as lost. */
static inline void ucx_window_time_out(ucx_window_t *window, double now)
{
    int is_first       = (window->timeouts == 0);
    unsigned size      = is_first ? window->window : window->undo_window;
    unsigned threshold = is_first ? window->threshold : window->undo_threshold;
    ucx_window_tx_t *tx;

    if (window->tx_head != NULL) {
        window->recover = window->tx_head->psn; /* Otherwise
                                                 * ucx_window_shrink_() would
                                                 * not shrink the window
                                                 * again */
        ucx_window_shrink_(window, window->tx_head, UCX_WINDOW_MIN);
        window->undo_window    = size;
        window->undo_threshold = threshold;
    }
    for (tx = window->tx_head; tx != NULL; tx = tx->next) {
        if (tx->state == 0) {
            ucx_window_set_lost_(window, tx);
        }
    }
    ++window->timeouts;
    window->rto      = ucx_window_rto_of_(window);
    window->deadline = now + window->rto;
}

/** Processes the `is_busy` flag of an acknowledgement: a busy peer is alive,
 * but drops packets until its user calls progress. An acknowledgement without
 * the flag ends this state. Returns whether the deadline has changed. */
static inline int ucx_window_hold(ucx_window_t *window, int is_busy, double now)
{
    if (!is_busy && !window->is_held) {
        return 0;
    }
    window->is_held    = is_busy;
    window->progressed = now;
    /* A busy peer may have dropped all packets in flight. While it is busy, the
     * timeout is the longest one; after that, the packets time out at once, so
     * that they are retransmitted. */
    window->deadline   = is_busy ? now + window->params->max_rto : now;
    return 1;
}

/** Removes and returns all unacknowledged packets, because the connection has
 *  failed. Nothing may be sent afterwards: the peer waits for the packets that
 *  were removed. */
static inline ucx_window_tx_t *ucx_window_abandon(ucx_window_t *window)
{
    ucx_window_tx_t *list = window->tx_head;

    window->tx_head   = NULL;
    window->acked     = window->tx_psn;
    window->in_flight = 0;
    window->num_lost  = 0;
    return list;
}

/* --- Receiving ------------------------------------------------------------ */

/** Returns the next kept packet that is in order now, or NULL. */
static inline ucx_window_rx_t *ucx_window_next(ucx_window_t *window)
{
    ucx_window_rx_t *rx = window->rx_head;

    if ((rx == NULL) || (rx->psn != window->rx_psn)) {
        return NULL;
    }
    window->rx_head = rx->next;
    --window->num_kept;
    ++window->rx_psn;
    return rx;
}

/** Returns whether an acknowledgement without data is due. */
static inline int ucx_window_ack_is_due(const ucx_window_t *window, double now)
{
    return window->ack_now ||
           ((window->owed > 0) &&
            (now - window->owed_since >= window->params->ack_delay));
}

/** Records that a packet with the acknowledgement was sent. */
static inline void ucx_window_acked(ucx_window_t *window)
{
    window->owed    = 0;
    window->ack_now = 0;
}

/** Keeps a packet that is out of order, unless `rx` is NULL, the packet is a
 * duplicate, its number is too high or the maximum number is kept. Returns
 * whether the window keeps it. */
static inline int ucx_window_keep_(ucx_window_t *window, ucx_window_rx_t *rx,
                                   uint32_t psn)
{
    ucx_window_rx_t **link = &window->rx_head;

    if ((rx == NULL) || (psn - window->rx_psn > UCX_WINDOW_SACK_BITS) ||
        (window->num_kept >= window->params->max_kept)) {
        return 0;
    }
    while ((*link != NULL) && ucx_psn_before((*link)->psn, psn)) {
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

/** Processes a received packet with the sequence number `psn`. An out-of-order
 * packet is dropped if `rx` is NULL. */
static inline ucx_window_result_t ucx_window_arrived(ucx_window_t *window,
                                                     ucx_window_rx_t *rx,
                                                     uint32_t psn, double now)
{
    if (window->owed++ == 0) {
        window->owed_since = now;
    }
    if (psn == window->rx_psn) {
        ++window->rx_psn;
        /* Packets after the one that was missing have arrived already:
         * acknowledge them without delay, so that the sender does not
         * retransmit them. */
        window->ack_now |= (window->rx_head != NULL);
        return UCX_WINDOW_RX_IN_ORDER;
    }
    window->ack_now = 1;
    if (ucx_psn_before(psn, window->rx_psn)) {
        ++window->num_duplicates;
        return UCX_WINDOW_RX_DROPPED;
    }
    return ucx_window_keep_(window, rx, psn) ? UCX_WINDOW_RX_KEPT :
                                               UCX_WINDOW_RX_DROPPED;
}

/** Removes and returns a kept packet, because the connection is closed; NULL if
 *  there is none. */
static inline ucx_window_rx_t *ucx_window_drop_kept(ucx_window_t *window)
{
    ucx_window_rx_t *rx = window->rx_head;

    if (rx != NULL) {
        window->rx_head = rx->next;
        --window->num_kept;
    }
    return rx;
}

/** Returns the packets received out of order, in the format of
 * ucx_window_take_ack(). The cumulative acknowledgement is rx_psn. While
 * packets that were kept are delivered, the next one may have the number
 * rx_psn, for which there is no bit. */
static inline uint64_t ucx_window_sack(const ucx_window_t *window)
{
    uint64_t sack = 0;

    for (const ucx_window_rx_t *rx = window->rx_head; rx != NULL;
         rx                        = rx->next) {
        if (rx->psn != window->rx_psn) {
            sack |= (uint64_t)1 << (rx->psn - window->rx_psn - 1);
        }
    }
    return sack;
}

UCX_END_DECLS

#endif
