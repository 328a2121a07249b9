/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection: one stream between this interface and a peer's, shared by all
 * endpoints to that peer with the same path. Several connections between the
 * same two interfaces differ in their path. tcp_conn_find() finds at most one
 * connection for each pair (id of the peer's interface, path), whichever side
 * opened it.
 *
 * HELLO, ACK, NACK, epoch, CLOSE, YES and NO are defined in wire.h. A HELLO of
 * the peer arrives on a socket that the peer has connected to our listener. To
 * park such a socket means to leave its HELLO unanswered until our own attempt
 * to connect has succeeded or failed.
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
 * The last column also names the message that this side sends in answer.
 *
 *   from        event                                            to
 *   (new)       an endpoint has something to send                CONNECTING
 *   (new)       a HELLO arrives                                  UP, ACK
 *   WAIT        deadline                                         CONNECTING
 *   CONNECTING  connected                                        GREETING
 *   CONNECTING, a HELLO of the peer arrives, and the peer        UP, ACK, close
 *   GREETING    has the larger id                                own socket
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
 *   WAIT        a HELLO arrives                                  UP, ACK
 *   UP          idle (no endpoint, nothing queued or             CLOSING, CLOSE
 *               outstanding)
 *   UP          CLOSE arrives; idle                              freed, YES
 *   UP          CLOSE arrives; not idle                          UP, NO
 *   UP          end of the stream; idle                          freed
 *   CLOSING     YES, or end of the stream; idle                  freed
 *   CLOSING     YES, or end of the stream; not idle              CONNECTING
 *   CLOSING     NO                                               UP
 *   CLOSING     CLOSE arrives; idle                              freed, YES
 *   CLOSING     CLOSE arrives; not idle                          CLOSING, NO
 *   UP, CLOSING a HELLO of an old epoch                          same
 *   UP          a second HELLO of the same peer: read the old    BROKEN, and a
 *               stream; if it has not ended, the peer has        new one UP
 *               lost it
 *   CLOSING     a second HELLO of the same peer: the peer has    UP on the new
 *               agreed to close (tcp_conn_split())               socket, ACK
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
    TCP_CONN_HASHED     = 1u << 0, /* In the table of tcp_conn_find() */
    TCP_CONN_BLOCKED    = 1u << 1, /* The socket's send buffer is full */
    TCP_CONN_WATCH_OUT  = 1u << 2, /* epoll reports when the socket is
                                    * writable */
    TCP_CONN_WANT_CLOSE = 1u << 3, /* The last endpoint was destroyed: send
                                    * CLOSE as soon as nothing is queued or
                                    * outstanding */
    TCP_CONN_DISPATCH   = 1u << 4, /* Progress is calling pending requests,
                                    * whose sends need not wait for others */
    TCP_CONN_TX_DEAD    = 1u << 5, /* Sending failed. Progress reads the data
                                    * that has arrived, then breaks the
                                    * connection */
    TCP_CONN_HOT        = 1u << 6, /* Progress reads it without epoll
                                    * (progress.c) */
    TCP_CONN_QUIET      = 1u << 7, /* Closed by agreement: endpoints are not
                                    * notified */
    TCP_CONN_UNACKED    = 1u << 8, /* The peer's kernel may not have
                                    * acknowledged all sent data */
    TCP_CONN_OWES_NO    = 1u << 9, /* Both sides have sent CLOSE, and this side
                                    * has not answered NO yet */
};

/* Meaning of the next bytes that are received. */
enum tcp_rx_mode {
    TCP_RX_FRAMES,  /* A frame; in the state GREETING: the answer to HELLO */
    TCP_RX_PUT,     /* Data of a PUT, into registered memory */
    TCP_RX_DATA,    /* Data of a DATA frame, for the oldest get */
    TCP_RX_FILLING, /* Padding after the data of a PUT or DATA frame */
};

/* --- Elements of the send queue ------------------------------------------ */

enum tcp_elem_kind {
    TCP_ELEM_BUF,   /* Frames in a buffer */
    TCP_ELEM_ZCOPY, /* Frames whose data is the user's memory */
    TCP_ELEM_SERVE, /* One DATA frame of the answer to a get of the peer */
};

typedef struct tcp_elem {
    struct tcp_elem *next;
    uint8_t kind;
} tcp_elem_t;

typedef struct tcp_txbuf {
    tcp_elem_t super;
    uint32_t head, tail; /* Bytes [head, tail) of `data` are not sent yet */
    uint8_t data[] __attribute__((aligned(8)));
} tcp_txbuf_t;

