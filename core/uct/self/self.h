/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loopback transport "self": an interface reaches only itself, so a process
 * sends to itself. Like a plugin, it uses only the headers of the SDK (ucx/),
 * and no other header of the core; self_decl.c is the exception.
 */
#ifndef UCT_SELF_H
#define UCT_SELF_H

#include <ucx/am.h>
#include <ucx/plugin.h>

#define SELF_NAME   "self"
#define SELF_DEVICE "memory"

/* The bandwidth of the declaration, in bytes per second. */
#define SELF_BANDWIDTH 10e9

/* Messages of at most this many bytes use buffers of this size, except those of
 * am_bcopy, which allocates the buffer before the size is known. Otherwise a
 * receiver that keeps many small messages would hold a buffer of seg_size bytes
 * for each. */
#define SELF_SMALL_SIZE 256

/* Maximum number of messages that one call of progress delivers. */
#define SELF_PROGRESS_MAX 64

/* The core's functions for plugins, from the argument of
 * uct_self_plugin_entry(). */
extern const ucx_host_t *uct_self_host;

/* Values of the configuration variables UCX_SELF_* of an interface. */
typedef struct self_iface_config {
    size_t seg_size;    /* size of the largest active message in bytes */
    unsigned queue_len; /* messages that may wait for progress */
} self_iface_config_t;

/*
 * The descriptor of a message, at the beginning of the message's buffer:
 *
 *   | self_desc_t | headroom | message |
 *
 * The headroom is space that the user of the interface requests in front of
 * each received message (rx_headroom). The word before the headroom contains
 * the owner of the buffer, as <ucx/am.h> requires.
 */
typedef struct self_desc {
    struct self_desc *next; /* next message in the queue of the interface, or
                             * NULL */
    ucx_mpool_t *mpool;     /* pool of the buffer */
    unsigned length;        /* of the message in bytes */
    uint8_t id;             /* of the active-message handler */
    ucx_recv_desc_owner_t *owner; /* self_iface_t::owner */
} self_desc_t;

_Static_assert(offsetof(self_desc_t, owner) + sizeof(void *) ==
                   sizeof(self_desc_t),
               "the owner lies right before the headroom");

typedef struct self_iface {
    uct_iface_t super;
    uint64_t id;                 /* a random number: the interface's address */
    ucx_recv_desc_owner_t owner; /* releases buffers that a receiver has kept,
                                  * by self_desc_release() */
    ucx_mpool_t *small; /* buffers for messages of up to SELF_SMALL_SIZE
                         * bytes */
    ucx_mpool_t *large; /* buffers for messages of up to seg_size bytes */
    size_t seg_size;    /* size of the largest message in bytes */
    size_t headroom;    /* bytes in front of each message (self_desc_t) */
    int is_aligned;     /* 1: messages have the alignment that the user has
                         * requested (UCX_IFACE_FLAG_ALIGNS_AM) */

    /* Queue of messages that were sent and not delivered yet */
    self_desc_t *head;  /* NULL: the queue is empty */
    self_desc_t **tail; /* `next` of the last message; &head if empty */
    unsigned queued;    /* messages in the queue */
    unsigned queue_len; /* largest allowed value of `queued` */

    /* Queue of pending requests (uct_ep_pending_add()), which wait until the
     * message queue has space; `head` and `tail` as above */
    uct_pending_req_t *pending_head;
    uct_pending_req_t **pending_tail;

    int event_fd;           /* an eventfd */
    int armed;              /* 1: the next message makes event_fd readable */
    uct_am_tracer_t tracer; /* describes messages in the log; NULL: none */
    void *tracer_arg;       /* first argument of `tracer` */
} self_iface_t;

typedef struct self_ep {
    uct_ep_t super;
    ucs_status_t status; /* UCS_OK until uct_ep_invalidate() was called; then
                          * sends and other communication return this error */
} self_ep_t;

/* Content of uct_pending_req_t::priv while a request is in the queue. */
typedef struct self_pending_priv {
    uct_pending_req_t *next; /* in the queue; NULL: the last */
    self_ep_t *ep;           /* endpoint to which the request was added */
} self_pending_priv_t;

_Static_assert(sizeof(self_pending_priv_t) <= UCT_PENDING_REQ_PRIV_LEN,
               "a pending request has room for our part");

static inline self_iface_t *self_ep_iface(uct_ep_h ep)
{
    return (self_iface_t *)ep->iface;
}

/* Returns UCS_OK, or the error of an endpoint that was invalidated. */
static inline ucs_status_t self_ep_status(uct_ep_h ep)
{
    return ((self_ep_t *)ep)->status;
}

/* Returns the beginning of the message. */
static inline void *self_desc_data(const self_iface_t *iface, self_desc_t *desc)
{
    return (char *)(desc + 1) + iface->headroom;
}

static inline size_t self_min(size_t a, size_t b)
{
    return (a < b) ? a : b;
}

/* self_md.c */
extern const ucx_md_ops_t uct_self_md_ops;
ucs_status_t self_query_md_resources(const ucx_component_t *component,
                                     uct_md_resource_desc_t **mds_p,
                                     unsigned *num_p);
ucs_status_t self_md_open(const ucx_component_t *component,
                          const ucx_md_open_args_t *args, uct_md_h *md_p);
ucs_status_t self_rkey_unpack(const ucx_component_t *component,
                              const void *buffer, size_t length,
                              ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                              void **handle_p);
