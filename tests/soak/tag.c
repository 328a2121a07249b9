/* SPDX-License-Identifier: BSD-3-Clause */
/* Tagged messages of the soak test: received with a mask, by exact tag, or
 * after a probe; cancelled receives; truncation. */
#include "soak.h"

#include <stdlib.h>

enum {
    MAX_ANY      = 40000,
    MAX_EXACT    = 20000,
    MAX_PROBED   = 2 << 20,
    RARELY       = 40, /* One in this many messages is long */
    USUAL_PROBED = 64 * 1024,
    POSTED       = 2,  /* Receives of each kind that are kept posted */
    NEVER        = 15, /* A class that no message has */
};

static const ucp_tag_t CLASS = (ucp_tag_t)0xf << 60;
static const ucp_tag_t ALL   = ~(ucp_tag_t)0;

/* Returns the name of the pattern of a message, which also depends on the
 * length. */
static uint64_t content(uint64_t name, size_t length)
{
    return mix(name, length);
}

/* --- sending ------------------------------------------------------------- */

static void sent(struct actor *actor, struct op *op)
{
    (void)actor;
    if (op->status != UCS_OK) {
        FAIL("%s %llx to %d: %s", op->what, (unsigned long long)op->name,
             op->peer->rank, ucs_status_string(op->status));
    }
}

static size_t draw_size(struct random *random, enum class class)
{
    switch (class) {
    case TAG_ANY:
        return draw_length(random, MAX_ANY);
    case TAG_EXACT:
        return draw_length(random, MAX_EXACT);
    default:
        return draw_length(random, random_below(random, RARELY) ? USUAL_PROBED :
                                                                  MAX_PROBED);
    }
}

/* Sends by the deprecated function, with a request in memory of the test. */
static void send_nbr(struct actor *actor, struct op *op)
{
    size_t size = actor->soak->request_size;
    ucs_status_t status;

    op->form  = PLACE_POLL;
    op->place = malloc(size);
    EXPECT(op->place != NULL);
    status = ucp_tag_send_nbr(op->peer->ep, op->payload.buffer,
                              op->payload.count, op->payload.datatype, op->name,
                              op->place + size);
    op_started(actor, op,
               (status == UCS_INPROGRESS) ? (void *)(op->place + size) :
                                            UCS_STATUS_PTR(status));
}

void tag_send(struct actor *actor)
{
    enum class class = (enum class)random_below(&actor->random, TAG_PROBED + 1);
    struct op *op    = op_new(actor, "tagged send", sent);
    unsigned way     = (unsigned)random_below(&actor->random, 8);
    ucp_request_param_t param;
    ucs_status_ptr_t result;

    op->peer = draw_peer(actor);
    op_payload(actor, op, draw_size(&actor->random, class),
               draw_layout(&actor->random));
    op->name = name_next(op->peer, class);
    payload_fill(&op->payload, content(op->name, op->payload.length));
    if (way == 0) {
        send_nbr(actor, op);
        return;
    }
    param  = op_param(actor, op, OP_SEND);
    result = (way == 1) ?
                 ucp_tag_send_sync_nbx(op->peer->ep, op->payload.buffer,
                                       op->payload.count, op->name, &param) :
                 ucp_tag_send_nbx(op->peer->ep, op->payload.buffer,
                                  op->payload.count, op->name, &param);
    op_started(actor, op, result);
}

/* --- receiving ----------------------------------------------------------- */

static void check(struct actor *actor, struct op *op, enum class class)
{
    if (op->status != UCS_OK) {
        FAIL("%s %llx: %s", op->what, (unsigned long long)op->name,
             ucs_status_string(op->status));
    }
    payload_check(&op->payload, content(op->info.sender_tag, op->info.length),
                  op->info.length, op->what);
    name_received(actor->soak, class, op->info.sender_tag);
}

static struct op *receive_op(struct actor *actor, const char *what,
                             op_end_t end, size_t room)
{
    struct op *op      = op_new(actor, what, end);
    enum layout layout = draw_layout(&actor->random);

    /* a message's length may be no multiple of a word, which WORDS requires */
    op_payload(actor, op, room, (layout == WORDS) ? CONTIG : layout);
    op->detached = true;
    return op;
}

static void post(struct actor *actor, struct op *op, ucp_tag_t tag,
                 ucp_tag_t mask)
{
    ucp_request_param_t param = op_param(actor, op, OP_TAG_RECV);

    op_started(actor, op,
               ucp_tag_recv_nbx(actor->soak->worker, op->payload.buffer,
                                op->payload.count, tag, mask, &param));
}

static void any_received(struct actor *actor, struct op *op)
{
    --actor->posted_any;
    if (!op->cancelled || (op->status != UCS_ERR_CANCELED)) {
        check(actor, op, TAG_ANY);
    }
}

