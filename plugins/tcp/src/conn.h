/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection: one stream between this interface and a peer's, shared by all
 * endpoints to that peer (with the same path). There is at most one for each
 * (peer's id, path), whoever opened it.
 *
 * States:
 *
 *   WAIT        no socket; connects when the deadline comes
 *   CONNECTING  connect() is under way
 *   GREETING    our HELLO is out, the ACK is not in
 *   UP          frames go both ways
 *   CLOSING     our CLOSE is out; nothing else leaves until it is answered
 *   BROKEN      found dead; progress takes it down and tells the endpoints
 *
 *   from        when                                           to
 *   (new)       an endpoint has something to send              CONNECTING
 *   (new)       a HELLO comes in                               UP, answer ACK
 *   WAIT        deadline                                       CONNECTING
 *   CONNECTING  connected                                      GREETING
 *   CONNECTING, a HELLO of the peer comes in, and the peer     UP, answer ACK,
 *   GREETING    has the larger id                              own attempt cut
 *   CONNECTING, ... and the peer has the smaller id            stays; the other
 *   GREETING                                                   socket is parked
 *   GREETING    ACK                                            UP, parked cut
 *   CONNECTING, own attempt fails, one is parked               UP, ACK to the
 *   GREETING                                                   parked one
 *   CONNECTING, own attempt fails, worth another one; or it    WAIT
 *   GREETING    takes long, and there is another way (ways.h)
 *   CONNECTING, own attempt fails, not worth it; NACK          BROKEN
 *   GREETING
 *   WAIT        a HELLO comes in                               UP, answer ACK
 *   UP          no endpoint, nothing queued or awaited         CLOSING
 *   UP          CLOSE comes in; no endpoint, nothing queued    gone, YES sent
 *   UP          CLOSE comes in; otherwise                      UP, NO sent
 *   CLOSING     YES, or the end of the stream; nothing queued  gone
 *   CLOSING     YES, or the end of the stream; something is    CONNECTING
 *   CLOSING     NO                                             UP
 *   CLOSING     CLOSE comes in                                 as for UP
 *   UP, CLOSING a HELLO of an epoch that is over               stays
 *   UP          a second HELLO of the same peer: what is in    BROKEN, and a
 *               the old stream is read; if that does not end   new one UP
 *               it, the peer has lost it
 *   CLOSING     ... then the peer has agreed to close          UP by the new
 *                                                              socket; the old
 *                                                              one is read on
 *   any         error, end of the stream, foreign nonsense     BROKEN
 *
 * Both sides of a crossed connect take the same decision without a message:
 * the attempt of the larger id wins. The loser's attempt is parked, not
 * refused, because the winner's may yet fail where only one direction works.
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
    TCP_CONN_BROKEN
};

enum tcp_conn_flags {
    TCP_CONN_HASHED     = 1u << 0,
    TCP_CONN_BLOCKED    = 1u << 1,  /* The socket took less than was there */
    TCP_CONN_WATCH_OUT  = 1u << 2,  /* epoll looks for room to send */
    TCP_CONN_WANT_CLOSE = 1u << 3,  /* Ask the peer when all is sent */
    TCP_CONN_DISPATCH   = 1u << 4,  /* Pending requests are being called */
    TCP_CONN_TX_DEAD    = 1u << 5,  /* Sending failed; read what is left */
    TCP_CONN_HOT        = 1u << 6,
    TCP_CONN_QUIET      = 1u << 7,  /* Ends as agreed: nobody is told */
    TCP_CONN_UNACKED    = 1u << 8,  /* What was sent may not be acknowledged */
    TCP_CONN_OWES_NO    = 1u << 9   /* CLOSING: the peer's CLOSE waits for it */
};

/* What the bytes that come next are. */
enum tcp_rx_mode {
    TCP_RX_FRAMES,   /* Frames; the only mode before UP */
    TCP_RX_PUT,      /* Data of a PUT, to registered memory */
    TCP_RX_DATA,     /* Data for the oldest get */
    TCP_RX_FILLING   /* Filling behind such data */
};

/* --- Things in the send queue -------------------------------------------- */

enum tcp_elem_kind {
    TCP_ELEM_BUF,    /* Frames in a buffer */
    TCP_ELEM_ZCOPY,  /* Frames whose data is the user's memory */
    TCP_ELEM_SERVE   /* One DATA frame from registered memory */
};

typedef struct tcp_elem {
    struct tcp_elem *next;
    uint8_t         kind;
} tcp_elem_t;

