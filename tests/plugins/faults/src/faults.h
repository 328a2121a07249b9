/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of this plugin, which wraps another plugin and injects
 * faults; see README.md.
 *
 * The user gets interfaces and endpoints of this plugin, each of which contains
 * the wrapped ("inner") one. Memory domains and keys are the wrapped plugin's.
 */
#ifndef FAULTS_H
#define FAULTS_H

#define UCX_LOG_HOST host

#include <ucx/pending.h>
#include <ucx/plugin.h>
#include <ucx/log.h>

#include <stdatomic.h>
#include <stdint.h>
#include <sys/queue.h>

#define FAULTS_NAME "faults"

#define faults_container_of(_ptr, _type, _member) \
    ((_type *)((char *)(_ptr)-offsetof(_type, _member)))

/* How the loss of a peer is detected. */
typedef enum {
    FAULTS_NOTICE_SELF,
    FAULTS_NOTICE_CHECK,
    FAULTS_NOTICE_SEND,
} faults_notice_t;

/* Options of an interface. The options of the wrapped interface follow. */
typedef struct faults_config {
    unsigned long seed;
    double no_resource;
    unsigned pending_delay;
    unsigned completion_delay;
    unsigned receive_delay;
    unsigned ep_failure;
    unsigned notice; /* faults_notice_t */
    int unsteady;    /* each query returns another bandwidth */
} faults_config_t;

/* Offset of the wrapped options. */
enum { FAULTS_CONFIG_SIZE = (sizeof(faults_config_t) + 15) / 16 * 16 };

typedef struct faults_instance faults_instance_t;

/* A component, with the plugin's state. */
typedef struct faults_component {
    ucx_component_t super;
    ucx_component_t inner_desc; /* a copy, with all members of this version */
    /* argument of the wrapped component's functions */
    const ucx_component_t *inner;
    faults_instance_t *instance;
} faults_component_t;

/* The plugin's state for one core (a process may load several copies of the
 * core). */
struct faults_instance {
    ucx_plugin_t plugin;
    faults_component_t component;
    const ucx_component_t *components[1];
    ucx_transport_t transport, inner_transport;
    const ucx_transport_t *transports[1];
    ucx_iface_ops_t iface_ops, inner_iface_ops;
    ucx_ep_ops_t ep_ops, inner_ep_ops;
    ucx_config_table_t config, md_config;
    ucx_config_field_t *fields;
    const ucx_host_t *host; /* services of the core */
    ucx_host_t inner_host;  /* services that the wrapped plugin gets */
    void *library;
    const ucx_plugin_t *inner;
    atomic_uint num_opened; /* number of interfaces, for their seeds */
    faults_instance_t *next;
};

/* An operation with a completion. */
typedef struct faults_op {
    uct_completion_t comp; /* given to the wrapped transport */
    uct_completion_t *user;
    struct faults_iface *iface;
    /* NULL: destroyed, or the operation is of the interface */
    struct faults_ep *ep;
    uint64_t due; /* round in which the user's completion is called */
    ucs_status_t status;
    uint8_t done;  /* the wrapped transport has completed it */
    uint8_t flush; /* a flush: completes after all earlier operations */
    uint8_t of_iface;
    TAILQ_ENTRY(faults_op) link;
} faults_op_t;

/* A delayed message. Its bytes are at the end. */
typedef struct faults_message {
    STAILQ_ENTRY(faults_message) link;
    uint64_t due;
    unsigned length;
    uint8_t id;
    _Alignas(64) char data[];
} faults_message_t;

typedef struct faults_ep {
    uct_ep_t super;
    uct_ep_h inner;
    ucs_status_t status; /* UCS_OK until the user can see the failure */
    /* failure that the user cannot see yet; otherwise UCS_OK */
    ucs_status_t lost;
    unsigned left;       /* operations until it fails; 0: never */
    uint8_t starved;     /* the last UCS_ERR_NO_RESOURCE was injected */
    uint8_t waits;       /* is in the interface's list `waiting` */
    uint64_t pending_at; /* round of the next call of a request */
    ucx_pending_queue_t pending;
    LIST_ENTRY(faults_ep) link; /* in the interface's list `eps` or `broken` */
    TAILQ_ENTRY(faults_ep) wait_link;
} faults_ep_t;

/* The receiver of messages with one id: the argument of the handler that is set
 * for the wrapped interface. */
typedef struct faults_slot {
    struct faults_iface *iface;
    uint8_t id;
} faults_slot_t;

