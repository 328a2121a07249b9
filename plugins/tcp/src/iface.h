/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An interface: one device of one worker. It owns the listening socket, the
 * connections, the buffers that they share, and the epoll descriptor, which is
 * also the event descriptor.
 *
 * Only one thread at a time may use an interface. Received messages,
 * completions, pending requests and failures are passed to the user from
 * tcp_iface_progress(); closing calls the remaining completions.
 */
#ifndef TCP_IFACE_H
#define TCP_IFACE_H

#include "config.h"
#include "device.h"
#include "list.h"
#include "md.h"
#include "plugin.h"

typedef struct tcp_conn tcp_conn_t;

/* Maximum number of connections that progress reads without an event of
 * epoll. */
#define TCP_IFACE_HOT_MAX 4

/* Type of the object of an epoll event; stored in the low bits of its data
 * pointer. */
enum tcp_event_tag {
    TCP_EVENT_CONN,
    TCP_EVENT_UNKNOWN,
    TCP_EVENT_LISTEN,
    TCP_EVENT_TIMER,
    TCP_EVENT_TAG_MASK = 3,
};

typedef struct tcp_iface {
    uct_iface_t super;
    const ucx_host_t *host;
    tcp_md_t *md;
    tcp_iface_config_t config;      /* Without port_range, which is NULL */
    unsigned port_first, port_last; /* Ports to listen on; 0, 0: any port */
    tcp_device_t device;
    uint32_t seg_size;   /* Maximum data of one PUT or DATA frame */
    uint64_t id;         /* Id of this interface: random, never 0 */
    tcp_list_t md_node;  /* Node in the domain's ifaces */
    unsigned num_others; /* Number of other interfaces of the worker for which
                          * this interface's address has space */
    uint8_t detour;      /* Index in the peer's list of addresses (tcp_ways_t,
                          * ways.h) to which a new connection connects first.
                          * Index 0, the initial value, is the peer's own
                          * address, the others are alternative ones. When a
                          * peer with such a list answers HELLO with ACK, this
                          * is set to the index that was used: the same index
                          * probably reaches further peers */
    uint32_t epoch;      /* Epoch (wire.h) of the last HELLO that this side sent
                          * or tried to send; 0: none */
    tcp_sockaddr_t listen_addr;

    /* Progress */
    uint32_t round;      /* Counts the calls of tcp_iface_progress() */
    uint8_t in_progress; /* Non-zero: tcp_iface_progress() is running */
    unsigned num_hot;    /* Number of entries of `hot` */
    tcp_conn_t *hot[TCP_IFACE_HOT_MAX]; /* Connections that progress reads
                                         * without an event of epoll */
    unsigned quiet;             /* Consecutive polls of the epoll descriptor
                                 * that found no event */
    uint64_t last_look;         /* While progress polls the epoll descriptor
                                 * only at intervals: cycle counter at the last
                                 * poll. 0: poll as soon as progress reads the
                                 * counter again */
    tcp_list_t tx_work;         /* Connections with data to send */
    tcp_list_t pend_work;       /* Connections with pending requests */
    tcp_list_t broken;          /* Failed connections that progress frees */
    tcp_list_t failed_eps;      /* Invalidated endpoints, whose failure progress
                                 * reports */
    struct tcp_ep *dispatching; /* Endpoint whose pending request is running;
                                 * NULL: none, or the request destroyed it */
    struct tcp_op *done_head;   /* Operations whose completions progress
                                 * calls */
    struct tcp_op **done_tail;

    /* Receiving: bytes [rx_head, rx_tail) of rx_buf were received by the
     * connection rx_owner and are not handled yet */
    uint8_t *rx_buf;
    size_t rx_head, rx_tail;
    tcp_conn_t *rx_owner;

    size_t rx_cap;      /* Size of rx_buf in bytes */
    uint32_t txbuf_cap; /* Bytes of data in an element of txbuf_pool */
    ucx_mpool_t *txbuf_pool;
    ucx_mpool_t *op_pool;
    ucx_mpool_t *part_pool; /* Created at its first use */

    /* Connections by (peer's id, path) */
    tcp_conn_t **hash;
    unsigned hash_size; /* A power of two */
    unsigned num_hashed;
    tcp_list_t conns; /* All connections */

    /* Incoming connections (tcp_unknown_t) that no tcp_conn_t uses yet */
    tcp_list_t unknown;   /* Those without a handled HELLO, oldest first */
    unsigned num_unknown; /* Number of elements of `unknown` */
    tcp_list_t parked;    /* Those that are kept until our own attempt to
                           * connect to the same peer has succeeded or failed
                           * (conn.h) */
    tcp_list_t freed;     /* Closed ones, which are freed at the end of
                           * tcp_iface_progress() */

    int epoll_fd;
    int listen_fd;
    int timer_fd;
    double timer_at;  /* Host time at which the timer expires; 0: it is not
                       * set */
    tcp_list_t timed; /* Connections with a deadline */
    double listen_at; /* Host time at which accepting resumes after descriptors
                       * or memory have run out; 0: accepting */
    double sweep_at;  /* Host time of the next tcp_conn_sweep(), which finds
                       * hosts that have stopped acknowledging; 0: none */

    uct_am_tracer_t tracer; /* NULL: tracing is disabled */
    void *tracer_arg;

    double log_time;      /* Host time of the last rate-limited message */
    unsigned log_dropped; /* Messages suppressed since then */
} tcp_iface_t;

