/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints: an operation first calls gate(), which may inject a fault, and
 * then the wrapped endpoint. Cancelling, checking and invalidating an endpoint
 * do not call gate().
 */
#include "faults.h"

#include <stdlib.h>

/* ------------------------------------------------------------- the gate -- */

void faults_ep_break(faults_ep_t *ep, ucs_status_t status)
{
    faults_iface_t *iface = faults_ep_iface(ep);

    if (ep->status != UCS_OK) {
        return;
    }
    ep->status = status;
    LIST_REMOVE(ep, link);
    LIST_INSERT_HEAD(&iface->broken, ep, link);
    faults_ops_end(ep, status);
    (void)faults_inner_ops(ep)->flush(ep->inner, UCT_FLUSH_FLAG_CANCEL, NULL);
}

/* Decides whether an operation may continue (UCS_OK). Otherwise returns an
 * injected error, or the failure of the endpoint. */
static ucs_status_t gate(faults_ep_t *ep)
{
    faults_iface_t *iface = faults_ep_iface(ep);

    if (ep->lost != UCS_OK) {
        faults_ep_break(ep, ep->lost);
    } else if ((ep->left > 0) && (--ep->left == 0)) {
        faults_ep_break(ep, UCS_ERR_ENDPOINT_TIMEOUT);
    }
    if (ep->status != UCS_OK) {
        return ep->status;
    }
    if (faults_chance(iface, iface->config.no_resource)) {
        ep->starved = 1;
        return UCS_ERR_NO_RESOURCE;
    }
    return UCS_OK;
}

/* Handles the status that the wrapped endpoint has returned. An error of an
 * endpoint whose peer is lost makes the loss visible to the user. Returns the
 * status. */
static ucs_status_t passed(faults_ep_t *ep, ucs_status_t status)
{
    ep->starved = 0;
    if ((ep->lost != UCS_OK) && UCS_STATUS_IS_ERR(status)) {
        faults_ep_break(ep, ep->lost);
    }
    return status;
}

/* Body of an operation without a completion: calls gate() and the wrapped
 * endpoint. */
#define PASS(_ep, _call) \
    faults_ep_t *ep     = faults_ep(_ep); \
    ucs_status_t status = gate(ep); \
\
    return (status == UCS_OK) ? passed(ep, faults_inner_ops(ep)->_call) : status

/* Body of an operation that returns a number of bytes or an error. */
#define PASS_BYTES(_ep, _call) \
    faults_ep_t *ep     = faults_ep(_ep); \
    ucs_status_t status = gate(ep); \
    ssize_t bytes; \
\
    if (status != UCS_OK) { \
        return status; \
    } \
    bytes = faults_inner_ops(ep)->_call; \
    (void)passed(ep, (bytes < 0) ? (ucs_status_t)bytes : UCS_OK); \
    return bytes

/* Body of an operation with the completion `_user`, instead of which `_call`
 * passes `op->comp` to the wrapped endpoint. */
#define PASS_OP(_ep, _user, _call) \
    faults_ep_t *ep     = faults_ep(_ep); \
    ucs_status_t status = gate(ep); \
    faults_op_t *op; \
\
    if (status != UCS_OK) { \
        return status; \
    } \
    op = faults_op_begin(faults_ep_iface(ep), ep, _user); \
    if (op == NULL) { \
        return UCS_ERR_NO_MEMORY; \
    } \
    status = faults_inner_ops(ep)->_call; \
    return passed(ep, faults_op_end(op, status))

/* ------------------------------------------------------------- messages -- */

static ucs_status_t am_short(uct_ep_h uct_ep, uint8_t id, uint64_t header,
                             const void *payload, unsigned length)
{
    PASS(uct_ep, am_short(ep->inner, id, header, payload, length));
}

static ucs_status_t am_short_iov(uct_ep_h uct_ep, uint8_t id,
                                 const uct_iov_t *iov, size_t iovcnt)
{
    PASS(uct_ep, am_short_iov(ep->inner, id, iov, iovcnt));
}

