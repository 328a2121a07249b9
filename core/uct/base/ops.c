/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public functions that move data (uct_ep_am_short() and so on), set the
 * handlers of active messages, order and complete operations, progress an
 * interface and wait for its events. Each makes only those checks of its
 * arguments that cost little, and calls the slot in the table of the endpoint
 * or interface. UCP calls the slots of endpoints without these functions. Hot
 * path.
 */
#include <ucx/am.h>

#include "uct/base/cancelled.h"
#include "uct/base/state.h"
#include "uct/base/worker.h"

/* Limits for endpoints of connection managers, which have no interface: every
 * length passes the checks here, and the slot returns an error. */
static const uct_iface_limits_t uct_no_limits = {
    .am_short  = SIZE_MAX,
    .am_zcopy  = SIZE_MAX,
    .am_hdr    = SIZE_MAX,
    .am_iov    = SIZE_MAX,
    .put_short = SIZE_MAX,
    .put_zcopy = SIZE_MAX,
    .put_iov   = SIZE_MAX,
    .get_short = SIZE_MAX,
    .get_bcopy = SIZE_MAX,
    .get_zcopy = SIZE_MAX,
    .get_iov   = SIZE_MAX,
};

static inline const uct_iface_limits_t *uct_ep_limits(uct_ep_h ep)
{
    return ucs_likely(ep->iface != NULL) ? &uct_iface_state(ep->iface)->limits :
                                           &uct_no_limits;
}

/* Converts the status of a short send from that of a slot to that of the public
 * API. A slot returns UCS_INPROGRESS if it has copied the data and sends it in
 * the next progress. For the public API this is success, because the caller may
 * reuse the buffer. */
static inline ucs_status_t uct_short_status(ucs_status_t status)
{
    return (status == UCS_INPROGRESS) ? UCS_OK : status;
}

/* Returns whether the number of entries, and their total length plus `start`,
 * are within the limits. */
static int uct_iov_fits(const uct_iov_t *iov, size_t iovcnt, size_t start,
                        size_t max_iov, size_t max_length)
{
    size_t total = start;
    size_t bytes, i;

    if ((iovcnt > max_iov) || ((iov == NULL) && (iovcnt > 0))) {
        return 0;
    }

    for (i = 0; i < iovcnt; ++i) {
        if (__builtin_mul_overflow(iov[i].length, (size_t)iov[i].count,
                                   &bytes) ||
            __builtin_add_overflow(total, bytes, &total)) {
            return 0;
        }
    }

    return total <= max_length;
}

static int uct_short_iov_fits(const uct_iov_t *iov, size_t iovcnt,
                              const uct_iface_limits_t *limits)
{
    size_t total = 0;
    size_t i;

    if ((iovcnt > limits->am_iov) || ((iov == NULL) && (iovcnt > 0))) {
        return 0;
    }

    for (i = 0; i < iovcnt; ++i) {
        if (__builtin_add_overflow(total, iov[i].length, &total)) {
            return 0;
        }
    }

    return total <= limits->am_short;
}

/* --- Active messages -------------------------------------------------- */

ucs_status_t uct_ep_am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                             const void *payload, unsigned length)
{
    if (ucs_unlikely((id >= UCT_AM_ID_MAX) || (sizeof(header) + (size_t)length >
                                               uct_ep_limits(ep)->am_short))) {
        return UCS_ERR_INVALID_PARAM;
    }

    return uct_short_status(ep->ops->am_short(ep, id, header, payload, length));
}

ucs_status_t uct_ep_am_short_iov(uct_ep_h ep, uint8_t id, const uct_iov_t *iov,
                                 size_t iovcnt)
{
    if (ucs_unlikely((id >= UCT_AM_ID_MAX) ||
                     !uct_short_iov_fits(iov, iovcnt, uct_ep_limits(ep)))) {
        return UCS_ERR_INVALID_PARAM;
    }

    return uct_short_status(ep->ops->am_short_iov(ep, id, iov, iovcnt));
}

/* Called after a send with UCT_SEND_FLAG_PEER_CHECK: checks whether the peer is
 * still alive. A lost peer is reported by the error handler, not by the status
 * of the send. The check is made after the send, because the send may open the
 * connection that is checked. It is also made if the send has failed: a lost
 * peer may be the reason why there are no send resources. */
static inline void uct_ep_peer_check(uct_ep_h ep, unsigned flags)
{
    if (ucs_unlikely(flags & UCT_SEND_FLAG_PEER_CHECK)) {
        (void)ep->ops->check(ep, 0, NULL);
    }
}

