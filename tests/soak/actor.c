/* SPDX-License-Identifier: BSD-3-Clause */
/* An actor: a thread of the test, with its random choices, the names of its
 * messages, its operations, and waiting. Other files implement the classes of
 * operations. */
#include "soak.h"

#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IDLE_MAX = 300, NAP = 10 /* milliseconds */ };

static const double LATE = 40; /* Longest wait, in seconds */

/* --- drawing ------------------------------------------------------------- */

/* Returns a random length from 0 to `max`, on a logarithmic scale, often close
 * to a power of two. */
size_t draw_length(struct random *random, size_t max)
{
    unsigned shifts = 64 - (unsigned)__builtin_clzll(max | 1);
    size_t top      = (size_t)1 << random_below(random, shifts);
    size_t length;

    if (random_below(random, 4) == 0) {
        length = top + random_below(random, 17) - 8;
    } else {
        length = random_below(random, 2 * top);
    }
    return (length > max) ? random_below(random, max + 1) : length;
}

enum layout draw_layout(struct random *random)
{
    return random_below(random, 2) ?
               CONTIG :
               (enum layout)random_below(random, NUM_LAYOUTS);
}

/* Returns a random peer, which may be this process. */
struct peer *draw_peer(struct actor *actor)
{
    struct soak *soak = actor->soak;

    return &soak->peers[random_below(&actor->random,
                                     (uint64_t)soak->team->size)];
}

/* A name has the class in its upper 4 bits, the sender's rank in the next 4,
 * and the number in the others. */
uint64_t name_of(const struct peer *to, enum class class, uint64_t number)
{
    return ((uint64_t) class << 60) | ((uint64_t)to->soak->team->rank << 56) |
           number;
}

unsigned rank_of_name(uint64_t name)
{
    return (name >> 56) & 0xf;
}

uint64_t number_of_name(uint64_t name)
{
    return name & (((uint64_t)1 << 56) - 1);
}

uint64_t name_next(struct peer *to, enum class class)
{
    uint64_t name = name_of(to, class, atomic_fetch_add(&to->next[class], 1));

    tally_add(&to->sent[class], name);
    atomic_fetch_add(&to->soak->done[class], 1);
    return name;
}

void name_received(struct soak *soak, enum class class, uint64_t name)
{
    if (((name >> 60) != (uint64_t) class) ||
        (rank_of_name(name) >= (unsigned)soak->team->size)) {
        FAIL("a message of class %d is called %llx", class,
             (unsigned long long)name);
    }
    tally_add(&soak->peers[rank_of_name(name)].received[class], name);
}

void tally_add(struct tally *tally, uint64_t name)
{
    atomic_fetch_add(&tally->sum, mix(name, 2));
    atomic_fetch_add(&tally->count, 1);
}

double actor_deadline(void)
{
    return test_now() + test_seconds(LATE);
}

void actor_late(struct actor *actor, double deadline, const char *what)
{
    const struct op *op;

    if (test_now() < deadline) {
        return;
    }
    for (op = actor->ops; op != NULL; op = op->next) {
        if (!op->detached) {
            fprintf(stderr, "[%d] not over: %s %llx of %zu bytes, peer %d\n",
                    (int)getpid(), op->what, (unsigned long long)op->name,
                    op->has_payload ? op->payload.length : 0,
                    (op->peer == NULL) ? -1 : op->peer->rank);
        }
    }
    FAIL("round %llu, thread %d: %s: not over after %.0f s",
         (unsigned long long)actor->soak->round, actor->index, what,
         test_seconds(LATE));
}

/* --- operations ---------------------------------------------------------- */

struct op *op_new(struct actor *actor, const char *what, op_end_t end)
{
    struct op *op = calloc(1, sizeof(*op));

    EXPECT(op != NULL);
    op->what = what;
    op->end  = end;
    return op;
}

void op_payload(struct actor *actor, struct op *op, size_t length,
                enum layout layout)
{
    payload_open(&op->payload, actor->soak, length, layout, &actor->random);
    op->has_payload = true;
}

