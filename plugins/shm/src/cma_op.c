/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get, and the queue of operations with flush and cancellation. Short
 * operations are copied inside the call that posts them, up to a limit
 * (OP_INSIDE). Longer ones are split, so that no call and no round of progress
 * copies for long. The other process copies a part of them if it helps
 * (cma_share.c).
 *
 * The operations of a peer are in a queue, in order. Several may be in
 * progress, but none begins before an earlier fence is complete: an operation
 * waits until the head of the queue has the same epoch.
 */
#include "cma.h"

/* OP_SHORT: maximum bytes of a short operation, and of short ones that are
 * copied in one system call (cma_batch.c).
 * OP_INSIDE: bytes that put and get copy before they return, between two calls
 * of progress, and that one progress copies: once as many are copied, further
 * operations wait for the next progress. Otherwise a call of UCP's progress
 * that posts many gets would copy all of them; meanwhile this process would
 * send nothing, and its peers would wait. An operation also waits while short
 * ones are in the queue: these must not wait until nothing more is posted.
 * OP_STEP: maximum bytes of one part of a copy without a helper. */
#define OP_SHORT  (256ul * 1024)
#define OP_INSIDE (64ul * 1024)
#define OP_STEP   (512ul * 1024)

/* --- The queue ----------------------------------------------------------- */

static int op_is_short(const cma_op_t *op)
{
    return (op->kind != CMA_OP_FLUSH) && (op->length <= OP_SHORT);
}

static void op_queue(cma_peer_t *peer, cma_op_t *op)
{
    cma_iface_t *iface = peer->iface;

    peer->num_short += (uint32_t)op_is_short(op);
    op->next    = NULL;
    *peer->tail = op;
    peer->tail  = &op->next;
    if (!peer->is_busy) {
        peer->is_busy   = 1;
        peer->next_busy = iface->busy;
        iface->busy     = peer;
    }
}

/* Removes the operation *link from the queue. */
static void op_unlink(cma_peer_t *peer, cma_op_t **link)
{
    cma_op_t *op = *link;

    peer->num_short -= (uint32_t)op_is_short(op);
    *link = op->next;
    if (peer->tail == &op->next) {
        peer->tail = link;
    }
}

/* Adds a complete operation to iface->done; the next progress calls its
 * completion. */
static void op_done(cma_iface_t *iface, cma_op_t *op)
{
    op->next          = NULL;
    *iface->done_tail = op;
    iface->done_tail  = &op->next;
}

unsigned cma_ops_dispatch(cma_iface_t *iface)
{
    unsigned count = 0;
    uct_completion_t *comp;
    ucs_status_t status;
    cma_op_t *op;

    while ((op = iface->done) != NULL) {
        iface->done = op->next;
        if (iface->done == NULL) {
            iface->done_tail = &iface->done;
        }
        comp   = op->comp;
        status = op->status;
        ucx_mpool_put(iface->op_pool, op);
        ucx_complete(comp, status);
        ++count;
    }
    return count;
}

/* --- One operation ------------------------------------------------------- */

static void op_copy_alone(cma_peer_t *peer, cma_op_t *op)
{
    size_t length = shm_min(op->end - op->done, OP_STEP);
    size_t offset = op->from_end ? op->end - length : op->done;

    op->status = cma_copy(peer->pid, op->kind == CMA_OP_PUT, op->iov,
                          op->iovcnt, offset, op->remote + offset, length);
    if (op->status == UCS_ERR_CONNECTION_RESET) {
        cma_peer_lost(peer, op->status);
    }
    if (op->from_end) {
        op->end -= length;
    } else {
        op->done += length;
    }
    if ((op->status != UCS_OK) || (op->done == op->end)) {
        op->state = CMA_OP_OVER;
    }
}

static void op_finish_share(cma_peer_t *peer, cma_op_t *op)
{
    if (cma_share_finish(peer, op)) {
        op->state = ((op->status != UCS_OK) || (op->done == op->length)) ?
                        CMA_OP_OVER :
                        CMA_OP_WAITING;
    }
}

/* If the operation has a job of which this process copies nothing more, ends
 * the job unless the helper is still copying. */
