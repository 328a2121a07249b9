/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interfaces and endpoints of both transports. ugni_smsg sends messages,
 * ugni_rdma accesses remote memory. The two interfaces of a worker on a device
 * share a port: one reliable datagram endpoint of libfabric with an address
 * vector and a completion queue. Endpoints of UCT are addresses in that vector.
 *
 * Each send (ugni_send_t) is one operation of libfabric with one completion;
 * only injected messages have none. A send that libfabric does not accept yet
 * waits in its endpoint's queue, so that -FI_EAGAIN does not fail a send which
 * has packed its data. Until the queue is empty, further sends return
 * UCS_ERR_NO_RESOURCE. The number of sends of an interface is limited, so that
 * the completion queue has an entry for each.
 */
#ifndef UGNI_IFACE_H
#define UGNI_IFACE_H

#include "link.h"
#include "plugin.h"
#include "wire.h"

#include <ucx/am.h>
#include <ucx/pending.h>

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

enum {
    UGNI_MAX_NAME   = 64,  /* Maximum bytes of an address of libfabric */
    UGNI_MAX_IOV    = 16,  /* Maximum entries of am_short_iov */
    UGNI_MAX_INJECT = 256, /* Maximum bytes of an injected message, with its
                            * header */
};

struct ugni_ep;

/* The transports, as indices */
enum { UGNI_SMSG, UGNI_RDMA, UGNI_NUM_KINDS };

/* An operation. The completion of libfabric contains its address. */
typedef struct ugni_op {
    struct fi_context2 context; /* First member: libfabric uses it */
    uint8_t kind;               /* Transport of the interface */
    uint8_t is_recv;
    uint8_t is_multi; /* A receive buffer for many messages */
    uint8_t is_tag;   /* A tagged receive: ugni_tag_recv_t */
    uint8_t is_zcopy; /* The operation uses memory of the user */
    uint8_t is_copy;  /* A put or get, not an atomic; set when it is posted */
    uint8_t epoch;    /* ugni_peer_t.epoch when the operation was posted */
} ugni_op_t;

/* A receive buffer, with the message that it has received */
typedef struct ugni_recv {
    ugni_op_t op;
    void *desc;             /* Descriptor of the buffer's memory with
                             * FI_MR_LOCAL, otherwise NULL */
    ugni_link_t link;       /* Node in port->receiving while it is posted */
    struct ugni_recv *next; /* Next in ugni_source_t.early */
    ugni_wire_head_t *head; /* The received message */
    size_t length;          /* Bytes of the message with its header */
    int is_shared; /* The message is in a receive buffer for many messages: it
                    * is valid only until it is delivered or dropped */
} ugni_recv_t;

/* First member of all operations that an endpoint starts */
typedef struct ugni_send {
    ugni_op_t op;
    void *desc;          /* Descriptor of the memory of this structure and of
                          * its data, with FI_MR_LOCAL; otherwise NULL */
    ucs_status_t status; /* Result; set while the send is in ep->ended */
    ugni_link_t link;    /* Node in ep->queued, ep->sent, ep->ended or
                         * port->disowned */
    ugni_link_t all;     /* Node in iface->outstanding */
    struct ugni_ep *ep;  /* NULL: the send is in port->disowned */
    struct ugni_peer *peer;
    uint64_t number; /* Sequence number among the sends of the interface, for
                      * flushes and fences */
    uint64_t posted; /* Sequence number among the posted sends of the port, from
                      * 1; 0: not posted */
    /* Passes the operation to libfabric; returns libfabric's result. */
    ssize_t (*post)(struct ugni_ep *ep, struct ugni_send *send);
    /* Called on completion, before the buffer is freed. NULL: nothing to do. */
    void (*done)(struct ugni_send *send, ucs_status_t status);
} ugni_send_t;

typedef struct ugni_msg {
    ugni_send_t super;
    size_t length; /* Length of the message with its header */
    union {
        uint64_t tag; /* Of a tagged message */
        void *arg;    /* Of UGNI_ID_FETCHED: the receive (ugni_tag_recv_t) */
    };
    ugni_wire_head_t head;
    char data[];
} ugni_msg_t;

