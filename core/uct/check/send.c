/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that all checking slots for sends call. A checking slot is a
 * function that replaces one of the plugin, see internal.h. */
#include "uct/check/internal.h"

/* A finding is reported when this has happened so many times in a row on an
 * endpoint: a send returns UCS_ERR_NO_RESOURCE, then pending_add returns
 * UCS_ERR_BUSY. */
#define BUSY_MAX 10000

const ucx_ep_ops_t *uct_check_send_begin(uct_check_call_t *call, uct_ep_h ep,
                                         const char *slot)
{
    uct_check_iface_t *iface = uct_check_iface_of(ep->iface);

    uct_check_call_begin(call, iface, slot, UCT_CHECK_SEND);
    return &iface->tl->ep_ops;
}

void uct_check_send_busy(uct_check_iface_t *iface, uct_ep_h ep)
{
    uct_check_ep_t *record;
    unsigned busy = 0;

    uct_check_lock();
    record = uct_check_ep_find(iface, ep);
    if ((record != NULL) && record->no_resource) {
        record->no_resource = 0;
        busy                = ++record->busy;
    }
    uct_check_unlock();
    if (busy == BUSY_MAX) {
        uct_check_report(iface->tl->name, 26, "pending_add",
                         "UCS_ERR_BUSY, but no send succeeds in %d attempts",
                         BUSY_MAX);
    }
}

/* Checks and records the status of a send. Rule 18 of sdk/ABI.md: after the
 * plugin has reported the failure of an endpoint, sends return an error. */
static void check_status(uct_check_iface_t *iface, uct_ep_h ep,
                         const char *slot, ucs_status_t status)
{
    const int sent = (status == UCS_OK) || (status == UCS_INPROGRESS);
    int failed     = 0;
    uct_check_ep_t *record;

    uct_check_lock();
    record = uct_check_ep_find(iface, ep);
    if (record != NULL) {
        record->no_resource = (status == UCS_ERR_NO_RESOURCE);
        record->busy        = record->no_resource ? record->busy : 0;
        failed              = record->failed;
    }
    uct_check_unlock();
    if (sent && failed) {
        uct_check_report(iface->tl->name, 18, slot,
                         "a send is accepted although the failure of the "
                         "endpoint was reported");
    } else if ((status > UCS_INPROGRESS) || (status <= UCS_ERR_LAST)) {
        uct_check_report(iface->tl->name, 26, slot,
                         "it returns %d, which is no status", (int)status);
    }
}

ucs_status_t uct_check_send_end(uct_check_call_t *call, uct_ep_h ep,
                                ucs_status_t status)
{
    uct_check_call_end(call);
    check_status(call->iface, ep, call->slot, status);
    return status;
}

ucs_status_t uct_check_send_end_op(uct_check_call_t *call, uct_ep_h ep,
                                   uct_check_op_t *op, ucs_status_t status)
{
    uct_check_op_end(op, status);
    return uct_check_send_end(call, ep, status);
}

ucs_status_t uct_check_send_end_done(uct_check_call_t *call, uct_ep_h ep,
                                     ucs_status_t status)
{
    if (status == UCS_INPROGRESS) {
        uct_check_report(call->iface->tl->name, 26, call->slot,
                         "it returns UCS_INPROGRESS, but has no completion");
    }
    return uct_check_send_end(call, ep, status);
}
