/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening, closing and attributes of interfaces. */
#include "rc_am.h"
#include "device.h"
#include "iwarp.h"
#include "memlock.h"
#include "rc_iwarp.h"
#include "rc_join.h"
#include "rc_send.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>

/* --- Opening -------------------------------------------------------------- */

static ucs_status_t make_queues(rc_iface_t *iface)
{
    const ucx_host_t *host       = iface->host;
    struct ibv_context *context  = iface->md->context;
    struct ibv_srq_init_attr srq = {
        .attr = {.max_wr = iface->config.rx_queue_len, .max_sge = 1},
    };
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
    iface->send_cq = ibv_create_cq(context, (int)iface->cq_free, NULL,
                                   iface->channel, 0);
    iface->recv_cq = ibv_create_cq(context, (int)iface->config.rx_queue_len,
                                   NULL, iface->channel, 0);
    iface->srq     = ibv_create_srq(iface->md->pd, &srq);
    if ((iface->send_cq != NULL) && (iface->recv_cq != NULL) &&
        (iface->srq != NULL)) {
        return UCS_OK;
    }

err:
    error = errno;
    (void)ib_memlock_advice(error, advice);
    ucx_error("%s: cannot create the interface's queues: %s "
              "(UCX_RC_TX_CQ_LEN and UCX_RC_RX_QUEUE_LEN set their size)%s",
              ibv_get_device_name(context->device), strerror(error), advice);
    return ib_status_of_errno(error);
}

/* Reads the limits of a work request from a temporary queue pair. */
static ucs_status_t ask_limits(rc_iface_t *iface)
{
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;
    struct ibv_qp *qp;
    ucs_status_t status;

    status = rc_qp_create(iface, &qp);
    if (status != UCS_OK) {
        return status;
    }
    if (ibv_query_qp(qp, &attr, IBV_QP_CAP, &init) != 0) {
        status = UCS_ERR_IO_ERROR;
    } else {
        iface->max_inline = init.cap.max_inline_data;
        iface->max_sge    = (unsigned)ib_min(init.cap.max_send_sge, RC_MAX_IOV);
    }
    ibv_destroy_qp(qp);
    return status;
}

static void desc_init(void *arg, void *elem, void *chunk)
{
    (void)arg;
    ((rc_desc_t *)elem)->lkey = ib_chunk_lkey(chunk);
}

static ucs_status_t make_pools(rc_iface_t *iface)
{
    const ucx_mpool_params_t descs = {
        .size         = sizeof(descs),
        .name         = "ib send buffers",
        .elem_size    = sizeof(rc_desc_t) + RC_AM_PAD + iface->config.seg_size,
        .align_offset = sizeof(rc_desc_t) + RC_AM_PAD,
        .alignment    = 64,
        .elems_per_chunk = 64,
        .max_elems       = UINT_MAX,
        .chunk_alloc     = ib_chunk_alloc,
        .chunk_free      = ib_chunk_free,
        .elem_init       = desc_init,
        .arg             = iface->md,
    };
    const ucx_mpool_params_t user_ops = {
        .size            = sizeof(user_ops),
        .name            = "ib operations",
        .elem_size       = sizeof(rc_user_op_t),
        .alignment       = sizeof(void *),
        .elems_per_chunk = 128,
        .max_elems       = UINT_MAX,
    };
    ucs_status_t status;

    status = iface->host->mpool_create(&descs, &iface->descs);
    if (status == UCS_OK) {
        status = iface->host->mpool_create(&user_ops, &iface->user_ops);
    }
    return status;
}

/* Computes the limits of the interface from the configuration variables and the
 * device's attributes. */