/* State of an interface that sends to this one (order.c) */
typedef struct ugni_source {
    struct ugni_source *next; /* Next in the hash bucket */
    uint64_t id;              /* ugni_wire_head_t.source, in host order */
    uint16_t number;          /* Number of the next message to deliver */
    uint8_t epoch;            /* ugni_wire_head_t.epoch of that message */
    uint8_t is_lost;    /* A message was lost: drop the other messages of the
                         * epoch */
    uint8_t is_told;    /* UGNI_ID_LOST was sent to the source in this epoch */
    ugni_recv_t *early; /* Received messages that wait for earlier messages of
                         * the source, sorted by number */
    double since;       /* Time since when none of `early` was delivered */
} ugni_source_t;

enum { UGNI_SOURCE_BUCKETS = 256 };

typedef struct ugni_flush {
    struct ugni_flush *next;
    uint64_t number; /* Waits for all sends with lower ugni_send_t.number */
    uct_completion_t *comp;
} ugni_flush_t;

typedef struct ugni_flush_queue {
    ugni_flush_t *head, **tail;
} ugni_flush_queue_t;

/* Whether libfabric has accepted messages for a peer since the last failure */
typedef enum {
    UGNI_CONTACT_NONE,  /* No message was sent */
    UGNI_CONTACT_TRIED, /* None was accepted: libfabric may be connecting */
    UGNI_CONTACT_MET,   /* Messages were accepted */
} ugni_contact_t;

/* A remote interface to which endpoints of the port were created. It is freed
 * with the port. */
typedef struct ugni_peer {
    struct ugni_peer *next; /* Next in port->peers */
    fi_addr_t fi_addr;
    uint32_t key;             /* ugni_wire_addr_t.key of the interface */
    uint16_t number;          /* Number of the next message to it */
    uint16_t sent[2];         /* Numbers of outstanding messages (PART, am.c) */
    uint8_t epoch;            /* ugni_wire_head_t.epoch of that message */
    uint8_t contact;          /* ugni_contact_t */
    uint8_t is_silent;        /* The last ugni_port_sweep() has found data that
                               * the peer's host does not acknowledge */
    double silent_since;      /* Time of the first sweep since the last
                               * acknowledgement that set is_silent; 0: none */
    char name[UGNI_MAX_NAME]; /* Address of the interface in libfabric */
} ugni_peer_t;

/* Objects that the interfaces of a worker share on one device. The port's pools
 * and buffers exist until its last interface is closed, because libfabric uses
 * them until then. */
typedef struct ugni_port {
    struct ugni_port *next; /* Next in md->ports */
    ugni_md_t *md;
    ugni_device_t *device;
    uct_worker_h worker;
    unsigned refcount;
    unsigned used; /* Bit mask of the kinds of interfaces opened so far */
    struct ugni_iface *ifaces[UGNI_NUM_KINDS]; /* By kind; NULL: not open */
    struct fi_info *info;                      /* With the queue lengths that
                                                * the configuration sets */
    struct fid_ep *ep;
    struct fid_cq *cq;
    struct fid_av *av;
    int is_polled;       /* ugni_iface_t.is_polled of the first interface */
    int has_fd;          /* The completion queue has a descriptor for wake-up */
    int is_local;        /* FI_MR_LOCAL: buffers are registered */
    int is_waiting;      /* The last ugni_port_sweep() has found a host that
                          * does not acknowledge data */
    int loses_contexts;  /* The completion of a failed put or get may not
                          * identify its operation */
    int fetches_atomics; /* Atomics without a result are unsafe; all are posted
                          * with one */
    int receives_many;   /* FI_MULTI_RECV is used */
    int is_direct;       /* ugni_direct_is_possible() */
    uint64_t posts;      /* Number of operations that libfabric has accepted */
    unsigned polls;      /* Number of polls of the completion queue; the service
                          * thread reads it */
    ucx_async_id_t service;   /* Timer of service.c, or 0 */
    unsigned served;          /* `polls` at the last tick of the timer */
    int is_drained;           /* The last poll found nothing */
    double swept;             /* Time of the last ugni_port_sweep() */
    char name[UGNI_MAX_NAME]; /* Address of `ep` in libfabric */
    size_t name_length;       /* Bytes of an address of libfabric */
    ugni_peer_t *peers;
    ugni_link_t disowned;  /* Sends that libfabric uses, but that no endpoint
                            * owns any more */
    ugni_link_t receiving; /* Posted receive buffers */
    /* Pools of ugni_msg_t and ugni_rma_t by kind; of receive buffers for one
     * message */
    ucx_mpool_t *sends[UGNI_NUM_KINDS], *recvs;
    ucx_mpool_t *areas;     /* Pool of receive buffers for many messages; NULL:
                             * each message has its own buffer */
    ucx_mpool_t *tag_recvs; /* Pool of ugni_tag_recv_t; NULL: not used */
} ugni_port_t;

