/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive buffers and received messages. */
#include "iface.h"

#include <endian.h>

static void recv_release(ucx_recv_desc_owner_t *self, void *desc)
{
    ugni_iface_t *iface = ugni_container_of(self, ugni_iface_t, recv_owner);

    ucx_mpool_put(iface->port->recvs,
                  (char *)desc + iface->headroom - iface->recv_data);
}

ucs_status_t ugni_recv_init(ugni_iface_t *iface)
{
    /* The buffer contains the ugni_recv_t, the owner's word and the headroom;
     * the message's header overlaps the end of the headroom. */
    iface->recv_data = (sizeof(ugni_recv_t) + sizeof(void *) + iface->headroom +
                        sizeof(ugni_wire_head_t) + 63) &
                       ~(size_t)63;
    iface->recv_owner.release = recv_release;
    iface->num_missing        = iface->config.rx_queue_len;
    return ugni_pool_create(iface->host, iface->port, 1,
                            iface->recv_data + iface->config.seg_size,
                            &iface->port->recvs);
}

void ugni_recv_post(ugni_iface_t *iface)
{
    ugni_recv_t *recv;

    for (; iface->num_missing > 0; --iface->num_missing) {
        recv = ucx_mpool_get(iface->host, iface->port->recvs);
        if (recv == NULL) {
            return;
        }
        recv->op.kind    = UGNI_SMSG;
        recv->op.is_recv = 1;
        ugni_link_init(&recv->link);
        if (fi_recv(iface->port->ep,
                    (char *)recv + iface->recv_data - sizeof(ugni_wire_head_t),
                    iface->config.seg_size + sizeof(ugni_wire_head_t),
                    recv->desc, FI_ADDR_UNSPEC, &recv->op.context) != 0) {
            ucx_mpool_put(iface->port->recvs, recv);
            return;
        }
        ugni_link_add(&iface->port->receiving, &recv->link);
    }
}

void ugni_recv_drop(ugni_iface_t *iface, ugni_recv_t *recv)
{
    ucx_mpool_put(iface->port->recvs, recv);
}

void ugni_recv_deliver(ugni_iface_t *iface, ugni_recv_t *recv)
{
    const ugni_wire_head_t *wire = ugni_recv_head(iface, recv);
    char *data                   = (char *)(wire + 1);
    size_t length                = recv->length - sizeof(*wire);
    uint8_t id                   = wire->id;

    if (id >= UCT_AM_ID_MAX) {
        if ((id == UGNI_ID_LOST) || (id == UGNI_ID_CLOSED)) {
            ugni_lost_told(iface, le64toh(wire->source));
        }
        ugni_recv_drop(iface, recv);
        return;
    }
    /* Without headroom this overwrites the message's header, which was read
     * before. */
    ucx_recv_desc_set(data - iface->headroom, &iface->recv_owner);
    if (ucx_iface_deliver_am(&iface->super, id, data, (unsigned)length,
                             UCT_CB_PARAM_FLAG_DESC) != UCS_INPROGRESS) {
        ugni_recv_drop(iface, recv);
    }
}

void ugni_recv_done(ugni_port_t *port, ugni_recv_t *recv, size_t length,
                    int is_error)
{
    ugni_iface_t *iface = port->ifaces[UGNI_SMSG];
    const ugni_wire_head_t *wire;

    ugni_link_remove(&recv->link);
    if (iface == NULL) {
        ucx_mpool_put(port->recvs, recv);
        return;
    }
    wire = ugni_recv_head(iface, recv);
    ++iface->num_missing;
    if (is_error || iface->is_closing || (length < sizeof(*wire)) ||
        (le32toh(wire->key) != iface->addr.key)) {
        ugni_recv_drop(iface, recv);
        return;
    }
    recv->length = length;
    ugni_order_take(iface, recv);
}
