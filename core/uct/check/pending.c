/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of pending requests. While a request is queued in the transport,
 * run_pending() replaces its function. A request has no space for a pointer to
 * its record, because its private part belongs to the transport; the record is
 * found by the address of the request.
 */
#include "uct/check/internal.h"

#include <stdlib.h>

#define BUCKETS 256

/* The record of a queued request. */
typedef struct pending {
    struct pending *next; /* in the same bucket */
    uct_pending_req_t *req;
    uct_pending_callback_t func; /* the user's function */
    uct_check_iface_t *iface;
    uct_ep_h ep;
} pending_t;

/* Hash table of the records; protected by uct_check_lock(). */
static pending_t *buckets[BUCKETS];

static pending_t **bucket_of(const uct_pending_req_t *req)
{
    return &buckets[((uintptr_t)req / 16) % BUCKETS];
}

/* Removes the record of a request from the table, restores the user's function
 * in the request, and returns the record. Returns NULL if there is no
 * record. */
static pending_t *take_pending(uct_pending_req_t *req)
{
    pending_t **link, *pending = NULL;

    uct_check_lock();
    for (link = bucket_of(req); *link != NULL; link = &(*link)->next) {
        if ((*link)->req == req) {
            pending   = *link;
            *link     = pending->next;
            req->func = pending->func;
            break;
        }
    }
    uct_check_unlock();
    return pending;
}

static ucs_status_t run_pending(uct_pending_req_t *req);

/* Adds the record to the table, and replaces the function in its request. */
static void put_pending(pending_t *pending)
{
    pending_t **bucket = bucket_of(pending->req);

    uct_check_lock();
    pending->req->func = run_pending;
    pending->next      = *bucket;
    *bucket            = pending;
    uct_check_unlock();
}

/* The transport calls this function instead of the user's. */
static ucs_status_t run_pending(uct_pending_req_t *req)
{
    pending_t *pending           = take_pending(req);
    const uct_check_call_t *call = uct_check_call_now();
    uct_check_used_t start;
    ucs_status_t status;

    if (pending == NULL) {
        return UCS_OK; /* the record was removed by a purge, so the user's
                        * function is not known */
    }
    uct_check_place(pending->iface->tl->name, "pending_add");
    if ((call != NULL) && (call->kind != UCT_CHECK_PROGRESS)) {
        uct_check_report(pending->iface->tl->name, 26, call->slot,
                         "a pending request is called inside this operation; "
                         "call it from progress");
    }

    uct_check_user_begin(&start);
    status = req->func(req);
    uct_check_user_end(&start);
    if (status == UCS_OK) {
        free(pending); /* only the record: the user may have freed the request,
                        * so `req` must not be accessed any more */
    } else {
        put_pending(pending);
    }
    return status;
}

ucs_status_t uct_check_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                   unsigned flags)
{
    uct_check_iface_t *iface = uct_check_iface_of(ep->iface);
    const uct_check_ep_t *record;
    uct_check_call_t call;
    pending_t *pending;
    ucs_status_t status;
    int failed;

    uct_check_lock();
    record = uct_check_ep_find(iface, ep);
    failed = (record != NULL) && record->failed;
    uct_check_unlock();

    pending = malloc(sizeof(*pending));
    if (pending != NULL) {
        *pending = (pending_t){NULL, req, req->func, iface, ep};
        put_pending(pending);
    }
    uct_check_call_begin(&call, iface, "pending_add", UCT_CHECK_SEND);
    status = iface->tl->ep_ops.pending_add(ep, req, flags);
    uct_check_call_end(&call);

    if (status != UCS_OK) {
        free(take_pending(req));
    } else if (failed) {
        uct_check_report(iface->tl->name, 18, "pending_add",
                         "a request is "
                         "queued although the failure of the endpoint was "
                         "reported");
    }
    if (status == UCS_ERR_BUSY) {
        uct_check_send_busy(iface, ep);
    } else if (status > UCS_OK) {
        uct_check_report(iface->tl->name, 26, "pending_add",
                         "it returns %d, which is no error", (int)status);
    }
    return status;
}

/* --- Purge ---------------------------------------------------------------- */

typedef struct purge {
    uct_check_iface_t *iface;
    uct_pending_purge_callback_t cb;
    void *arg;
} purge_t;

static void run_purge(uct_pending_req_t *req, void *arg)
{
    const purge_t *purge = arg;
    uct_check_used_t start;

    free(take_pending(req));
    uct_check_user_begin(&start);
    purge->cb(req, purge->arg);
    uct_check_user_end(&start);
}

/* Called after a purge: frees the records of this endpoint that are left,
 * because the transport has not passed their requests to the callback. Returns
 * their number. */
static unsigned take_left_over(uct_ep_h ep)
{
    unsigned count = 0;
    pending_t **link, *pending;
    unsigned i;

    uct_check_lock();
    for (i = 0; i < BUCKETS; ++i) {
        for (link = &buckets[i]; (pending = *link) != NULL;) {
            if (pending->ep != ep) {
                link = &pending->next;
                continue;
            }
            *link = pending->next;
            free(pending);
            ++count;
        }
    }
    uct_check_unlock();
    return count;
}

void uct_check_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                             void *arg)
{
    uct_check_iface_t *iface = uct_check_iface_of(ep->iface);
    purge_t purge            = {iface, cb, arg};
    uct_check_call_t call;
    unsigned left;

    uct_check_call_begin(&call, iface, "pending_purge", UCT_CHECK_OTHER);
    iface->tl->ep_ops.pending_purge(ep, run_purge, &purge);
    uct_check_call_end(&call);

    left = take_left_over(ep);
    if (left > 0) {
        uct_check_report(iface->tl->name, 26, "pending_purge",
                         "%u queued requests were not passed to the callback",
                         left);
    }
}