typedef struct ugni_iface {
    uct_iface_t super;
    const ucx_host_t *host;
    int kind;
    int is_polled; /* UCX_IFACE_OPEN_POLLED: no event descriptor is needed */
    ugni_config_t config;
    ugni_port_t *port;
    ugni_wire_device_t device;   /* Address of the device, as sent to peers */
    ugni_wire_addr_t addr;       /* Address of the interface, in host order */
    unsigned tx_free;            /* Number of sends that can still be started */
    uint64_t next_number, fence; /* Sequence numbers: of the next send, and of
                                  * the first send after the last fence */
    ugni_link_t outstanding;     /* Outstanding sends, oldest first */
    ugni_flush_queue_t flushes;
    ugni_link_t eps, todo; /* All endpoints; those that wait for
                            * progress */
    double checked;        /* Time of the last check of peers */
    unsigned polls;        /* port->polls at the last progress */
    /* The timer, and the user's descriptor that contains it (event.c); or -1 */
    int timer_fd, event_fd;
    int timer_runs, is_closing; /* is_closing: received messages are dropped */
    /* ugni_rdma: non-zero if a read confirms earlier writes; otherwise the
     * completions of writes confirm them */
    int confirms;
    /* Members of ugni_smsg */
    uint64_t source;    /* ugni_wire_head_t.source of its messages */
    unsigned num_early; /* Messages in ugni_source_t.early of all sources */
    /* Hash table of sources; the source of the last received message */
    ugni_source_t *sources[UGNI_SOURCE_BUCKETS], *last_source;
    size_t recv_data;     /* Offset of the data, after the message's header, in
                           * a receive buffer */
    size_t headroom;      /* Bytes that the user has reserved before the data */
    size_t max_inject;    /* Maximum bytes of an injected message; 0: none */
    size_t area_size;     /* Bytes of a receive buffer for many messages */
    unsigned num_missing; /* Number of receive buffers that are not posted */
    unsigned max_missing; /* If so many or more are missing, buffers are posted
                           * even if the completion queue is not empty */
    int is_recv_told;     /* A failure to post receive buffers was logged */
    ucx_recv_desc_owner_t recv_owner; /* Gets buffers that users release */
    struct ugni_tags *tags;           /* NULL: no tag matching */
} ugni_iface_t;

enum {
    UGNI_EP_FAILED = 1 << 0, /* Accepts no more sends */
    UGNI_EP_TELL   = 1 << 1, /* The failure must be reported to the user */
    UGNI_EP_ZOMBIE = 1 << 2, /* Destroyed by the user */
    UGNI_EP_CANCELED =
        1 << 3, /* Cancelled by a flush: its sends complete even after the user
                 * has destroyed the endpoint */
    UGNI_EP_INTERNAL = 1 << 4, /* Created by tag_rndv.c: the user has no handle
                                * of it */
};

/* Whether direct.c can access memory of the peer, without libfabric */
typedef enum {
    UGNI_DIRECT_UNKNOWN, /* Not checked yet */
    UGNI_DIRECT_NO,
    UGNI_DIRECT_YES,
} ugni_direct_t;

