/* SPDX-License-Identifier: BSD-3-Clause */
/* Checking slots (functions that replace those of the plugin, see internal.h)
 * about peers: whether a peer is reachable or connected, socket addresses of a
 * connection, and replies to connection requests. */
#include <string.h>

#include "uct/check/internal.h"

/* A call of is_reachable. */
typedef struct reachable_call {
    uct_iface_h iface;
    ucx_reachable_args_t args; /* as passed, except the buffer for the reason */
    int result;                /* of the plugin's function */
} reachable_call_t;

/* Called by uct_check_bytes(): calls the plugin's is_reachable, with the buffer
 * `reason` if the caller wants a reason. */
static ucs_status_t call_is_reachable(void *arg, void *reason)
{
    reachable_call_t *ask    = arg;
    uct_check_iface_t *check = uct_check_iface_of(ask->iface);
    uct_check_call_t call;

    if (ask->args.reason != NULL) {
        ask->args.reason = reason;
    }
    uct_check_call_begin(&call, check, "is_reachable", UCT_CHECK_OTHER);
    ask->result = check->tl->iface_ops.is_reachable(ask->iface, &ask->args);
    uct_check_call_end(&call);
    return UCS_OK;
}

int uct_check_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args)
{
    const char *who      = uct_check_iface_of(iface)->tl->name;
    reachable_call_t ask = {.iface = iface, .args = *args};

    if ((args->reason == NULL) || (args->reason_size == 0)) {
        call_is_reachable(&ask, args->reason);
        return ask.result;
    }
    args->reason[0] = '\0'; /* the plugin need not write a reason */
    uct_check_bytes(who, "is_reachable", args->reason, args->reason_size,
                    call_is_reachable, &ask);
    if (memchr(args->reason, '\0', args->reason_size) == NULL) {
        uct_check_report(who, 26, "is_reachable",
                         "the reason has no end within %zu bytes",
                         args->reason_size);
        args->reason[args->reason_size - 1] = '\0';
    }
    return ask.result;
}

static int ep_is_connected(uct_ep_h ep, const uct_device_addr_t *dev_addr,
                           const uct_iface_addr_t *iface_addr,
                           const uct_ep_addr_t *ep_addr)
{
    uct_check_iface_t *iface = uct_check_iface_of(ep->iface);
    uct_check_call_t call;
    int result;

    uct_check_call_begin(&call, iface, "is_connected", UCT_CHECK_OTHER);
    result = iface->tl->ep_ops.is_connected(ep, dev_addr, iface_addr, ep_addr);
    uct_check_call_end(&call);
    return result;
}

static ucs_status_t ep_query_sockaddrs(uct_ep_h ep,
                                       struct sockaddr_storage *local,
                                       struct sockaddr_storage *remote)
{
    uct_check_iface_t *iface = uct_check_iface_of(ep->iface);
    uct_check_call_t call;
    ucs_status_t status;

    uct_check_call_begin(&call, iface, "query_sockaddrs", UCT_CHECK_OTHER);
    status = iface->tl->ep_ops.query_sockaddrs(ep, local, remote);
    uct_check_call_end(&call);
    uct_check_status(iface->tl->name, "query_sockaddrs", status);
    return status;
}

void uct_check_peer_slots(ucx_ep_ops_t *ops)
{
    ops->is_connected     = ep_is_connected;
    ops->query_sockaddrs  = ep_query_sockaddrs;
    ops->tag_rndv_zcopy   = uct_check_tag_rndv_zcopy;
    ops->tag_rndv_cancel  = uct_check_tag_rndv_cancel;
    ops->tag_rndv_request = uct_check_tag_rndv_request;
}

/* --- Requests for a connection -------------------------------------------- */

typedef ucs_status_t (*answer_slot_t)(uct_iface_h iface,
                                      uct_conn_request_h request);

/* Calls the plugin's accept or reject slot. */
static ucs_status_t answer(uct_iface_h iface, const char *slot,
                           answer_slot_t own, uct_conn_request_h request)
{
    uct_check_iface_t *check = uct_check_iface_of(iface);
    uct_check_call_t call;
    ucs_status_t status;

    uct_check_call_begin(&call, check, slot, UCT_CHECK_OTHER);
    status = own(iface, request);
    uct_check_call_end(&call);
    uct_check_status(check->tl->name, slot, status);
    return status;
}

ucs_status_t uct_check_accept(uct_iface_h iface, uct_conn_request_h request)
{
    return answer(iface, "accept",
                  uct_check_iface_of(iface)->tl->iface_ops.accept, request);
}

ucs_status_t uct_check_reject(uct_iface_h iface, uct_conn_request_h request)
{
    return answer(iface, "reject",
                  uct_check_iface_of(iface)->tl->iface_ops.reject, request);
}