/* An operation with a completion. When the operation is done, it is in the
 * interface's list done_head until the next progress calls the completion. */
typedef struct tcp_op {
    struct tcp_op *next; /* Next in get_head, flush_head or done_head */
    tcp_ep_t *ep;        /* NULL: the endpoint was destroyed, the operation was
                          * cancelled, or it is a flush of the interface */
    uct_completion_t *comp; /* NULL: none, or another operation calls it,
                             * because this one was cancelled */
    void *mem;           /* The element of the interface's op_pool that contains
                          * this structure */
    ucs_status_t status; /* Result, set when the operation is done */
} tcp_op_t;

#define TCP_IOV_MAX 32

/* A zero-copy send: an active message of one frame, or a put of one or more
 * frames. Only the current frame, which is sent now or next, has a header. */
typedef struct tcp_zcopy {
    tcp_elem_t super;
    uint8_t is_put;    /* 0: an active message */
    uint8_t in_call;   /* The call that started the operation has not returned
                        * yet */
    uint8_t is_done;   /* The kernel has accepted all data before that call
                        * returned */
    uint8_t iovcnt;    /* Number of entries of `iov` */
    uint8_t iov_index; /* Index in `iov` of the next byte to send */
    uint8_t pad;       /* Unsent bytes of padding of the current frame */
    uint16_t hdr_off, hdr_len; /* Bytes [hdr_off, hdr_len) of `hdr` are not sent
                                * yet */
    uint32_t seg_left;         /* Unsent bytes of data of the current frame */
    uint32_t seg_size;         /* Maximum bytes of data of one PUT frame */
    size_t left;    /* Bytes of data of a put after the current frame */
    size_t iov_off; /* Offset in iov[iov_index] of the next byte to send */
    tcp_op_t op;
    void *copy; /* From malloc(): the unsent data of the current frame of
                 * a cancelled operation; NULL: not cancelled */
    tcp_wire_put_t put; /* Key and address for the PUT frame after the current
                         * one */
    uint8_t hdr[96] __attribute__((aligned(8))); /* Header of the current
                                                  * frame */
    struct iovec iov[TCP_IOV_MAX]; /* The user's memory, or `copy` */
} tcp_zcopy_t;

/* A get of the peer, which this side answers with one or more DATA frames. At
 * most one of them, the current frame, is in the send queue. */
typedef struct tcp_serve {
    tcp_elem_t super;       /* Element of the send queue: the current frame */
    struct tcp_serve *next; /* Next in the connection's serve_head */
    uint64_t key;
    uint8_t queued;    /* Non-zero: the current frame is in the send queue */
    uint8_t hdr_off;   /* Bytes of `hdr` that are sent */
    uint8_t pad;       /* Unsent bytes of padding of the current frame */
    uint32_t seg_left; /* Unsent bytes of data of the current frame */
    uint64_t address;  /* Address of the next byte to send */
    uint64_t left;     /* Bytes of data after the current frame */
    uint64_t hdr;      /* Header of the current frame */
} tcp_serve_t;

/* A get of this side that waits for data. */
typedef struct tcp_get {
    tcp_op_t op;
    size_t left;               /* Bytes of data that have not arrived */
    uint8_t iovcnt, iov_index; /* Number of entries of `iov`; index of the entry
                                * that receives the next byte */
    uint8_t cancelled;         /* Non-zero: another operation calls the
                                * completion, and the data is discarded */
    size_t iov_off;            /* Offset of the next byte in iov[iov_index] */
    uct_unpack_callback_t unpack_cb; /* NULL: a zero-copy get */
    void *unpack_arg;
    size_t length;       /* Total bytes of data */
    tcp_txbuf_t *bounce; /* Buffer for the data of a buffered get; NULL: a
                          * zero-copy get */
    struct iovec iov[TCP_IOV_MAX]; /* Destination: the user's memory, or the
                                    * data of `bounce` */
} tcp_get_t;

/* An outstanding flush. It completes when the connection's tx_sent, gets_done
 * and puts_acked have reached these marks; a put_mark of 0 waits for no put. */
typedef struct tcp_flush {
    tcp_op_t op;
    uint64_t tx_mark, get_mark, put_mark;
} tcp_flush_t;

struct tcp_conn {
    tcp_iface_t *iface;
    int fd;                               /* -1: no socket */
    uint8_t state, path, rx_mode, rx_pad; /* rx_pad: bytes of padding of the
                                           * current frame that have not
                                           * arrived */
    uint32_t flags;
    uint32_t tx_round; /* The interface's `round` at the last immediate send */
    unsigned num_eps;  /* Number of elements of `eps` */

