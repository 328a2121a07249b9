/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unreliable datagrams: one queue pair for all endpoints of an interface.
 * <ucx/window.h> makes a connection reliable: sequence numbers,
 * acknowledgements and retransmissions.
 *
 * A connection is a pair of endpoints of two interfaces. When a peer requests a
 * new connection, this side creates an endpoint that does not belong to the
 * user yet (no UD_EP_USED). When the user next creates an endpoint to that
 * peer, the user gets this endpoint. An endpoint that the user has destroyed is
 * kept until the peer's user has destroyed the other endpoint of the
 * connection, because the peer may still send.
 *
 * While the user does not call progress, a service thread of the core runs a
 * timer's handler that receives and acknowledges packets (ud_service.c). Unless
 * a comment says otherwise, only the thread that holds ud_iface_t.guard may
 * access the state of an interface.
 *
 * Each send work request of an interface has a sequence number (`sn`). The
 * device may read the buffer of a request until `done_sn` is greater than that
 * number.
 */
#ifndef IB_UD_H
#define IB_UD_H

#include "chunk.h"
#include "list.h"
#include "md.h"
#include "port.h"
#include "ud_wire.h"
#include "watch.h"

#include <ucx/am.h>
#include <ucx/guard.h>
#include <ucx/pending.h>
#include <ucx/window.h>

typedef struct ud_iface ud_iface_t;
typedef struct ud_ep ud_ep_t;

enum {
    UD_MAX_IOV      = 8,    /* Maximum segments of a zero-copy message */
    UD_MAX_HEADER   = 128,  /* Maximum bytes of a zero-copy message's header */
    UD_GRH_LENGTH   = 40,   /* Bytes of the global routing header that precedes
                             * every received datagram */
    UD_MIN_INLINE   = 64,   /* Minimum bytes of inline data of a work request:
                             * acknowledgements and control packets fit */
    UD_PEER_BUCKETS = 1024, /* Hash buckets of ud_iface_t.peers */
    UD_AH_BUCKETS   = 256,  /* Hash buckets of ud_iface_t.ahs */
    /* The low bits of an endpoint's id are its index in ud_iface_t.slots. The
     * higher bits change with each use of the slot */
    UD_INDEX_BITS   = 20,
};

_Static_assert(sizeof(ud_wire_control_t) <= UD_MIN_INLINE, "fits inline");

/* A packet to send, which is kept until it is acknowledged. */
typedef struct ud_desc {
    ucx_window_tx_t tx; /* Node in the window's list, or in
                         * ud_iface_t.leaving */
    ud_ep_t *ep;
    uct_completion_t *comp; /* Completion of a zero-copy message, or NULL */
    uint32_t sn;            /* Sequence number of the last work request that
                             * sends the packet */
    uint32_t lkey;          /* Local key of `data` */
    uint32_t length;        /* Bytes of `data` */
    int8_t status;   /* Valid while the packet is in ud_iface_t.leaving: the
                      * status for `comp` */
    uint8_t num_sge; /* Number of entries of `sge` that are used */
    struct ibv_sge sge[UD_MAX_IOV]; /* The user's memory, sent after `data` */
    char data[] __attribute__((aligned(16))); /* Begins with ud_wire_t */
} ud_desc_t;

/*
 * A receive buffer. The device writes a global routing header (GRH; undefined
 * bytes if the packet had none), the packet's header and the message. The
 * packet's header and the GRH are not needed when a message is delivered. They
 * are then overwritten by the owner's word, which points to
 * ud_iface_t.recv_owner, and by the headroom, which is space for the user.
 *
 *   | ud_recv_t | ... | GRH (40) | ud_wire_t | message ...
 *          ... owner's word | headroom       ^ recv_data, aligned
 */
typedef struct ud_recv {
    ucx_window_rx_t rx; /* rx.next also links ud_iface_t.recv_free and
                         * ud_iface_t.deferred */
    uint32_t lkey;      /* Local key of the buffer */
    uint32_t length;    /* Bytes of the message */
    uint8_t kind, id;   /* Of ud_wire_t, `kind` without flags */
} ud_recv_t;