static void ended(struct op *op, void *request, ucs_status_t status)
{
    EXPECT(!atomic_load(&op->done));
    op->status = status;
    if ((op->form == BY_CALLBACK) || (op->form == BY_POLL)) {
        ucp_request_free(request);
    }
    atomic_store(&op->done, true);
}

static void on_sent(void *request, ucs_status_t status, void *arg)
{
    ended(arg, request, status);
}

static void on_tag_received(void *request, ucs_status_t status,
                            const ucp_tag_recv_info_t *info, void *arg)
{
    ((struct op *)arg)->info = *info;
    ended(arg, request, status);
}

static void on_received(void *request, ucs_status_t status, size_t length,
                        void *arg)
{
    ((struct op *)arg)->length = length;
    ended(arg, request, status);
}

static void set_callback(struct op *op, enum op_kind kind,
                         ucp_request_param_t *param)
{
    param->op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK |
                           UCP_OP_ATTR_FIELD_USER_DATA;
    param->user_data = op;
    switch (kind) {
    case OP_SEND:
        param->cb.send = on_sent;
        break;
    case OP_TAG_RECV:
        param->cb.recv = on_tag_received;
        break;
    case OP_AM_RECV:
        param->cb.recv_am = on_received;
        break;
    default:
        param->cb.recv_stream = on_received;
        break;
    }
}

/* Returns a random form that is possible. Stream receives and active message
 * receives return their length only to a callback or at once. If there are
 * several threads, a tagged receive must not be freed by its callback, because
 * that may run in another thread while this one cancels the request. */
static enum op_form draw_form(struct actor *actor, enum op_kind kind)
{
    enum op_form form = (enum op_form)random_below(&actor->random, NUM_FORMS);

    if ((kind == OP_AM_RECV) || (kind == OP_STREAM_RECV)) {
        return ((form == BY_POLL) || (form == PLACE_POLL)) ? BY_CALLBACK : form;
    }
    if ((kind == OP_TAG_RECV) && (actor->soak->threads > 1)) {
        return (form == BY_CALLBACK) ? BY_POLL : form;
    }
    return form;
}

ucp_request_param_t op_param(struct actor *actor, struct op *op,
                             enum op_kind kind)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = op->payload.datatype,
    };
    size_t size = actor->soak->request_size;

    op->kind = kind;
    op->form = draw_form(actor, kind);
    if ((op->form == PLACE_CALLBACK) || (op->form == PLACE_POLL)) {
        op->place = malloc(size);
        EXPECT(op->place != NULL);
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REQUEST;
        param.request = op->place + size;
    }
    if ((op->form == BY_CALLBACK) || (op->form == PLACE_CALLBACK)) {
        set_callback(op, kind, &param);
    }
    if ((kind == OP_TAG_RECV) || (kind == OP_AM_RECV)) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_RECV_INFO;
        if (kind == OP_TAG_RECV) {
            param.recv_info.tag_info = &op->info;
        } else {
            param.recv_info.length = &op->length;
        }
    }
    switch (random_below(&actor->random, 8)) {
    case 0:
        param.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
        break;
    case 1:
        param.op_attr_mask |= UCP_OP_ATTR_FLAG_FAST_CMPL;
        break;
    case 2:
        param.op_attr_mask |= UCP_OP_ATTR_FLAG_MULTI_SEND;
        break;
    default:
        break;
    }
    return param;
}

static void op_free(struct op *op)
{
    if (op->has_payload) {
        payload_close(&op->payload);
    }
    free(op->place);
    free(op);
}

