/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files of the udp plugin: reliable, ordered
 * messages over UDP. A receiver acknowledges datagrams; a sender retransmits
 * those that are not acknowledged in time. */
#ifndef UDP_H
#define UDP_H

#include <netinet/in.h>
#include <ucx/count.h>
#include <ucx/guard.h>
#include <ucx/pending.h>
#include <ucx/simple.h>
#include <ucx/window.h>

#define UDP_NAME        "udp"
#define UDP_MAX_MESSAGE 1400 /* Bytes; a datagram fits into an Ethernet frame */
#define UDP_WINDOW \
    32u                    /* Maximum number of unacknowledged datagrams of an
                            * endpoint */
#define UDP_FIRST_RTO 0.01 /* Minimum of the retransmission timeout, seconds */
#define UDP_MAX_RTO   0.2  /* Maximum of the retransmission timeout, seconds */

typedef struct udp_config {
    double timeout;   /* Seconds without an acknowledgement until the peer is
                       * lost */
    double keepalive; /* Seconds between probes of an idle peer; negative: the
                       * user's parameter of uct_iface_open() applies */
} udp_config_t;

/* Scope in which a loopback address is valid: a host, and a network namespace
 * on it. */
typedef struct udp_scope {
    uint64_t machine; /* ucx_host_t.machine_guid() */
    uint64_t network; /* Inode number of the network namespace */
} udp_scope_t;

/* Device address and interface address. IP address and port are in network byte
 * order. */
typedef struct udp_dev_addr {
    udp_scope_t scope; /* Compared for loopback addresses only */
    uint32_t ip;
    uint32_t reserved;
} udp_dev_addr_t;

typedef struct udp_iface_addr {
    uint16_t port;
} udp_iface_addr_t;

/* Kinds of datagrams. Messages and probes of a stream are numbered in one
 * sequence from 0. */
enum {
    UDP_KIND_MESSAGE,
    UDP_KIND_PROBE, /* Contains no message, but is acknowledged: an answer shows
                     * that the peer is alive */
    UDP_KIND_ACK,
};

/* Flag of an ACK: the receiver is alive, but drops datagrams until its user
 * calls progress. */
#define UDP_FLAG_BUSY 0x1u

/* Header of each datagram; little-endian. */
typedef struct udp_header {
    uint32_t magic;
    uint8_t kind;
    uint8_t id;      /* Id of the message's handler */
    uint16_t flags;  /* UDP_FLAG_*, in an ACK */
    uint32_t number; /* Number of the datagram. ACK: number of the next datagram
                      * that the receiver expects */
    uint32_t reserved2;
    uint64_t stream;   /* Id of the sender's stream. ACK: id of the stream that
                        * is acknowledged */
    uint64_t received; /* ACK: bit i is set if datagram `number` + 1 + i was
                        * received */
} udp_header_t;

#define UDP_MAGIC 0x5058434eu

typedef struct udp_packet {
    ucx_window_tx_t tx;  /* First member */
    size_t length;       /* Bytes of `data` that are used */
    udp_header_t header; /* `header` and `data` are sent together */
    char data[UDP_MAX_MESSAGE];
} udp_packet_t;

/* A received datagram that cannot be delivered yet: an earlier datagram is
 * missing, or the service thread, which must not call handlers of the user, has
 * received it. */
typedef struct udp_kept {
    ucx_window_rx_t rx; /* First member */
    uint8_t kind;
    uint8_t id;
    unsigned length;
    char data[];
} udp_kept_t;

/* A flush of a stream that waits until all datagrams sent before it are
 * acknowledged (udp_stream.flushes), or whose completion progress has to call
 * (udp_iface.done). */
typedef struct udp_done {
    struct udp_done *next;
    uint32_t number;     /* Number of the first datagram sent after the flush */
    ucs_status_t status; /* Status for the completion, in udp_iface.done */
    int of_iface; /* Part of a flush of the whole interface, which continues
                   * when the endpoint is destroyed */
    uct_completion_t *comp;
} udp_done_t;

/* Counters of an interface that UCX_STATS shows. */
enum {
    UDP_COUNT_SENT,
    UDP_COUNT_RETRANSMITTED,
    UDP_COUNT_RECEIVED,
    UDP_COUNT_REPEATED, /* Datagrams that had been received before */
    UDP_COUNT_LAST,
};

