/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get without an intermediate copy: the kernel copies from the memory
 * of one process to that of the other. Posting an operation only queues it,
 * because a long copy would block the caller; progress copies the data in
 * parts. A device would copy by itself, and report the completion in a queue.
 */
#include "procvm.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

/* Limits for one call of progress: bytes to copy, which take about 50 us, and
 * number of operations to complete. */
enum { PART = 256 * 1024, MAX_ENDS = 64 };

static procvm_op_t *queue(procvm_iface_t *iface, procvm_ep_t *ep,
                          uct_completion_t *comp)
{
    procvm_op_t *op = calloc(1, sizeof(*op));

    if (op != NULL) {
        op->ep           = ep;
        op->comp         = comp;
        *iface->ops_tail = op;
        iface->ops_tail  = &op->next;
    }
    return op;
}

static ucs_status_t start(uct_ep_h super, const uct_iov_t *iov, size_t iovcnt,
                          uint64_t address, uct_rkey_t rkey, int is_put,
                          uct_completion_t *comp)
{
    procvm_ep_t *ep         = (procvm_ep_t *)super;
    const procvm_key_t *key = (const procvm_key_t *)rkey;
    size_t length           = 0, i;
    procvm_op_t *op;

    if (ep->status != UCS_OK) {
        return ep->status;
    }
    for (i = 0; i < iovcnt; ++i) {
        length += iov[i].length * iov[i].count;
    }
    if ((address < key->address) || (length > key->length) ||
        (address - key->address > key->length - length)) {
        return UCS_ERR_INVALID_ADDR;
    }
    if (length == 0) {
        return UCS_OK;
    }
    op = queue((procvm_iface_t *)ep->super.iface, ep, comp);
    if (op == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    memcpy(op->iov, iov, iovcnt * sizeof(*iov));
    op->iovcnt  = iovcnt;
    op->address = address;
    op->is_put  = is_put;
    op->key     = *key;
    return UCS_INPROGRESS;
}

ucs_status_t procvm_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t address, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    return start(ep, iov, iovcnt, address, rkey, 1, comp);
}

ucs_status_t procvm_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t address, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    return start(ep, iov, iovcnt, address, rkey, 0, comp);
}

/* --------------------------------------------------------------- copies -- */

static int is_copied(const procvm_op_t *op)
{
    return op->index == op->iovcnt;
}

/* Returns the next bytes to copy, at most `max`, that are contiguous in local
 * memory. */
static struct iovec next_bytes(const procvm_op_t *op, size_t max)
{
    const uct_iov_t *iov = &op->iov[op->index];
    size_t left          = iov->length - op->offset;

    return (struct iovec){(char *)iov->buffer + op->block * iov->stride +
                              op->offset,
                          (left < max) ? left : max};
}

static void advance(procvm_op_t *op, size_t length)
{
    op->address += length;
    op->offset += length;
    while (!is_copied(op) && (op->offset == op->iov[op->index].length)) {
        op->offset = 0;
        if (++op->block >= op->iov[op->index].count) {
            op->block = 0;
            ++op->index;
        }
    }
}

static ucs_status_t status_of(int error)
{
    return (error == EFAULT) ? UCS_ERR_INVALID_ADDR :
           (error == ENOMEM) ? UCS_ERR_NO_MEMORY :
                               UCS_ERR_CONNECTION_RESET;
}

/* Copies a part of an operation. Before each part, checks that the peer's
 * memory is still registered, which fails as well if the peer has exited and
 * its process id belongs to another process. */
