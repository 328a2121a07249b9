/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reliable connections: one queue pair per endpoint. The endpoints of an
 * interface share its completion queues and its receive queue.
 *
 * Order of work requests: each send of an endpoint has a sequence number (`sn`,
 * 16 bits). Only some are signaled, that is, request a completion; a completion
 * covers all work requests before it. An operation (ib_op_t) in the endpoint's
 * list holds what must be done on completion; short sends have none.
 *
 * Only rc_post() in rc_send.h passes send requests to the device: a transport
 * that uses other functions for the send queue needs to replace only rc_post()
 * and rc_cq.c.
 */
#ifndef IB_RC_H
#define IB_RC_H

#include "chunk.h"
#include "md.h"
#include "port.h"
#include "watch.h"

#include <ucx/am.h>
#include <ucx/pending.h>

typedef struct rc_iface rc_iface_t;
typedef struct rc_ep rc_ep_t;
typedef struct rc_join rc_join_t;

/* The header byte before every active message: the id of the message and bits
 * of the flow control (rc_credits.c). */
enum {
    RC_AM_ID_MASK = 0x1f,
    RC_AM_GRANT   = 0x20, /* Grants an endpoint credits for half of its window:
                           * the receiver of this message or, if the message
                           * has immediate data, the endpoint with the queue
                           * pair number in it */
    RC_AM_ASK     = 0x40, /* The sender of this message requests credits for
                           * half of its window */
    RC_AM_ONLY_FC = 0x80, /* Only the header byte: there is no message for the
                           * user. The id is 0 or one of the following two */
    RC_AM_BYE     = 0x01, /* iWARP: the sender's user has destroyed the
                           * endpoint */
    RC_AM_HELLO   = 0x02, /* iWARP: the first message of the side that has
                           * called rdma_connect() */
};

_Static_assert(UCT_AM_ID_MAX <= RC_AM_ID_MASK + 1, "message ids fit");

/* An operation: the action to take when a work request has completed. */
typedef struct ib_op {
    struct ib_op *next; /* Next in rc_ep_t.ops */
    /* Called once; frees the operation */
    void (*done)(rc_ep_t *ep, struct ib_op *op, ucs_status_t status);
    uint16_t sn; /* Sequence number of the work request */
} ib_op_t;

/* The operation of a zero-copy put or get, or of a flush: calls the user's
 * completion. */
typedef struct rc_user_op {
    ib_op_t super;
    uct_completion_t *comp;
} rc_user_op_t;

/* A buffer in registered memory, for data to send, for the header of a
 * zero-copy message, or for fetched data. */
typedef struct rc_desc {
    ib_op_t super;
    uint32_t lkey;          /* Local key of `data` */
    uint32_t length;        /* get_bcopy: bytes to unpack */
    uct_completion_t *comp; /* The user's completion; not used by bcopy sends */
    union {
        uct_unpack_callback_t unpack; /* get_bcopy */
        /* Atomics: the user's address for the old value, or NULL */
        void *result;
    };
    void *arg; /* get_bcopy: argument of `unpack` */
    char data[];
} rc_desc_t;

/*
 * A receive buffer with the work request that posts it. Only `wr.next` changes:
 * it also links the buffers in rc_iface_t.recv_free. The byte before the data
 * receives the message's header byte, so that the data is aligned. The headroom
 * is space for the user (rx_headroom of the interface's parameters). The
 * owner's word points to rc_iface_t.recv_owner, whose callback gets a buffer
 * that the user releases.
 *
 *   | rc_recv_t | ... | owner's word | headroom | data ...
 *                                               ^ recv_data
 */
typedef struct rc_recv {
    struct ibv_recv_wr wr; /* The first member, so that a pointer to it is one
                            * to the rc_recv_t */
    struct ibv_sge sge;    /* The only entry of `wr` */
} rc_recv_t;

enum {
    RC_QPN_BUCKETS = 256, /* Number of hash buckets of rc_iface_t.by_qpn */
    RC_POST_BATCH  = 16,  /* Number of free receive buffers at which progress
                           * posts them */
    RC_MAX_POLL    = 256, /* Maximum number of completions in one poll */
};

/* Head or node of a circular doubly linked list of endpoints. */
typedef struct rc_ep_link {
    struct rc_ep_link *next, *prev;
} rc_ep_link_t;

