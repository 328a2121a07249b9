/* SPDX-License-Identifier: BSD-3-Clause */
/* One interface, its endpoint and memory, and functions that wait; shared by
 * tests of UCT, which use one thread. */
#ifndef PERFTEST_UCT_SIDE_H
#define PERFTEST_UCT_SIDE_H

#include "perf.h"

#include <uct/api/uct.h>

enum {
    UCT_SIDE_STEPS  = 1 << 16, /* calls of progress between checks of the
                                * peer */
    /* Ids of active messages: of measured messages, and of acknowledgements */
    UCT_SIDE_AM     = 1,
    UCT_SIDE_AM_ACK = 2,
    UCT_SIDE_HEADER = 8, /* size of the header of short active messages */
};

/* Operations of the transport that a test requires. */
enum {
    PERF_UCT_AM,
    PERF_UCT_PUT,
    PERF_UCT_GET,
    PERF_UCT_ADD,
    PERF_UCT_FADD,
    PERF_UCT_SWAP,
    PERF_UCT_CSWAP,
};

/* Memory of messages, or memory that peers access. */
struct uct_area {
    uct_allocated_memory_t allocated;
    /* Whether `allocated` is valid */
    bool have;
    bool registered; /* `handle` was registered by this program, and not by the
                      * allocation */
    uct_mem_h handle;
    char *memory;
};

struct uct_side {
    uct_worker_h worker;
    uct_ep_h ep;
    uct_iface_h iface;
    struct perf_thread *thread;
    bool checks;
    unsigned steps;
    /* Length of a message in bytes */
    size_t size;
    size_t header;   /* bytes at the start of a message that are passed as its
                      * header */
    unsigned window; /* maximum number of unacknowledged active messages */
    /* Maximum number of outstanding operations */
    unsigned outstanding;
    unsigned slots;              /* number of buffers, which messages use in
                                  * turn */
    size_t extent;               /* distance in bytes between two buffers */
    uct_completion_t completion; /* count: outstanding operations plus 1;
                                  * status: an error of an operation or of the
                                  * endpoint; UCS_OK: none */
    uint64_t arrived;            /* number of received active messages, in all
                                  * passes */
    uint64_t acknowledged;       /* number of sent messages that the peer has
                                  * acknowledged */
    uint64_t answered;           /* number of received messages that this side
                                  * has acknowledged */
    uint64_t word;               /* expected value of the word of the peer that
                                  * atomics change */
    /* Address of the peer's `recv` memory */
    uint64_t remote;
    uct_rkey_bundle_t rkey;
    bool have_rkey;
    /* Local memory of operations */
    struct uct_area send;
    /* Memory that the peer accesses */
    struct uct_area recv;
    uct_component_h component;
    uct_component_h *components;
    uct_md_h md;
    ucs_async_context_t *async;
    uct_md_attr_t md_attr;
    uct_iface_attr_t attr;
};

/* One step of a loop that waits: makes progress. The loop ends if this returns
 * an error. Hot path. */
PERF_INLINE ucs_status_t uct_side_step(struct uct_side *side)
{
    uct_worker_progress(side->worker);
    if (perf_unlikely(++side->steps % UCT_SIDE_STEPS == 0)) {
        return perf_check_peer(side->thread);
    }
    return side->completion.status;
}

/* Waits until at most `pending` operations are outstanding. */
PERF_INLINE ucs_status_t uct_side_wait(struct uct_side *side, unsigned pending)
{
    ucs_status_t status;

    while (side->completion.count > (int)pending + 1) {
        status = uct_side_step(side);
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
    }
    return UCS_OK;
}

/* Works on message `number`. An operation that is passed to uct_side_try()
 * returns UCS_OK, UCS_INPROGRESS if it will decrement side->completion.count,
 * UCS_ERR_NO_RESOURCE, or another error. */
typedef ucs_status_t (*uct_operate_t)(struct uct_side *side, uint64_t number);

/* Starts an operation. Makes progress and repeats the operation while there are
 * no send resources. Counts the operation if it is outstanding. */
PERF_INLINE ucs_status_t uct_side_try(struct uct_side *side,
                                      uct_operate_t operate, uint64_t number)
{
    ucs_status_t status;

    for (;;) {
        status = operate(side, number);
        if (perf_likely(status == UCS_OK)) {
            return UCS_OK;
        }
        if (status == UCS_INPROGRESS) {
            ++side->completion.count;
            return UCS_OK;
        }
        if (perf_unlikely(status != UCS_ERR_NO_RESOURCE)) {
            return status;
        }
        status = uct_side_step(side);
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
    }
}

