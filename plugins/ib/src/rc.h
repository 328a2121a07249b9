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

/* The byte before every active message: its id and the flow control bits. */
enum {
    RC_AM_ID_MASK = 0x1f,
    RC_AM_GRANT   = 0x20, /* Grants credits for half a window */
    RC_AM_ASK     = 0x40, /* Half a window was sent: requests credits */
    RC_AM_ONLY_FC = 0x80, /* No message: flow control only */
    RC_AM_BYE     = 0x01, /* Id of a message with RC_AM_ONLY_FC: the sender's
                           * user has destroyed the endpoint (iWARP) */
    RC_AM_HELLO   = 0x02, /* Id of a message with RC_AM_ONLY_FC: the first
                           * message of the side that has called rdma_connect()
                           * (iWARP) */
};

_Static_assert(UCT_AM_ID_MAX <= RC_AM_ID_MASK + 1, "message ids fit");

/* An operation: the action to take when a work request has completed. */
typedef struct ib_op {
    struct ib_op *next;
    void (*done)(rc_ep_t *ep, struct ib_op *op, ucs_status_t status);
    uint16_t sn;
} ib_op_t;

/* The completion of a zero-copy send, a fetch or a flush. */
typedef struct rc_user_op {
    ib_op_t super;
    uct_completion_t *comp;
} rc_user_op_t;

/* A send buffer in registered memory. */
typedef struct rc_desc {
    ib_op_t super;
    uint32_t lkey;
    uint32_t length; /* get_bcopy: bytes to unpack */
    uct_completion_t *comp;
    union {
        uct_unpack_callback_t unpack; /* get_bcopy */
        /* Fetching atomics: address for the old value, or NULL */
        void *result;
    };
    void *arg; /* get_bcopy */
    char data[];
} rc_desc_t;

/*
 * A receive buffer. The last byte of the user's headroom receives the message's
 * header, so that the data after it is aligned. The owner's word points to the
 * ucx_recv_desc_owner_t that takes a buffer back.
 *
 *   | rc_recv_t | ... | owner's word | headroom | data ...
 *                                               ^ recv_data
 */
typedef struct rc_recv {
    struct rc_recv *next; /* Next in the list of buffers to post */
    uint32_t lkey;
} rc_recv_t;

enum {
    RC_QPN_BUCKETS = 256,
};

typedef struct rc_ep_link {
    struct rc_ep_link *next, *prev;
} rc_ep_link_t;

enum {
    RC_EP_CONNECTED = 1 << 0,
    RC_EP_FAILED    = 1 << 1, /* Every send returns `status` */
    RC_EP_ZOMBIE    = 1 << 2, /* Destroyed by its user, not yet freed */
    RC_EP_FENCE     = 1 << 3, /* The next request waits for earlier reads */
    /* Report the failure after the last completion */
    RC_EP_TELL      = 1 << 4,
    RC_EP_DRAIN     = 1 << 5, /* Failed; the request that completes after all
                               * others is not posted yet */
    /* iWARP: the user has called connect_to_ep, but the connection is not
     * established yet */
    RC_EP_JOINING   = 1 << 6,
    /* iWARP: requests were posted after the last read by which
     * rc_ep_post_empty() confirms earlier ones */
    RC_EP_UNSEEN    = 1 << 7,
    /* iWARP: RC_AM_BYE was sent, or was received. A destroyed endpoint waits
     * for the peer's RC_AM_BYE */
    RC_EP_BYE_SENT  = 1 << 8,
    RC_EP_BYE_TAKEN = 1 << 9,
    RC_EP_LINGERS   = 1 << 10,
    /* iWARP, failed: waits for the completions of its requests */
    RC_EP_FLUSHING  = 1 << 11,
    /* iWARP, failed: the peer has closed after it had received everything */
    RC_EP_LEFT      = 1 << 12,
    /* iWARP: nothing is posted before earlier reads have completed */
    RC_EP_HELD      = 1 << 13,
    /* iWARP: this side has called rdma_connect() and has to send RC_AM_HELLO.
     * It may send it when RC_EP_JOINING is cleared */
    RC_EP_GREETS    = 1 << 14,
    /* iWARP: RC_AM_HELLO was sent, and no read has completed since */
    RC_EP_UNHEARD   = 1 << 15,
};

