/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending: messages, put, get, flush, and answers to the peer's requests. */
#include "pairs.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- packets -- */

/* Returns UCS_OK if a packet can be sent now, UCS_ERR_NO_RESOURCE if it can be
 * sent later, or another error. */
static ucs_status_t is_open(pairs_ep_t *ep)
{
    const ucx_host_t *host = local_host_of(ep->super.iface->md);

    if (ep->state == PAIRS_NEW) {
        ucx_error("pairs: a send on an endpoint that is not connected");
        return UCS_ERR_NOT_CONNECTED;
    }
    if (ep->state == PAIRS_FAILED) {
        return ep->status;
    }
    return ((ep->answers == NULL) && sock_is_writable(ep->out->fd)) ?
               UCS_OK :
               UCS_ERR_NO_RESOURCE;
}

static ucs_status_t send_packet(pairs_ep_t *ep, const pairs_header_t *header,
                                const void *data, size_t length)
{
    struct iovec iov[2] = {
        {(void *)header, sizeof(*header)},
        {(void *)data, length},
    };
    ucs_status_t status = sock_send(ep->out->fd, iov, 2);

    /* Only return the error. Progress fails the endpoint, after it has read the
     * peer's last messages. */
    return (status == UCS_OK) ? UCS_OK : UCS_ERR_CONNECTION_RESET;
}

/* Packs and sends data; returns the number of bytes or an error. */
static ssize_t send_packed(pairs_ep_t *ep, const pairs_header_t *header,
                           uct_pack_callback_t pack_cb, void *arg)
{
    char *data          = pairs_iface_of(ep)->out;
    ucs_status_t status = is_open(ep);
    size_t length;

    if (status != UCS_OK) {
        return status;
    }
    length = pack_cb(data, arg);
    status = send_packet(ep, header, data, length);
    return (status == UCS_OK) ? (ssize_t)length : status;
}

/* ----------------------------------------------------- messages and put -- */

ucs_status_t pairs_am_short(uct_ep_h super, uint8_t id, uint64_t word,
                            const void *payload, unsigned length)
{
    pairs_header_t header = {.kind = PAIRS_MESSAGE, .am_id = id};
    pairs_ep_t *ep        = (pairs_ep_t *)super;
    ucs_status_t status   = is_open(ep);
    char data[PAIRS_MAX_SHORT];

    if (status != UCS_OK) {
        return status;
    }
    memcpy(data, &word, sizeof(word));
    if (length > 0) {
        memcpy(data + sizeof(word), payload, length);
    }
    return send_packet(ep, &header, data, sizeof(word) + length);
}

ucs_status_t pairs_am_short_iov(uct_ep_h super, uint8_t id,
                                const uct_iov_t *iov, size_t iovcnt)
{
    pairs_header_t header = {.kind = PAIRS_MESSAGE, .am_id = id};
    pairs_ep_t *ep        = (pairs_ep_t *)super;
    ucs_status_t status   = is_open(ep);
    char data[PAIRS_MAX_SHORT];
    size_t length = 0, i;

    if (status != UCS_OK) {
        return status;
    }
    for (i = 0; i < iovcnt; ++i) {
        if (iov[i].length > 0) {
            memcpy(data + length, iov[i].buffer, iov[i].length);
        }
        length += iov[i].length;
    }
    return send_packet(ep, &header, data, length);
}

ssize_t pairs_am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                       void *arg, unsigned flags)
{
    pairs_header_t header = {.kind = PAIRS_MESSAGE, .am_id = id};

    (void)flags;
    return send_packed((pairs_ep_t *)ep, &header, pack_cb, arg);
}

static pairs_header_t put_header(uint64_t remote_addr, uct_rkey_t rkey)
{
    return (pairs_header_t){
        .kind    = PAIRS_PUT,
        .key     = rkey,
        .address = remote_addr,
    };
}

ucs_status_t pairs_put_short(uct_ep_h super, const void *buffer,
                             unsigned length, uint64_t remote_addr,
                             uct_rkey_t rkey)
{
    pairs_header_t header = put_header(remote_addr, rkey);
    pairs_ep_t *ep        = (pairs_ep_t *)super;
    ucs_status_t status   = is_open(ep);

    if (status == UCS_OK) {
        ep->is_dirty = 1;
        status       = send_packet(ep, &header, buffer, length);
    }
    return status;
}