static void post_any(struct actor *actor)
{
    ++actor->posted_any;
    post(actor, receive_op(actor, "receive by mask", any_received, MAX_ANY),
         (ucp_tag_t)TAG_ANY << 60, CLASS);
}

static void exact_received(struct actor *actor, struct op *op)
{
    atomic_fetch_sub(&op->peer->posted_exact, 1);
    --actor->posted_exact;
    if (!op->cancelled || (op->status != UCS_ERR_CANCELED)) {
        EXPECT_INT(op->info.sender_tag, ==, op->name);
        check(actor, op, TAG_EXACT);
    }
}

static void post_exact(struct actor *actor, struct peer *peer)
{
    struct op *op   = receive_op(actor, "receive by tag", exact_received,
                                 MAX_EXACT);
    uint64_t number = atomic_fetch_add(&peer->next_exact, 1);

    op->peer = peer;
    op->name = ((uint64_t)TAG_EXACT << 60) | ((uint64_t)peer->rank << 56) |
               number;
    ++actor->posted_exact;
    post(actor, op, op->name, ALL);
}

static void probed_received(struct actor *actor, struct op *op)
{
    --actor->taking;
    if (op->may_fail) { /* the buffer was made too short */
        EXPECT_STATUS(op->status, UCS_ERR_MESSAGE_TRUNCATED);
        name_received(actor->soak, TAG_PROBED, op->name);
        return;
    }
    EXPECT_INT(op->info.length, ==, op->payload.length);
    EXPECT_INT(op->info.sender_tag, ==, op->name);
    check(actor, op, TAG_PROBED);
}

static void take_probed(struct actor *actor)
{
    struct soak *soak = actor->soak;
    ucp_tag_t tag     = (ucp_tag_t)TAG_PROBED << 60;
    /* With several threads, another one may receive the message between the
     * probe and the receive: then the probe removes the message. */
    bool take         = (soak->threads > 1) || random_below(&actor->random, 4);
    ucp_tag_recv_info_t info;
    ucp_tag_message_h message;
    ucp_request_param_t param;
    struct op *op;
    bool truncate;

    message = ucp_tag_probe_nb(soak->worker, tag, CLASS, take, &info);
    if (message == NULL) {
        return;
    }
    truncate = (info.length > 1) && (random_below(&actor->random, 30) == 0);
    op       = op_new(actor, "probed receive", probed_received);
    op_payload(actor, op, truncate ? info.length / 2 : info.length,
               draw_layout(&actor->random));
    op->detached = true;
    op->name     = info.sender_tag;
    op->may_fail = truncate;
    ++actor->taking;
    if (!take) {
        post(actor, op, op->name, ALL);
        return;
    }
    param = op_param(actor, op, OP_TAG_RECV);
    op_started(actor, op,
               ucp_tag_msg_recv_nbx(soak->worker, op->payload.buffer,
                                    op->payload.count, message, &param));
}

void tag_serve(struct actor *actor)
{
    struct soak *soak = actor->soak;
    int rank;

    if (actor->stopping) {
        return;
    }
    while (actor->posted_any < POSTED) {
        post_any(actor);
    }
    for (rank = 0; rank < soak->team->size; ++rank) {
        if (atomic_fetch_add(&soak->peers[rank].posted_exact, 1) < POSTED) {
            post_exact(actor, &soak->peers[rank]);
        } else {
            atomic_fetch_sub(&soak->peers[rank].posted_exact, 1);
        }
    }
    take_probed(actor);
}

/* --- cancelling ---------------------------------------------------------- */

static void in_vain(struct actor *actor, struct op *op)
{
    (void)actor;
    EXPECT_STATUS(op->status, UCS_ERR_CANCELED);
}

void tag_in_vain(struct actor *actor)
{
    struct op *op = receive_op(actor, "receive to be cancelled", in_vain,
                               draw_length(&actor->random, MAX_ANY));

    op->detached = false;
    post(actor, op, (ucp_tag_t)NEVER << 60, CLASS);
    op_cancel(actor, op);
}

static void cancel_posted(struct actor *actor)
{
    struct op *op;

    for (op = actor->ops; op != NULL; op = op->next) {
        if ((op->end == any_received) || (op->end == exact_received)) {
            op_cancel(actor, op);
        }
    }
}

/* All messages of this round have arrived: receives that are still posted have
 * no message, and are cancelled. */
void tag_round_over(struct actor *actor)
{
    double deadline = actor_deadline();

    EXPECT_INT(actor->taking, ==, 0);
    actor->stopping = true;
    cancel_posted(actor);
    while ((actor->posted_any > 0) || (actor->posted_exact > 0)) {
        actor_step(actor);
        actor_late(actor, deadline, "cancelling");
    }
}
