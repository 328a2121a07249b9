/* SPDX-License-Identifier: BSD-3-Clause */
/* Tagged messages: sending, and the sender's side of a rendezvous. */
#include "tag.h"
#include "mem.h"

#include <stdlib.h>

static ssize_t post_tagged(ugni_ep_t *ep, ugni_send_t *send)
{
    ugni_msg_t *msg = (ugni_msg_t *)send;

    return fi_tsend(ugni_iface_of(ep)->port->ep, &msg->head, msg->length,
                    send->desc, ep->peer->fi_addr, msg->tag, &send->op.context);
}

static ucs_status_t new_tagged(ugni_ep_t *ep, uint8_t kind, uct_tag_t tag,
                               uint64_t imm, ugni_msg_t **msg_p)
{
    const ugni_wire_tag_t wire = {htole64(imm)};
    ucs_status_t status;

    if (ugni_iface_of(ep)->tags == NULL) {
        return UCS_ERR_UNSUPPORTED;
    }
    status = ugni_msg_new(ep, kind, msg_p);
    if (status == UCS_OK) {
        (*msg_p)->tag         = tag;
        (*msg_p)->super.post  = post_tagged;
        (*msg_p)->head.number = 0; /* The buffer may contain an old head */
        (*msg_p)->head.epoch  = 0;
        memcpy((*msg_p)->data, &wire, sizeof(wire));
    }
    return status;
}

static void start_tagged(ugni_msg_t *msg, size_t length)
{
    ugni_msg_start(msg, sizeof(ugni_wire_tag_t) + length);
}

ucs_status_t ugni_ep_tag_eager_short(uct_ep_h ep, uct_tag_t tag,
                                     const void *data, size_t length)
{
    ugni_msg_t *msg;
    ucs_status_t status = new_tagged((ugni_ep_t *)ep, UGNI_TAG_EAGER, tag, 0,
                                     &msg);

    if (status == UCS_OK) {
        if (length > 0) {
            memcpy(msg->data + sizeof(ugni_wire_tag_t), data, length);
        }
        start_tagged(msg, length);
    }
    return status;
}

ssize_t ugni_ep_tag_eager_bcopy(uct_ep_h ep, uct_tag_t tag, uint64_t imm,
                                uct_pack_callback_t pack_cb, void *arg,
                                unsigned flags)
{
    ugni_msg_t *msg;
    ucs_status_t status = new_tagged((ugni_ep_t *)ep, UGNI_TAG_EAGER, tag, imm,
                                     &msg);
    size_t length;

    if (status != UCS_OK) {
        return status;
    }
    length = pack_cb(msg->data + sizeof(ugni_wire_tag_t), arg);
    start_tagged(msg, length);
    return (ssize_t)length;
}

ucs_status_t ugni_ep_tag_rndv_request(uct_ep_h ep, uct_tag_t tag,
                                      const void *header,
                                      unsigned header_length, unsigned flags)
{
    ugni_msg_t *msg;
    ucs_status_t status = new_tagged((ugni_ep_t *)ep, UGNI_TAG_REQUEST, tag, 0,
                                     &msg);

    if (status == UCS_OK) {
        if (header_length > 0) {
            memcpy(msg->data + sizeof(ugni_wire_tag_t), header, header_length);
        }
        start_tagged(msg, header_length);
    }
    return status;
}

/* --- Rendezvous ----------------------------------------------------------- */

/* Writes the content of an announcement to `to`: a ugni_wire_rndv_t and what
 * follows it. Returns the number of bytes. */
static size_t pack_rndv(ugni_iface_t *iface, char *to, const uct_iov_t *iov,
                        const void *header, unsigned header_length)
{
    ugni_port_t *port           = iface->port;
    const size_t name           = sizeof(ugni_wire_addr_t) + port->name_length;
    const size_t key            = ugni_key_size(port->md);
    const ugni_wire_rndv_t wire = {
        .address       = htole64((uintptr_t)iov->buffer),
        .length        = htole64(iov->length),
        .name_length   = htole16((uint16_t)name),
        .key_length    = htole16((uint16_t)key),
        .header_length = htole16((uint16_t)header_length),
    };

    memcpy(to, &wire, sizeof(wire));
    (void)ugni_iface_address(&iface->super, (void *)(to + sizeof(wire)));
    (void)ugni_mkey_pack((uct_md_h)port->md, iov->memh, iov->buffer,
                         iov->length, 0, to + sizeof(wire) + name);
    if (header_length > 0) {
        memcpy(to + sizeof(wire) + name + key, header, header_length);
    }
    return sizeof(wire) + name + key + header_length;
}