ssize_t pairs_put_bcopy(uct_ep_h super, uct_pack_callback_t pack_cb, void *arg,
                        uint64_t remote_addr, uct_rkey_t rkey)
{
    pairs_header_t header = put_header(remote_addr, rkey);
    pairs_ep_t *ep        = (pairs_ep_t *)super;
    ssize_t length        = send_packed(ep, &header, pack_cb, arg);

    ep->is_dirty |= (length >= 0);
    return length;
}

/* Returns the address of the registered local memory of an operation. */
static char *local_bytes(const uct_iov_t *iov)
{
    const pairs_region_t *region = iov->memh;

    return region->bytes + ((char *)iov->buffer - region->start);
}

/* The operation is complete when this call returns, because the kernel has
 * copied the data. `comp` is not called. */
ucs_status_t pairs_put_zcopy(uct_ep_h super, const uct_iov_t *iov,
                             size_t iovcnt, uint64_t remote_addr,
                             uct_rkey_t rkey, uct_completion_t *comp)
{
    pairs_header_t header = put_header(remote_addr, rkey);
    pairs_ep_t *ep        = (pairs_ep_t *)super;
    ucs_status_t status   = is_open(ep);

    (void)iovcnt;
    (void)comp;
    if (status == UCS_OK) {
        ep->is_dirty = 1;
        status       = send_packet(ep, &header, local_bytes(iov), iov->length);
    }
    return status;
}

/* ------------------------------------------------------- get and flush -- */

void pairs_complete(pairs_op_t *op, ucs_status_t status)
{
    uct_completion_t *comp = op->comp;

    free(op);
    if (comp != NULL) {
        if ((status != UCS_OK) && (comp->status == UCS_OK)) {
            comp->status = status;
        }
        if (--comp->count == 0) {
            comp->func(comp);
        }
    }
}

pairs_op_t *pairs_take_op(pairs_ep_t *ep, pairs_kind_t answer)
{
    pairs_op_t *op = ep->ops;

    if ((op == NULL) || (op->answer != answer)) {
        return NULL;
    }
    ep->ops = op->next;
    if (ep->ops == NULL) {
        ep->ops_tail = &ep->ops;
    }
    --ep->num_ops;
    return op;
}

void pairs_end_ops(pairs_ep_t *ep, ucs_status_t status)
{
    pairs_op_t *op;

    while ((op = ep->ops) != NULL) {
        pairs_complete(pairs_take_op(ep, op->answer), status);
    }
}

/* Sends a request, and queues the operation until the answer arrives. */
static ucs_status_t ask(pairs_ep_t *ep, const pairs_header_t *header,
                        const pairs_op_t *pattern)
{
    ucs_status_t status = is_open(ep);
    pairs_op_t *op;

    if (status != UCS_OK) {
        return status;
    }
    if (ep->num_ops == PAIRS_MAX_OPS) {
        return UCS_ERR_NO_RESOURCE;
    }

    op = malloc(sizeof(*op));
    if (op == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = send_packet(ep, header, NULL, 0);
    if (status != UCS_OK) {
        free(op);
        return status;
    }
    *op           = *pattern;
    op->next      = NULL;
    *ep->ops_tail = op;
    ep->ops_tail  = &op->next;
    ++ep->num_ops;
    return UCS_INPROGRESS;
}

ucs_status_t pairs_get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack_cb,
                             void *arg, size_t length, uint64_t remote_addr,
                             uct_rkey_t rkey, uct_completion_t *comp)
{
    pairs_header_t header = {
        .kind    = PAIRS_GET,
        .length  = (uint32_t)length,
        .key     = rkey,
        .address = remote_addr,
    };
    pairs_op_t op = {
        .answer = PAIRS_GET_REPLY,
        .length = length,
        .unpack = unpack_cb,
        .arg    = arg,
        .comp   = comp,
    };

    return ask((pairs_ep_t *)ep, &header, &op);
}

static void store(void *arg, const void *data, size_t length)
{
    memcpy(arg, data, length);
}

