/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The direction of a long copy that this process makes alone, in parts: from
 * the beginning of the data, or from its end. If the same memory is copied
 * again, the direction is reversed, because the part that was copied last is
 * still in the caches. In one direction, each part of data larger than a cache
 * would have left it when its turn comes.
 */
#include "cma.h"
#include "speed.h"

/* Data of at most this many times the private cache of a core is copied in
 * alternating directions. Of larger data, what is in the cache makes no
 * difference. */
enum { MAX_CACHES = 4 };

int cma_copies_from_end(cma_peer_t *peer, const cma_op_t *op)
{
    cma_direction_t *last = &peer->direction;
    int again = (op->remote == last->remote) && (op->length == last->length) &&
                (op->iov[0].iov_base == last->local);

    *last = (cma_direction_t){
        .remote   = op->remote,
        .local    = op->iov[0].iov_base,
        .length   = op->length,
        .from_end = again && !last->from_end &&
                    (op->length <= MAX_CACHES * shm_private_cache()),
    };
    return last->from_end;
}
