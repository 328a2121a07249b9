/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checking slots (functions that replace those of the plugin, see internal.h)
 * of connection managers. The plugin receives callbacks of this file instead of
 * the user's. Each endpoint and each listener has a record. A number of records
 * is kept after their endpoints and listeners were destroyed, so that a
 * callback that the plugin calls too late is reported.
 */
#include <stdlib.h>

#include "uct/check/internal.h"

/* Callbacks that a plugin may call only once for an endpoint. */
typedef enum answer {
    ANSWER_RESOLVE,
    ANSWER_CLIENT,
    ANSWER_SERVER,
    ANSWER_DISCONNECT,
    NUM_ANSWERS,
} answer_t;

static const char *const answer_names[] = {
    [ANSWER_RESOLVE]    = "cm_resolve_cb",
    [ANSWER_CLIENT]     = "sockaddr_cb_client",
    [ANSWER_SERVER]     = "sockaddr_cb_server",
    [ANSWER_DISCONNECT] = "disconnect_cb",
};

/* An endpoint of a connection manager, or a listener. */
typedef struct cm_record {
    ucs_list_link_t list;       /* link in `records` or `retired` */
    uct_check_iface_t *manager; /* state of the connection manager; valid until
                                 * `object` is destroyed */
    const char *who;            /* name of the component, for reports */
    const void *object; /* the endpoint or listener; NULL: the plugin has not
                         * returned it yet */
    int has_ended;      /* destroyed, or never created */
    unsigned answers[NUM_ANSWERS];  /* number of calls of each callback */
    uct_ep_params_t user;           /* of an endpoint: as the user has passed */
    uct_listener_params_t listener; /* of a listener: as the user has passed */
} cm_record_t;

/* The records of all connection managers. Protected by uct_check_lock(). */
static UCS_LIST_HEAD(records); /* of endpoints and listeners that exist */
static UCS_LIST_HEAD(retired); /* of those that have ended, in that order */
static unsigned num_retired;   /* length of `retired` */

/* --- Records -------------------------------------------------------------- */

static cm_record_t *record_new(uct_cm_h cm)
{
    cm_record_t *record = calloc(1, sizeof(*record));

    if (record != NULL) {
        record->manager = uct_check_cm_of(cm);
        record->who     = record->manager->tl->name;
        uct_check_lock();
        ucs_list_add_head(&records, &record->list);
        uct_check_unlock();
    }
    return record;
}

static void record_created(cm_record_t *record, const void *object)
{
    uct_check_lock();
    record->object = object;
    uct_check_unlock();
}

static cm_record_t *record_find(const void *object)
{
    cm_record_t *record, *found = NULL;

    uct_check_lock();
    ucs_list_for_each(record, &records, list) {
        if (record->object == object) {
            found = record;
            break;
        }
    }
    uct_check_unlock();
    return found;
}

/* Marks a record as ended. If the object exists, called before the plugin
 * destroys it, because another thread may create a new object at the same
 * address before the plugin's function returns. */
static void record_end(cm_record_t *record)
{
    cm_record_t *oldest = NULL;

    uct_check_lock();
    record->has_ended = 1;
    ucs_list_del(&record->list);
    ucs_list_add_tail(&retired, &record->list);
    if (++num_retired > UCT_CHECK_RETIRED_MAX) {
        oldest = ucs_list_head(&retired, cm_record_t, list);
        ucs_list_del(&oldest->list);
        --num_retired;
    }
    uct_check_unlock();
    free(oldest);
}

/* --- Callbacks ------------------------------------------------------------ */

/* Checks a callback when the plugin calls it: by rule 16, it must be called in
 * the worker's progress. Returns whether the user's callback may be called,
 * which is not the case if the object was destroyed. */
static int may_call(const cm_record_t *record, const char *name)
{
    const uct_check_call_t *call = uct_check_call_now();
    int has_ended;

    uct_check_lock();
    has_ended = record->has_ended;
    uct_check_unlock();
    if (has_ended) {
        uct_check_report(record->who, 26, name,
                         "it is called after the end of its endpoint or "
                         "listener");
        return 0;
    }
    uct_check_place(record->who, name);
    if ((call != NULL) && (call->kind != UCT_CHECK_PROGRESS)) {
        uct_check_report(record->who, 16, name,
                         "it is called inside %s; call it from progress",
                         call->slot);
    }
    return 1;
}

/* As may_call(), for a callback that may be called only once. Returns 0 for
 * further calls too. */
static int may_answer(cm_record_t *record, answer_t answer)
{
    unsigned count;

    if (!may_call(record, answer_names[answer])) {
        return 0;
    }
    uct_check_lock();
    count = record->answers[answer]++;
    uct_check_unlock();
    if (count > 0) {
        uct_check_report(record->who, 26, answer_names[answer],
                         "it is called twice for one endpoint");
        return 0;
    }
    return 1;
}

