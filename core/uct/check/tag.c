/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checking slots (functions that replace those of the plugin, see internal.h)
 * for tagged receives. The plugin gets a context of this file instead of the
 * user's. A number of contexts is kept after their receives have ended, so that
 * a callback that the plugin calls too late is reported.
 */
#include "uct/check/internal.h"

#include <stdlib.h>

typedef enum recv_state {
    RECV_STARTS,   /* the plugin's function that posts it has not returned */
    RECV_POSTED,   /* it has returned UCS_OK */
    RECV_ENDED,    /* the plugin has called completed_cb or rndv_cb */
    RECV_CANCELED, /* by a forced cancellation, or it could not be posted: no
                    * callback may follow */
} recv_state_t;

/* A tagged receive. */
typedef struct uct_check_recv {
    uct_tag_context_t ctx;   /* must be first; passed to the plugin */
    uct_tag_context_t *user; /* the context that the user has passed */
    uct_check_iface_t *iface;
    ucs_list_link_t list; /* link in a list of the interface */
    recv_state_t state;
} uct_check_recv_t;

/* Sets the final state of a receive, and moves its record to the list of ended
 * ones. Frees the oldest record in that list if there are too many. The caller
 * holds the lock. */
static void retire(uct_check_recv_t *recv, recv_state_t state)
{
    uct_check_iface_t *iface = recv->iface;
    uct_check_recv_t *oldest;

    recv->state = state;
    ucs_list_del(&recv->list);
    ucs_list_add_tail(&iface->retired_recvs, &recv->list);
    if (++iface->num_retired_recvs > UCT_CHECK_RETIRED_MAX) {
        oldest = ucs_list_head(&iface->retired_recvs, uct_check_recv_t, list);
        ucs_list_del(&oldest->list);
        --iface->num_retired_recvs;
        free(oldest);
    }
}

/* Checks a callback when the plugin calls it. Returns whether the user's
 * callback may be called. `slot`: name of the callback. `ends`: it completes
 * the receive. */
static int may_call(uct_check_recv_t *recv, const char *slot, int ends)
{
    const uct_check_call_t *call = uct_check_call_now();
    const char *who              = recv->iface->tl->name;
    recv_state_t state;

    uct_check_lock();
    state = recv->state;
    if (ends && (state == RECV_POSTED)) {
        retire(recv, RECV_ENDED);
    } else if (ends && (state == RECV_STARTS)) {
        /* The plugin's function that posts the receive has not returned.
         * posted() calls retire() then. */
        recv->state = RECV_ENDED;
    }
    uct_check_unlock();

    if (state == RECV_ENDED) {
        uct_check_report(who, 26, slot,
                         "it is called after the receive has "
                         "ended");
        return 0;
    } else if (state == RECV_CANCELED) {
        uct_check_report(who, 26, slot,
                         "it is called after the receive was "
                         "cancelled by force");
        return 0;
    }
    uct_check_place(who, slot);
    if ((call != NULL) && (call->kind != UCT_CHECK_PROGRESS)) {
        uct_check_report(who, 16, slot,
                         "it is called inside %s; call it from "
                         "progress",
                         call->slot);
    }
    return 1;
}

static void consumed(uct_tag_context_t *self)
{
    uct_check_recv_t *recv  = (uct_check_recv_t *)self;
    uct_tag_context_t *user = recv->user;
    uct_check_used_t start;

    if (may_call(recv, "tag_consumed_cb", 0)) {
        uct_check_user_begin(&start);
        user->tag_consumed_cb(user);
        uct_check_user_end(&start);
    }
}

static void completed(uct_tag_context_t *self, uct_tag_t stag, uint64_t imm,
                      size_t length, void *inline_data, ucs_status_t status)
{
    uct_check_recv_t *recv  = (uct_check_recv_t *)self;
    uct_tag_context_t *user = recv->user;
    uct_check_used_t start;

    if (may_call(recv, "completed_cb", 1)) {
        uct_check_user_begin(&start);
        user->completed_cb(user, stag, imm, length, inline_data, status);
        uct_check_user_end(&start);
    }
}

