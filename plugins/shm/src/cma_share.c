/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The initiator's side of shared copies: offers them to the peer, copies the
 * first chunks, ends the job. For the protocol and why it is correct see
 * cma_job.h.
 *
 * An offer is a message that asks the peer to help. It costs time. Peers that
 * do not poll (they compute, or wait for something else) get offers less and
 * less often, so that copies to them are as fast as without offers. When a peer
 * helps again, it soon gets all offers.
 *
 * A helper may be descheduled while it copies a chunk, and the initiator has to
 * wait for it. On an oversubscribed host that is frequent. A peer that caused a
 * delay much longer than copying a chunk takes gets no offers for a multiple of
 * the delay.
 */
#include "cma.h"
#include "speed.h"

#include <stdio.h>
#include <stdlib.h>

/* Copies of at least this many bytes are offered even if offers are to be
 * skipped (peer->skip), because the cost of an offer is negligible for them. */
#define SHARE_ALWAYS (1024ul * 1024)
/* Bytes that are claimed and copied at a time while the helper has claimed
 * nothing: the same number as in a copy without a job (OP_STEP in cma_op.c). */
#define SHARE_ALONE (512ul * 1024)
#define SHARE_PAGE  4096ul
/* Copies of this many bytes are shared in bursts, too: one system call has at
 * most two of them (OP_SHORT in cma_op.c). SHARE_CALLS: see burst_below(). */
#define SHARE_BURST (128ul * 1024)
#define SHARE_CALLS 2
/* Copies are a burst if peer->burst exceeds BURST_LEAST. BURST_MAX: its
 * maximum. */
enum { BURST_MAX = 16, BURST_LEAST = 2 };
/* Values of peer->unhelped. SHARE_UNHELPED_MAX: maximum, so that at most 2^6 - 1
 * offers are skipped. SHARE_RARELY: with this value or more the peer helps
 * rarely, see cma_share_is_good(). */
enum { SHARE_UNHELPED_MAX = 6, SHARE_RARELY = 3 };
/* Maximum number of first chunks that the initiator claims when it opens a
 * job. With chunks of the default size, that is half of a job of up to 1
 * MiB. */
enum { SHARE_OWN_MAX = 2 };
/* The initiator polls until the helper has finished its chunks. SHARE_PATIENCE:
 * polls between two checks whether the helper is alive. SHARE_CLOCK: polls
 * after which the measurement of the delay begins. */
enum { SHARE_PATIENCE = 1024, SHARE_CLOCK = 64 };
/* The pause without offers after a delay: a multiple of the delay, up to a
 * limit in seconds. */
#define SHARE_PAUSE     32
#define SHARE_PAUSE_MAX 2.0
/* Maximum seconds for which an operation that failed or was cancelled waits
 * until the helper has finished its chunk. Copying a chunk takes microseconds,
 * on an oversubscribed host milliseconds. */
#define SHARE_LINGER 5.0

/* --- Connection to the helper -------------------------------------------- */

/* Returns whether the inbox has a free slot. Joining an inbox without a free
 * slot would log an error, but copying alone is no error. */
static int share_has_place(const shm_outbox_t *outbox)
{
    return atomic_load_explicit(&outbox->head->num_used, memory_order_relaxed) <
           outbox->num_slots;
}

/* Takes a slot in the peer's inbox and sends HELLO (cma_wire.h). On failure
 * writes the reason. */
static ucs_status_t share_join(cma_peer_t *peer, char *reason, size_t size)
{
    cma_msg_hello_t hello = {
        .pid   = (uint32_t)peer->iface->pid,
        .proof = (uintptr_t)&peer->proof,
    };
    shm_outbox_t *outbox = peer->outbox;
    ucs_status_t status;

    status = shm_outbox_open(outbox, &peer->iface->md->space, peer->address,
                             peer->address_length, reason, size);
    if (status != UCS_OK) {
        return status;
    }
    if (outbox->private_size < CMA_JOBS * sizeof(cma_job_t)) {
        snprintf(reason, size, "its inbox is not an inbox of cma");
        status = UCS_ERR_UNREACHABLE;
    } else {
        snprintf(reason, size, "its inbox has no free slot");
        status = share_has_place(outbox) ? shm_outbox_join(outbox) :
                                           UCS_ERR_EXCEEDS_LIMIT;
    }
    if (status == UCS_OK) {
        status = shm_outbox_send(outbox, CMA_MSG_HELLO, &hello, sizeof(hello));
    }
    if (status != UCS_OK) {
        shm_outbox_close(outbox);
    }
    return status;
}