static void copy_part(procvm_op_t *op)
{
    size_t left = PART;
    struct iovec local, remote;
    ssize_t done;

    if (!procvm_is_registered(&op->ep->peer, &op->key)) {
        op->status = procvm_is_process(&op->ep->peer) ?
                         UCS_ERR_INVALID_ADDR :
                         UCS_ERR_CONNECTION_RESET;
        return;
    }
    advance(op, 0); /* The first entry may be empty */
    while ((left > 0) && !is_copied(op)) {
        local  = next_bytes(op, left);
        remote = (struct iovec){(void *)(uintptr_t)op->address, local.iov_len};
        done   = op->is_put ? process_vm_writev((pid_t)op->ep->peer.pid, &local,
                                                1, &remote, 1, 0) :
                              process_vm_readv((pid_t)op->ep->peer.pid, &local, 1,
                                               &remote, 1, 0);
        if (done <= 0) {
            op->status = status_of(errno);
            return;
        }
        advance(op, (size_t)done);
        left -= (size_t)done;
    }
}

/* ------------------------------------------------------------ completion -- */

/* Completes the first operation. The operation is removed from the queue before
 * its completion is called, because the callback may start or cancel
 * operations. */
static void end_first(procvm_iface_t *iface)
{
    procvm_op_t *op        = iface->ops;
    uct_completion_t *comp = op->comp;
    ucs_status_t status    = op->status;

    iface->ops = op->next;
    if (iface->ops == NULL) {
        iface->ops_tail = &iface->ops;
    }
    free(op);
    ucx_complete(comp, status);
}

unsigned procvm_ops_progress(procvm_iface_t *iface)
{
    unsigned count = 0;
    procvm_op_t *op;

    op = iface->ops;
    if ((op != NULL) && (op->status == UCS_OK) && !is_copied(op)) {
        copy_part(op);
        ++count;
    }
    while ((count < MAX_ENDS) && ((op = iface->ops) != NULL) &&
           ((op->status != UCS_OK) || is_copied(op))) {
        end_first(iface);
        ++count;
    }
    return count;
}

void procvm_ops_fail(procvm_ep_t *ep, ucs_status_t status)
{
    procvm_iface_t *iface = (procvm_iface_t *)ep->super.iface;
    procvm_op_t *op;

    for (op = iface->ops; op != NULL; op = op->next) {
        if ((op->ep == ep) && (op->status == UCS_OK)) {
            op->status = status;
        }
    }
}

void procvm_ops_forget(procvm_ep_t *ep)
{
    procvm_iface_t *iface = (procvm_iface_t *)ep->super.iface;
    procvm_op_t *op;

    for (op = iface->ops; op != NULL; op = op->next) {
        if (op->ep == ep) {
            op->ep = NULL;
            if (!op->must_end) {
                op->comp = NULL;
            }
            if ((op->status == UCS_OK) && !is_copied(op)) {
                op->status = UCS_ERR_CANCELED;
            }
        }
    }
}

/* Cancels the operations of the endpoint, which progress completes without
 * copying, and queues a flush that completes after them. */
static ucs_status_t cancel(procvm_ep_t *ep, uct_completion_t *comp)
{
    procvm_iface_t *iface = (procvm_iface_t *)ep->super.iface;
    procvm_op_t *op       = queue(iface, ep, comp);

    if (op == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    procvm_ops_fail(ep, UCS_ERR_CANCELED);
    op->status = UCS_OK;
    for (op = iface->ops; op != NULL; op = op->next) {
        op->must_end |= (op->ep == ep);
    }
    return UCS_INPROGRESS;
}

/* See procvm.h. A flush waits only for puts and gets: messages are in the
 * kernel, which delivers them even if this process exits. */
ucs_status_t procvm_flush(procvm_iface_t *iface, procvm_ep_t *ep,
                          unsigned flags, uct_completion_t *comp)
{
    const procvm_op_t *op;

    for (op = iface->ops; op != NULL; op = op->next) {
        if ((ep == NULL) || (op->ep == ep)) {
            break;
        }
    }
    if (op == NULL) {
        return UCS_OK;
    }
    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        return cancel(ep, comp);
    }
    if (comp == NULL) {
        return UCS_INPROGRESS;
    }
    return (queue(iface, ep, comp) == NULL) ? UCS_ERR_NO_MEMORY :
                                              UCS_INPROGRESS;
}