typedef struct faults_iface {
    uct_iface_t super;
    uct_iface_h inner;
    faults_instance_t *instance;
    faults_config_t config;
    uint64_t random;
    uint64_t round;
    /* the last bandwidth that was returned, as an index */
    unsigned bandwidth;
    /* NULL: no endpoint's requests are being called, or it was destroyed */
    faults_ep_t *dispatching;
    LIST_HEAD(, faults_ep) eps;
    /* failures that are not reported to the user yet */
    LIST_HEAD(, faults_ep) broken;
    TAILQ_HEAD(, faults_ep) waiting; /* endpoints with pending requests */
    /* in the order in which they were started */
    TAILQ_HEAD(, faults_op) ops;
    STAILQ_HEAD(, faults_message) messages;
    faults_slot_t slots[UCT_AM_ID_MAX];
} faults_iface_t;

static inline faults_iface_t *faults_iface(uct_iface_h iface)
{
    return (faults_iface_t *)iface;
}

static inline faults_ep_t *faults_ep(uct_ep_h ep)
{
    return (faults_ep_t *)ep;
}

static inline faults_iface_t *faults_ep_iface(const faults_ep_t *ep)
{
    return faults_iface(ep->super.iface);
}

/* Returns the operations of the wrapped transport. */
static inline const ucx_ep_ops_t *faults_inner_ops(const faults_ep_t *ep)
{
    return &faults_ep_iface(ep)->instance->inner_ep_ops;
}

static inline uint64_t faults_draw(faults_iface_t *iface)
{
    iface->random ^= iface->random << 13;
    iface->random ^= iface->random >> 7;
    iface->random ^= iface->random << 17;
    return iface->random * 0x2545f4914f6cdd1dull;
}

static inline int faults_chance(faults_iface_t *iface, double share)
{
    return (double)(faults_draw(iface) >> 11) * 0x1p-53 < share;
}

/* Returns a random round, between 1 and `delay` + 1 rounds after this one. */
static inline uint64_t faults_later(faults_iface_t *iface, unsigned delay)
{
    return iface->round + 1 +
           (faults_draw(iface) >> 16) % ((uint64_t)delay + 1);
}

/* wrap.c. faults_wrap() finds and opens the wrapped plugin, and makes the
 * tables of this one; faults_unwrap() releases it. `reason` is set if an error
 * is returned. */
ucs_status_t faults_wrap(faults_instance_t *instance,
                         const ucx_plugin_args_t *args, const char **reason);
void faults_unwrap(faults_instance_t *instance);

/* iface.c, ep.c: fill in this plugin's functions for the slots that the wrapped
 * transport has. */
void faults_iface_ops_fill(ucx_iface_ops_t *ops, const ucx_iface_ops_t *inner);
void faults_ep_ops_fill(ucx_ep_ops_t *ops, const ucx_ep_ops_t *inner);

/* iface.c */
ucs_status_t faults_iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p);
ucs_status_t faults_inner_ep_failed(uct_iface_h inner_iface, uct_ep_h inner,
                                    ucs_status_t status);

/* ep.c: fails the endpoint, and reports it to the user. */
void faults_ep_break(faults_ep_t *ep, ucs_status_t status);
ucs_status_t faults_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                              uct_ep_h *ep_p);

/* late.c: an operation with a completion. faults_op_begin() returns the
 * structure whose completion the wrapped transport gets; NULL: out of memory.
 * faults_op_end() converts the status that the wrapped transport has returned
 * to that for the user. */
faults_op_t *faults_op_begin(faults_iface_t *iface, faults_ep_t *ep,
                             uct_completion_t *user);
ucs_status_t faults_op_end(faults_op_t *op, ucs_status_t status);

/* Returns whether this flush must wait for an earlier operation. */
int faults_op_is_behind(const faults_op_t *flush);

/* Makes all operations of the endpoint complete with this status, as soon as
 * the wrapped transport has completed them. */
void faults_ops_end(faults_ep_t *ep, ucs_status_t status);
/* Returns whether an operation of the endpoint has not completed. */
int faults_ops_exist(const faults_ep_t *ep);
void faults_ops_forget_ep(faults_ep_t *ep);

/* Completes the operations that are due; with `all`, every operation. */
unsigned faults_ops_complete(faults_iface_t *iface, int all);
int faults_ops_are_late(const faults_iface_t *iface);

/* pending.c: pending requests. */
ucs_status_t faults_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                unsigned flags);
void faults_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                          void *arg);
void faults_pending_forget(faults_ep_t *ep);
unsigned faults_pending_dispatch(faults_iface_t *iface);

#endif