typedef struct ugni_ep {
    uct_ep_t super;
    ugni_link_t link, todo; /* Nodes in iface->eps and iface->todo */
    ugni_peer_t *peer;
    ugni_wire_addr_t addr; /* Address of the peer */
    /* Incomplete sends: not yet accepted by libfabric; accepted */
    ugni_link_t queued, sent;
    ugni_link_t ended; /* Sends that have failed; their completions are called
                        * when the failure is reported */
    ugni_flush_queue_t flushes;
    ucx_pending_queue_t pending;
    uint64_t dirty_addr, dirty_key; /* Address and key of the last write */
    int is_dirty;                   /* No read was started after that write */
    ugni_direct_t direct;
    uint64_t fence;  /* Its sends from this number on wait for earlier ones */
    double moved;    /* Time since when its incomplete sends make no progress,
                      * or since its failure */
    int is_injected; /* The last messages sent were injected: they have no
                      * completion */
    unsigned busy;   /* Number of functions on the call stack that use the
                      * endpoint, so that it must not be freed */
    int state;       /* UGNI_EP_* */
    ucs_status_t status; /* With UGNI_EP_FAILED: the reason */
} ugni_ep_t;

static inline ugni_iface_t *ugni_iface_of(const ugni_ep_t *ep)
{
    return (ugni_iface_t *)ep->super.iface;
}

/* service.c: starts and stops the timer that polls a port, if the provider
 * needs it */
ucs_status_t ugni_service_start(const ucx_host_t *host, ugni_port_t *port);
void ugni_service_stop(const ucx_host_t *host, ugni_port_t *port);

/* port.c */
ucs_status_t ugni_port_get(ugni_iface_t *iface, ugni_device_t *device,
                           uct_worker_h worker);
/* Releases the interface's reference to its port. */
void ugni_port_put(ugni_iface_t *iface);
/* Polls the completion queue for both interfaces, then posts receive buffers
 * and serves tagged receives. Returns the number of completions. */
unsigned ugni_port_progress(ugni_port_t *port);
/* Finds or adds a peer. `name` is an address of libfabric. */
ucs_status_t ugni_port_peer(ugni_port_t *port, const void *name, uint32_t key,
                            ugni_peer_t **peer_p);

/* pool.c: creates a pool of buffers for operations of the port. Large elements,
 * of which a port needs few, are allocated one by one. */
ucs_status_t ugni_pool_create(const ucx_host_t *host, ugni_port_t *port,
                              int is_recv, size_t elem_size,
                              ucx_mpool_t **pool_p);

/* iface.c */
ucs_status_t ugni_iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                             int kind, ugni_iface_t **iface_p);
void ugni_iface_close(uct_iface_h iface);
/* Sets the attributes that both transports have. */
void ugni_iface_attr(const ugni_iface_t *iface, ucx_iface_attr_t *attr);
ucs_status_t ugni_iface_device_address(uct_iface_h iface,
                                       uct_device_addr_t *addr);
ucs_status_t ugni_iface_address(uct_iface_h iface, uct_iface_addr_t *addr);
/* Writes the part of an address that precedes libfabric's address,
 * little-endian. */
void ugni_addr_pack(const ugni_wire_addr_t *addr, void *buffer);

/* cost.c: the costs of the provider, as attributes and by operation */
void ugni_cost_attr(const ugni_iface_t *iface, uct_iface_attr_t *attr);
ucs_status_t ugni_iface_estimate(uct_iface_h iface, ucx_perf_t *perf);

/* peer.c: sets pid, start and space to those of this process. */
void ugni_peer_self(const ucx_host_t *host, ugni_wire_addr_t *addr);
/* Returns non-zero if the peer is in this PID namespace and has exited. */
int ugni_peer_is_dead(const ugni_iface_t *iface, const ugni_wire_addr_t *peer);
/* Returns non-zero if the process has exited. `pid` is in this PID namespace,
 * `start` is the start time from an interface address. */
int ugni_process_is_gone(uint32_t pid, uint64_t start);
/* region.c: names the endpoint of the provider shm, before it is enabled.
 * Returns 0 or an error of libfabric. */
int ugni_region_name(ugni_port_t *port);
/* peer.c: sets iface->device. */
void ugni_device_address(ugni_iface_t *iface);
int ugni_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args);

static inline int ugni_ep_has_sends(const ugni_ep_t *ep)
{
    return !ugni_link_is_alone(&ep->queued) || !ugni_link_is_alone(&ep->sent);
}

/* ep.c */
ucs_status_t ugni_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                            uct_ep_h *ep_p);
void ugni_ep_destroy(uct_ep_h ep);
/* Creates an endpoint for an interface address of `length` bytes, which is
 * untrusted input. */