/* Returns the local buffer of message `number`. */
PERF_INLINE char *uct_side_memory(struct uct_side *side, uint64_t number)
{
    return side->send.memory + (perf_unlikely(side->checks) ?
                                    (number % side->slots) * side->extent :
                                    0);
}

/* Returns the address of the peer's buffer for message `number`. */
PERF_INLINE uint64_t uct_side_remote(struct uct_side *side, uint64_t number)
{
    return side->remote + (perf_unlikely(side->checks) ?
                               (number % side->slots) * side->extent :
                               0);
}

/* Waits until all operations are complete; puts also at the peer, if the
 * transport has such a flush. */
ucs_status_t uct_side_flush(struct uct_side *side);

/* Data for the pack callback of a bcopy operation. */
struct uct_packed {
    const char *memory;
    size_t length;
};

size_t uct_side_pack(void *dest, void *arg);

/* Ping-pong: the client sends first, then waits for the message of the peer;
 * the server waits first. `wait` returns when message `number` has arrived;
 * `send` prepares the message and passes `operate` to uct_side_try(). */
PERF_INLINE ucs_status_t
uct_side_turns(struct perf_thread *thread, uint64_t count, uct_operate_t wait,
               ucs_status_t (*send)(struct uct_side *side, uint64_t number,
                                    uct_operate_t operate),
               uct_operate_t operate)
{
    struct uct_side *side = thread->side;
    bool begins           = thread->run->role & ROLE_CLIENT;
    ucs_status_t status;
    uint64_t i;

    for (i = thread->first; i < thread->first + count; ++i) {
        status = begins ? UCS_OK : wait(side, i);
        status = perf_likely(status == UCS_OK) ? send(side, i, operate) :
                                                 status;
        if (begins && perf_likely(status == UCS_OK)) {
            status = wait(side, i);
        }
        status = perf_likely(status == UCS_OK) ? uct_side_wait(side, 0) :
                                                 status;
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        if (begins) {
            meter_each(&thread->meter);
        }
    }
    return uct_side_flush(side);
}

/* Writes the contents of message `number` into its buffer; called if contents
 * are checked. Before it reuses the first of the buffers, waits until all
 * operations are complete. */
ucs_status_t uct_side_fill(struct uct_side *side, uint64_t number);

/* uct_open.c */
ucs_status_t uct_open_domain(struct perf_run *run, struct uct_side *side);
ucs_status_t uct_open_iface(struct perf_run *run, struct uct_side *side);
ucs_status_t uct_area_open(struct perf_run *run, struct uct_side *side,
                           struct uct_area *area, size_t length);
void uct_area_close(struct uct_side *side, struct uct_area *area);

/* uct_caps.c: checks the transport's capabilities for the test */
ucs_status_t uct_check_caps(struct perf_run *run, const struct uct_side *side);

/* uct_am.c */
ucs_status_t uct_am_prepare(struct uct_side *side);

/* uct_am.c, uct_rma.c, uct_amo.c: the tests */
ucs_status_t uct_am_latency(struct perf_thread *thread, uint64_t count);
ucs_status_t uct_am_stream(struct perf_thread *thread, uint64_t count);
ucs_status_t uct_put_latency(struct perf_thread *thread, uint64_t count);
ucs_status_t uct_put_posts(struct perf_thread *thread, uint64_t count);
ucs_status_t uct_get_requests(struct perf_thread *thread, uint64_t count);
ucs_status_t uct_add_latency(struct perf_thread *thread, uint64_t count);
ucs_status_t uct_add_posts(struct perf_thread *thread, uint64_t count);
ucs_status_t uct_fadd_requests(struct perf_thread *thread, uint64_t count);
ucs_status_t uct_swap_requests(struct perf_thread *thread, uint64_t count);
ucs_status_t uct_cswap_requests(struct perf_thread *thread, uint64_t count);

/* Checks on the server after a pass of puts, or of additions. */
void uct_verify_puts(struct perf_thread *thread, uint64_t count);
void uct_verify_adds(struct perf_thread *thread, uint64_t count);

#endif
