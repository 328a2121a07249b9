/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints of posix and sysv: creation, sending of messages, pending requests,
 * flush, liveness and destruction. Access to remote memory is in access.c.
 */
#include "iface.h"

#include "access.h"
#include "pieces.h"

#include <stdlib.h>
#include <string.h>
#include <ucx/copy.h>

/* One in TIMED_EVERY messages of TIMED_MIN bytes or more is timed: reading the
 * clock twice takes 50 ns, and a copy of so many bytes 0.2 us or more. */
enum { TIMED_MIN = 8192, TIMED_EVERY = 8 };

/* Bytes of payload in a cell after the header of a short message. */
enum { SHORT_ROOM = SHM_CELL_ROOM - sizeof(uint64_t) };

static SHM_INLINE void trace(uct_ep_h ep, uint8_t id, const void *data,
                             size_t length)
{
    shm_iface_trace(shm_iface(ep->iface), UCT_AM_TRACE_TYPE_SEND, id, data,
                    length);
}

/* -------------------------------------------------------------- messages -- */

/* Writes a short message to the ring; for the order see SHM_FIRST_LINE_LAST. */
static SHM_INLINE void write_short(char *bytes, uint64_t header,
                                   const char *payload, uint32_t length)
{
    uint32_t first = length;

    if (length + sizeof(header) >= SHM_FIRST_LINE_LAST) {
        first = SHM_CACHE_LINE - sizeof(header);
        ucx_copy_lines(bytes + SHM_CACHE_LINE, payload + first, length - first);
        atomic_signal_fence(memory_order_seq_cst); /* Keep this order */
    }
    memcpy(bytes, &header, sizeof(header));
    ucx_copy_lines(bytes + sizeof(header), payload, first);
}

/* As send_pieces(), faster for some hundred bytes. */
static ucs_status_t short_by_ring(uct_ep_h ep, uint8_t id, uint64_t header,
                                  const void *payload, unsigned length)
{
    shm_outbox_t *outbox = shm_ep(ep)->outbox;
    uint32_t total       = length + sizeof(header);
    uct_iov_t iov        = {.buffer = (void *)payload, .length = length};
    shm_pieces_t pieces  = {&header, sizeof(header), &iov, 1, 1};
    shm_cell_t *cell;
    void *bytes = NULL;
    ucs_status_t status;

    status = shm_outbox_reserve(outbox, total, total, &cell, &bytes);
    if (shm_unlikely(status != UCS_OK)) {
        return status;
    }
    if (total >= outbox->stream_min) {
        shm_pieces_stream(bytes, &pieces);
    } else {
        write_short(bytes, header, payload, length);
    }
    trace(ep, id, bytes, total);
    shm_outbox_commit(outbox, cell, id, total);
    return UCS_OK;
}

/* Hot path. */
static ucs_status_t shm_am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                                 const void *payload, unsigned length)
{
    shm_outbox_t *outbox = shm_ep(ep)->outbox;
    ucs_status_t status;
    shm_cell_t *cell;

    if (shm_unlikely(length > SHORT_ROOM)) {
        return short_by_ring(ep, id, header, payload, length);
    }

    cell = shm_outbox_cell(outbox, &status);
    if (shm_unlikely(cell == NULL)) {
        return status;
    }
    memcpy(cell->data, &header, sizeof(header));
    ucx_copy_small(cell->data + sizeof(header), payload, length);
    trace(ep, id, cell->data, length + sizeof(header));
    shm_outbox_publish(outbox, cell, SHM_CELL_INLINE, id,
                       length + sizeof(header));
    return UCS_OK;
}

static void write_pieces(void *bytes, const shm_pieces_t *pieces, size_t length,
                         shm_write_t write)
{
    if (write == SHM_WRITE_STREAM) {
        shm_pieces_stream(bytes, pieces);
    } else {
        shm_pieces_copy(bytes, pieces, length);
    }
}