typedef struct tcp_txbuf {
    tcp_elem_t super;
    uint32_t   head, tail;
    uint8_t    data[] __attribute__((aligned(8)));
} tcp_txbuf_t;

/* Anything that ends in a completion, so that ending can be put off to
 * progress. */
typedef struct tcp_op {
    struct tcp_op    *next;
    tcp_ep_t         *ep;       /* NULL: gone, or was cancelled */
    uct_completion_t *comp;
    void             *mem;      /* The pool's element that it is part of */
    ucs_status_t     status;
} tcp_op_t;

#define TCP_IOV_MAX 32

typedef struct tcp_zcopy {
    tcp_elem_t   super;
    uint8_t      is_put;
    uint8_t      in_call;    /* Its send has not returned yet */
    uint8_t      is_done;    /* ... and the kernel has taken all */
    uint8_t      iovcnt;
    uint8_t      iov_index;
    uint8_t      pad;        /* Filling left of this frame */
    uint16_t     hdr_off, hdr_len;
    uint32_t     seg_left;   /* Data left of this frame */
    uint32_t     seg_size;   /* Data of a whole one */
    size_t       left;       /* ... of all further frames */
    size_t       iov_off;
    tcp_op_t     op;
    void         *copy;      /* From malloc(): the rest of a cancelled one */
    tcp_wire_put_t put;      /* Of the next frame */
    uint8_t      hdr[96] __attribute__((aligned(8)));
    struct iovec iov[TCP_IOV_MAX];
} tcp_zcopy_t;

typedef struct tcp_serve {
    tcp_elem_t       super;
    struct tcp_serve *next;
    uint64_t         key;
    uint8_t          queued;    /* A frame of it is in the send queue */
    uint8_t          hdr_off;
    uint8_t          pad;
    uint32_t         seg_left;
    uint64_t         address;
    uint64_t         left;      /* Of all further frames */
    uint64_t         hdr;
} tcp_serve_t;

/* A get that waits for its data. */
typedef struct tcp_get {
    tcp_op_t              op;
    size_t                left;
    uint8_t               iovcnt, iov_index;
    uint8_t               cancelled;
    size_t                iov_off;
    uct_unpack_callback_t unpack_cb;    /* NULL: zero-copy */
    void                  *unpack_arg;
    size_t                length;
    tcp_txbuf_t           *bounce;
    struct iovec          iov[TCP_IOV_MAX];
} tcp_get_t;

/* A flush that waits. */
typedef struct tcp_flush {
    tcp_op_t op;
    uint64_t tx_mark, get_mark, put_mark;
} tcp_flush_t;

struct tcp_conn {
    tcp_iface_t      *iface;
    int              fd;
    uint8_t          state, path, rx_mode, rx_pad;
    uint32_t         flags;
    uint32_t         tx_round;     /* Round of the last immediate send */
    unsigned         num_eps;

    /* Sending */
    tcp_elem_t       *tx_head, *tx_tail;
    tcp_txbuf_t      *tx_cur;      /* The tail, while it can take more */
    uint32_t         num_bufs, num_zcopy;
    uint64_t         tx_queued;    /* Bytes of frames ever queued ... */
    uint64_t         tx_sent;      /* ... and sent, without served gets */
    tcp_list_t       tx_node;
    tcp_list_t       pend_node;
    tcp_list_t       pend_eps;

    /* Receiving */
    uint8_t          *part;        /* Bytes of a frame that is not whole */
    uint32_t         part_length;
    uint8_t          part_pooled;
    uint32_t         rx_limit;     /* Bytes to ask for beyond direct data */
    uint32_t         silent;       /* Fruitless receive calls in a row */
    uint64_t         rx_left;      /* PUT, DATA: bytes to come */
    uint64_t         rx_key, rx_address;

    /* Gets: ours, and the peer's */
    tcp_op_t         *get_head, **get_tail;
    uint64_t         gets_sent, gets_done;
    uint64_t         fence_mark;   /* Nothing leaves before so many are done */
    tcp_serve_t      *serve_head, **serve_tail;
    unsigned         num_serves;

    /* Remote completion, flushes */
    uint64_t         puts;         /* Number of PUT frames queued, ever */
    uint64_t         puts_acked;   /* ... that are known to be in place */
    uint64_t         puts_before;  /* ... that went over an earlier socket */
    uint64_t         puts_taken;   /* The peer's over this socket, in place */
    uint64_t         puts_told;    /* ... that it has been told of */
    tcp_op_t         *flush_head, **flush_tail;