/* A flush that waits until all packets before number `psn` are acknowledged. */
typedef struct ud_flush {
    struct ud_flush *next; /* Next in ud_ep_t.flushes */
    uct_completion_t *comp;
    uint32_t psn;
} ud_flush_t;

/* An address handle. All peers with the same remote port share it. */
typedef struct ud_ah {
    struct ud_ah *next; /* Next in the bucket of ud_iface_t.ahs */
    struct ibv_ah *ah;
    ib_wire_device_t device; /* Address of the remote port */
} ud_ah_t;

/* A remote interface. The structure is created before its first endpoint, and
 * is freed when its last endpoint is removed or this interface is closed. */
typedef struct ud_peer {
    struct ud_peer *next; /* Next in the bucket of ud_iface_t.peers */
    ud_ah_t *ah;
    ud_wire_iface_t iface; /* The peer's address in wire format */
    uint32_t qpn;          /* Number of the peer's queue pair, in host order */
    uint32_t next_ordinal; /* ud_ep_t.ordinal of the next connection that this
                            * side starts */
    ud_ep_t *eps;          /* Endpoints, linked by ud_ep_t.next_of_peer */
} ud_peer_t;

/* Flags of ud_ep_t.state. */
enum {
    UD_EP_CONNECTED = 1 << 0, /* Packets can be sent and received */
    UD_EP_CONFIRMED = 1 << 1, /* A packet has shown that the peer knows `id` */
    UD_EP_USED      = 1 << 2, /* The endpoint belongs to the user */
    UD_EP_LEFT      = 1 << 3, /* The user has destroyed the endpoint */
    UD_EP_FIN_SENT  = 1 << 4, /* UD_FIN is in the window, or was acknowledged */
    UD_EP_FIN_TAKEN = 1 << 5, /* UD_FIN was received: the peer's user has
                               * destroyed the peer's endpoint */
    UD_EP_GONE      = 1 << 6, /* The peer has closed the connection: the next
                               * send fails the endpoint */
    UD_EP_FAILED    = 1 << 7, /* Every send returns ud_ep_t.status */
    /* The service thread has dropped packets that this endpoint has received,
     * because too few receive buffers were free. Until the user's next progress
     * (end_holding() in ud_progress.c), the acknowledgements that this endpoint
     * sends have the flag UD_BUSY, so that the peer sends no new packets */
    UD_EP_HOLDS     = 1 << 8,
};

/* An endpoint. Times are in seconds, as ud_time() returns them. */
struct ud_ep {
    uct_ep_t super;
    ucx_window_t window; /* Sequence numbers and unacknowledged packets */
    struct ibv_ah *ah;
    uint32_t qpn;       /* Number of the peer's queue pair */
    uint32_t remote;    /* The peer's id of the connection; 0: not known */
    uint32_t id;        /* Id of this endpoint, which the peer's packets contain
                         * (ud_slot_t.id) */
    uint32_t ordinal;   /* Number of the connection among those of the two
                         * interfaces (ud_connect.c) */
    uint32_t asked_psn; /* The peer was asked to acknowledge all packets before
                         * this sequence number */
    uint16_t state;     /* UD_EP_* */
    int8_t status;      /* Valid with UD_EP_FAILED: the reason */
    /* Number of functions on the call stack that still use the endpoint, so
     * that it must not be freed */
    uint8_t busy;
    uint8_t is_late; /* The deadline has passed during a pause of progress, and
                      * was postponed once */
    /* Number of the endpoint's packets in ud_iface_t.leaving */
    unsigned leaving;
    double connect_at;  /* Time of the next UD_CONNECT */
    double started;     /* Time of the first UD_CONNECT */
    double connect_rto; /* Seconds from one UD_CONNECT to the next */
    ud_flush_t *flushes, **flushes_tail; /* Outstanding flushes, oldest first */
    ucx_pending_queue_t pending;         /* The user's pending requests */
    /* Nodes in the lists of ud_iface_t that have the same names */
    ib_link_t active;
    ib_link_t owing;
    ib_link_t resending;
    ib_link_t ready;
    ib_link_t failed;
    ud_peer_t *peer;
    ud_ep_t *next_of_peer; /* Next in ud_peer_t.eps */
};

