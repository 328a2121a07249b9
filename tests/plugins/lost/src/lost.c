/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin with a connection manager that can reach no address, and without a
 * transport: the core has to fall back to other connection managers. See
 * README.md. */
#include "entry.h"

#include <stdlib.h>
#include <ucx/cm.h>

typedef struct {
    uct_ep_t super;
    uct_cm_t *cm;
    uct_cm_ep_resolve_callback_t resolve_cb;
    void *user_data;
} lost_ep_t;

static const ucx_host_t *host_of(const uct_cm_t *cm)
{
    return ((const local_instance_t *)cm->component)->host;
}

/* Called from progress: reports that the address cannot be resolved. */
static void give_up(void *arg)
{
    lost_ep_t *ep                 = arg;
    uct_cm_ep_resolve_args_t args = {
        .field_mask = UCT_CM_EP_RESOLVE_ARGS_FIELD_STATUS,
        .status     = UCS_ERR_UNREACHABLE,
    };

    ep->resolve_cb(ep->user_data, &args); /* The callback may destroy the
                                           * endpoint */
}

static void lost_ep_destroy(uct_ep_h uct_ep)
{
    lost_ep_t *ep = (lost_ep_t *)uct_ep;

    host_of(ep->cm)->progress_cancel(ep->cm->worker, give_up, ep);
    free(ep);
}

static const ucx_ep_ops_t ep_ops = {
    .size    = sizeof(ep_ops),
    .destroy = lost_ep_destroy,
};

static ucs_status_t lost_ep_create(uct_cm_h cm, const uct_ep_params_t *params,
                                   uct_ep_h *ep_p)
{
    ucs_status_t status;
    lost_ep_t *ep;

    if (!(params->field_mask & UCT_EP_PARAM_FIELD_CM_RESOLVE_CB)) {
        return UCS_ERR_UNSUPPORTED;
    }

    ep = calloc(1, sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_cm_ep_init(&ep->super, cm);
    ep->cm         = cm;
    ep->resolve_cb = params->cm_resolve_cb;
    ep->user_data  = (params->field_mask & UCT_EP_PARAM_FIELD_USER_DATA) ?
                         params->user_data :
                         NULL;
    status         = host_of(cm)->progress_oneshot(cm->worker, give_up, ep);
    if (status != UCS_OK) {
        free(ep);
        return status;
    }
    *ep_p = &ep->super;
    return UCS_OK;
}

static ucs_status_t lost_listen(uct_cm_h cm, const struct sockaddr *addr,
                                socklen_t addrlen,
                                const uct_listener_params_t *params,
                                uct_listener_h *listener_p)
{
    (void)cm;
    (void)addr;
    (void)addrlen;
    (void)params;
    (void)listener_p;
    return UCS_ERR_INVALID_ADDR; /* As if the address were not of this host */
}

/* Never called, because no listener can be created. */
static void lost_listener_destroy(uct_listener_h listener)
{
    (void)listener;
}

static ucs_status_t lost_query(uct_cm_h cm, uct_cm_attr_t *attr)
{
    (void)cm;
    attr->max_conn_priv = 64;
    return UCS_OK;
}

static ucs_status_t lost_open(const ucx_component_t *component,
                              const ucx_cm_open_args_t *args, uct_cm_h *cm_p)
{
    uct_cm_t *cm = malloc(sizeof(*cm));

    (void)component;
    if (cm == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_cm_init(cm, args);
    *cm_p = cm;
    return UCS_OK;
}

static void lost_close(uct_cm_h cm)
{
    free(cm);
}

static const ucx_cm_ops_t cm_ops = {
    .size             = sizeof(cm_ops),
    .open             = lost_open,
    .close            = lost_close,
    .query            = lost_query,
    .listener_create  = lost_listen,
    .listener_destroy = lost_listener_destroy,
    .ep_create        = lost_ep_create,
    .ep_ops           = &ep_ops,
};

/* ------------------------------------------------------- the component -- */

/* The component has no transports, so its domain is never opened. */
static ucs_status_t md_open(const ucx_component_t *component,
                            const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    (void)component;
    (void)args;
    (void)md_p;
    return UCS_ERR_UNSUPPORTED;
}

static void md_close(uct_md_h md)
{
    (void)md;
}

static ucs_status_t md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    (void)md;
    (void)attr;
    return UCS_OK;
}

static const ucx_md_ops_t md_ops = {
    .size  = sizeof(md_ops),
    .close = md_close,
    .query = md_query,
};

static const ucx_component_t component = {
    .size               = sizeof(component),
    .name               = "lost",
    .flags              = UCT_COMPONENT_FLAG_CM,
    .query_md_resources = local_query_mds,
    .md_open            = md_open,
    .md_ops             = &md_ops,
    .cm_ops             = &cm_ops,
};

ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    return local_entry(args, &component, plugin_p);
}
