/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small transport for the tests of the conformance kit (ucx-plugin-check):
 * messages by datagrams of a local socket, remote memory by shared mappings. It
 * conforms unless it breaks one rule: the name of its folder selects the
 * defect.
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
#define PROBE_OVERHEAD   2e-6 /* Seconds, as stated */
#define PROBE_LATENCY    5e-6

/* State of the plugin for one core. */
typedef struct probe_instance {
    const ucx_host_t *host;
    ucx_plugin_t plugin;
    ucx_component_t component;
    const ucx_component_t *components[1];
} probe_instance_t;

/* The services of the core that opened this domain. */
static inline const ucx_host_t *probe_host(uct_md_h md)
{
    return ((const probe_instance_t *)((const char *)md->component -
                                       offsetof(probe_instance_t, component)))
        ->host;
}

/* Returns whether this is the selected defect. */
int probe_breaks(const char *defect);

/* Header of each datagram. */
typedef struct probe_header {
    uint32_t magic;
    uint8_t id; /* PROBE_ID_CHECK: keepalive without a message */
    uint8_t reserved[3];
} probe_header_t;

#define PROBE_MAGIC    0x50524f42u
#define PROBE_ID_CHECK 0xff

/* The address of a host, and of an interface on it. */
typedef struct probe_dev_addr {
    uint64_t host;
} probe_dev_addr_t;

typedef struct probe_iface_addr {
    uint8_t name[PROBE_NAME_SIZE];
} probe_iface_addr_t;

/* A completion that progress has to call, or a flush that waits for earlier
 * completions. */
typedef struct probe_done {
    struct probe_done *next;
    uct_completion_t *comp;
} probe_done_t;

/* A received message in a buffer of receive.c. */
typedef struct probe_message {
    char *buffer;
    unsigned length;
    uint8_t id;
} probe_message_t;

struct probe_ep;

/* A zero-copy message of a defect, whose buffers were not read yet. */
typedef struct probe_unread {
    struct probe_ep *ep; /* NULL: no message */
    unsigned rounds;     /* Rounds of progress before the message is sent */
    uint8_t id;
    char header[PROBE_MAX_HEADER];
    unsigned header_length;
    uct_iov_t iov[PROBE_MAX_IOV];
    size_t iovcnt;
} probe_unread_t;

typedef struct probe_iface {
    uct_iface_t super;
    probe_iface_addr_t addr;
    size_t headroom;
    int is_aligned; /* UCX_IFACE_FLAG_ALIGNS_AM */
    size_t alignment;
    size_t align_offset;
    int socket;    /* Socket that receives messages */
    int epoll;     /* readable when progress has work */
    int silent;    /* Event descriptor of a defect, which has no events */
    sem_t handled; /* For a defect: signalled when the handler has run */
    probe_done_t *done;
    probe_done_t **done_tail;
    struct probe_ep *eps;
    double keepalive;  /* Seconds between checks of peers; INFINITY: no
                        * checks */
    double next_check; /* Seconds by the host's clock */
    unsigned failed;   /* Number of endpoints whose failure is not reported
                        * yet */
    unsigned received;
    probe_message_t held;  /* Message that a defect delivers after the next
                            * one */
    probe_unread_t unread; /* Message that a defect sends after its
                            * completion */
    ucx_recv_desc_owner_t owner;
} probe_iface_t;

typedef struct probe_ep {
    uct_ep_t super;
    struct probe_ep *next;
    int socket; /* Socket that is connected to the peer's */
    ucx_pending_queue_t pending;
    ucs_status_t status;
    int is_told; /* The failure was reported */
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
/* Returns the local address of remote bytes, or NULL. */
void *probe_rkey_at(uct_rkey_t rkey, uint64_t address, size_t length);

/* iface.c */
extern const ucx_transport_t probe_transport;
ucs_status_t probe_iface_flush(uct_iface_h iface, unsigned flags,
                               uct_completion_t *comp);
/* Queues a completion for progress. */
ucs_status_t probe_iface_done_later(probe_iface_t *iface,
                                    uct_completion_t *comp);

/* receive.c */
/* Sets the alignment of messages; the headroom must have been set. */
void probe_receive_init(probe_iface_t *iface, const uct_iface_params_t *params);
/* Receives and delivers one message; returns 0 if there is none. */
int probe_receive(probe_iface_t *iface);

/* ep.c */
extern ucx_ep_ops_t probe_ep_ops;
ucs_status_t probe_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                             uct_ep_h *ep_p);
int probe_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args);
unsigned probe_ep_progress(probe_ep_t *ep);
/* Sends a message that no handler receives. It fails if the peer does not
 * exist. */
void probe_ep_ping(probe_ep_t *ep);
/* Sends a message that the defect has held back. */
void probe_send_unread(probe_iface_t *iface);
/* Fails the endpoint; progress calls the error handler. */
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