static void op_look(cma_peer_t *peer, cma_op_t *op)
{
    if ((op->state == CMA_OP_SHARED) &&
        (op->is_ending ||
         (!cma_share_has_own(op) && (op->share.front == op->share.back)))) {
        op_finish_share(peer, op);
    }
}

/* Opens a job for an operation that waits, so that the helper can begin while
 * this process still copies earlier operations. Not if peer->unhelped shows
 * that the peer rarely helps. */
static void op_announce(cma_peer_t *peer, cma_op_t *op)
{
    if ((op->state == CMA_OP_WAITING) && (peer->unhelped == 0) &&
        cma_op_may_begin(peer, op) &&
        (cma_share_begin(peer, op) == CMA_BEGIN_SHARED)) {
        op->state = CMA_OP_SHARED;
    }
}

static int op_copy_first(cma_peer_t *peer, cma_op_t *op)
{
    if (!cma_op_may_begin(peer, op)) {
        return 0;
    }
    switch (cma_share_begin(peer, op)) {
    case CMA_BEGIN_SHARED:
        op->state = CMA_OP_SHARED;
        return cma_share_copy(peer, op);
    case CMA_BEGIN_ALONE:
        op->state = CMA_OP_ALONE;
        op_copy_alone(peer, op);
        return 1;
    default:
        return 0;
    }
}

/* Copies the next part of the operation. Returns zero if there is nothing to
 * copy now. */
static int op_copy(cma_peer_t *peer, cma_op_t *op)
{
    int copied = 0;

    switch (op->state) {
    case CMA_OP_WAITING:
        copied = op_copy_first(peer, op);
        break;
    case CMA_OP_ALONE:
        op_copy_alone(peer, op);
        copied = 1;
        break;
    case CMA_OP_SHARED:
        copied = !op->is_ending && cma_share_copy(peer, op);
        break;
    }
    op_look(peer, op);
    return copied;
}

/* Progresses one operation. If *budget, the number of bytes to copy, is not 0,
 * copies the next part of the operation and reduces *budget. Returns 1 if
 * something was copied, otherwise 0. */
static unsigned op_progress(cma_peer_t *peer, cma_op_t *op, size_t *budget)
{
    size_t batch;

    if (op->state == CMA_OP_OVER) {
        return 0; /* Copied together with an earlier one */
    }
    if (op->kind == CMA_OP_FLUSH) {
        op->state = (op == peer->head) ? CMA_OP_OVER : CMA_OP_WAITING;
        return 0;
    }
    batch = (*budget > 0) ? cma_batch_copy(peer, op, OP_SHORT) : 0;
    if (batch > 0) {
        *budget -= shm_min(*budget, batch);
        return 1;
    }
    if ((*budget > 0) && op_copy(peer, op)) {
        *budget -= shm_min(*budget, op_is_short(op) && !op->may_share ?
                                        op->length :
                                        OP_INSIDE);
        return 1;
    }
    op_announce(peer, op);
    op_look(peer, op);
    return 0;
}

/* Progresses the operations of a peer. Operations begin in order: none begins
 * before an earlier one that still waits. But all operations that have a job
 * are progressed, because a waiting operation may wait until one of these jobs
 * ends. */
static unsigned peer_progress(cma_peer_t *peer, size_t *budget)
{
    unsigned num_shared = (unsigned)__builtin_popcount(peer->jobs_used);
    cma_op_t **link     = &peer->head;
    unsigned count      = 0;
    int has_waiting     = 0;
    cma_op_t *op;

    while (((op = *link) != NULL) && (!has_waiting || (num_shared > 0))) {
        num_shared -= (op->state == CMA_OP_SHARED) && (num_shared > 0);
        if (!has_waiting || (op->state != CMA_OP_WAITING)) {
            count += op_progress(peer, op, budget);
        }
        if (op->state == CMA_OP_OVER) {
            op_unlink(peer, link);
            op_done(peer->iface, op);
            ++count;
            continue;
        }
        has_waiting |= (op->state == CMA_OP_WAITING) &&
                       (op->kind != CMA_OP_FLUSH);
        link = &op->next;
    }
    return count;
}

/* Copies at most one part of a long or shared operation, or short operations of
 * OP_INSIDE bytes or in one system call. After a call that has copied, the
 * first peer in the list moves to its end, so that the operations of all peers
 * advance. */