static void rendezvous(uct_tag_context_t *self, uct_tag_t stag,
                       const void *header, unsigned header_length,
                       ucs_status_t status, unsigned flags)
{
    uct_check_recv_t *recv  = (uct_check_recv_t *)self;
    uct_tag_context_t *user = recv->user;
    uct_check_used_t start;

    if (may_call(recv, "rndv_cb", 1)) {
        uct_check_user_begin(&start);
        user->rndv_cb(user, stag, header, header_length, status, flags);
        uct_check_user_end(&start);
    }
}

/* Called when the plugin's function that posts the receive has returned
 * `status`. */
static void posted(uct_check_recv_t *recv, ucs_status_t status)
{
    uct_check_lock();
    if (recv->state == RECV_ENDED) {
        retire(recv, RECV_ENDED);
    } else if (status == UCS_OK) {
        recv->state = RECV_POSTED;
    } else {
        retire(recv, RECV_CANCELED);
    }
    uct_check_unlock();
}

ucs_status_t uct_check_tag_recv_zcopy(uct_iface_h iface, uct_tag_t tag,
                                      uct_tag_t tag_mask, const uct_iov_t *iov,
                                      size_t iovcnt, uct_tag_context_t *ctx)
{
    uct_check_iface_t *check = uct_check_iface_of(iface);
    uct_check_recv_t *recv   = calloc(1, sizeof(*recv));
    uct_check_call_t call;
    ucs_status_t status;

    if (recv == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    recv->ctx.tag_consumed_cb = consumed;
    recv->ctx.completed_cb    = completed;
    recv->ctx.rndv_cb         = rendezvous;
    recv->user                = ctx;
    recv->iface               = check;
    uct_check_lock();
    ucs_list_add_head(&check->recvs, &recv->list);
    uct_check_unlock();

    uct_check_call_begin(&call, check, "tag_recv_zcopy", UCT_CHECK_OTHER);
    status = check->tl->iface_ops.tag_recv_zcopy(iface, tag, tag_mask, iov,
                                                 iovcnt, &recv->ctx);
    uct_check_call_end(&call);
    posted(recv, status);
    uct_check_status(check->tl->name, "tag_recv_zcopy", status);
    return status;
}

/* Returns the posted receive with the user's context `ctx`, or NULL. The caller
 * holds the lock. */
static uct_check_recv_t *find(uct_check_iface_t *check,
                              const uct_tag_context_t *ctx)
{
    uct_check_recv_t *recv;

    ucs_list_for_each(recv, &check->recvs, list) {
        if ((recv->user == ctx) && (recv->state == RECV_POSTED)) {
            return recv;
        }
    }
    return NULL;
}

ucs_status_t uct_check_tag_recv_cancel(uct_iface_h iface,
                                       uct_tag_context_t *ctx, int force)
{
    uct_check_iface_t *check = uct_check_iface_of(iface);
    uct_check_recv_t *recv;
    uct_check_call_t call;
    ucs_status_t status;

    uct_check_lock();
    recv = find(check, ctx);
    uct_check_unlock();
    if (recv == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    uct_check_call_begin(&call, check, "tag_recv_cancel", UCT_CHECK_OTHER);
    status = check->tl->iface_ops.tag_recv_cancel(iface, &recv->ctx, force);
    uct_check_call_end(&call);
    if (force && (status == UCS_OK)) {
        uct_check_lock();
        if (find(check, ctx) == recv) {
            retire(recv, RECV_CANCELED);
        }
        uct_check_unlock();
    }
    return status;
}

static void free_list(ucs_list_link_t *recvs)
{
    uct_check_recv_t *recv;

    while (!ucs_list_is_empty(recvs)) {
        recv = ucs_list_head(recvs, uct_check_recv_t, list);
        ucs_list_del(&recv->list);
        free(recv);
    }
}

void uct_check_recvs_free(uct_check_iface_t *check)
{
    free_list(&check->recvs);
    free_list(&check->retired_recvs);
}