static void share_connect(cma_peer_t *peer)
{
    const ucx_host_t *host = peer->iface->host;
    char reason[128]       = "out of memory";

    peer->help   = CMA_HELP_NEVER;
    peer->outbox = malloc(sizeof(*peer->outbox));
    if ((peer->outbox != NULL) &&
        (share_join(peer, reason, sizeof(reason)) == UCS_OK)) {
        peer->help = CMA_HELP_POSSIBLE;
        return;
    }
    ucx_debug("cma: process %d will not be asked to share copies: %s",
              (int)peer->pid, reason);
    free(peer->outbox);
    peer->outbox = NULL;
}

/* --- Offers -------------------------------------------------------------- */

static void skip_offers(cma_peer_t *peer)
{
    peer->skip = (1u << peer->unhelped) - 1;
}

/* Returns the length below which several copies in one system call
 * (cma_batch.c) are faster than shared ones. A shared copy takes half as long,
 * but needs SHARE_CALLS calls more, or messages that take as long. */
static size_t burst_below(cma_iface_t *iface)
{
    const shm_cma_config_t *config = &iface->config;
    double bandwidth, below;

    if (iface->burst_below == 0) {
        bandwidth = (config->bw > 0) ? config->bw : shm_speed()->kernel;
        below     = 2 * bandwidth * SHARE_CALLS * config->overhead;
        iface->burst_below = (size_t)shm_min(1 + below, (double)SHARE_BURST);
    }
    return iface->burst_below;
}

/* Called for each copy that may be shared. Returns whether it belongs to a
 * burst: most of the last copies were posted while others were in the queue, so
 * that several are copied in one system call, and at this length that is faster
 * than to share them. A single copy does not change the answer, because it is
 * slow to share only some copies of a buffer (cma_share_is_good()). */
static int is_burst(cma_peer_t *peer, size_t length)
{
    if (peer->num_short > 0) {
        peer->burst += (peer->burst < BURST_MAX);
    } else {
        peer->burst -= (peer->burst > 0);
    }
    return (peer->burst > BURST_LEAST) && (length < SHARE_BURST) &&
           (length < burst_below(peer->iface));
}

/* share_end() sets how many offers are skipped, but until the offered copy ends,
 * further copies may be posted. To a peer that rarely helps they are not
 * offered. To other peers they are: if one buffer is copied again and again,
 * and some of the copies are shared and others not, each process often copies
 * data that is in the caches of the other one. */
int cma_share_is_good(cma_peer_t *peer, size_t length)
{
    if ((peer->help == CMA_HELP_NEVER) ||
        (length < peer->iface->config.share_thresh) ||
        (peer->iface->now < peer->pause_until) || is_burst(peer, length)) {
        return 0;
    }
    if ((length < SHARE_ALWAYS) && (peer->skip > 0)) {
        --peer->skip;
        return 0;
    }
    if (peer->unhelped >= SHARE_RARELY) {
        skip_offers(peer);
    }
    return 1;
}

/* Returns whether this process copies from the end of the data when it
 * initiates an operation (cma_job.h). The peer, as the initiator, does the
 * opposite. If the peer has not helped with the last copies, this process will
 * probably copy all data: long data in the direction of a copy alone. */
static int share_is_from_end(const cma_peer_t *peer, const cma_op_t *op)
{
    return ((peer->unhelped > 1) && (op->length > SHARE_ALONE)) ?
               op->from_end :
               (peer->iface->pid > peer->pid);
}

static void share_copy_chunks(cma_peer_t *peer, cma_op_t *op, uint32_t first,
                              uint32_t num)
{
    cma_part_t part = cma_job_part(op->job_length, op->chunk, op->job_from_end,
                                   first, num);

    op->status = cma_copy(peer->pid, op->kind == CMA_OP_PUT, op->iov, 1,
                          op->done + part.offset,
                          op->remote + op->done + part.offset, part.length);
    if (op->status != UCS_OK) {
        op->is_ending = 1;
        if (op->status == UCS_ERR_CONNECTION_RESET) {
            cma_peer_lost(peer, op->status);
        }
    }
}

/* Divides the data that is left, or as much as CMA_JOB_MAX_CHUNKS allows, into
 * chunks of whole pages, of at most `chunk_max` bytes rounded up. They are
 * equal, except that the last may be shorter. Their number is even if possible,
 * so that both sides can copy the same amount. If there are only two chunks the
 * first, which the initiator copies, is a page larger than half of the data,
 * because the helper begins later. Sets op->chunk and op->job_length, and
 * returns the number of chunks. */