/* Flags of rc_ep_t.state. */
enum {
    RC_EP_CONNECTED = 1 << 0, /* The endpoint can send, unless a flag below
                               * prevents it */
    RC_EP_FAILED    = 1 << 1, /* Every send returns rc_ep_t.status */
    RC_EP_ZOMBIE    = 1 << 2, /* Destroyed by its user, not yet freed */
    RC_EP_FENCE     = 1 << 3, /* The next request waits for earlier reads and
                               * atomic operations */
    /* Failed: progress calls the user's error handler after the last request
     * has completed and all received messages are delivered */
    RC_EP_TELL      = 1 << 4,
    /* Failed: progress has to post the request that completes after all others
     * (post_drain() in rc_cq.c), because there were no send resources yet */
    RC_EP_DRAIN     = 1 << 5,
    /* iWARP: the user has called connect_to_ep, but the connection is not
     * established yet */
    RC_EP_JOINING   = 1 << 6,
    /* iWARP: requests were posted since the last read that rc_ep_post_empty()
     * has posted, so no read will show that these requests have arrived */
    RC_EP_UNSEEN    = 1 << 7,
    RC_EP_BYE_SENT  = 1 << 8, /* iWARP: RC_AM_BYE was sent */
    RC_EP_BYE_TAKEN = 1 << 9, /* iWARP: RC_AM_BYE was received */
    /* iWARP, destroyed by the user: the connection stays open until RC_AM_BYE
     * is received or `wait_end` has passed */
    RC_EP_LINGERS   = 1 << 10,
    /* iWARP, failed: waits for the completions of its requests, at most until
     * `wait_end` */
    RC_EP_FLUSHING  = 1 << 11,
    /* iWARP, failed: the peer has closed the connection after it had received
     * all data. A flush returns UCS_OK */
    RC_EP_LEFT      = 1 << 12,
    /* iWARP: sends return UCS_ERR_NO_RESOURCE until earlier reads have
     * completed */
    RC_EP_HELD      = 1 << 13,
    /* iWARP: this side has called rdma_connect(), or will do so, and has not
     * sent RC_AM_HELLO yet. With RC_EP_JOINING, librdmacm has not yet
     * established the connection, so RC_AM_HELLO cannot be sent */
    RC_EP_GREETS    = 1 << 14,
    /* iWARP: this side has sent RC_AM_HELLO, and none of its reads has
     * completed since. rc_nudge.c repeats RDMA writes in this state */
    RC_EP_UNHEARD   = 1 << 15,
};

struct rc_ep {
    uct_ep_t super;
    struct ibv_qp *qp;   /* NULL: destroyed after a failure */
    uint32_t index;      /* Index in rc_iface_t.eps */
    uint16_t sn;         /* Sequence number of the next work request */
    uint16_t done_sn;    /* Sequence number of the oldest incomplete request */
    uint16_t user_sn;    /* All requests from this sequence number to `sn` are
                          * separate grants (rc_credits.c), for which a flush
                          * does not wait */
    uint16_t unsignaled; /* Number of requests since the last signaled one */
    uint16_t state;      /* RC_EP_* */
    /* Flow control of active messages (rc_credits.c). A window is the number of
     * messages that the sender may send before the receiver has polled the
     * first of them. half_window: half of this endpoint's window as a sender;
     * half_given: half of the window that the peer has as a sender */
    uint16_t half_window;
    uint16_t half_given;
    uint16_t credits;   /* Number of messages that may be sent now */
    uint16_t since_ask; /* Number of messages sent since the last RC_AM_ASK */
    uint16_t owed;      /* Number of grants that the peer has requested and that
                         * were not sent yet */
    int8_t status;      /* Valid with RC_EP_FAILED: the reason */
    /* Number of functions on the call stack that still use the endpoint, so
     * that it must not be freed */
    uint8_t busy;
    /* A message of this endpoint has carried a grant for another endpoint */
    uint8_t has_carried;
    ib_op_t *ops, **ops_tail;    /* Incomplete operations, oldest first */
    ucx_pending_queue_t pending; /* The user's pending requests */
    rc_ep_link_t waiting;        /* Node in rc_iface_t.waiting */
    rc_ep_link_t owing;          /* Node in rc_iface_t.owing */
    rc_ep_link_t ending;         /* Node in rc_iface_t.ending */
    /* Set by rc_ep_stop(): when rc_iface_t.recv_seen has reached this value,
     * all messages that the endpoint has received are delivered */
    uint64_t recv_mark;
    rc_ep_t *next_by_qpn; /* Next in the bucket of rc_iface_t.by_qpn */
    uint32_t psn;         /* First packet sequence number that the queue pair
                           * sends */
    uint32_t peer_qpn;    /* Number of the peer's queue pair */
    uint64_t peer_token;  /* rc_iface_t.token of the peer; 0: none */
    struct rdma_cm_id *join_id; /* iWARP (rc_join.h): the connection of
                                 * librdmacm, or NULL */
    unsigned join_tries;        /* Number of local ports that were in use */
    /* iWARP, from the peer's address: `psn` of the remote endpoint; key and
     * address of its rc_join_word_t */
    uint32_t peer_psn;
    uint32_t word_rkey;
    uint64_t word_address;
    double wait_end;    /* Host time in seconds at which RC_EP_LINGERS or
                         * RC_EP_FLUSHING ends */
    uint8_t *finished;  /* iWARP: the state of each request (rc_order.c) */
    uint16_t num_reads; /* iWARP: number of outstanding reads */
};

