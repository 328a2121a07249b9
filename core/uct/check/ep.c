/* SPDX-License-Identifier: BSD-3-Clause */
/* Checking slots (functions that replace those of the plugin, see internal.h)
 * of endpoints for flush, fence, connection, addresses, failure and
 * destruction. */
#include "uct/check/internal.h"

#include <stdlib.h>
#include <string.h>

/* Number and value of the bytes after a buffer, to see whether the plugin
 * writes beyond its end. */
#define GUARD_SIZE 64
#define GUARD_BYTE 0x5a

/* Records the call of a slot that does not send, and returns the original
 * slots. */
static const ucx_ep_ops_t *begin_other(uct_check_call_t *call, uct_ep_h ep,
                                       const char *slot)
{
    uct_check_iface_t *iface = uct_check_iface_of(ep->iface);

    uct_check_call_begin(call, iface, slot, UCT_CHECK_OTHER);
    return &iface->tl->ep_ops;
}

static ucs_status_t ep_flush(uct_ep_h ep, unsigned flags,
                             uct_completion_t *comp)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops  = begin_other(&call, ep, "flush");
    uct_check_iface_t *iface = call.iface;
    uct_check_op_t *op       = uct_check_op_begin(iface, ep, call.slot,
                                                  UCT_CHECK_FLUSH, comp);
    ucs_status_t status;

    status = ops->flush(ep, flags, uct_check_op_comp(op, comp));
    uct_check_call_end(&call);
    uct_check_op_end(op, status);
    if (status == UCS_OK) {
        uct_check_flushed(iface, ep, UINT64_MAX);
    }
    if ((flags & UCT_FLUSH_FLAG_CANCEL) && (status >= UCS_OK)) {
        uct_check_ep_cancelled(iface, ep);
    }
    return status;
}

static ucs_status_t ep_fence(uct_ep_h ep, unsigned flags)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = begin_other(&call, ep, "fence");
    ucs_status_t status     = ops->fence(ep, flags);

    uct_check_call_end(&call);
    return status;
}

static ucs_status_t ep_check(uct_ep_h ep, unsigned flags,
                             uct_completion_t *comp)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = begin_other(&call, ep, "check");
    uct_check_op_t *op      = uct_check_op_begin(call.iface, ep, call.slot,
                                                 UCT_CHECK_APART, comp);
    ucs_status_t status = ops->check(ep, flags, uct_check_op_comp(op, comp));

    uct_check_call_end(&call);
    uct_check_op_end(op, status);
    return status;
}

static ucs_status_t ep_invalidate(uct_ep_h ep, unsigned flags)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = begin_other(&call, ep, "invalidate");
    ucs_status_t status     = ops->invalidate(ep, flags);

    uct_check_call_end(&call);
    return status;
}

static ucs_status_t ep_connect_to_ep(uct_ep_h ep,
                                     const uct_device_addr_t *dev_addr,
                                     size_t dev_addr_length,
                                     const uct_ep_addr_t *ep_addr,
                                     size_t ep_addr_length)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = begin_other(&call, ep, "connect_to_ep");
    ucs_status_t status     = ops->connect_to_ep(ep, dev_addr, dev_addr_length,
                                                 ep_addr, ep_addr_length);

    uct_check_call_end(&call);
    return status;
}

/* Removes the record before the plugin destroys the endpoint, because another
 * thread may create an endpoint at the same address before the plugin's
 * function returns. */
static void ep_destroy(uct_ep_h ep)
{
    uct_check_iface_t *iface = uct_check_iface_of(ep->iface);
    uct_check_ep_t *record   = uct_check_ep_take(iface, ep);
    uct_check_call_t call;

    uct_check_call_begin(&call, iface, "destroy", UCT_CHECK_OTHER);
    iface->tl->ep_ops.destroy(ep);
    uct_check_call_end(&call);
    uct_check_ep_free(iface, record);
}

/* --- Addresses ------------------------------------------------------------ */

ucs_status_t uct_check_bytes(const char *who, const char *slot, void *buffer,
                             size_t length,
                             ucs_status_t (*get)(void *arg, void *buffer),
                             void *arg)
{
    unsigned char *guarded = malloc(length + GUARD_SIZE);
    ucs_status_t status;
    size_t i;

    if (guarded == NULL) {
        return get(arg, buffer); /* not checked */
    }
    memcpy(guarded, buffer, length);
    memset(guarded + length, GUARD_BYTE, GUARD_SIZE);
    status = get(arg, guarded);
    for (i = 0; i < GUARD_SIZE; ++i) {
        if (guarded[length + i] != GUARD_BYTE) {
            uct_check_report(who, 25, slot,
                             "it writes beyond the %zu bytes of the buffer",
                             length);
            break;
        }
    }
    memcpy(buffer, guarded, length);
    free(guarded);
    return status;
}

static ucs_status_t call_get_address(void *arg, void *buffer)
{
    uct_ep_h ep = arg;
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = begin_other(&call, ep, "get_address");
    ucs_status_t status     = ops->get_address(ep, buffer);

    uct_check_call_end(&call);
    return status;
}

static ucs_status_t ep_get_address(uct_ep_h ep, uct_ep_addr_t *addr)
{
    const uct_check_iface_t *iface = uct_check_iface_of(ep->iface);

    return uct_check_bytes(iface->tl->name, "get_address", addr,
                           iface->attr.ep_addr_len, call_get_address, ep);
}

void uct_check_ep_slots(ucx_ep_ops_t *ops)
{
    ops->flush         = ep_flush;
    ops->fence         = ep_fence;
    ops->pending_add   = uct_check_pending_add;
    ops->pending_purge = uct_check_pending_purge;
    ops->check         = ep_check;
    ops->invalidate    = ep_invalidate;
    ops->connect_to_ep = ep_connect_to_ep;
    ops->get_address   = ep_get_address;
    ops->destroy       = ep_destroy;
}

/* --- Failures ------------------------------------------------------------- */

/* Checks a report of a failed endpoint, and marks the endpoint as failed.
 * Called before the user's handler, because the handler may make the plugin
 * report the failure again. */
static void note_failure(uct_check_iface_t *iface, uct_ep_h ep)
{
    const uct_check_call_t *call = uct_check_call_now();
    uct_check_ep_t *record;
    int known, repeated;

    uct_check_lock();
    record   = uct_check_ep_find(iface, ep);
    known    = (record != NULL);
    repeated = known && record->failed;
    if (known) {
        record->failed = 1;
    }
    uct_check_unlock();

    uct_check_place(iface->tl->name, "iface_ep_failed");
    if (repeated) {
        uct_check_report(iface->tl->name, 18, "iface_ep_failed",
                         "the failure of an endpoint is reported twice");
    } else if (!known) {
        uct_check_report(iface->tl->name, 18, "iface_ep_failed",
                         "it names an endpoint that does not exist (any more)");
    } else if ((call != NULL) && (call->kind != UCT_CHECK_PROGRESS)) {
        uct_check_report(iface->tl->name, 18, "iface_ep_failed",
                         "it is called inside %s; call it from progress",
                         call->slot);
    }
}

ucs_status_t uct_check_failure(uct_check_iface_t *check,
                               uct_error_handler_t handler, void *arg,
                               uct_ep_h ep, ucs_status_t status)
{
    uct_check_used_t start;
    ucs_status_t result;

    note_failure(check, ep);
    uct_check_user_begin(&start);
    result = handler(arg, ep, status);
    uct_check_user_end(&start);
    return result;
}