/* Copies a message to the ring; measures the time of some copies. */
static void write_ring(shm_outbox_t *outbox, void *bytes,
                       const shm_pieces_t *pieces, size_t length)
{
    shm_write_t write = (length >= outbox->stream_min) ? SHM_WRITE_STREAM :
                                                         SHM_WRITE_PLAIN;
    double begin;

    if ((length < TIMED_MIN) || (++outbox->untimed < TIMED_EVERY)) {
        write_pieces(bytes, pieces, length, write);
        return;
    }
    outbox->untimed = 0;
    if ((write == SHM_WRITE_STREAM) && !outbox->is_fixed) {
        write = shm_stores_next(&outbox->probing.stores);
    }
    begin = outbox->host->time();
    write_pieces(bytes, pieces, length, write);
    shm_outbox_wrote(outbox, write, length, outbox->host->time() - begin);
}

/* Sends a message, in the cell or, if it does not fit, in the ring. */
static ucs_status_t send_pieces(uct_ep_h ep, uint8_t id,
                                const shm_pieces_t *pieces)
{
    shm_outbox_t *outbox = shm_ep(ep)->outbox;
    size_t length        = shm_pieces_length(pieces);
    ucs_status_t status  = UCS_OK;
    shm_cell_t *cell;
    void *bytes = NULL;

    if (length <= SHM_CELL_ROOM) {
        cell  = shm_outbox_cell(outbox, &status);
        bytes = (cell != NULL) ? cell->data : NULL;
    } else {
        status = shm_outbox_reserve(outbox, (uint32_t)length, (uint32_t)length,
                                    &cell, &bytes);
    }
    if (shm_unlikely(status != UCS_OK)) {
        return status;
    }

    if (length <= SHM_CELL_ROOM) {
        shm_pieces_copy(bytes, pieces, length);
        trace(ep, id, bytes, length);
        shm_outbox_publish(outbox, cell, SHM_CELL_INLINE, id, (uint32_t)length);
    } else {
        write_ring(outbox, bytes, pieces, length);
        trace(ep, id, bytes, length);
        shm_outbox_commit(outbox, cell, id, (uint32_t)length);
    }
    return UCS_OK;
}

static ucs_status_t shm_am_short_iov(uct_ep_h ep, uint8_t id,
                                     const uct_iov_t *iov, size_t iovcnt)
{
    shm_pieces_t pieces = {NULL, 0, iov, iovcnt, 1};

    return send_pieces(ep, id, &pieces);
}

static ucs_status_t shm_am_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                                 unsigned header_length, const uct_iov_t *iov,
                                 size_t iovcnt, unsigned flags,
                                 uct_completion_t *comp)
{
    shm_pieces_t pieces = {header, header_length, iov, iovcnt, 0};

    return send_pieces(ep, id, &pieces);
}

/* Returns where a bcopy message is packed: in the ring, at `bytes`, or, if it
 * will probably be written there by non-temporal stores, in other memory. */
static void *pack_place(shm_iface_t *iface, const shm_outbox_t *outbox,
                        void *bytes)
{
    if (shm_likely(iface->bcopy_typical < outbox->stream_min)) {
        return bytes;
    }
    if (iface->packed == NULL) {
        iface->packed = malloc(iface->config.seg_size);
    }
    return (iface->packed == NULL) ? bytes : iface->packed;
}

/* Copies a packed message to its place in the ring. */
static void move_packed(shm_outbox_t *outbox, void *place, void *packed,
                        size_t length)
{
    uct_iov_t iov       = {.buffer = packed, .length = length};
    shm_pieces_t pieces = {NULL, 0, &iov, 1, 1};

    write_ring(outbox, place, &pieces, length);
}

