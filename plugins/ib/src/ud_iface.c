/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening, closing and attributes of interfaces. */
#include "ud_am.h"
#include "device.h"
#include "memlock.h"
#include "ud_send.h"
#include "ud_service.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>

#define CLOSE_SECONDS \
    0.1             /* Maximum seconds of each wait of say_goodbye() until the
                     * device has sent posted packets */
#define MAX_RTO 0.5 /* Maximum retransmission timeout in seconds */

/* --- Opening -------------------------------------------------------------- */

static ucs_status_t make_queues(ud_iface_t *iface)
{
    const ucx_host_t *host      = iface->host;
    struct ibv_context *context = iface->md->context;
    char advice[IB_ADVICE_LENGTH];
    int flags, error;

    iface->channel = ibv_create_comp_channel(context);
    if (iface->channel == NULL) {
        goto err;
    }
    flags = fcntl(iface->channel->fd, F_GETFL);
    if (fcntl(iface->channel->fd, F_SETFL, flags | O_NONBLOCK) != 0) {
        goto err;
    }
    iface->send_cq = ibv_create_cq(context, (int)iface->queue_len, NULL,
                                   iface->channel, 0);
    iface->recv_cq = ibv_create_cq(context, (int)iface->config.rx_queue_len,
                                   NULL, iface->channel, 0);
    if ((iface->send_cq == NULL) || (iface->recv_cq == NULL)) {
        goto err;
    }
    return ud_qp_create(iface);

err:
    error = errno;
    (void)ib_memlock_advice(error, advice);
    ucx_error("%s: cannot create the interface's completion queues: %s "
              "(UCX_UD_TX_QUEUE_LEN and UCX_UD_RX_QUEUE_LEN set their size)%s",
              ibv_get_device_name(context->device), strerror(error), advice);
    return ib_status_of_errno(error);
}

static void desc_init(void *arg, void *elem, void *chunk)
{
    (void)arg;
    ((ud_desc_t *)elem)->lkey = ib_chunk_lkey(chunk);
}

static ucs_status_t make_pools(ud_iface_t *iface)
{
    const ucx_mpool_params_t descs = {
        .size            = sizeof(descs),
        .name            = "ib datagrams",
        .elem_size       = sizeof(ud_desc_t) + iface->mtu,
        .align_offset    = sizeof(ud_desc_t),
        .alignment       = 64,
        .elems_per_chunk = 64,
        .max_elems       = UINT_MAX,
        .chunk_alloc     = ib_chunk_alloc,
        .chunk_free      = ib_chunk_free,
        .elem_init       = desc_init,
        .arg             = iface->md,
    };
    const ucx_mpool_params_t flushes = {
        .size            = sizeof(flushes),
        .name            = "ib flushes of datagrams",
        .elem_size       = sizeof(ud_flush_t),
        .alignment       = sizeof(void *),
        .elems_per_chunk = 64,
        .max_elems       = UINT_MAX,
    };
    ucs_status_t status;

    status = iface->host->mpool_create(&descs, &iface->descs);
    if (status == UCS_OK) {
        status = iface->host->mpool_create(&flushes, &iface->flushes);
    }
    return status;
}

/* Computes the limits of the interface from the configuration variables and the
 * device's attributes. */
static void set_limits(ud_iface_t *iface)
{
    const struct ibv_device_attr *attr = &iface->md->attr;
    ib_ud_config_t *config             = &iface->config;
    ucx_window_params_t *params        = &iface->window_params;

    config->rx_queue_len = (unsigned)ib_min(config->rx_queue_len,
                                            (size_t)attr->max_qp_wr);
    iface->queue_len     = (unsigned)ib_min(config->tx_queue_len,
                                            (size_t)attr->max_qp_wr);
    iface->moderation    = (unsigned)ib_min(config->tx_moderation,
                                            iface->queue_len / 4);
    iface->max_iov = (unsigned)ib_min((size_t)attr->max_sge - 1, UD_MAX_IOV);

    params->max_window = config->max_window;
    params->max_kept   = UCX_WINDOW_SACK_BITS;
    params->timeout    = config->timeout;
    params->min_rto   = (config->timer_tick > 1e-4) ? config->timer_tick : 1e-4;
    params->max_rto   = (config->timeout / 4 < MAX_RTO) ? config->timeout / 4 :
                                                          MAX_RTO;
    params->max_rto   = (params->max_rto > params->min_rto) ? params->max_rto :
                                                              params->min_rto;
    params->backoff   = (config->timer_backoff > 1) ? config->timer_backoff : 1;
    /* At most a quarter of the shortest timeout, so that no packet whose
     * acknowledgement waits is sent again */
    params->ack_delay = (config->ack_delay < params->min_rto / 4) ?
                            config->ack_delay :
                            params->min_rto / 4;
}

