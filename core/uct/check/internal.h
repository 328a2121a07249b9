/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the files of this folder: reports, the calls that a
 * thread is in, and the records of endpoints, operations and pending requests.
 */
#ifndef UCT_CHECK_INTERNAL_H
#define UCT_CHECK_INTERNAL_H

#include <ucs/datastruct/list.h>
#include <ucx/cm.h>

#include "ucs/time/time.h"
#include "uct/check/check.h"

/* --- Functions of the table (see uct_check_layer_t) ------------------------- */

void uct_check_start(int abort_at_finding);
ucs_status_t uct_check_tl_create(const char *name, ucx_iface_ops_t *iface_ops,
                                 const ucx_iface_ops_t *iface_defaults,
                                 ucx_ep_ops_t *ep_ops,
                                 const ucx_ep_ops_t *ep_defaults,
                                 uct_check_tl_t **check_p);
ucs_status_t uct_check_cm_create(const char *name, ucx_cm_ops_t *cm_ops,
                                 const ucx_cm_ops_t *cm_defaults,
                                 ucx_ep_ops_t *ep_ops,
                                 const ucx_ep_ops_t *ep_defaults,
                                 uct_check_tl_t **check_p);
void uct_check_tl_destroy(uct_check_tl_t *check);
ucs_status_t uct_check_md_ops(ucx_md_ops_t *md_ops,
                              const ucx_md_ops_t *defaults,
                              ucx_md_ops_t **own_p);
ucs_status_t uct_check_iface_create(const uct_check_tl_t *tl,
                                    uint64_t cap_flags, uint64_t event_flags,
                                    uct_check_iface_t **check_p);
void uct_check_iface_destroy(uct_check_iface_t *check);
ucs_status_t uct_check_md_create(const char *name, const ucx_md_ops_t *own,
                                 uint64_t md_flags, uint64_t mem_types,
                                 uct_check_md_t **check_p);
void uct_check_listed_mds(const char *who, ucs_status_t status,
                          const uct_md_resource_desc_t *mds, unsigned num_mds);
void uct_check_listed_devices(const char *who, uct_device_type_t declared,
                              ucs_status_t status,
                              const ucx_device_desc_t *devices,
                              unsigned num_devices);
void uct_check_opened(const char *who, const char *slot, ucs_status_t status,
                      const void *host, const void *expected);
void uct_check_returned(const char *who, const char *slot, ucs_status_t status);
void uct_check_am_handler(uct_check_iface_t *check, uint8_t id,
                          ucx_am_slot_t *slot);
ucs_status_t uct_check_failure(uct_check_iface_t *check,
                               uct_error_handler_t handler, void *arg,
                               uct_ep_h ep, ucs_status_t status);
void uct_check_oneshot(ucx_oneshot_cb_t cb, void *arg);
ucs_status_t uct_check_progress_wrap(ucx_progress_cb_t *cb_p, void **arg_p);
void uct_check_progress_added(uct_worker_h worker, void *arg, int id);
void uct_check_progress_removed(uct_worker_h worker, int id);

/* --- Reports (report.c) ---------------------------------------------------- */

/* Reports that `slot` of the transport or domain `who` breaks a rule of
 * sdk/ABI.md. Each finding (format, slot, who) is logged a few times only. */
