/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiver's side of a rendezvous: reads the data that a matched message
 * announces, and then notifies the sender. The read and the notification use an
 * internal endpoint, because the user may have no endpoint to the sender.
 */
#include "tag.h"
#include "mem.h"

#include <rdma/fi_rma.h>

/* Maximum number of times that UGNI_ID_FETCHED is sent for a receive: for about
 * a second */
enum { MAX_ATTEMPTS = 8 };

/* Seconds. The attempt after the n-th failed one, counted from 1, waits for
 * RETRY_DELAY * 2^n */
static const double RETRY_DELAY = 0.005;

/* The read of the data */
typedef struct fetch {
    ugni_send_t super;
    ugni_tag_recv_t *recv;
} fetch_t;

/* The content of a message UGNI_TAG_RNDV */
typedef struct announcement {
    ugni_wire_rndv_t wire; /* In the byte order of the processor */
    /* The sender's interface address, its packed key, the user's header */
    const char *name, *key, *header;
} announcement_t;

/* Parses an announcement, which is untrusted input. Returns 0 if it is
 * malformed. */
static int parse(const ugni_tag_recv_t *recv, announcement_t *to)
{
    ugni_wire_rndv_t *wire = &to->wire;
    size_t length;
    const char *data = ugni_tag_data(recv, &length);

    if (length < sizeof(*wire)) {
        return 0;
    }
    memcpy(wire, data, sizeof(*wire));
    wire->address       = le64toh(wire->address);
    wire->length        = le64toh(wire->length);
    wire->name_length   = le16toh(wire->name_length);
    wire->key_length    = le16toh(wire->key_length);
    wire->header_length = le16toh(wire->header_length);
    to->name            = data + sizeof(*wire);
    to->key             = to->name + wire->name_length;
    to->header          = to->key + wire->key_length;
    return length == sizeof(*wire) + wire->name_length + wire->key_length +
                         (size_t)wire->header_length;
}

void ugni_tag_unexpected_rndv(ugni_iface_t *iface, ugni_tag_recv_t *recv)
{
    const ugni_tags_t *tags = iface->tags;
    announcement_t from;

    if (parse(recv, &from)) {
        (void)tags->rndv_cb(tags->rndv_arg, 0, recv->stag, from.header,
                            from.wire.header_length, from.wire.address,
                            from.wire.length, from.key);
    }
}

/* Connects to the sender. */
static ucs_status_t connect_to(ugni_iface_t *iface, ugni_tag_recv_t *recv,
                               const void *name, size_t length)
{
    ucs_status_t status = ugni_ep_connect(iface, name, length, &recv->ep);

    if (status == UCS_OK) {
        recv->ep->state |= UGNI_EP_INTERNAL;
    }
    return status;
}

/* Unpacks the sender's key. */
static ucs_status_t take_key(ugni_iface_t *iface, ugni_tag_recv_t *recv,
                             const announcement_t *from)
{
    ugni_md_t *md = iface->port->md;
    ucs_status_t status;
    uct_rkey_t rkey;
    void *handle;

    status = ugni_rkey_unpack(((uct_md_t *)md)->component, from->key,
                              from->wire.key_length, UCS_SYS_DEVICE_ID_UNKNOWN,
                              &rkey, &handle);
    if (status != UCS_OK) {
        return status;
    }
    recv->rkey    = (ugni_rkey_t *)rkey;
    recv->address = from->wire.address - recv->rkey->base;
    return ugni_rkey_get(md, iface->port->device, recv->rkey,
                         recv->ep->addr.device, &recv->key);
}

/* Completes the user's receive. A receive that is too short is not reported to
 * the sender as a failure: the sender of an eager message does not learn of it
 * either. */
static void complete(ugni_tag_recv_t *recv, ucs_status_t status)
{
    uct_tag_context_t *ctx = recv->ctx;

    recv->ctx       = NULL;
    recv->state     = UGNI_TAG_CONFIRM;
    recv->is_failed = (status != UCS_OK) &&
                      (status != UCS_ERR_MESSAGE_TRUNCATED);
    ctx->completed_cb(ctx, recv->stag, 0, recv->length, NULL, status);
}

ucs_status_t ugni_tag_fetch(ugni_iface_t *iface, ugni_tag_recv_t *recv)
{
    announcement_t from;
    ucs_status_t status;

    if (!parse(recv, &from)) {
        return UCS_ERR_IO_ERROR;
    }
    status = connect_to(iface, recv, from.name, from.wire.name_length);
    if (status != UCS_OK) {
        return status;
    }
    recv->op     = ugni_tag_imm(recv);
    recv->length = from.wire.length;
    recv->state  = UGNI_TAG_FETCH;
    ugni_link_add(&iface->tags->active, &recv->active);
    status = take_key(iface, recv, &from);
    if (status != UCS_OK) {
        complete(recv, status);
    }
    return UCS_OK;
}

