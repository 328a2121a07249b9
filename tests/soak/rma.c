/* SPDX-License-Identifier: BSD-3-Clause */
/* Put, get, fence and flush of the soak test. Each thread has a slot of its own
 * in every loan of every process. It writes to an address of its slot at most
 * once until it has flushed and read back the slot. All threads read from areas
 * that never change. */
#include "soak.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PUTS = 64, MAX_GET = 200000, MAX_PUT = 60000 };

struct put {
    uint32_t offset, length;
    uint64_t name;
};

/* What a thread has written to a slot since it last read back the slot */
struct slot {
    struct put puts[MAX_PUTS];
    unsigned count;
    uint32_t end;
    /* What the thread's two words for atomics contain: 8 and 4 bytes */
    uint64_t words[2];
};

struct rma_state {
    struct slot slots[TEAM_MAX][LOANS];
    uint64_t next_name;
};

unsigned slot_of(const struct actor *actor)
{
    return (unsigned)((actor->soak->team->rank * MAX_THREADS) + actor->index);
}

uint64_t *rma_word(struct actor *actor, int rank, unsigned loan, bool small)
{
    return &actor->rma->slots[rank][loan].words[small];
}

/* Returns the name of the pattern in the area of a loan that never changes. */
static uint64_t calm_name(int rank, unsigned loan)
{
    return mix((uint64_t)rank, 100 + loan);
}

/* --- lending ------------------------------------------------------------- */

static void map(struct soak *soak, struct loan *loan, bool allocate)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .length = LOAN_SIZE,
        .flags  = allocate ? UCP_MEM_MAP_ALLOCATE : 0,
    };
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};

    loan->own      = allocate ? NULL : aligned_alloc(64, LOAN_SIZE);
    params.address = loan->own;
    EXPECT_OK(ucp_mem_map(soak->context, &params, &loan->memh));
    EXPECT_OK(ucp_mem_query(loan->memh, &attr));
    loan->memory = attr.address;
}

void rma_lend(struct soak *soak)
{
    unsigned i;

    for (i = 0; i < LOANS; ++i) {
        map(soak, &soak->loans[i], i == 0);
        memset(soak->loans[i].memory + SUMS, 0, LOAN_SIZE - SUMS);
        pattern_fill(soak->loans[i].memory + CALM,
                     calm_name(soak->team->rank, i), 0, CALM_SIZE);
    }
}

void rma_take_back(struct soak *soak)
{
    unsigned i;

    for (i = 0; i < LOANS; ++i) {
        pattern_check(soak->loans[i].memory + CALM,
                      calm_name(soak->team->rank, i), 0, CALM_SIZE,
                      "calm area");
        EXPECT_OK(ucp_mem_unmap(soak->context, soak->loans[i].memh));
        free(soak->loans[i].own);
    }
}

void rma_open(struct actor *actor)
{
    actor->rma = calloc(1, sizeof(*actor->rma));
    EXPECT(actor->rma != NULL);
}

void rma_close(struct actor *actor)
{
    free(actor->rma);
    actor->rma = NULL;
}

/* --- put and get --------------------------------------------------------- */

static void over(struct actor *actor, struct op *op)
{
    (void)actor;
    if (op->status != UCS_OK) {
        FAIL("%s of %zu bytes at %d: %s", op->what, op->payload.length,
             op->peer->rank, ucs_status_string(op->status));
    }
}

static uint64_t slot_address(const struct actor *actor, const struct peer *peer,
                             unsigned loan)
{
    return peer->addresses[loan] + ((uint64_t)slot_of(actor) * SLOT_SIZE);
}

/* Gets a slot, compares it with what was put there, and marks it as empty. */
static void check_slot(struct actor *actor, struct peer *peer, unsigned loan)
{
    struct slot *slot = &actor->rma->slots[peer->rank][loan];
    ucp_request_param_t param;
    char *copy;
    struct op *op;
    unsigned i;

    if (slot->count == 0) {
        return;
    }
    op       = op_new(actor, "get of what was put", over);
    op->peer = peer;
    copy     = malloc(slot->end);
    EXPECT(copy != NULL);
    param          = op_param(actor, op, OP_SEND);
    param.datatype = ucp_dt_make_contig(1);
    op_started(actor, op,
               ucp_get_nbx(peer->ep, copy, slot->end,
                           slot_address(actor, peer, loan), peer->rkeys[loan],
                           &param));
    op_wait(actor, op);
    for (i = 0; i < slot->count; ++i) {
        pattern_check(copy + slot->puts[i].offset, slot->puts[i].name, 0,
                      slot->puts[i].length, "put");
    }
    free(copy);
    slot->count = 0;
    slot->end   = 0;
}

