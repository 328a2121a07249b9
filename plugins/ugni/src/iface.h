/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport ugni_smsg: an interface is one reliable datagram endpoint of
 * libfabric with an address vector and a completion queue. Its endpoints are
 * addresses in that vector.
 *
 * Each message is one operation of libfabric and one completion. A message that
 * libfabric does not take yet waits in its endpoint's queue, so that a send
 * which has packed its data always succeeds. Until the queue is empty, further
 * sends return UCS_ERR_NO_RESOURCE. The number of operations of an interface is
 * limited, so that the completion queue has an entry for each.
 */
#ifndef UGNI_SMSG_H
#define UGNI_SMSG_H

#include "plugin.h"

#include <ucx/am.h>
#include <ucx/pending.h>

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

enum {
    UGNI_MAX_NAME = 64, /* Bytes of an address of libfabric */
    UGNI_MAX_IOV  = 16  /* Entries of am_short_iov */
};

typedef struct ugni_link {
    struct ugni_link *prev, *next;
} ugni_link_t;

/* Precedes each message; little-endian. */
typedef struct ugni_wire_head {
    uint64_t source;    /* Random number of the sending interface */
    uint32_t key;       /* Of the interface it is for: drops stray messages */
    uint16_t number;    /* Of the message, from `source` to `key` */
    uint8_t  id;        /* UGNI_ID_NONE: no message, only a check */
    uint8_t  epoch;     /* Another one: messages were lost, numbers restart */
} ugni_wire_head_t;

enum { UGNI_ID_NONE = 0xff };

/* The interface's address; the address of libfabric follows. */
typedef struct ugni_wire_addr {
    uint64_t start;     /* Start time of the process, as in /proc */
    uint64_t space;     /* Id of kernel and PID namespace */
    uint32_t pid;
    uint32_t key;
} ugni_wire_addr_t;

typedef struct ugni_wire_device {
    uint64_t fabric;    /* Hash of provider and fabric */
    uint64_t host;      /* Kernel and network namespace; 0: any */
} ugni_wire_device_t;

_Static_assert(sizeof(ugni_wire_head_t) == 16, "wire format");
_Static_assert(sizeof(ugni_wire_addr_t) == 24, "wire format");
_Static_assert(sizeof(ugni_wire_device_t) == 16, "wire format");

struct ugni_ep;

/* An operation; libfabric returns its address with the completion. */
typedef struct ugni_op {
    struct fi_context2 context; /* First: belongs to libfabric */
    int                is_recv;
} ugni_op_t;

typedef struct ugni_recv {
    ugni_op_t   op;
    ugni_link_t link;           /* In iface->receiving while it is posted */
    struct ugni_recv *next;     /* In source->early */
    size_t      length;
} ugni_recv_t;

/* An interface that sends to this one (order.c) */
typedef struct ugni_source {
    struct ugni_source *next;   /* In its bucket */
    uint64_t           id;
    uint16_t           number;  /* Of the next message to deliver */
    uint8_t            epoch;
    ugni_recv_t        *early;  /* Messages that wait for earlier ones, sorted
                                 * by number */
} ugni_source_t;

enum { UGNI_SOURCE_BUCKETS = 256 };

typedef struct ugni_send {
    ugni_op_t        op;
    ugni_link_t      link;      /* In ep->queued, ep->sent, iface->disowned */
    ugni_link_t      all;       /* In iface->outstanding */
    struct ugni_ep   *ep;       /* NULL: failed or destroyed */
    struct ugni_peer *peer;
    uint64_t         number;    /* Of the message, for flushes */
    size_t           length;    /* Of the message with its head */
    ugni_wire_head_t head;
    char             data[];
} ugni_send_t;

typedef struct ugni_flush {
    struct ugni_flush *next;
    uint64_t          number;   /* Waits for messages with lower numbers */
    uct_completion_t  *comp;
} ugni_flush_t;

typedef struct ugni_flush_queue {
    ugni_flush_t *head, **tail;
} ugni_flush_queue_t;

/* An interface that this one sends to */
typedef struct ugni_peer {
    struct ugni_peer *next;
    fi_addr_t        fi_addr;
    uint32_t         key;
    uint16_t         number;    /* Of the next message */
    uint8_t          epoch;
    char             name[UGNI_MAX_NAME]; /* Its address of libfabric */
} ugni_peer_t;

typedef struct ugni_iface {
    uct_iface_t         super;
    const ucx_host_t    *host;
    ugni_config_t       config;
    struct fi_info      *info;
    struct fid_fabric   *fabric;
    struct fid_domain   *domain;
    struct fid_ep       *ep;
    struct fid_cq       *cq;
    struct fid_av       *av;
    ugni_wire_device_t  device;
    ugni_wire_addr_t    addr;
    char                name[UGNI_MAX_NAME];
    size_t              name_length;
    uint64_t            source;     /* Random: this interface in messages */
    ugni_peer_t         *peers;
    ugni_source_t       *sources[UGNI_SOURCE_BUCKETS], *last_source;
    unsigned            tx_free;    /* Messages that can be sent */
    uint64_t            next_number;
    ugni_link_t         outstanding; /* Messages, the oldest first */
    ugni_link_t         disowned;   /* Messages that no endpoint waits for */
    ugni_link_t         receiving;
    ugni_flush_queue_t  flushes;
    ucx_mpool_t         *sends, *recvs;
    size_t              recv_data;  /* Offset of a message in its buffer */
    size_t              headroom;
    unsigned            num_missing; /* Receive buffers that are not posted */
    ucx_recv_desc_owner_t recv_owner;
    ugni_link_t         eps, todo;  /* All endpoints; those that wait for
                                     * progress */
    double              checked;    /* Time of the last check of peers */
    int                 timer_fd, event_fd;
    int                 timer_runs, has_fd, is_closing;
} ugni_iface_t;

