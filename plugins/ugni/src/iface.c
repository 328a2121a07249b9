/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes interfaces; sets the attributes that both transports
 * have. */
#include "iface.h"
#include "mem.h"
#include "tag.h"

#include <endian.h>
#include <string.h>
#include <sys/random.h>

/* --- Opening -------------------------------------------------------------- */

static ucs_status_t make_sends(ugni_iface_t *iface)
{
    return ugni_pool_create(iface->host, iface->port, 0,
                            ugni_send_size(iface->kind) +
                                iface->config.seg_size,
                            &iface->port->sends[iface->kind]);
}

static ucs_status_t set_address(ugni_iface_t *iface)
{
    if ((getrandom(&iface->addr.key, sizeof(iface->addr.key), 0) !=
         sizeof(iface->addr.key)) ||
        (getrandom(&iface->addr.nonce, sizeof(iface->addr.nonce), 0) !=
         sizeof(iface->addr.nonce))) {
        return UCS_ERR_IO_ERROR;
    }
    iface->source = htole64(ugni_source_of(&iface->addr));
    ugni_peer_self(iface->host, &iface->addr);
    iface->addr.device = (uint32_t)(iface->port->device -
                                    iface->port->md->devices);
    ugni_device_address(iface);
    return UCS_OK;
}

/* Reduces the configured limits to those of the port, and replaces timeouts
 * that are not positive by the defaults. The interface of the other transport
 * may have opened the port, with shorter queues. */
static void set_limits(ugni_iface_t *iface)
{
    const struct fi_info *info = iface->port->info;
    ugni_config_t *config      = &iface->config;

    config->tx_queue_len = (unsigned)ugni_min(config->tx_queue_len,
                                              info->tx_attr->size);
    config->rx_queue_len = (unsigned)ugni_min(config->rx_queue_len,
                                              info->rx_attr->size);
    config->seg_size     = ugni_min(config->seg_size, UGNI_MAX_SEG);
    config->seg_size = ugni_min(config->seg_size, info->ep_attr->max_msg_size -
                                                      sizeof(ugni_wire_head_t));
    if (config->timeout <= 0) { /* The value "auto" is negative */
        config->timeout = 300;
    }
    if (config->user_timeout <= 0) {
        config->user_timeout = 30;
    }
    iface->tx_free = config->tx_queue_len;
}

/* Frees the objects that were created; also called after a failed open. */
static void iface_free(ugni_iface_t *iface)
{
    ugni_event_close(iface);
    ugni_order_cleanup(iface);
    ugni_tag_cleanup(iface);
    if (iface->port != NULL) {
        ugni_port_put(iface);
    }
    free(iface);
}

static ugni_iface_t *iface_new(const ucx_iface_open_args_t *args, int kind,
                               const ucx_host_t *host)
{
    const uct_iface_params_t *params = args->params;
    ugni_iface_t *iface              = calloc(1, sizeof(*iface));

    if (iface == NULL) {
        return NULL;
    }
    ucx_iface_init(&iface->super, args);
    iface->host      = host;
    iface->kind      = kind;
    iface->is_polled = ucx_iface_is_polled(args);
    iface->config    = *(const ugni_config_t *)args->config;
    iface->headroom = (params->field_mask & UCT_IFACE_PARAM_FIELD_RX_HEADROOM) ?
                          params->rx_headroom :
                          0;
    iface->timer_fd = -1;
    iface->event_fd = -1;
    ugni_link_init(&iface->eps);
    ugni_link_init(&iface->todo);
    ugni_link_init(&iface->outstanding);
    ugni_flush_init(&iface->flushes);
    return iface;
}