ucs_status_t ugni_ep_connect(ugni_iface_t *iface, const void *address,
                             size_t length, ugni_ep_t **ep_p);
/* Fails the endpoint: it accepts no more sends, and incomplete ones end with
 * `status`. With `tell`, progress reports the failure. Sends that the failure
 * must wait for (is_awaited() in ep.c) end later. Frees a destroyed endpoint
 * that is not busy. */
void ugni_ep_fail(ugni_ep_t *ep, ucs_status_t status, int tell);
/* Completes all sends of a failed endpoint, although libfabric has not
 * completed them, and may still use their memory. */
void ugni_ep_abandon(ugni_ep_t *ep);
/* Calls the completions of `ended`, of announced rendezvous and of flushes. The
 * caller has incremented ep->busy. */
void ugni_ep_settle(ugni_ep_t *ep);
/* Called after a change of the endpoint's state or of `busy`; does nothing if
 * `busy` is not 0. Adds the endpoint to iface->todo if it needs progress, or
 * frees it if it is destroyed and has nothing to send. */
void ugni_ep_update(ugni_ep_t *ep);
ucs_status_t ugni_ep_invalidate(uct_ep_h ep, unsigned flags);
ucs_status_t ugni_ep_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                 unsigned flags);
void ugni_ep_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                           void *arg);

/* Called when the connection to a peer was lost. Fails the endpoints of both
 * interfaces to the peer, and restarts the numbers of messages. Reason: with
 * the connection, a provider loses messages and writes that it has reported as
 * complete. The numbers of later messages would have a gap, and a flush would
 * not detect a lost write. */
void ugni_port_lost(ugni_port_t *port, fi_addr_t fi_addr, ucs_status_t status);

/* silence.c: fails the endpoints to peers whose host has acknowledged nothing
 * for `timeout` seconds. Checks the sockets once a second at most. Returns
 * whether it has to be called again soon. */
int ugni_port_sweep(ugni_port_t *port, double timeout, double now);

/* direct.c: returns whether the provider permits put and get by system calls of
 * this plugin. */
int ugni_direct_is_possible(const ugni_md_t *md, const struct fi_info *info);

/* flush.c */
void ugni_flush_init(ugni_flush_queue_t *queue);
/* rma.c: starts a read that confirms the writes of an endpoint (is_dirty).
 * Returns errors as a send does. */
ucs_status_t ugni_rma_confirm(ugni_ep_t *ep);
/* Frees the flushes of an endpoint without their completions. */
void ugni_flush_drop(ugni_ep_t *ep);
/* Complete the flushes of an endpoint or of the interface that have nothing
 * left to wait for. The caller has incremented `busy` of the endpoint. */
void ugni_flush_update(ugni_ep_t *ep);
void ugni_flush_update_all(ugni_iface_t *iface);
ucs_status_t ugni_ep_flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp);
ucs_status_t ugni_iface_flush(uct_iface_h iface, unsigned flags,
                              uct_completion_t *comp);
/* Fences of ugni_rdma; messages are always ordered. */
ucs_status_t ugni_ep_fence(uct_ep_h ep, unsigned flags);
ucs_status_t ugni_iface_fence(uct_iface_h iface, unsigned flags);
/* Returns non-zero if the send must wait for earlier sends. */
int ugni_is_fenced(const ugni_ep_t *ep, const ugni_send_t *send);

/* send.c */
ucs_status_t ugni_check_send(const ugni_ep_t *ep);
/* Allocates a send of the endpoint. The caller sets `post`, and `done` if the
 * send has a completion of the user. */
ucs_status_t ugni_send_new(ugni_ep_t *ep, ugni_send_t **send_p);
/* rdma.c: returns the bytes of a send of a transport, without its data. */
size_t ugni_send_size(int kind);
/* Frees a send that was not started. */
void ugni_send_cancel(ugni_send_t *send);
/* Starts a send: posts or queues it. The endpoint may fail. */
void ugni_send_start(ugni_send_t *send);
/* Posts queued sends until libfabric accepts no more, or one must wait at a
 * fence. The endpoint may fail. The caller has incremented ep->busy. */