ucs_status_ptr_t ugni_ep_tag_rndv_zcopy(uct_ep_h uct_ep, uct_tag_t tag,
                                        const void *header,
                                        unsigned header_length,
                                        const uct_iov_t *iov, size_t iovcnt,
                                        unsigned flags, uct_completion_t *comp)
{
    ugni_ep_t *ep       = (ugni_ep_t *)uct_ep;
    ugni_iface_t *iface = ugni_iface_of(ep);
    ugni_tags_t *tags   = iface->tags;
    ugni_tag_op_t *op;
    ucs_status_t status;
    ugni_msg_t *msg;

    if (tags == NULL) {
        return UCS_STATUS_PTR(UCS_ERR_UNSUPPORTED);
    }
    if ((iovcnt != 1) || (iov->count != 1) || (iov->length == 0) ||
        (iov->memh == UCT_MEM_HANDLE_NULL) ||
        (header_length > tags->max_header)) {
        return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
    }
    op = calloc(1, sizeof(*op));
    if (op == NULL) {
        return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    }
    status = new_tagged(ep, UGNI_TAG_RNDV, tag, ++tags->last_op, &msg);
    if (status != UCS_OK) {
        free(op);
        return UCS_STATUS_PTR(status);
    }
    op->id    = tags->last_op;
    op->ep    = ep;
    op->comp  = comp;
    op->next  = tags->ops;
    tags->ops = op;
    start_tagged(msg, pack_rndv(iface, msg->data + sizeof(ugni_wire_tag_t), iov,
                                header, header_length));
    return op;
}

ucs_status_t ugni_ep_tag_rndv_cancel(uct_ep_h uct_ep, void *handle)
{
    ugni_tags_t *tags = ugni_iface_of((ugni_ep_t *)uct_ep)->tags;
    ugni_tag_op_t **link;

    if (tags == NULL) {
        return UCS_ERR_UNSUPPORTED;
    }
    for (link = &tags->ops; *link != NULL; link = &(*link)->next) {
        if (*link == handle) {
            *link = (*link)->next;
            free(handle);
            return UCS_OK;
        }
    }
    return UCS_ERR_INVALID_PARAM;
}

void ugni_tag_confirmed(ugni_iface_t *iface, const void *data, size_t length)
{
    ugni_tag_op_t **link, *op;
    uct_completion_t *comp;
    ugni_wire_fetched_t wire;

    if ((iface->tags == NULL) || (length != sizeof(wire))) {
        return;
    }
    memcpy(&wire, data, sizeof(wire));
    for (link = &iface->tags->ops; *link != NULL; link = &(*link)->next) {
        op = *link;
        if (op->id == le64toh(wire.op)) {
            *link = op->next;
            comp  = op->comp;
            free(op);
            ucx_complete(comp, wire.is_failed ? UCS_ERR_IO_ERROR : UCS_OK);
            return;
        }
    }
}

void ugni_tag_end_ops(ugni_ep_t *ep, const ucs_status_t *status)
{
    ugni_tags_t *tags = ugni_iface_of(ep)->tags;
    ugni_tag_op_t **link, *op;
    uct_completion_t *comp;

    if (tags == NULL) {
        return;
    }
    link = &tags->ops;
    while ((op = *link) != NULL) {
        if (op->ep != ep) {
            link = &op->next;
            continue;
        }
        *link = op->next;
        comp  = op->comp;
        free(op);
        if (status != NULL) {
            ucx_complete(comp, *status);
            link = &tags->ops; /* The callback may have changed the list */
        }
    }
}