static ssize_t am_bcopy(uct_ep_h uct_ep, uint8_t id,
                        uct_pack_callback_t pack_cb, void *arg, unsigned flags)
{
    PASS_BYTES(uct_ep, am_bcopy(ep->inner, id, pack_cb, arg, flags));
}

static ucs_status_t am_zcopy(uct_ep_h uct_ep, uint8_t id, const void *header,
                             unsigned header_length, const uct_iov_t *iov,
                             size_t iovcnt, unsigned flags,
                             uct_completion_t *comp)
{
    PASS_OP(uct_ep, comp,
            am_zcopy(ep->inner, id, header, header_length, iov, iovcnt, flags,
                     &op->comp));
}

/* -------------------------------------------------------- remote memory -- */

static ucs_status_t put_short(uct_ep_h uct_ep, const void *buffer,
                              unsigned length, uint64_t remote_addr,
                              uct_rkey_t rkey)
{
    PASS(uct_ep, put_short(ep->inner, buffer, length, remote_addr, rkey));
}

static ssize_t put_bcopy(uct_ep_h uct_ep, uct_pack_callback_t pack_cb,
                         void *arg, uint64_t remote_addr, uct_rkey_t rkey)
{
    PASS_BYTES(uct_ep, put_bcopy(ep->inner, pack_cb, arg, remote_addr, rkey));
}

static ucs_status_t put_zcopy(uct_ep_h uct_ep, const uct_iov_t *iov,
                              size_t iovcnt, uint64_t remote_addr,
                              uct_rkey_t rkey, uct_completion_t *comp)
{
    PASS_OP(uct_ep, comp,
            put_zcopy(ep->inner, iov, iovcnt, remote_addr, rkey, &op->comp));
}

static ucs_status_t get_short(uct_ep_h uct_ep, void *buffer, unsigned length,
                              uint64_t remote_addr, uct_rkey_t rkey)
{
    PASS(uct_ep, get_short(ep->inner, buffer, length, remote_addr, rkey));
}

static ucs_status_t get_bcopy(uct_ep_h uct_ep, uct_unpack_callback_t unpack_cb,
                              void *arg, size_t length, uint64_t remote_addr,
                              uct_rkey_t rkey, uct_completion_t *comp)
{
    PASS_OP(uct_ep, comp,
            get_bcopy(ep->inner, unpack_cb, arg, length, remote_addr, rkey,
                      &op->comp));
}

static ucs_status_t get_zcopy(uct_ep_h uct_ep, const uct_iov_t *iov,
                              size_t iovcnt, uint64_t remote_addr,
                              uct_rkey_t rkey, uct_completion_t *comp)
{
    PASS_OP(uct_ep, comp,
            get_zcopy(ep->inner, iov, iovcnt, remote_addr, rkey, &op->comp));
}

/* -------------------------------------------------------------- atomics -- */

static ucs_status_t atomic32_post(uct_ep_h uct_ep, uct_atomic_op_t what,
                                  uint32_t value, uint64_t remote_addr,
                                  uct_rkey_t rkey)
{
    PASS(uct_ep, atomic32_post(ep->inner, what, value, remote_addr, rkey));
}

static ucs_status_t atomic64_post(uct_ep_h uct_ep, uct_atomic_op_t what,
                                  uint64_t value, uint64_t remote_addr,
                                  uct_rkey_t rkey)
{
    PASS(uct_ep, atomic64_post(ep->inner, what, value, remote_addr, rkey));
}

static ucs_status_t atomic32_fetch(uct_ep_h uct_ep, uct_atomic_op_t what,
                                   uint32_t value, uint32_t *result,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uct_completion_t *comp)
{
    PASS_OP(uct_ep, comp,
            atomic32_fetch(ep->inner, what, value, result, remote_addr, rkey,
                           &op->comp));
}

static ucs_status_t atomic64_fetch(uct_ep_h uct_ep, uct_atomic_op_t what,
                                   uint64_t value, uint64_t *result,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uct_completion_t *comp)
{
    PASS_OP(uct_ep, comp,
            atomic64_fetch(ep->inner, what, value, result, remote_addr, rkey,
                           &op->comp));
}

