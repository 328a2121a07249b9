/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the files of the test plugin pairs: a transport over
 * local sockets that connects pairs of endpoints. Put and get are packets that
 * the peer's progress executes.
 *
 * States of an endpoint (pairs_state_t):
 *   NEW --connect_to_ep--> CONNECTED
 *   any state --an error, or the peer closes the connection--> FAILED
 */
#ifndef PAIRS_H
#define PAIRS_H

#include "entry.h"
#include "poller.h"
#include "sock.h"

#include <pthread.h>
#include <ucx/pending.h>

#define PAIRS_NAME "pairs"

#define UCX_LOG_HOST host
#include <ucx/log.h>

enum {
    PAIRS_MAX_DATA  = 8192, /* Bytes of a message, a put, or a get */
    PAIRS_MAX_SHORT = 256,  /* Bytes of a short operation */
    PAIRS_MAX_IOV   = 8,
    PAIRS_MAX_OPS   = 16, /* Gets and flushes in flight, per endpoint */
};

/* Kinds of packets. A packet is a pairs_header_t, for some kinds followed by
 * data. The comments name the members of the header that are used. Integers are
 * in native byte order, because both ends are on one host. */
typedef enum {
    PAIRS_HELLO,     /* First packet; `name`: address of the sender's
                      * endpoint */
    PAIRS_MESSAGE,   /* `am_id`; data */
    PAIRS_PUT,       /* `key`, `address`; data */
    PAIRS_GET,       /* `key`, `address`, `length`; answer: GET_REPLY */
    PAIRS_GET_REPLY, /* Data */
    PAIRS_FLUSH,     /* Answer: FLUSHED, after all earlier packets */
    PAIRS_FLUSHED,
    PAIRS_REFUSED, /* Answer to a put or get of memory that is not registered;
                    * the endpoint that receives it fails */
} pairs_kind_t;

typedef struct pairs_header {
    uint8_t kind; /* pairs_kind_t */
    uint8_t am_id;
    uint8_t reserved[2];
    uint32_t length; /* Number of bytes that a GET requests */
    uint64_t key;
    uint64_t address;
    sock_name_t name;
} pairs_header_t;

_Static_assert(sizeof(pairs_header_t) == 40, "wire layout");

/* A packed remote key. */
typedef struct pairs_rkey {
    uint64_t key;
    uint64_t check; /* A function of `key`, to detect damaged keys */
} pairs_rkey_t;

/* A registration. */
typedef struct pairs_region {
    struct pairs_region *next;
    uint64_t key; /* Random number */
    char *start;  /* The user's address of the memory */
    size_t length;
    /* Address at which the processor accesses the memory: `start`, or for
     * device memory an address in a mapping of its dmabuf */
    char *bytes;
    void *map; /* The mapping of the dmabuf; NULL: host memory */
    size_t map_length;
} pairs_region_t;

typedef struct pairs_md {
    uct_md_t super;       /* First member */
    int zcopy;            /* The interface has zero-copy put and get, which
                           * require registered local memory */
    pthread_mutex_t lock; /* Protects `regions` */
    pairs_region_t *regions;
} pairs_md_t;

typedef struct pairs_md_config {
    int zcopy; /* UCX_PAIRS_ZCOPY */
} pairs_md_config_t;

typedef struct pairs_config {
    int messages; /* UCX_PAIRS_MESSAGES */
} pairs_config_t;

struct pairs_ep;

typedef struct pairs_iface {
    uct_iface_t super; /* First member */
    int messages;      /* The interface supports active messages */
    poller_t poller;
    struct pairs_ep *eps;
    /* Number of endpoints with a failure that is not reported yet */
    unsigned num_failed;
    char *out; /* Data of the packet being sent; PAIRS_MAX_DATA bytes */
    /* Flushes of the interface; they complete when no endpoint waits for an
     * answer or has an answer to send. Only `next` and `comp` are used. */
    struct pairs_op *flushes;
} pairs_iface_t;

/* A get or a flush that waits for its answer. Answers arrive in the order of
 * the requests. */
typedef struct pairs_op {
    struct pairs_op *next;
    pairs_kind_t answer;          /* GET_REPLY or FLUSHED */
    size_t length;                /* Bytes of the answer's data */
    uct_unpack_callback_t unpack; /* Called for the answer's data; NULL: none */
    void *arg;                    /* Argument of `unpack` */
    uct_completion_t *comp;       /* May be NULL */
} pairs_op_t;

/* An answer to a packet of the peer that could not be sent yet. */
typedef struct pairs_answer {
    struct pairs_answer *next;
    size_t length;
    pairs_header_t header;
    char data[];
} pairs_answer_t;

typedef enum {
    PAIRS_NEW,
    PAIRS_CONNECTED,
    PAIRS_FAILED,
} pairs_state_t;

