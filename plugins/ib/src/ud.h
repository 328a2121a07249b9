/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams: one queue pair for all endpoints of an interface. <ucx/window.h>
 * provides the reliability.
 *
 * Each connection has an endpoint from its start. An endpoint that a peer's
 * request has created does not belong to the user yet (no UD_EP_USED); when the
 * user next creates an endpoint to that peer, the user gets this endpoint. An
 * endpoint that the user has destroyed is kept until the peer has destroyed its
 * own, because the peer may still send.
 *
 * The service thread receives and acknowledges while the user makes no progress
 * (ud_service.c). Unless a comment says otherwise, only the thread that holds
 * `guard` may access the state of an interface.
 *
 * Each work request of an interface has a sequence number (`sn`), which shows
 * whether the device still uses a buffer.
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
    UD_MAX_IOV      = 8,   /* Maximum segments of a zero-copy message */
    UD_MAX_HEADER   = 128, /* Maximum bytes of a zero-copy message's header */
    UD_GRH_LENGTH   = 40,  /* Bytes of the global routing header that precedes
                            * every received datagram */
    UD_MIN_INLINE   = 64,  /* Inline data of a work request, in bytes:
                            * acknowledgements and control packets fit */
    UD_PEER_BUCKETS = 1024,
    UD_AH_BUCKETS   = 256,
    UD_INDEX_BITS   = 20, /* Low bits of a connection's id: index; higher bits:
                           * generation */
};

_Static_assert(sizeof(ud_wire_control_t) <= UD_MIN_INLINE, "fits inline");

/* A packet that is kept until it is acknowledged. */
typedef struct ud_desc {
    ucx_window_tx_t tx;
    ud_ep_t *ep;
    uct_completion_t *comp; /* Completion of a zero-copy message */
    uint32_t sn;            /* Sequence number of the last work request that
                             * sends the packet */
    uint32_t lkey;
    uint32_t length; /* Bytes of `data` */
    int8_t status;   /* Final status, while the packet is in
                      * ud_iface_t.leaving */
    uint8_t num_sge; /* Number of segments of user memory after `data` */
    struct ibv_sge sge[UD_MAX_IOV];
    char data[] __attribute__((aligned(16))); /* Begins with ud_wire_t */
} ud_desc_t;

/*
 * A receive buffer. The device writes a global header (undefined bytes if the
 * packet had none), the packet's header and the message.
 *
 *   | ud_recv_t | ... | GRH (40) | ud_wire_t | message ...
 *          ... owner's word | headroom       ^ recv_data, aligned
 */
typedef struct ud_recv {
    ucx_window_rx_t rx; /* `next` also links free buffers */
    uint32_t lkey;
    uint32_t length; /* Length of the message */
    uint8_t kind, id;
} ud_recv_t;

/* A flush that waits until all packets before number `psn` are acknowledged. */
typedef struct ud_flush {
    struct ud_flush *next;
    uct_completion_t *comp;
    uint32_t psn;
} ud_flush_t;

/* An address handle. All peers behind one port share it. */
typedef struct ud_ah {
    struct ud_ah *next;
    struct ibv_ah *ah;
    ib_wire_device_t device;
} ud_ah_t;

/* A remote interface to which there are connections. */
typedef struct ud_peer {
    struct ud_peer *next;
    ud_ah_t *ah;
    ud_wire_iface_t iface; /* Its address in wire format */
    uint32_t qpn;
    uint32_t next_ordinal;
    ud_ep_t *eps;
} ud_peer_t;

enum {
    UD_EP_CONNECTED = 1 << 0, /* The peer's id of the connection is known */
    UD_EP_CONFIRMED = 1 << 1, /* The peer has confirmed the connection */
    UD_EP_USED      = 1 << 2, /* The endpoint belongs to the user */
    UD_EP_LEFT      = 1 << 3, /* The user has destroyed the endpoint */
    UD_EP_FIN_SENT  = 1 << 4,
    UD_EP_FIN_TAKEN = 1 << 5, /* The peer's user has destroyed its endpoint */
    UD_EP_GONE      = 1 << 6, /* The peer has closed: the next send fails */
    UD_EP_FAILED    = 1 << 7, /* Every send returns `status` */
    /* The service thread has dropped packets for lack of buffers. The
     * acknowledgements make the peer wait (UD_BUSY) */
    UD_EP_HOLDS     = 1 << 8,
};

