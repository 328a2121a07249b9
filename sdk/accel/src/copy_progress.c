/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress of the copy and IPC transports: completes operations and flushes,
 * and handles the failure of a lane (copy.h). Hot path: polls the lane's flag,
 * a word in memory, and queries the driver (accel_driver) only rarely.
 */
#include "copy.h"

#include <string.h>

/* Ends the oldest step of a lane. With `is_good`, the step is complete: copies
 * the data from its bounce buffer, if necessary. */
static void step_over(accel_lane_t *lane, int is_good)
{
    accel_step_t *step = &lane->steps[lane->head % ACCEL_MAX_STEPS];

    ++lane->head;
    if (step->bounce != NULL) {
        if (is_good && (step->to != NULL)) {
            memcpy(step->to, step->bounce, step->length);
        }
        accel_lane_put_bounce(lane, step->bounce);
    }
    --step->op->steps;
}

/* Ends all steps and operations of a lane with an error, and closes the
 * lane. */
static void lane_failed(accel_copy_iface_t *iface, accel_lane_t *lane,
                        int result)
{
    ucs_status_t status = accel_status(result);
    accel_op_t *op;

    for (op = iface->oldest; op != NULL; op = op->next) {
        if (op->lane == lane) {
            accel_op_stop(iface, op, status);
        }
    }
    while (lane->head != lane->tail) {
        step_over(lane, 0);
    }
    accel_lane_fail(iface, lane, result);
    if (iface->lost != NULL) {
        iface->lost(iface, lane->device, result == ACCEL_RESET);
    }
}

int accel_lane_start(accel_copy_iface_t *iface, accel_lane_t *lane,
                     accel_scope_t *scope)
{
    int result = accel_driver.queue_enter(lane->queue, scope);

    if (result == ACCEL_RESET) {
        lane_failed(iface, lane, result);
        result = accel_lane_get(iface, lane->device, &lane);
        if (result == UCS_OK) {
            result = accel_driver.queue_enter(lane->queue, scope);
        }
    }
    if (result == UCS_OK) {
        accel_lane_issue_gathered(lane);
    }
    return result;
}

/* Issues the gathered copies of a lane. Called only when all issued copies of
 * the lane are complete, so that more copies can be gathered until then. */
static void issue_gathered(accel_copy_iface_t *iface, accel_lane_t *lane)
{
    accel_scope_t scope;
    int result = accel_driver.queue_enter(lane->queue, &scope);

    if (result == UCS_OK) {
        accel_lane_issue_gathered(lane);
        accel_driver.leave(&scope);
    } else {
        lane_failed(iface, lane, result);
    }
}

static unsigned lane_progress(accel_copy_iface_t *iface, accel_lane_t *lane)
{
    unsigned count = 0;
    int result;

    while (
        (lane->head != lane->tail) &&
        accel_lane_reached(lane,
                           lane->steps[lane->head % ACCEL_MAX_STEPS].ticket)) {
        step_over(lane, 1);
        ++count;
    }
    if ((lane->gathered.count > 0) &&
        (lane->tail - lane->head == lane->gathered.count)) {
        issue_gathered(iface, lane);
        ++count;
    }
    if ((count > 0) || (lane->head == lane->tail)) {
        lane->polls = 0;
    } else if (++lane->polls >= ACCEL_CHECK_POLLS) {
        result = accel_lane_check(lane);
        if (result != UCS_OK) {
            lane_failed(iface, lane, result);
            count = 1;
        }
    }
    return count;
}

/* Issues further steps of the operations that wait for space in their lane,
 * oldest operation first. */
static void issue_waiting(accel_copy_iface_t *iface)
{
    accel_scope_t scope;
    int result;
    accel_op_t *op;

    for (op = iface->oldest; (op != NULL) && (iface->num_waiting > 0);
         op = op->next) {
        if (op->is_issued || op->is_flush) {
            continue;
        }
        result = accel_driver.queue_enter(op->lane->queue, &scope);
        if (result == UCS_OK) {
            accel_lane_issue_gathered(op->lane);
            result = accel_op_issue(op, &scope);
        }
        if (result != UCS_OK) {
            accel_op_stop(iface, op, accel_status(result));
        } else if (op->is_issued) {
            --iface->num_waiting;
        }
    }
}

/* Completes the operations whose steps have all ended. A flush is complete when
 * it is the oldest operation. Completions of the user may start operations and
 * destroy endpoints, so the search starts again after each of them. Returns the
 * number of completed operations. */
static unsigned complete_ops(accel_copy_iface_t *iface)
{
    unsigned count = 0;
    accel_op_t *op = iface->oldest;

    while (op != NULL) {
        if (op->is_flush ? (op == iface->oldest) :
                           (op->is_issued && (op->steps == 0))) {
            accel_op_complete(iface, op);
            ++count;
            op = iface->oldest;
        } else {
            op = op->next;
        }
    }
    return count;
}

static unsigned progress_ops(accel_copy_iface_t *iface)
{
    unsigned count = 0;
    int i;

    if (iface->oldest != NULL) {
        for (i = 0; i < accel_driver.num_devices(); ++i) {
            if ((iface->lanes[i] != NULL) && iface->lanes[i]->is_open) {
                count += lane_progress(iface, iface->lanes[i]);
            }
        }
        if (iface->num_waiting > 0) {
            issue_waiting(iface);
        }
        count += complete_ops(iface);
    }
    if ((iface->free_ops != NULL) && !ucx_pending_is_empty(&iface->pending)) {
        count += ucx_pending_dispatch(&iface->pending);
    }
    return count;
}

unsigned accel_copy_progress(uct_iface_h super)
{
    accel_copy_iface_t *iface = (accel_copy_iface_t *)super;
    unsigned count            = progress_ops(iface);

    if (accel_copy_is_idle(iface)) {
        accel_poll_stop(iface);
    }
    return count;
}

ucs_status_t accel_copy_flush(accel_copy_iface_t *iface, uct_ep_h ep,
                              unsigned flags, uct_completion_t *comp)
{
    accel_op_t *op;

    if (iface->oldest == NULL) {
        return UCS_OK;
    }
    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        for (op = iface->oldest; op != NULL; op = op->next) {
            if (((ep == NULL) || (op->ep == ep)) && !op->is_flush) {
                accel_op_stop(iface, op, UCS_ERR_CANCELED);
            }
        }
    }
    if (iface->free_ops == NULL) {
        return UCS_ERR_NO_RESOURCE;
    }
    op            = accel_op_take(iface);
    op->ep        = ep;
    op->comp      = comp;
    op->is_flush  = 1;
    op->is_issued = 1;
    return UCS_INPROGRESS;
}

void accel_copy_finish(accel_copy_iface_t *iface)
{
    while (iface->oldest != NULL) {
        accel_copy_progress(&iface->super);
    }
}