/* The timer of the service (ud_service.c). A tick is one call of the timer's
 * handler. */
typedef struct ud_service {
    ucx_async_id_t id;    /* Id of the timer; while it is paused, of the handler
                           * for the completion channel. 0: not started */
    unsigned seen_rounds; /* ud_iface_t.rounds at the last tick */
    unsigned quiet;       /* Number of consecutive ticks with nothing to do */
    int is_paused;        /* The timer is stopped, because the user sleeps */
    int is_slow;   /* Accessed atomically: the timer has the longer interval */
    unsigned busy; /* Number of consecutive ticks between which the user made
                    * progress; accessed atomically */
    /* ud_service_check() examines endpoints without a user. ticks: number of
     * ticks with progress since the last check; check_ticks: number of such
     * ticks from one check to the next */
    unsigned ticks, check_ticks;
    int is_due;         /* Progress has to start or to continue a check */
    uint32_t next_slot; /* Index in ud_iface_t.slots with which the check
                         * continues */
} ud_service_t;

/* Data to compute the time from the processor's counter (ud_ticks()) between
 * two readings of the clock (ud_clock.c). A tick is one step of the counter. */
typedef struct ud_clock {
    uint64_t ticks; /* Value of the counter before the last reading */
    uint64_t slack; /* Duration of the last reading in ticks */
    uint64_t span;  /* Ticks after which the clock is read again; 0: read it
                     * each time */
    double time;    /* Result of the last reading in seconds; 0: none yet */
    double period;  /* Seconds per tick; 0: unknown */
} ud_clock_t;

/* Returns the value of a counter that runs at a constant rate, or 0 if this
 * processor has none that the plugin knows. */