enum {
    UGNI_EP_FAILED   = 1 << 0, /* No more sends */
    UGNI_EP_TELL     = 1 << 1, /* The user has not been told */
    UGNI_EP_ZOMBIE   = 1 << 2  /* Destroyed by the user */
};

typedef struct ugni_ep {
    uct_ep_t            super;
    ugni_link_t         link, todo; /* In iface->eps, iface->todo */
    ugni_peer_t         *peer;
    ugni_wire_addr_t    addr;       /* Of the peer */
    ugni_link_t         queued, sent;
    ugni_flush_queue_t  flushes;
    ucx_pending_queue_t pending;
    double              moved;      /* Time of the last completion */
    unsigned            busy;       /* Above 0: it is not freed */
    int                 state;
    ucs_status_t        status;
} ugni_ep_t;

static inline void ugni_link_init(ugni_link_t *link)
{
    link->prev = link->next = link;
}

static inline void ugni_link_remove(ugni_link_t *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    ugni_link_init(link);
}

static inline void ugni_link_add(ugni_link_t *list, ugni_link_t *link)
{
    link->prev       = list->prev;
    link->next       = list;
    list->prev->next = link;
    list->prev       = link;
}

static inline int ugni_link_is_alone(const ugni_link_t *link)
{
    return link->next == link;
}

static inline ugni_iface_t *ugni_iface_of(const ugni_ep_t *ep)
{
    return (ugni_iface_t*)ep->super.iface;
}

/* peer.c: the address of this process, and whether another one still runs */
void ugni_peer_self(const ucx_host_t *host, ugni_wire_addr_t *addr);
int ugni_peer_is_dead(const ugni_iface_t *iface, const ugni_wire_addr_t *peer);
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
/* Ends the endpoint's operations with `status`; `tell`: progress reports it.
 * Frees a destroyed endpoint that is not busy. */
void ugni_ep_fail(ugni_ep_t *ep, ucs_status_t status, int tell);
/* Follows a change of the endpoint's state: adds it to iface->todo, or frees it
 * if it is destroyed and has nothing to send. */
void ugni_ep_update(ugni_ep_t *ep);
ucs_status_t ugni_ep_invalidate(uct_ep_h ep, unsigned flags);
ucs_status_t ugni_ep_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                 unsigned flags);
void ugni_ep_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                           void *arg);

/* A message to the peer was lost: fails its endpoints, restarts its numbers. */
void ugni_peer_lost(ugni_iface_t *iface, ugni_peer_t *peer,
                    ucs_status_t status);

/* flush.c */
void ugni_flush_init(ugni_flush_queue_t *queue);
/* End the flushes of an endpoint or of the interface that are complete; the
 * caller holds the endpoint. */
void ugni_flush_update(ugni_ep_t *ep);
void ugni_flush_update_all(ugni_iface_t *iface);
ucs_status_t ugni_ep_flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp);
ucs_status_t ugni_iface_flush(uct_iface_h iface, unsigned flags,
                              uct_completion_t *comp);
ucs_status_t ugni_ep_fence(uct_ep_h ep, unsigned flags);
ucs_status_t ugni_iface_fence(uct_iface_h iface, unsigned flags);

/* am.c */
ucs_status_t ugni_ep_am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                              const void *payload, unsigned length);
ucs_status_t ugni_ep_am_short_iov(uct_ep_h ep, uint8_t id, const uct_iov_t *iov,
                                  size_t iovcnt);
ssize_t ugni_ep_am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                         void *arg, unsigned flags);
ucs_status_t ugni_ep_check(uct_ep_h ep, unsigned flags, uct_completion_t *comp);
ucs_status_t ugni_check_send(const ugni_ep_t *ep);
/* Posts what waits; stops when libfabric takes no more. The caller holds the
 * endpoint, which may fail. */
void ugni_ep_push(ugni_ep_t *ep);
void ugni_send_done(ugni_iface_t *iface, ugni_send_t *send,
                    ucs_status_t status);
void ugni_send_free(ugni_iface_t *iface, ugni_send_t *send);
/* Frees the buffers of messages; the endpoint of libfabric is closed. */
void ugni_sends_cleanup(ugni_iface_t *iface);

/* recv.c */
ucs_status_t ugni_recv_init(ugni_iface_t *iface);
void ugni_recv_cleanup(ugni_iface_t *iface);
void ugni_recv_post(ugni_iface_t *iface);
void ugni_recv_done(ugni_iface_t *iface, ugni_recv_t *recv, size_t length,
                    int is_error);

/* Delivers or drops a received message, and frees its buffer. */
void ugni_recv_deliver(ugni_iface_t *iface, ugni_recv_t *recv);
void ugni_recv_drop(ugni_iface_t *iface, ugni_recv_t *recv);

static inline ugni_wire_head_t *
ugni_recv_head(const ugni_iface_t *iface, const ugni_recv_t *recv)
{
    return (ugni_wire_head_t*)((char*)recv + iface->recv_data) - 1;
}

/* order.c: delivers a valid message when all earlier ones of its source are
 * delivered. */
void ugni_order_take(ugni_iface_t *iface, ugni_recv_t *recv);
void ugni_order_cleanup(ugni_iface_t *iface);

/* progress.c, event.c */
unsigned ugni_iface_progress(uct_iface_h iface);
ucs_status_t ugni_event_open(ugni_iface_t *iface);
void ugni_event_close(ugni_iface_t *iface);
ucs_status_t ugni_event_fd_get(uct_iface_h iface, int *fd_p);
ucs_status_t ugni_event_arm(uct_iface_h iface, unsigned events);

#endif