static unsigned plan(cma_op_t *op, size_t chunk_max)
{
    size_t length = op->length - op->done;
    size_t count, chunk;

    count = (length + 2 * chunk_max - 1) / (2 * chunk_max) * 2;
    if (count > CMA_JOB_MAX_CHUNKS - 1) {
        count  = CMA_JOB_MAX_CHUNKS - 1;
        length = count * chunk_max;
    }
    chunk          = shm_align_up((length + count - 1) / count, SHARE_PAGE);
    op->chunk      = chunk + ((count == 2) ? SHARE_PAGE : 0);
    op->job_length = length;
    return (unsigned)((length + op->chunk - 1) / op->chunk);
}

static ucs_status_t share_tell(cma_peer_t *peer, const cma_op_t *op)
{
    cma_msg_job_t msg = {
        .index = op->job,
        .flags = ((op->kind == CMA_OP_PUT) ? CMA_JOB_PUT : 0) |
                 (op->job_from_end ? CMA_JOB_FROM_END : 0),
        .count      = (uint16_t)op->share.count,
        .generation = op->share.generation,
        .remote     = op->remote + op->done,
        .local      = (uintptr_t)op->iov[0].iov_base + op->done,
        .length     = op->job_length,
        .chunk      = op->chunk,
    };

    return shm_outbox_send(peer->outbox, CMA_MSG_JOB, &msg, sizeof(msg));
}

cma_begin_t cma_share_begin(cma_peer_t *peer, cma_op_t *op)
{
    uint32_t free_jobs = ~peer->jobs_used & ((1u << CMA_JOBS) - 1);
    ucs_status_t status;
    cma_job_t *jobs;
    unsigned count;

    if (!op->may_share ||
        (op->length - op->done < peer->iface->config.share_thresh) ||
        (peer->iface->now < peer->pause_until)) {
        return CMA_BEGIN_ALONE;
    }
    if (peer->help == CMA_HELP_UNTRIED) {
        share_connect(peer);
    }
    count = plan(op, peer->iface->config.chunk);
    if ((peer->help != CMA_HELP_POSSIBLE) || (count < 2)) {
        return CMA_BEGIN_ALONE;
    }
    if (free_jobs == 0) {
        return CMA_BEGIN_LATER;
    }

    op->job          = (uint8_t)__builtin_ctz(free_jobs);
    op->began        = peer->iface->host->time();
    op->num_copied   = 0;
    op->job_from_end = (uint8_t)share_is_from_end(peer, op);
    jobs             = (cma_job_t *)peer->outbox->box;
    cma_share_open(&op->share, &jobs[op->job], ++peer->generation, count,
                   shm_min(count / 2, SHARE_OWN_MAX));
    status = share_tell(peer, op);
    if (status != UCS_OK) {
        if (status != UCS_ERR_NO_RESOURCE) { /* NO_RESOURCE: our slot in the
                                              * peer's inbox is full, because
                                              * the peer has not polled for
                                              * long */
            peer->help = CMA_HELP_NEVER;
        }
        return CMA_BEGIN_ALONE;
    }
    peer->jobs_used |= 1u << op->job;
    return CMA_BEGIN_SHARED;
}

/* --- Continuing and ending ------------------------------------------------ */

/* Stops offers to this peer for a while if it has delayed the job for too long.
 * If the previous pause still lasts, or ended less than its own duration ago,
 * the new pause is at least twice as long. SHARE_PAUSE_MAX limits all
 * pauses. */
static void share_pause(cma_peer_t *peer, const cma_op_t *op)
{
    double now    = peer->iface->host->time();
    double waited = now - peer->waits_from;
    double pause  = waited * SHARE_PAUSE;

    if (!cma_share_is_late(waited, peer->waits_from - op->began,
                           op->num_copied)) {
        return;
    }
    if ((now - peer->pause_until < peer->pause) && (pause < 2 * peer->pause)) {
        pause = 2 * peer->pause;
    }
    peer->pause       = (pause < SHARE_PAUSE_MAX) ? pause : SHARE_PAUSE_MAX;
    peer->pause_until = now + peer->pause;
}

/* Makes the job's words free for another job, and updates peer->skip, the
 * number of offers to skip. Its logarithm peer->unhelped grows by one if the
 * helper has claimed no chunk of the job. Otherwise it is halved and not
 * cleared, because a peer that is busy most of the time still helps now and
 * then. */
