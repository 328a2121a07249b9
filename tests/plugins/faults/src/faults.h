/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the files of this plugin, which wraps the first
 * transport of another plugin and injects faults: operations return
 * UCS_ERR_NO_RESOURCE; completions, messages and pending requests come late;
 * endpoints fail. See README.md.
 *
 * The user gets interfaces and endpoints of this plugin; each contains an
 * interface or endpoint of the wrapped plugin ("inner"). Memory domains and
 * keys are those of the wrapped plugin. Delays are counted in rounds: calls of
 * progress of an interface.
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

/* When this plugin reports that the wrapped transport has lost a peer. */
typedef enum {
    FAULTS_NOTICE_SELF,  /* In the next progress, without a call of the user */
    FAULTS_NOTICE_CHECK, /* When the user calls ep_check or sends */
    FAULTS_NOTICE_SEND,  /* When the user sends; there is no ep_check */
} faults_notice_t;

/* Options of an interface, described in wrap.c. A delay ends at most that many
 * rounds after the next round (faults_later()). In memory, the options of the
 * wrapped interface follow at FAULTS_CONFIG_SIZE. */
typedef struct faults_config {
    unsigned long seed;
    double no_resource;        /* Share of operations that return
                                * UCS_ERR_NO_RESOURCE, 0 to 0.95 */
    unsigned pending_delay;    /* Rounds */
    unsigned completion_delay; /* Rounds */
    unsigned receive_delay;    /* Rounds; 0: no message is delayed */
    unsigned ep_failure;       /* An endpoint fails in one of its first
                                * 2 * ep_failure operations; 0: never */
    unsigned notice;           /* faults_notice_t */
    int unsteady;              /* Nonzero: each estimate for an endpoint
                                * returns another bandwidth */
} faults_config_t;

/* Offset of the options of the wrapped interface, in bytes. */
enum { FAULTS_CONFIG_SIZE = (sizeof(faults_config_t) + 15) / 16 * 16 };

typedef struct faults_instance faults_instance_t;

/* The component of this plugin. */
typedef struct faults_component {
    ucx_component_t super;
    ucx_component_t inner_desc; /* Copy of *inner. It has all members of this
                                 * ABI version, even if the wrapped plugin is
                                 * older */
    /* The wrapped component, to pass to its functions as an argument */
    const ucx_component_t *inner;
    faults_instance_t *instance;
} faults_component_t;

/* The plugin's state for one core (a process may load several copies of the
 * core). The tables inner_* are copies of the wrapped plugin's tables; the
 * tables without this prefix are passed to the core. */
struct faults_instance {
    ucx_plugin_t plugin;
    faults_component_t component;
    const ucx_component_t *components[1];
    ucx_transport_t transport, inner_transport;
    const ucx_transport_t *transports[1];
    ucx_iface_ops_t iface_ops, inner_iface_ops;
    ucx_ep_ops_t ep_ops, inner_ep_ops;
    ucx_config_table_t config, md_config;
    ucx_config_field_t *fields; /* Variables of this plugin and of the wrapped
                                 * transport */
    const ucx_host_t *host;     /* Services of the core */
    ucx_host_t inner_host; /* Services that the wrapped plugin gets: those of
                             * the core, except iface_ep_failed() */
    void *library;         /* Handle of dlopen() of the wrapped plugin */
    const ucx_plugin_t *inner; /* Descriptor of the wrapped plugin */
    atomic_uint num_opened;    /* Number of interfaces opened so far; gives each
                                * interface a different sequence of random
                                * numbers */
    faults_instance_t *next;
};

/* An operation with a completion. */
typedef struct faults_op {
    uct_completion_t comp;  /* Passed to the wrapped transport */
    uct_completion_t *user; /* The user's completion; NULL: none */
    struct faults_iface *iface;
    /* NULL: the endpoint was destroyed, or a flush of the interface */
    struct faults_ep *ep;
    uint64_t due; /* First round in which the user's completion may be called;
                   * valid if `done` */
    ucs_status_t status; /* Status for the user's completion */
    uint8_t done;        /* The wrapped transport has completed the operation */
    uint8_t flush;       /* A flush: completes after all earlier operations */
    uint8_t of_iface;    /* A flush of the interface */
    TAILQ_ENTRY(faults_op) link;
} faults_op_t;

/* A delayed message of `length` bytes. */
typedef struct faults_message {
    STAILQ_ENTRY(faults_message) link;
    uint64_t due; /* First round in which the message may be delivered */
    unsigned length;
    uint8_t id;
    _Alignas(64) char data[];
} faults_message_t;

