/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reliable, ordered delivery over a network that loses, repeats and reorders
 * packets: the state of one connection. It uses no device, no clock and no
 * allocation: the caller sends and receives the packets, and passes the time in
 * seconds.
 *
 * A packet to send is a ud_tx_t in a buffer of the caller, which keeps the
 * buffer until the packet is acknowledged. A packet received out of order is a
 * ud_rx_t in a receive buffer, which the window keeps until the gap before it
 * is filled.
 */
#ifndef IB_UD_WINDOW_H
#define IB_UD_WINDOW_H

#include <stddef.h>
#include <stdint.h>

enum {
    /* Packets after a gap that an acknowledgement covers */
    UD_SACK_BITS      = 64,
    UD_REORDER        = 3,  /* Later packets acknowledged: a packet is lost */
    UD_INITIAL_WINDOW = 32,
    UD_MIN_WINDOW     = 8  /* Allows a few control packets at any time */
};

typedef struct ud_tx {
    struct ud_tx *next;
    double       sent;     /* Time of the last transmission */
    uint32_t     psn;
    uint8_t      state;    /* UD_TX_* */
    uint8_t      resends;  /* Saturates */
} ud_tx_t;

enum {
    UD_TX_SACKED = 1 << 0, /* Acknowledged selectively */
    UD_TX_LOST   = 1 << 1  /* To be retransmitted */
};

typedef struct ud_rx {
    struct ud_rx *next;
    uint32_t     psn;
} ud_rx_t;

/* Parameters of all connections of an interface. */
typedef struct ud_window_params {
    unsigned max_window;  /* Unacknowledged packets */
    unsigned max_kept;    /* Packets out of order; at most UD_SACK_BITS */
    /* Limits of the retransmission timeout */
    double   min_rto;
    double   max_rto;
    double   backoff;     /* Factor of the timeout for each failed attempt */
    double   timeout;     /* Time without progress: the connection fails */
    /* Longest delay of an acknowledgement that a packet may carry */
    double   ack_delay;
} ud_window_params_t;

typedef struct ud_window {
    const ud_window_params_t *params;
    /* Sending: packets from `acked` to `tx_psn` - 1 are in the list */
    ud_tx_t  *tx_head, *tx_tail;
    uint32_t tx_psn;      /* Of the next packet */
    uint32_t acked;       /* All before it are acknowledged */
    /* The window is already reduced for losses before it */
    uint32_t recover;
    unsigned window;      /* Packets that may be in flight */
    unsigned threshold;   /* Above it the window grows slowly */
    unsigned grown;       /* Packets acknowledged since it grew by one */
    unsigned in_flight;   /* Sent, neither acknowledged nor lost */
    unsigned num_lost;    /* Packets with UD_TX_LOST */
    unsigned since_ask;   /* Sent since the last acknowledgement request */
    unsigned timeouts;    /* Consecutive */
    /* Before the last timeout, until it is known whether packets were lost;
     * undo_window is 0 at other times */
    unsigned undo_window, undo_threshold;
    int      is_held;     /* The peer is alive but receives nothing now */
    double   srtt, rttvar, rto;
    double   deadline;    /* For the acknowledgement of the oldest packet */
    /* Time of the last acknowledgement or of the first packet in the window */
    double   progressed;
    /* Receiving */
    ud_rx_t  *rx_head;    /* Received out of order, sorted by psn */
    uint32_t rx_psn;      /* The next expected packet */
    unsigned num_kept;
    unsigned owed;        /* Packets to acknowledge */
    int      ack_now;     /* Do not delay the acknowledgement */
    double   owed_since;
    /* Counters */
    uint64_t num_resends, num_duplicates;
} ud_window_t;

typedef enum {
    UD_RX_IN_ORDER,  /* Deliver it, then the packets from ud_window_next() */
    UD_RX_KEPT,      /* The window owns the buffer now */
    UD_RX_DROPPED    /* A duplicate, or the packet cannot be kept */
} ud_rx_result_t;

/* `a` comes before `b`; sequence numbers wrap. */
static inline int ud_psn_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