ssize_t uct_ep_am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                        void *arg, unsigned flags)
{
    ssize_t packed;

    if (ucs_unlikely((id >= UCT_AM_ID_MAX) || (pack_cb == NULL))) {
        return UCS_ERR_INVALID_PARAM;
    }

    packed = ep->ops->am_bcopy(ep, id, pack_cb, arg, flags);
    uct_ep_peer_check(ep, flags);
    return packed;
}

ucs_status_t uct_ep_am_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                             unsigned header_length, const uct_iov_t *iov,
                             size_t iovcnt, unsigned flags,
                             uct_completion_t *comp)
{
    const uct_iface_limits_t *limits = uct_ep_limits(ep);
    ucs_status_t status;

    if (ucs_unlikely((id >= UCT_AM_ID_MAX) ||
                     (header_length > limits->am_hdr) ||
                     ((header == NULL) && (header_length > 0)) ||
                     !uct_iov_fits(iov, iovcnt, header_length, limits->am_iov,
                                   limits->am_zcopy))) {
        return UCS_ERR_INVALID_PARAM;
    }

    status = ep->ops->am_zcopy(ep, id, header, header_length, iov, iovcnt,
                               flags, comp);
    uct_ep_peer_check(ep, flags);
    return status;
}

ucs_status_t uct_iface_set_am_handler(uct_iface_h iface, uint8_t id,
                                      uct_am_callback_t cb, void *arg,
                                      uint32_t flags)
{
    const uint64_t caps = uct_iface_state(iface)->attr.base.cap.flags;
    ucx_am_slot_t slot  = {.cb = cb, .arg = arg, .flags = flags};

    if (id >= UCT_AM_ID_MAX) {
        return UCS_ERR_INVALID_PARAM;
    }

    if (cb == NULL) {
        uct_iface_am_reset(iface, id);
        return UCS_OK;
    }

    if (!(caps & (UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY |
                  UCT_IFACE_FLAG_AM_ZCOPY))) {
        return UCS_ERR_UNSUPPORTED;
    }

    /* A handler without UCT_CB_FLAG_ASYNC may be called in progress only, which
     * UCT_IFACE_FLAG_CB_SYNC declares. A handler with that flag may be called
     * in any thread, also in progress. */
    if (!(flags & UCT_CB_FLAG_ASYNC) && !(caps & UCT_IFACE_FLAG_CB_SYNC)) {
        return UCS_ERR_UNSUPPORTED;
    }

    if (uct_checks != NULL) {
        uct_checks->am_handler(uct_iface_state(iface)->check.iface, id, &slot);
    }
    iface->am[id].arg   = slot.arg;
    iface->am[id].flags = slot.flags;
    iface->am[id].cb    = slot.cb;
    return UCS_OK;
}

ucs_status_t uct_iface_set_am_tracer(uct_iface_h iface, uct_am_tracer_t tracer,
                                     void *arg)
{
    return iface->ops->set_am_tracer(iface, tracer, arg);
}

void uct_iface_release_desc(void *desc)
{
    ucx_recv_desc_release(desc);
}

/* --- Remote memory ----------------------------------------------------- */

ucs_status_t uct_ep_put_short(uct_ep_h ep, const void *buffer, unsigned length,
                              uint64_t remote_addr, uct_rkey_t rkey)
{
    if (ucs_unlikely(length > uct_ep_limits(ep)->put_short)) {
        return UCS_ERR_INVALID_PARAM;
    }

    return uct_short_status(
        ep->ops->put_short(ep, buffer, length, remote_addr, rkey));
}

ssize_t uct_ep_put_bcopy(uct_ep_h ep, uct_pack_callback_t pack_cb, void *arg,
                         uint64_t remote_addr, uct_rkey_t rkey)
{
    if (ucs_unlikely(pack_cb == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    return ep->ops->put_bcopy(ep, pack_cb, arg, remote_addr, rkey);
}

ucs_status_t uct_ep_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    const uct_iface_limits_t *limits = uct_ep_limits(ep);

    if (ucs_unlikely(!uct_iov_fits(iov, iovcnt, 0, limits->put_iov,
                                   limits->put_zcopy))) {
        return UCS_ERR_INVALID_PARAM;
    }

    return ep->ops->put_zcopy(ep, iov, iovcnt, remote_addr, rkey, comp);
}

ucs_status_t uct_ep_get_short(uct_ep_h ep, void *buffer, unsigned length,
                              uint64_t remote_addr, uct_rkey_t rkey)
{
    if (ucs_unlikely(length > uct_ep_limits(ep)->get_short)) {
        return UCS_ERR_INVALID_PARAM;
    }

    return ep->ops->get_short(ep, buffer, length, remote_addr, rkey);
}

ucs_status_t uct_ep_get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack_cb,
                              void *arg, size_t length, uint64_t remote_addr,
                              uct_rkey_t rkey, uct_completion_t *comp)
{
    if (ucs_unlikely((unpack_cb == NULL) ||
                     (length > uct_ep_limits(ep)->get_bcopy))) {
        return UCS_ERR_INVALID_PARAM;
    }

    return ep->ops->get_bcopy(ep, unpack_cb, arg, length, remote_addr, rkey,
                              comp);
}

