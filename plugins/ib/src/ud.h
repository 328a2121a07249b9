/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams: one queue pair for all endpoints of an interface; reliability is
 * ours (ud_window.h).
 *
 * A connection is an endpoint from its beginning. One that a peer has asked for
 * has no user yet (no UD_EP_USED); the next endpoint that the user creates to
 * that peer takes it over. After its user has gone an endpoint lives on until
 * the peer's has gone, too, because the peer may still send.
 *
 * Sends of an interface have sequence numbers (`sn`) as work requests, from
 * which one sees whether the device has finished with a buffer.
 */
#ifndef IB_UD_H
#define IB_UD_H

#include "chunk.h"
#include "list.h"
#include "md.h"
#include "port.h"
#include "ud_window.h"
#include "ud_wire.h"

#include <ucx/am.h>
#include <ucx/pending.h>

typedef struct ud_iface ud_iface_t;
typedef struct ud_ep    ud_ep_t;

enum {
    UD_MAX_IOV      = 8,    /* Blocks of a zero-copy message */
    UD_MAX_HEADER   = 128,  /* Bytes of its header */
    UD_GRH_LENGTH   = 40,   /* In front of every datagram that arrives */
    UD_MIN_INLINE   = 64,   /* Acknowledgements and control packets fit */
    UD_PEER_BUCKETS = 1024,
    UD_AH_BUCKETS   = 256,
    UD_INDEX_BITS   = 20    /* Of a connection's number; above: generation */
};

_Static_assert(sizeof(ud_wire_control_t) <= UD_MIN_INLINE, "fits inline");

/* A packet that is kept until it is acknowledged. */
typedef struct ud_desc {
    ud_tx_t          tx;
    ud_ep_t          *ep;
    uct_completion_t *comp;     /* Zero-copy */
    uint32_t         sn;        /* Of the last work request that sends it */
    uint32_t         lkey;
    uint32_t         length;    /* Bytes of `data` */
    int8_t           status;    /* While it is in ud_iface_t.leaving */
    uint8_t          num_sge;   /* The user's memory behind `data` */
    struct ibv_sge   sge[UD_MAX_IOV];
    char             data[] __attribute__((aligned(16))); /* ud_wire_t first */
} ud_desc_t;

/*
 * A receive buffer. The device writes a global header (its bytes are undefined
 * if the packet had none), our header and the message.
 *
 *   | ud_recv_t | ... | GRH (40) | ud_wire_t | message ...
 *          ... owner's word | headroom       ^ recv_data, aligned
 */
typedef struct ud_recv {
    ud_rx_t  rx;      /* `next` links the free ones, too */
    uint32_t lkey;
    uint32_t length;  /* Of the message */
    uint8_t  kind, id;
} ud_recv_t;

/* A flush that waits for packets before `psn`. */
typedef struct ud_flush {
    struct ud_flush  *next;
    uct_completion_t *comp;
    uint32_t         psn;
} ud_flush_t;

/* Where packets go. All peers behind one port share it. */
typedef struct ud_ah {
    struct ud_ah     *next;
    struct ibv_ah    *ah;
    ib_wire_device_t device;
} ud_ah_t;

/* A remote interface with which there are connections. */
typedef struct ud_peer {
    struct ud_peer  *next;
    ud_ah_t         *ah;
    ud_wire_iface_t iface;         /* As it is on the wire */
    uint32_t        qpn;
    uint32_t        next_ordinal;
    ud_ep_t         *eps;
} ud_peer_t;

enum {
    UD_EP_CONNECTED = 1 << 0,  /* The peer's number of it is known */
    UD_EP_CONFIRMED = 1 << 1,  /* The peer knows ours */
    UD_EP_USED      = 1 << 2,  /* It has a user */
    UD_EP_LEFT      = 1 << 3,  /* The user has destroyed it */
    UD_EP_FIN_SENT  = 1 << 4,
    UD_EP_FIN_TAKEN = 1 << 5,  /* The peer's user has destroyed its end */
    UD_EP_GONE      = 1 << 6,  /* The peer has closed: the next send fails */
    UD_EP_FAILED    = 1 << 7   /* Every send answers `status` */
};

