/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface: its attributes, its progress, and reports of failed endpoints.
 * An interface of this transport has no address; its endpoints have. */
#include "pairs.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const ucx_config_field_t fields[] = {
    {
        .name   = "MESSAGES",
        .type   = UCX_CONFIG_BOOL,
        .offset = offsetof(pairs_config_t, messages),
        .dflt   = "y",
        .help   = "n: no active messages, only put and get.",
    },
};

static const ucx_config_table_t config_table = {
    .size         = sizeof(config_table),
    .prefix       = "PAIRS_",
    .options_size = sizeof(pairs_config_t),
    .field_size   = sizeof(ucx_config_field_t),
    .fields       = fields,
    .num_fields   = sizeof(fields) / sizeof(fields[0]),
};

/* Returns whether the endpoint is not destroyed. */
static int is_alive(const pairs_iface_t *iface, const pairs_ep_t *ep)
{
    const pairs_ep_t *other = iface->eps;

    while ((other != NULL) && (other != ep)) {
        other = other->next;
    }
    return other != NULL;
}

/* Reports failed endpoints: calls the completions of their operations and then
 * the error handler. Both may destroy endpoints, so the search begins again at
 * the head of the list. */
static unsigned tell_failures(pairs_iface_t *iface)
{
    const ucx_host_t *host = local_host_of(iface->super.md);
    unsigned count         = 0;
    pairs_ep_t *ep;

    while (iface->num_failed > 0) {
        for (ep = iface->eps; (ep->state != PAIRS_FAILED) || ep->is_told;
             ep = ep->next) {
        }
        ep->is_told = 1;
        --iface->num_failed;
        ++count;
        pairs_end_ops(ep, ep->status);
        if (is_alive(iface, ep)) {
            host->iface_ep_failed(&iface->super, &ep->super, ep->status);
        }
    }
    return count;
}

/* Returns whether no endpoint waits for an answer and none has an answer to
 * send. */
static int is_idle(pairs_iface_t *iface)
{
    pairs_ep_t *ep;

    for (ep = iface->eps; ep != NULL; ep = ep->next) {
        if ((ep->ops != NULL) || (ep->answers != NULL)) {
            return 0;
        }
    }
    return 1;
}

static void end_flushes(pairs_iface_t *iface)
{
    pairs_op_t *op;

    while ((iface->flushes != NULL) && is_idle(iface)) {
        op             = iface->flushes;
        iface->flushes = op->next;
        pairs_complete(op, UCS_OK);
    }
}

static unsigned iface_progress(uct_iface_h super)
{
    pairs_iface_t *iface = (pairs_iface_t *)super;

    unsigned count;

    poller_hold(&iface->poller);
    count = poller_run(&iface->poller);
    count += tell_failures(iface);
    end_flushes(iface);
    poller_release(&iface->poller);
    return count;
}

static ucs_status_t event_fd_get(uct_iface_h iface, int *fd_p)
{
    *fd_p = ((pairs_iface_t *)iface)->poller.epoll;
    return UCS_OK;
}

/* Returns UCS_ERR_BUSY if progress has work. Nothing has to be armed: the event
 * descriptor is readable as long as there are events. */
static ucs_status_t event_arm(uct_iface_h super, unsigned events)
{
    pairs_iface_t *iface = (pairs_iface_t *)super;

    (void)events;
    return ((iface->num_failed > 0) || poller_is_ready(&iface->poller)) ?
               UCS_ERR_BUSY :
               UCS_OK;
}

/* ---------------------------------------------------------------- life -- */

static ucs_status_t iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p)
{
    const pairs_config_t *config = args->config;
    pairs_iface_t *iface         = calloc(1, sizeof(*iface));

    (void)md;
    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_iface_init(&iface->super, args);
    iface->messages = (config == NULL) || config->messages;
    iface->out      = malloc(PAIRS_MAX_DATA);
    if ((iface->out == NULL) || (poller_open(&iface->poller) != UCS_OK)) {
        free(iface->out);
        free(iface);
        return UCS_ERR_IO_ERROR;
    }
    *iface_p = &iface->super;
    return UCS_OK;
}