static inline uint64_t ud_ticks(void)
{
#if defined(__x86_64__) && !defined(UD_SIMULATED_TIME)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

enum {
    /* An interface without endpoints polls only if `rounds` is a multiple of
     * this number, a power of two. */
    UD_IDLE_ROUNDS = 16,
};

/* An entry of the table that finds an endpoint by its id. */
typedef struct ud_slot {
    ud_ep_t *ep; /* NULL: the slot is free */
    uint32_t id; /* Id of the endpoint, or of the last endpoint that used the
                  * slot */
    uint32_t next_free; /* Index of the next free slot; UINT32_MAX: none */
} ud_slot_t;

/* An interface. Times are in seconds, as ud_time() returns them. */
struct ud_iface {
    uct_iface_t super;
    ib_md_t *md;
    const ucx_host_t *host;
    ib_port_t port;
    ib_watch_t watch; /* Reports failures of the port and the device */
    ib_ud_config_t config;
    ucx_window_params_t window_params; /* For the windows of all endpoints */
    struct ibv_qp *qp;
    struct ibv_cq *send_cq, *recv_cq;
    struct ibv_comp_channel *channel; /* Signals events of both
                                       * completion queues */
    int timer_fd, event_fd;  /* event_fd is the user's descriptor for wake-up,
                              * an epoll set of `channel` and timer_fd */
    double timer_at;         /* Time at which timer_fd expires; 0: not set */
    int armed;               /* Both completion queues signal their next
                              * completion */
    ud_wire_iface_t address; /* The address of this interface */
    ib_wire_device_t device; /* The address of the port */
    size_t mtu;              /* Maximum bytes of a datagram */
    uint64_t random; /* State of the generator of first sequence numbers */
    double now;      /* Result of the last ud_time() */
    ud_clock_t clock;
    /* Sending */
    uint32_t sn, done_sn; /* Sequence numbers: next request, oldest incomplete
                           * request */
    /* queue_len: maximum number of outstanding requests; moderation: at least
     * one in so many requests is signaled */
    unsigned queue_len, moderation;
    /* Numbers of requests: since the last signaled one; signaled and not
     * completed */
    unsigned unsignaled, num_signaled;
    unsigned max_inline, max_iov; /* Of a request: bytes of inline data, and
                                   * entries of user memory */
    /* Nothing can be sent: the queue pair is in the error state, or the device
     * is lost */
    int is_down;
    ucx_mpool_t *descs, *flushes; /* ud_desc_t, ud_flush_t */
    /* List of packets that are acknowledged or failed, but cannot be released
     * yet: the device may still use the buffer, or the user's thread has to
     * call the completion */
    ud_desc_t *leaving;
    /* Receiving */
    ib_chunk_t *recv_chunks; /* Memory of all receive buffers */
    ud_recv_t *recv_free;    /* List of buffers that hold no data and are not
                              * posted */
    /* Numbers of receive buffers: in recv_free, kept by the user, all */
    unsigned num_recv_free, num_recv_kept, num_recv;
    unsigned num_recv_posted; /* Number of posted buffers that are not yet
                               * completed */
    size_t headroom;  /* Bytes that the user has reserved before the message in
                       * a receive buffer */
    size_t recv_data; /* Offset of the message in a receive buffer, in bytes */
    ucx_recv_desc_owner_t recv_owner; /* Gets buffers that users release */
    /* Connections */
    ud_slot_t *slots;              /* Endpoints by the low bits of their id */
    uint32_t num_slots, free_slot; /* Length of `slots`; index of the first free
                                    * slot, or UINT32_MAX */
    unsigned num_eps; /* Number of endpoints; accessed atomically */
    ud_peer_t *peers[UD_PEER_BUCKETS]; /* Hash table of remote interfaces */
    ud_ah_t *ahs[UD_AH_BUCKETS];       /* Hash table of remote ports */
    unsigned num_ahs;                  /* Number of address handles in `ahs` */
    /* Lists of endpoints. active: with a deadline; owing: have to send an
     * acknowledgement; resending: have to send lost packets or UD_FIN; ready:
     * the user's thread has to call callbacks, or to dispatch pending requests;
     * failed: the error handler was not called yet */
    ib_link_t active, owing, resending, ready, failed;
    /* Not later than the deadline of any endpoint in `active`, except that two
     * checks of the deadlines are at least min_rto / 8 apart */
    double next_deadline;
    /* The service thread (ud_service.c) */
    ucx_guard_t guard;
    ud_service_t service;
    unsigned rounds;                      /* Incremented by each call of
                                           * progress; ud_event_arm() increases
                                           * it so that the next call polls
                                           * (UD_IDLE_ROUNDS). Accessed
                                           * atomically */
    int in_service;                       /* The service thread holds `guard`:
                                           * the user's callbacks must not be
                                           * called */
    int has_deferred;                     /* The user's next progress has to do
                                           * work that the service thread has
                                           * left, or to continue a check */
    int has_held;                         /* An endpoint has UD_EP_HOLDS */
    ud_recv_t *deferred, **deferred_tail; /* Messages that the service thread
                                           * has received, oldest first */
    /* Number of rounds of progress since next_deadline has passed in which the
     * check of the deadlines was postponed */
    unsigned late;
    int is_closing; /* The interface is closed: messages are dropped */
    /* Numbers of dropped packets: invalid ones, and those that belong to no
     * connection */
    uint64_t num_bad, num_stale;
};

static inline ud_iface_t *ud_iface_of(ud_ep_t *ep)
{
    return (ud_iface_t *)ep->super.iface;
}

/* Reads the clock, and measures the counter's period (ud_clock.c). */
double ud_clock_read(ud_iface_t *iface);

/* Returns the time and stores it in iface->now. Hot path: reading the clock is
 * expensive, so the time between two readings is computed from the processor's
 * counter (ud_clock.c). */
static inline double ud_time(ud_iface_t *iface)
{
    uint64_t ticks = ud_ticks() - iface->clock.ticks;

    if (ib_unlikely(ticks >= iface->clock.span)) {
        return ud_clock_read(iface);
    }
    return iface->now = iface->clock.time +
                        ((double)ticks * iface->clock.period);
}

/* --- ud_iface.c, ud_qp.c, ud_event.c, ud_transport.c ---------------------- */

ucs_status_t ud_iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                           uct_iface_h *iface_p);
void ud_iface_close(uct_iface_h iface);
ucs_status_t ud_iface_query(uct_iface_h iface, ucx_iface_attr_t *attr);

