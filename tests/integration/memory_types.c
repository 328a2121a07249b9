/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is inaccessible to the processor, on either side or both, in
 * messages of every class (memory_rma tests the rest). A direct access crashes:
 * the pages have no access rights. The tests use the descriptor behind the
 * memory (tests/plugins/opaque).
 */
#include "common/data.h"
#include "common/memory.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DRIVER,
    PEER,
    MOST  = 4 * 1024 * 1024,
    GUARD = MEMORY_GUARD,
    SIZE  = MOST + GUARD,
    AM_ID = 7,
    CROWD = 6,
    BURST = 100,
};

static const size_t sizes[] = {0,      1,      7,       64,   65,
                               2000,   8100,   8192,    9000, 70000,
                               262144, 262145, 1000003, MOST};

enum { NUM_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static const uint64_t features = UCP_FEATURE_TAG | UCP_FEATURE_AM |
                                 UCP_FEATURE_STREAM | UCP_FEATURE_WAKEUP;

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    struct memory memory[MEMORY_MAX_KINDS];
    /* Number of the next message; the same on both sides */
    uint64_t message;
    /* of the expected active message */
    struct memory *into;
    size_t arrived;
    bool there;
    struct side_op op;
};

/* --------------------------------------------------------------- waiting -- */

static void agree(struct talk *talk)
{
    team_barrier(talk->team, side_progress, &talk->side);
}

/* Sleeps when there are no events: an outstanding copy must prevent the
 * sleep. */
static ucs_status_t finish(struct talk *talk, ucs_status_ptr_t request)
{
    double end = test_now() + test_seconds(30);
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_RAW_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        if (ucp_worker_progress(talk->side.worker) == 0) {
            EXPECT_OK(ucp_worker_wait(talk->side.worker));
        }
        if (test_now() > end) {
            FAIL("an operation is not over after 30 s");
        }
    }
    ucp_request_free(request);
    return status;
}

/* ------------------------------------------------------------------- tag -- */

enum way { PLAIN, SYNC, HINTED, REGISTERED, EARLY, WAYS };

/* The user may set the memory type, or leave it to detection. */
static ucp_request_param_t param_for(const struct memory *memory, int kind,
                                     enum way way)
{
    ucp_request_param_t param = {0};

    if (way == HINTED) {
        param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
        param.memory_type  = memory_kind_type(kind);
    } else if (way == REGISTERED) {
        param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH;
        param.memh         = memory->memh;
    }
    return param;
}

static void tag_once(struct talk *talk, int from, int to, size_t length,
                     enum way way)
{
    int sends                 = (talk->team->rank == DRIVER);
    struct memory *memory     = &talk->memory[sends ? from : to];
    ucp_request_param_t param = param_for(memory, sends ? from : to, way);
    ucp_tag_t tag             = ++talk->message;
    ucs_status_ptr_t request;
    ucp_tag_recv_info_t info;

    if (sends) {
        data_fill(memory->view, length, tag);
        request = (way == SYNC) ?
                      ucp_tag_send_sync_nbx(talk->ep->ep, memory->address,
                                            length, tag, &param) :
                      ucp_tag_send_nbx(talk->ep->ep, memory->address, length,
                                       tag, &param);
        EXPECT_OK(finish(talk, request));
        return;
    }

    memory_prepare(memory, length);
    if (way == EARLY) {
        while (ucp_tag_probe_nb(talk->side.worker, tag, UINT64_MAX, 0, &info) ==
               NULL) {
            side_progress(&talk->side);
        }
    }
    EXPECT_OK(finish(talk, ucp_tag_recv_nbx(talk->side.worker, memory->address,
                                            length + (size_t)(way == SYNC), tag,
                                            UINT64_MAX, &param)));
    memory_verify(memory, length, tag);
}

