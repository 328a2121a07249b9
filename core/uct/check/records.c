/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of interfaces, endpoints and operations (internal.h). The plugin
 * receives the completion in the record of an operation instead of the user's.
 */
#include "uct/check/internal.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t records_lock = PTHREAD_MUTEX_INITIALIZER;

void uct_check_lock(void)
{
    pthread_mutex_lock(&records_lock);
}

void uct_check_unlock(void)
{
    pthread_mutex_unlock(&records_lock);
}

/* --- Operations ----------------------------------------------------------- */

/* Frees the record of an operation that has ended. Reports a plugin that has
 * decremented the count of the completion, which began at 1, too often. (If the
 * plugin has called the completion too often, completed() has reported it.) */
static void free_op(uct_check_op_t *op)
{
    const int expected = (op->state == UCT_CHECK_COMPLETED) ? 0 : 1;

    if (op->comp.count < expected) {
        uct_check_report(
            op->iface->tl->name, 26, op->slot,
            (op->state == UCT_CHECK_COMPLETED) ?
                "the completion was counted down twice" :
            (op->state == UCT_CHECK_UNUSED) ?
                "the completion was counted down, but the call did "
                "not return UCS_INPROGRESS" :
            (op->state == UCT_CHECK_CANCELED) ?
                "the completion was counted down after the operation "
                "was cancelled" :
                "the completion was counted down after the endpoint "
                "was destroyed");
    }
    free(op);
}

/* Sets the final state of an operation, and moves its record to the list of
 * ended ones. Frees the oldest record in that list if there are too many. The
 * caller holds the lock. */
static void retire(uct_check_op_t *op, uct_check_op_state_t state)
{
    uct_check_iface_t *iface = op->iface;
    uct_check_op_t *oldest;

    op->state = state;
    ucs_list_del(&op->list);
    ucs_list_add_tail(&iface->retired, &op->list);
    if (++iface->num_retired > UCT_CHECK_RETIRED_MAX) {
        oldest = ucs_list_head(&iface->retired, uct_check_op_t, list);
        ucs_list_del(&oldest->list);
        --iface->num_retired;
        free_op(oldest);
    }
}

/* Decrements the user's completion and calls it when its count is 0, as the
 * plugin would do without this layer. */
static void tell_user(uct_completion_t *user, ucs_status_t status)
{
    uct_check_used_t start;

    uct_completion_update_status(user, status);
    if (--user->count == 0) {
        uct_check_user_begin(&start);
        user->func(user);
        uct_check_user_end(&start);
    }
}

/* Function of the completion in the record: the plugin calls it when the
 * operation is complete. */
static void completed(uct_completion_t *comp)
{
    uct_check_op_t *op        = ucs_container_of(comp, uct_check_op_t, comp);
    uct_check_iface_t *iface  = op->iface;
    const char *who           = iface->tl->name;
    uct_completion_t *user    = op->user;
    const ucs_status_t status = comp->status;
    const char *slot          = op->slot;
    const int is_flush        = op->kind == UCT_CHECK_FLUSH;
    const uint64_t serial     = op->serial;
    uct_ep_h ep               = op->ep;
    uct_check_op_state_t state;

    uct_check_lock();
    state = op->state;
    if ((state == UCT_CHECK_OUTSTANDING) || (state == UCT_CHECK_RUNNING)) {
        retire(op, UCT_CHECK_COMPLETED);
    }
    uct_check_unlock();

    switch (state) {
    case UCT_CHECK_RUNNING:
        uct_check_report(who, 26, slot,
                         "the completion was called before the "
                         "call returned UCS_INPROGRESS");
        break;
    case UCT_CHECK_OUTSTANDING:
        break;
    case UCT_CHECK_UNUSED:
        uct_check_report(who, 26, slot,
                         "the completion was called, but the "
                         "call did not return UCS_INPROGRESS");
        return;
    case UCT_CHECK_COMPLETED:
        uct_check_report(who, 26, slot, "the completion was called twice");
        return;
    case UCT_CHECK_ABANDONED:
        uct_check_report(who, 26, slot,
                         "the completion was called after the "
                         "endpoint was destroyed");
        return;
    case UCT_CHECK_CANCELED:
        uct_check_report(who, 26, slot,
                         "the completion was called after the operation was "
                         "cancelled");
        return;
    }

    uct_check_place(who, slot);
    if (is_flush && (status == UCS_OK)) {
        uct_check_flushed(iface, ep, serial);
    }
    tell_user(user, status);
}

uct_check_op_t *uct_check_op_begin(uct_check_iface_t *iface, uct_ep_h ep,
                                   const char *slot, uct_check_op_kind_t kind,
                                   uct_completion_t *comp)
{
    uct_check_ep_t *record;
    uct_check_op_t *op;

    op = (comp == NULL) ? NULL : calloc(1, sizeof(*op));
    if (op == NULL) {
        return NULL;
    }
    op->comp  = (uct_completion_t){.func = completed, .count = 1};
    op->user  = comp;
    op->iface = iface;
    op->ep    = ep;
    op->slot  = slot;
    op->kind  = kind;

    uct_check_lock();
    op->serial = ++iface->serial;
    record     = (ep == NULL) ? NULL : uct_check_ep_find(iface, ep);
    ucs_list_add_tail((record == NULL) ? &iface->ops : &record->ops, &op->list);
    uct_check_unlock();
    return op;
}

void uct_check_op_end(uct_check_op_t *op, ucs_status_t status)
{
    if (op == NULL) {
        return;
    }
    uct_check_lock();
    if (op->state == UCT_CHECK_RUNNING) {
        if (status == UCS_INPROGRESS) {
            op->state = UCT_CHECK_OUTSTANDING;
        } else {
            retire(op, UCT_CHECK_UNUSED);
        }
    }
    uct_check_unlock();
}