/* Sets the address of this interface, with a random token. */
static ucs_status_t set_address(ud_iface_t *iface)
{
    uint32_t token;

    if ((getrandom(&iface->random, sizeof(iface->random), 0) !=
         sizeof(iface->random)) ||
        (getrandom(&token, sizeof(token), 0) != sizeof(token))) {
        return UCS_ERR_IO_ERROR;
    }
    iface->address.qpn   = htole32(iface->qp->qp_num);
    iface->address.token = token;
    ib_port_address(&iface->port, &iface->device);
    return UCS_OK;
}

/* Frees the objects that were created; also called after a failed open. */
static void iface_free(ud_iface_t *iface)
{
    if (iface->qp != NULL) {
        ibv_destroy_qp(iface->qp);
    }
    ud_desc_end_leaving(iface, 1);
    for (uint32_t i = 0; i < iface->num_slots; ++i) {
        if (iface->slots[i].ep != NULL) {
            ud_ep_free(iface->slots[i].ep);
        }
    }
    ud_peers_cleanup(iface);
    if (iface->flushes != NULL) {
        iface->host->mpool_destroy(iface->flushes);
    }
    if (iface->descs != NULL) {
        iface->host->mpool_destroy(iface->descs);
    }
    ud_recv_cleanup(iface);
    if (iface->recv_cq != NULL) {
        ibv_destroy_cq(iface->recv_cq);
    }
    if (iface->send_cq != NULL) {
        ibv_destroy_cq(iface->send_cq);
    }
    ud_event_cleanup(iface);
    if (iface->channel != NULL) {
        ibv_destroy_comp_channel(iface->channel);
    }
    free(iface->slots);
    free(iface);
}

static ud_iface_t *iface_new(ib_md_t *md, const ucx_iface_open_args_t *args)
{
    const uct_iface_params_t *params = args->params;
    ud_iface_t *iface                = calloc(1, sizeof(*iface));

    if (iface == NULL) {
        return NULL;
    }
    ucx_iface_init(&iface->super, args);
    iface->md       = md;
    iface->host     = md->host;
    iface->config   = *(const ib_ud_config_t *)args->config;
    iface->headroom = (params->field_mask & UCT_IFACE_PARAM_FIELD_RX_HEADROOM) ?
                          params->rx_headroom :
                          0;
    iface->timer_fd = -1;
    iface->event_fd = -1;
    iface->free_slot     = UINT32_MAX;
    iface->deferred_tail = &iface->deferred;
    ucx_guard_init(&iface->guard);
    ib_link_init(&iface->active);
    ib_link_init(&iface->owing);
    ib_link_init(&iface->resending);
    ib_link_init(&iface->ready);
    ib_link_init(&iface->failed);
    set_limits(iface);
    return iface;
}

ucs_status_t ud_iface_open(uct_md_h uct_md, const ucx_iface_open_args_t *args,
                           uct_iface_h *iface_p)
{
    ib_md_t *md  = (ib_md_t *)uct_md;
    uint8_t port = ib_device_port(md->context, args->dev_name);
    ib_md_config_t config;
    ucs_status_t status;
    ud_iface_t *iface;

    if ((port == 0) || (args->config == NULL)) {
        return (port == 0) ? UCS_ERR_NO_DEVICE : UCS_ERR_INVALID_PARAM;
    }
    iface = iface_new(md, args);
    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = ib_port_config(md->host, &md->config, &iface->config.path,
                            &config);
    if (status == UCS_OK) {
        status = ib_port_open(md->host, md->context, port, &config,
                              &iface->port);
    }
    if (status == UCS_OK) {
        iface->mtu = (size_t)128 << iface->port.mtu;
        status     = make_queues(iface);
    }
    if (status == UCS_OK) {
        status = set_address(iface);
    }
    if (status == UCS_OK) {
        status = make_pools(iface);
    }
    if (status == UCS_OK) {
        status = ud_recv_init(iface);
    }
    if (status == UCS_OK) {
        status = ud_event_init(iface);
    }
    if (status == UCS_OK) {
        status = ud_watch_start(iface);
    }
    if (status != UCS_OK) {
        iface_free(iface);
        return status;
    }
    *iface_p = &iface->super;
    return UCS_OK;
}

/* --- Closing -------------------------------------------------------------- */