static ssize_t pack(void *arg, const uct_cm_ep_priv_data_pack_args_t *args,
                    void *data)
{
    cm_record_t *record = arg;
    uct_check_used_t start;
    ssize_t length;

    if (!may_call(record, "sockaddr_pack_cb")) {
        return UCS_ERR_CANCELED;
    }
    uct_check_user_begin(&start);
    length = record->user.sockaddr_pack_cb(record->user.user_data, args, data);
    uct_check_user_end(&start);
    return length;
}

static ucs_status_t resolved(void *arg, const uct_cm_ep_resolve_args_t *args)
{
    cm_record_t *record = arg;
    uct_check_used_t start;
    ucs_status_t status;

    if (!may_answer(record, ANSWER_RESOLVE)) {
        return UCS_ERR_CANCELED;
    }
    uct_check_user_begin(&start);
    status = record->user.cm_resolve_cb(record->user.user_data, args);
    uct_check_user_end(&start);
    return status;
}

static void connected(uct_ep_h ep, void *arg,
                      const uct_cm_ep_client_connect_args_t *args)
{
    cm_record_t *record = arg;
    uct_check_used_t start;

    if (may_answer(record, ANSWER_CLIENT)) {
        uct_check_user_begin(&start);
        record->user.sockaddr_cb_client(ep, record->user.user_data, args);
        uct_check_user_end(&start);
    }
}

static void notified(uct_ep_h ep, void *arg,
                     const uct_cm_ep_server_conn_notify_args_t *args)
{
    cm_record_t *record = arg;
    uct_check_used_t start;

    if (may_answer(record, ANSWER_SERVER)) {
        uct_check_user_begin(&start);
        record->user.sockaddr_cb_server(ep, record->user.user_data, args);
        uct_check_user_end(&start);
    }
}

static void disconnected(uct_ep_h ep, void *arg)
{
    cm_record_t *record = arg;
    uct_check_used_t start;

    if (may_answer(record, ANSWER_DISCONNECT)) {
        uct_check_user_begin(&start);
        record->user.disconnect_cb(ep, record->user.user_data);
        uct_check_user_end(&start);
    }
}

static void requested(uct_listener_h listener, void *arg,
                      const uct_cm_listener_conn_request_args_t *args)
{
    cm_record_t *record = arg;
    uct_check_used_t start;

    if (may_call(record, "conn_request_cb")) {
        uct_check_user_begin(&start);
        record->listener.conn_request_cb(listener, record->listener.user_data,
                                         args);
        uct_check_user_end(&start);
    }
}

/* --- Managers and listeners ----------------------------------------------- */

/* Records the call of a slot, and returns the original slots. */
static const ucx_cm_ops_t *begin(uct_check_call_t *call, uct_cm_h cm,
                                 const char *slot)
{
    uct_check_iface_t *manager = uct_check_cm_of(cm);

    uct_check_call_begin(call, manager, slot, UCT_CHECK_OTHER);
    return &manager->tl->cm_ops;
}