struct rc_ep {
    uct_ep_t super;
    struct ibv_qp *qp;
    uint32_t index;      /* Index in rc_iface_t.eps */
    uint16_t sn;         /* Sequence number of the next work request */
    uint16_t done_sn;    /* Sequence number of the oldest incomplete request */
    uint16_t unsignaled; /* Number of requests since the last signaled one */
    uint16_t state;      /* RC_EP_* */
    /* Flow control of active messages. A window is the number of messages that
     * the sender may send before the receiver has polled one. half_window: half
     * of this endpoint's window as a sender; half_given: half of the peer's
     * window */
    uint16_t half_window;
    uint16_t half_given;
    uint16_t credits;
    uint16_t since_ask; /* Messages sent since the last RC_AM_ASK */
    uint16_t owed;      /* Number of grants that the peer has requested and that
                         * were not sent yet */
    int8_t status;      /* Status of a failed endpoint */
    /* Number of callers that still use the endpoint: do not free */
    uint8_t busy;
    /* A message of this endpoint has carried a grant for another endpoint */
    uint8_t has_carried;
    ib_op_t *ops, **ops_tail;
    ucx_pending_queue_t pending;
    rc_ep_link_t waiting; /* Node in rc_iface_t.waiting */
    rc_ep_link_t owing;   /* Node in rc_iface_t.owing */
    rc_ep_link_t ending;  /* Node in rc_iface_t.ending */
    /* All received messages are delivered when rc_iface_t.recv_seen has reached
     * this position */
    uint64_t recv_mark;
    rc_ep_t *next_by_qpn;
    uint32_t psn;
    uint32_t peer_qpn;
    uint64_t peer_token; /* rc_iface_t.token of the peer; 0: none */
    /* iWARP (rc_join.h): the connection, and the remote endpoint */
    struct rdma_cm_id *join_id;
    uint32_t peer_psn;
    uint32_t word_rkey;
    uint64_t word_address; /* Address of the peer's rc_join_word_t */
    double wait_end;       /* Host time in seconds at which RC_EP_LINGERS or
                            * RC_EP_FLUSHING ends */
    uint8_t *finished;     /* iWARP: the state of each request (rc_order.c) */
    uint16_t num_reads;    /* iWARP: outstanding reads */
};

struct rc_iface {
    uct_iface_t super;
    ib_md_t *md;
    const ucx_host_t *host;
    ib_port_t port;
    ib_watch_t watch;
    rc_join_t *join; /* iWARP only */
    /* iWARP: the timer for rc_nudge_run(), and the delay in seconds for which
     * it is set; 0: it is not set */
    int nudge_fd;
    double nudge_delay;
    /* Random: identifies the interface in the addresses of its endpoints; 0:
     * immediate data is not possible (iWARP) */
    uint64_t token;
    ib_rc_config_t config;
    struct ibv_cq *send_cq, *recv_cq;
    struct ibv_comp_channel *channel;
    struct ibv_srq *srq;
    /* Entries of send_cq that are not reserved */
    unsigned cq_free;
    unsigned max_inline;
    unsigned max_sge;
    unsigned max_rd_atomic, max_dest_rd_atomic;
    unsigned min_read;  /* Bytes of the shortest read (rc_iwarp.h) */
    uint16_t queue_len; /* Length of an endpoint's send queue */
    uint16_t moderation;
    uint16_t credit_step;   /* Credits that a message uses: 1, or 0 without flow
                             * control */
    unsigned num_ops;       /* Outstanding ib_op_t */
    uint16_t finished_mask; /* Size of rc_ep_t.finished, minus one */
    uint16_t send_cq_empty; /* The last poll of send_cq has found its end */
    unsigned unpolled;      /* Rounds of progress without a poll of send_cq */
    unsigned owing_rounds;  /* Rounds of progress with events while grants have
                            * to be sent */
    /* Receive buffers that the windows of all peers together may use */
    unsigned num_given;
    /* Endpoints by index, for completions */
    rc_ep_t **eps;
    uint32_t eps_size;
    uint32_t eps_next; /* All indices below this one are in use */
    rc_ep_t *by_qpn[RC_QPN_BUCKETS];
    rc_ep_link_t waiting; /* Endpoints with pending requests */
    rc_ep_link_t owing;   /* Endpoints that have to send a grant */
    /* Endpoint whose grant the current message carries */
    rc_ep_t *granting;
    /* Failed and destroyed endpoints that progress has to report, to end or to
     * free */
    rc_ep_link_t ending;
    /* Position in the sequence of receive completions. It advances only while
     * `ending` is not empty */
    uint64_t recv_seen;
    /* Buffers */
    ucx_mpool_t *descs;    /* rc_desc_t, registered */
    ucx_mpool_t *user_ops; /* rc_user_op_t */
    ib_chunk_t *recv_chunks;
    rc_recv_t *recv_free; /* Receive buffers that are not posted */
    unsigned num_recv_free;
    unsigned num_recv_posted; /* Receive buffers that are posted and not yet
                               * completed */
    unsigned num_recv_kept;   /* Receive buffers that the user keeps */
    unsigned num_recv;        /* Total number of receive buffers */
    size_t headroom;
    size_t recv_data; /* Offset of the data in a buffer */
    ucx_recv_desc_owner_t recv_owner;
    int armed; /* Both completion queues are armed */
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
/* Polls for received messages; returns their number. */
unsigned rc_recv_poll(rc_iface_t *iface);

ucs_status_t rc_event_fd_get(uct_iface_h iface, int *fd_p);
ucs_status_t rc_event_arm(uct_iface_h iface, unsigned events);

/* --- rc_lost.c: events of the device -------------------------------------- */

ucs_status_t rc_watch_start(rc_iface_t *iface);

/* --- rc_cq.c: completions of sends, failures ------------------------------ */

unsigned rc_iface_progress(uct_iface_h iface);

/* Fails the endpoint: it accepts no more sends, and outstanding requests
 * complete with errors. With `tell` the error handler is called after the last
 * request has completed. */
void rc_ep_fail(rc_ep_t *ep, ucs_status_t status, int tell);
/* Completes outstanding requests of a failed endpoint without waiting for the
 * device: the queue pair is destroyed, or the device is lost. */
void rc_ep_abandon(rc_ep_t *ep);

/* --- rc_ep.c, rc_connect.c ------------------------------------------------ */

ucs_status_t rc_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                          uct_ep_h *ep_p);
void rc_ep_destroy(uct_ep_h ep);
/* Returns the endpoint with this queue pair, or NULL. */
rc_ep_t *rc_ep_by_qpn(rc_iface_t *iface, uint32_t qpn);
/* Finishes an endpoint that the user has destroyed, when its requests have
 * completed. Progress frees it after all messages that it received are
 * delivered. */