    /* Identity and life */
    uint64_t         peer_id;
    uint32_t         peer_epoch;   /* The latest that was seen; 0: none */
    tcp_conn_t       *hash_next;
    tcp_list_t       node;         /* In conns */
    tcp_list_t       broken_node;
    tcp_list_t       timed_node;
    tcp_list_t       eps;
    tcp_unknown_t    *parked;
    double           deadline;
    double           connect_by;
    double           silent_since; /* Nothing acknowledged since; 0: not so */
    unsigned         retries;
    ucs_status_t     status;
    tcp_sockaddr_t   peer;         /* Family AF_UNSPEC: accepted, unknown */
    tcp_ways_t       *ways;        /* To such a peer; NULL: `peer` alone */
    uint8_t          way;          /* The one that `peer` is */
    uint8_t          ways_failed;  /* One bit each: does not lead there */
    uint8_t          ways_round;   /* Times that all had their turn */
};

struct tcp_ep {
    uct_ep_t            super;
    tcp_conn_t          *conn;     /* NULL until it is needed, or failed */
    tcp_list_t          node;      /* In the connection's eps */
    tcp_list_t          pend_node; /* In its pend_eps */
    ucx_pending_queue_t pending;
    uint64_t            peer_id;
    tcp_sockaddr_t      peer;
    tcp_ways_t          *ways;     /* NULL: `peer` alone */
    uint8_t             path;
    uint8_t             settled;   /* Nothing was outstanding when it failed */
    ucs_status_t        status;    /* UCS_OK until it fails */
    tcp_list_t          failed_node;
};

/* --- conn.c, connect.c, close.c ------------------------------------------ */
tcp_conn_t *tcp_conn_find(tcp_iface_t *iface, uint64_t peer_id, uint8_t path);
/* A connection without a socket, in WAIT. `hashed`: to be found. */
ucs_status_t tcp_conn_create(tcp_iface_t *iface, uint64_t peer_id,
                             uint8_t path, int hashed, tcp_conn_t **conn_p);
/* It leads to another interface from now on. */
void tcp_conn_rename(tcp_conn_t *conn, uint64_t peer_id);
/* Starts an attempt; what fails is dealt with from progress. */
void tcp_conn_connect(tcp_conn_t *conn);
void tcp_conn_event(tcp_conn_t *conn, uint32_t events);
/* CONNECTING is over: says HELLO. */
void tcp_conn_greet(tcp_conn_t *conn);
/* The peer's answer to HELLO. */
void tcp_conn_greeted(tcp_conn_t *conn, const tcp_wire_hello_t *hello);
/* Takes over the socket of `unknown`, which said HELLO, and answers it. */
void tcp_conn_adopt(tcp_conn_t *conn, tcp_unknown_t *unknown);
/* The stream has ended, or cannot be read (`error`, an errno, not 0). */
void tcp_conn_lost(tcp_conn_t *conn, int error);
/* From now on it is dead. From anywhere; progress does the rest. */
void tcp_conn_break(tcp_conn_t *conn, ucs_status_t status);
/* The peer sent what no good peer sends. */
void tcp_conn_violation(tcp_conn_t *conn, const char *what);
/* Ends as agreed with the peer: nobody is told. */
void tcp_conn_finish(tcp_conn_t *conn);
/* Closes the socket, if there is one, and forgets what it left behind. */
void tcp_conn_close_socket(tcp_conn_t *conn);
/* Closes the peer's attempt that was kept beside our own. */
void tcp_conn_unpark(tcp_conn_t *conn);
/* Our attempt came to nothing: the peer's instead, another one, or the end. */
void tcp_conn_attempt_failed(tcp_conn_t *conn, int error, int try_again);
/* The stream has ended after our CLOSE. */
void tcp_conn_closed(tcp_conn_t *conn);
/* Frees what tcp_conn_break() left, tells endpoints and completions. */
void tcp_conn_takedown(tcp_conn_t *conn);
/* Deadlines; returns the next one, or 0. */
double tcp_conn_expire(tcp_iface_t *iface, double now);
/* Breaks connections whose peer's host has not acknowledged anything for too
 * long; returns when to look again, or 0. */
double tcp_conn_sweep(tcp_iface_t *iface, double now);
/* The peer's HELLO says that it has agreed to our CLOSE: what its answer has
 * not overtaken is read by a connection of its own, and this one is free for
 * another socket. */
ucs_status_t tcp_conn_split(tcp_conn_t *conn);
/* The peer's CLOSE, YES and NO. */
void tcp_conn_close_frame(tcp_conn_t *conn, enum tcp_wire_type type);
/* Asks the peer to close if it is time to. */
void tcp_conn_try_close(tcp_conn_t *conn);
int tcp_conn_is_idle(const tcp_conn_t *conn);
/* For the closing interface: what still can be sent is, then it is freed. */
void tcp_conn_destroy(tcp_conn_t *conn);