/* The length is known only after packing, so the maximum is reserved. */
static ssize_t shm_am_bcopy(uct_ep_h ep, uint8_t id,
                            uct_pack_callback_t pack_cb, void *arg,
                            unsigned flags)
{
    shm_iface_t *iface   = shm_iface(ep->iface);
    shm_outbox_t *outbox = shm_ep(ep)->outbox;
    void *bytes          = NULL;
    ucs_status_t status;
    shm_cell_t *cell;
    size_t length;
    uint32_t used;
    char *packed, *place;

    status = shm_outbox_reserve(outbox, (uint32_t)iface->config.seg_size,
                                iface->bcopy_typical, &cell, &bytes);
    if (shm_unlikely(status != UCS_OK)) {
        return status;
    }

    packed = pack_place(iface, outbox, bytes);
    length = pack_cb(packed, arg);
    trace(ep, id, packed, length);
    if (length <= SHM_CELL_ROOM) {
        ucx_copy_small(cell->data, packed, length);
        shm_outbox_publish(outbox, cell, SHM_CELL_INLINE, id, (uint32_t)length);
    } else {
        /* If the maximum does not fit before the end of the ring, but the
         * actual length does, the place is not where bytes were reserved */
        place = outbox->ring +
                shm_outbox_place(outbox, (uint32_t)length, &used);
        if (shm_unlikely(place != packed)) {
            move_packed(outbox, place, packed, length);
        }
        iface->bcopy_typical = (uint32_t)length;
        shm_outbox_commit(outbox, cell, id, (uint32_t)length);
    }
    return (ssize_t)length;
}

/* -------------------------------------------------------- waiting, order -- */

static ucs_status_t shm_ep_pending_add(uct_ep_h uct_ep, uct_pending_req_t *req,
                                       unsigned flags)
{
    shm_ep_t *ep       = shm_ep(uct_ep);
    shm_iface_t *iface = shm_iface(uct_ep->iface);

    if (!ep->is_waiting && shm_outbox_has_news(ep->outbox)) {
        return UCS_ERR_BUSY;
    }

    ucx_pending_push(&ep->pending, req);
    if (!ep->is_waiting) {
        ep->is_waiting = 1;
        TAILQ_INSERT_TAIL(&iface->waiting, ep, waiting);
    }
    return UCS_OK;
}

static void stop_waiting(shm_ep_t *ep)
{
    if (ep->is_waiting) {
        ep->is_waiting = 0;
        TAILQ_REMOVE(&shm_iface(ep->super.iface)->waiting, ep, waiting);
    }
}

static void shm_ep_pending_purge(uct_ep_h uct_ep,
                                 uct_pending_purge_callback_t cb, void *arg)
{
    shm_ep_t *ep = shm_ep(uct_ep);

    stop_waiting(ep);
    ucx_pending_purge(&ep->pending, cb, arg);
}

/* Visits each endpoint in iface->waiting at most once, and calls its pending
 * requests if a send may succeed. A request may destroy endpoints, so each step
 * takes the first endpoint of the list, and adds it at the end if it still has
 * requests. */
unsigned shm_iface_dispatch(shm_iface_t *iface)
{
    unsigned count = 0;
    unsigned turns = 0;
    shm_ep_t *ep;

    TAILQ_FOREACH(ep, &iface->waiting, waiting) {
        ++turns;
    }
    for (; turns > 0; --turns) {
        ep = TAILQ_FIRST(&iface->waiting);
        if (ep == NULL) {
            break;
        }
        TAILQ_REMOVE(&iface->waiting, ep, waiting);
        if (!shm_outbox_has_news(ep->outbox)) {
            TAILQ_INSERT_TAIL(&iface->waiting, ep, waiting);
            continue;
        }

        if (shm_unlikely(ep->outbox->probing.is_due)) {
            shm_outbox_probe_due(ep->outbox);
        }
        ep->is_waiting = 0;
        iface->serving = ep;
        count += ucx_pending_dispatch(&ep->pending);
        if ((iface->serving == ep) && !ep->is_waiting &&
            !ucx_pending_is_empty(&ep->pending)) {
            ep->is_waiting = 1;
            TAILQ_INSERT_TAIL(&iface->waiting, ep, waiting);
        }
    }
    iface->serving = NULL;
    return count;
}

static ucs_status_t shm_ep_flush(uct_ep_h ep, unsigned flags,
                                 uct_completion_t *comp)
{
    atomic_thread_fence(memory_order_seq_cst);
    return UCS_OK; /* Every operation is complete when its call returns */
}

static ucs_status_t shm_ep_fence(uct_ep_h ep, unsigned flags)
{
    atomic_thread_fence(memory_order_seq_cst);
    return UCS_OK;
}

/* ------------------------------------------------------------------ life -- */

/* Returns whether `params` contains the address, with at least `need` bytes. If
 * the length was not passed, the address is assumed to be long enough. */
