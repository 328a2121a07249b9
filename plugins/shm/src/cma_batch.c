/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies several short operations in one system call. A call takes 0.4 to 1.3
 * microseconds before it copies: the kernel finds the process and checks the
 * permission.
 */
#include "cma.h"

typedef struct batch {
    cma_op_t *ops[CMA_MAX_IOV];
    struct iovec local[CMA_MAX_IOV], remote[CMA_MAX_IOV];
    unsigned num_ops, num_local;
    size_t length;
} batch_t;

static int is_for_batch(const cma_peer_t *peer, const cma_op_t *op)
{
    return (op->kind != CMA_OP_FLUSH) && (op->state == CMA_OP_WAITING) &&
           !op->may_share && (op->done == 0) && cma_op_may_begin(peer, op);
}

static void batch_add(batch_t *batch, cma_op_t *op)
{
    for (unsigned i = 0; i < op->iovcnt; ++i) {
        batch->local[batch->num_local++] = op->iov[i];
    }
    batch->remote[batch->num_ops] = (struct iovec){
        .iov_base = (void *)(uintptr_t)op->remote,
        .iov_len  = op->length,
    };
    batch->ops[batch->num_ops++] = op;
    batch->length += op->length;
}

size_t cma_batch_copy(cma_peer_t *peer, cma_op_t *first, size_t max)
{
    batch_t batch;
    cma_op_t *op;

    batch.num_ops = batch.num_local = 0;
    batch.length                    = 0;
    for (op = first;
         (op != NULL) && is_for_batch(peer, op) && (op->kind == first->kind) &&
         (op->length <= max - batch.length) &&
         (op->iovcnt <= CMA_MAX_IOV - batch.num_local);
         op = op->next) {
        batch_add(&batch, op);
    }
    if ((batch.num_ops < 2) ||
        !cma_copy_pieces(peer->pid, first->kind == CMA_OP_PUT, batch.local,
                         batch.num_local, batch.remote, batch.num_ops,
                         batch.length)) {
        return 0;
    }
    for (unsigned i = 0; i < batch.num_ops; ++i) {
        batch.ops[i]->done  = batch.ops[i]->length;
        batch.ops[i]->state = CMA_OP_OVER;
    }
    return batch.length;
}