static void test_tag(struct talk *talk, int from, int to)
{
    unsigned i;
    int way;

    for (i = 0; i < NUM_SIZES; ++i) {
        for (way = PLAIN; way < WAYS; ++way) {
            tag_once(talk, from, to, sizes[i], (enum way)way);
        }
    }
}

/* Large messages in both directions at once: more than there are fragments. */
static void test_crowd(struct talk *talk, int from, int to)
{
    const size_t length       = MOST / CROWD / 64 * 64 - GUARD;
    struct memory *out        = &talk->memory[from];
    struct memory *in         = &talk->memory[to];
    uint64_t mine             = 1000 + 100 * (uint64_t)talk->team->rank;
    uint64_t theirs           = 1100 - 100 * (uint64_t)talk->team->rank;
    ucp_request_param_t param = {0};
    ucs_status_ptr_t requests[2 * CROWD];
    size_t stride = length + GUARD;
    struct memory one;
    int i;

    if (from == to) {
        return; /* source and destination must differ */
    }
    for (i = 0; i < CROWD; ++i) {
        one = (struct memory){.view = in->view + i * stride};
        memory_prepare(&one, length);
        data_fill(out->view + i * stride, length, mine + i);
    }
    agree(talk);
    for (i = 0; i < CROWD; ++i) {
        requests[i]         = ucp_tag_recv_nbx(talk->side.worker,
                                               in->address + i * stride, length,
                                               theirs + i, UINT64_MAX, &param);
        requests[CROWD + i] = ucp_tag_send_nbx(talk->ep->ep,
                                               out->address + i * stride,
                                               length, mine + i, &param);
    }
    for (i = 0; i < 2 * CROWD; ++i) {
        EXPECT_OK(finish(talk, requests[i]));
    }
    for (i = 0; i < CROWD; ++i) {
        one = (struct memory){.view = in->view + i * stride};
        memory_verify(&one, length, theirs + i);
    }
    agree(talk);
}

/* Returns the length of a message of a burst: most are small. */
static size_t burst_length(int i)
{
    return ((i % 16) == 15) ? 9000 : (size_t)(i * 37) % 4200;
}

/* Every fifth message of a burst is of host memory. */
static int burst_kind(int i, int kind)
{
    return ((i % 5) == 4) ? 0 : kind;
}

/* Many small messages in both directions at once, all with one tag: they arrive
 * in order, whether their copies are made in the background or not. Half of the
 * receives are posted before. */
static void test_burst(struct talk *talk, int from, int to)
{
    const uint64_t mine       = 2000 + (uint64_t)talk->team->rank;
    const uint64_t theirs     = 2001 - (uint64_t)talk->team->rank;
    const size_t stride       = MOST / BURST / 2 / 64 * 64;
    ucp_request_param_t param = {0};
    ucs_status_ptr_t sends[BURST], recvs[BURST];
    struct memory one;
    size_t at, length;
    int i, kind;

    for (i = 0; i < BURST; ++i) {
        at   = (size_t)i * stride;
        kind = burst_kind(i, from);
        data_fill(talk->memory[kind].view + MOST / 2 + at, burst_length(i),
                  mine * BURST + i);
        kind = burst_kind(i, to);
        one  = (struct memory){.view = talk->memory[kind].view + at};
        memory_prepare(&one, burst_length(i));
    }
    agree(talk);
    for (i = 0; i < BURST; ++i) {
        if (i == BURST / 2) {
            for (kind = 0; kind < BURST; ++kind) {
                sends[kind] = ucp_tag_send_nbx(
                    talk->ep->ep,
                    talk->memory[burst_kind(kind, from)].address + MOST / 2 +
                        (size_t)kind * stride,
                    burst_length(kind), mine, &param);
            }
        }
        recvs[i] = ucp_tag_recv_nbx(talk->side.worker,
                                    talk->memory[burst_kind(i, to)].address +
                                        (size_t)i * stride,
                                    burst_length(i), theirs, UINT64_MAX,
                                    &param);
    }
    for (i = 0; i < BURST; ++i) {
        EXPECT_OK(finish(talk, sends[i]));
        EXPECT_OK(finish(talk, recvs[i]));
    }
    for (i = 0; i < BURST; ++i) {
        length = burst_length(i);
        kind   = burst_kind(i, to);
        one    = (struct memory){.view = talk->memory[kind].view + i * stride};
        memory_verify(&one, length, theirs * BURST + i);
    }
    agree(talk);
}