ucs_status_t ugni_iface_open(uct_md_h uct_md, const ucx_iface_open_args_t *args,
                             int kind, ugni_iface_t **iface_p)
{
    ugni_md_t *md = (ugni_md_t *)uct_md;
    ugni_device_t *device;
    ugni_iface_t *iface;
    ucs_status_t status;

    if (args->config == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = ugni_device_get(md, args->dev_name, &device);
    if (status != UCS_OK) {
        return status;
    }
    iface = iface_new(args, kind, md->host);
    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = ugni_port_get(iface, device, args->head.worker);
    if (status == UCS_OK) {
        set_limits(iface);
        status = set_address(iface);
    }
    if (status == UCS_OK) {
        status = make_sends(iface);
    }
    if ((status == UCS_OK) && iface->port->has_fd) {
        status = ugni_event_open(iface);
    }
    if (status != UCS_OK) {
        iface_free(iface);
        return status;
    }
    *iface_p = iface;
    return UCS_OK;
}

/* --- Closing -------------------------------------------------------------- */

/* Waits for the sends of destroyed endpoints, then ugni_smsg notifies the
 * peers. Both together take config.linger seconds at most. Messages that arrive
 * meanwhile are dropped (`is_closing`). */
void ugni_iface_close(uct_iface_h uct_iface)
{
    ugni_iface_t *iface = (ugni_iface_t *)uct_iface;
    double end          = iface->host->time() + iface->config.linger;
    ugni_ep_t *ep;

    iface->is_closing = 1;
    while (!ugni_link_is_alone(&iface->outstanding) &&
           (iface->host->time() < end)) {
        ugni_iface_progress(uct_iface);
    }
    if (iface->kind == UGNI_SMSG) {
        ugni_am_farewell(iface, end);
    }
    while (!ugni_link_is_alone(&iface->eps)) {
        ep = ugni_container_of(iface->eps.next, ugni_ep_t, link);
        ++ep->busy;
        ugni_ep_fail(ep, UCS_ERR_CANCELED, 0);
        ugni_ep_abandon(ep);
        ep->state |= UGNI_EP_ZOMBIE; /* Internal endpoints: tag_rndv.c does not
                                      * destroy them any more */
        --ep->busy;
        ugni_ep_update(ep);
    }
    iface_free(iface);
}

/* --- Attributes and addresses --------------------------------------------- */

void ugni_iface_attr(const ugni_iface_t *iface, ucx_iface_attr_t *attr)
{
    uct_iface_attr_t *base = &attr->base;

    base->cap.flags = UCT_IFACE_FLAG_PENDING | UCT_IFACE_FLAG_CB_SYNC |
                      UCT_IFACE_FLAG_CONNECT_TO_IFACE |
                      UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE |
                      UCT_IFACE_FLAG_INTER_NODE;
    if (iface->port->has_fd) {
        base->cap.event_flags = UCT_IFACE_FLAG_EVENT_SEND_COMP |
                                UCT_IFACE_FLAG_EVENT_FD;
    }
    base->device_addr_len = sizeof(ugni_wire_device_t);
    base->iface_addr_len  = sizeof(ugni_wire_addr_t) + iface->port->name_length;
    base->max_num_eps     = SIZE_MAX;
    base->dev_num_paths   = 1;
    attr->max_inflight_eps = SIZE_MAX;
    ugni_cost_attr(iface, base);
}

ucs_status_t ugni_iface_device_address(uct_iface_h iface,
                                       uct_device_addr_t *addr)
{
    memcpy(addr, &((ugni_iface_t *)iface)->device, sizeof(ugni_wire_device_t));
    return UCS_OK;
}

void ugni_addr_pack(const ugni_wire_addr_t *addr, void *buffer)
{
    const ugni_wire_addr_t wire = {
        .start  = htole64(addr->start),
        .space  = htole64(addr->space),
        .pid    = htole32(addr->pid),
        .key    = htole32(addr->key),
        .device = htole32(addr->device),
        .nonce  = htole32(addr->nonce),
    };

    memcpy(buffer, &wire, sizeof(wire));
}

ucs_status_t ugni_iface_address(uct_iface_h uct_iface, uct_iface_addr_t *addr)
{
    const ugni_iface_t *iface   = (ugni_iface_t *)uct_iface;
    const ugni_port_t *port     = iface->port;
    const ugni_target_t *target = port->device->target;
    int is_target = (iface->kind == UGNI_RDMA) && (target != NULL);

    ugni_addr_pack(&iface->addr, addr);
    memcpy((char *)addr + sizeof(iface->addr),
           is_target ? target->name : port->name, port->name_length);
    return UCS_OK;
}