    /* Sending */
    tcp_elem_t *tx_head, *tx_tail; /* The send queue; tx_head is NULL if it is
                                    * empty */
    tcp_txbuf_t *tx_cur; /* The last element of the send queue if that is a
                          * buffer, to which frames can be appended; otherwise
                          * NULL */
    uint32_t num_bufs, num_zcopy; /* Buffers and zero-copy operations in the
                                   * send queue */
    uint64_t tx_queued; /* Total bytes of frames that were added to the send
                         * queue, without DATA frames and what was cancelled */
    uint64_t tx_sent;   /* Bytes of `tx_queued` that the kernel has accepted */
    tcp_list_t tx_node; /* Node in the interface's tx_work */
    tcp_list_t pend_node; /* Node in the interface's pend_work */
    tcp_list_t pend_eps;  /* Endpoints with pending requests */

    /* Receiving */
    uint8_t *part; /* Bytes of an incomplete frame that were moved out of the
                    * interface's buffer; NULL: none */
    uint32_t part_length; /* Bytes in `part` */
    uint8_t part_pooled;  /* Non-zero: `part` is from the interface's part_pool;
                           * 0: from malloc() */
    uint32_t rx_limit;    /* Maximum number of bytes that one call receives into
                           * the interface's buffer; half of that if the same
                           * call also receives data directly into its
                           * destination */
    uint32_t silent;      /* Consecutive receive calls without data */
    uint64_t rx_left; /* Modes PUT and DATA: bytes of data of the current frame
                       * that have not arrived */
    uint64_t rx_key, rx_address; /* Mode PUT: key of the memory, and address of
                                  * the next byte */

    /* Gets of this side and of the peer */
    tcp_op_t *get_head, **get_tail; /* This side's gets that wait for data,
                                     * oldest first */
    uint64_t gets_sent, gets_done;  /* Total number of this side's gets that
                                     * were queued, and of those answered */
    uint64_t fence_mark; /* Sends return NO_RESOURCE while gets_done is less
                          * than this value, which a fence sets */
    tcp_serve_t *serve_head, **serve_tail; /* The peer's gets to answer, oldest
                                            * first */
    unsigned num_serves; /* Number of elements of serve_head */

    /* Remote completion and flushes */
    uint64_t puts;        /* Total number of this side's PUT frames queued, on
                           * all sockets of the connection */
    uint64_t puts_acked;  /* Of these, acknowledged by the peer */
    uint64_t puts_before; /* Value of puts_acked when this socket was connected.
                           * The peer's PUT_ACK frames count from there */
    uint64_t puts_closed; /* Value of puts when CLOSE was sent on this socket:
                           * later puts wait in the queue */
    uint64_t puts_taken;  /* The peer's PUT frames received on this socket */
    uint64_t puts_told;   /* Value of puts_taken in the last PUT_ACK that was
                           * queued */
    tcp_op_t *flush_head, **flush_tail; /* Outstanding flushes, oldest first */

    /* Identity and lifetime */
    uint64_t peer_id;    /* Id of the peer's interface */
    uint32_t peer_epoch; /* Epoch of the peer's latest HELLO or ACK; 0: none */
    tcp_conn_t *hash_next;
    tcp_list_t node;        /* Node in the interface's conns */
    tcp_list_t broken_node; /* Node in the interface's broken */
    tcp_list_t timed_node;  /* Node in the interface's timed, while `deadline`
                             * is set */
    tcp_list_t eps;         /* Endpoints that use the connection */
    tcp_unknown_t *parked;  /* The peer's parked attempt; NULL: none */
    double deadline;        /* Time (ucx_host_t.time()) at which
                             * tcp_conn_expire() handles the connection */
    double connect_by;      /* Host time at which attempts to connect end with
                             * an error; 0: the first has not started */
    double silent_since;    /* Host time of the first check that found that the
                             * peer's host acknowledges nothing; 0: it
                             * acknowledges */
    unsigned retries;       /* Repeated attempts at the address `peer` */
    ucs_status_t status;    /* Why the connection failed */
    tcp_sockaddr_t peer; /* Family AF_UNSPEC: the connection was accepted, and
                          * the peer's address is unknown */
    tcp_ways_t *ways;    /* All addresses of the peer; NULL: only `peer` */
    uint8_t way;         /* Index of `peer` in `ways` */
    uint8_t ways_failed; /* Bit i: the address with the index i in `ways` has
                          * failed */
    uint8_t ways_round;  /* How often the attempts passed the end of `ways` */
};