/* ------------------------------------------------------------------- iov -- */

/* Divides memory into entries of uneven lengths, some of them empty. Every
 * third is in `other` unless that is NULL. Returns their number. */
static size_t cut(ucp_dt_iov_t *iov, size_t max, size_t length,
                  const struct memory *memory, const struct memory *other)
{
    size_t count = 0, offset = 0, piece;

    while (offset < length) {
        piece = (count % 5 == 4) ? 0 : 1 + (count * 977) % (length / 8 + 1);
        if ((piece > length - offset) || (count == max - 1)) {
            piece = length - offset;
        }
        iov[count].buffer = ((other != NULL) && (count % 3 == 1)) ?
                                other->address + offset :
                                memory->address + offset;
        iov[count].length = piece;
        offset += piece;
        ++count;
    }
    return count;
}

/* Copies every third entry from `memory` to `other`, or back. */
static void scatter(const ucp_dt_iov_t *iov, size_t count,
                    struct memory *memory, struct memory *other, bool back)
{
    size_t i, offset = 0;

    for (i = 0; i < count; ++i) {
        if (i % 3 == 1) {
            memcpy((back ? memory : other)->view + offset,
                   (back ? other : memory)->view + offset, iov[i].length);
        }
        offset += iov[i].length;
    }
}

/* A list has memory of one device's type at most. */
static int partner_of(int kind)
{
    int partner = (kind + 1) % memory_kinds();

    return (UCS_MEM_IS_ACCESSIBLE_FROM_CPU(memory_kind_type(kind)) ||
            UCS_MEM_IS_ACCESSIBLE_FROM_CPU(memory_kind_type(partner))) ?
               partner :
               0;
}

static void iov_once(struct talk *talk, int from, int to, size_t length,
                     bool mixed)
{
    int sends                 = (talk->team->rank == DRIVER);
    int kind                  = sends ? from : to;
    struct memory *memory     = &talk->memory[kind];
    struct memory *other      = mixed ? &talk->memory[partner_of(kind)] : NULL;
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_iov(),
    };
    ucp_tag_t tag = ++talk->message;
    ucp_dt_iov_t iov[60];
    size_t count;

    count = cut(iov, sends ? 20 : 60, length, memory, other);
    if (sends) {
        data_fill(memory->view, length, tag);
        if (mixed) {
            scatter(iov, count, memory, other, false);
        }
        EXPECT_OK(finish(talk, ucp_tag_send_nbx(talk->ep->ep, iov, count, tag,
                                                &param)));
        return;
    }

    memory_prepare(memory, length);
    EXPECT_OK(finish(talk, ucp_tag_recv_nbx(talk->side.worker, iov, count, tag,
                                            UINT64_MAX, &param)));
    if (mixed) {
        scatter(iov, count, memory, other, true);
    }
    memory_verify(memory, length, tag);
}

static void test_iov(struct talk *talk, int from, int to)
{
    unsigned i;

    for (i = 1; i < NUM_SIZES; ++i) {
        iov_once(talk, from, to, sizes[i], false);
        iov_once(talk, from, to, sizes[i], true);
    }
}

/* ------------------------------------------------------- active messages -- */

static void am_received(void *request, ucs_status_t status, size_t length,
                        void *arg)
{
    struct talk *talk = arg;

    EXPECT_OK(status);
    talk->arrived = length;
    talk->there   = true;
    ucp_request_free(request);
}