static ucs_status_t listener_create(uct_cm_h cm, const struct sockaddr *addr,
                                    socklen_t addrlen,
                                    const uct_listener_params_t *params,
                                    uct_listener_h *listener_p)
{
    cm_record_t *record        = record_new(cm);
    uct_listener_params_t ours = *params;
    uct_check_call_t call;
    const ucx_cm_ops_t *ops;
    ucs_status_t status;

    if (record == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    record->listener = *params;
    if (!(params->field_mask & UCT_LISTENER_PARAM_FIELD_USER_DATA)) {
        record->listener.user_data = NULL;
    }
    ours.field_mask |= UCT_LISTENER_PARAM_FIELD_USER_DATA;
    ours.conn_request_cb = requested;
    ours.user_data       = record;

    ops    = begin(&call, cm, "listener_create");
    status = ops->listener_create(cm, addr, addrlen, &ours, listener_p);
    uct_check_call_end(&call);
    if (status == UCS_OK) {
        record_created(record, *listener_p);
    } else {
        record_end(record);
    }
    return status;
}

static void listener_destroy(uct_listener_h listener)
{
    uct_check_call_t call;
    const ucx_cm_ops_t *ops = begin(&call, listener->cm, "listener_destroy");

    record_end(record_find(listener));
    ops->listener_destroy(listener);
    uct_check_call_end(&call);
}

static ucs_status_t listener_reject(uct_listener_h listener,
                                    uct_conn_request_h request)
{
    uct_check_call_t call;
    const ucx_cm_ops_t *ops = begin(&call, listener->cm, "listener_reject");
    ucs_status_t status     = ops->listener_reject(listener, request);

    uct_check_call_end(&call);
    uct_check_status(call.iface->tl->name, "listener_reject", status);
    return status;
}

static ucs_status_t listener_query(uct_listener_h listener,
                                   uct_listener_attr_t *attr)
{
    uct_check_call_t call;
    const ucx_cm_ops_t *ops = begin(&call, listener->cm, "listener_query");
    ucs_status_t status     = ops->listener_query(listener, attr);

    uct_check_call_end(&call);
    uct_check_status(call.iface->tl->name, "listener_query", status);
    return status;
}

static ucs_status_t query(uct_cm_h cm, uct_cm_attr_t *attr)
{
    uct_check_call_t call;
    const ucx_cm_ops_t *ops = begin(&call, cm, "query");
    ucs_status_t status     = ops->query(cm, attr);

    uct_check_call_end(&call);
    uct_check_status(call.iface->tl->name, "query", status);
    return status;
}

/* --- Endpoints ------------------------------------------------------------ */

/* Replaces the user's callbacks in *params by those of this file. It sets all
 * of them: the plugin ignores those that the user has not set, because their
 * bits in field_mask are not set. */
static void wrap_params(cm_record_t *record, uct_ep_params_t *params)
{
    record->user = *params;
    if (!(params->field_mask & UCT_EP_PARAM_FIELD_USER_DATA)) {
        record->user.user_data = NULL;
    }
    params->field_mask |= UCT_EP_PARAM_FIELD_USER_DATA;
    params->user_data          = record;
    params->sockaddr_pack_cb   = pack;
    params->cm_resolve_cb      = resolved;
    params->sockaddr_cb_client = connected;
    params->sockaddr_cb_server = notified;
    params->disconnect_cb      = disconnected;
}

static ucs_status_t ep_create(uct_cm_h cm, const uct_ep_params_t *params,
                              uct_ep_h *ep_p)
{
    cm_record_t *record  = record_new(cm);
    uct_ep_params_t ours = *params;
    uct_check_call_t call;
    const ucx_cm_ops_t *ops;
    ucs_status_t status;

    if (record != NULL) {
        wrap_params(record, &ours);
    }
    ops    = begin(&call, cm, "ep_create");
    status = ops->ep_create(cm, &ours, ep_p);
    uct_check_call_end(&call);
    if (record == NULL) {
        /* without a record for lack of memory, the endpoint is not checked: it
         * gets the original slots */
        if (status == UCS_OK) {
            (*ep_p)->ops = &call.iface->tl->ep_ops;
        }
    } else if (status == UCS_OK) {
        record_created(record, *ep_p);
    } else {
        record_end(record);
    }
    return status;
}

/* As begin(), for slots of endpoints. */
static const ucx_ep_ops_t *begin_ep(uct_check_call_t *call, uct_ep_h ep,
                                    const char *slot)
{
    uct_check_iface_t *manager = record_find(ep)->manager;

    uct_check_call_begin(call, manager, slot, UCT_CHECK_OTHER);
    return &manager->tl->ep_ops;
}

static ucs_status_t ep_connect(uct_ep_h ep,
                               const uct_ep_connect_params_t *params)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = begin_ep(&call, ep, "cm_connect");
    ucs_status_t status     = ops->cm_connect(ep, params);

    uct_check_call_end(&call);
    return status;
}

static ucs_status_t ep_conn_notify(uct_ep_h ep)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = begin_ep(&call, ep, "cm_conn_notify");
    ucs_status_t status     = ops->cm_conn_notify(ep);

    uct_check_call_end(&call);
    return status;
}

static ucs_status_t ep_disconnect(uct_ep_h ep, unsigned flags)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = begin_ep(&call, ep, "cm_disconnect");
    ucs_status_t status     = ops->cm_disconnect(ep, flags);

    uct_check_call_end(&call);
    return status;
}

static ucs_status_t ep_flush(uct_ep_h ep, unsigned flags,
                             uct_completion_t *comp)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = begin_ep(&call, ep, "flush");
    uct_check_op_t *op      = uct_check_op_begin(call.iface, NULL, call.slot,
                                                 UCT_CHECK_FLUSH, comp);
    ucs_status_t status = ops->flush(ep, flags, uct_check_op_comp(op, comp));

    uct_check_call_end(&call);
    uct_check_op_end(op, status);
    return status;
}

static ucs_status_t ep_query_sockaddrs(uct_ep_h ep,
                                       struct sockaddr_storage *local,
                                       struct sockaddr_storage *remote)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = begin_ep(&call, ep, "query_sockaddrs");
    ucs_status_t status     = ops->query_sockaddrs(ep, local, remote);

    uct_check_call_end(&call);
    uct_check_status(call.iface->tl->name, "query_sockaddrs", status);
    return status;
}

static void ep_destroy(uct_ep_h ep)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = begin_ep(&call, ep, "destroy");

    record_end(record_find(ep));
    ops->destroy(ep);
    uct_check_call_end(&call);
}

const ucx_cm_ops_t uct_check_cm_slots = {
    .size             = sizeof(uct_check_cm_slots),
    .query            = query,
    .listener_create  = listener_create,
    .listener_destroy = listener_destroy,
    .listener_reject  = listener_reject,
    .listener_query   = listener_query,
    .ep_create        = ep_create,
};

const ucx_ep_ops_t uct_check_cm_ep_slots = {
    .size            = sizeof(uct_check_cm_ep_slots),
    .cm_connect      = ep_connect,
    .cm_conn_notify  = ep_conn_notify,
    .cm_disconnect   = ep_disconnect,
    .flush           = ep_flush,
    .query_sockaddrs = ep_query_sockaddrs,
    .destroy         = ep_destroy,
};