void uct_check_report(const char *who, int rule, const char *slot,
                      const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Counters of one transport, manager or domain. */
typedef struct uct_check_subject {
    char name[24];
    uint64_t calls;    /* number of calls checked so far */
    unsigned findings; /* number of findings, including those not logged
                        * again */
    uint64_t rules;    /* bits of the broken rules */
} uct_check_subject_t;

/* Returns the counters for this name. Any number of objects may share them.
 * They stay valid, and are part of the summary at the end of the process. */
uct_check_subject_t *uct_check_subject(const char *name);

/* Counts a call. Any thread may call this function. */
static inline void uct_check_count_call(uct_check_subject_t *subject)
{
    __atomic_fetch_add(&subject->calls, 1, __ATOMIC_RELAXED);
}

/* Called for a slot that may return UCS_OK or an error. Reports a status that
 * is neither. */
void uct_check_status(const char *who, const char *slot, ucs_status_t status);

/* --- Calls (calls.c) ------------------------------------------------------- */

typedef enum uct_check_kind {
    UCT_CHECK_PROGRESS, /* callbacks to users run here */
    UCT_CHECK_SEND,     /* only callbacks of the operation itself run here */
    UCT_CHECK_OTHER,
} uct_check_kind_t;

/* Times that a thread has used so far, and how often it has waited. */
typedef struct uct_check_used {
    double wall;      /* s */
    double processor; /* s */
    long waits;       /* how often the thread waited */
} uct_check_used_t;

/* A call into the plugin; on the caller's stack. */
typedef struct uct_check_call {
    struct uct_check_call *outer;
    uct_check_iface_t *iface; /* NULL: a progress callback */
    const char *slot;
    uct_check_kind_t kind;
    uct_check_used_t start; /* excludes the time of callbacks to users */
} uct_check_call_t;

void uct_check_call_begin(uct_check_call_t *call, uct_check_iface_t *iface,
                          const char *slot, uct_check_kind_t kind);
/* Ends the record of a call. Rule 13: reports a call that took too long. */
void uct_check_call_end(uct_check_call_t *call);

/* Returns the innermost call of this thread, or NULL. */
uct_check_call_t *uct_check_call_now(void);

/* Called before and after a callback to the user, whose time is subtracted from
 * the plugin's. */
void uct_check_user_begin(uct_check_used_t *start);
void uct_check_user_end(const uct_check_used_t *start);

/* Rule 16: reports a callback to the user if this thread is in no call of a
 * plugin. */
void uct_check_place(const char *who, const char *slot);

/* --- Records (records.c) --------------------------------------------------- */

struct uct_check_tl {
    const char *name;
    uct_check_subject_t *subject;
    ucx_iface_ops_t iface_ops; /* the plugin's own slots */
    ucx_ep_ops_t ep_ops;
    ucx_cm_ops_t cm_ops; /* of a connection manager */
    const ucx_ep_ops_t *ep_defaults;
};

static inline uct_check_iface_t *uct_check_iface_of(uct_iface_h iface)
{
    return ((const uct_check_host_t *)iface->host)->iface;
}

/* The state of a manager is that of an interface without messages. */
static inline uct_check_iface_t *uct_check_cm_of(uct_cm_h cm)
{
    return ((const uct_check_host_t *)cm->host)->iface;
}

/* A handler of active messages. */
typedef struct uct_check_am {
    uct_check_iface_t *iface;
    ucx_am_slot_t slot;
} uct_check_am_t;

/* Number of ended records of each kind that are kept, so that a late use of the
 * plugin's completion or context is detected. */
#define UCT_CHECK_RETIRED_MAX 256

struct uct_check_iface {
    const uct_check_tl_t *tl;
    uint64_t cap_flags; /* as the manifest declares */
    uint64_t event_flags;
    uct_iface_attr_t attr; /* as the query returned */
    uct_check_am_t am[UCT_AM_ID_MAX];
    ucs_list_link_t eps;     /* uct_check_ep_t */
    ucs_list_link_t ops;     /* operations of the interface itself */
    ucs_list_link_t retired; /* operations that are complete, oldest first */
    unsigned num_retired;
    ucs_list_link_t recvs;         /* tagged receives that have not ended */
    ucs_list_link_t retired_recvs; /* receives that have ended, oldest first */
    unsigned num_retired_recvs;
    uint64_t serial;   /* number of operations so far */
    unsigned num_slow; /* calls that took too long */
    int event_fd;      /* -1: not known */
};

typedef struct uct_check_ep {
    ucs_list_link_t list;
    uct_ep_h ep;
    int failed;          /* reported by iface_ep_failed() */
    int cancelled;       /* by a flush: completions follow even after
                          * the endpoint is destroyed */
    ucs_list_link_t ops; /* outstanding operations */
    int no_resource;     /* the last send returned UCS_ERR_NO_RESOURCE */
    unsigned busy;       /* how often pending_add has returned UCS_ERR_BUSY
                          * since */
} uct_check_ep_t;

typedef enum uct_check_op_state {
    UCT_CHECK_RUNNING,     /* the call has not returned */
    UCT_CHECK_OUTSTANDING, /* the call has returned UCS_INPROGRESS */
    UCT_CHECK_UNUSED,      /* the call has returned another status */
    UCT_CHECK_COMPLETED,
    UCT_CHECK_ABANDONED, /* the endpoint was destroyed without a cancelling
                          * flush */
    UCT_CHECK_CANCELED,  /* by the user: no completion follows */
} uct_check_op_state_t;

/* An operation with a completion. */
typedef struct uct_check_op {
    uct_completion_t comp; /* passed to the plugin instead of the user's */
    uct_completion_t *user;
    ucs_list_link_t list;
    uct_check_iface_t *iface;
    uct_ep_h ep; /* NULL: operation of the interface */
    const char *slot;
    int is_flush;
    uint64_t serial;
    void *handle; /* by which the user can cancel the operation, or NULL */
    uct_check_op_state_t state;
} uct_check_op_t;

/* Protects all records. It is not held during calls of plugins and
 * callbacks. */
void uct_check_lock(void);
void uct_check_unlock(void);

/* Returns the record of an endpoint, or NULL if there is none. The caller holds
 * the lock. */
uct_check_ep_t *uct_check_ep_find(uct_check_iface_t *iface, uct_ep_h ep);

void uct_check_ep_created(uct_check_iface_t *iface, uct_ep_h ep);
/* Removes the record of an endpoint that will be destroyed from the list, and
 * returns it; NULL if there is none. */
uct_check_ep_t *uct_check_ep_take(uct_check_iface_t *iface, uct_ep_h ep);
/* Frees a record that uct_check_ep_take() removed, after the endpoint was
 * destroyed. */
void uct_check_ep_free(uct_check_iface_t *iface, uct_check_ep_t *record);

/* Creates the record of an operation. Returns NULL if `comp` is NULL, or memory
 * is exhausted; the operation is not checked then. */
uct_check_op_t *uct_check_op_begin(uct_check_iface_t *iface, uct_ep_h ep,
                                   const char *slot, int is_flush,
                                   uct_completion_t *comp);
/* Returns the completion that is passed to the plugin: that of the record, if
 * there is one. */
static inline uct_completion_t *uct_check_op_comp(uct_check_op_t *op,
                                                  uct_completion_t *comp)
{
    return (op == NULL) ? comp : &op->comp;
}
void uct_check_op_end(uct_check_op_t *op, ucs_status_t status);

/* Stores the plugin's handle of an operation that the user can cancel. */
void uct_check_op_handle(uct_check_op_t *op, void *handle);
/* Records that the user has cancelled the operation with this handle. */
void uct_check_op_cancel(uct_check_iface_t *iface, uct_ep_h ep,
                         const void *handle);

/* Records that a flush has cancelled all operations of the endpoint. */
void uct_check_ep_cancelled(uct_check_iface_t *iface, uct_ep_h ep);

/* Rules 18 and 26: called when a flush that began as number `serial` has
 * completed. Reports operations with lower numbers that have not completed. If
 * `ep` is NULL, it was a flush of the interface. */
void uct_check_flushed(uct_check_iface_t *iface, uct_ep_h ep, uint64_t serial);

/* --- Pending requests (pending.c) ------------------------------------------ */

ucs_status_t uct_check_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                   unsigned flags);
void uct_check_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                             void *arg);