static ucs_status_t am_handler(void *arg, const void *header,
                               size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    struct talk *talk               = arg;
    ucp_request_param_t recv_params = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.recv_am = am_received,
        .user_data  = talk,
    };
    ucs_status_ptr_t request;

    EXPECT_INT(header_length, ==, sizeof(talk->message));
    EXPECT(memcmp(header, &talk->message, header_length) == 0);
    if (!(param->recv_attr &
          (UCP_AM_RECV_ATTR_FLAG_RNDV | UCP_AM_RECV_ATTR_FLAG_DATA))) {
        FAIL("a handler for lasting data is given data that does not last");
    }
    request = ucp_am_recv_data_nbx(talk->side.worker, data, talk->into->address,
                                   length, &recv_params);
    if (!UCS_PTR_IS_PTR(request)) {
        EXPECT_OK(UCS_PTR_STATUS(request));
        talk->arrived = length;
        talk->there   = true;
    }
    return UCS_OK;
}

static void am_once(struct talk *talk, int from, int to, size_t length,
                    unsigned flags)
{
    int sends                 = (talk->team->rank == DRIVER);
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = flags,
    };
    struct memory *memory = &talk->memory[sends ? from : to];

    ++talk->message;
    talk->into  = memory;
    talk->there = false;
    if (!sends) {
        memory_prepare(memory, length);
    } else {
        data_fill(memory->view, length, talk->message);
    }
    agree(talk);
    if (sends) {
        EXPECT_OK(
            finish(talk, ucp_am_send_nbx(talk->ep->ep, AM_ID, &talk->message,
                                         sizeof(talk->message), memory->address,
                                         length, &param)));
    } else {
        while (!talk->there) {
            side_progress(&talk->side);
        }
        EXPECT_INT(talk->arrived, ==, length);
        memory_verify(memory, length, talk->message);
    }
    agree(talk);
}

static void test_am(struct talk *talk, int from, int to)
{
    unsigned i;

    for (i = 0; i < NUM_SIZES; ++i) {
        am_once(talk, from, to, sizes[i], 0);
        am_once(talk, from, to, sizes[i],
                UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY);
        am_once(talk, from, to, sizes[i], UCP_AM_SEND_FLAG_RNDV);
    }
}

/* --------------------------------------------------------------- streams -- */

static void stream_once(struct talk *talk, int from, int to, size_t length)
{
    int sends                 = (talk->team->rank == DRIVER);
    struct memory *memory     = &talk->memory[sends ? from : to];
    ucp_request_param_t param = {0};
    uint64_t message          = ++talk->message;
    size_t got                = 0;

    if (sends) {
        data_fill(memory->view, length, message);
        EXPECT_OK(
            finish(talk, ucp_stream_send_nbx(talk->ep->ep, memory->address,
                                             length, &param)));
    } else {
        memory_prepare(memory, length);
        param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        param.flags        = UCP_STREAM_RECV_FLAG_WAITALL;
        EXPECT_OK(
            finish(talk, ucp_stream_recv_nbx(talk->ep->ep, memory->address,
                                             length, &got, &param)));
        memory_verify(memory, length, message);
    }
}

static void test_stream(struct talk *talk, int from, int to)
{
    unsigned i;

    for (i = 1; i < NUM_SIZES; ++i) {
        stream_once(talk, from, to, sizes[i]);
    }
}

/* --------------------------------------------------------------- queries -- */

