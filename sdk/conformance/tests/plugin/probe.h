/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small transport for the tests of the conformance kit (ucx-plugin-check):
 * messages by datagrams of a local socket, remote memory by shared mappings. It
 * conforms unless the name of its folder selects a defect, which breaks one
 * rule.
 */
#ifndef PROBE_H
#define PROBE_H

#include <semaphore.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <ucx/am.h>
#include <ucx/pending.h>
#include <ucx/plugin.h>

#define PROBE_SEG_SIZE   8192
#define PROBE_MAX_IOV    6
#define PROBE_MAX_HEADER 512
#define PROBE_NAME_SIZE  16
#define PROBE_OVERHEAD   2e-6 /* Seconds; the costs that an interface states */
#define PROBE_LATENCY    5e-6

/* State of the plugin for one core. */
typedef struct probe_instance {
    const ucx_host_t *host;
    ucx_plugin_t plugin;
    ucx_component_t component;
    const ucx_component_t *components[1];
} probe_instance_t;

/* Returns the services of the core that opened this domain. */
static inline const ucx_host_t *probe_host(uct_md_h md)
{
    return ((const probe_instance_t *)((const char *)md->component -
                                       offsetof(probe_instance_t, component)))
        ->host;
}

/* Returns whether the name of the plugin's folder is `defect`. */
int probe_breaks(const char *defect);

/* Header of each datagram. */
typedef struct probe_header {
    uint32_t magic;
    uint8_t id; /* PROBE_ID_CHECK: keepalive without a message */
    uint8_t reserved[3];
} probe_header_t;

#define PROBE_MAGIC    0x50524f42u
#define PROBE_ID_CHECK 0xff

/* The address of a device, which identifies the host, and of an interface on
 * that host. */
typedef struct probe_dev_addr {
    uint64_t host;
} probe_dev_addr_t;

typedef struct probe_iface_addr {
    uint8_t name[PROBE_NAME_SIZE];
} probe_iface_addr_t;

/* Entry of the queue of completions that progress calls in order. The
 * completion of a flush is queued behind those of earlier operations. */
typedef struct probe_done {
    struct probe_done *next;
    uct_completion_t *comp; /* NULL: the user has passed no completion */
} probe_done_t;

/* A received message in a buffer of receive.c. */
typedef struct probe_message {
    char *buffer;
    unsigned length;
    uint8_t id;
} probe_message_t;

struct probe_ep;

/* Arguments of a zero-copy send that the defect "completes-unread" completes
 * before it reads the buffers. */
typedef struct probe_unread {
    struct probe_ep *ep; /* NULL: no message */
    unsigned rounds;     /* Calls of progress that are left before the call that
                          * sends the message */
    uint8_t id;
    char header[PROBE_MAX_HEADER];
    unsigned header_length;
    uct_iov_t iov[PROBE_MAX_IOV];
    size_t iovcnt;
} probe_unread_t;

typedef struct probe_iface {
    uct_iface_t super;
    probe_iface_addr_t addr;
    size_t headroom;  /* Bytes before each message that the user may write to */
    int is_aligned;   /* The interface has UCX_IFACE_FLAG_ALIGNS_AM */
    size_t alignment; /* Byte `align_offset` of a message is aligned to this
                          * number of bytes */
    size_t align_offset;
    int socket;    /* Socket that receives messages */
    int epoll;     /* Readable when a message has arrived or a pending request
                    * can be sent */
    int silent;    /* eventfd: the event descriptor of the defect "deaf", and
                    * the event source of the defect "handler-adds" */
    sem_t handled; /* For the defect "handler-adds": signalled when the
                    * asynchronous handler has run */
    probe_done_t *done; /* Queue of completions */
    probe_done_t **done_tail;
    struct probe_ep *eps; /* All endpoints */
    double keepalive;     /* Seconds between checks of peers; INFINITY: no
                        * checks */
    double next_check;    /* Time of the next check, in seconds by the clock of
                        * ucx_host_t */
    unsigned failed;      /* Number of endpoints whose failure is not reported
                        * yet */
    unsigned received;    /* Number of messages that have arrived */
    probe_message_t held; /* Message that the defect "reorders" delivers after
                            * the next one */
    probe_unread_t unread;
    ucx_recv_desc_owner_t owner; /* Releases buffers that the user has kept */
} probe_iface_t;

typedef struct probe_ep {
    uct_ep_t super;
    struct probe_ep *next;
    int socket; /* Socket that is connected to that of the peer's interface */
    ucx_pending_queue_t pending;
    ucs_status_t status; /* UCS_OK, or the error with which the endpoint has
                          * failed */
    int is_told;         /* The failure was reported */
} probe_ep_t;

