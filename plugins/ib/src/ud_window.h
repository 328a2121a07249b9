/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reliable, ordered delivery over a network that loses, repeats and reorders
 * packets: the state of one connection. No device, no clock, no allocation: the
 * caller sends and receives packets, and passes the time in seconds.
 *
 * A packet to send is a ud_tx_t inside a buffer of the caller's, which keeps it
 * until it is acknowledged. A packet that arrives out of order is a ud_rx_t
 * inside a receive buffer, which this keeps until the gap before it is filled.
 */
#ifndef IB_UD_WINDOW_H
#define IB_UD_WINDOW_H

#include <stddef.h>
#include <stdint.h>

enum {
    UD_SACK_BITS      = 64, /* Packets behind a gap that are told of */
    UD_REORDER        = 3,  /* Later packets acknowledged: this one is lost */
    UD_INITIAL_WINDOW = 32,
    UD_MIN_WINDOW     = 8  /* A few answers can leave at any time */
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
    UD_TX_LOST   = 1 << 1  /* To be sent again */
};

typedef struct ud_rx {
    struct ud_rx *next;
    uint32_t     psn;
} ud_rx_t;

/* The same for all connections of an interface. */
typedef struct ud_window_params {
    unsigned max_window;  /* Unacknowledged packets */
    unsigned max_kept;    /* Packets out of order; at most UD_SACK_BITS */
    double   min_rto;     /* Bounds of the time until a packet is sent again */
    double   max_rto;
    double   backoff;     /* Factor of that time for each time in vain */
    double   timeout;     /* Without progress: the connection has failed */
    double   ack_delay;   /* An acknowledgement waits so long for company */
} ud_window_params_t;

typedef struct ud_window {
    const ud_window_params_t *params;
    /* Sending: packets from `acked` to `tx_psn` - 1 are in the list */
    ud_tx_t  *tx_head, *tx_tail;
    uint32_t tx_psn;      /* Of the next packet */
    uint32_t acked;       /* All before it are acknowledged */
    uint32_t recover;     /* Losses before it have shrunk the window already */
    unsigned window;      /* Packets that may be in flight */
    unsigned threshold;   /* Above it the window grows slowly */
    unsigned grown;       /* Packets acknowledged since it grew by one */
    unsigned in_flight;   /* Sent, neither acknowledged nor lost */
    unsigned num_lost;    /* With UD_TX_LOST */
    unsigned since_ask;   /* Sent since the last that asks for an answer */
    unsigned timeouts;    /* In a row */
    double   srtt, rttvar, rto;
    double   deadline;    /* Of the acknowledgement of the oldest */
    double   progressed;  /* When the window last moved, or got its first */
    /* Receiving */
    ud_rx_t  *rx_head;    /* Out of order, by psn */
    uint32_t rx_psn;      /* The next in order */
    unsigned num_kept;
    unsigned owed;        /* Packets to acknowledge */
    int      ack_now;     /* Without waiting for company */
    double   owed_since;
    /* Counters */
    uint64_t num_resends, num_duplicates;
} ud_window_t;

typedef enum {
    UD_RX_IN_ORDER,  /* Deliver it, then what ud_window_next() returns */
    UD_RX_KEPT,      /* The buffer belongs to the window now */
    UD_RX_DROPPED    /* Had been received before, or no buffer can be kept */
} ud_rx_result_t;

/* `a` comes before `b`; sequence numbers wrap. */
static inline int ud_psn_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

void ud_window_init(ud_window_t *window, const ud_window_params_t *params,
                    uint32_t tx_psn);

/* --- Sending -------------------------------------------------------------- */

/* May a new packet be sent now? Those that were lost go first. */
static inline int ud_window_is_open(const ud_window_t *window)
{
    return (window->in_flight < window->window) && (window->num_lost == 0) &&
           (window->tx_psn - window->acked < window->params->max_window);
}

static inline int ud_window_is_idle(const ud_window_t *window)
{
    return window->tx_head == NULL;
}

/* Should the packet that is sent next ask for an acknowledgement? Often enough
 * that the window does not close in wait for one. */
static inline int ud_window_asks(ud_window_t *window)
{
    if (++window->since_ask < window->window / 4) {
        return 0;
    }
    window->since_ask = 0;
    return 1;
}

/* The packet has been given to the device, with window->tx_psn in it. */
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

/* The peer has all before `ack`, and of those behind it the ones in `sack` (bit
 * i: ack + 1 + i). Foreign numbers: those that cannot be are ignored. Returns
 * the packets that are done, in order, linked by `next`. */
ud_tx_t *ud_window_take_ack(ud_window_t *window, uint32_t ack, uint64_t sack,
                            double now);

/* The next packet to send again, which counts as sent now; or NULL. */
ud_tx_t *ud_window_resend(ud_window_t *window, double now);

/* The deadline has passed: all that is in flight counts as lost. */
void ud_window_time_out(ud_window_t *window, double now);

/* Has the peer been silent for too long? */
static inline int ud_window_has_expired(const ud_window_t *window, double now)
{
    return (window->tx_head != NULL) &&
           (now - window->progressed >= window->params->timeout);
}

/* Takes all unacknowledged packets out: the connection has failed. */
ud_tx_t *ud_window_abandon(ud_window_t *window);

/* --- Receiving ------------------------------------------------------------ */

/* A packet with the sequence number `psn` has arrived. Without `rx` it is not
 * kept if it is out of order. */
ud_rx_result_t ud_window_arrived(ud_window_t *window, ud_rx_t *rx,
                                 uint32_t psn, double now);

/* A kept packet whose turn has come, or NULL. */
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

/* Takes any kept packet out: the connection ends. */
ud_rx_t *ud_window_drop_kept(ud_window_t *window);

/* What is received out of order, as ud_window_take_ack() expects it. The
 * cumulative acknowledgement is rx_psn. */
uint64_t ud_window_sack(const ud_window_t *window);

/* Is an acknowledgement of its own due? */
static inline int ud_window_ack_is_due(const ud_window_t *window, double now)
{
    return window->ack_now ||
           ((window->owed > 0) &&
            (now - window->owed_since >= window->params->ack_delay));
}

/* A packet leaves that carries the acknowledgement. */
static inline void ud_window_acked(ud_window_t *window)
{
    window->owed    = 0;
    window->ack_now = 0;
}

#endif
