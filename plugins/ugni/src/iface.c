/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening, closing and attributes of interfaces; the tables of operations. */
#include "smsg.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* --- Opening -------------------------------------------------------------- */

static int open_cq(ugni_iface_t *iface)
{
    /* An entry for each operation: the queue cannot overrun. */
    struct fi_cq_attr attr = {
        .size     = iface->config.tx_queue_len + iface->config.rx_queue_len,
        .format   = FI_CQ_FORMAT_MSG,
        .wait_obj = FI_WAIT_FD
    };
    int rc = fi_cq_open(iface->domain, &attr, &iface->cq, NULL);

    if (rc == 0) {
        iface->has_fd = 1;
        return 0;
    }
    attr.wait_obj = FI_WAIT_NONE;
    return fi_cq_open(iface->domain, &attr, &iface->cq, NULL);
}

static ucs_status_t open_endpoint(ugni_iface_t *iface)
{
    const ucx_host_t *host    = iface->host;
    struct fi_av_attr av_attr = {
        .type = iface->info->domain_attr->av_type
    };
    const char *what          = "open the fabric";
    int rc = fi_fabric(iface->info->fabric_attr, &iface->fabric, NULL);

    if (rc == 0) {
        what = "open the domain";
        rc   = fi_domain(iface->fabric, iface->info, &iface->domain, NULL);
    }
    if (rc == 0) {
        what = "create the completion queue";
        rc   = open_cq(iface);
    }
    if (rc == 0) {
        what = "create the address vector";
        rc   = fi_av_open(iface->domain, &av_attr, &iface->av, NULL);
    }
    if (rc == 0) {
        what = "create the endpoint";
        rc   = fi_endpoint(iface->domain, iface->info, &iface->ep, NULL);
    }
    if (rc == 0) {
        what = "bind the endpoint";
        rc   = fi_ep_bind(iface->ep, &iface->av->fid, 0);
    }
    if (rc == 0) {
        rc = fi_ep_bind(iface->ep, &iface->cq->fid, FI_TRANSMIT | FI_RECV);
    }
    if (rc == 0) {
        what = "enable the endpoint";
        rc   = fi_enable(iface->ep);
    }
    if (rc == 0) {
        what               = "get the address of the endpoint";
        iface->name_length = sizeof(iface->name);
        rc = fi_getname(&iface->ep->fid, iface->name, &iface->name_length);
    }
    if (rc == 0) {
        return UCS_OK;
    }
    ucx_error("ugni: cannot %s of %s (provider %s): %s", what,
              iface->info->domain_attr->name,
              iface->info->fabric_attr->prov_name, fi_strerror(-rc));
    return (rc == -FI_ENOMEM) ? UCS_ERR_NO_MEMORY : UCS_ERR_IO_ERROR;
}

static ucs_status_t make_sends(ugni_iface_t *iface)
{
    const ucx_mpool_params_t params = {
        .size      = sizeof(params),
        .name      = "ugni send buffers",
        .elem_size = sizeof(ugni_send_t) + iface->config.seg_size,
        .alignment = 64,
        .max_elems = UINT_MAX
    };

    return iface->host->mpool_create(&params, &iface->sends);
}

static ucs_status_t set_address(ugni_iface_t *iface)
{
    if ((getrandom(&iface->addr.key, sizeof(iface->addr.key), 0) !=
         sizeof(iface->addr.key)) ||
        (getrandom(&iface->source, sizeof(iface->source), 0) !=
         sizeof(iface->source))) {
        return UCS_ERR_IO_ERROR;
    }
    ugni_peer_self(iface->host, &iface->addr);
    ugni_device_address(iface);
    return UCS_OK;
}

/* Limits of the provider. It gets the lengths of our queues, because some
 * providers allocate buffers for the whole length of theirs. */