typedef struct udp_iface udp_iface_t;
typedef struct udp_ep udp_ep_t;

/* The sending half of an endpoint. A stream exists until all of its datagrams
 * are acknowledged, even if its endpoint is destroyed before. It is freed by
 * progress, or when the interface is closed. */
typedef struct udp_stream {
    struct udp_stream *next;
    udp_iface_t *iface;
    udp_ep_t *ep; /* NULL: the endpoint was destroyed */
    struct sockaddr_in peer;
    uint64_t id;         /* Random; identifies the stream to the receiver */
    ucx_window_t window; /* Unacknowledged datagrams (udp_packet_t) */
    ucs_status_t status; /* UCS_OK, or the error with which the stream has
                          * failed */
    int is_told;         /* The failure was reported */
    udp_done_t *flushes; /* Outstanding flushes, oldest first */
    ucx_pending_queue_t pending;
} udp_stream_t;

/* The receiver's state of a stream of a peer. */
typedef struct udp_source {
    struct udp_source *next;
    struct sockaddr_in peer;
    uint64_t stream;     /* Id of the stream */
    ucx_window_t window; /* Datagrams behind a missing one (udp_kept_t) */
} udp_source_t;

/* State of the service thread; see service.c. The guard protects it. */
typedef struct udp_service {
    ucx_async_id_t timer;     /* 0: there is no timer */
    unsigned seen_rounds;     /* Value of udp_iface.rounds when the timer last
                               * fired; if equal, the user does not progress */
    int is_running;           /* The code runs on the service thread, which
                               * holds the guard */
    ucx_window_rx_t *arrived; /* udp_kept_t that progress has to deliver */
    ucx_window_rx_t **arrived_tail;
    unsigned num_arrived; /* Number of entries of that list */
} udp_service_t;

struct udp_iface {
    uct_iface_t super; /* First member */
    ucx_guard_t guard; /* Held by the user's thread or the service thread
                        * while it accesses members that may change, streams
                        * or sources */
    const ucx_host_t *host;
    char dev_name[UCT_DEVICE_NAME_MAX];
    udp_dev_addr_t dev;    /* Device address and interface address of this */
    udp_iface_addr_t addr; /* interface */
    int socket;
    int epoll;   /* The event descriptor: contains `socket` and `timer` */
    int timer;   /* timerfd that wakes a sleeping user */
    int netlink; /* Socket on which the kernel reports changes of addresses */
    ucx_async_id_t watch; /* Asynchronous handler of `netlink` */
    int is_lost;          /* The device has lost its address */
    unsigned rounds;      /* Number of calls of progress */
    udp_service_t service;
    ucx_window_params_t window; /* Parameters of all windows of the interface */
    double keepalive;           /* Seconds between probes of an idle peer;
                                 * INFINITY: no probes */
    udp_stream_t *streams;      /* All streams to peers */
    udp_source_t *sources;      /* All streams from peers */
    udp_done_t *done;    /* Flushes whose completions progress has to call */
    unsigned num_failed; /* Number of failures that are not reported yet */
    uint64_t *counters;  /* Counters by UDP_COUNT_*; NULL: not counted */
};

struct udp_ep {
    uct_ep_t super; /* First member */
    udp_stream_t *stream;
};

/* stream.c */
udp_stream_t *udp_stream_create(udp_iface_t *iface, udp_ep_t *ep,
                                const struct sockaddr_in *peer);
void udp_stream_free(udp_stream_t *stream);
/* Returns a packet to fill and to pass to udp_stream_send(); NULL with the
 * reason in *status_p. */
udp_packet_t *udp_stream_reserve(udp_stream_t *stream, ucs_status_t *status_p);
void udp_stream_send(udp_stream_t *stream, udp_packet_t *packet, uint8_t kind,
                     uint8_t id, size_t length);
/* Sends a datagram that contains no message but must be acknowledged. */
void udp_stream_probe(udp_stream_t *stream);
/* Processes an ACK with these members of udp_header_t, at time `now`. */
void udp_stream_acked(udp_stream_t *stream, uint32_t number, uint64_t received,
                      double now);
ucs_status_t udp_stream_flush(udp_stream_t *stream, uct_completion_t *comp);
/* Retransmits the packets that the window (ucx/window.h) considers lost. */
void udp_stream_retransmit(udp_stream_t *stream, double now);
/* Marks the stream as failed; the next progress reports it. */
void udp_stream_fail(udp_stream_t *stream, ucs_status_t status);
/* Makes progress complete all flushes with the status (those of the interface
 * with UCS_OK), and drops unacknowledged datagrams. */