struct tcp_ep {
    uct_ep_t super;
    tcp_conn_t *conn;     /* NULL: not needed yet, or failed */
    tcp_list_t node;      /* Node in the connection's eps */
    tcp_list_t pend_node; /* Node in the connection's pend_eps */
    ucx_pending_queue_t pending;
    uint64_t peer_id;    /* Id of the peer's interface at the address `peer` */
    tcp_sockaddr_t peer; /* The peer's address to try first */
    tcp_ways_t *ways;    /* All addresses of the peer; NULL: only `peer` */
    uint8_t path;
    uint8_t settled;        /* Non-zero: the connection has failed, and nothing
                             * was outstanding on it then */
    ucs_status_t status;    /* UCS_OK until the endpoint fails */
    tcp_list_t failed_node; /* Node in the interface's failed_eps */
};

/* --- conn.c, connect.c, close.c ------------------------------------------ */
tcp_conn_t *tcp_conn_find(tcp_iface_t *iface, uint64_t peer_id, uint8_t path);
/* Creates a connection without a socket, in WAIT. With `hashed`,
 * tcp_conn_find() finds it. */
ucs_status_t tcp_conn_create(tcp_iface_t *iface, uint64_t peer_id, uint8_t path,
                             int hashed, tcp_conn_t **conn_p);
/* Changes the id of the peer's interface, and the place of the connection in
 * the table of tcp_conn_find(). */
void tcp_conn_rename(tcp_conn_t *conn, uint64_t peer_id);
/* Starts an attempt to connect. If it fails, progress retries or notifies the
 * endpoints. */
void tcp_conn_connect(tcp_conn_t *conn);
void tcp_conn_event(tcp_conn_t *conn, uint32_t events);
/* Sends HELLO if connect() has succeeded. Sends nothing while it is in
 * progress. */
void tcp_conn_greet(tcp_conn_t *conn);
/* Handles the peer's answer to HELLO. */
void tcp_conn_greeted(tcp_conn_t *conn, const tcp_wire_hello_t *hello);
/* Uses the socket of `unknown`, whose HELLO has arrived, for this connection,
 * and answers the HELLO with ACK. */
void tcp_conn_adopt(tcp_conn_t *conn, tcp_unknown_t *unknown);
/* Called when the stream has ended (`error` is 0), or reading has failed
 * (`error` is an errno). */
void tcp_conn_lost(tcp_conn_t *conn, int error);
/* Marks the connection as failed. Calls no callback, so it may be called from
 * anywhere: the next progress calls tcp_conn_takedown(). */
void tcp_conn_break(tcp_conn_t *conn, ucs_status_t status);
/* Breaks the connection, because the peer violated the protocol. */
void tcp_conn_violation(tcp_conn_t *conn, const char *what);
/* Ends an unused connection, without notifying endpoints. */
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
/* Called when the peer has answered our CLOSE with YES, or the stream has ended
 * after our CLOSE. */
void tcp_conn_closed(tcp_conn_t *conn);
/* Takes down a connection that tcp_conn_break() has marked: frees it, then
 * calls the completions of its operations, then notifies the endpoints that
 * used it. */
void tcp_conn_takedown(tcp_conn_t *conn);
/* Handles connections whose deadline has expired. `now` and the results are
 * times of ucx_host_t.time(). Returns the next deadline; 0: there is none. */
double tcp_conn_expire(tcp_iface_t *iface, double now);
/* Fails connections whose peer's host has acknowledged nothing for too long.
 * Returns the time of the next check; 0: none is needed. */
double tcp_conn_sweep(tcp_iface_t *iface, double now);
/* Splits the connection, because the peer's HELLO means that it has agreed to
 * our CLOSE. A separate connection reads the rest of the old stream, and this
 * one can use another socket. */
ucs_status_t tcp_conn_split(tcp_conn_t *conn);
/* Handles the peer's CLOSE, YES and NO. */
void tcp_conn_close_frame(tcp_conn_t *conn, enum tcp_wire_type type);
/* Sends the NO that this side owes (TCP_CONN_OWES_NO), or else CLOSE if
 * TCP_CONN_WANT_CLOSE is set and the connection is idle. */
void tcp_conn_try_close(tcp_conn_t *conn);
int tcp_conn_is_idle(const tcp_conn_t *conn);
/* Closes the connection together with its interface: sends what can be sent at
 * once, then frees the connection. */
void tcp_conn_destroy(tcp_conn_t *conn);