static inline tcp_iface_t *tcp_iface(uct_iface_h iface)
{
    return (tcp_iface_t *)iface;
}

/* --- iface.c ------------------------------------------------------------- */
size_t tcp_iface_max_am(const tcp_iface_t *iface);
void tcp_iface_set_options(tcp_iface_t *iface, int fd);
/* Returns non-zero if a message about a peer's errors may be logged now: at
 * most one per second. */
int tcp_iface_may_log(tcp_iface_t *iface);

/* --- reach.c ------------------------------------------------------------- */
ucs_status_t tcp_iface_get_device_address(uct_iface_h iface,
                                          uct_device_addr_t *addr);
int tcp_iface_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args);
size_t tcp_dev_addr_length(const tcp_sockaddr_t *addr);
void tcp_dev_addr_pack(uint64_t locality, const tcp_sockaddr_t *addr,
                       void *buffer);
/* Parses a device address (wire.h) in a buffer of `length` bytes. SIZE_MAX: the
 * size of the buffer is unknown, and the first byte determines it. */
ucs_status_t tcp_dev_addr_unpack(const void *buffer, size_t length,
                                 tcp_sockaddr_t *addr, unsigned *flags_p,
                                 uint64_t *locality_p);

/* --- progress.c ---------------------------------------------------------- */
unsigned tcp_iface_progress(uct_iface_h iface);
ucs_status_t tcp_iface_event_fd_get(uct_iface_h iface, int *fd_p);
ucs_status_t tcp_iface_event_arm(uct_iface_h iface, unsigned events);
void tcp_iface_hot_add(tcp_iface_t *iface, tcp_conn_t *conn);
void tcp_iface_hot_del(tcp_iface_t *iface, tcp_conn_t *conn);
/* Schedules a check whether the data that was just sent has been
 * acknowledged. */
void tcp_iface_sweep_later(tcp_iface_t *iface);
/* Sets the timer to wake the interface at `when` (host time) at the latest. */
void tcp_iface_timer_set(tcp_iface_t *iface, double when);
ucs_status_t tcp_iface_watch(tcp_iface_t *iface, int op, int fd,
                             uint32_t events, void *ptr,
                             enum tcp_event_tag tag);

/* --- trace.c ------------------------------------------------------------- */
ucs_status_t tcp_iface_set_am_tracer(uct_iface_h iface, uct_am_tracer_t tracer,
                                     void *arg);
/* Logs a sent or received message, with the tracer's text. */
void tcp_trace_am(tcp_iface_t *iface, uct_am_trace_type_t type, uint8_t id,
                  const void *data, size_t length);
/* Logs a zero-copy send. The tracer receives the first bytes of the message. */
void tcp_trace_zcopy(tcp_iface_t *iface, uint8_t id, const void *header,
                     size_t header_length, const uct_iov_t *iov, size_t iovcnt);

/* --- accept.c ------------------------------------------------------------ */
/* An incoming connection: unknown until its HELLO (wire.h) has named the peer,
 * then possibly parked. */
typedef struct tcp_unknown {
    tcp_list_t node; /* Node in the interface's unknown, parked or freed */
    tcp_iface_t *iface;
    int fd;                /* -1: closed */
    double deadline;       /* Host time at which the HELLO must be complete */
    tcp_conn_t *parked_by; /* The connection whose member `parked` points to
                            * this structure; NULL: not parked */
    size_t got;            /* Received bytes of the HELLO */
    uint8_t hello[32];
} tcp_unknown_t;

unsigned tcp_accept_ready(tcp_iface_t *iface);
void tcp_accept_resume(tcp_iface_t *iface);
unsigned tcp_unknown_event(tcp_unknown_t *unknown);
/* Closes an unknown connection to get a free descriptor: the oldest with an
 * incomplete HELLO and without unread data, among the `limit` oldest. Returns 0
 * if there is none. */
int tcp_unknown_evict(tcp_iface_t *iface, unsigned limit);
/* Closes the socket; the memory is freed at the end of tcp_iface_progress(). */
void tcp_unknown_drop(tcp_unknown_t *unknown);
/* Closes unknown connections whose deadline has expired. Returns the next
 * deadline (host time); 0: there is none. */
double tcp_unknown_expire(tcp_iface_t *iface, double now);

/* Refines the costs of operations: estimate.c */
ucs_status_t tcp_iface_estimate(uct_iface_h iface, ucx_perf_t *perf);

#endif
