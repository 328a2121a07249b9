/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the files of the checking layer (check.h). The layer
 * records which plugin's functions each thread is in (calls), and which
 * endpoints, operations and pending requests exist (records). It reports broken
 * rules of sdk/ABI.md; "rule" and a number refer to that file. A slot is a
 * function pointer in a table of operations, such as ucx_ep_ops_t. A checking
 * slot is a function of this layer that replaces the plugin's function in such
 * a slot; it calls the plugin's function, and checks arguments and result.
 */
#ifndef UCT_CHECK_INTERNAL_H
#define UCT_CHECK_INTERNAL_H

#include <ucs/datastruct/list.h>
#include <ucx/cm.h>

#include "ucs/time/time.h"
#include "uct/check/check.h"

/* --- Functions of the table (see uct_check_layer_t) ----------------------- */

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

/* --- Reports (report.c) --------------------------------------------------- */

/* Reports that `slot` of the transport or memory domain `who` breaks the rule
 * with this number. Findings with the same format, slot and who are logged
 * three times at most. */
void uct_check_report(const char *who, int rule, const char *slot,
                      const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Counters of a transport, connection manager or memory domain, for the summary
 * at the end of the process. */
typedef struct uct_check_subject {
    char name[24];
    uint64_t calls;    /* number of calls that were checked */
    unsigned findings; /* number of broken rules found, also of those that were
                        * not logged */
    uint64_t rules;    /* numbers of these rules, as bits */
} uct_check_subject_t;

/* Returns the counters for this name, which are created if necessary, and are
 * valid until the process ends. */
uct_check_subject_t *uct_check_subject(const char *name);

/* Counts a call. Any thread may call this function. */
static inline void uct_check_count_call(uct_check_subject_t *subject)
{
    __atomic_fetch_add(&subject->calls, 1, __ATOMIC_RELAXED);
}

/* Reports a status that is neither UCS_OK nor an error, for slots that return
 * no other status. */
void uct_check_status(const char *who, const char *slot, ucs_status_t status);

/* --- Calls (calls.c) ------------------------------------------------------ */

/* Kind of a function of the plugin. */
typedef enum uct_check_kind {
    UCT_CHECK_PROGRESS, /* progress: the plugin may call the user's callbacks
                         * inside it */
    UCT_CHECK_SEND,     /* a send: the plugin may call only callbacks that are
                         * arguments of this send */
    UCT_CHECK_OTHER,
} uct_check_kind_t;

/* A point in time of a thread. */
typedef struct uct_check_used {
    double wall;      /* s, elapsed time */
    double processor; /* s, processor time that the thread has used */
    long waits;       /* number of times that the thread has waited (voluntary
                       * context switches) */
} uct_check_used_t;

/* A function of the plugin that is running. The object is on the stack of the
 * checking function that calls it. */
typedef struct uct_check_call {
    struct uct_check_call *outer; /* the function of a plugin that was running
                                   * before in this thread, or NULL */
    uct_check_iface_t *iface;     /* NULL: a progress or one-shot callback */
    const char *slot;             /* name of the function */
    uct_check_kind_t kind;
    uct_check_used_t start; /* when it was called, plus the time spent in
                             * callbacks of the user since */
} uct_check_call_t;

/* Called before and after a function of the plugin, except those of memory
 * domains. uct_check_call_end() reports a slot that took too long (rule 13). */
void uct_check_call_begin(uct_check_call_t *call, uct_check_iface_t *iface,
                          const char *slot, uct_check_kind_t kind);
void uct_check_call_end(uct_check_call_t *call);

/* Returns the innermost function of a plugin that is running in this thread, or
 * NULL. */
uct_check_call_t *uct_check_call_now(void);

/* Called before and after a callback of the user, so that its time does not
 * count as time of the plugin's function that calls it. */
void uct_check_user_begin(uct_check_used_t *start);
void uct_check_user_end(const uct_check_used_t *start);

/* Called before a callback of the user: reports it if no function of a plugin
 * is running in this thread (rule 16). */
void uct_check_place(const char *who, const char *slot);

/* --- Records (records.c) -------------------------------------------------- */

/* A transport, or the connection managers of a component. */
struct uct_check_tl {
    const char *name;
    uct_check_subject_t *subject;
    ucx_iface_ops_t iface_ops; /* the original slots; this and the next two */
    ucx_ep_ops_t ep_ops;
    ucx_cm_ops_t cm_ops;             /* of a connection manager only */
    const ucx_ep_ops_t *ep_defaults; /* the core's default slots, to see which
                                      * slots the plugin implements; NULL for a
                                      * connection manager */
};

static inline uct_check_iface_t *uct_check_iface_of(uct_iface_h iface)
{
    return ((const uct_check_host_t *)iface->host)->iface;
}

/* The state of a connection manager has the type of that of an interface. */
static inline uct_check_iface_t *uct_check_cm_of(uct_cm_h cm)
{
    return ((const uct_check_host_t *)cm->host)->iface;
}

/* The user's handler of active messages with one id. */
typedef struct uct_check_am {
    uct_check_iface_t *iface;
    ucx_am_slot_t slot; /* as the user has set it */
} uct_check_am_t;

/* Number of records of each kind that are kept after their operation or object
 * has ended. A plugin may still use the completion or context in such a record,
 * which is reported. */
#define UCT_CHECK_RETIRED_MAX 256

struct uct_check_iface {
    const uct_check_tl_t *tl;
    uint64_t cap_flags;    /* UCT_IFACE_FLAG_* that the manifest declares */
    uint64_t event_flags;  /* UCT_IFACE_FLAG_EVENT_* in the manifest */
    uct_iface_attr_t attr; /* as the plugin's query slot has returned */
    uct_check_am_t am[UCT_AM_ID_MAX];
    ucs_list_link_t eps;     /* uct_check_ep_t of its endpoints */
    ucs_list_link_t ops;     /* uct_check_op_t: outstanding operations of the
                              * interface itself, and of destroyed endpoints
                              * that were cancelled by a flush */
    ucs_list_link_t retired; /* uct_check_op_t: ended operations, in the order
                              * in which they ended */
    unsigned num_retired;    /* length of that list */
    ucs_list_link_t recvs;   /* tagged receives that have not ended */
    ucs_list_link_t retired_recvs; /* tagged receives that have ended, in the
                                    * order in which they ended */
    unsigned num_retired_recvs;    /* length of that list */
    uint64_t serial;   /* number of operations that have begun; the serial
                        * number of the last one */
    unsigned num_slow; /* number of calls that took too long */
    int event_fd;      /* descriptor that event_fd_get has returned; -1: none
                        * yet */
};

/* An endpoint. */
typedef struct uct_check_ep {
    ucs_list_link_t list; /* link in uct_check_iface::eps */
    uct_ep_h ep;
    int failed;          /* the plugin has reported its failure by
                          * iface_ep_failed() */
    int cancelled;       /* a flush with UCT_FLUSH_FLAG_CANCEL was called: the
                          * completions of its operations may be called after it
                          * was destroyed */
    ucs_list_link_t ops; /* uct_check_op_t: operations that have not ended */
    int no_resource;     /* the last send returned UCS_ERR_NO_RESOURCE, and
                          * pending_add has not returned UCS_ERR_BUSY since */
    unsigned busy;       /* number of times in a row that a send returned
                          * UCS_ERR_NO_RESOURCE and then pending_add returned
                          * UCS_ERR_BUSY */
} uct_check_ep_t;

typedef enum uct_check_op_state {
    UCT_CHECK_RUNNING,     /* the plugin's function has not returned */
    UCT_CHECK_OUTSTANDING, /* the function has returned UCS_INPROGRESS */
    UCT_CHECK_UNUSED,      /* the function has returned another status, so
                            * the plugin must not use the completion */
    UCT_CHECK_COMPLETED,   /* the plugin has called the completion */
    UCT_CHECK_ABANDONED,   /* the endpoint was destroyed without a cancelling
                            * flush, or the interface was closed */
    UCT_CHECK_CANCELED,    /* the user has cancelled it: the completion must not
                            * be called */
} uct_check_op_state_t;

/* What a flush means for an operation. */
typedef enum {
    UCT_CHECK_DATA,  /* a flush waits for the operation */
    UCT_CHECK_APART, /* a flush does not wait for the operation */
    UCT_CHECK_FLUSH, /* the operation is a flush */
} uct_check_op_kind_t;

/* An operation with a completion. */
typedef struct uct_check_op {
    uct_completion_t comp;  /* passed to the plugin */
    uct_completion_t *user; /* the user's, called when `comp` is called */
    ucs_list_link_t list;   /* link in a list of the endpoint or interface */
    uct_check_iface_t *iface;
    uct_ep_h ep;      /* NULL: operation of the interface */
    const char *slot; /* name of the plugin's function */
    uct_check_op_kind_t kind;
    uint64_t serial; /* numbers the operations of the interface in the order of
                       * their calls */
    void *handle;    /* by which the user can cancel the operation, or NULL */
    uct_check_op_state_t state;
} uct_check_op_t;

/* Lock and unlock all records. The lock is not held while functions of plugins
 * or callbacks of users run. */
void uct_check_lock(void);
void uct_check_unlock(void);

/* Returns the record of an endpoint, or NULL if there is none. The caller holds
 * the lock. */
uct_check_ep_t *uct_check_ep_find(uct_check_iface_t *iface, uct_ep_h ep);

void uct_check_ep_created(uct_check_iface_t *iface, uct_ep_h ep);

/* Called before an endpoint is destroyed: removes its record from the list, and
 * returns the record; NULL if there is none. */
uct_check_ep_t *uct_check_ep_take(uct_check_iface_t *iface, uct_ep_h ep);

/* Called after the endpoint was destroyed: frees the record that
 * uct_check_ep_take() has returned. */
void uct_check_ep_free(uct_check_iface_t *iface, uct_check_ep_t *record);

/* Creates the record of an operation before the plugin's function is called.
 * `comp`: the user's completion. Returns NULL if `comp` is NULL or memory is
 * exhausted; then the operation is not checked. */
uct_check_op_t *uct_check_op_begin(uct_check_iface_t *iface, uct_ep_h ep,
                                   const char *slot, uct_check_op_kind_t kind,
                                   uct_completion_t *comp);

/* Returns the completion to pass to the plugin: the one in the record `op`, or
 * `comp`, the user's, if `op` is NULL. */
static inline uct_completion_t *uct_check_op_comp(uct_check_op_t *op,
                                                  uct_completion_t *comp)
{
    return (op == NULL) ? comp : &op->comp;
}

/* Called when the plugin's function has returned `status`. `op` may be NULL. */
void uct_check_op_end(uct_check_op_t *op, ucs_status_t status);

/* Stores the handle that the plugin has returned for an operation, by which the
 * user can cancel it. */
void uct_check_op_handle(uct_check_op_t *op, void *handle);

/* Records that the user has cancelled the operation with this handle. */
void uct_check_op_cancel(uct_check_iface_t *iface, uct_ep_h ep,
                         const void *handle);

/* Records that a flush with UCT_FLUSH_FLAG_CANCEL was called for the
 * endpoint. */
void uct_check_ep_cancelled(uct_check_iface_t *iface, uct_ep_h ep);

/* Called when a flush of the endpoint, or of the interface if `ep` is NULL, has
 * completed. Reports an operation that began before the flush and is still
 * outstanding (rules 18 and 26). `serial`: number of the flush; UINT64_MAX if
 * it completed at once, without a record. */
void uct_check_flushed(uct_check_iface_t *iface, uct_ep_h ep, uint64_t serial);

/* --- Pending requests (pending.c) ----------------------------------------- */

ucs_status_t uct_check_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                   unsigned flags);
void uct_check_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                             void *arg);