ucs_status_t ud_qp_create(ud_iface_t *iface);
/* Called when a work request or the queue pair has failed. All posted requests
 * complete with errors, then ud_qp_restart() makes the queue pair usable again.
 * The packets of these requests are lost and will be retransmitted. */
void ud_qp_failed(ud_iface_t *iface);
/* Called by progress while iface->is_down is set. Does nothing while receive
 * buffers are posted or if the device is lost. */
void ud_qp_restart(ud_iface_t *iface);

ucs_status_t ud_event_init(ud_iface_t *iface);
void ud_event_cleanup(ud_iface_t *iface);
ucs_status_t ud_event_fd_get(uct_iface_h iface, int *fd_p);
ucs_status_t ud_event_arm(uct_iface_h iface, unsigned events);

/* --- ud_lost.c: events of the device -------------------------------------- */

ucs_status_t ud_watch_start(ud_iface_t *iface);

/* --- ud_recv.c ------------------------------------------------------------ */

ucs_status_t ud_recv_init(ud_iface_t *iface);
void ud_recv_cleanup(ud_iface_t *iface);
/* Adds a buffer to recv_free. */
void ud_recv_put(ud_iface_t *iface, ud_recv_t *recv);
/* Posts buffers of recv_free until the receive queue is full or the list is
 * empty. */
void ud_recv_post(ud_iface_t *iface);
/* Polls recv_cq and handles the packets. Returns the number of completions. */
unsigned ud_recv_poll(ud_iface_t *iface);
/* Delivers the messages in ud_iface_t.deferred. Must be called by the user's
 * thread. Returns the number of messages. */
unsigned ud_recv_deliver_deferred(ud_iface_t *iface);

/* --- ud_progress.c -------------------------------------------------------- */

unsigned ud_iface_progress(uct_iface_h iface);
unsigned ud_poll_sends(ud_iface_t *iface);
/* Sends acknowledgements that are due, or that acknowledge at least `enough`
 * packets. */
void ud_send_acks(ud_iface_t *iface, unsigned enough);
/* Adds the endpoint to ud_iface_t.owing, if it has received packets that are
 * not acknowledged: at the front if window.ack_now is set, otherwise at the
 * end. */
void ud_owe_ack(ud_iface_t *iface, ud_ep_t *ep);
/* Adds the endpoint to ud_iface_t.active. `deadline`: not later than the
 * earliest deadline of the endpoint. */
void ud_watch(ud_iface_t *iface, ud_ep_t *ep, double deadline);
/* Handles deadlines that have passed, and sends lost packets again. */
void ud_handle_deadlines(ud_iface_t *iface);
/* Handles a received acknowledgement: `ack` of ud_wire_t, and `sack` of
 * ud_wire_ack_t, which is 0 in other packets. */
void ud_take_ack(ud_iface_t *iface, ud_ep_t *ep, uint32_t ack, uint64_t sack);

/* --- ud_ep.c -------------------------------------------------------------- */

ucs_status_t ud_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                          uct_ep_h *ep_p);
void ud_ep_destroy(uct_ep_h ep);
/* Creates an endpoint that does not belong to the user (no UD_EP_USED). Returns
 * NULL if there is no memory, or if 2^UD_INDEX_BITS endpoints exist. */