static void set_limits(ugni_iface_t *iface)
{
    struct fi_info *info  = iface->info;
    ugni_config_t *config = &iface->config;

    config->tx_queue_len = (unsigned)ugni_min(config->tx_queue_len,
                                              info->tx_attr->size);
    config->rx_queue_len = (unsigned)ugni_min(config->rx_queue_len,
                                              info->rx_attr->size);
    config->seg_size     = ugni_min(config->seg_size, UGNI_MAX_SEG);
    config->seg_size     = ugni_min(config->seg_size,
                                    info->ep_attr->max_msg_size -
                                    sizeof(ugni_wire_head_t));
    if (config->timeout <= 0) { /* "auto" is negative */
        config->timeout = 300;
    }
    info->tx_attr->size  = config->tx_queue_len;
    info->rx_attr->size  = config->rx_queue_len;
    iface->tx_free       = config->tx_queue_len;
}

static void close_fid(struct fid *fid)
{
    if (fid != NULL) {
        fi_close(fid);
    }
}

#define CLOSE(_object) \
    close_fid(((_object) == NULL) ? NULL : &(_object)->fid)

/* Frees what was created; also after a failed open. The endpoint is first: it
 * uses the buffers. */
static void iface_free(ugni_iface_t *iface)
{
    ugni_peer_t *peer;

    CLOSE(iface->ep);
    CLOSE(iface->av);
    ugni_event_close(iface);
    CLOSE(iface->cq);
    CLOSE(iface->domain);
    CLOSE(iface->fabric);
    ugni_order_cleanup(iface);
    ugni_recv_cleanup(iface);
    ugni_sends_cleanup(iface);
    while ((peer = iface->peers) != NULL) {
        iface->peers = peer->next;
        free(peer);
    }
    fi_freeinfo(iface->info);
    free(iface);
}

static ugni_iface_t *iface_new(const ugni_md_t *md, struct fi_info *info,
                               const ucx_iface_open_args_t *args)
{
    const uct_iface_params_t *params = args->params;
    ugni_iface_t *iface              = calloc(1, sizeof(*iface));

    if (iface == NULL) {
        return NULL;
    }
    ucx_iface_init(&iface->super, args);
    iface->host     = md->host;
    iface->info     = info;
    iface->config   = *(const ugni_config_t*)args->config;
    iface->headroom = (params->field_mask &
                       UCT_IFACE_PARAM_FIELD_RX_HEADROOM) ?
                      params->rx_headroom : 0;
    iface->timer_fd = -1;
    iface->event_fd = -1;
    ugni_link_init(&iface->eps);
    ugni_link_init(&iface->todo);
    ugni_link_init(&iface->outstanding);
    ugni_link_init(&iface->disowned);
    ugni_link_init(&iface->receiving);
    ugni_flush_init(&iface->flushes);
    set_limits(iface);
    return iface;
}