static inline probe_iface_t *probe_iface(uct_iface_h iface)
{
    return (probe_iface_t *)iface;
}

/* md.c */
extern const ucx_md_ops_t probe_md_ops;
ucs_status_t probe_md_resources(const ucx_component_t *component,
                                uct_md_resource_desc_t **mds_p,
                                unsigned *num_p);
ucs_status_t probe_md_open(const ucx_component_t *component,
                           const ucx_md_open_args_t *args, uct_md_h *md_p);
ucs_status_t probe_rkey_unpack(const ucx_component_t *component,
                               const void *buffer, size_t length,
                               ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                               void **handle_p);
ucs_status_t probe_rkey_release(const ucx_component_t *component,
                                uct_rkey_t rkey, void *handle);
/* Returns the address in this process of `length` bytes at the peer's address,
 * or NULL if they are not within the memory of the key. */
void *probe_rkey_at(uct_rkey_t rkey, uint64_t address, size_t length);

/* iface.c */
extern const ucx_transport_t probe_transport;
ucs_status_t probe_iface_flush(uct_iface_h iface, unsigned flags,
                               uct_completion_t *comp);
/* Queues a completion, which progress calls; returns UCS_INPROGRESS, or
 * UCS_ERR_NO_MEMORY. */
ucs_status_t probe_iface_done_later(probe_iface_t *iface,
                                    uct_completion_t *comp);

/* receive.c */
/* Sets the alignment of messages. iface->headroom must have been set before. */
void probe_receive_init(probe_iface_t *iface, const uct_iface_params_t *params);
/* Receives and delivers one message; returns 0 if there is none. */
int probe_receive(probe_iface_t *iface);

/* ep.c */
extern ucx_ep_ops_t probe_ep_ops;
ucs_status_t probe_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                             uct_ep_h *ep_p);
int probe_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args);
unsigned probe_ep_progress(probe_ep_t *ep);
/* Sends a keepalive, which no handler of the peer receives. If the peer does
 * not exist any more, the endpoint fails. */
void probe_ep_ping(probe_ep_t *ep);
/* Sends the message in iface->unread. */
void probe_send_unread(probe_iface_t *iface);
/* Marks the endpoint as failed; progress calls the error handler. */
void probe_ep_fail(probe_ep_t *ep);

/* rma.c */
ucs_status_t probe_put_short(uct_ep_h ep, const void *buffer, unsigned length,
                             uint64_t remote_addr, uct_rkey_t rkey);
ssize_t probe_put_bcopy(uct_ep_h ep, uct_pack_callback_t pack_cb, void *arg,
                        uint64_t remote_addr, uct_rkey_t rkey);
ucs_status_t probe_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp);
ucs_status_t probe_get_short(uct_ep_h ep, void *buffer, unsigned length,
                             uint64_t remote_addr, uct_rkey_t rkey);
ucs_status_t probe_get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack_cb,
                             void *arg, size_t length, uint64_t remote_addr,
                             uct_rkey_t rkey, uct_completion_t *comp);
ucs_status_t probe_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp);
ucs_status_t probe_atomic32_post(uct_ep_h ep, uct_atomic_op_t op,
                                 uint32_t value, uint64_t remote_addr,
                                 uct_rkey_t rkey);
ucs_status_t probe_atomic64_post(uct_ep_h ep, uct_atomic_op_t op,
                                 uint64_t value, uint64_t remote_addr,
                                 uct_rkey_t rkey);
ucs_status_t probe_atomic32_fetch(uct_ep_h ep, uct_atomic_op_t op,
                                  uint32_t value, uint32_t *result,
                                  uint64_t remote_addr, uct_rkey_t rkey,
                                  uct_completion_t *comp);
ucs_status_t probe_atomic64_fetch(uct_ep_h ep, uct_atomic_op_t op,
                                  uint64_t value, uint64_t *result,
                                  uint64_t remote_addr, uct_rkey_t rkey,
                                  uct_completion_t *comp);
ucs_status_t probe_atomic_cswap32(uct_ep_h ep, uint32_t compare, uint32_t swap,
                                  uint64_t remote_addr, uct_rkey_t rkey,
                                  uint32_t *result, uct_completion_t *comp);
ucs_status_t probe_atomic_cswap64(uct_ep_h ep, uint64_t compare, uint64_t swap,
                                  uint64_t remote_addr, uct_rkey_t rkey,
                                  uint64_t *result, uct_completion_t *comp);

#endif