static void iface_close(uct_iface_h super)
{
    pairs_iface_t *iface = (pairs_iface_t *)super;

    poller_close(&iface->poller);
    free(iface->out);
    free(iface);
}

static ucs_status_t iface_query(uct_iface_h iface, ucx_iface_attr_t *attr)
{
    uct_iface_attr_t *base = &attr->base;

    base->cap.flags = UCT_IFACE_FLAG_PUT_SHORT | UCT_IFACE_FLAG_PUT_BCOPY |
                      UCT_IFACE_FLAG_GET_BCOPY | UCT_IFACE_FLAG_PENDING |
                      UCT_IFACE_FLAG_CB_SYNC | UCT_IFACE_FLAG_CONNECT_TO_EP |
                      UCT_IFACE_FLAG_EP_CHECK | UCT_IFACE_FLAG_EP_KEEPALIVE |
                      UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE;
    base->cap.event_flags = UCT_IFACE_FLAG_EVENT_SEND_COMP |
                            UCT_IFACE_FLAG_EVENT_RECV | UCT_IFACE_FLAG_EVENT_FD;
    if (((pairs_iface_t *)iface)->messages) {
        base->cap.flags |= UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY;
        base->cap.am.max_short = PAIRS_MAX_SHORT;
        base->cap.am.max_bcopy = PAIRS_MAX_DATA;
        base->cap.am.max_iov   = PAIRS_MAX_IOV;
    }
    if (((pairs_md_t *)iface->md)->zcopy) {
        base->cap.flags |= UCT_IFACE_FLAG_PUT_ZCOPY | UCT_IFACE_FLAG_GET_ZCOPY;
        base->cap.put.max_zcopy = PAIRS_MAX_DATA;
        base->cap.put.max_iov   = 1;
        base->cap.get.max_zcopy = PAIRS_MAX_DATA;
        base->cap.get.max_iov   = 1;
    }
    base->cap.put.max_short = PAIRS_MAX_SHORT;
    base->cap.put.max_bcopy = PAIRS_MAX_DATA;
    base->cap.get.max_bcopy = PAIRS_MAX_DATA;
    base->device_addr_len   = sizeof(sock_host_t);
    base->ep_addr_len       = sizeof(sock_name_t);
    base->overhead          = 50e-9;
    base->latency.c         = 100e-9;
    base->bandwidth.shared  = 20e9;
    base->max_num_eps       = SIZE_MAX;
    base->dev_num_paths     = 1;
    attr->flags             = UCX_IFACE_FLAG_DETECTS_FAILURE;
    attr->max_inflight_eps  = SIZE_MAX;
    return UCS_OK;
}

static ucs_status_t get_device_address(uct_iface_h iface,
                                       uct_device_addr_t *address)
{
    sock_host_t name = sock_host(local_host_of(iface->md));

    memcpy(address, &name, sizeof(name));
    return UCS_OK;
}

static int is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args)
{
    return sock_is_here(local_host_of(iface->md), args->dev_addr,
                        args->dev_addr_length);
}

static ucs_status_t iface_flush(uct_iface_h super, unsigned flags,
                                uct_completion_t *comp)
{
    pairs_iface_t *iface = (pairs_iface_t *)super;
    pairs_op_t *op;

    (void)flags;
    if (is_idle(iface)) {
        return UCS_OK;
    }
    if (comp != NULL) {
        op = calloc(1, sizeof(*op));
        if (op == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
        op->comp       = comp;
        op->next       = iface->flushes;
        iface->flushes = op;
    }
    return UCS_INPROGRESS;
}

static const ucx_iface_ops_t iface_ops = {
    .size               = sizeof(iface_ops),
    .close              = iface_close,
    .query              = iface_query,
    .get_device_address = get_device_address,
    .is_reachable       = is_reachable,
    .ep_create          = pairs_ep_create,
    .progress           = iface_progress,
    .flush              = iface_flush,
    .event_fd_get       = event_fd_get,
    .event_arm          = event_arm,
};

const ucx_transport_t pairs_transport = {
    .size          = sizeof(pairs_transport),
    .name          = PAIRS_NAME,
    .config        = &config_table,
    .query_devices = local_query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &pairs_ep_ops,
};