void ud_window_init(ud_window_t *window, const ud_window_params_t *params,
                    uint32_t tx_psn);

/* --- Sending -------------------------------------------------------------- */

/* Returns whether a new packet may be sent. Lost packets are sent first. */
static inline int ud_window_is_open(const ud_window_t *window)
{
    return (window->in_flight < window->window) && (window->num_lost == 0) &&
           (window->tx_psn - window->acked < window->params->max_window);
}

static inline int ud_window_is_idle(const ud_window_t *window)
{
    return window->tx_head == NULL;
}

/* Returns whether the next packet must request an acknowledgement. Four
 * requests per window prevent that the sender waits with a full window. */
static inline int ud_window_asks(ud_window_t *window)
{
    if (++window->since_ask < window->window / 4) {
        return 0;
    }
    window->since_ask = 0;
    return 1;
}

/* The packet was posted to the device with window->tx_psn in its header. */
static inline void ud_window_sent(ud_window_t *window, ud_tx_t *tx, double now)
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

/* The packet has its number, but waits for the connection. It is sent by
 * ud_window_resend(). */
void ud_window_keep(ud_window_t *window, ud_tx_t *tx, double now);

/* The connection exists: time counts from now. */
void ud_window_connected(ud_window_t *window, uint32_t rx_psn, double now);

/* The peer has received all packets before `ack`, and of the later ones those
 * in `sack` (bit i: ack + 1 + i). The numbers are untrusted: impossible values
 * are ignored. Returns the acknowledged packets in order, linked by `next`. */
ud_tx_t *ud_window_take_ack(ud_window_t *window, uint32_t ack, uint64_t sack,
                            double now);

/* Returns the next packet to retransmit, which counts as sent now; or NULL. */
ud_tx_t *ud_window_resend(ud_window_t *window, double now);

/* The deadline has passed: all packets in flight count as lost. */
void ud_window_time_out(ud_window_t *window, double now);

/* The peer has acknowledged with `is_busy`: it exists, but drops packets until
 * it makes progress. The next acknowledgement without it ends that. Returns
 * whether the deadline has changed. */
int ud_window_hold(ud_window_t *window, int is_busy, double now);

/* Returns whether the peer has acknowledged nothing for the whole timeout. */
static inline int ud_window_has_expired(const ud_window_t *window, double now)
{
    return (window->tx_head != NULL) &&
           (now - window->progressed >= window->params->timeout);
}

/* Removes all unacknowledged packets: the connection has failed. */
ud_tx_t *ud_window_abandon(ud_window_t *window);

/* --- Receiving ------------------------------------------------------------ */

/* A packet with the sequence number `psn` was received. An out-of-order packet
 * is dropped if `rx` is NULL. */
ud_rx_result_t ud_window_arrived(ud_window_t *window, ud_rx_t *rx,
                                 uint32_t psn, double now);

/* Returns the next kept packet that is in order now, or NULL. */
static inline ud_rx_t *ud_window_next(ud_window_t *window)
{
    ud_rx_t *rx = window->rx_head;

    if ((rx == NULL) || (rx->psn != window->rx_psn)) {
        return NULL;
    }
    window->rx_head = rx->next;
    --window->num_kept;
    ++window->rx_psn;
    return rx;
}

/* Removes any kept packet: the connection ends. */
ud_rx_t *ud_window_drop_kept(ud_window_t *window);

/* The packets received out of order, in the format of ud_window_take_ack(). The
 * cumulative acknowledgement is rx_psn. */
uint64_t ud_window_sack(const ud_window_t *window);

/* Returns whether an acknowledgement without data is due. */
static inline int ud_window_ack_is_due(const ud_window_t *window, double now)
{
    return window->ack_now ||
           ((window->owed > 0) &&
            (now - window->owed_since >= window->params->ack_delay));
}

/* A packet with the acknowledgement was sent. */
static inline void ud_window_acked(ud_window_t *window)
{
    window->owed    = 0;
    window->ack_now = 0;
}

#endif