typedef struct faults_ep {
    uct_ep_t super;
    uct_ep_h inner;
    ucs_status_t status; /* UCS_OK, or the failure with which operations of the
                          * user return */
    /* Failure that the wrapped transport has reported; UCS_OK: none */
    ucs_status_t lost;
    unsigned left;       /* Number of operations until the endpoint fails; 0: it
                          * does not fail */
    uint8_t starved;     /* The last operation has returned an injected
                          * UCS_ERR_NO_RESOURCE */
    uint8_t waits;       /* The endpoint is in the interface's list `waiting` */
    uint64_t pending_at; /* First round in which pending requests are called */
    ucx_pending_queue_t pending;
    LIST_ENTRY(faults_ep) link; /* In the interface's list `eps` or `broken` */
    TAILQ_ENTRY(faults_ep) wait_link; /* In the interface's list `waiting` */
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
    uint64_t random; /* State of the random number generator; not 0 */
    uint64_t round;  /* Number of calls of progress so far */
    /* The last bandwidth that an estimate returned was 2^(26 + bandwidth)
     * bytes/s */
    unsigned bandwidth;
    /* Endpoint whose pending requests are being called; NULL: none, or a
     * request has destroyed the endpoint */
    faults_ep_t *dispatching;
    LIST_HEAD(, faults_ep) eps; /* Endpoints that are not in `broken` */
    /* Endpoints whose failure is not reported to the user yet */
    LIST_HEAD(, faults_ep) broken;
    TAILQ_HEAD(, faults_ep) waiting; /* Endpoints with pending requests */
    /* Operations whose completion the user has not got yet, in the order of
     * their start. The wrapped transport may have completed them: `done` */
    TAILQ_HEAD(, faults_op) ops;
    STAILQ_HEAD(, faults_message) messages; /* Delayed messages */
    faults_slot_t slots[UCT_AM_ID_MAX];     /* By message id */
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

/* Returns the table of operations of the wrapped transport's endpoints. */
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

/* Returns non-zero with the probability `share`. */
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

/* wrap.c. faults_wrap() loads the wrapped plugin and makes the tables of this
 * plugin; *reason is set if it returns an error. faults_unwrap() unloads the
 * wrapped plugin. */
ucs_status_t faults_wrap(faults_instance_t *instance,
                         const ucx_plugin_args_t *args, const char **reason);
void faults_unwrap(faults_instance_t *instance);

/* iface.c, ep.c: fill the tables `ops` with functions of this plugin, for the
 * slots that the wrapped transport has and for those that this plugin always
 * has, such as pending_add. */
void faults_iface_ops_fill(ucx_iface_ops_t *ops, const ucx_iface_ops_t *inner);
void faults_ep_ops_fill(ucx_ep_ops_t *ops, const ucx_ep_ops_t *inner);

/* iface.c */
ucs_status_t faults_iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p);
ucs_status_t faults_inner_ep_failed(uct_iface_h inner_iface, uct_ep_h inner,
                                    ucs_status_t status);

/* ep.c. Marks the endpoint as failed; the next progress reports the failure to
 * the user. */
void faults_ep_break(faults_ep_t *ep, ucs_status_t status);
ucs_status_t faults_ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                              uct_ep_h *ep_p);

/* late.c: an operation with a completion. faults_op_begin() returns an entry
 * whose `comp` is then passed to the wrapped transport; NULL: out of memory.
 * faults_op_end() gets the status that the wrapped transport has returned, and
 * returns the status for the user: it may replace UCS_OK by UCS_INPROGRESS, to
 * complete the operation late. */
faults_op_t *faults_op_begin(faults_iface_t *iface, faults_ep_t *ep,
                             uct_completion_t *user);
ucs_status_t faults_op_end(faults_op_t *op, ucs_status_t status);

/* Returns whether this flush must wait for an earlier operation. */
int faults_op_is_behind(const faults_op_t *flush);

/* Sets the status with which all operations of the endpoint complete. Those
 * that the wrapped transport has already completed are due at once. */
void faults_ops_end(faults_ep_t *ep, ucs_status_t status);
/* Returns whether an operation of the endpoint has not completed. */
int faults_ops_exist(const faults_ep_t *ep);
/* Called when the endpoint is destroyed: its operations still complete. */
void faults_ops_forget_ep(faults_ep_t *ep);

/* Calls the user's completions of the operations that are due; with `all`, of
 * every operation: those that the wrapped transport has not completed have the
 * status UCS_ERR_CANCELED. Returns the number of operations. */
unsigned faults_ops_complete(faults_iface_t *iface, int all);
/* Returns whether a user's completion is delayed. */
int faults_ops_are_late(const faults_iface_t *iface);

/* pending.c: pending requests. faults_pending_forget() removes the endpoint
 * from the list `waiting`. */
ucs_status_t faults_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                unsigned flags);
void faults_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                          void *arg);
void faults_pending_forget(faults_ep_t *ep);
unsigned faults_pending_dispatch(faults_iface_t *iface);

#endif