static void set_limits(rc_iface_t *iface)
{
    const struct ibv_device_attr *attr = &iface->md->attr;
    const ib_rc_config_t *config       = &iface->config;

    iface->queue_len  = (uint16_t)ib_min(config->tx_queue_len,
                                         (size_t)attr->max_qp_wr - 1);
    iface->moderation = (uint16_t)ib_min(config->tx_moderation,
                                         iface->queue_len / 4);
    if (iface->moderation == 0) {
        iface->moderation = 1;
    }
    if (ib_is_iwarp(iface->md->context)) {
        /* On iWARP, a completion shows only that TCP has accepted the data of
         * this request. The kernel's software iWARP may still read the buffers
         * of earlier unsignaled requests, so each request is signaled. */
        iface->moderation = 1;
    }
    iface->finished_mask = 1;
    while (iface->finished_mask <= iface->queue_len) {
        iface->finished_mask = (uint16_t)((iface->finished_mask << 1) | 1);
    }
    iface->cq_free = (unsigned)ib_min(config->tx_cq_len, (size_t)attr->max_cqe);
    iface->max_inline    = config->tx_min_inline;
    iface->max_sge       = (unsigned)ib_min((size_t)attr->max_sge, RC_MAX_IOV);
    iface->max_rd_atomic = (unsigned)ib_min(config->max_rd_atomic,
                                            (size_t)attr->max_qp_init_rd_atom);
    iface->max_dest_rd_atomic = (unsigned)attr->max_qp_rd_atom;
    iface->credit_step        = config->credits ? 1 : 0;
    if (ib_is_iwarp(iface->md->context) &&
        (attr->vendor_id == RC_IWARP_VENDOR)) {
        iface->min_read = RC_IWARP_MIN_READ;
    }
}

/* Frees the objects that were created; also called after a failed open. */
static void iface_free(rc_iface_t *iface)
{
    rc_join_close(iface);
    if (iface->user_ops != NULL) {
        iface->host->mpool_destroy(iface->user_ops);
    }
    if (iface->descs != NULL) {
        iface->host->mpool_destroy(iface->descs);
    }
    if (iface->srq != NULL) {
        ibv_destroy_srq(iface->srq);
    }
    rc_recv_cleanup(iface);
    if (iface->recv_cq != NULL) {
        ibv_destroy_cq(iface->recv_cq);
    }
    if (iface->send_cq != NULL) {
        ibv_destroy_cq(iface->send_cq);
    }
    if (iface->channel != NULL) {
        ibv_destroy_comp_channel(iface->channel);
    }
    free(iface->eps);
    free(iface);
}

ucs_status_t rc_iface_open(uct_md_h uct_md, const ucx_iface_open_args_t *args,
                           uct_iface_h *iface_p)
{
    ib_md_t *md                      = (ib_md_t *)uct_md;
    const uct_iface_params_t *params = args->params;
    uint8_t port = ib_device_port(md->context, args->dev_name);
    ib_md_config_t config;
    ucs_status_t status;
    rc_iface_t *iface;

    if ((port == 0) || (args->config == NULL)) {
        return (port == 0) ? UCS_ERR_NO_DEVICE : UCS_ERR_INVALID_PARAM;
    }
    iface = calloc(1, sizeof(*iface));
    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_iface_init(&iface->super, args);
    iface->md       = md;
    iface->host     = md->host;
    iface->config   = *(const ib_rc_config_t *)args->config;
    iface->headroom = (params->field_mask & UCT_IFACE_PARAM_FIELD_RX_HEADROOM) ?
                          params->rx_headroom :
                          0;
    rc_link_init(&iface->waiting);
    rc_link_init(&iface->owing);
    rc_link_init(&iface->ending);
    set_limits(iface);
    status = ib_port_config(md->host, &md->config, &iface->config.path,
                            &config);
    if (status == UCS_OK) {
        status = ib_port_open(md->host, md->context, port, &config,
                              &iface->port);
    }
    if ((status == UCS_OK) && ib_is_iwarp(md->context)) {
        status = rc_join_open(iface);
    }
    if ((iface->join == NULL) && (getrandom(&iface->token, sizeof(iface->token),
                                            0) != sizeof(iface->token))) {
        iface->token = 0; /* Then grants are sent only over the connection whose
                           * sender gets the credits */
    }
    if (status == UCS_OK) {
        status = make_queues(iface);
    }
    if (status == UCS_OK) {
        status = ask_limits(iface);
    }
    if (status == UCS_OK) {
        status = make_pools(iface);
    }
    if (status == UCS_OK) {
        status = rc_recv_init(iface);
    }
    if (status == UCS_OK) {
        status = rc_watch_start(iface);
    }
    if (status != UCS_OK) {
        iface_free(iface);
        return status;
    }
    *iface_p = &iface->super;
    return UCS_OK;
}

void rc_iface_close(uct_iface_h uct_iface)
{
    rc_iface_t *iface = (rc_iface_t *)uct_iface;
    rc_ep_t *ep;

    rc_linger_all(iface);
    ib_watch_stop(&iface->watch);
    /* Free the endpoints that the user has destroyed and progress has not freed
     * yet. */
    for (uint32_t i = 0; i < iface->eps_size; ++i) {
        ep = iface->eps[i];
        if (ep != NULL) {
            rc_ep_fail(ep, UCS_ERR_CANCELED, 0);
            rc_ep_abandon(ep);
            rc_ep_free(ep);
        }
    }
    iface_free(iface);
}

