/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages to the same interface. A send copies the message into a
 * buffer and appends it to the interface's queue; progress delivers it to the
 * handler. Therefore a handler never runs inside a send call, and a handler
 * that sends is not called recursively. Nearly all functions here run for every
 * message, so they are written for speed.
 */
#define UCX_LOG_HOST uct_self_host
#include "self.h"

#include <string.h>
#include <ucx/log.h>
#include <unistd.h>

/* Returns a buffer to its pool. */
static inline void self_desc_put(self_desc_t *desc)
{
    ucx_mpool_put(desc->mpool, desc);
}

/* Allocates a buffer for a message of at most `size` bytes. Fails if the
 * endpoint was invalidated, the size is above the limit, or the queue is full
 * (UCS_ERR_NO_RESOURCE). */
static inline ucs_status_t self_desc_get(uct_ep_h ep, size_t size,
                                         self_desc_t **desc_p)
{
    self_iface_t *iface = self_ep_iface(ep);
    ucx_mpool_t *mpool;
    self_desc_t *desc;

    if (ucs_unlikely(self_ep_status(ep) != UCS_OK)) {
        return self_ep_status(ep);
    }

    if (ucs_unlikely(size > iface->seg_size)) {
        return UCS_ERR_INVALID_PARAM;
    }

    if (ucs_unlikely(iface->queued >= iface->queue_len)) {
        return UCS_ERR_NO_RESOURCE;
    }

    mpool = (size <= SELF_SMALL_SIZE) ? iface->small : iface->large;
    desc  = ucx_mpool_get(uct_self_host, mpool);
    if (ucs_unlikely(desc == NULL)) {
        return UCS_ERR_NO_MEMORY;
    }

    desc->mpool = mpool;
    desc->owner = &iface->owner;
    *desc_p     = desc;
    return UCS_OK;
}

/* Logs a message that is sent or received. The user's tracer, if set, adds a
 * description of its content. */
static UCS_F_COLD void self_trace(self_iface_t *iface, uct_am_trace_type_t type,
                                  self_desc_t *desc)
{
    char line[256] = "";

    if (iface->tracer != NULL) {
        iface->tracer(iface->tracer_arg, type, desc->id,
                      self_desc_data(iface, desc), desc->length, line,
                      sizeof(line));
        line[sizeof(line) - 1] = '\0';
    }

    ucx_log(UCS_LOG_LEVEL_TRACE_DATA, "self %s am_id %u length %u %s",
            (type == UCT_AM_TRACE_TYPE_SEND) ? "tx" : "rx", desc->id,
            desc->length, line);
}

static inline int self_is_tracing(void)
{
    return ucs_unlikely(*uct_self_host->log_level >= UCS_LOG_LEVEL_TRACE_DATA);
}

/* Makes the event descriptor readable, which wakes a thread that waits for it,
 * and disarms it: further messages do not write to it again. */
static UCS_F_COLD void self_signal(self_iface_t *iface)
{
    const uint64_t one = 1;

    iface->armed = 0;
    if (write(iface->event_fd, &one, sizeof(one)) != sizeof(one)) {
        ucx_error("self: could not signal the event fd %d", iface->event_fd);
    }
}

/* Appends the message to the queue. `length` is in bytes. */
static inline void self_send(self_iface_t *iface, self_desc_t *desc, uint8_t id,
                             size_t length)
{
    desc->next   = NULL;
    desc->id     = id;
    desc->length = (unsigned)length;
    *iface->tail = desc;
    iface->tail  = &desc->next;
    ++iface->queued;

    if (self_is_tracing()) {
        self_trace(iface, UCT_AM_TRACE_TYPE_SEND, desc);
    }

    if (ucs_unlikely(iface->armed)) {
        self_signal(iface);
    }
}

ucs_status_t self_am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                           const void *payload, unsigned length)
{
    self_iface_t *iface = self_ep_iface(ep);
    const size_t total  = sizeof(header) + (size_t)length;
    self_desc_t *desc;
    ucs_status_t status;
    char *data;

    status = self_desc_get(ep, total, &desc);
    if (ucs_unlikely(status != UCS_OK)) {
        return status;
    }

    data = self_desc_data(iface, desc);
    memcpy(data, &header, sizeof(header));
    if (length > 0) {
        memcpy(data + sizeof(header), payload, length);
    }

    self_send(iface, desc, id, total);
    return UCS_OK;
}

