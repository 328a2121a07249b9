/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection: one stream between this interface and a peer's, shared by all
 * endpoints to that peer (with the same path). There is at most one for each
 * (peer's id, path: see wire.h), whichever side opened it.
 *
 * States:
 *
 *   WAIT        no socket; connects at the deadline
 *   CONNECTING  connect() is in progress
 *   GREETING    our HELLO is sent, the ACK has not arrived
 *   UP          frames in both directions
 *   CLOSING     our CLOSE is sent; nothing else is sent until it is answered
 *   BROKEN      failed; progress takes it down and notifies the endpoints
 *
 *   from        event                                            to
 *   (new)       an endpoint has something to send                CONNECTING
 *   (new)       a HELLO arrives                                  UP, send ACK
 *   WAIT        deadline                                         CONNECTING
 *   CONNECTING  connected                                        GREETING
 *   CONNECTING, a HELLO of the peer arrives, and the peer        UP, send ACK,
 *   GREETING    has the larger id                                close own one
 *   CONNECTING, ... and the peer has the smaller id              same; park the
 *   GREETING                                                     other socket
 *   GREETING    ACK                                              UP
 *   CONNECTING, own attempt fails, one is parked                 UP, ACK to the
 *   GREETING                                                     parked one
 *   CONNECTING, own attempt fails with a transient error; or     WAIT
 *   GREETING    it takes long, and there is an alternative
 *               address (ways.h)
 *   CONNECTING, own attempt fails otherwise; NACK                BROKEN
 *   GREETING
 *   WAIT        a HELLO arrives                                  UP, send ACK
 *   UP          no endpoint, nothing queued or outstanding       CLOSING
 *   UP          CLOSE arrives; no endpoint, nothing queued       freed, YES
 *   UP          CLOSE arrives; otherwise                         UP, NO
 *   CLOSING     YES, or end of the stream; nothing queued        freed
 *   CLOSING     YES, or end of the stream; something queued      CONNECTING
 *   CLOSING     NO                                               UP
 *   CLOSING     CLOSE arrives                                    as for UP
 *   UP, CLOSING a HELLO of an old epoch                          same
 *   UP          a second HELLO of the same peer: read the old    BROKEN, and a
 *               stream; if it has not ended, the peer has        new one UP
 *               lost it
 *   CLOSING     ... then the peer has agreed to close            UP by the new
 *                                                                socket; the old
 *                                                                one is read on
 *   any         error, end of the stream, invalid data           BROKEN
 *
 * When connects cross, both sides make the same decision without a message: the
 * attempt of the larger id is used. The other attempt is parked, not rejected,
 * because the first one may still fail if only one direction works.
 */
#ifndef TCP_CONN_H
#define TCP_CONN_H

#include "iface.h"
#include "list.h"
#include "plugin.h"
#include "wire.h"

#include <ucx/pending.h>
#include <sys/uio.h>

typedef struct tcp_ep tcp_ep_t;
typedef struct tcp_ways tcp_ways_t;

enum tcp_conn_state {
    TCP_CONN_WAIT,
    TCP_CONN_CONNECTING,
    TCP_CONN_GREETING,
    TCP_CONN_UP,
    TCP_CONN_CLOSING,
    TCP_CONN_BROKEN,
};

enum tcp_conn_flags {
    TCP_CONN_HASHED     = 1u << 0, /* tcp_conn_find() finds it */
    TCP_CONN_BLOCKED    = 1u << 1, /* The socket's send buffer is full */
    TCP_CONN_WATCH_OUT  = 1u << 2, /* epoll reports when the socket is
                                    * writable */
    TCP_CONN_WANT_CLOSE = 1u << 3, /* Send CLOSE when everything is sent */
    TCP_CONN_DISPATCH   = 1u << 4, /* Pending requests are being called */
    TCP_CONN_TX_DEAD    = 1u << 5, /* Sending failed; read the data that has
                                    * arrived */
    TCP_CONN_HOT        = 1u << 6, /* Progress reads it without epoll
                                    * (progress.c) */
    TCP_CONN_QUIET      = 1u << 7, /* Closed by agreement: endpoints are not
                                    * notified */
    TCP_CONN_UNACKED    = 1u << 8, /* Sent data may be unacknowledged */
    TCP_CONN_OWES_NO    = 1u << 9, /* CLOSING: the peer has sent CLOSE; answer
                                    * NO */
};

/* Meaning of the next bytes that are received. */
enum tcp_rx_mode {
    TCP_RX_FRAMES,  /* Frames; the only mode before UP */
    TCP_RX_PUT,     /* Data of a PUT, into registered memory */
    TCP_RX_DATA,    /* Data for the oldest get */
    TCP_RX_FILLING, /* Padding after the data of a PUT or DATA frame */
};

/* --- Elements of the send queue ------------------------------------------ */

enum tcp_elem_kind {
    TCP_ELEM_BUF,   /* Frames in a buffer */
    TCP_ELEM_ZCOPY, /* Frames whose data is the user's memory */
    TCP_ELEM_SERVE, /* One DATA frame from registered memory */
};

typedef struct tcp_elem {
    struct tcp_elem *next;
    uint8_t kind;
} tcp_elem_t;

typedef struct tcp_txbuf {
    tcp_elem_t super;
    uint32_t head, tail;
    uint8_t data[] __attribute__((aligned(8)));
} tcp_txbuf_t;

/* Any operation with a completion. Progress calls the completion later. */
typedef struct tcp_op {
    struct tcp_op *next;
    tcp_ep_t *ep; /* NULL: the endpoint was destroyed, or the operation
                   * cancelled */
    uct_completion_t *comp;
    void *mem; /* The pool's element that contains this structure */
    ucs_status_t status;
} tcp_op_t;

#define TCP_IOV_MAX 32

typedef struct tcp_zcopy {
    tcp_elem_t super;
    uint8_t is_put;
    uint8_t in_call; /* The call that started the operation has not returned
                      * yet */
    uint8_t is_done; /* The kernel has accepted all data */
    uint8_t iovcnt;
    uint8_t iov_index;
    uint8_t pad; /* Remaining padding of the current frame */
    uint16_t hdr_off, hdr_len;
    uint32_t seg_left; /* Remaining bytes of data of the current frame */
    uint32_t seg_size; /* Bytes of data in a full frame */
    size_t left;       /* Bytes of data in all further frames */
    size_t iov_off;
    tcp_op_t op;
    void *copy;         /* From malloc(): the rest of a frame of a cancelled
                         * operation */
    tcp_wire_put_t put; /* Put header for the next frame */
    uint8_t hdr[96] __attribute__((aligned(8)));
    struct iovec iov[TCP_IOV_MAX];
} tcp_zcopy_t;

typedef struct tcp_serve {
    tcp_elem_t super;
    struct tcp_serve *next;
    uint64_t key;
    uint8_t queued; /* One of its frames is in the send queue */
    uint8_t hdr_off;
    uint8_t pad;
    uint32_t seg_left;
    uint64_t address;
    uint64_t left; /* Bytes of data in all further frames */
    uint64_t hdr;
} tcp_serve_t;

/* A get that waits for data. */
typedef struct tcp_get {
    tcp_op_t op;
    size_t left;
    uint8_t iovcnt, iov_index;
    uint8_t cancelled;
    size_t iov_off;
    uct_unpack_callback_t unpack_cb; /* NULL: a zero-copy get */
    void *unpack_arg;
    size_t length;
    tcp_txbuf_t *bounce;
    struct iovec iov[TCP_IOV_MAX];
} tcp_get_t;

/* An outstanding flush. */
typedef struct tcp_flush {
    tcp_op_t op;
    uint64_t tx_mark, get_mark, put_mark;
} tcp_flush_t;

struct tcp_conn {
    tcp_iface_t *iface;
    int fd;
    uint8_t state, path, rx_mode, rx_pad;
    uint32_t flags;
    uint32_t tx_round; /* The interface's `round` at the last immediate send */
    unsigned num_eps;

    /* Sending */
    tcp_elem_t *tx_head, *tx_tail;
    tcp_txbuf_t *tx_cur; /* The buffer at the tail, while it has space */
    uint32_t num_bufs, num_zcopy;
    uint64_t tx_queued; /* Total bytes of frames queued, without DATA */
    uint64_t tx_sent;   /* Bytes of `tx_queued` that the kernel has accepted */
    tcp_list_t tx_node;
    tcp_list_t pend_node;
    tcp_list_t pend_eps;

    /* Receiving */
    uint8_t *part; /* Bytes of an incomplete frame */
    uint32_t part_length;
    uint8_t part_pooled;
    uint32_t rx_limit; /* Maximum number of bytes that one call receives into
                        * the interface's buffer; half of that if the same call
                        * also receives data directly into its destination */
    uint32_t silent;   /* Consecutive receive calls without data */
    uint64_t rx_left;  /* PUT, DATA: remaining bytes */
    uint64_t rx_key, rx_address;

    /* Gets of this side and of the peer */
    tcp_op_t *get_head, **get_tail;
    uint64_t gets_sent, gets_done;
    uint64_t fence_mark; /* Nothing is sent before `gets_done` has this value */
    tcp_serve_t *serve_head, **serve_tail;
    unsigned num_serves;

    /* Remote completion and flushes */
    uint64_t puts;        /* Total number of PUT frames queued */
    uint64_t puts_acked;  /* PUT frames acknowledged by the peer */
    uint64_t puts_before; /* PUT frames sent on earlier sockets */
    uint64_t puts_taken;  /* The peer's PUTs received on this socket */
    uint64_t puts_told;   /* PUT frames whose receipt was acknowledged to the
                           * peer */
    tcp_op_t *flush_head, **flush_tail;

    /* Identity and lifetime */
    uint64_t peer_id;
    uint32_t peer_epoch; /* Epoch of the peer's latest HELLO; 0: none */
    tcp_conn_t *hash_next;
    tcp_list_t node; /* Node in the interface's conns */
    tcp_list_t broken_node;
    tcp_list_t timed_node;
    tcp_list_t eps;
    tcp_unknown_t *parked;
    double deadline;
    double connect_by;
    double silent_since; /* Start of the time without an
                          * acknowledgement; 0: none */
    unsigned retries;
    ucs_status_t status;
    tcp_sockaddr_t peer; /* Family AF_UNSPEC: the connection was accepted, and
                          * the peer's address is unknown */
    tcp_ways_t *ways;    /* Alternative addresses of the peer; NULL: only
                          * `peer` */
    uint8_t way;         /* Index of `peer` in `ways` */
    uint8_t ways_failed; /* Bit mask of addresses that failed */
    uint8_t ways_round;  /* How often all addresses have been tried */
};

struct tcp_ep {
    uct_ep_t super;
    tcp_conn_t *conn;     /* NULL: not needed yet, or failed */
    tcp_list_t node;      /* Node in the connection's eps */
    tcp_list_t pend_node; /* Node in the connection's pend_eps */
    ucx_pending_queue_t pending;
    uint64_t peer_id;
    tcp_sockaddr_t peer;
    tcp_ways_t *ways; /* Alternative addresses; NULL: only `peer` */
    uint8_t path;
    uint8_t settled;     /* Nothing was outstanding when the connection
                          * failed */
    ucs_status_t status; /* UCS_OK until the endpoint fails */
    tcp_list_t failed_node;
};

/* --- conn.c, connect.c, close.c ------------------------------------------ */
tcp_conn_t *tcp_conn_find(tcp_iface_t *iface, uint64_t peer_id, uint8_t path);
/* Creates a connection without a socket, in WAIT. With `hashed`, lookups find
 * it. */
ucs_status_t tcp_conn_create(tcp_iface_t *iface, uint64_t peer_id, uint8_t path,
                             int hashed, tcp_conn_t **conn_p);
/* Sets the id of the peer's interface to which the connection leads. */
void tcp_conn_rename(tcp_conn_t *conn, uint64_t peer_id);
/* Starts an attempt to connect; progress handles a failure. */
void tcp_conn_connect(tcp_conn_t *conn);
void tcp_conn_event(tcp_conn_t *conn, uint32_t events);
/* Sends HELLO, because connect() has succeeded. */
void tcp_conn_greet(tcp_conn_t *conn);
/* Handles the peer's answer to HELLO. */
void tcp_conn_greeted(tcp_conn_t *conn, const tcp_wire_hello_t *hello);
/* Takes over the socket of `unknown`, whose HELLO arrived, and answers it. */
void tcp_conn_adopt(tcp_conn_t *conn, tcp_unknown_t *unknown);
/* Called when the stream has ended, or reading failed with `error` (an errno,
 * not 0). */
void tcp_conn_lost(tcp_conn_t *conn, int error);
/* Marks the connection as failed. May be called from anywhere; progress does
 * the rest. */
void tcp_conn_break(tcp_conn_t *conn, ucs_status_t status);
/* Breaks the connection, because the peer violated the protocol. */
void tcp_conn_violation(tcp_conn_t *conn, const char *what);
/* Ends the connection by agreement with the peer, without notifying
 * endpoints. */
void tcp_conn_finish(tcp_conn_t *conn);
/* Closes the socket, if there is one, and resets the state of its stream. */
void tcp_conn_close_socket(tcp_conn_t *conn);
/* Closes the peer's parked attempt. */
void tcp_conn_unpark(tcp_conn_t *conn);
/* Called when this side's attempt to connect failed with `error`, an errno.
 * Uses the peer's parked attempt if there is one. Otherwise tries the same
 * address again if `try_again` and retries are left, else another address of
 * the peer; without one the connection fails. */
void tcp_conn_attempt_failed(tcp_conn_t *conn, int error, int try_again);
/* Called when the stream has ended after our CLOSE. */
void tcp_conn_closed(tcp_conn_t *conn);
/* Frees what tcp_conn_break() left, notifies endpoints and calls
 * completions. */
void tcp_conn_takedown(tcp_conn_t *conn);
/* Handles expired deadlines; returns the next deadline, or 0. */
double tcp_conn_expire(tcp_iface_t *iface, double now);
/* Breaks connections whose peer's host has acknowledged nothing for too long;
 * returns the time of the next check, or 0. */
double tcp_conn_sweep(tcp_iface_t *iface, double now);
/* Splits the connection, because the peer's HELLO means that it has agreed to
 * our CLOSE. A separate connection reads the rest of the old stream, and this
 * one can use another socket. */
ucs_status_t tcp_conn_split(tcp_conn_t *conn);
/* Handles the peer's CLOSE, YES and NO. */
void tcp_conn_close_frame(tcp_conn_t *conn, enum tcp_wire_type type);
/* Sends CLOSE if the connection is unused. */
void tcp_conn_try_close(tcp_conn_t *conn);
int tcp_conn_is_idle(const tcp_conn_t *conn);
/* Closes the connection together with its interface: sends what can be sent at
 * once, then frees the connection. */
void tcp_conn_destroy(tcp_conn_t *conn);

/* --- tx.c ---------------------------------------------------------------- */
/* Sends from the queue until the socket is full. */
void tcp_tx_flush(tcp_conn_t *conn);
void tcp_tx_schedule(tcp_conn_t *conn);
/* Reserves `size` contiguous bytes for whole frames at the end of the queue.
 * tcp_tx_commit() states how many bytes were used. Returns NULL if the queue
 * has TCP_TX_MAX_BUFS buffers and the socket is full, or if memory is out. With
 * `force` the number of buffers is not limited. */
uint8_t *tcp_tx_reserve_slow(tcp_conn_t *conn, size_t size, int force);
void tcp_tx_append(tcp_conn_t *conn, tcp_elem_t *elem);
void tcp_tx_frame(tcp_conn_t *conn, uint64_t frame); /* Queues a frame without
                                                      * payload */
/* Creates a zero-copy operation for the data of the entries; the caller sets
 * its header. Returns NULL if no memory or no space in the queue is available
 * now. */
tcp_zcopy_t *tcp_tx_zcopy_get(tcp_conn_t *conn, const uct_iov_t *iov,
                              size_t iovcnt, size_t *length_p);
/* Queues the operation and sends as much as possible. UCS_OK: the kernel has
 * accepted all data. UCS_INPROGRESS: `comp` is called later. */
ucs_status_t tcp_tx_zcopy_start(tcp_conn_t *conn, tcp_zcopy_t *zcopy,
                                tcp_ep_t *ep, uct_completion_t *comp);
/* Copies the data of the entries to `dst`. */
void tcp_iov_copy(uint8_t *dst, const uct_iov_t *iov, size_t iovcnt);
size_t tcp_iov_length(const uct_iov_t *iov, size_t iovcnt);
ucs_status_t tcp_iov_fill(struct iovec *dst, unsigned *count_p,
                          const uct_iov_t *iov, size_t iovcnt);
/* Frees an element without completing it. */
void tcp_tx_elem_free(tcp_conn_t *conn, tcp_elem_t *elem);
/* Returns the number of remaining bytes of the operation in the stream. */
uint64_t tcp_tx_zcopy_size(const tcp_zcopy_t *zcopy);
/* Returns the number of remaining PUT frames, including the current one. */
uint64_t tcp_tx_zcopy_puts(const tcp_zcopy_t *zcopy);
/* Completes the endpoint's zero-copy sends with `status`, from progress. */
void tcp_tx_cancel_ep(tcp_conn_t *conn, tcp_ep_t *ep, ucs_status_t status);
int tcp_tx_has_room(const tcp_conn_t *conn);

/* --- rx.c ---------------------------------------------------------------- */
/* Receives and handles frames; returns the number of events. */
unsigned tcp_rx(tcp_conn_t *conn);
/* Drops a partially received frame. */
void tcp_rx_reset(tcp_conn_t *conn);
/* Handles [data, +length); returns the number of bytes used. Called by rx.c and
 * the fuzzer. */
size_t tcp_rx_parse(tcp_conn_t *conn, uint8_t *data, size_t length,
                    unsigned *events_p);

/* --- put_get.c ----------------------------------------------------------- */
void tcp_serve_add(tcp_conn_t *conn, const tcp_wire_get_t *get);
/* Adds the next frame of a served get to the send queue. */
void tcp_serve_queue(tcp_conn_t *conn);
void tcp_put_ack_queue(tcp_conn_t *conn);
void tcp_get_finish(tcp_conn_t *conn);

/* --- op.c ---------------------------------------------------------------- */
/* Allocates an operation from the pool, or returns NULL. */
void *tcp_op_alloc(tcp_iface_t *iface);
void tcp_op_free(tcp_iface_t *iface, void *op);
/* Completes an operation from the next progress, and frees it. */
void tcp_op_done(tcp_iface_t *iface, tcp_op_t *op, ucs_status_t status);

/* True if operations are done and the next progress calls their completions. */
static inline int tcp_op_has_done(const tcp_iface_t *iface)
{
    return iface->done_head != NULL;
}
/* Calls the completions of done operations. */
unsigned tcp_op_dispatch(tcp_iface_t *iface);
/* Completes the flushes whose marks are reached. */
void tcp_flush_check(tcp_conn_t *conn);

/* --- ep.c ---------------------------------------------------------------- */
ucs_status_t tcp_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                           uct_ep_h *ep_p);
unsigned tcp_ep_dispatch_pending(tcp_conn_t *conn);
void tcp_ep_fail(tcp_ep_t *ep, ucs_status_t status);
/* Returns the connection, which is created if necessary; NULL with a status on
 * failure. */
tcp_conn_t *tcp_ep_conn_slow(tcp_ep_t *ep, ucs_status_t *status_p);

extern const ucx_ep_ops_t tcp_ep_ops;

static inline tcp_ep_t *tcp_ep(uct_ep_h ep)
{
    return (tcp_ep_t *)ep;
}

#endif