void udp_stream_cancel(udp_stream_t *stream, ucs_status_t status);

/* timer.c */
/* Checks what is due at time `now`: retransmits, sends a probe, or fails the
 * stream if the peer has not answered for too long. */
void udp_stream_check_time(udp_stream_t *stream, double now);

/* source.c */
typedef enum udp_order {
    UDP_ORDER_UNKNOWN,  /* The stream is unknown: ignore the datagram */
    UDP_ORDER_NEXT,     /* Deliver the datagram, then those that were kept and
                         * follow it */
    UDP_ORDER_REPEATED, /* The datagram was received before */
    UDP_ORDER_KEPT,     /* An earlier datagram is missing: a copy of this one
                         * was kept */
} udp_order_t;
/* Compares the number of a datagram with the numbers of the datagrams that were
 * received before in its stream. *source_p receives the state of the stream,
 * unless the stream is unknown. */
udp_order_t udp_source_accept(udp_iface_t *iface,
                              const struct sockaddr_in *peer,
                              const udp_header_t *header, const char *data,
                              unsigned length, udp_source_t **source_p);
/* Finds the state of a stream, or creates it if the datagram has number 0.
 * NULL: the stream is unknown, or out of memory. */
udp_source_t *udp_source_find(udp_iface_t *iface,
                              const struct sockaddr_in *peer,
                              const udp_header_t *header);
/* Returns a copy of a datagram, or NULL if out of memory. */
udp_kept_t *udp_kept_create(const udp_header_t *header, const char *data,
                            unsigned length);
void udp_sources_free(udp_iface_t *iface);
int udp_is_same_peer(const struct sockaddr_in *a, const struct sockaddr_in *b);

/* watch.c */
/* Starts to monitor the address of the device. When the device loses the
 * address, all endpoints fail. */
ucs_status_t udp_watch_start(udp_iface_t *iface);
void udp_watch_stop(udp_iface_t *iface);

/* device.c */
udp_scope_t udp_scope(const ucx_host_t *host);
ucs_status_t udp_query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                               unsigned *num_p);
/* Returns 0 if there is no such device, or if it has no address. */
int udp_find_address(const char *name, uint32_t *ip_p);
int udp_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args);

/* receive.c */
/* Receives and processes one datagram. Returns 0 if none has arrived. *count_p
 * is incremented if the datagram belongs to this transport. */
int udp_receive(udp_iface_t *iface, unsigned *count_p);
/* Delivers a message and frees it. */
void udp_deliver(udp_iface_t *iface, udp_kept_t *kept);

/* service.c */
void udp_service_start(udp_iface_t *iface);
/* Removes the timer and drops messages that were not delivered. */
void udp_service_stop(udp_iface_t *iface);
/* Returns whether the service thread may accept another message: not too many
 * wait for progress. */
int udp_service_is_open(const udp_iface_t *iface);
/* Queues a message for the next progress. */
void udp_service_defer(udp_iface_t *iface, udp_kept_t *kept);
/* Delivers the messages that the service thread has received; returns their
 * number. */
unsigned udp_service_deliver(udp_iface_t *iface);

/* progress.c */
/* Appends a flush to the list; NULL: out of memory. `number`: see
 * udp_done_t. */
udp_done_t *udp_done_create(udp_done_t **list, uct_completion_t *comp,
                            uint32_t number);
/* Frees a flush whose completion will not be called. */
void udp_done_free(udp_done_t *done);
/* Queues a flush in iface->done: progress calls its completion with
 * `status`. */
void udp_iface_complete(udp_iface_t *iface, udp_done_t *done,
                        ucs_status_t status);
/* Returns whether everything that was sent is acknowledged. */
int udp_iface_is_idle(const udp_iface_t *iface);
unsigned udp_iface_progress(uct_iface_h iface);
ucs_status_t udp_iface_flush(uct_iface_h iface, unsigned flags,
                             uct_completion_t *comp);

/* iface.c */
extern const ucx_transport_t udp_transport;

/* ep.c */
extern const ucx_ep_ops_t udp_ep_ops;
ucs_status_t udp_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                           uct_ep_h *ep_p);

#endif