/* --- tx.c ---------------------------------------------------------------- */
/* Sends what is queued, as far as the socket takes it. */
void tcp_tx_flush(tcp_conn_t *conn);
void tcp_tx_schedule(tcp_conn_t *conn);
/* Room for `size` contiguous bytes of whole frames behind all that is queued;
 * NULL: not now. tcp_tx_commit() then says how many were used. */
uint8_t *tcp_tx_reserve_slow(tcp_conn_t *conn, size_t size, int force);
void tcp_tx_append(tcp_conn_t *conn, tcp_elem_t *elem);
void tcp_tx_frame(tcp_conn_t *conn, uint64_t frame);  /* one without payload */
/* An operation with its data; its head is the caller's to set. NULL: not now */
tcp_zcopy_t *tcp_tx_zcopy_get(tcp_conn_t *conn, const uct_iov_t *iov,
                              size_t iovcnt, size_t *length_p);
/* UCS_OK: the kernel has all of it. UCS_INPROGRESS: `comp` comes later. */
ucs_status_t tcp_tx_zcopy_start(tcp_conn_t *conn, tcp_zcopy_t *zcopy,
                                tcp_ep_t *ep, uct_completion_t *comp);
/* The same data copied to `dst`. */
void tcp_iov_copy(uint8_t *dst, const uct_iov_t *iov, size_t iovcnt);
size_t tcp_iov_length(const uct_iov_t *iov, size_t iovcnt);
ucs_status_t tcp_iov_fill(struct iovec *dst, unsigned *count_p,
                          const uct_iov_t *iov, size_t iovcnt);
/* Frees an element without completing it. */
void tcp_tx_elem_free(tcp_conn_t *conn, tcp_elem_t *elem);
/* Bytes of the stream that are still to come of it. */
uint64_t tcp_tx_zcopy_size(const tcp_zcopy_t *zcopy);
/* PUT frames that it still takes, the current one included. */
uint64_t tcp_tx_zcopy_puts(const tcp_zcopy_t *zcopy);
/* Ends the endpoint's zero-copy sends with `status`, from progress. */
void tcp_tx_cancel_ep(tcp_conn_t *conn, tcp_ep_t *ep, ucs_status_t status);
int tcp_tx_has_room(const tcp_conn_t *conn);

/* --- rx.c ---------------------------------------------------------------- */
/* Receives and handles; returns the number of events. */
unsigned tcp_rx(tcp_conn_t *conn);
/* Forgets what was received in part. */
void tcp_rx_reset(tcp_conn_t *conn);
/* Handles [data, +length); returns the bytes used. For rx.c and the fuzzer. */
size_t tcp_rx_parse(tcp_conn_t *conn, uint8_t *data, size_t length,
                    unsigned *events_p);

/* --- put_get.c ----------------------------------------------------------- */
void tcp_serve_add(tcp_conn_t *conn, const tcp_wire_get_t *get);
/* Puts the next frame of a served get into the send queue. */
void tcp_serve_queue(tcp_conn_t *conn);
void tcp_put_ack_queue(tcp_conn_t *conn);
void tcp_get_finish(tcp_conn_t *conn);

/* --- op.c ---------------------------------------------------------------- */
/* An element of the pool for operations, or NULL. */
void *tcp_op_alloc(tcp_iface_t *iface);
void tcp_op_free(tcp_iface_t *iface, void *op);
/* Ends an operation, and frees its memory, from the next progress. */
void tcp_op_done(tcp_iface_t *iface, tcp_op_t *op, ucs_status_t status);
/* Calls those completions. */
unsigned tcp_op_dispatch(tcp_iface_t *iface);
/* Ends the flushes whose time has come */
void tcp_flush_check(tcp_conn_t *conn);

/* --- ep.c ---------------------------------------------------------------- */
ucs_status_t tcp_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                           uct_ep_h *ep_p);
unsigned tcp_ep_dispatch_pending(tcp_conn_t *conn);
void tcp_ep_fail(tcp_ep_t *ep, ucs_status_t status);
/* The connection, made if need be; NULL with a status if that fails. */
tcp_conn_t *tcp_ep_conn_slow(tcp_ep_t *ep, ucs_status_t *status_p);

extern const ucx_ep_ops_t tcp_ep_ops;

static inline tcp_ep_t *tcp_ep(uct_ep_h ep)
{
    return (tcp_ep_t*)ep;
}

#endif