struct rc_iface {
    uct_iface_t super;
    ib_md_t *md;
    const ucx_host_t *host;
    ib_port_t port;
    ib_watch_t watch; /* Reports failures of the port and the device */
    rc_join_t *join;  /* Establishes iWARP connections; NULL on other devices */
    /* iWARP: the timer that makes progress call rc_nudge_run(), and the seconds
     * to which it was last set; 0 seconds: the timer is not set */
    int nudge_fd;
    double nudge_delay;
    /* A random number that identifies the interface in the addresses of its
     * endpoints. 0: a grant cannot travel over another connection, because
     * there is no immediate data (iWARP) or no random number */
    uint64_t token;
    ib_rc_config_t config;
    struct ibv_cq *send_cq, *recv_cq;
    struct ibv_comp_channel *channel; /* Signals events of both
                                       * completion queues */
    struct ibv_srq *srq;              /* Receive queue of all endpoints */
    /* Number of entries of send_cq that are not reserved. Each outstanding
     * request reserves one, because even an unsignaled request has a completion
     * if it fails */
    unsigned cq_free;
    unsigned max_inline; /* Bytes of inline data of a work request */
    unsigned max_sge;    /* Scatter/gather entries of a work request */
    /* Maximum number of outstanding reads and atomics of an endpoint: as the
     * initiator, and as their target */
    unsigned max_rd_atomic, max_dest_rd_atomic;
    unsigned min_read;      /* Bytes of the shortest RDMA read; 0: no minimum
                             * (rc_iwarp.h) */
    uint16_t queue_len;     /* Maximum number of outstanding requests of an
                             * endpoint */
    uint16_t moderation;    /* At least one in so many requests is signaled */
    uint16_t credit_step;   /* Credits that a message uses: 1, or 0 without flow
                             * control */
    unsigned num_ops;       /* Number of ib_op_t in all lists rc_ep_t.ops */
    uint16_t finished_mask; /* Size of rc_ep_t.finished, minus one */
    uint16_t send_cq_empty; /* The last poll of send_cq has emptied it */
    unsigned unpolled;      /* Number of consecutive rounds of progress without
                             * a poll of send_cq; rc_poll_sends_soon() raises
                             * it */
    unsigned owing_rounds;  /* Number of rounds of progress with completions in
                             * which `owing` was not empty; 0 again after an
                             * endpoint's grants were sent */
    /* Number of receive buffers that the windows of all peers together need */
    unsigned num_given;
    /* Endpoints by rc_ep_t.index, which a work request id contains; NULL: the
     * index is free */
    rc_ep_t **eps;
    uint32_t eps_size;               /* Length of `eps` */
    uint32_t eps_next;               /* All indices below this one are in use */
    rc_ep_t *by_qpn[RC_QPN_BUCKETS]; /* Endpoints by queue pair number */
    rc_ep_link_t waiting; /* Endpoints that wait for send resources: with
                           * pending requests, or with work of this plugin */
    rc_ep_link_t owing;   /* Endpoints that have to send a grant */
    /* Endpoint whose grant the message being sent carries; valid between
     * rc_credits_select() and rc_credits_carried() */
    rc_ep_t *granting;
    /* Failed and destroyed endpoints that progress has to report to the user,
     * to end or to free */
    rc_ep_link_t ending;
    /* Counts receive completions while `ending` is not empty. A poll that
     * empties recv_cq or finds it empty adds rx_queue_len instead: all messages
     * that had arrived are then delivered */
    uint64_t recv_seen;
    /* Buffers */
    ucx_mpool_t *descs;            /* Pool of rc_desc_t, in registered memory */
    ucx_mpool_t *user_ops;         /* Pool of rc_user_op_t */
    ib_chunk_t *recv_chunks;       /* Memory of all receive buffers */
    struct ibv_recv_wr *recv_free; /* Receive buffers that are not posted */
    unsigned num_recv_free;        /* Length of recv_free */
    unsigned num_recv_posted; /* Receive buffers that are posted and not yet
                               * completed */
    unsigned num_recv_kept;   /* Receive buffers that the user keeps */
    unsigned num_recv;        /* Total number of receive buffers */
    size_t headroom;  /* Bytes of a receive buffer before the data that the user
                       * has reserved */
    size_t recv_data; /* Offset of the data in a receive buffer, in bytes */
    ucx_recv_desc_owner_t recv_owner; /* Gets buffers that users release */
    int armed; /* Both completion queues signal their next completion */
};