ud_ep_t *ud_ep_new(ud_iface_t *iface, ud_peer_t *peer, uint32_t ordinal);
void ud_ep_free(ud_ep_t *ep);
/* If the endpoint does not belong to the user: sends UD_FIN when a user has
 * destroyed one end of the connection, and frees the endpoint when the
 * connection is over. `ep` may be invalid afterwards. */
void ud_ep_finish(ud_ep_t *ep);
/* Fails the endpoint: it accepts no more sends, and outstanding packets
 * complete with errors. With `tell`, progress calls the user's error handler,
 * if the endpoint belongs to the user, after all packets are released. */
void ud_ep_fail(ud_ep_t *ep, ucs_status_t status, int tell);
/* Called when the peer has closed the connection. An endpoint of the user
 * without outstanding packets and pending requests fails with the next send,
 * any other endpoint now. On the service thread, the user's next progress
 * decides. */
void ud_ep_gone(ud_ep_t *ep);
/* Returns the endpoint with this id, or NULL. */
ud_ep_t *ud_ep_by_id(const ud_iface_t *iface, uint32_t id);
ucs_status_t ud_ep_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                               unsigned flags);
void ud_ep_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                         void *arg);

/* --- ud_flush.c ----------------------------------------------------------- */

ucs_status_t ud_ep_flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp);
ucs_status_t ud_ep_fence(uct_ep_h ep, unsigned flags);
ucs_status_t ud_ep_check(uct_ep_h ep, unsigned flags, uct_completion_t *comp);
ucs_status_t ud_ep_invalidate(uct_ep_h ep, unsigned flags);
ucs_status_t ud_iface_flush(uct_iface_h iface, unsigned flags,
                            uct_completion_t *comp);
/* Completes with `status` the flushes of which all packets are acknowledged and
 * released. Packets of a failed endpoint count as acknowledged. On the service
 * thread, leaves this to the user's next progress. */
void ud_flush_end(ud_ep_t *ep, ucs_status_t status);
/* Returns whether a packet other than UD_FIN is not acknowledged. */
int ud_ep_has_data(const ud_ep_t *ep);

/* --- ud_peer.c, ud_connect.c ---------------------------------------------- */

/* Returns the address handle of a remote port, and creates it if there is none.
 * Returns NULL on failure, with the reason in *status_p. */
ud_ah_t *ud_ah_get(ud_iface_t *iface, const ib_wire_device_t *device,
                   ucs_status_t *status_p);
void ud_peers_cleanup(ud_iface_t *iface);
/* Returns the peer with this address, and creates it if there is none. Returns
 * NULL on failure, with the reason in *status_p. */
ud_peer_t *ud_peer_get(ud_iface_t *iface, const ib_wire_device_t *device,
                       const ud_wire_iface_t *address, ucs_status_t *status_p);
void ud_peer_add(ud_peer_t *peer, ud_ep_t *ep);
/* Removes an endpoint from its peer, and frees the peer if it has no other
 * endpoint. */
void ud_peer_remove(ud_iface_t *iface, ud_ep_t *ep);
/* Calls ud_ep_gone() for the connections to earlier processes that used the
 * same port and queue pair number as `peer`. */
void ud_peer_replace_old(ud_iface_t *iface, const ud_peer_t *peer);

/* Sends UD_CONNECT, and sets the time of the next one. */
void ud_connect(ud_iface_t *iface, ud_ep_t *ep);
/* A packet of the peer for this endpoint has arrived, which is not connected.
 * The packet contains the endpoint's id, so the connection exists if the peer
 * had requested it: connects the endpoint and returns 1. Otherwise returns
 * 0. */
int ud_connect_again(ud_iface_t *iface, ud_ep_t *ep);
/* Sends a control packet of this kind to the peer of the endpoint. Returns 0 if
 * there are no send resources. */
int ud_send_control(ud_iface_t *iface, ud_ep_t *ep, ud_kind_t kind);
/* Handles a received control packet. */
void ud_control_arrived(ud_iface_t *iface, const ud_wire_control_t *control);

#endif