/* --- Tags: receives (tag.c), rendezvous (tag_rndv.c) ------------------------ */

ucs_status_t uct_check_tag_recv_zcopy(uct_iface_h iface, uct_tag_t tag,
                                      uct_tag_t tag_mask, const uct_iov_t *iov,
                                      size_t iovcnt, uct_tag_context_t *ctx);
ucs_status_t uct_check_tag_recv_cancel(uct_iface_h iface,
                                       uct_tag_context_t *ctx, int force);
ucs_status_ptr_t
uct_check_tag_rndv_zcopy(uct_ep_h ep, uct_tag_t tag, const void *header,
                         unsigned header_length, const uct_iov_t *iov,
                         size_t iovcnt, unsigned flags, uct_completion_t *comp);
ucs_status_t uct_check_tag_rndv_cancel(uct_ep_h ep, void *op);
ucs_status_t uct_check_tag_rndv_request(uct_ep_h ep, uct_tag_t tag,
                                        const void *header,
                                        unsigned header_length, unsigned flags);

/* Frees the records of all receives, when the interface is closed. */
void uct_check_recvs_free(uct_check_iface_t *check);

/* --- Sends (send.c) -------------------------------------------------------- */

/* Begins a call. Returns the plugin's own slots. */
const ucx_ep_ops_t *uct_check_send_begin(uct_check_call_t *call, uct_ep_h ep,
                                         const char *slot);
/* These end the call of a send and return its status. The second is for a send
 * with a completion, the third for a send that is complete when it returns. */
ucs_status_t uct_check_send_end(uct_check_call_t *call, uct_ep_h ep,
                                ucs_status_t status);
ucs_status_t uct_check_send_end_op(uct_check_call_t *call, uct_ep_h ep,
                                   uct_check_op_t *op, ucs_status_t status);
ucs_status_t uct_check_send_end_done(uct_check_call_t *call, uct_ep_h ep,
                                     ucs_status_t status);
/* Called when pending_add has returned UCS_ERR_BUSY. */
void uct_check_send_busy(uct_check_iface_t *iface, uct_ep_h ep);

/* --- Slots ----------------------------------------------------------------- */

extern const ucx_iface_ops_t uct_check_iface_slots;
extern const ucx_md_ops_t uct_check_md_slots;
extern const ucx_cm_ops_t uct_check_cm_slots;
extern const ucx_ep_ops_t uct_check_cm_ep_slots;

/* Each function sets the slots that one file implements. */
void uct_check_am_slots(ucx_ep_ops_t *ops);
void uct_check_rma_slots(ucx_ep_ops_t *ops);
void uct_check_ep_slots(ucx_ep_ops_t *ops);
void uct_check_peer_slots(ucx_ep_ops_t *ops);

/* Slots of interfaces that peers.c implements. */
int uct_check_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args);
ucs_status_t uct_check_accept(uct_iface_h iface, uct_conn_request_h request);
ucs_status_t uct_check_reject(uct_iface_h iface, uct_conn_request_h request);

/* Calls get(arg, buffer), which writes `length` bytes, and reports under rule
 * 25 if it writes more. */
ucs_status_t uct_check_bytes(const char *who, const char *slot, void *buffer,
                             size_t length,
                             ucs_status_t (*get)(void *arg, void *buffer),
                             void *arg);

#endif