/* --- tx.c ---------------------------------------------------------------- */
/* In the state UP, sends from the queue until the queue is empty or the socket
 * is full. */
void tcp_tx_flush(tcp_conn_t *conn);
void tcp_tx_schedule(tcp_conn_t *conn);
/* Reserves `size` contiguous bytes for whole frames at the end of the queue.
 * tcp_tx_commit() states how many bytes were used. Returns NULL if the queue
 * has TCP_TX_MAX_BUFS buffers and none can be sent now, or if memory is out.
 * With `force` the number of buffers is not limited. */
uint8_t *tcp_tx_reserve_slow(tcp_conn_t *conn, size_t size, int force);
void tcp_tx_append(tcp_conn_t *conn, tcp_elem_t *elem);
void tcp_tx_frame(tcp_conn_t *conn, uint64_t frame); /* Queues a frame without
                                                      * payload */
/* Creates a zero-copy operation for the data of the entries, and stores the
 * total length in *length_p. Returns UCS_ERR_NO_RESOURCE if there is no memory
 * or if TCP_TX_MAX_ZCOPY operations are queued, and the status of
 * tcp_iov_fill() if there are too many buffers. */
ucs_status_t tcp_tx_zcopy_get(tcp_conn_t *conn, const uct_iov_t *iov,
                              size_t iovcnt, size_t *length_p,
                              tcp_zcopy_t **zcopy_p);
/* Queues the operation and sends as much as the socket accepts. UCS_OK: the
 * kernel has accepted all data. UCS_INPROGRESS: `comp` is called later. */
ucs_status_t tcp_tx_zcopy_start(tcp_conn_t *conn, tcp_zcopy_t *zcopy,
                                tcp_ep_t *ep, uct_completion_t *comp);
/* Copies the data of the entries to `dst`. */
void tcp_iov_copy(uint8_t *dst, const uct_iov_t *iov, size_t iovcnt);
size_t tcp_iov_length(const uct_iov_t *iov, size_t iovcnt);
/* Stores each buffer of the entries in `dst`, which has TCP_IOV_MAX elements,
 * and their number in *count_p. Returns UCS_ERR_INVALID_PARAM if there are
 * more: an entry counts `count` times, so a retry cannot succeed. */
ucs_status_t tcp_iov_fill(struct iovec *dst, unsigned *count_p,
                          const uct_iov_t *iov, size_t iovcnt);
/* Frees an element of the send queue without calling a completion. */
void tcp_tx_elem_free(tcp_conn_t *conn, tcp_elem_t *elem);
/* Returns the number of unsent bytes of the operation: headers, data and
 * padding. */
uint64_t tcp_tx_zcopy_size(const tcp_zcopy_t *zcopy);
/* Returns the number of unsent PUT frames, including the current one; 0 for an
 * active message. */
uint64_t tcp_tx_zcopy_puts(const tcp_zcopy_t *zcopy);
/* Cancels the endpoint's zero-copy sends. The next progress calls their
 * completions with `status`. */
void tcp_tx_cancel_ep(tcp_conn_t *conn, tcp_ep_t *ep, ucs_status_t status);
int tcp_tx_has_room(const tcp_conn_t *conn);

/* --- align.c -------------------------------------------------------------- */
/* Called before a frame with a header of this length and this data is queued, in
 * which the data is not copied. If the kernel would copy it slowly, first queues
 * frames that repeat what the peer knows. */
void tcp_tx_align(tcp_conn_t *conn, size_t header, const struct iovec *data);

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
/* Adds the next DATA frame of the oldest get of the peer to the send queue. */
void tcp_serve_queue(tcp_conn_t *conn);
void tcp_put_ack_queue(tcp_conn_t *conn);
void tcp_get_finish(tcp_conn_t *conn);

/* --- op.c ---------------------------------------------------------------- */
/* Allocates an element of the interface's op_pool, which is large enough for
 * every kind of operation; NULL: no memory. */
void *tcp_op_alloc(tcp_iface_t *iface);
void tcp_op_free(tcp_iface_t *iface, void *op);
/* The next progress calls the operation's completion with `status`, and frees
 * the operation. */
void tcp_op_done(tcp_iface_t *iface, tcp_op_t *op, ucs_status_t status);

/* Returns whether the next progress calls completions of done operations. */
static inline int tcp_op_has_done(const tcp_iface_t *iface)
{
    return iface->done_head != NULL;
}
/* Calls the completions of done operations. */
unsigned tcp_op_dispatch(tcp_iface_t *iface);
/* Completes the connection's flushes whose marks are reached. */
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