static ucs_status_t atomic_cswap32(uct_ep_h uct_ep, uint32_t compare,
                                   uint32_t swap, uint64_t remote_addr,
                                   uct_rkey_t rkey, uint32_t *result,
                                   uct_completion_t *comp)
{
    PASS_OP(uct_ep, comp,
            atomic_cswap32(ep->inner, compare, swap, remote_addr, rkey, result,
                           &op->comp));
}

static ucs_status_t atomic_cswap64(uct_ep_h uct_ep, uint64_t compare,
                                   uint64_t swap, uint64_t remote_addr,
                                   uct_rkey_t rkey, uint64_t *result,
                                   uct_completion_t *comp)
{
    PASS_OP(uct_ep, comp,
            atomic_cswap64(ep->inner, compare, swap, remote_addr, rkey, result,
                           &op->comp));
}

/* ---------------------------------------------------------------- order -- */

/* Cancels the operations of an endpoint. The user's completions are called when
 * the wrapped transport has completed the operations: until then it may use
 * their buffers. Does not call gate(): no fault is injected. */
static ucs_status_t cancel(faults_ep_t *ep, uct_completion_t *comp)
{
    const ucx_ep_ops_t *ops = faults_inner_ops(ep);
    ucs_status_t status;
    faults_op_t *op;

    faults_ops_end(ep, UCS_ERR_CANCELED);
    if (comp == NULL) {
        status = ops->flush(ep->inner, UCT_FLUSH_FLAG_CANCEL, NULL);
        return ((status == UCS_OK) && faults_ops_exist(ep)) ? UCS_INPROGRESS :
                                                              status;
    }
    op = faults_op_begin(faults_ep_iface(ep), ep, comp);
    if (op == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    op->flush = 1;
    return faults_op_end(op, ops->flush(ep->inner, UCT_FLUSH_FLAG_CANCEL,
                                        &op->comp));
}

static ucs_status_t ep_flush(uct_ep_h uct_ep, unsigned flags,
                             uct_completion_t *comp)
{
    faults_ep_t *ep = faults_ep(uct_ep);
    ucs_status_t status;
    faults_op_t *op;

    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        return cancel(ep, comp);
    }

    status = gate(ep);
    if (status != UCS_OK) {
        return status;
    }
    op = faults_op_begin(faults_ep_iface(ep), ep, comp);
    if (op == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    op->flush = 1;
    status    = faults_inner_ops(ep)->flush(ep->inner, flags, &op->comp);
    return passed(ep, faults_op_end(op, status));
}

static ucs_status_t ep_fence(uct_ep_h uct_ep, unsigned flags)
{
    PASS(uct_ep, fence(ep->inner, flags));
}

/* ----------------------------------------------------------------- life -- */

ucs_status_t faults_ep_create(uct_iface_h uct_iface,
                              const uct_ep_params_t *params, uct_ep_h *ep_p)
{
    faults_iface_t *iface        = faults_iface(uct_iface);
    uct_ep_params_t inner_params = *params;
    faults_ep_t *ep              = calloc(1, sizeof(*ep));
    ucs_status_t status;

    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    inner_params.iface = iface->inner;
    status = iface->instance->inner_iface_ops.ep_create(iface->inner,
                                                        &inner_params,
                                                        &ep->inner);
    if (status != UCS_OK) {
        free(ep);
        return status;
    }

    ucx_ep_init(&ep->super, uct_iface);
    ucx_pending_init(&ep->pending);
    ep->status = UCS_OK;
    ep->lost   = UCS_OK;
    if (iface->config.ep_failure > 0) {
        ep->left = 1 + (unsigned)((faults_draw(iface) >> 16) %
                                  (2 * (uint64_t)iface->config.ep_failure));
    }
    LIST_INSERT_HEAD(&iface->eps, ep, link);
    *ep_p = &ep->super;
    return UCS_OK;
}

static void ep_destroy(uct_ep_h uct_ep)
{
    faults_ep_t *ep       = faults_ep(uct_ep);
    faults_iface_t *iface = faults_ep_iface(ep);

    if (iface->dispatching == ep) {
        iface->dispatching = NULL;
    }
    faults_pending_forget(ep);
    faults_ops_forget_ep(ep);
    LIST_REMOVE(ep, link);
    faults_inner_ops(ep)->destroy(ep->inner);
    free(ep);
}

static ucs_status_t ep_check(uct_ep_h uct_ep, unsigned flags,
                             uct_completion_t *comp)
{
    faults_ep_t *ep = faults_ep(uct_ep);

    if (ep->lost != UCS_OK) {
        faults_ep_break(ep, ep->lost);
        return UCS_OK;
    }
    return (ep->status != UCS_OK) ?
               UCS_OK :
               faults_inner_ops(ep)->check(ep->inner, flags, comp);
}

static ucs_status_t ep_invalidate(uct_ep_h uct_ep, unsigned flags)
{
    faults_ep_break(faults_ep(uct_ep), UCS_ERR_CONNECTION_RESET);
    return UCS_OK;
}

static int ep_is_connected(uct_ep_h uct_ep, const uct_device_addr_t *dev_addr,
                           const uct_iface_addr_t *iface_addr,
                           const uct_ep_addr_t *ep_addr)
{
    faults_ep_t *ep = faults_ep(uct_ep);

    return faults_inner_ops(ep)->is_connected(ep->inner, dev_addr, iface_addr,
                                              ep_addr);
}

static ucs_status_t ep_query_sockaddrs(uct_ep_h uct_ep,
                                       struct sockaddr_storage *local,
                                       struct sockaddr_storage *remote)
{
    faults_ep_t *ep = faults_ep(uct_ep);

    return faults_inner_ops(ep)->query_sockaddrs(ep->inner, local, remote);
}

void faults_ep_ops_fill(ucx_ep_ops_t *ops, const ucx_ep_ops_t *inner)
{
    static const ucx_ep_ops_t all = {
        .am_short        = am_short,
        .am_bcopy        = am_bcopy,
        .am_zcopy        = am_zcopy,
        .am_short_iov    = am_short_iov,
        .put_short       = put_short,
        .put_bcopy       = put_bcopy,
        .put_zcopy       = put_zcopy,
        .get_short       = get_short,
        .get_bcopy       = get_bcopy,
        .get_zcopy       = get_zcopy,
        .fence           = ep_fence,
        .atomic32_post   = atomic32_post,
        .atomic64_post   = atomic64_post,
        .atomic32_fetch  = atomic32_fetch,
        .atomic64_fetch  = atomic64_fetch,
        .atomic_cswap32  = atomic_cswap32,
        .atomic_cswap64  = atomic_cswap64,
        .check           = ep_check,
        .is_connected    = ep_is_connected,
        .query_sockaddrs = ep_query_sockaddrs,
    };

#define SET(_slot) ops->_slot = (inner->_slot == NULL) ? NULL : all._slot
    SET(am_short);
    SET(am_bcopy);
    SET(am_zcopy);
    SET(am_short_iov);
    SET(put_short);
    SET(put_bcopy);
    SET(put_zcopy);
    SET(get_short);
    SET(get_bcopy);
    SET(get_zcopy);
    SET(fence);
    SET(atomic32_post);
    SET(atomic64_post);
    SET(atomic32_fetch);
    SET(atomic64_fetch);
    SET(atomic_cswap32);
    SET(atomic_cswap64);
    SET(check);
    SET(is_connected);
    SET(query_sockaddrs);
#undef SET
    ops->size          = sizeof(*ops);
    /* wrap.c rejects a transport without a flush */
    ops->flush         = ep_flush;
    ops->pending_add   = faults_pending_add;
    ops->pending_purge = faults_pending_purge;
    ops->destroy       = ep_destroy;
    ops->invalidate    = ep_invalidate;
}