/* --- Attributes ----------------------------------------------------------- */

/* Returns the maximum number of entries of a read. iWARP stores the data of a
 * read in one block of memory. */
static size_t max_read_iov(const rc_iface_t *iface)
{
    return (iface->join != NULL) ? 1 : iface->max_sge;
}

static void query_limits(const rc_iface_t *iface, uct_iface_attr_t *attr)
{
    size_t seg     = iface->config.seg_size;
    size_t max_msg = iface->port.max_msg;
    size_t max_iov = iface->max_sge;
    size_t mtu     = (size_t)128 << iface->port.mtu;

    attr->cap.am.max_short       = ib_min(iface->max_inline, seg) - 1;
    attr->cap.am.max_bcopy       = seg - 1;
    attr->cap.am.max_zcopy       = seg - 1;
    attr->cap.am.max_hdr         = ib_min(seg - 1, 256);
    attr->cap.am.max_iov         = max_iov - 1;
    attr->cap.am.opt_zcopy_align = 64;
    attr->cap.am.align_mtu       = mtu;

    attr->cap.put.max_short       = iface->max_inline;
    attr->cap.put.max_bcopy       = seg;
    attr->cap.put.max_zcopy       = max_msg;
    attr->cap.put.max_iov         = max_iov;
    attr->cap.put.opt_zcopy_align = 64;
    attr->cap.put.align_mtu       = mtu;

    attr->cap.get.max_bcopy       = (iface->min_read == 0) ? seg : 0;
    attr->cap.get.min_zcopy       = iface->min_read;
    attr->cap.get.max_zcopy       = max_msg;
    attr->cap.get.max_iov         = ib_min(max_iov, max_read_iov(iface));
    attr->cap.get.opt_zcopy_align = 64;
    attr->cap.get.align_mtu       = mtu;
}

ucs_status_t rc_iface_query(uct_iface_h uct_iface, ucx_iface_attr_t *attr)
{
    const rc_iface_t *iface = (rc_iface_t *)uct_iface;
    uct_iface_attr_t *base  = &attr->base;

    base->cap.flags = UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY |
                      UCT_IFACE_FLAG_AM_ZCOPY | UCT_IFACE_FLAG_PUT_SHORT |
                      UCT_IFACE_FLAG_PUT_BCOPY | UCT_IFACE_FLAG_PUT_ZCOPY |
                      UCT_IFACE_FLAG_GET_ZCOPY | UCT_IFACE_FLAG_PENDING |
                      UCT_IFACE_FLAG_CB_SYNC | UCT_IFACE_FLAG_CONNECT_TO_EP |
                      UCT_IFACE_FLAG_EP_CHECK |
                      UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE |
                      UCT_IFACE_FLAG_INTER_NODE;
    if (iface->min_read == 0) {
        base->cap.flags |= UCT_IFACE_FLAG_GET_BCOPY;
    }
    base->cap.event_flags = UCT_IFACE_FLAG_EVENT_SEND_COMP |
                            UCT_IFACE_FLAG_EVENT_RECV | UCT_IFACE_FLAG_EVENT_FD;
    if (iface->md->attr.atomic_cap != IBV_ATOMIC_NONE) {
        base->cap.flags |= UCT_IFACE_FLAG_ATOMIC_DEVICE;
        base->cap.atomic64.op_flags  = UCS_BIT(UCT_ATOMIC_OP_ADD);
        base->cap.atomic64.fop_flags = UCS_BIT(UCT_ATOMIC_OP_ADD) |
                                       UCS_BIT(UCT_ATOMIC_OP_CSWAP);
    }
    query_limits(iface, base);
    base->device_addr_len  = sizeof(ib_wire_device_t);
    base->ep_addr_len      = rc_ep_address_length(iface);
    base->max_conn_priv    = 0;
    base->overhead         = 75e-9;
    base->latency.c        = iface->port.latency;
    base->latency.m        = 1e-9; /* Seconds per endpoint: the device caches
                                    * the state of only some connections */
    base->bandwidth.shared = iface->port.bandwidth;
    base->max_num_eps      = (size_t)iface->md->attr.max_qp;
    base->dev_num_paths    = 1;
    attr->max_inflight_eps = SIZE_MAX;
    return UCS_OK;
}