static void share_end(cma_peer_t *peer, cma_op_t *op)
{
    if (peer->waits_from != 0) {
        share_pause(peer, op);
    }
    peer->jobs_used &= ~(1u << op->job);
    peer->waits      = 0;
    peer->waits_from = 0;
    if (op->share.back != op->share.count) {
        peer->unhelped /= 2;
    } else {
        peer->unhelped += (peer->unhelped < SHARE_UNHELPED_MAX);
    }
    skip_offers(peer);
}

static void share_spoilt(cma_peer_t *peer, cma_op_t *op)
{
    const ucx_host_t *host = peer->iface->host;

    ucx_diag("cma: process %d has written invalid data about a shared copy; "
             "it gets no more requests",
             (int)peer->pid);
    peer->help    = CMA_HELP_NEVER;
    op->is_ending = 1;
    if (op->status == UCS_OK) {
        op->status = UCS_ERR_IO_ERROR;
    }
}

/* Claims all free chunks, so that the helper cannot claim them. Returns zero if
 * the job's words are invalid. */
static int share_close(cma_op_t *op)
{
    uint32_t first, num;

    return cma_share_claim(&op->share, UINT32_MAX, &first, &num) != CMA_BROKEN;
}

int cma_share_has_own(const cma_op_t *op)
{
    return op->num_copied < op->share.front;
}

int cma_share_copy(cma_peer_t *peer, cma_op_t *op)
{
    uint32_t most = 1, first, num;

    if (cma_share_has_own(op)) {
        share_copy_chunks(peer, op, op->num_copied++, 1);
        return 1;
    }
    if (!cma_share_is_helped(&op->share)) {
        most = (uint32_t)(SHARE_ALONE / op->chunk);
        most = (most == 0) ? 1 : most;
    }
    switch (cma_share_claim(&op->share, most, &first, &num)) {
    case CMA_CLAIMED:
        share_copy_chunks(peer, op, first, num);
        op->num_copied += num;
        return 1;
    case CMA_NOTHING_LEFT:
        return 0;
    default:
        share_spoilt(peer, op);
        return 0;
    }
}

/* Called while the helper is copying. Returns zero if the helper may still
 * access the memory: the job must not end yet. Returns non-zero if the helper's
 * process has ended, or if an operation that failed or was cancelled has waited
 * for it for SHARE_LINGER seconds. */
static int share_is_abandoned(cma_peer_t *peer, cma_op_t *op)
{
    const ucx_host_t *host = peer->iface->host;

    if (++peer->waits == SHARE_CLOCK) {
        peer->waits_from = host->time();
    }
    if ((peer->status == UCS_OK) && ((peer->waits % SHARE_PATIENCE) != 0)) {
        return 0;
    }
    if (!shm_outbox_peer_is_alive(peer->outbox)) {
        cma_peer_lost(peer, UCS_ERR_CONNECTION_RESET);
        return 1;
    }
    if (!op->is_ending) {
        return 0;
    }
    if (op->ending_at == 0) {
        op->ending_at = host->time();
    }
    if (host->time() - op->ending_at <= SHARE_LINGER) {
        return 0;
    }
    ucx_diag("cma: process %d does not run in the middle of a shared copy; no "
             "longer waiting for it",
             (int)peer->pid);
    peer->help = CMA_HELP_NEVER;
    return 1;
}

int cma_share_finish(cma_peer_t *peer, cma_op_t *op)
{
    cma_job_end_t end;

    if (op->is_ending && !share_close(op)) {
        share_spoilt(peer, op);
        end = CMA_JOB_SPOILT;
    } else {
        end = cma_share_end(&op->share);
    }

    switch (end) {
    case CMA_JOB_DONE:
        break;
    case CMA_JOB_RETURNED:
        /* The helper could not copy a chunk, possibly because it lacks a
         * permission that this process has. This process tries the chunk
         * itself, and if that fails reports the error */
        if (op->status == UCS_OK) {
            share_copy_chunks(peer, op, op->share.back, 1);
            peer->help = (op->status == UCS_OK) ? CMA_HELP_NEVER : peer->help;
        }
        break;
    case CMA_JOB_SPOILT:
        share_spoilt(peer, op);
        break;
    default:
        if (!share_is_abandoned(peer, op)) {
            return 0;
        }
        if (op->status == UCS_OK) {
            op->status = peer->status;
        }
        op->is_ending = 0;
        return 1; /* Without share_end(), the job stays in use: its words are
                   * not used again, because the helper may still write them */
    }

    share_end(peer, op);
    if (op->status == UCS_OK) {
        op->done += op->job_length;
    }
    op->is_ending = 0;
    return 1;
}