struct ud_ep {
    uct_ep_t super;
    ucx_window_t window;
    struct ibv_ah *ah;
    uint32_t qpn;    /* Queue pair number of the peer */
    uint32_t remote; /* The peer's id of the connection */
    uint32_t id;     /* Id of this endpoint */
    uint32_t ordinal;
    uint32_t asked_psn; /* An acknowledgement was requested up to this number */
    uint16_t state;     /* UD_EP_* */
    int8_t status;
    /* Number of callers that still use the endpoint: do not free */
    uint8_t busy;
    uint8_t is_late; /* The deadline was postponed */
    /* Number of its buffers in ud_iface_t.leaving */
    unsigned leaving;
    double connect_at; /* Time of the next connection request */
    double started;    /* Time of the first request */
    double connect_rto;
    ud_flush_t *flushes, **flushes_tail;
    ucx_pending_queue_t pending;
    ib_link_t active;    /* In the list of endpoints with a deadline */
    ib_link_t owing;     /* In the list of endpoints that have to send an
                          * acknowledgement */
    ib_link_t resending; /* In the list of endpoints that have lost packets or a
                          * FIN to send */
    ib_link_t ready;     /* In the list of endpoints with work for the user's
                          * thread */
    ib_link_t failed;    /* In the list of failed endpoints whose error handler
                          * was not called yet */
    ud_peer_t *peer;
    ud_ep_t *next_of_peer;
};

/* The timer of the service. */
typedef struct ud_service {
    ucx_async_id_t id;    /* Id of the timer, or of the channel's handler while
                           * the timer is paused */
    unsigned seen_rounds; /* ud_iface_t.rounds at the last tick */
    unsigned quiet;       /* Number of consecutive ticks without work */
    int is_paused;
    int is_slow;   /* Accessed atomically: the timer has the longer interval */
    unsigned busy; /* Number of consecutive ticks between which the user made
                    * progress; accessed atomically */
    unsigned ticks, check_ticks; /* Ticks with progress since the last check of
                                  * endpoints without a user, and between two
                                  * such checks */
    int is_due;                  /* A check is requested or has begun */
    uint32_t next_slot;          /* Slot with which the check continues */
} ud_service_t;

/* Converts the processor's counter to time since the clock was read. */
typedef struct ud_clock {
    uint64_t ticks; /* Counter at the last reading of the clock */
    uint64_t slack; /* Duration of that reading in ticks */
    uint64_t span;  /* Ticks after which the clock is read again; 0: read it
                     * each time */
    double time;    /* Time of the last reading in seconds */
    double period;  /* Seconds per tick; 0: unknown */
} ud_clock_t;

/* Returns a counter that runs at a constant rate; 0 if none is known for this
 * processor. */