static int has_bytes(const uct_ep_params_t *params, uint64_t field,
                     const void *address, uint64_t length_field, size_t length,
                     size_t need)
{
    return (params->field_mask & field) && (address != NULL) &&
           (!(params->field_mask & length_field) || (length >= need));
}

ucs_status_t shm_ep_create(uct_iface_h uct_iface, const uct_ep_params_t *params,
                           uct_ep_h *ep_p)
{
    shm_iface_t *iface = shm_iface(uct_iface);
    size_t length      = shm_seg_address_length(&iface->md->space);
    ucs_status_t status;
    shm_peer_t *peer;
    shm_ep_t *ep;

    if (!has_bytes(params, UCT_EP_PARAM_FIELD_DEV_ADDR, params->dev_addr,
                   UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH, params->dev_addr_length,
                   sizeof(uint64_t)) ||
        !has_bytes(params, UCT_EP_PARAM_FIELD_IFACE_ADDR, params->iface_addr,
                   UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH,
                   params->iface_addr_length, length)) {
        return UCS_ERR_INVALID_PARAM;
    }

    ep = calloc(1, sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = shm_peer_find(iface, params->iface_addr, length, &peer, NULL, 0);
    if (status != UCS_OK) {
        free(ep);
        return status;
    }
    if (peer == iface->probed) {
        iface->probed = NULL;
    }

    ucx_ep_init(&ep->super, uct_iface);
    ep->outbox = &peer->outbox;
    ucx_pending_init(&ep->pending);
    LIST_INSERT_HEAD(&peer->eps, ep, link);
    ++peer->num_eps;
    *ep_p = &ep->super;
    return UCS_OK;
}

static void shm_ep_destroy(uct_ep_h uct_ep)
{
    shm_iface_t *iface = shm_iface(uct_ep->iface);
    shm_ep_t *ep       = shm_ep(uct_ep);
    shm_peer_t *peer   = shm_peer(ep->outbox);

    if (iface->serving == ep) {
        iface->serving = NULL;
    }
    stop_waiting(ep);
    LIST_REMOVE(ep, link);
    --peer->num_eps;
    free(ep);
    shm_peer_put(iface, peer);
}

static ucs_status_t shm_ep_check(uct_ep_h uct_ep, unsigned flags,
                                 uct_completion_t *comp)
{
    shm_ep_t *ep = shm_ep(uct_ep);

    if (!ep->outbox->dead && !shm_outbox_peer_is_alive(ep->outbox)) {
        shm_outbox_kill(ep->outbox);
    }
    if (ep->outbox->dead) {
        shm_ep_fail(ep);
    }
    return UCS_OK;
}

static ucs_status_t shm_ep_invalidate(uct_ep_h uct_ep, unsigned flags)
{
    shm_ep_fail(shm_ep(uct_ep));
    return UCS_OK;
}

const ucx_ep_ops_t shm_ep_ops = {
    .size           = sizeof(shm_ep_ops),
    .am_short       = shm_am_short,
    .am_bcopy       = shm_am_bcopy,
    .am_zcopy       = shm_am_zcopy,
    .am_short_iov   = shm_am_short_iov,
    .put_short      = shm_put_short,
    .put_bcopy      = shm_put_bcopy,
    .put_zcopy      = shm_put_zcopy,
    .get_short      = shm_get_short,
    .get_bcopy      = shm_get_bcopy,
    .get_zcopy      = shm_get_zcopy,
    .flush          = shm_ep_flush,
    .fence          = shm_ep_fence,
    .pending_add    = shm_ep_pending_add,
    .pending_purge  = shm_ep_pending_purge,
    .atomic32_post  = shm_atomic32_post,
    .atomic64_post  = shm_atomic64_post,
    .atomic32_fetch = shm_atomic32_fetch,
    .atomic64_fetch = shm_atomic64_fetch,
    .atomic_cswap32 = shm_atomic_cswap32,
    .atomic_cswap64 = shm_atomic_cswap64,
    .destroy        = shm_ep_destroy,
    .check          = shm_ep_check,
    .invalidate     = shm_ep_invalidate,
};