void uct_check_op_handle(uct_check_op_t *op, void *handle)
{
    if (op != NULL) {
        uct_check_lock();
        op->handle = handle;
        uct_check_unlock();
    }
}

void uct_check_op_cancel(uct_check_iface_t *iface, uct_ep_h ep,
                         const void *handle)
{
    uct_check_ep_t *record;
    uct_check_op_t *op;

    uct_check_lock();
    record = uct_check_ep_find(iface, ep);
    if (record != NULL) {
        ucs_list_for_each(op, &record->ops, list) {
            if (op->handle == handle) {
                retire(op, UCT_CHECK_CANCELED);
                break;
            }
        }
    }
    uct_check_unlock();
}

/* --- Flush ---------------------------------------------------------------- */

/* Searches a list for an outstanding operation that began before the operation
 * with number `serial` and for which a flush waits. Returns the name of its
 * slot, or NULL. */
static const char *earlier_op(const ucs_list_link_t *ops, uint64_t serial)
{
    const uct_check_op_t *op;

    ucs_list_for_each(op, ops, list) {
        if ((op->kind == UCT_CHECK_DATA) && (op->serial < serial) &&
            (op->state == UCT_CHECK_OUTSTANDING)) {
            return op->slot;
        }
    }
    return NULL;
}

void uct_check_flushed(uct_check_iface_t *iface, uct_ep_h ep, uint64_t serial)
{
    const char *earlier = NULL;
    uct_check_ep_t *record;
    int rule = 26;

    uct_check_lock();
    ucs_list_for_each(record, &iface->eps, list) {
        if (((ep == NULL) || (record->ep == ep)) && (earlier == NULL)) {
            earlier = earlier_op(&record->ops, serial);
            rule    = record->failed ? 18 : 26;
        }
    }
    uct_check_unlock();

    if (earlier != NULL) {
        uct_check_report(iface->tl->name, rule, "flush",
                         "it has completed, "
                         "but the completion of an earlier %s was not called",
                         earlier);
    }
}

/* --- Endpoints ------------------------------------------------------------ */

uct_check_ep_t *uct_check_ep_find(uct_check_iface_t *iface, uct_ep_h ep)
{
    uct_check_ep_t *record;

    ucs_list_for_each(record, &iface->eps, list) {
        if (record->ep == ep) {
            /* move it to the front, since the next search is often for the same
             * endpoint */
            ucs_list_del(&record->list);
            ucs_list_add_head(&iface->eps, &record->list);
            return record;
        }
    }
    return NULL;
}

void uct_check_ep_created(uct_check_iface_t *iface, uct_ep_h ep)
{
    uct_check_ep_t *record = calloc(1, sizeof(*record));

    if (record == NULL) {
        return; /* without a record, the endpoint is not checked */
    }
    record->ep = ep;
    ucs_list_head_init(&record->ops);
    uct_check_lock();
    ucs_list_add_head(&iface->eps, &record->list);
    uct_check_unlock();
}

uct_check_ep_t *uct_check_ep_take(uct_check_iface_t *iface, uct_ep_h ep)
{
    uct_check_ep_t *record;

    uct_check_lock();
    record = uct_check_ep_find(iface, ep);
    if (record != NULL) {
        ucs_list_del(&record->list);
    }
    uct_check_unlock();
    return record;
}

void uct_check_ep_cancelled(uct_check_iface_t *iface, uct_ep_h ep)
{
    uct_check_ep_t *record;

    uct_check_lock();
    record = uct_check_ep_find(iface, ep);
    if (record != NULL) {
        record->cancelled = 1;
    }
    uct_check_unlock();
}

static void retire_all(ucs_list_link_t *ops)
{
    while (!ucs_list_is_empty(ops)) {
        retire(ucs_list_head(ops, uct_check_op_t, list), UCT_CHECK_ABANDONED);
    }
}

void uct_check_ep_free(uct_check_iface_t *iface, uct_check_ep_t *record)
{
    if (record != NULL) {
        uct_check_lock();
        if (record->cancelled) {
            ucs_list_splice_tail(&iface->ops, &record->ops);
        } else {
            retire_all(&record->ops);
        }
        uct_check_unlock();
        free(record);
    }
}

/* --- Interfaces ----------------------------------------------------------- */

ucs_status_t uct_check_iface_create(const uct_check_tl_t *tl,
                                    uint64_t cap_flags, uint64_t event_flags,
                                    uct_check_iface_t **check_p)
{
    uct_check_iface_t *check;

    *check_p = NULL;
    check    = calloc(1, sizeof(*check));
    if (check == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    check->tl          = tl;
    check->cap_flags   = cap_flags;
    check->event_flags = event_flags;
    check->event_fd    = -1;
    ucs_list_head_init(&check->eps);
    ucs_list_head_init(&check->ops);
    ucs_list_head_init(&check->retired);
    ucs_list_head_init(&check->recvs);
    ucs_list_head_init(&check->retired_recvs);
    *check_p = check;
    return UCS_OK;
}

void uct_check_iface_destroy(uct_check_iface_t *check)
{
    uct_check_op_t *op;

    uct_check_recvs_free(check);
    uct_check_lock();
    retire_all(&check->ops);
    while (!ucs_list_is_empty(&check->retired)) {
        op = ucs_list_head(&check->retired, uct_check_op_t, list);
        ucs_list_del(&op->list);
        free_op(op);
    }
    uct_check_unlock();
    free(check);
}