void ugni_ep_push(ugni_ep_t *ep);
/* Handles the completion of a send. The interface may be closed. */
void ugni_send_done(ugni_port_t *port, ugni_send_t *send, ucs_status_t status);
void ugni_send_free(ugni_port_t *port, ugni_send_t *send);
/* Returns the oldest accepted put or get that is incomplete, or NULL. */
ugni_send_t *ugni_send_first(const ugni_port_t *port);

/* am.c */
ucs_status_t ugni_ep_am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                              const void *payload, unsigned length);
ucs_status_t ugni_ep_am_short_iov(uct_ep_h ep, uint8_t id, const uct_iov_t *iov,
                                  size_t iovcnt);
ssize_t ugni_ep_am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                         void *arg, unsigned flags);
/* Allocates a message without content. Returns errors as a send does. */
ucs_status_t ugni_msg_new(ugni_ep_t *ep, uint8_t id, ugni_msg_t **msg_p);
/* Starts a message with `length` bytes of content. */
void ugni_msg_start(ugni_msg_t *msg, size_t length);
/* Sends a message with one of UGNI_ID_*, which contains the sender's address.
 * Returns errors as a send does. */
ucs_status_t ugni_ep_am_notify(ugni_ep_t *ep, uint8_t id);
/* If the last messages were injected, and have no completion, sends a message
 * with a completion after them. Returns errors as a send does. */
ucs_status_t ugni_ep_am_confirm(ugni_ep_t *ep);
/* Counts the completion of a message of the peer's current epoch. */
void ugni_am_done(const ugni_send_t *send);
ucs_status_t ugni_ep_am_check(uct_ep_h ep, unsigned flags,
                              uct_completion_t *comp);

/* recv.c */
ucs_status_t ugni_recv_init(ugni_iface_t *iface);
void ugni_recv_post(ugni_iface_t *iface);
void ugni_recv_done(ugni_port_t *port, ugni_recv_t *recv,
                    const struct fi_cq_tagged_entry *entry, int is_error);
/* Returns a message that may be held: the same one, or a copy of a shared one;
 * NULL: out of memory. */
ugni_recv_t *ugni_recv_keep(ugni_iface_t *iface, ugni_recv_t *recv);
/* Delivers or drops a received message, and frees its buffer. */
void ugni_recv_deliver(ugni_iface_t *iface, ugni_recv_t *recv);
void ugni_recv_drop(ugni_iface_t *iface, ugni_recv_t *recv);

/* Notifies the peers that the interface closes; stops at time `end`. */
void ugni_am_farewell(ugni_iface_t *iface, double end);

/* lost.c: handles the loss of a message from `source`. Fails the endpoints to
 * the source and notifies it. Takes the address of the source from an endpoint,
 * or from a message with UGNI_ID_CHECK in the list `early`; without either,
 * sends no notice. Returns whether the notice was sent. */
int ugni_lost_report(ugni_iface_t *iface, uint64_t source,
                     const ugni_recv_t *early);
/* Fails the endpoints to `source`: it has closed, or a message was lost. */
void ugni_lost_told(ugni_iface_t *iface, uint64_t source);

static inline uint64_t ugni_source_of(const ugni_wire_addr_t *addr)
{
    return ((uint64_t)addr->nonce << 32) | addr->key;
}

/* order.c: delivers a valid message as soon as all earlier messages of its
 * source are delivered. */
void ugni_order_take(ugni_iface_t *iface, ugni_recv_t *recv);
/* If messages have waited for an earlier message until the timeout, reports its
 * loss and drops them. */
void ugni_order_check(ugni_iface_t *iface, double now);
void ugni_order_cleanup(ugni_iface_t *iface);

/* progress.c, event.c */
unsigned ugni_iface_progress(uct_iface_h iface);
/* Returns whether progress is needed although no event occurs. */
int ugni_iface_needs_checks(const ugni_iface_t *iface);
ucs_status_t ugni_event_open(ugni_iface_t *iface);
void ugni_event_close(ugni_iface_t *iface);
ucs_status_t ugni_event_fd_get(uct_iface_h iface, int *fd_p);
ucs_status_t ugni_event_arm(uct_iface_h iface, unsigned events);

#endif