void rc_ep_finish(rc_ep_t *ep);
/* Makes progress end the endpoint. */
void rc_ep_end_later(rc_ep_t *ep);
/* Destroys the queue pair, if it still exists. */
void rc_ep_drop_qp(rc_ep_t *ep);
/* Completes the requests up to and including the one with this sequence
 * number. */
void rc_complete_to(rc_ep_t *ep, uint16_t sn, ucs_status_t status);
/* Moves the queue pair to the error state, in which it receives nothing. */
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

/* Posts an empty signaled request. Its completion shows that all earlier
 * requests have arrived. */
ucs_status_t rc_ep_post_empty(rc_ep_t *ep);
/* Returns whether a flush has to post an empty request, because the completions
 * of the outstanding requests do not show that all requests have arrived. */
int rc_ep_needs_empty(const rc_ep_t *ep);
ucs_status_t rc_ep_flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp);
ucs_status_t rc_ep_fence(uct_ep_h ep, unsigned flags);
ucs_status_t rc_ep_check(uct_ep_h ep, unsigned flags, uct_completion_t *comp);
ucs_status_t rc_ep_invalidate(uct_ep_h ep, unsigned flags);

/* --- rc_credits.c: flow control ------------------------------------------- */

/* rc_credits_open() selects the window that a new endpoint gives to its peer.
 * rc_credits_close() releases the window's receive buffers. */
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
/* Called for a message of `ep` while grants have to be sent. Selects the
 * endpoint whose grant the message carries. Returns RC_AM_GRANT, or 0 if the
 * message carries none. */
uint8_t rc_credits_select(rc_iface_t *iface, rc_ep_t *ep);
/* Adds the selected grant to the work request. */
void rc_credits_attach(const rc_iface_t *iface, const rc_ep_t *ep,
                       struct ibv_send_wr *wr);
/* Called when the message with the selected grant was posted. */
void rc_credits_carried(rc_iface_t *iface, rc_ep_t *ep);
/* Makes other endpoints repeat their grants if messages of the failed endpoint
 * have carried such grants, because the messages may be lost. */
void rc_credits_repeat(rc_ep_t *failed);
/* Sends grants that no message has carried for a while. `is_busy`: this round
 * of progress has handled events. */
void rc_credits_progress(rc_iface_t *iface, int is_busy);

#endif