static ssize_t post_fetch(ugni_ep_t *ep, ugni_send_t *send)
{
    const ugni_iface_t *iface = ugni_iface_of(ep);
    ugni_tag_recv_t *recv     = ((fetch_t *)send)->recv;

    return fi_read(iface->port->ep, recv->buffer, recv->length,
                   ugni_mem_desc(iface->port, recv->memh), ep->peer->fi_addr,
                   recv->address, recv->key, &send->op.context);
}

static void fetched(ugni_send_t *send, ucs_status_t status)
{
    ugni_tag_recv_t *recv     = ((fetch_t *)send)->recv;
    const ugni_iface_t *iface = ugni_iface_of(recv->ep);

    if (!iface->is_closing) {
        complete(recv, status);
    }
}

/* Starts the read. If there are no send resources, progress tries again. */
static void fetch(ugni_iface_t *iface, ugni_tag_recv_t *recv)
{
    ugni_send_t *send;
    ucs_status_t status;

    if (recv->length > recv->size) {
        complete(recv, UCS_ERR_MESSAGE_TRUNCATED);
        return;
    }
    if (iface->port->is_local && (recv->memh == UCT_MEM_HANDLE_NULL)) {
        complete(recv, UCS_ERR_INVALID_PARAM);
        return;
    }
    status = ugni_send_new(recv->ep, &send);
    if (status == UCS_ERR_NO_RESOURCE) {
        return;
    }
    if (status != UCS_OK) {
        complete(recv, status);
        return;
    }
    recv->state             = UGNI_TAG_FETCHING;
    ((fetch_t *)send)->recv = recv;
    send->post              = post_fetch;
    send->done              = fetched;
    send->op.is_zcopy       = 1;
    ugni_send_start(send);
}

/* Replaces recv->ep, which has failed, for example because the read was
 * rejected: a failed endpoint sends no messages. */
static ucs_status_t reconnect(ugni_iface_t *iface, ugni_tag_recv_t *recv)
{
    char address[sizeof(ugni_wire_addr_t) + UGNI_MAX_NAME];
    ugni_ep_t *ep = recv->ep;
    ucs_status_t status;

    ugni_addr_pack(&ep->addr, address);
    memcpy(address + sizeof(ep->addr), ep->peer->name, UGNI_MAX_NAME);
    status = connect_to(iface, recv, address, sizeof(address));
    if (status == UCS_OK) {
        ugni_ep_destroy(&ep->super);
    }
    return status;
}

/* Called when the send of UGNI_ID_FETCHED has ended. After a failure, progress
 * tries again later, up to MAX_ATTEMPTS times: when the peer rejects a read,
 * ofi_rxm breaks the connection, and messages fail until ofi_rxm has closed
 * it. */
static void confirmed(ugni_send_t *send, ucs_status_t status)
{
    ugni_tag_recv_t *recv = ((ugni_msg_t *)send)->arg;
    double delay          = RETRY_DELAY * (1 << recv->attempts);

    recv->state = UGNI_TAG_CONFIRM;
    if (status == UCS_OK) {
        recv->attempts = MAX_ATTEMPTS;
    } else {
        recv->retry_at = ugni_iface_of(recv->ep)->host->time() + delay;
    }
}

static void finish(ugni_iface_t *iface, ugni_tag_recv_t *recv)
{
    ugni_ep_destroy(&recv->ep->super);
    ugni_tag_recv_free(iface, recv);
}

/* Sends UGNI_ID_FETCHED. If there are no send resources, progress tries again.
 * Frees the receive if the message was sent, or cannot be sent. */
static void confirm(ugni_iface_t *iface, ugni_tag_recv_t *recv)
{
    const ugni_wire_fetched_t wire = {
        .op        = htole64(recv->op),
        .is_failed = recv->is_failed,
    };
    ucs_status_t status = UCS_OK;
    ugni_msg_t *msg;

    if (recv->attempts == MAX_ATTEMPTS) {
        finish(iface, recv);
        return;
    }
    if ((recv->attempts > 0) && (iface->host->time() < recv->retry_at)) {
        return;
    }
    if (recv->ep->state & UGNI_EP_FAILED) {
        status = reconnect(iface, recv);
    }
    if (status == UCS_OK) {
        status = ugni_msg_new(recv->ep, UGNI_ID_FETCHED, &msg);
    }
    if (status == UCS_OK) {
        ++recv->attempts;
        recv->state = UGNI_TAG_CONFIRMING;
        memcpy(msg->data, &wire, sizeof(wire));
        msg->arg        = recv;
        msg->super.done = confirmed;
        ugni_msg_start(msg, sizeof(wire));
    } else if (status != UCS_ERR_NO_RESOURCE) {
        finish(iface, recv);
    }
}

void ugni_tag_continue(ugni_iface_t *iface, ugni_tag_recv_t *recv)
{
    if (recv->state == UGNI_TAG_FETCH) {
        fetch(iface, recv);
    } else if (recv->state == UGNI_TAG_CONFIRM) {
        confirm(iface, recv);
    }
}
