/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public functions that create, connect, check and destroy endpoints.
 * ops.c has those that send; cm.c creates endpoints of connection managers.
 */
#include "uct/base/cm.h"
#include "uct/base/iface.h"
#include "uct/base/state.h"

/* Checks the parameters that contain the address of an interface. */
static ucs_status_t uct_ep_check_iface_addr(const uct_ep_params_t *params,
                                            const uct_iface_attr_t *attr)
{
    const uint64_t mask = params->field_mask;

    if (!(attr->cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE)) {
        return UCS_ERR_UNSUPPORTED;
    }

    if ((attr->iface_addr_len > 0) &&
        (!(mask & UCT_EP_PARAM_FIELD_IFACE_ADDR) ||
         (params->iface_addr == NULL))) {
        return UCS_ERR_INVALID_PARAM;
    }

    if ((attr->device_addr_len > 0) &&
        (!(mask & UCT_EP_PARAM_FIELD_DEV_ADDR) || (params->dev_addr == NULL))) {
        return UCS_ERR_INVALID_PARAM;
    }

    return UCS_OK;
}

static ucs_status_t uct_ep_create_on_iface(const uct_ep_params_t *params,
                                           uct_ep_h *ep_p)
{
    const uint64_t mask = params->field_mask;
    const uct_iface_attr_t *attr;
    ucs_status_t status;

    if (params->iface == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    attr = &uct_iface_attr(params->iface)->base;
    if ((mask & UCT_EP_PARAM_FIELD_PATH_INDEX) && (params->path_index > 0) &&
        (params->path_index >= attr->dev_num_paths)) {
        return UCS_ERR_INVALID_PARAM;
    }

    if (mask & UCT_EP_PARAM_FIELD_SOCKADDR) {
        if ((params->sockaddr == NULL) || (params->sockaddr->addr == NULL)) {
            return UCS_ERR_INVALID_PARAM;
        }
        if (!(attr->cap.flags & UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR)) {
            return UCS_ERR_UNSUPPORTED;
        }
    } else if (mask &
               (UCT_EP_PARAM_FIELD_DEV_ADDR | UCT_EP_PARAM_FIELD_IFACE_ADDR)) {
        status = uct_ep_check_iface_addr(params, attr);
        if (status != UCS_OK) {
            return status;
        }
    } else if (!(attr->cap.flags & UCT_IFACE_FLAG_CONNECT_TO_EP)) {
        return UCS_ERR_UNSUPPORTED;
    }

    status = params->iface->ops->ep_create(params->iface, params, ep_p);
    if (status == UCS_OK) {
        ++uct_iface_state(params->iface)->num_eps;
    }
    return status;
}

ucs_status_t uct_ep_create(const uct_ep_params_t *params, uct_ep_h *ep_p)
{
    uint64_t owner;

    if ((params == NULL) || (ep_p == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    owner = params->field_mask &
            (UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_CM);
    switch (owner) {
    case UCT_EP_PARAM_FIELD_IFACE:
        return uct_ep_create_on_iface(params, ep_p);
    case UCT_EP_PARAM_FIELD_CM:
        return uct_ep_create_on_cm(params, ep_p);
    default:
        return UCS_ERR_INVALID_PARAM; /* neither an interface nor a manager, or
                                       * both */
    }
}

void uct_ep_destroy(uct_ep_h ep)
{
    if (ep->iface != NULL) {
        --uct_iface_state(ep->iface)->num_eps;
    }
    ep->ops->destroy(ep);
}

ucs_status_t uct_ep_check(const uct_ep_h ep, unsigned flags,
                          uct_completion_t *comp)
{
    if (flags != 0) {
        return UCS_ERR_INVALID_PARAM;
    }
    return ep->ops->check(ep, flags, comp);
}

ucs_status_t uct_ep_get_address(uct_ep_h ep, uct_ep_addr_t *addr)
{
    if (addr == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    return ep->ops->get_address(ep, addr);
}

ucs_status_t uct_ep_connect_to_ep_sized(uct_ep_h ep,
                                        const uct_device_addr_t *dev_addr,
                                        size_t dev_addr_length,
                                        const uct_ep_addr_t *ep_addr,
                                        size_t ep_addr_length)
{
    return ep->ops->connect_to_ep(ep, dev_addr, dev_addr_length, ep_addr,
                                  ep_addr_length);
}

ucs_status_t uct_ep_connect_to_ep(uct_ep_h ep,
                                  const uct_device_addr_t *dev_addr,
                                  const uct_ep_addr_t *ep_addr)
{
    const uct_iface_attr_t *attr;

    if (ep->iface == NULL) {
        return UCS_ERR_UNSUPPORTED; /* endpoints of connection managers have no
                                     * interface */
    }

    attr = &uct_iface_attr(ep->iface)->base;
    if (!(attr->cap.flags & UCT_IFACE_FLAG_CONNECT_TO_EP)) {
        return UCS_ERR_UNSUPPORTED;
    }

    if (((attr->device_addr_len > 0) && (dev_addr == NULL)) ||
        ((attr->ep_addr_len > 0) && (ep_addr == NULL))) {
        return UCS_ERR_INVALID_PARAM;
    }

    return uct_ep_connect_to_ep_sized(ep, dev_addr, attr->device_addr_len,
                                      ep_addr, attr->ep_addr_len);
}

int uct_ep_is_connected(uct_ep_h ep, const uct_device_addr_t *dev_addr,
                        const uct_iface_addr_t *iface_addr,
                        const uct_ep_addr_t *ep_addr)
{
    return ep->ops->is_connected(ep, dev_addr, iface_addr, ep_addr);
}

ucs_status_t uct_ep_invalidate(uct_ep_h ep, unsigned flags)
{
    return ep->ops->invalidate(ep, flags);
}

ucs_status_t uct_ep_query_sockaddrs(uct_ep_h ep, struct sockaddr_storage *local,
                                    struct sockaddr_storage *remote)
{
    struct sockaddr_storage unwanted;

    return ep->ops->query_sockaddrs(ep, (local == NULL) ? &unwanted : local,
                                    (remote == NULL) ? &unwanted : remote);
}