ucs_status_t self_rkey_ptr(const ucx_component_t *component, uct_rkey_t rkey,
                           void *handle, uint64_t remote_address,
                           void **local_address_p);
ucs_status_t self_rkey_release(const ucx_component_t *component,
                               uct_rkey_t rkey, void *handle);
ucs_status_t self_rkey_compare(const ucx_component_t *component, uct_rkey_t a,
                               uct_rkey_t b, int *result);

/* Returns a random 64-bit number. UCS_ERR_IO_ERROR if the system has no source
 * of random numbers. */
ucs_status_t self_random(uint64_t *value_p);

/* self_iface.c */
extern const ucx_config_table_t uct_self_iface_config;
extern const ucx_iface_ops_t uct_self_iface_ops;
ucs_status_t self_query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                unsigned *num_p);
ucs_status_t self_iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                             uct_iface_h *iface_p);

/* self_ep.c */
extern const ucx_ep_ops_t uct_self_ep_ops;
ucs_status_t self_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                            uct_ep_h *ep_p);
unsigned self_pending_dispatch(self_iface_t *iface);

/* self_am.c */
ucs_status_t self_am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                           const void *payload, unsigned length);
ucs_status_t self_am_short_iov(uct_ep_h ep, uint8_t id, const uct_iov_t *iov,
                               size_t iovcnt);
ssize_t self_am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                      void *arg, unsigned flags);
ucs_status_t self_am_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                           unsigned header_length, const uct_iov_t *iov,
                           size_t iovcnt, unsigned flags,
                           uct_completion_t *comp);
unsigned self_iface_progress(uct_iface_h iface);
void self_queue_drop(self_iface_t *iface);

/* Returns the bandwidth of copies in this process, in bytes per second, which
 * the first call measures. Any thread may call it. */
double self_bandwidth(void);
void self_desc_release(ucx_recv_desc_owner_t *owner, void *headroom);

/* self_rma.c */

/* Returns the length in bytes of all entries plus `start`, or SIZE_MAX if the
 * sum overflows. */
size_t self_iov_total(const uct_iov_t *iov, size_t iovcnt, size_t start);

/* Copies the data of all entries to `dest`, one after another. */
void self_iov_gather(char *dest, const uct_iov_t *iov, size_t iovcnt);
ucs_status_t self_put_short(uct_ep_h ep, const void *buffer, unsigned length,
                            uint64_t remote_addr, uct_rkey_t rkey);
ssize_t self_put_bcopy(uct_ep_h ep, uct_pack_callback_t pack_cb, void *arg,
                       uint64_t remote_addr, uct_rkey_t rkey);
ucs_status_t self_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                            uint64_t remote_addr, uct_rkey_t rkey,
                            uct_completion_t *comp);
ucs_status_t self_get_short(uct_ep_h ep, void *buffer, unsigned length,
                            uint64_t remote_addr, uct_rkey_t rkey);
ucs_status_t self_get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack_cb,
                            void *arg, size_t length, uint64_t remote_addr,
                            uct_rkey_t rkey, uct_completion_t *comp);
ucs_status_t self_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                            uint64_t remote_addr, uct_rkey_t rkey,
                            uct_completion_t *comp);

/* self_atomic.c */
ucs_status_t self_atomic32_post(uct_ep_h ep, uct_atomic_op_t op, uint32_t value,
                                uint64_t remote_addr, uct_rkey_t rkey);
ucs_status_t self_atomic64_post(uct_ep_h ep, uct_atomic_op_t op, uint64_t value,
                                uint64_t remote_addr, uct_rkey_t rkey);
ucs_status_t self_atomic32_fetch(uct_ep_h ep, uct_atomic_op_t op,
                                 uint32_t value, uint32_t *result,
                                 uint64_t remote_addr, uct_rkey_t rkey,
                                 uct_completion_t *comp);
ucs_status_t self_atomic64_fetch(uct_ep_h ep, uct_atomic_op_t op,
                                 uint64_t value, uint64_t *result,
                                 uint64_t remote_addr, uct_rkey_t rkey,
                                 uct_completion_t *comp);
ucs_status_t self_atomic_cswap32(uct_ep_h ep, uint32_t compare, uint32_t swap,
                                 uint64_t remote_addr, uct_rkey_t rkey,
                                 uint32_t *result, uct_completion_t *comp);
ucs_status_t self_atomic_cswap64(uct_ep_h ep, uint64_t compare, uint64_t swap,
                                 uint64_t remote_addr, uct_rkey_t rkey,
                                 uint64_t *result, uct_completion_t *comp);

/* Supported atomic operations, bit UCT_ATOMIC_OP_*: those that do not return
 * the previous value, and those that do. */
#define SELF_ATOMIC_POST_OPS \
    (UCS_BIT(UCT_ATOMIC_OP_ADD) | UCS_BIT(UCT_ATOMIC_OP_AND) | \
     UCS_BIT(UCT_ATOMIC_OP_OR) | UCS_BIT(UCT_ATOMIC_OP_XOR))
#define SELF_ATOMIC_FETCH_OPS \
    (SELF_ATOMIC_POST_OPS | UCS_BIT(UCT_ATOMIC_OP_SWAP) | \
     UCS_BIT(UCT_ATOMIC_OP_CSWAP))

/* self_plugin.c: the entry point. It has the type ucx_plugin_entry_t, as that
 * of a plugin, but the core calls it directly instead of looking it up. */
ucs_status_t uct_self_plugin_entry(const ucx_plugin_args_t *args,
                                   const ucx_plugin_t **plugin_p);

#endif