static void test_answers(struct talk *talk)
{
    ucp_context_attr_t context = {.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES};
    ucp_request_attr_t request = {
        .field_mask = UCP_REQUEST_ATTR_FIELD_MEM_TYPE,
    };
    ucp_request_param_t param   = {0};
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_ADDRESS,
        .address = talk->memory[1].address + 64,
        .length  = 4096,
    };
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_MEM_TYPE};
    ucs_status_ptr_t pointer;
    ucp_mem_h memh;

    EXPECT_OK(ucp_context_query(talk->side.context, &context));
    EXPECT(context.memory_types & UCS_BIT(UCS_MEMORY_TYPE_HOST));
    EXPECT(context.memory_types & UCS_BIT(MEMORY_OPAQUE_TYPE));

    /* memory that is mapped without a type */
    EXPECT_OK(ucp_mem_map(talk->side.context, &params, &memh));
    EXPECT_OK(ucp_mem_query(memh, &attr));
    EXPECT_INT(attr.mem_type, ==, MEMORY_OPAQUE_TYPE);
    EXPECT_OK(ucp_mem_unmap(talk->side.context, memh));

    pointer = ucp_tag_recv_nbx(talk->side.worker, talk->memory[1].address, 8, 1,
                               UINT64_MAX, &param);
    EXPECT(UCS_PTR_IS_PTR(pointer));
    EXPECT_OK(ucp_request_query(pointer, &request));
    EXPECT_INT(request.mem_type, ==, MEMORY_OPAQUE_TYPE);
    ucp_request_cancel(talk->side.worker, pointer);
    EXPECT_STATUS(finish(talk, pointer), UCS_ERR_CANCELED);

    /* a type without a copier, and an invalid type */
    param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    param.memory_type  = MEMORY_FOREIGN_TYPE;
    EXPECT_STATUS(UCS_PTR_RAW_STATUS(ucp_tag_send_nbx(talk->ep->ep,
                                                      talk->memory[1].address,
                                                      8, 1, &param)),
                  UCS_ERR_UNSUPPORTED);
    param.memory_type = (ucs_memory_type_t)77;
    EXPECT_STATUS(UCS_PTR_RAW_STATUS(ucp_tag_recv_nbx(talk->side.worker,
                                                      talk->memory[1].address,
                                                      8, 1, UINT64_MAX,
                                                      &param)),
                  UCS_ERR_INVALID_PARAM);
}

/* ------------------------------------------------------------------ team -- */

static void open_talk(struct talk *talk, struct team *team)
{
    ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG |
                      UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
        .id    = AM_ID,
        .flags = UCP_AM_FLAG_PERSISTENT_DATA,
        .cb    = am_handler,
        .arg   = talk,
    };
    int kind;

    *talk = (struct talk){.team = team};
    side_open(&talk->side, features);
    EXPECT_OK(ucp_worker_set_am_recv_handler(talk->side.worker, &handler));
    talk->ep = side_meet(&talk->side, team, 1 - team->rank);
    for (kind = 0; kind < memory_kinds(); ++kind) {
        memory_make(&talk->side, &talk->memory[kind], SIZE, kind);
    }
    agree(talk);
}

static void close_talk(struct talk *talk)
{
    int kind;

    agree(talk);
    for (kind = 0; kind < memory_kinds(); ++kind) {
        memory_drop(&talk->side, &talk->memory[kind]);
    }
    side_close_ep(talk->ep, UCP_EP_CLOSE_FLAG_FORCE);
    side_close(&talk->side);
}

static void work(struct team *team, void *arg)
{
    static const struct {
        const char *name;
        void (*run)(struct talk *talk, int from, int to);
    } tests[] = {
        {"tag", test_tag}, {"crowd", test_crowd}, {"burst", test_burst},
        {"iov", test_iov}, {"am", test_am},       {"stream", test_stream},
    };
    struct talk talk;
    unsigned i;
    int from, to;

    if (team->rank == PEER) {
        /* long enough that a worker would sleep during a copy */
        memory_delay("50");
    }
    open_talk(&talk, team);
    for (i = 0; i < sizeof(tests) / sizeof(tests[0]); ++i) {
        for (from = 0; from < memory_kinds(); ++from) {
            for (to = 0; to < memory_kinds(); ++to) {
                if (team->rank == DRIVER) {
                    printf("%s: %s to %s\n", tests[i].name,
                           memory_kind_name(from), memory_kind_name(to));
                    fflush(stdout);
                }
                agree(&talk);
                tests[i].run(&talk, from, to);
            }
        }
    }
    if (team->rank == DRIVER) {
        test_answers(&talk);
    }
    close_talk(&talk);
}

