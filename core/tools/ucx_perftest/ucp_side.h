/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker, endpoint and memory of one thread, and functions that wait;
 * shared by tests of UCP. ucp_tag.c and others implement the operations. */
#ifndef PERFTEST_UCP_SIDE_H
#define PERFTEST_UCP_SIDE_H

#include "perf.h"

#include <ucp/api/ucp.h>

enum {
    UCP_SIDE_STEPS     = 1 << 16, /* calls of progress between checks of the
                                   * peer */
    /* Tag of the messages of thread 0; the tags of other threads follow it */
    UCP_SIDE_TAG       = 0x7e57,
    /* Ids of active messages: of measured messages, and of the confirmation
     * that the peer has received them all */
    UCP_SIDE_AM        = 1,
    UCP_SIDE_AM_FINISH = 2,
};

struct ucp_side;

/* A buffer, which several messages may use one after the other, or also at the
 * same time if their contents are not checked. */
struct ucp_slot {
    void *buffer; /* argument of operations: `memory`, or an array of
                   * ucp_dt_iov_t */
    size_t count; /* argument of operations: number of bytes, or of entries of
                   * the array */
    /* Where the message begins */
    char *memory;
    uint64_t number; /* number of the message that is stored here, or will be
                      * received here */
    size_t length;   /* length that a stream receive has stored */
    struct ucp_side *side;
};

/* Buffers of the messages that are sent, or of those that are received. */
struct ucp_area {
    struct ucp_slot *slots;
    ucp_dt_iov_t *iov;
    /* Number of buffers. A message with the number n uses the buffer n modulo
     * slot_count. */
    unsigned slot_count;
    /* A message consists of several buffers (-D iov). */
    bool in_pieces;
    bool owned; /* allocated by this program, not by the library */
    unsigned memory_type;
    char *memory;
    /* Length of all buffers in bytes */
    size_t length;
    size_t extent;    /* distance in bytes between two buffers */
    ucp_mem_h handle; /* handle of the mapped memory; NULL: not mapped */
};

struct ucp_side {
    ucp_worker_h worker;
    ucp_ep_h ep;
    struct perf_thread *thread;
    unsigned pending;     /* number of outstanding operations */
    unsigned outstanding; /* maximum number of outstanding operations */
    /* Number of calls of ucp_side_step(), except with -E sleep */
    unsigned steps;
    /* Whether loops that wait also sleep (-E sleep) */
    bool sleeps;
    /* Whether contents of messages are checked (--check) */
    bool checks;
    ucs_status_t failed; /* error of an operation or of the endpoint */
    uint64_t received;   /* number of received messages, in all passes */
    uint64_t finished;   /* confirmations from the peer that it has received
                          * everything */
    /* Length of a message in bytes */
    size_t size;
    struct ucp_area send; /* in one-sided tests: local memory */
    struct ucp_area recv; /* in one-sided tests: memory that the peer
                           * accesses */
    ucp_request_param_t send_param;
    ucp_request_param_t recv_param;
    ucp_request_param_t plain_param; /* for messages without contents, flush and
                                      * close */
    ucp_rkey_h rkey;
    uint64_t remote; /* address of the peer's recv memory */
    char *header;    /* contents of the header of active messages */
    size_t header_length;
    uint64_t arrived; /* number of active messages whose handler has run, in all
                       * passes */
    uint64_t word;    /* expected value of the word of the peer that atomics of
                       * this thread change */
    /* Operand of atomics, 4 or 8 bytes */
    uint64_t operand;
    uint64_t *replies; /* one reply buffer for each outstanding atomic */
    /* Readable when the worker has events; only with `sleeps` */
    int event_fd;
};

/* Waits for an event of the worker or of the channel: makes progress, and
 * sleeps if there is nothing to do. Not on the hot path. */
ucs_status_t ucp_side_sleep(struct ucp_side *side);

/* Returns a buffer with the contents of message `number`. Before it reuses the
 * first of the buffers, waits until all sends are complete. Used only if
 * contents are checked. */
ucs_status_t ucp_side_fill(struct ucp_side *side, uint64_t number,
                           struct ucp_slot **slot_p);

/* Returns a buffer for receiving message `number`. Before it reuses the first
 * of the buffers, waits until all earlier messages were received. Used only if
 * contents are checked. */
ucs_status_t ucp_side_empty(struct ucp_side *side, uint64_t number,
                            struct ucp_slot **slot_p);

/* Checks the contents of the message in a buffer. */
void ucp_side_check(struct ucp_slot *slot);

/* Completion callback of all operations that are counted in `pending`. */
void ucp_side_completed(void *request, ucs_status_t status, void *arg);

/* One step of a loop that waits: makes some progress. The loop ends if this
 * returns an error. Hot path. */