/* --- Tags: receives (tag.c), rendezvous (tag_rndv.c) ---------------------- */

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

/* --- Sends (send.c) ------------------------------------------------------- */

/* Called before a send; returns the original slots of the endpoint. */
const ucx_ep_ops_t *uct_check_send_begin(uct_check_call_t *call, uct_ep_h ep,
                                         const char *slot);

/* Called after a send that has returned `status`, and return the same. The
 * second is for a send with a completion, whose record `op` may be NULL; the
 * third is for a send that must not return UCS_INPROGRESS. */
ucs_status_t uct_check_send_end(uct_check_call_t *call, uct_ep_h ep,
                                ucs_status_t status);
ucs_status_t uct_check_send_end_op(uct_check_call_t *call, uct_ep_h ep,
                                   uct_check_op_t *op, ucs_status_t status);
ucs_status_t uct_check_send_end_done(uct_check_call_t *call, uct_ep_h ep,
                                     ucs_status_t status);

/* Called when pending_add has returned UCS_ERR_BUSY, which means that the next
 * send may succeed. Reports an endpoint on which many sends in a row do not
 * succeed. */
void uct_check_send_busy(uct_check_iface_t *iface, uct_ep_h ep);

/* --- Slots ---------------------------------------------------------------- */

/* Tables of the checking functions; NULL in slots that are not checked. */
extern const ucx_iface_ops_t uct_check_iface_slots;
extern const ucx_md_ops_t uct_check_md_slots;
extern const ucx_cm_ops_t uct_check_cm_slots;
extern const ucx_ep_ops_t uct_check_cm_ep_slots;

/* Each function stores a part of the checking functions of endpoints in
 * *ops. */
void uct_check_am_slots(ucx_ep_ops_t *ops);
void uct_check_rma_slots(ucx_ep_ops_t *ops);
void uct_check_ep_slots(ucx_ep_ops_t *ops);
void uct_check_peer_slots(ucx_ep_ops_t *ops);

/* Slots of interfaces that peers.c implements. */
int uct_check_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args);
ucs_status_t uct_check_accept(uct_iface_h iface, uct_conn_request_h request);
ucs_status_t uct_check_reject(uct_iface_h iface, uct_conn_request_h request);

/* Calls get(arg, ...) with a larger buffer, and copies `length` bytes of that
 * to `buffer`. Reports a plugin that has written beyond them (rule 25). Returns
 * the status of `get`. */
ucs_status_t uct_check_bytes(const char *who, const char *slot, void *buffer,
                             size_t length,
                             ucs_status_t (*get)(void *arg, void *buffer),
                             void *arg);

#endif