static int has_data(const ud_iface_t *iface)
{
    const ud_ep_t *ep;

    for (uint32_t i = 0; i < iface->num_slots; ++i) {
        ep = iface->slots[i].ep;
        if ((ep != NULL) && ud_ep_has_data(ep)) {
            return 1;
        }
    }
    return 0;
}

/* Sends UD_RESET to all peers, so that they do not wait for
 * acknowledgements. */
static void say_goodbye(ud_iface_t *iface)
{
    double end;
    ud_ep_t *ep;

    ud_send_acks(iface, 1);
    /* Signal every request, so that num_signaled shows when all are sent. */
    iface->moderation = 1;
    for (uint32_t i = 0; i < iface->num_slots; ++i) {
        ep = iface->slots[i].ep;
        if ((ep != NULL) && ((ep->state & (UD_EP_CONNECTED | UD_EP_GONE |
                                           UD_EP_FAILED)) == UD_EP_CONNECTED)) {
            end = ud_time(iface) + CLOSE_SECONDS;
            while (!ud_has_queue(iface) && (ud_time(iface) < end)) {
                ud_poll_sends(iface);
            }
            (void)ud_send_control(iface, ep, UD_RESET);
        }
    }
    end = ud_time(iface) + CLOSE_SECONDS;
    while ((iface->num_signaled > 0) && (ud_time(iface) < end)) {
        ud_poll_sends(iface);
    }
}

void ud_iface_close(uct_iface_h uct_iface)
{
    ud_iface_t *iface      = (ud_iface_t *)uct_iface;
    const ucx_host_t *host = iface->host;
    double end             = ud_time(iface) + iface->config.linger;
    ud_ep_t *ep;

    ud_service_stop(iface);
    ib_watch_stop(&iface->watch);
    iface->is_closing = 1;
    while (has_data(iface) && (ud_time(iface) < end)) {
        ud_iface_progress(uct_iface);
    }
    say_goodbye(iface);
    ucx_debug("%s:%u: dropped %lu datagrams that are not ours and %lu of no "
              "connection",
              ibv_get_device_name(iface->md->context->device),
              iface->port.number, (unsigned long)iface->num_bad,
              (unsigned long)iface->num_stale);
    for (uint32_t i = 0; i < iface->num_slots; ++i) {
        ep = iface->slots[i].ep;
        if (ep != NULL) {
            ep->state &= (uint16_t)~UD_EP_USED;
            ud_ep_fail(ep, UCS_ERR_CANCELED, 0);
        }
    }
    iface_free(iface);
}

/* --- Attributes ----------------------------------------------------------- */

ucs_status_t ud_iface_query(uct_iface_h uct_iface, ucx_iface_attr_t *attr)
{
    const ud_iface_t *iface = (ud_iface_t *)uct_iface;
    uct_iface_attr_t *base  = &attr->base;
    size_t max              = iface->mtu - sizeof(ud_wire_t);

    base->cap.flags = UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY |
                      UCT_IFACE_FLAG_AM_ZCOPY | UCT_IFACE_FLAG_PENDING |
                      UCT_IFACE_FLAG_CB_SYNC | UCT_IFACE_FLAG_CONNECT_TO_IFACE |
                      UCT_IFACE_FLAG_EP_CHECK |
                      UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE |
                      UCT_IFACE_FLAG_INTER_NODE;
    base->cap.event_flags = UCT_IFACE_FLAG_EVENT_SEND_COMP |
                            UCT_IFACE_FLAG_EVENT_RECV | UCT_IFACE_FLAG_EVENT_FD;

    base->cap.am.max_short = ib_min(iface->max_inline, iface->mtu) -
                             sizeof(ud_wire_t);
    base->cap.am.max_bcopy       = max;
    base->cap.am.max_zcopy       = max;
    base->cap.am.max_hdr         = ib_min(max, UD_MAX_HEADER);
    base->cap.am.max_iov         = iface->max_iov;
    base->cap.am.opt_zcopy_align = 64;
    base->cap.am.align_mtu       = iface->mtu;

    base->device_addr_len  = sizeof(ib_wire_device_t);
    base->iface_addr_len   = sizeof(ud_wire_iface_t);
    base->overhead         = 105e-9;
    base->latency.c        = iface->port.latency + 30e-9;
    base->bandwidth.shared = iface->port.bandwidth *
                             ((double)max / (double)iface->mtu);
    base->max_num_eps      = (size_t)1 << UD_INDEX_BITS;
    base->dev_num_paths    = 1;
    attr->max_inflight_eps = SIZE_MAX;
    return UCS_OK;
}