void op_started(struct actor *actor, struct op *op, ucs_status_ptr_t result)
{
    if (UCS_PTR_IS_ERR(result) && !op->may_fail) {
        FAIL("%s %llx of %zu bytes: %s", op->what, (unsigned long long)op->name,
             op->has_payload ? op->payload.length : 0,
             ucs_status_string(UCS_PTR_STATUS(result)));
    }
    if (!UCS_PTR_IS_PTR(result)) {
        /* the operation is complete: its callback is not called */
        EXPECT(!atomic_load(&op->done));
        op->status = UCS_PTR_STATUS(result);
        atomic_store(&op->done, true);
    } else {
        op->request = result;
    }
    op->next   = actor->ops;
    actor->ops = op;
    if (!op->detached) {
        ++actor->num_ops;
        actor->bytes += op->has_payload ? op->payload.length : 0;
    }
}

/* Checks the status of a request that has no callback. */
static void poll_request(struct op *op)
{
    ucs_status_t status;

    if (((op->form != BY_POLL) && (op->form != PLACE_POLL)) ||
        (op->request == NULL) || atomic_load(&op->done)) {
        return;
    }
    status = (op->kind == OP_TAG_RECV) ?
                 ucp_tag_recv_request_test(op->request, &op->info) :
                 ucp_request_check_status(op->request);
    if (status != UCS_INPROGRESS) {
        ended(op, op->request, status);
    }
}

static void end_op(struct actor *actor, struct op *op)
{
    if (!op->detached) {
        --actor->num_ops;
        actor->bytes -= op->has_payload ? op->payload.length : 0;
    }
    op->end(actor, op);
    op_free(op);
}

/* First removes all complete operations from the list, then ends them: their
 * functions may start new operations, which are added at its head. */
void actor_end_ops(struct actor *actor)
{
    struct op **link = &actor->ops, *op, *over = NULL;

    while ((op = *link) != NULL) {
        poll_request(op);
        if (!atomic_load(&op->done)) {
            link = &op->next;
            continue;
        }
        *link    = op->next;
        op->next = over;
        over     = op;
    }
    while ((op = over) != NULL) {
        over = op->next;
        end_op(actor, op);
    }
}

void op_cancel(struct actor *actor, struct op *op)
{
    if (!atomic_load(&op->done) && (op->request != NULL)) {
        op->cancelled = true;
        ucp_request_cancel(actor->soak->worker, op->request);
    }
}

/* --- waiting ------------------------------------------------------------- */

/* Sleeps until an event, at most NAP milliseconds. So a lost wake-up only makes
 * this test slow; the integration tests check for it. */
static void nap(struct actor *actor)
{
    struct pollfd event = {.events = POLLIN};
    ucs_status_t status = ucp_worker_arm(actor->soak->worker);

    if (status == UCS_ERR_BUSY) {
        return;
    }
    EXPECT_OK(status);
    EXPECT_OK(ucp_worker_get_efd(actor->soak->worker, &event.fd));
    poll(&event, 1, NAP);
}

void actor_step(struct actor *actor)
{
    if (ucp_worker_progress(actor->soak->worker) != 0) {
        actor->idle = 0;
    } else if (actor->soak->sleeps && (++actor->idle > IDLE_MAX)) {
        nap(actor);
    } else {
        /* lets others run: there may be more threads than cores */
        sched_yield();
    }
    tag_serve(actor);
    am_serve(actor);
    stream_serve(actor);
    actor_end_ops(actor);
}

void op_wait(struct actor *actor, struct op *op)
{
    double deadline = actor_deadline();
    struct op **link;

    for (;;) {
        poll_request(op);
        if (atomic_load(&op->done)) {
            break;
        }
        actor_late(actor, deadline, op->what);
        /* Removes `op` from the list during the step, so that only this
         * function ends it. */
        for (link = &actor->ops; *link != op; link = &(*link)->next) {
        }
        *link = op->next;
        actor_step(actor);
        op->next   = actor->ops;
        actor->ops = op;
    }
    for (link = &actor->ops; *link != op; link = &(*link)->next) {
    }
    *link = op->next;
    if (op->status != UCS_OK) {
        FAIL("%s %llx: %s", op->what, (unsigned long long)op->name,
             ucs_status_string(op->status));
    }
    end_op(actor, op);
}