static ucs_status_t iface_open(uct_md_h uct_md,
                               const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p)
{
    const ugni_md_t *md = (const ugni_md_t*)uct_md;
    struct fi_info *info;
    ugni_iface_t *iface;
    ucs_status_t status;

    if (args->config == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    info = ugni_device_info(md, args->dev_name);
    if (info == NULL) {
        return UCS_ERR_NO_DEVICE;
    }
    iface = iface_new(md, info, args);
    if (iface == NULL) {
        fi_freeinfo(info);
        return UCS_ERR_NO_MEMORY;
    }
    status = open_endpoint(iface);
    if (status == UCS_OK) {
        status = set_address(iface);
    }
    if (status == UCS_OK) {
        status = make_sends(iface);
    }
    if (status == UCS_OK) {
        status = ugni_recv_init(iface);
    }
    if ((status == UCS_OK) && iface->has_fd) {
        status = ugni_event_open(iface);
    }
    if (status != UCS_OK) {
        iface_free(iface);
        return status;
    }
    ugni_recv_post(iface);
    *iface_p = &iface->super;
    return UCS_OK;
}

/* --- Closing -------------------------------------------------------------- */

/* Waits for what destroyed endpoints have sent. Messages that arrive are
 * dropped: the handlers are gone. */
static void iface_close(uct_iface_h uct_iface)
{
    ugni_iface_t *iface = (ugni_iface_t*)uct_iface;
    double end          = iface->host->time() + iface->config.linger;

    iface->is_closing = 1;
    while (!ugni_link_is_alone(&iface->outstanding) &&
           (iface->host->time() < end)) {
        ugni_iface_progress(uct_iface);
    }
    while (!ugni_link_is_alone(&iface->eps)) {
        ugni_ep_fail(ugni_container_of(iface->eps.next, ugni_ep_t, link),
                     UCS_ERR_CANCELED, 0);
    }
    iface_free(iface);
}

/* --- Attributes and addresses --------------------------------------------- */

static ucs_status_t iface_query(uct_iface_h uct_iface, ucx_iface_attr_t *attr)
{
    const ugni_iface_t *iface = (ugni_iface_t*)uct_iface;
    uct_iface_attr_t *base    = &attr->base;

    base->cap.flags = UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY |
                      UCT_IFACE_FLAG_PENDING | UCT_IFACE_FLAG_CB_SYNC |
                      UCT_IFACE_FLAG_CONNECT_TO_IFACE |
                      UCT_IFACE_FLAG_EP_CHECK |
                      UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE |
                      UCT_IFACE_FLAG_INTER_NODE;
    if (iface->has_fd) {
        base->cap.event_flags = UCT_IFACE_FLAG_EVENT_SEND_COMP |
                                UCT_IFACE_FLAG_EVENT_RECV |
                                UCT_IFACE_FLAG_EVENT_FD;
    }
    base->cap.am.max_short = iface->config.seg_size;
    base->cap.am.max_bcopy = iface->config.seg_size;
    base->cap.am.max_iov   = UGNI_MAX_IOV;

    base->device_addr_len  = sizeof(ugni_wire_device_t);
    base->iface_addr_len   = sizeof(ugni_wire_addr_t) + iface->name_length;
    base->overhead         = 1e-6;
    base->latency.c        = 12e-6;
    base->bandwidth.shared = 2e9;
    base->max_num_eps      = SIZE_MAX;
    base->dev_num_paths    = 1;
    attr->max_inflight_eps = SIZE_MAX;
    return UCS_OK;
}

static ucs_status_t get_device_address(uct_iface_h iface,
                                       uct_device_addr_t *addr)
{
    memcpy(addr, &((ugni_iface_t*)iface)->device, sizeof(ugni_wire_device_t));
    return UCS_OK;
}

static ucs_status_t get_address(uct_iface_h uct_iface, uct_iface_addr_t *addr)
{
    const ugni_iface_t *iface   = (ugni_iface_t*)uct_iface;
    const ugni_wire_addr_t wire = {
        .start = htole64(iface->addr.start),
        .space = htole64(iface->addr.space),
        .pid   = htole32(iface->addr.pid),
        .key   = htole32(iface->addr.key)
    };

    memcpy(addr, &wire, sizeof(wire));
    memcpy((char*)addr + sizeof(wire), iface->name, iface->name_length);
    return UCS_OK;
}

/* --- Tables --------------------------------------------------------------- */

static const ucx_iface_ops_t iface_ops = {
    .size               = sizeof(iface_ops),
    .close              = iface_close,
    .query              = iface_query,
    .get_device_address = get_device_address,
    .get_address        = get_address,
    .is_reachable       = ugni_is_reachable,
    .ep_create          = ugni_ep_create,
    .progress           = ugni_iface_progress,
    .flush              = ugni_iface_flush,
    .fence              = ugni_iface_fence,
    .event_fd_get       = ugni_event_fd_get,
    .event_arm          = ugni_event_arm
};

static const ucx_ep_ops_t ep_ops = {
    .size          = sizeof(ep_ops),
    .am_short      = ugni_ep_am_short,
    .am_bcopy      = ugni_ep_am_bcopy,
    .am_short_iov  = ugni_ep_am_short_iov,
    .flush         = ugni_ep_flush,
    .fence         = ugni_ep_fence,
    .pending_add   = ugni_ep_pending_add,
    .pending_purge = ugni_ep_pending_purge,
    .destroy       = ugni_ep_destroy,
    .check         = ugni_ep_check,
    .invalidate    = ugni_ep_invalidate
};

const ucx_transport_t ugni_smsg_transport = {
    .size          = sizeof(ugni_smsg_transport),
    .name          = "ugni_smsg",
    .config        = &ugni_config_table,
    .query_devices = ugni_query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &ep_ops
};