/* Flushes the endpoint to `peer`, or with NULL the worker, and waits. */
static void flush(struct actor *actor, struct peer *peer)
{
    struct op *op = op_new(actor, "flush", over);
    ucp_request_param_t param;

    op->peer = (peer == NULL) ? &actor->soak->peers[0] : peer;
    param    = op_param(actor, op, OP_SEND);
    param.op_attr_mask &= ~(uint32_t)UCP_OP_ATTR_FIELD_DATATYPE;
    op_started(actor, op,
               (peer == NULL) ?
                   ucp_worker_flush_nbx(actor->soak->worker, &param) :
                   ucp_ep_flush_nbx(peer->ep, &param));
    op_wait(actor, op);
}

void rma_flush(struct actor *actor)
{
    switch (random_below(&actor->random, 4)) {
    case 0:
        flush(actor, NULL);
        break;
    case 1:
        flush(actor, draw_peer(actor));
        break;
    case 2:
        EXPECT_OK(ucp_worker_flush(actor->soak->worker));
        break;
    default:
        EXPECT_OK(ucp_worker_fence(actor->soak->worker));
        break;
    }
}

/* Flushes, and checks all that this thread has put to one process. */
static void check_peer(struct actor *actor, struct peer *peer)
{
    unsigned loan;

    flush(actor, peer);
    for (loan = 0; loan < LOANS; ++loan) {
        check_slot(actor, peer, loan);
    }
}

void rma_check(struct actor *actor)
{
    check_peer(actor, draw_peer(actor));
}

void rma_round_over(struct actor *actor)
{
    int rank;

    for (rank = 0; rank < actor->soak->team->size; ++rank) {
        check_peer(actor, &actor->soak->peers[rank]);
    }
}

void rma_put(struct actor *actor)
{
    struct op *op     = op_new(actor, "put", over);
    unsigned loan     = (unsigned)random_below(&actor->random, LOANS);
    struct peer *peer = draw_peer(actor);
    struct slot *slot = &actor->rma->slots[peer->rank][loan];
    size_t length     = draw_length(&actor->random, MAX_PUT);
    uint64_t to;
    ucp_request_param_t param;
    struct put *put;

    if ((slot->count == MAX_PUTS) || (slot->end + length > SLOT_SIZE)) {
        check_peer(actor, peer);
    }
    put  = &slot->puts[slot->count++];
    *put = (struct put){slot->end, (uint32_t)length,
                        mix(slot_of(actor), ++actor->rma->next_name)};
    slot->end += (uint32_t)length;
    to = slot_address(actor, peer, loan) + put->offset;

    op->peer = peer;
    op->name = put->name;
    op_payload(actor, op, length, CONTIG);
    payload_fill(&op->payload, put->name);
    atomic_fetch_add(&actor->soak->done[DONE_PUTS], 1);
    if (random_below(&actor->random, 16) == 0) {
        op_started(actor, op,
                   UCS_STATUS_PTR(ucp_put(peer->ep, op->payload.buffer, length,
                                          to, peer->rkeys[loan])));
        return;
    }
    param = op_param(actor, op, OP_SEND);
    op_started(actor, op,
               ucp_put_nbx(peer->ep, op->payload.buffer, length, to,
                           peer->rkeys[loan], &param));
}

/* Checks the data of a get. op->words: the loan, and the offset in the area of
 * the loan that never changes. */
static void got(struct actor *actor, struct op *op)
{
    over(actor, op);
    pattern_check(op->payload.memory,
                  calm_name(op->peer->rank, (unsigned)op->words[0]),
                  op->words[1], op->payload.length, op->what);
}

void rma_get(struct actor *actor)
{
    struct op *op = op_new(actor, "get", got);
    uint64_t from;
    ucp_request_param_t param;
    ucp_rkey_h rkey;

    op->peer     = draw_peer(actor);
    op->words[0] = random_below(&actor->random, LOANS);
    op_payload(actor, op, draw_length(&actor->random, MAX_GET), CONTIG);
    op->words[1] = random_below(&actor->random,
                                CALM_SIZE - op->payload.length + 1);
    from         = op->peer->addresses[op->words[0]] + CALM + op->words[1];
    rkey         = op->peer->rkeys[op->words[0]];
    atomic_fetch_add(&actor->soak->done[DONE_GETS], 1);
    if (random_below(&actor->random, 16) == 0) {
        op_started(actor, op,
                   UCS_STATUS_PTR(ucp_get(op->peer->ep, op->payload.buffer,
                                          op->payload.length, from, rkey)));
        return;
    }
    param = op_param(actor, op, OP_SEND);
    op_started(actor, op,
               ucp_get_nbx(op->peer->ep, op->payload.buffer, op->payload.length,
                           from, rkey, &param));
}
