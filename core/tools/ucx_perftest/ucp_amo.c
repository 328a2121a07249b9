/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic operations on memory of the peer. Each thread uses a word of its own,
 * so that the expected value is known. The value that an operation returns is
 * checked only if one operation is outstanding at a time. The sum of all
 * additions is always checked (with --check). */
#include "ucp_side.h"

#include <string.h>

/* Returns a word as a number. Words are 4 or 8 bytes in host byte order. */
static uint64_t load(const struct ucp_side *side, const void *word)
{
    uint32_t half;
    uint64_t whole;

    if (side->size == sizeof(half)) {
        memcpy(&half, word, sizeof(half));
        return half;
    }
    memcpy(&whole, word, sizeof(whole));
    return whole;
}

static void store(const struct ucp_side *side, void *word, uint64_t value)
{
    uint32_t half = value;

    memcpy(word, (side->size == sizeof(half)) ? (void *)&half : (void *)&value,
           side->size);
}

/* Starts an operation. If `reply` is NULL, the old value is not requested. */
PERF_INLINE ucs_status_t operate(struct ucp_side *side,
                                 ucp_atomic_op_t operation, const void *operand,
                                 void *reply)
{
    ucp_request_param_t param = side->plain_param;

    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = ucp_dt_make_contig(side->size);
    if (reply != NULL) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        param.reply_buffer = reply;
    }
    return ucp_side_begun(side,
                          ucp_atomic_op_nbx(side->ep, operation, operand, 1,
                                            side->remote, side->rkey, &param));
}

static uint64_t masked(const struct ucp_side *side, uint64_t value)
{
    return (side->size == sizeof(uint32_t)) ? (uint32_t)value : value;
}

static void expect(struct ucp_side *side, uint64_t number, uint64_t found)
{
    uint64_t wanted = masked(side, side->word);

    if (found != wanted) {
        perf_wrong(side->thread, number, 0, side->size, found & 0xff,
                   wanted & 0xff);
    }
}

/* Reads the remote word, by adding zero, and checks it. */
static ucs_status_t check_word(struct ucp_side *side, uint64_t number)
{
    uint64_t reply = 0;
    ucs_status_t status;

    store(side, &side->operand, 0);
    status = operate(side, UCP_ATOMIC_OP_ADD, &side->operand, &reply);
    status = (status == UCS_OK) ? ucp_side_wait(side, 0) : status;
    if (status == UCS_OK) {
        expect(side, number, load(side, &reply));
    }
    return status;
}

ucs_status_t ucp_add_posts(struct perf_thread *thread, uint64_t count)
{
    struct ucp_side *side = thread->side;
    ucs_status_t status;
    uint64_t i;

    store(side, &side->operand, 3);
    for (i = 0; i < count; ++i) {
        status = ucp_side_wait(side, side->outstanding - 1);
        status = perf_likely(status == UCS_OK) ?
                     operate(side, UCP_ATOMIC_OP_ADD, &side->operand, NULL) :
                     status;
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        meter_some(&thread->meter);
    }
    status = ucp_side_flush(side);
    side->word += 3 * count;
    return ((status == UCS_OK) && side->checks) ?
               check_word(side, thread->first + count) :
               status;
}

ucs_status_t ucp_fadd_requests(struct perf_thread *thread, uint64_t count)
{
    struct ucp_side *side = thread->side;
    unsigned next         = 0;
    ucs_status_t status;
    uint64_t i;

    store(side, &side->operand, 5);
    for (i = 0; i < count; ++i) {
        status = operate(side, UCP_ATOMIC_OP_ADD, &side->operand,
                         &side->replies[next]);
        status = perf_likely(status == UCS_OK) ?
                     ucp_side_wait(side, side->outstanding - 1) :
                     status;
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        if (perf_unlikely(side->checks) && (side->outstanding == 1)) {
            expect(side, thread->first + i, load(side, &side->replies[0]));
        }
        side->word += 5;
        next = (next + 1 < side->outstanding) ? next + 1 : 0;
        meter_each(&thread->meter);
    }
    status = ucp_side_wait(side, 0);
    return ((status == UCS_OK) && side->checks) ?
               check_word(side, thread->first + count) :
               status;
}

/* Outstanding operations may be executed in any order, so a value is checked
 * only if one operation is outstanding at a time. */
ucs_status_t ucp_swap_requests(struct perf_thread *thread, uint64_t count)
{
    struct ucp_side *side = thread->side;
    bool checks           = side->checks && (side->outstanding == 1);
    unsigned next         = 0;
    ucs_status_t status;
    uint64_t i;

    for (i = thread->first; i < thread->first + count; ++i) {
        if (side->outstanding == 1) {
            store(side, &side->operand, i + 1);
        }
        status = operate(side, UCP_ATOMIC_OP_SWAP, &side->operand,
                         &side->replies[next]);
        status = perf_likely(status == UCS_OK) ?
                     ucp_side_wait(side, side->outstanding - 1) :
                     status;
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        if (perf_unlikely(checks)) {
            expect(side, i, load(side, &side->replies[0]));
        }
        side->word = i + 1;
        next       = (next + 1 < side->outstanding) ? next + 1 : 0;
        meter_each(&thread->meter);
    }
    return ucp_side_wait(side, 0);
}

/* The reply buffer contains the swap value when the operation starts; the
 * operation replaces it by the old value of the remote word. */
ucs_status_t ucp_cswap_requests(struct perf_thread *thread, uint64_t count)
{
    struct ucp_side *side = thread->side;
    bool checks           = side->checks && (side->outstanding == 1);
    unsigned next         = 0;
    ucs_status_t status;
    uint64_t i;

    for (i = thread->first; i < thread->first + count; ++i) {
        if (side->outstanding == 1) {
            store(side, &side->operand, side->word);
        }
        store(side, &side->replies[next], i + 1);
        status = operate(side, UCP_ATOMIC_OP_CSWAP, &side->operand,
                         &side->replies[next]);
        status = perf_likely(status == UCS_OK) ?
                     ucp_side_wait(side, side->outstanding - 1) :
                     status;
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        if (perf_unlikely(checks)) {
            expect(side, i, load(side, &side->replies[0]));
        }
        side->word = i + 1;
        next       = (next + 1 < side->outstanding) ? next + 1 : 0;
        meter_each(&thread->meter);
    }
    return ucp_side_wait(side, 0);
}
