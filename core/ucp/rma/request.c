/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creates the request of a put or get: selects the configuration of the key,
 * and checks the access against the key's range and rights.
 */
#include "ucp/rma/rkey.h"

#include "ucp/dt/dt.h"
#include "ucp/order/start.h"
#include "ucp/proto/measure.h"
#include "ucs/debug/log.h"

/* Returns the configuration that selects the protocol. Operations with
 * UCP_OP_ATTR_FLAG_MULTI_SEND have a configuration of their own, in which
 * latency has no cost. Returns NULL if out of memory. */
static const ucp_rma_config_t *config_for(ucp_rkey_h rkey, ucp_ep_h ep,
                                          const ucp_request_param_t *param)
{
    const ucp_rma_config_t *config = ucp_rkey_config(rkey, ep);

    if (ucs_likely(!(param->op_attr_mask & UCP_OP_ATTR_FLAG_MULTI_SEND)) ||
        (config == NULL)) {
        return config;
    }
    return ucp_rma_config_get(ep->worker,
                              ucp_ep_config_multi(ep->worker,
                                                  config->ep_config),
                              config->lanes, config->by_cpu);
}

static ucs_status_t check_access(const ucp_request_t *req, ucp_rkey_h rkey,
                                 uint64_t remote_addr, int is_get)
{
    unsigned right = is_get ? UCP_MEM_MAP_PROT_REMOTE_READ :
                              UCP_MEM_MAP_PROT_REMOTE_WRITE;

    if ((req->dt.length > 0) &&
        !ucp_rkey_covers(rkey, remote_addr, req->dt.length)) {
        ucs_diag("rejected a %s of %zu bytes at 0x%lx: the key is for %lu bytes"
                 " at 0x%lx",
                 is_get ? "get" : "put", req->dt.length, remote_addr,
                 rkey->length, rkey->address);
        return UCS_ERR_INVALID_ADDR;
    }
    if (!(rkey->prot & right)) {
        ucs_diag("rejected a %s: the memory's owner does not allow it",
                 is_get ? "get" : "put");
        return UCS_ERR_REJECTED;
    }
    return UCS_OK;
}

ucp_request_t *ucp_rma_request(ucp_ep_h ep, void *buffer, size_t count,
                               uint64_t remote_addr, ucp_rkey_h rkey,
                               int is_get, const ucp_request_param_t *param,
                               ucs_status_t *status_p)
{
    const ucp_rma_config_t *config;
    ucp_request_t *req;

    *status_p = UCS_ERR_INVALID_PARAM;
    if (!ucp_rkey_is_for(rkey, ep)) {
        ucs_error("a remote key is used on another endpoint than it was"
                  " unpacked on");
        return NULL;
    }

    req = ucp_send_begin(ep, buffer, count, is_get, param, status_p);
    if (req == NULL) {
        return NULL;
    }

    ucp_measure_if_due(ep, req->dt.length);
    config = config_for(rkey, ep, param);
    if (config == NULL) {
        *status_p = UCS_ERR_NO_MEMORY;
        goto err;
    }

    *status_p = check_access(req, rkey, remote_addr, is_get);
    if (*status_p != UCS_OK) {
        goto err;
    }

    ucp_send_rma(req)->address       = remote_addr;
    ucp_send_rma(req)->rkey          = rkey;
    ucp_send_rma(req)->config        = config;
    ucp_send_rma(req)->key           = rkey->id;
    ucp_send_rma_data(req)->received = 0;
    ucp_send_rma(req)->posted        = 0;
    ucp_send_rma(req)->own_memhs     = 0;
    ucp_send_rma(req)->retries       = 0;
    ucp_send_rma(req)->retrying      = 0;
    return req;

err:
    ucp_dt_iter_finish(&req->dt);
    ucp_request_put(req);
    return NULL;
}