ucs_status_t pairs_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp)
{
    (void)iovcnt;
    return pairs_get_bcopy(ep, store, local_bytes(iov), iov->length,
                           remote_addr, rkey, comp);
}

ucs_status_t pairs_flush(uct_ep_h super, unsigned flags, uct_completion_t *comp)
{
    pairs_header_t header = {.kind = PAIRS_FLUSH};
    pairs_op_t op         = {.answer = PAIRS_FLUSHED, .comp = comp};
    pairs_ep_t *ep        = (pairs_ep_t *)super;
    ucs_status_t status;

    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        pairs_end_ops(ep, UCS_ERR_CANCELED);
        return UCS_OK;
    }
    if (ep->state == PAIRS_FAILED) {
        return ep->status;
    }
    if ((ep->ops == NULL) &&
        (!ep->is_dirty || !(flags & UCT_FLUSH_FLAG_REMOTE))) {
        return UCS_OK;
    }

    status = ask(ep, &header, &op);
    if (status == UCS_INPROGRESS) {
        ep->is_dirty = 0;
    }
    return status;
}

/* Does nothing: the peer executes all packets in the order of sending. */
ucs_status_t pairs_fence(uct_ep_h ep, unsigned flags)
{
    (void)ep;
    (void)flags;
    return UCS_OK;
}

/* ------------------------------------------------------------- waiting -- */

/* Returns whether any operation can be sent now. */
static int has_room(pairs_ep_t *ep)
{
    return (ep->answers == NULL) && (ep->num_ops < PAIRS_MAX_OPS) &&
           sock_is_writable(ep->out->fd);
}

ucs_status_t pairs_pending_add(uct_ep_h super, uct_pending_req_t *req,
                               unsigned flags)
{
    pairs_ep_t *ep = (pairs_ep_t *)super;

    (void)flags;
    if (ep->state == PAIRS_NEW) {
        return is_open(ep);
    }
    if (ep->state == PAIRS_FAILED) {
        return ep->status;
    }
    if (ucx_pending_is_empty(&ep->pending) && has_room(ep)) {
        return UCS_ERR_BUSY;
    }
    ucx_pending_push(&ep->pending, req);
    pairs_ep_watch(ep);
    return UCS_OK;
}

void pairs_pending_purge(uct_ep_h super, uct_pending_purge_callback_t cb,
                         void *arg)
{
    pairs_ep_t *ep = (pairs_ep_t *)super;

    ucx_pending_purge(&ep->pending, cb, arg);
    pairs_ep_watch(ep);
}

/* ------------------------------------------------------------- answers -- */

void pairs_drop_answers(pairs_ep_t *ep)
{
    pairs_answer_t *answer;

    while ((answer = ep->answers) != NULL) {
        ep->answers = answer->next;
        free(answer);
    }
    ep->answers_tail = &ep->answers;
}

int pairs_answer(pairs_ep_t *ep, pairs_kind_t kind, const void *data,
                 size_t length)
{
    pairs_header_t header = {.kind = (uint8_t)kind};
    pairs_answer_t *answer;

    if (is_open(ep) == UCS_OK) {
        send_packet(ep, &header, data, length);
        return 1;
    }

    answer = malloc(sizeof(*answer) + length);
    if (answer == NULL) {
        return 0;
    }
    answer->next   = NULL;
    answer->header = header;
    answer->length = length;
    if (length > 0) {
        memcpy(answer->data, data, length);
    }
    *ep->answers_tail = answer;
    ep->answers_tail  = &answer->next;
    pairs_ep_watch(ep);
    return 1;
}

void pairs_send_more(pairs_ep_t *ep)
{
    pairs_answer_t *answer;

    while ((ep->state == PAIRS_CONNECTED) && (ep->answers != NULL) &&
           sock_is_writable(ep->out->fd)) {
        answer      = ep->answers;
        ep->answers = answer->next;
        if (ep->answers == NULL) {
            ep->answers_tail = &ep->answers;
        }
        send_packet(ep, &answer->header, answer->data, answer->length);
        free(answer);
    }
    if ((ep->state == PAIRS_CONNECTED) && has_room(ep)) {
        ucx_pending_dispatch(&ep->pending);
    }
    pairs_ep_watch(ep);
}
