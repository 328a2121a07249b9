/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic operations of the soak test. All threads add to two words of each
 * loan, and the sums are compared at the end of a round. For all other
 * operations each thread has words of its own, so that it can check the
 * results. */
#include "soak.h"

#include <string.h>

enum {
    WORD32 = 8 /* bytes after the 64-bit word */
};

static void added(struct actor *actor, struct op *op)
{
    (void)actor;
    if (op->status != UCS_OK) {
        FAIL("%s at %d: %s", op->what, op->peer->rank,
             ucs_status_string(op->status));
    }
}

/* Adds a random number to the 64-bit or the 32-bit word of a random loan. Both
 * sums are counted in 64 bits; amo_check() compares that of the 32-bit word
 * modulo 2^32. */
void amo_add(struct actor *actor)
{
    struct op *op = op_new(actor, "atomic add", added);
    unsigned loan = (unsigned)random_below(&actor->random, LOANS);
    bool small    = random_below(&actor->random, 2);
    bool fetch    = random_below(&actor->random, 3) == 0;
    ucp_request_param_t param;

    op->peer     = draw_peer(actor);
    op->words[0] = 1 + random_below(&actor->random, 1000);
    atomic_fetch_add(&op->peer->added[(2 * loan) + small], op->words[0]);
    atomic_fetch_add(&actor->soak->done[DONE_ATOMICS], 1);
    param          = op_param(actor, op, OP_SEND);
    param.datatype = ucp_dt_make_contig(small ? 4 : 8);
    if (fetch) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        param.reply_buffer = &op->words[1];
    }
    op_started(actor, op,
               ucp_atomic_op_nbx(op->peer->ep, UCP_ATOMIC_OP_ADD, &op->words[0],
                                 1,
                                 op->peer->addresses[loan] + SUMS +
                                     (small ? WORD32 : 0),
                                 op->peer->rkeys[loan], &param));
}

void amo_check(struct soak *soak, const uint64_t *expected)
{
    uint64_t word;
    uint32_t word32;
    int loan;

    for (loan = 0; loan < LOANS; ++loan) {
        memcpy(&word, soak->loans[loan].memory + SUMS, sizeof(word));
        memcpy(&word32, soak->loans[loan].memory + SUMS + WORD32,
               sizeof(word32));
        if ((word != expected[2 * loan]) ||
            (word32 != (uint32_t)expected[(2 * loan) + 1])) {
            FAIL("loan %d: the sums of atomics are %llu and %u, expected %llu "
                 "and %u",
                 loan, (unsigned long long)word, word32,
                 (unsigned long long)expected[2 * loan],
                 (uint32_t)expected[(2 * loan) + 1]);
        }
    }
}

static uint64_t result_of(ucp_atomic_op_t opcode, uint64_t old,
                          uint64_t operand, uint64_t reply)
{
    switch (opcode) {
    case UCP_ATOMIC_OP_ADD:
        return old + operand;
    case UCP_ATOMIC_OP_SWAP:
        return operand;
    case UCP_ATOMIC_OP_CSWAP:
        return (old == operand) ? reply : old;
    case UCP_ATOMIC_OP_AND:
        return old & operand;
    case UCP_ATOMIC_OP_OR:
        return old | operand;
    default:
        return old ^ operand;
    }
}

/* Performs any fetching operation on this thread's own word and checks its
 * result. */
void amo_fetch(struct actor *actor)
{
    struct random *random  = &actor->random;
    struct op *op          = op_new(actor, "fetching atomic", added);
    unsigned loan          = (unsigned)random_below(random, LOANS);
    bool small             = random_below(random, 2);
    uint64_t mask          = small ? UINT32_MAX : UINT64_MAX;
    ucp_atomic_op_t opcode = (ucp_atomic_op_t)random_below(random,
                                                           UCP_ATOMIC_OP_LAST);
    uint64_t *word, operand, reply;
    ucp_request_param_t param;

    op->peer = draw_peer(actor);
    word     = rma_word(actor, op->peer->rank, loan, small);
    operand  = random_next(random) & mask;
    if ((opcode == UCP_ATOMIC_OP_CSWAP) && random_below(random, 2)) {
        operand = *word; /* the comparison succeeds */
    }
    reply = random_next(random) & mask;
    atomic_fetch_add(&actor->soak->done[DONE_ATOMICS], 1);

    param          = op_param(actor, op, OP_SEND);
    param.datatype = ucp_dt_make_contig(small ? 4 : 8);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    param.reply_buffer = &actor->reply;
    actor->reply       = reply;
    op_started(actor, op,
               ucp_atomic_op_nbx(op->peer->ep, opcode, &operand, 1,
                                 op->peer->addresses[loan] + WORDS_AT +
                                     (16 * slot_of(actor)) +
                                     (small ? WORD32 : 0),
                                 op->peer->rkeys[loan], &param));
    op_wait(actor, op);
    EXPECT_INT(actor->reply & mask, ==, *word);
    *word = result_of(opcode, *word, operand, reply) & mask;
}