struct ud_ep {
    uct_ep_t            super;
    ud_window_t         window;
    struct ibv_ah       *ah;
    uint32_t            qpn;         /* The peer's */
    uint32_t            remote;      /* The peer's number of the connection */
    uint32_t            id;          /* Ours */
    uint32_t            ordinal;
    uint32_t            asked_psn;   /* An answer is asked for up to here */
    uint16_t            state;       /* UD_EP_* */
    int8_t              status;
    uint8_t             busy;        /* Callers that come back: not freed */
    uint8_t             is_late;     /* Its deadline was put off */
    unsigned            leaving;     /* Its buffers in ud_iface_t.leaving */
    double              connect_at;  /* Ask again for the connection */
    double              started;     /* First asked */
    double              connect_rto;
    ud_flush_t          *flushes, **flushes_tail;
    ucx_pending_queue_t pending;
    ib_link_t           active;      /* With a deadline */
    ib_link_t           owing;       /* Owes an acknowledgement */
    ib_link_t           resending;   /* Has lost packets, or a FIN to send */
    ib_link_t           ready;       /* May dispatch pending requests */
    ib_link_t           failed;      /* The user is yet to be told */
    ud_peer_t           *peer;
    ud_ep_t             *next_of_peer;
};

typedef struct ud_slot {
    ud_ep_t  *ep;
    uint32_t id;         /* Of the endpoint, or of the last one */
    uint32_t next_free;
} ud_slot_t;

struct ud_iface {
    uct_iface_t             super;
    ib_md_t                 *md;
    const ucx_host_t        *host;
    ib_port_t               port;
    ib_ud_config_t          config;
    ud_window_params_t      window_params;
    struct ibv_qp           *qp;
    struct ibv_cq           *send_cq, *recv_cq;
    struct ibv_comp_channel *channel;
    int                     timer_fd, event_fd;
    double                  timer_at;     /* What timer_fd is set to; 0: off */
    int                     armed;
    ud_wire_iface_t         address;
    ib_wire_device_t        device;
    size_t                  mtu;          /* Bytes of a datagram */
    uint64_t                random;
    double                  now;
    /* Sending */
    uint32_t                sn, done_sn;  /* Next; the oldest under way */
    unsigned                queue_len, moderation;
    unsigned                unsignaled, num_signaled;
    unsigned                max_inline, max_iov;
    int                     is_down;      /* The queue pair is in an error */
    ucx_mpool_t             *descs, *flushes;
    ud_desc_t               *leaving;     /* Done, the device still has them */
    /* Receiving */
    ib_chunk_t              *recv_chunks;
    ud_recv_t               *recv_free;
    unsigned                num_recv_free, num_recv_kept, num_recv;
    unsigned                num_recv_posted;
    size_t                  headroom;
    size_t                  recv_data;
    ucx_recv_desc_owner_t   recv_owner;
    /* Connections */
    ud_slot_t               *slots;
    uint32_t                num_slots, free_slot;
    ud_peer_t               *peers[UD_PEER_BUCKETS];
    ud_ah_t                 *ahs[UD_AH_BUCKETS];
    unsigned                num_ahs;
    ib_link_t               active, owing, resending, ready, failed;
    double                  next_deadline; /* None of `active` is earlier */
    unsigned                late;          /* Rounds that had no time for it */
    int                     is_closing;    /* Messages are not delivered */
    /* Packets that were dropped */
    uint64_t                num_bad, num_stale;
};

static inline ud_iface_t *ud_iface_of(ud_ep_t *ep)
{
    return (ud_iface_t*)ep->super.iface;
}

static inline double ud_time(ud_iface_t *iface)
{
    return iface->now = iface->host->time();
}

/* --- ud_iface.c, ud_qp.c, ud_event.c, ud_transport.c ---------------------- */

ucs_status_t ud_iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                           uct_iface_h *iface_p);
void ud_iface_close(uct_iface_h iface);
ucs_status_t ud_iface_query(uct_iface_h iface, ucx_iface_attr_t *attr);