ucs_status_t uct_ep_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    const uct_iface_limits_t *limits = uct_ep_limits(ep);

    if (ucs_unlikely(!uct_iov_fits(iov, iovcnt, 0, limits->get_iov,
                                   limits->get_zcopy))) {
        return UCS_ERR_INVALID_PARAM;
    }

    return ep->ops->get_zcopy(ep, iov, iovcnt, remote_addr, rkey, comp);
}

/* --- Atomics ------------------------------------------------------------- */

ucs_status_t uct_ep_atomic_cswap64(uct_ep_h ep, uint64_t compare, uint64_t swap,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uint64_t *result, uct_completion_t *comp)
{
    return ep->ops->atomic_cswap64(ep, compare, swap, remote_addr, rkey, result,
                                   comp);
}

ucs_status_t uct_ep_atomic_cswap32(uct_ep_h ep, uint32_t compare, uint32_t swap,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uint32_t *result, uct_completion_t *comp)
{
    return ep->ops->atomic_cswap32(ep, compare, swap, remote_addr, rkey, result,
                                   comp);
}

ucs_status_t uct_ep_atomic32_post(uct_ep_h ep, uct_atomic_op_t opcode,
                                  uint32_t value, uint64_t remote_addr,
                                  uct_rkey_t rkey)
{
    return ep->ops->atomic32_post(ep, opcode, value, remote_addr, rkey);
}

ucs_status_t uct_ep_atomic64_post(uct_ep_h ep, uct_atomic_op_t opcode,
                                  uint64_t value, uint64_t remote_addr,
                                  uct_rkey_t rkey)
{
    return ep->ops->atomic64_post(ep, opcode, value, remote_addr, rkey);
}

ucs_status_t uct_ep_atomic32_fetch(uct_ep_h ep, uct_atomic_op_t opcode,
                                   uint32_t value, uint32_t *result,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uct_completion_t *comp)
{
    return ep->ops->atomic32_fetch(ep, opcode, value, result, remote_addr, rkey,
                                   comp);
}

ucs_status_t uct_ep_atomic64_fetch(uct_ep_h ep, uct_atomic_op_t opcode,
                                   uint64_t value, uint64_t *result,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uct_completion_t *comp)
{
    return ep->ops->atomic64_fetch(ep, opcode, value, result, remote_addr, rkey,
                                   comp);
}

/* --- Order, completion, waiting ------------------------------------------- */

ucs_status_t uct_ep_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                unsigned flags)
{
    if (ucs_unlikely((req == NULL) || (req->func == NULL))) {
        return UCS_ERR_INVALID_PARAM;
    }

    return ep->ops->pending_add(ep, req, flags);
}

void uct_ep_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                          void *arg)
{
    ep->ops->pending_purge(ep, cb, arg);
}

ucs_status_t uct_ep_flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp)
{
    ucs_status_t status = ep->ops->flush(ep, flags, comp);

    if (ucs_unlikely((flags & UCT_FLUSH_FLAG_CANCEL) &&
                     !UCS_STATUS_IS_ERR(status))) {
        uct_ep_set_cancelled(ep);
    }
    return status;
}

ucs_status_t uct_ep_fence(uct_ep_h ep, unsigned flags)
{
    return ep->ops->fence(ep, flags);
}

ucs_status_t uct_iface_flush(uct_iface_h iface, unsigned flags,
                             uct_completion_t *comp)
{
    if (ucs_unlikely(flags != UCT_FLUSH_FLAG_LOCAL)) {
        return UCS_ERR_UNSUPPORTED;
    }

    return iface->ops->flush(iface, flags, comp);
}

ucs_status_t uct_iface_fence(uct_iface_h iface, unsigned flags)
{
    return iface->ops->fence(iface, flags);
}

unsigned uct_iface_progress(uct_iface_h iface)
{
    return iface->ops->progress(iface);
}

void uct_iface_progress_enable(uct_iface_h iface, unsigned flags)
{
    iface->ops->progress_enable(iface, flags);
}

void uct_iface_progress_disable(uct_iface_h iface, unsigned flags)
{
    iface->ops->progress_disable(iface, flags);
}

ucs_status_t uct_iface_event_fd_get(uct_iface_h iface, int *fd_p)
{
    if (fd_p == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    return iface->ops->event_fd_get(iface, fd_p);
}

ucs_status_t uct_iface_event_arm(uct_iface_h iface, unsigned events)
{
    return iface->ops->event_arm(iface, events);
}