unsigned cma_ops_progress(cma_iface_t *iface)
{
    cma_peer_t *first = iface->busy, **link = &iface->busy;
    size_t budget  = OP_INSIDE;
    unsigned count = 0;
    cma_peer_t *peer;

    while ((peer = *link) != NULL) {
        if (peer->status != UCS_OK) {
            cma_ops_cancel(peer, NULL, peer->status);
        }
        count += peer_progress(peer, &budget);
        if (peer->head == NULL) {
            *link         = peer->next_busy;
            peer->is_busy = 0;
            cma_peer_put(peer);
        } else {
            link = &peer->next_busy;
        }
    }

    if ((budget < OP_INSIDE) && (iface->busy == first) &&
        (&first->next_busy != link)) {
        iface->busy      = first->next_busy;
        first->next_busy = NULL;
        *link            = first;
    }
    return count;
}

/* --- Beginning ----------------------------------------------------------- */

/* Converts the user's vector, and merges entries that are contiguous in
 * memory. */
static ucs_status_t fill_iov(const uct_iov_t *iov, size_t iovcnt,
                             struct iovec *pieces, unsigned *count_p,
                             size_t *length_p)
{
    unsigned count = 0;
    size_t length  = 0;
    char *buffer;

    for (size_t i = 0; i < iovcnt; ++i) {
        for (unsigned j = 0; (j < iov[i].count) && (iov[i].length > 0); ++j) {
            buffer = (char *)iov[i].buffer + j * iov[i].stride;
            if (iov[i].length > (size_t)SSIZE_MAX - length) {
                return UCS_ERR_INVALID_PARAM;
            }
            length += iov[i].length;
            if ((count > 0) && ((char *)pieces[count - 1].iov_base +
                                    pieces[count - 1].iov_len ==
                                buffer)) {
                pieces[count - 1].iov_len += iov[i].length;
                continue;
            }
            if (count == CMA_MAX_IOV) {
                return UCS_ERR_INVALID_PARAM;
            }
            pieces[count].iov_base  = buffer;
            pieces[count++].iov_len = iov[i].length;
        }
    }
    *count_p  = count;
    *length_p = length;
    return UCS_OK;
}

/* Checks that the key belongs to this peer, and that the range is inside the
 * key's memory. */
static ucs_status_t check_key(const cma_peer_t *peer, uct_rkey_t rkey,
                              uint64_t remote, size_t length)
{
    const cma_region_t *key = (const cma_region_t *)rkey;

    if (cma_rkey_is_process(rkey)) {
        return (rkey == cma_process_rkey((uint32_t)peer->token)) ?
                   UCS_OK :
                   UCS_ERR_INVALID_PARAM;
    }
    if (key->token != (uint32_t)peer->token) {
        return UCS_ERR_INVALID_PARAM;
    }
    if ((remote < key->address) || (length > key->length) ||
        (remote - key->address > key->length - length)) {
        return UCS_ERR_INVALID_ADDR;
    }
    return UCS_OK;
}

static ucs_status_t copy_inside(cma_peer_t *peer, int is_put,
                                const struct iovec *iov, unsigned iovcnt,
                                uint64_t remote, size_t length)
{
    ucs_status_t status;

    status = cma_copy(peer->pid, is_put, iov, iovcnt, 0, remote, length);
    if (shm_unlikely(status == UCS_ERR_CONNECTION_RESET)) {
        cma_peer_lost(peer, status);
    }
    return status;
}

/* Returns whether put or get copies `length` bytes before it returns. */
static int is_copied_inside(const cma_peer_t *peer, size_t length)
{
    return (length + peer->iface->inside <= OP_INSIDE) &&
           (peer->num_short == 0) &&
           ((peer->head == NULL) || (peer->head->epoch == peer->epoch));
}

