/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue pair of an interface, and its restart after a failure. */
#include "memlock.h"
#include "ud_am.h"
#include "ud_send.h"

#include <errno.h>

/* Moves the queue pair from the state RESET to RTS. Returns 0 on failure. */
static int to_ready(ud_iface_t *iface)
{
    struct ibv_qp_attr attr = {
        .qp_state   = IBV_QPS_INIT,
        .pkey_index = iface->port.pkey_index,
        .port_num   = iface->port.number,
        .qkey       = UD_QKEY,
    };

    if (ibv_modify_qp(iface->qp, &attr,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                          IBV_QP_QKEY) != 0) {
        return 0;
    }
    attr.qp_state = IBV_QPS_RTR;
    if (ibv_modify_qp(iface->qp, &attr, IBV_QP_STATE) != 0) {
        return 0;
    }
    attr.qp_state = IBV_QPS_RTS;
    attr.sq_psn   = 0;
    return ibv_modify_qp(iface->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0;
}

ucs_status_t ud_qp_create(ud_iface_t *iface)
{
    const ucx_host_t *host       = iface->host;
    struct ibv_qp_init_attr init = {
        .send_cq = iface->send_cq,
        .recv_cq = iface->recv_cq,
        .qp_type = IBV_QPT_UD,
        .cap =
            {
                .max_send_wr     = iface->queue_len,
                .max_recv_wr     = iface->config.rx_queue_len,
                .max_send_sge    = iface->max_iov + 1,
                .max_recv_sge    = 1,
                .max_inline_data = iface->config.tx_min_inline,
            },
    };
    char advice[IB_ADVICE_LENGTH];
    int error;

    iface->qp = ibv_create_qp(iface->md->pd, &init);
    if ((iface->qp == NULL) || !to_ready(iface)) {
        error = errno;
        (void)ib_memlock_advice(error, advice);
        ucx_error("%s: cannot create a datagram queue pair (queues %u and %u, "
                  "inline %u): %s (UCX_UD_TX_QUEUE_LEN and "
                  "UCX_UD_RX_QUEUE_LEN set its size)%s",
                  ibv_get_device_name(iface->md->context->device),
                  iface->queue_len, iface->config.rx_queue_len,
                  iface->config.tx_min_inline, strerror(error), advice);
        return ib_status_of_errno(error);
    }
    iface->max_inline = init.cap.max_inline_data;
    return UCS_OK;
}

void ud_qp_failed(ud_iface_t *iface)
{
    const ucx_host_t *host  = iface->host;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

    if (iface->is_down) {
        return;
    }
    ucx_diag("%s:%u: the datagram queue pair 0x%x has failed; it starts anew",
             ibv_get_device_name(iface->md->context->device),
             iface->port.number, iface->qp->qp_num);
    iface->is_down = 1;
    (void)ibv_modify_qp(iface->qp, &attr, IBV_QP_STATE);
}

/* Restarts the queue pair when the device has returned all receive buffers.
 * Packets that were being sent are retransmitted like lost packets. */
void ud_qp_restart(ud_iface_t *iface)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

    if ((iface->num_recv_posted > 0) || iface->watch.is_gone) {
        return;
    }
    while (ud_poll_sends(iface) > 0) {
    }
    if ((ibv_modify_qp(iface->qp, &attr, IBV_QP_STATE) != 0) ||
        !to_ready(iface)) {
        return; /* The next progress tries again. If it never succeeds, the
                 * endpoints fail after UCX_UD_TIMEOUT */
    }
    iface->done_sn      = iface->sn;
    iface->unsignaled   = 0;
    iface->num_signaled = 0;
    iface->is_down      = 0;
    ud_recv_post(iface);
    ud_desc_end_leaving(iface, 0);
}
