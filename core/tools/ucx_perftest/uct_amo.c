/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic operations of a transport on one word of the peer. */
#include "uct_side.h"

enum {
    ADDEND = 3,
};

static bool is_half(const struct uct_side *side)
{
    return side->size == sizeof(uint32_t);
}

static uint64_t own_word(const struct uct_side *side)
{
    return is_half(side) ? *(volatile uint32_t *)side->recv.memory :
                           *(volatile uint64_t *)side->recv.memory;
}

static uint64_t reply(const struct uct_side *side)
{
    return is_half(side) ? *(uint32_t *)side->send.memory :
                           *(uint64_t *)side->send.memory;
}

static void expect(struct uct_side *side, uint64_t number, uint64_t found,
                   uint64_t wanted)
{
    wanted = is_half(side) ? (uint32_t)wanted : wanted;
    if (found != wanted) {
        perf_wrong(side->thread, number, 0, side->size, found & 0xff,
                   wanted & 0xff);
    }
}

PERF_INLINE ucs_status_t add(struct uct_side *side, uint64_t number)
{
    (void)number;
    return is_half(side) ?
               uct_ep_atomic32_post(side->ep, UCT_ATOMIC_OP_ADD, ADDEND,
                                    side->remote, side->rkey.rkey) :
               uct_ep_atomic64_post(side->ep, UCT_ATOMIC_OP_ADD, ADDEND,
                                    side->remote, side->rkey.rkey);
}

PERF_INLINE ucs_status_t fetch(struct uct_side *side, uct_atomic_op_t operation,
                               uint64_t value)
{
    void *result = side->send.memory;

    return is_half(side) ?
               uct_ep_atomic32_fetch(side->ep, operation, value, result,
                                     side->remote, side->rkey.rkey,
                                     &side->completion) :
               uct_ep_atomic64_fetch(side->ep, operation, value, result,
                                     side->remote, side->rkey.rkey,
                                     &side->completion);
}

PERF_INLINE ucs_status_t fetch_add(struct uct_side *side, uint64_t number)
{
    (void)number;
    return fetch(side, UCT_ATOMIC_OP_ADD, ADDEND);
}

PERF_INLINE ucs_status_t swap(struct uct_side *side, uint64_t number)
{
    return fetch(side, UCT_ATOMIC_OP_SWAP, number + 1);
}

PERF_INLINE ucs_status_t cswap(struct uct_side *side, uint64_t number)
{
    void *result = side->send.memory;

    return is_half(side) ?
               uct_ep_atomic_cswap32(side->ep, side->word, number + 1,
                                     side->remote, side->rkey.rkey, result,
                                     &side->completion) :
               uct_ep_atomic_cswap64(side->ep, side->word, number + 1,
                                     side->remote, side->rkey.rkey, result,
                                     &side->completion);
}

PERF_INLINE ucs_status_t wait_word(struct uct_side *side, uint64_t number)
{
    uint64_t wanted = (number + 1) * ADDEND;
    ucs_status_t status;

    wanted = is_half(side) ? (uint32_t)wanted : wanted;
    while (own_word(side) != wanted) {
        status = uct_side_step(side);
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
    }
    return UCS_OK;
}

PERF_INLINE ucs_status_t post(struct uct_side *side, uint64_t number,
                              uct_operate_t operate)
{
    return uct_side_try(side, operate, number);
}

ucs_status_t uct_add_latency(struct perf_thread *thread, uint64_t count)
{
    return uct_side_turns(thread, count, wait_word, post, add);
}

ucs_status_t uct_add_posts(struct perf_thread *thread, uint64_t count)
{
    struct uct_side *side = thread->side;
    ucs_status_t status;
    uint64_t i;

    for (i = 0; i < count; ++i) {
        status = uct_side_try(side, add, i);
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        meter_some(&thread->meter);
    }
    return uct_side_flush(side);
}

/* Checks on the server that its word contains the sum of all additions. All
 * passes add to the same word. */
void uct_verify_adds(struct perf_thread *thread, uint64_t count)
{
    struct uct_side *side = thread->side;

    (void)count;
    expect(side, thread->first, own_word(side), thread->first * ADDEND);
}

/* Runs `count` operations by `operate`. `next` returns the expected value of
 * the peer's word after the operation `number`. */
PERF_INLINE ucs_status_t requests(struct perf_thread *thread, uint64_t count,
                                  uct_operate_t operate,
                                  uint64_t (*next)(uint64_t number))
{
    struct uct_side *side = thread->side;
    bool checks           = side->checks && (side->outstanding == 1);
    ucs_status_t status;
    uint64_t i;

    for (i = thread->first; i < thread->first + count; ++i) {
        status = uct_side_try(side, operate, i);
        status = perf_likely(status == UCS_OK) ?
                     uct_side_wait(side, side->outstanding - 1) :
                     status;
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        if (perf_unlikely(checks)) {
            expect(side, i, reply(side), side->word);
        }
        side->word = next(i);
        meter_each(&thread->meter);
    }
    return uct_side_wait(side, 0);
}

static uint64_t after_add(uint64_t number)
{
    return (number + 1) * ADDEND;
}

static uint64_t after_swap(uint64_t number)
{
    return number + 1;
}

ucs_status_t uct_fadd_requests(struct perf_thread *thread, uint64_t count)
{
    return requests(thread, count, fetch_add, after_add);
}

ucs_status_t uct_swap_requests(struct perf_thread *thread, uint64_t count)
{
    return requests(thread, count, swap, after_swap);
}

ucs_status_t uct_cswap_requests(struct perf_thread *thread, uint64_t count)
{
    return requests(thread, count, cswap, after_swap);
}