ucs_status_t ud_qp_create(ud_iface_t *iface);
/* A work request has failed, and the queue pair takes no more: everything that
 * is posted comes back, then it starts anew. Nothing is lost but packets. */
void ud_qp_failed(ud_iface_t *iface);
void ud_qp_restart(ud_iface_t *iface);

ucs_status_t ud_event_init(ud_iface_t *iface);
void ud_event_cleanup(ud_iface_t *iface);
ucs_status_t ud_event_fd_get(uct_iface_h iface, int *fd_p);
ucs_status_t ud_event_arm(uct_iface_h iface, unsigned events);

/* --- ud_recv.c ------------------------------------------------------------ */

ucs_status_t ud_recv_init(ud_iface_t *iface);
void ud_recv_cleanup(ud_iface_t *iface);
void ud_recv_put(ud_iface_t *iface, ud_recv_t *recv);
void ud_recv_post(ud_iface_t *iface);
unsigned ud_recv_poll(ud_iface_t *iface);

/* --- ud_progress.c -------------------------------------------------------- */

unsigned ud_iface_progress(uct_iface_h iface);
unsigned ud_poll_sends(ud_iface_t *iface);
/* Sends acknowledgements that are due, or of so many packets. */
void ud_send_acks(ud_iface_t *iface, unsigned enough);
/* An acknowledgement is owed, at once if the window says so. */
void ud_owe_ack(ud_iface_t *iface, ud_ep_t *ep);
/* The endpoint has a deadline from now on. */
void ud_watch(ud_iface_t *iface, ud_ep_t *ep, double deadline);
/* The peer has acknowledged packets. */
void ud_take_ack(ud_iface_t *iface, ud_ep_t *ep, uint32_t ack, uint64_t sack);

/* --- ud_ep.c -------------------------------------------------------------- */

ucs_status_t ud_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                          uct_ep_h *ep_p);
void ud_ep_destroy(uct_ep_h ep);
/* An endpoint without a user. */
ud_ep_t *ud_ep_new(ud_iface_t *iface, ud_peer_t *peer, uint32_t ordinal);
void ud_ep_free(ud_ep_t *ep);
/* Goes on with what an endpoint without user has to do, and frees it when that
 * is done. `ep` may be gone afterwards. */
void ud_ep_finish(ud_ep_t *ep);
/* Takes no send from now on; what is outstanding ends with errors. With `tell`
 * the user hears of it. */
void ud_ep_fail(ud_ep_t *ep, ucs_status_t status, int tell);
/* The peer has closed. It is a failure if something is outstanding, or once
 * something is sent. */
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
/* Calls the flushes whose packets are acknowledged, or all with an error. */
void ud_flush_end(ud_ep_t *ep, ucs_status_t status);
/* Is there data that the peer has not acknowledged? */
int ud_ep_has_data(const ud_ep_t *ep);

/* --- ud_peer.c, ud_connect.c ---------------------------------------------- */

/* The address handle of a port, or NULL with the reason in *status_p. */
ud_ah_t *ud_ah_get(ud_iface_t *iface, const ib_wire_device_t *device,
                   ucs_status_t *status_p);
void ud_peers_cleanup(ud_iface_t *iface);
/* The peer with this address; made if there is none. */
ud_peer_t *ud_peer_get(ud_iface_t *iface, const ib_wire_device_t *device,
                       const ud_wire_iface_t *address, ucs_status_t *status_p);
void ud_peer_add(ud_peer_t *peer, ud_ep_t *ep);
/* Frees the peer with its last endpoint. */
void ud_peer_remove(ud_iface_t *iface, ud_ep_t *ep);
/* Fails connections of an earlier process with the same queue pair number. */
void ud_peer_replace_old(ud_iface_t *iface, const ud_peer_t *peer);

/* Asks for the connection. */
void ud_connect(ud_iface_t *iface, ud_ep_t *ep);
/* Tells or asks the peer about the connection. */
int ud_send_control(ud_iface_t *iface, ud_ep_t *ep, ud_kind_t kind);
void ud_control_arrived(ud_iface_t *iface, const ud_wire_control_t *control);

#endif