static inline rc_iface_t *rc_iface_of(rc_ep_t *ep)
{
    return (rc_iface_t *)ep->super.iface;
}

/* --- Lists of endpoints --------------------------------------------------- */

static inline void rc_link_init(rc_ep_link_t *link)
{
    link->next = link->prev = link;
}

/* Returns whether a list is empty, or whether a node is in no list. */
static inline int rc_link_is_alone(const rc_ep_link_t *link)
{
    return link->next == link;
}

static inline void rc_link_add_tail(rc_ep_link_t *list, rc_ep_link_t *link)
{
    link->prev       = list->prev;
    link->next       = list;
    list->prev->next = link;
    list->prev       = link;
}

static inline void rc_link_remove(rc_ep_link_t *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    rc_link_init(link);
}

/* --- rc_iface.c, rc_recv.c, rc_event.c, rc_transport.c -------------------- */

ucs_status_t rc_iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                           uct_iface_h *iface_p);
void rc_iface_close(uct_iface_h iface);
ucs_status_t rc_iface_query(uct_iface_h iface, ucx_iface_attr_t *attr);
ucs_status_t rc_iface_flush(uct_iface_h iface, unsigned flags,
                            uct_completion_t *comp);

/* Allocates, registers and posts the receive buffers. */
ucs_status_t rc_recv_init(rc_iface_t *iface);
void rc_recv_cleanup(rc_iface_t *iface);
/* Delivers the messages of `num` completions of recv_cq, at least one, and
 * refills the receive queue. */
void rc_recv_handle(rc_iface_t *iface, const struct ibv_wc *wc, unsigned num);
/* Allocates receive buffers if the user keeps too many, and posts free ones if
 * there are enough (rc_recv_has_free()). */
void rc_recv_refill(rc_iface_t *iface);
/* Returns whether so many receive buffers are free that posting them is worth
 * the call. */
static inline int rc_recv_has_free(const rc_iface_t *iface)
{
    return iface->num_recv_free >= RC_POST_BATCH;
}

ucs_status_t rc_event_fd_get(uct_iface_h iface, int *fd_p);
ucs_status_t rc_event_arm(uct_iface_h iface, unsigned events);

/* --- rc_lost.c: events of the device -------------------------------------- */

ucs_status_t rc_watch_start(rc_iface_t *iface);

/* --- rc_cq.c: completions of sends, failures ------------------------------ */

unsigned rc_iface_progress(uct_iface_h iface);

/* Fails the endpoint: it accepts no more sends, and outstanding requests
 * complete with errors. With `tell`, progress calls the user's error handler
 * after the last request has completed and all received messages are
 * delivered. */
void rc_ep_fail(rc_ep_t *ep, ucs_status_t status, int tell);
/* Completes outstanding requests of a failed endpoint without waiting for the
 * device. Must be called only if the device does not use their buffers any
 * more: the queue pair is destroyed, or the device is lost. */
void rc_ep_abandon(rc_ep_t *ep);

/* --- rc_ep.c, rc_connect.c ------------------------------------------------ */

ucs_status_t rc_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                          uct_ep_h *ep_p);
void rc_ep_destroy(uct_ep_h ep);
/* Returns the endpoint with this queue pair, or NULL. */
rc_ep_t *rc_ep_by_qpn(rc_iface_t *iface, uint32_t qpn);
/* Ends an endpoint that the user has destroyed. Called by rc_ep_destroy() and
 * after each completion. When all requests have completed, makes progress free
 * the endpoint as soon as all messages that it has received are delivered. */