/* The status of a message from or to memory that only one side's device can
 * access, while copies of a device fail. Without a direct path that side copies.
 * With one, it is the other side that does, and the data goes by messages
 * instead. */
static ucs_status_t status_after_failure(int failing, int is_failing)
{
    if (memory_is_direct()) {
        return UCS_OK;
    }
    /* the receiver is notified that no data will arrive */
    return (is_failing || (failing == DRIVER)) ? UCS_ERR_IO_ERROR : UCS_OK;
}

/* Copies that fail: the operation ends with an error on the side of the memory.
 * Other operations in flight, and the next one, succeed. */
static void fail(struct team *team, void *arg)
{
    const int *failing        = arg;
    int fails                 = (team->rank == *failing);
    ucp_request_param_t param = {0};
    struct memory *memory;
    ucs_status_t status;
    struct talk talk;
    int round;

    if (fails != memory_is_direct()) {
        memory_fail();
    }
    open_talk(&talk, team);
    for (round = 0; round < 4; ++round) {
        memory = &talk.memory[fails && (round % 2 == 0)];
        status = finish(&talk,
                        (team->rank == DRIVER) ?
                            ucp_tag_send_nbx(talk.ep->ep, memory->address, MOST,
                                             1, &param) :
                            ucp_tag_recv_nbx(talk.side.worker, memory->address,
                                             MOST, 1, UINT64_MAX, &param));
        EXPECT_STATUS(status, (round % 2 != 0) ?
                                  UCS_OK :
                                  status_after_failure(*failing, fails));
        agree(&talk);
    }
    close_talk(&talk);
}

/* The peer is killed while memory of both is copied, sent and received: all
 * operations and copies end within a time limit. */
static void die(struct team *team, void *arg)
{
    const int *rounds         = arg;
    ucp_request_param_t param = {0};
    ucs_status_ptr_t requests[2];
    struct talk talk;
    int i;

    memory_delay("20");
    open_talk(&talk, team);
    requests[0] = ucp_tag_recv_nbx(talk.side.worker, talk.memory[1].address,
                                   MOST / 2, 1, UINT64_MAX, &param);
    requests[1] = ucp_tag_send_nbx(talk.ep->ep,
                                   talk.memory[1].address + MOST / 2, MOST / 2,
                                   1, &param);
    if (team->rank == PEER) {
        for (i = 0; i < *rounds; ++i) {
            ucp_worker_progress(talk.side.worker);
        }
        raise(SIGKILL);
    }

    side_wait_failure(talk.ep, 20);
    for (i = 0; i < 2; ++i) {
        if (ucp_request_check_status(requests[i]) == UCS_INPROGRESS) {
            /* no message has arrived for it yet */
            ucp_request_cancel(talk.side.worker, requests[i]);
        }
        (void)finish(&talk, requests[i]);
    }
    for (i = 0; i < memory_kinds(); ++i) {
        memory_drop(&talk.side, &talk.memory[i]);
    }
    side_close_ep(talk.ep, UCP_EP_CLOSE_FLAG_FORCE);
    side_close(&talk.side);
}

int main(void)
{
    struct team working = {.limit = 120};
    struct team failing = {.limit = 60, .silent = true};
    struct team dying   = {
          .limit   = 60,
          .may_die = {[PEER] = true},
          .silent  = true,
    };
    int who, rounds, status;

    status = team_run(&working, 2, work, NULL);
    for (rounds = 0; (rounds <= 200) && (status == 0);
         rounds = 2 * rounds + 3) {
        status = team_run(&dying, 2, die, &rounds);
    }
    for (who = DRIVER; (who <= PEER) && (status == 0); ++who) {
        status = team_run(&failing, 2, fail, &who);
    }
    return status;
}
