/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Late completions: when the wrapped transport completes an operation, the
 * user's completion is called some calls of progress later. Completions may
 * therefore be out of order, except that a flush completes after all earlier
 * operations.
 */
#include "faults.h"

#include <stdlib.h>

static void op_free(faults_op_t *op)
{
    TAILQ_REMOVE(&op->iface->ops, op, link);
    free(op);
}

/* Called when the wrapped transport has completed an operation: schedules the
 * call of the user's completion. */
static void op_done(faults_op_t *op, ucs_status_t status)
{
    op->done = 1;
    op->due  = faults_later(op->iface, op->iface->config.completion_delay);
    if (op->status == UCS_OK) {
        op->status = status;
    }
}

static void inner_completed(uct_completion_t *comp)
{
    op_done(faults_container_of(comp, faults_op_t, comp), comp->status);
}

faults_op_t *faults_op_begin(faults_iface_t *iface, faults_ep_t *ep,
                             uct_completion_t *user)
{
    faults_op_t *op = calloc(1, sizeof(*op));

    if (op == NULL) {
        return NULL;
    }
    op->comp.func   = inner_completed;
    op->comp.count  = 1;
    op->comp.status = UCS_OK;
    op->user        = user;
    op->iface       = iface;
    op->ep          = ep;
    op->of_iface    = (ep == NULL);
    op->status      = UCS_OK;
    TAILQ_INSERT_TAIL(&iface->ops, op, link);
    return op;
}

int faults_op_is_behind(const faults_op_t *flush)
{
    const faults_op_t *op;

    TAILQ_FOREACH(op, &flush->iface->ops, link) {
        if (op == flush) {
            return 0;
        }
        if (flush->of_iface || (op->ep == flush->ep)) {
            return 1;
        }
    }
    return 0;
}

ucs_status_t faults_op_end(faults_op_t *op, ucs_status_t status)
{
    faults_iface_t *iface = op->iface;
    int waits;

    if (status == UCS_INPROGRESS) {
        return UCS_INPROGRESS;
    }

    waits = op->flush && faults_op_is_behind(op);
    if ((status == UCS_OK) &&
        (waits || ((op->user != NULL) && (iface->config.completion_delay > 0) &&
                   faults_chance(iface, 0.5)))) {
        op_done(op, UCS_OK);
        return UCS_INPROGRESS;
    }
    op_free(op);
    return status;
}

void faults_ops_end(faults_ep_t *ep, ucs_status_t status)
{
    faults_op_t *op;

    TAILQ_FOREACH(op, &faults_ep_iface(ep)->ops, link) {
        if (op->ep == ep) {
            op->status = status;
            op->due    = 0;
        }
    }
}

int faults_ops_exist(const faults_ep_t *ep)
{
    const faults_op_t *op;

    TAILQ_FOREACH(op, &faults_ep_iface(ep)->ops, link) {
        if (op->ep == ep) {
            return 1;
        }
    }
    return 0;
}

void faults_ops_forget_ep(faults_ep_t *ep)
{
    faults_op_t *op;

    TAILQ_FOREACH(op, &faults_ep_iface(ep)->ops, link) {
        if (op->ep == ep) {
            op->ep = NULL;
        }
    }
}

static void tell_user(uct_completion_t *user, ucs_status_t status)
{
    if (user == NULL) {
        return;
    }
    if ((status != UCS_OK) && (user->status == UCS_OK)) {
        user->status = status;
    }
    if (--user->count == 0) {
        user->func(user);
    }
}

/* A user's completion may append operations to the list. It removes at most
 * those that it has appended, so that `op` stays valid. */
unsigned faults_ops_complete(faults_iface_t *iface, int all)
{
    unsigned count = 0;
    faults_op_t *op, *next;
    uct_completion_t *user;
    ucs_status_t status;

    for (op = TAILQ_FIRST(&iface->ops); op != NULL; op = next) {
        next = TAILQ_NEXT(op, link);
        if (!all && (!op->done || (op->due > iface->round) ||
                     (op->flush && faults_op_is_behind(op)))) {
            continue;
        }
        user   = op->user;
        status = op->done ? op->status : UCS_ERR_CANCELED;
        tell_user(user, status);
        next = TAILQ_NEXT(op, link); /* The call may have appended operations */
        op_free(op);
        ++count;
    }
    return count;
}

int faults_ops_are_late(const faults_iface_t *iface)
{
    const faults_op_t *op;

    TAILQ_FOREACH(op, &iface->ops, link) {
        if (op->done) {
            return 1;
        }
    }
    return 0;
}