void rc_ep_finish(rc_ep_t *ep);
/* Stops the endpoint's queue pair, and makes progress free the endpoint after
 * all messages that it has received are delivered. */
void rc_ep_end_later(rc_ep_t *ep);
/* Destroys the endpoint's queue pair, if it still exists. */
void rc_ep_drop_qp(rc_ep_t *ep);
/* Completes the requests up to and including the one with this sequence
 * number. */
void rc_complete_to(rc_ep_t *ep, uint16_t sn, ucs_status_t status);
/* Moves the endpoint's queue pair to the error state, in which it sends and
 * receives nothing. */
void rc_ep_stop(rc_ep_t *ep);
void rc_ep_free(rc_ep_t *ep);
ucs_status_t rc_ep_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                               unsigned flags);
void rc_ep_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                         void *arg);

ucs_status_t rc_qp_create(rc_iface_t *iface, struct ibv_qp **qp_p);
/* Returns the length of an endpoint's address. */
size_t rc_ep_address_length(const rc_iface_t *iface);
ucs_status_t rc_ep_get_address(uct_ep_h ep, uct_ep_addr_t *addr);
ucs_status_t rc_ep_connect_to_ep(uct_ep_h ep, const uct_device_addr_t *dev_addr,
                                 size_t dev_addr_length,
                                 const uct_ep_addr_t *ep_addr,
                                 size_t ep_addr_length);

/* --- rc_flush.c ----------------------------------------------------------- */

/* Posts a signaled request that changes nothing at the peer: a write of 0
 * bytes, on iWARP a read. Its completion shows that all earlier requests of the
 * endpoint have arrived. */
ucs_status_t rc_ep_post_empty(rc_ep_t *ep);
/* Returns whether a flush has to call rc_ep_post_empty(), because the
 * completions of the outstanding requests do not show that all requests have
 * arrived. */
int rc_ep_needs_empty(const rc_ep_t *ep);
ucs_status_t rc_ep_flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp);
ucs_status_t rc_ep_fence(uct_ep_h ep, unsigned flags);
ucs_status_t rc_ep_check(uct_ep_h ep, unsigned flags, uct_completion_t *comp);
ucs_status_t rc_ep_invalidate(uct_ep_h ep, unsigned flags);

/* --- rc_credits.c: flow control ------------------------------------------- */

/* rc_credits_open() selects the window that a new endpoint gives to its peer,
 * and adds the window's receive buffers to rc_iface_t.num_given.
 * rc_credits_close() subtracts them. */
void rc_credits_open(rc_ep_t *ep);
void rc_credits_close(rc_ep_t *ep);
/* rc_credits_code() returns the code of the window given to the peer; the
 * endpoint's address contains the code. rc_credits_connect() sets the
 * endpoint's own window from the code in the peer's address, and returns 0 if
 * the code is invalid. */
uint8_t rc_credits_code(const rc_ep_t *ep);
int rc_credits_connect(rc_ep_t *ep, uint8_t code);

/* Handles the flow control bits of a received message. */
void rc_credits_take(rc_iface_t *iface, const struct ibv_wc *wc,
                     uint8_t header);
/* Called before `ep` sends a message, if rc_iface_t.owing is not empty. Selects
 * the endpoint whose grant the message carries. Returns RC_AM_GRANT, or 0 if
 * the message carries no grant. */
uint8_t rc_credits_select(rc_iface_t *iface, rc_ep_t *ep);
/* Adds the selected grant to the work request. */
void rc_credits_attach(const rc_iface_t *iface, const rc_ep_t *ep,
                       struct ibv_send_wr *wr);
/* Called when the message with the selected grant was posted. */
void rc_credits_carried(rc_iface_t *iface, rc_ep_t *ep);
/* Messages of the failed endpoint may be lost. If one of them has carried a
 * grant of another endpoint, this function makes the endpoints to the same peer
 * send their grants again. */
void rc_credits_repeat(rc_ep_t *failed);
/* Sends the grants of the endpoints in rc_iface_t.owing in separate messages.
 * If `is_busy` is set (this round of progress has handled completions), first
 * waits a few rounds for other messages that can carry the grants. */
void rc_credits_progress(rc_iface_t *iface, int is_busy);

#endif