ucs_status_t self_am_short_iov(uct_ep_h ep, uint8_t id, const uct_iov_t *iov,
                               size_t iovcnt)
{
    self_iface_t *iface = self_ep_iface(ep);
    size_t total        = 0;
    self_desc_t *desc;
    ucs_status_t status;
    char *data;
    size_t i;

    for (i = 0; i < iovcnt; ++i) {
        if (__builtin_add_overflow(total, iov[i].length, &total)) {
            return UCS_ERR_INVALID_PARAM;
        }
    }

    status = self_desc_get(ep, total, &desc);
    if (ucs_unlikely(status != UCS_OK)) {
        return status;
    }

    data = self_desc_data(iface, desc);
    for (i = 0; i < iovcnt; ++i) {
        if (iov[i].length > 0) {
            memcpy(data, iov[i].buffer, iov[i].length);
            data += iov[i].length;
        }
    }

    self_send(iface, desc, id, total);
    return UCS_OK;
}

ssize_t self_am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                      void *arg, unsigned flags)
{
    self_iface_t *iface = self_ep_iface(ep);
    self_desc_t *desc;
    ucs_status_t status;
    size_t length;

    status = self_desc_get(ep, iface->seg_size, &desc);
    if (ucs_unlikely(status != UCS_OK)) {
        return status;
    }

    length = pack_cb(self_desc_data(iface, desc), arg);
    self_send(iface, desc, id, length);
    return (ssize_t)length;
}

ucs_status_t self_am_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                           unsigned header_length, const uct_iov_t *iov,
                           size_t iovcnt, unsigned flags,
                           uct_completion_t *comp)
{
    self_iface_t *iface = self_ep_iface(ep);
    const size_t total  = self_iov_total(iov, iovcnt, header_length);
    self_desc_t *desc;
    ucs_status_t status;
    char *data;

    status = self_desc_get(ep, total, &desc);
    if (ucs_unlikely(status != UCS_OK)) {
        return status;
    }

    data = self_desc_data(iface, desc);
    if (header_length > 0) {
        memcpy(data, header, header_length);
    }
    self_iov_gather(data + header_length, iov, iovcnt);

    self_send(iface, desc, id, total);
    return UCS_OK;
}

/* Calls the handler. Releases the buffer, unless the handler keeps it by
 * returning UCS_INPROGRESS; then self_desc_release() releases it later. */
static inline void self_deliver(self_iface_t *iface, self_desc_t *desc)
{
    ucs_status_t status;

    if (self_is_tracing()) {
        self_trace(iface, UCT_AM_TRACE_TYPE_RECV, desc);
    }

    status = ucx_iface_deliver_am(&iface->super, desc->id,
                                  self_desc_data(iface, desc), desc->length,
                                  UCT_CB_PARAM_FLAG_DESC);
    if (status != UCS_INPROGRESS) {
        self_desc_put(desc);
    }
}

/*
 * Delivers the messages that are in the queue at the time of the call, but at
 * most SELF_PROGRESS_MAX; messages that handlers send meanwhile are delivered
 * by a later call. Then calls pending requests, since the queue has space for
 * new messages. Returns the number of deliveries and of requests that
 * progressed.
 */
unsigned self_iface_progress(uct_iface_h super)
{
    self_iface_t *iface = (self_iface_t *)super;
    unsigned count      = 0;
    unsigned budget;
    self_desc_t *desc;

    budget = (unsigned)self_min(iface->queued, SELF_PROGRESS_MAX);
    while ((count < budget) && ((desc = iface->head) != NULL)) {
        iface->head = desc->next;
        if (iface->head == NULL) {
            iface->tail = &iface->head;
        }
        --iface->queued;
        ++count;
        self_deliver(iface, desc);
    }

    if (ucs_unlikely(iface->pending_head != NULL)) {
        count += self_pending_dispatch(iface);
    }

    return count;
}

/* Releases the messages that were not delivered, when the interface closes. */
void self_queue_drop(self_iface_t *iface)
{
    self_desc_t *desc;

    while ((desc = iface->head) != NULL) {
        iface->head = desc->next;
        self_desc_put(desc);
    }
}

/* Callback of ucx_recv_desc_owner_t: releases the buffer of a message that a
 * handler has kept. `headroom` is the address of the headroom, which directly
 * follows the descriptor (self_desc_t). */
void self_desc_release(ucx_recv_desc_owner_t *owner, void *headroom)
{
    self_desc_put((self_desc_t *)headroom - 1);
}
