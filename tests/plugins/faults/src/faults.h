/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of this plugin; README.md describes its purpose.
 *
 * The user's interface and endpoints are ours, each with the wrapped one
 * inside; memory domains and keys are the wrapped plugin's, which ours pass on.
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

/* Options of an interface; followed by those of the wrapped one. */
typedef struct faults_config {
    unsigned long seed;
    double no_resource;
    unsigned pending_delay;
    unsigned completion_delay;
    unsigned receive_delay;
    unsigned ep_failure;
    unsigned notice; /* faults_notice_t */
    int unsteady;    /* bandwidth to a peer is never the same */
} faults_config_t;

/* Offset of the wrapped options. */
enum { FAULTS_CONFIG_SIZE = (sizeof(faults_config_t) + 15) / 16 * 16 };

typedef struct faults_instance faults_instance_t;

/* A component with its instance. */
typedef struct faults_component {
    ucx_component_t super;
    ucx_component_t inner_desc;   /* a complete copy */
    const ucx_component_t *inner; /* argument of its functions */
    faults_instance_t *instance;
} faults_component_t;

/* State for one core. */
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
    const ucx_host_t *host; /* the core */
    ucx_host_t inner_host;  /* host table for the wrapped plugin */
    void *library;
    const ucx_plugin_t *inner;
    atomic_uint num_opened; /* interfaces, for their seeds */
    faults_instance_t *next;
};

/* An operation with a completion. */
typedef struct faults_op {
    uct_completion_t comp; /* for the wrapped transport */
    uct_completion_t *user;
    struct faults_iface *iface;
    struct faults_ep *ep; /* NULL: destroyed, or of the whole interface */
    uint64_t due;         /* round of the completion, when it is done */
    ucs_status_t status;
    uint8_t done;  /* the wrapped transport has completed it */
    uint8_t flush; /* completes after all earlier ones */
    uint8_t of_iface;
    TAILQ_ENTRY(faults_op) link;
} faults_op_t;

/* A delayed message; its bytes follow. */
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
    ucs_status_t status; /* UCS_OK until it has failed */
    ucs_status_t lost;   /* status of a failure that is not detected yet */
    unsigned left;       /* operations until it fails; 0: never */
    uint8_t starved;     /* the last lack of resources was injected */
    uint8_t waits;       /* in the interface's list `waiting` */
    uint64_t pending_at; /* round of the next call */
    ucx_pending_queue_t pending;
    LIST_ENTRY(faults_ep) link; /* eps or broken */
    TAILQ_ENTRY(faults_ep) wait_link;
} faults_ep_t;

/* Receiver of a message: argument of the handler in the wrapped interface. */
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
    unsigned bandwidth;       /* the last that was told, as a step */
    faults_ep_t *dispatching; /* NULL: none, or destroyed meanwhile */
    LIST_HEAD(, faults_ep) eps;
    LIST_HEAD(, faults_ep) broken;   /* to be reported to the user */
    TAILQ_HEAD(, faults_ep) waiting; /* with pending requests */
    TAILQ_HEAD(, faults_op) ops;     /* in the order of their start */
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

/* The wrapped transport's functions. */
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

/* A random round after this one, at most `delay` later. */
static inline uint64_t faults_later(faults_iface_t *iface, unsigned delay)
{
    return iface->round + 1 +
           (faults_draw(iface) >> 16) % ((uint64_t)delay + 1);
}

/* wrap.c: finds, opens and describes the wrapped plugin; and releases it.
 * `reason` is the error. */
ucs_status_t faults_wrap(faults_instance_t *instance,
                         const ucx_plugin_args_t *args, const char **reason);
void faults_unwrap(faults_instance_t *instance);

/* iface.c, ep.c: set our functions where the wrapped transport has one. */
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

/* late.c: an operation with a completion. begin() returns the wrapped
 * transport's part, NULL: out of memory; end() converts the status of that into
 * the user's. */
faults_op_t *faults_op_begin(faults_iface_t *iface, faults_ep_t *ep,
                             uct_completion_t *user);
ucs_status_t faults_op_end(faults_op_t *op, ucs_status_t status);

/* Is an earlier operation incomplete for which this flush must wait? */
int faults_op_is_behind(const faults_op_t *flush);

/* Ends all operations of the endpoint with this status, as soon as the wrapped
 * transport has completed them. */
void faults_ops_end(faults_ep_t *ep, ucs_status_t status);
/* Non-zero: an operation of the endpoint has not completed. */
int faults_ops_exist(const faults_ep_t *ep);
void faults_ops_forget_ep(faults_ep_t *ep);

/* Completes what is due, or everything with `all`. */
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