typedef struct pairs_ep {
    uct_ep_t super; /* First member */
    poller_memory_t memory;
    struct pairs_ep *next;
    pairs_state_t state;
    ucs_status_t status; /* Error, if the state is PAIRS_FAILED */
    int is_told;         /* The error was reported to the user */
    sock_name_t name;    /* This endpoint's address */
    sock_name_t peer;    /* The peer's address, once it is known */
    /* These three are NULL in the state PAIRS_FAILED */
    poller_source_t *listener;   /* Socket with the name `name`; NULL after the
                                * peer has connected */
    poller_source_t *in;         /* Connection for receiving; NULL: none yet */
    poller_source_t *out;        /* Connection for sending; NULL: none yet */
    int is_greeted;              /* The peer's HELLO has arrived */
    int is_dirty;                /* There were puts since the last FLUSH */
    pairs_op_t *ops, **ops_tail; /* Operations that wait for an answer */
    unsigned num_ops;            /* Their number */
    pairs_answer_t *answers, **answers_tail; /* Answers to send */
    ucx_pending_queue_t pending;
} pairs_ep_t;

static inline pairs_iface_t *pairs_iface_of(const pairs_ep_t *ep)
{
    return (pairs_iface_t *)ep->super.iface;
}

/* md.c */
extern const ucx_md_ops_t pairs_md_ops;
extern const ucx_config_table_t pairs_md_config;
ucs_status_t pairs_md_open(const ucx_component_t *component,
                           const ucx_md_open_args_t *args, uct_md_h *md_p);
ucs_status_t pairs_rkey_unpack(const ucx_component_t *component,
                               const void *buffer, size_t length,
                               ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                               void **handle_p);
/* Copies `length` bytes from `data` to the registered memory at `address`
 * (`is_put`), or in the other direction. Returns 0 if the key does not permit
 * that. */
int pairs_md_copy(pairs_md_t *md, uint64_t key, uint64_t address, void *data,
                  size_t length, int is_put);

/* iface.c */
extern const ucx_transport_t pairs_transport;

/* ep.c */
extern const ucx_ep_ops_t pairs_ep_ops;
ucs_status_t pairs_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                             uct_ep_h *ep_p);
/* Closes the connections, if the endpoint has not failed before. The next
 * progress completes all operations and reports the failure. Returns the
 * endpoint's status. */
ucs_status_t pairs_ep_fail(pairs_ep_t *ep, ucs_status_t status);
/* Makes the poller report a writable `out` if, and only if, a pending request
 * or an answer waits to be sent. */
void pairs_ep_watch(pairs_ep_t *ep);

/* send.c */
ucs_status_t pairs_am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                            const void *payload, unsigned length);
ucs_status_t pairs_am_short_iov(uct_ep_h ep, uint8_t id, const uct_iov_t *iov,
                                size_t iovcnt);
ssize_t pairs_am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                       void *arg, unsigned flags);
ucs_status_t pairs_put_short(uct_ep_h ep, const void *buffer, unsigned length,
                             uint64_t remote_addr, uct_rkey_t rkey);
ssize_t pairs_put_bcopy(uct_ep_h ep, uct_pack_callback_t pack_cb, void *arg,
                        uint64_t remote_addr, uct_rkey_t rkey);
ucs_status_t pairs_get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack_cb,
                             void *arg, size_t length, uint64_t remote_addr,
                             uct_rkey_t rkey, uct_completion_t *comp);
ucs_status_t pairs_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp);
ucs_status_t pairs_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp);
ucs_status_t pairs_flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp);
ucs_status_t pairs_fence(uct_ep_h ep, unsigned flags);
ucs_status_t pairs_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                               unsigned flags);
void pairs_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                         void *arg);
/* Sends an answer to a packet of the peer: at once, or later if there is no
 * space. Returns 0 if out of memory. */
int pairs_answer(pairs_ep_t *ep, pairs_kind_t kind, const void *data,
                 size_t length);
/* Called when sending may be possible: sends the waiting answers, then calls
 * pending requests. */
void pairs_send_more(pairs_ep_t *ep);
/* Completes, with this status, all operations that wait for an answer. */
void pairs_end_ops(pairs_ep_t *ep, ucs_status_t status);
/* Frees the answers that were not sent. */
void pairs_drop_answers(pairs_ep_t *ep);
/* Removes and returns the first operation that waits for an answer, if it waits
 * for this kind of answer; otherwise returns NULL. */
pairs_op_t *pairs_take_op(pairs_ep_t *ep, pairs_kind_t answer);
/* Frees the operation and calls its completion. */
void pairs_complete(pairs_op_t *op, ucs_status_t status);

/* receive.c */
void pairs_accept(poller_source_t *source, uint32_t events);
/* Called by connect_to_ep: if the peer has already connected, accepts its
 * connection and reads its HELLO. Returns an error if the peer has sent
 * anything else: it must not send before both ends are connected. */
ucs_status_t pairs_greet_early(pairs_ep_t *ep);

#endif
