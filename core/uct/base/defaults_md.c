/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Default functions for slots of memory domains and connection managers that a
 * plugin does not fill. The default close does nothing: a plugin without a
 * close slot has nothing to free.
 */
#include "uct/base/defaults.h"

static void no_md_close(uct_md_h md)
{
}

static ucs_status_t no_md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    return UCS_OK; /* the caller has set the capabilities to zero */
}

static ucs_status_t no_mem_alloc(uct_md_h md, size_t *length, void **address,
                                 const ucx_mem_alloc_params_t *params,
                                 uct_mem_h *memh_p)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_mem_free(uct_md_h md, uct_mem_h memh)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_mem_advise(uct_md_h md, uct_mem_h memh, void *address,
                                  size_t length, uct_mem_advice_t advice)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_mem_reg(uct_md_h md, void *address, size_t length,
                               const ucx_mem_reg_params_t *params,
                               uct_mem_h *memh_p)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_mem_dereg(uct_md_h md, uct_mem_h memh,
                                 const ucx_mem_dereg_params_t *params)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_mem_query(uct_md_h md, const void *address,
                                 size_t length, ucx_mem_attr_t *attr)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_mkey_pack(uct_md_h md, uct_mem_h memh, void *address,
                                 size_t length, unsigned flags, void *buffer)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_mem_attach(uct_md_h md, const void *buffer,
                                  size_t length, uct_mem_h *memh_p)
{
    return UCS_ERR_UNSUPPORTED;
}

static int no_is_sockaddr_accessible(uct_md_h md,
                                     const ucs_sock_addr_t *sockaddr,
                                     uct_sockaddr_accessibility_t mode)
{
    return 0;
}

const ucx_md_ops_t uct_default_md_ops = {
    .size                   = sizeof(uct_default_md_ops),
    .close                  = no_md_close,
    .query                  = no_md_query,
    .mem_alloc              = no_mem_alloc,
    .mem_free               = no_mem_free,
    .mem_advise             = no_mem_advise,
    .mem_reg                = no_mem_reg,
    .mem_dereg              = no_mem_dereg,
    .mem_query              = no_mem_query,
    .mkey_pack              = no_mkey_pack,
    .mem_attach             = no_mem_attach,
    .is_sockaddr_accessible = no_is_sockaddr_accessible,
};

static ucs_status_t no_cm_open(const ucx_component_t *component,
                               const ucx_cm_open_args_t *args, uct_cm_h *cm_p)
{
    return UCS_ERR_UNSUPPORTED;
}

static void no_cm_close(uct_cm_h cm)
{
}

static ucs_status_t no_cm_query(uct_cm_h cm, uct_cm_attr_t *attr)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_listener_create(uct_cm_h cm, const struct sockaddr *addr,
                                       socklen_t addrlen,
                                       const uct_listener_params_t *params,
                                       uct_listener_h *listener_p)
{
    return UCS_ERR_UNSUPPORTED;
}

static void no_listener_destroy(uct_listener_h listener)
{
}

static ucs_status_t no_listener_reject(uct_listener_h listener,
                                       uct_conn_request_h request)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_listener_query(uct_listener_h listener,
                                      uct_listener_attr_t *attr)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_cm_ep_create(uct_cm_h cm, const uct_ep_params_t *params,
                                    uct_ep_h *ep_p)
{
    return UCS_ERR_UNSUPPORTED;
}

const ucx_cm_ops_t uct_default_cm_ops = {
    .size             = sizeof(uct_default_cm_ops),
    .open             = no_cm_open,
    .close            = no_cm_close,
    .query            = no_cm_query,
    .listener_create  = no_listener_create,
    .listener_destroy = no_listener_destroy,
    .listener_reject  = no_listener_reject,
    .listener_query   = no_listener_query,
    .ep_create        = no_cm_ep_create,
};