static ucs_status_t op_start(uct_ep_h uct_ep, int is_put, const uct_iov_t *iov,
                             size_t iovcnt, uint64_t remote, uct_rkey_t rkey,
                             uct_completion_t *comp)
{
    cma_ep_t *ep       = cma_ep(uct_ep);
    cma_peer_t *peer   = ep->peer;
    cma_iface_t *iface = peer->iface;
    struct iovec pieces[CMA_MAX_IOV];
    ucs_status_t status;
    unsigned count;
    cma_op_t *op, *last;
    size_t length;
    int is_good;

    if (shm_unlikely(ep->status != UCS_OK)) {
        return ep->status;
    }
    status = fill_iov(iov, iovcnt, pieces, &count, &length);
    if ((status != UCS_OK) || (length == 0)) {
        return status;
    }
    status = check_key(peer, rkey, remote, length);
    if (status == UCS_OK) {
        status = cma_peer_look(peer);
    }
    if (status != UCS_OK) {
        return status;
    }

    is_good = (count == 1) && cma_share_is_good(peer, length);
    if (!is_good && is_copied_inside(peer, length)) {
        iface->inside += length;
        return copy_inside(peer, is_put, pieces, count, remote, length);
    }

    op = ucx_mpool_get(iface->host, iface->op_pool);
    if (op == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    op->ep        = ep;
    op->comp      = comp;
    op->kind      = is_put ? CMA_OP_PUT : CMA_OP_GET;
    op->state     = CMA_OP_WAITING;
    op->is_ending = 0;
    op->may_share = (uint8_t)is_good;
    op->ending_at = 0;
    op->epoch     = peer->epoch;
    op->status    = UCS_OK;
    op->remote    = remote;
    op->length    = length;
    op->done      = 0;
    op->end       = length;
    op->iovcnt    = count;
    memcpy(op->iov, pieces, count * sizeof(*pieces));
    op->from_end = (length > OP_STEP) && cma_copies_from_end(peer, op);
    last = (peer->head != NULL) ? shm_container_of(peer->tail, cma_op_t, next) :
                                  NULL;
    op_queue(peer, op);

    if (last != NULL) {
        if (last->state != CMA_OP_WAITING) {
            op_announce(peer, op);
        }
        return UCS_INPROGRESS;
    }
    if (!is_good && (iface->inside > 0)) {
        return UCS_INPROGRESS;
    }
    iface->inside = OP_INSIDE;
    op_copy(peer, op);
    if (op->state != CMA_OP_OVER) {
        return UCS_INPROGRESS;
    }
    status = op->status;
    op_unlink(peer, &peer->head);
    ucx_mpool_put(iface->op_pool, op);
    return status;
}

ucs_status_t cma_ep_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    return op_start(ep, 1, iov, iovcnt, remote_addr, rkey, comp);
}

ucs_status_t cma_ep_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    return op_start(ep, 0, iov, iovcnt, remote_addr, rkey, comp);
}

/* --- Ending -------------------------------------------------------------- */

/* An operation that has a job completes later: cma_share_finish() first claims
 * all free chunks, and waits until the helper has finished the chunks that the
 * helper has claimed. */
int cma_ops_cancel(cma_peer_t *peer, const cma_ep_t *ep, ucs_status_t status)
{
    cma_op_t **link = &peer->head, *op;
    int found       = 0;

    while ((op = *link) != NULL) {
        if (((ep != NULL) && (op->ep != ep)) ||
            ((op->state == CMA_OP_SHARED) && op->is_ending)) {
            link = &op->next;
            continue;
        }
        found = 1;
        if (op->status == UCS_OK) {
            op->status = status;
        }
        if (op->state == CMA_OP_SHARED) {
            op->is_ending = 1;
            link          = &op->next;
        } else {
            op_unlink(peer, link);
            op_done(peer->iface, op);
        }
    }
    return found;
}

void cma_ops_forget(cma_peer_t *peer, const cma_ep_t *ep)
{
    for (cma_op_t *op = peer->head; op != NULL; op = op->next) {
        if (op->ep == ep) {
            op->ep = NULL;
        }
    }
}

ucs_status_t cma_ops_flush(cma_iface_t *iface, cma_peer_t *peer, cma_ep_t *ep,
                           uct_completion_t *comp)
{
    cma_op_t *op = ucx_mpool_get(iface->host, iface->op_pool);

    if (op == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    op->ep     = ep;
    op->comp   = comp;
    op->kind   = CMA_OP_FLUSH;
    op->state  = CMA_OP_WAITING;
    op->status = UCS_OK;
    if ((peer == NULL) || (peer->head == NULL)) {
        op_done(iface, op);
    } else {
        op->epoch = peer->epoch;
        op_queue(peer, op);
    }
    return UCS_OK;
}