static inline uint64_t ud_ticks(void)
{
#if defined(__x86_64__) && !defined(UD_SIMULATED_TIME)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

enum {
    /* An interface without connections polls once in this many rounds. */
    UD_IDLE_ROUNDS = 16,
};

typedef struct ud_slot {
    ud_ep_t *ep;
    uint32_t id; /* Id of the endpoint, or of the last endpoint that used the
                  * slot */
    uint32_t next_free;
} ud_slot_t;

struct ud_iface {
    uct_iface_t super;
    ib_md_t *md;
    const ucx_host_t *host;
    ib_port_t port;
    ib_watch_t watch;
    ib_ud_config_t config;
    ucx_window_params_t window_params;
    struct ibv_qp *qp;
    struct ibv_cq *send_cq, *recv_cq;
    struct ibv_comp_channel *channel;
    int timer_fd, event_fd;
    double timer_at; /* Time at which timer_fd expires; 0: not set */
    int armed;
    ud_wire_iface_t address;
    ib_wire_device_t device;
    size_t mtu; /* Maximum bytes of a datagram */
    uint64_t random;
    double now;
    ud_clock_t clock;
    /* Sending */
    uint32_t sn, done_sn; /* Sequence numbers: next request, oldest incomplete
                           * request */
    unsigned queue_len, moderation;
    unsigned unsignaled, num_signaled;
    unsigned max_inline, max_iov;
    /* The queue pair is in the error state */
    int is_down;
    ucx_mpool_t *descs, *flushes;
    /* Acknowledged packets that the device still uses */
    ud_desc_t *leaving;
    /* Receiving */
    ib_chunk_t *recv_chunks;
    ud_recv_t *recv_free;
    unsigned num_recv_free, num_recv_kept, num_recv;
    unsigned num_recv_posted;
    size_t headroom;
    size_t recv_data;
    ucx_recv_desc_owner_t recv_owner;
    /* Connections */
    ud_slot_t *slots;
    uint32_t num_slots, free_slot;
    unsigned num_eps; /* Accessed atomically */
    unsigned skipped; /* Rounds of progress without a poll */
    ud_peer_t *peers[UD_PEER_BUCKETS];
    ud_ah_t *ahs[UD_AH_BUCKETS];
    unsigned num_ahs;
    ib_link_t active, owing, resending, ready, failed;
    /* Not later than any deadline in `active` */
    double next_deadline;
    /* The service */
    ucx_guard_t guard;
    ud_service_t service;
    unsigned rounds;                      /* Number of calls of progress;
                                           * accessed atomically */
    int in_service;                       /* The service thread runs: callbacks
                                           * must not be called */
    int has_deferred;                     /* Messages or failures wait for
                                           * progress */
    int has_held;                         /* An endpoint has UD_EP_HOLDS */
    ud_recv_t *deferred, **deferred_tail; /* Messages that the service has
                                           * received, in order */
    /* Number of rounds in which deadlines were not checked */
    unsigned late;
    int is_closing; /* Messages are not delivered */
    /* Numbers of dropped packets: invalid ones, and those of no open
     * connection */
    uint64_t num_bad, num_stale;
};

static inline ud_iface_t *ud_iface_of(ud_ep_t *ep)
{
    return (ud_iface_t *)ep->super.iface;
}

/* ud_clock.c: reads the clock, and measures the counter's period. */
double ud_clock_read(ud_iface_t *iface);

/* Returns the time. Hot path: between two readings of the clock it is computed
 * from the processor's counter (ud_clock.c), which is much cheaper. */
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
/* Called when a work request has failed, and the queue pair accepts no more
 * requests: all posted requests complete with errors, then the queue pair
 * restarts. Only packets are lost, and they are retransmitted. */
void ud_qp_failed(ud_iface_t *iface);
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
void ud_recv_put(ud_iface_t *iface, ud_recv_t *recv);
void ud_recv_post(ud_iface_t *iface);
unsigned ud_recv_poll(ud_iface_t *iface);
/* Delivers messages that the service has received. Must be called by the user's
 * thread. */
unsigned ud_recv_deliver_deferred(ud_iface_t *iface);

/* --- ud_progress.c -------------------------------------------------------- */

unsigned ud_iface_progress(uct_iface_h iface);
unsigned ud_poll_sends(ud_iface_t *iface);
/* Sends acknowledgements that are due or that cover at least `enough`
 * packets. */
void ud_send_acks(ud_iface_t *iface, unsigned enough);
/* Queues an acknowledgement for ud_send_acks(): at the front if the window
 * requires it at once, otherwise at the end. */
void ud_owe_ack(ud_iface_t *iface, ud_ep_t *ep);
/* Sets a deadline of the endpoint. */
void ud_watch(ud_iface_t *iface, ud_ep_t *ep, double deadline);
/* Handles deadlines that have passed, and sends lost packets again. */
void ud_handle_deadlines(ud_iface_t *iface);
/* Handles a received acknowledgement. */
void ud_take_ack(ud_iface_t *iface, ud_ep_t *ep, uint32_t ack, uint64_t sack);

/* --- ud_ep.c -------------------------------------------------------------- */

ucs_status_t ud_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                          uct_ep_h *ep_p);
void ud_ep_destroy(uct_ep_h ep);
/* Creates an endpoint without a user. */
ud_ep_t *ud_ep_new(ud_iface_t *iface, ud_peer_t *peer, uint32_t ordinal);
void ud_ep_free(ud_ep_t *ep);
/* Continues the closing of an endpoint that does not belong to the user, and
 * frees it at the end. `ep` may be invalid afterwards. */
void ud_ep_finish(ud_ep_t *ep);
/* Fails the endpoint: it accepts no more sends, and outstanding packets
 * complete with errors. With `tell` the error handler is called. */
void ud_ep_fail(ud_ep_t *ep, ucs_status_t status, int tell);
/* Called when the peer has closed the connection. The endpoint fails if packets
 * are outstanding, otherwise with the next send. */
void ud_ep_gone(ud_ep_t *ep);
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
/* Completes the flushes whose packets are acknowledged, or all with an
 * error. */
void ud_flush_end(ud_ep_t *ep, ucs_status_t status);
/* Returns whether the peer has not acknowledged all data. */
int ud_ep_has_data(const ud_ep_t *ep);

/* --- ud_peer.c, ud_connect.c ---------------------------------------------- */

/* Returns the address handle of a port, or NULL with the reason in
 * *status_p. */
ud_ah_t *ud_ah_get(ud_iface_t *iface, const ib_wire_device_t *device,
                   ucs_status_t *status_p);
void ud_peers_cleanup(ud_iface_t *iface);
/* Returns the peer with this address; creates it if there is none. */
ud_peer_t *ud_peer_get(ud_iface_t *iface, const ib_wire_device_t *device,
                       const ud_wire_iface_t *address, ucs_status_t *status_p);
void ud_peer_add(ud_peer_t *peer, ud_ep_t *ep);
/* Removes an endpoint; frees the peer with its last one. */
void ud_peer_remove(ud_iface_t *iface, ud_ep_t *ep);
/* Ends the connections to earlier processes that used the peer's queue pair
 * number. */
void ud_peer_replace_old(ud_iface_t *iface, const ud_peer_t *peer);

/* Sends a connection request. */
void ud_connect(ud_iface_t *iface, ud_ep_t *ep);
/* Sends a control packet for the connection. Returns 0 if there are no send
 * resources. */
int ud_send_control(ud_iface_t *iface, ud_ep_t *ep, ud_kind_t kind);
void ud_control_arrived(ud_iface_t *iface, const ud_wire_control_t *control);

#endif