PERF_INLINE ucs_status_t ucp_side_step(struct ucp_side *side)
{
    if (perf_unlikely(side->sleeps)) {
        return ucp_side_sleep(side);
    }
    ucp_worker_progress(side->worker);
    if (perf_unlikely(++side->steps % UCP_SIDE_STEPS == 0)) {
        return perf_check_peer(side->thread);
    }
    return side->failed;
}

/* Waits until at most `pending` operations are outstanding. */
PERF_INLINE ucs_status_t ucp_side_wait(struct ucp_side *side, unsigned pending)
{
    ucs_status_t status;

    while (side->pending > pending) {
        status = ucp_side_step(side);
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
    }
    return UCS_OK;
}

/* Waits until `count` messages were received, in all passes. */
PERF_INLINE ucs_status_t ucp_side_wait_received(struct ucp_side *side,
                                                uint64_t count)
{
    ucs_status_t status;

    while (side->received < count) {
        status = ucp_side_step(side);
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
    }
    return UCS_OK;
}

/* Waits until the peer has confirmed `count` times that it has received all
 * messages of a pass. */
PERF_INLINE ucs_status_t ucp_side_wait_finished(struct ucp_side *side,
                                                uint64_t count)
{
    ucs_status_t status;

    while (side->finished < count) {
        status = ucp_side_step(side);
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
    }
    return UCS_OK;
}

/* Counts an operation if it is outstanding. */
PERF_INLINE ucs_status_t ucp_side_begun(struct ucp_side *side,
                                        ucs_status_ptr_t request)
{
    if (perf_likely(request == NULL)) {
        return UCS_OK;
    }
    if (perf_unlikely(UCS_PTR_IS_ERR(request))) {
        return UCS_PTR_STATUS(request);
    }
    ++side->pending;
    return UCS_OK;
}

/* Returns the buffer from which message `number` is sent. */
PERF_INLINE ucs_status_t ucp_side_send_slot(struct ucp_side *side,
                                            uint64_t number,
                                            struct ucp_slot **slot_p)
{
    if (perf_unlikely(side->checks)) {
        return ucp_side_fill(side, number, slot_p);
    }
    *slot_p = side->send.slots;
    return UCS_OK;
}

/* Returns the buffer into which message `number` is received. */
PERF_INLINE struct ucp_slot *ucp_side_next_recv(struct ucp_side *side,
                                                uint64_t number)
{
    return perf_likely(side->recv.slot_count == 1) ?
               side->recv.slots :
               &side->recv.slots[number % side->recv.slot_count];
}

/* As ucp_side_next_recv(); if contents are checked, waits until the buffer is
 * free. */
PERF_INLINE ucs_status_t ucp_side_recv_slot(struct ucp_side *side,
                                            uint64_t number,
                                            struct ucp_slot **slot_p)
{
    if (perf_unlikely(side->checks)) {
        return ucp_side_empty(side, number, slot_p);
    }
    *slot_p = ucp_side_next_recv(side, number);
    return UCS_OK;
}

/* Flushes the endpoint: waits until all operations are complete, also at the
 * peer. */
ucs_status_t ucp_side_flush(struct ucp_side *side);

/* ucp_memory.c. `exposed`: the peer accesses the memory by put, get or
 * atomics. */
ucs_status_t ucp_area_open(struct perf_thread *thread, ucp_context_h context,
                           struct ucp_area *area, bool exposed);
void ucp_area_close(ucp_context_h context, struct ucp_area *area);

/* ucp_am.c: sets the handlers, before peers have the worker's address */
ucs_status_t ucp_am_prepare(struct ucp_side *side);

/* ucp_tag.c, ucp_am.c, ucp_stream.c, ucp_rma.c, ucp_amo.c: the tests */
ucs_status_t ucp_tag_latency(struct perf_thread *thread, uint64_t count);
ucs_status_t ucp_tag_stream(struct perf_thread *thread, uint64_t count);
ucs_status_t ucp_tag_sync_latency(struct perf_thread *thread, uint64_t count);
ucs_status_t ucp_tag_sync_stream(struct perf_thread *thread, uint64_t count);
ucs_status_t ucp_am_latency(struct perf_thread *thread, uint64_t count);
ucs_status_t ucp_am_stream(struct perf_thread *thread, uint64_t count);
ucs_status_t ucp_stream_latency(struct perf_thread *thread, uint64_t count);
ucs_status_t ucp_stream_stream(struct perf_thread *thread, uint64_t count);
ucs_status_t ucp_put_latency(struct perf_thread *thread, uint64_t count);
ucs_status_t ucp_put_posts(struct perf_thread *thread, uint64_t count);
ucs_status_t ucp_get_requests(struct perf_thread *thread, uint64_t count);
ucs_status_t ucp_add_posts(struct perf_thread *thread, uint64_t count);
ucs_status_t ucp_fadd_requests(struct perf_thread *thread, uint64_t count);
ucs_status_t ucp_swap_requests(struct perf_thread *thread, uint64_t count);
ucs_status_t ucp_cswap_requests(struct perf_thread *thread, uint64_t count);

#endif
