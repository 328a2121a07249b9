/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends a known number of messages and bytes over each class of operation.
 * counters.py runs it and compares the library's counters with these numbers:
 * member 0 sends, member 1 receives. --pause: at the end, member 0 prints the
 * ids of both processes and continues until its standard input ends. --threads:
 * two threads of each member share its worker.
 */
#include "common/data.h"
#include "common/side.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* counters.py has the same numbers */
enum {
    SENDER,
    RECEIVER,
    TAGGED      = 100,
    TAGGED_SIZE = 8,
    EARLY       = 10,
    EARLY_SIZE  = 100,
    LARGE       = 5,
    LARGE_SIZE  = 1024 * 1024,
    SYNC        = 3,
    SYNC_SIZE   = 16,
    AMS         = 20,
    AM_HEADER   = 4,
    AM_SIZE     = 60,
    PIECES      = 8,
    PIECE_SIZE  = 1000,
    PUTS        = 7,
    PUT_SIZE    = 64,
    GETS        = 6,
    GET_SIZE    = 128,
    ADDS        = 5,
    MT_SENDS    = 2000,
    MEMORY      = 4096,
};

static const ucp_tag_t ALL             = ~(ucp_tag_t)0;
static const ucp_request_param_t plain = {0};

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    char *buffer;        /* LARGE_SIZE bytes */
    char memory[MEMORY]; /* The receiver's: target of put, get and atomics */
    unsigned ams;        /* Number of received active messages */
};

static void agree(struct talk *talk)
{
    team_barrier(talk->team, side_progress, &talk->side);
}

static void expect_done(struct talk *talk, ucs_status_ptr_t request,
                        const char *what)
{
    EXPECT_OK(side_wait(&talk->side, request, what));
}

/* ---------------------------------------------------------------- tagged -- */

/* The receives are posted first, so that no message is unexpected. */
static void exchange_tagged(struct talk *talk, unsigned count, size_t size)
{
    struct side_op *ops = calloc(count, sizeof(*ops));
    unsigned i;

    for (i = 0; (talk->team->rank == RECEIVER) && (i < count); ++i) {
        side_recv(&talk->side, &ops[i], talk->buffer, size, i, ALL);
    }
    agree(talk);
    for (i = 0; (talk->team->rank == SENDER) && (i < count); ++i) {
        side_send_wait(talk->ep, talk->buffer, size, i);
    }
    for (i = 0; (talk->team->rank == RECEIVER) && (i < count); ++i) {
        side_complete(&talk->side, &ops[i], "receive");
    }
    free(ops);
    agree(talk);
}

static void exchange_early(struct talk *talk)
{
    ucp_tag_recv_info_t info;
    unsigned i;

    for (i = 0; (talk->team->rank == SENDER) && (i < EARLY); ++i) {
        side_send_wait(talk->ep, talk->buffer, EARLY_SIZE, i);
    }
    for (i = 0; (talk->team->rank == RECEIVER) && (i < EARLY); ++i) {
        side_probe_wait(&talk->side, i, ALL, false, &info);
    }
    for (i = 0; (talk->team->rank == RECEIVER) && (i < EARLY); ++i) {
        side_recv_wait(&talk->side, talk->buffer, EARLY_SIZE, i, ALL);
    }
    agree(talk);
}

static void exchange_sync(struct talk *talk)
{
    struct side_op ops[SYNC];
    unsigned i;

    for (i = 0; (talk->team->rank == RECEIVER) && (i < SYNC); ++i) {
        side_recv(&talk->side, &ops[i], talk->buffer, SYNC_SIZE, i, ALL);
    }
    agree(talk);
    for (i = 0; (talk->team->rank == SENDER) && (i < SYNC); ++i) {
        expect_done(talk,
                    ucp_tag_send_sync_nbx(talk->ep->ep, talk->buffer, SYNC_SIZE,
                                          i, &plain),
                    "synchronous send");
    }
    for (i = 0; (talk->team->rank == RECEIVER) && (i < SYNC); ++i) {
        side_complete(&talk->side, &ops[i], "receive");
    }
    agree(talk);
}

/* ---------------------------------------------- active messages, streams -- */

static ucs_status_t on_am(void *arg, const void *header, size_t header_length,
                          void *data, size_t length,
                          const ucp_am_recv_param_t *param)
{
    struct talk *talk = arg;

    EXPECT_INT(header_length, ==, AM_HEADER);
    EXPECT_INT(length, ==, AM_SIZE);
    ++talk->ams;
    return UCS_OK;
}

static void exchange_ams(struct talk *talk)
{
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id  = 1,
        .cb  = on_am,
        .arg = talk,
    };
    unsigned i;

    EXPECT_OK(ucp_worker_set_am_recv_handler(talk->side.worker, &param));
    agree(talk);
    for (i = 0; (talk->team->rank == SENDER) && (i < AMS); ++i) {
        expect_done(talk,
                    ucp_am_send_nbx(talk->ep->ep, 1, "head", AM_HEADER,
                                    talk->buffer, AM_SIZE, &plain),
                    "active message");
    }
    while ((talk->team->rank == RECEIVER) && (talk->ams < AMS)) {
        side_progress(&talk->side);
    }
    agree(talk);
}

static void exchange_stream(struct talk *talk)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_STREAM_RECV_FLAG_WAITALL,
    };
    size_t length;
    unsigned i;

    for (i = 0; (talk->team->rank == SENDER) && (i < PIECES); ++i) {
        expect_done(talk,
                    ucp_stream_send_nbx(talk->ep->ep, talk->buffer, PIECE_SIZE,
                                        &plain),
                    "stream send");
    }
    if (talk->team->rank == RECEIVER) {
        expect_done(talk,
                    ucp_stream_recv_nbx(talk->ep->ep, talk->buffer,
                                        PIECES * PIECE_SIZE, &length, &param),
                    "stream receive");
    }
    agree(talk);
}

/* --------------------------------------------------------- remote memory -- */

static void use_memory(struct talk *talk, uint64_t address, ucp_rkey_h rkey)
{
    const ucp_request_param_t eight = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_contig(8),
    };
    const uint64_t one = 1;
    unsigned i;

    for (i = 0; i < PUTS; ++i) {
        expect_done(talk,
                    ucp_put_nbx(talk->ep->ep, talk->buffer, PUT_SIZE,
                                address + 64, rkey, &plain),
                    "put");
    }
    EXPECT_OK(side_flush(talk->ep));
    for (i = 0; i < GETS; ++i) {
        expect_done(talk,
                    ucp_get_nbx(talk->ep->ep, talk->buffer, GET_SIZE,
                                address + 64, rkey, &plain),
                    "get");
    }
    for (i = 0; i < ADDS; ++i) {
        expect_done(talk,
                    ucp_atomic_op_nbx(talk->ep->ep, UCP_ATOMIC_OP_ADD, &one, 1,
                                      address, rkey, &eight),
                    "add");
    }
    EXPECT_OK(side_flush(talk->ep));
}

static void lend_memory(struct talk *talk)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_ADDRESS,
        .address = talk->memory,
        .length  = MEMORY,
    };
    uint64_t address = (uintptr_t)talk->memory;
    ucp_mem_h memh;
    size_t size;
    void *key;

    EXPECT_OK(ucp_mem_map(talk->side.context, &params, &memh));
    EXPECT_OK(ucp_memh_pack(memh, NULL, &key, &size));
    team_put(talk->team, SENDER, &address, sizeof(address));
    team_put(talk->team, SENDER, &size, sizeof(size));
    team_put(talk->team, SENDER, key, size);
    ucp_memh_buffer_release(key, NULL);
    agree(talk);
    EXPECT_INT(*(uint64_t *)talk->memory, ==, ADDS);
    EXPECT_OK(ucp_mem_unmap(talk->side.context, memh));
}

static void borrow_memory(struct talk *talk)
{
    uint64_t address;
    ucp_rkey_h rkey;
    size_t size;
    void *key;

    team_get_progressing(talk->team, RECEIVER, &address, sizeof(address),
                         side_progress, &talk->side);
    team_get(talk->team, RECEIVER, &size, sizeof(size));
    key = malloc(size);
    team_get(talk->team, RECEIVER, key, size);
    EXPECT_OK(ucp_ep_rkey_unpack(talk->ep->ep, key, &rkey));
    free(key);
    use_memory(talk, address, rkey);
    ucp_rkey_destroy(rkey);
    agree(talk);
}

/* ----------------------------------------------------------- all classes -- */

static void go_on_until_end_of_input(struct talk *talk)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

    if (talk->team->rank == SENDER) {
        printf("ready %d %d\n", (int)talk->team->pids[SENDER],
               (int)talk->team->pids[RECEIVER]);
        fflush(stdout);
        while (poll(&input, 1, 1) == 0) {
            side_progress(&talk->side);
        }
    }
    agree(talk);
}

static void exchange_all(struct talk *talk)
{
    exchange_tagged(talk, TAGGED, TAGGED_SIZE);
    exchange_early(talk);
    exchange_tagged(talk, LARGE, LARGE_SIZE);
    exchange_sync(talk);
    exchange_ams(talk);
    exchange_stream(talk);
    if (talk->team->rank == SENDER) {
        borrow_memory(talk);
    } else {
        lend_memory(talk);
    }
}

static void member(struct team *team, void *arg)
{
    struct talk *talk = calloc(1, sizeof(*talk));
    const bool *pause = arg;

    talk->team   = team;
    talk->buffer = calloc(1, LARGE_SIZE);
    side_open(&talk->side, UCP_FEATURE_TAG | UCP_FEATURE_AM |
                               UCP_FEATURE_STREAM | UCP_FEATURE_RMA |
                               UCP_FEATURE_AMO64);
    talk->ep = side_meet(&talk->side, team, 1 - team->rank);
    exchange_all(talk);
    if (*pause) {
        go_on_until_end_of_input(talk);
    }
    EXPECT_OK(side_close_ep(talk->ep, 0));
    agree(talk);
    side_close(&talk->side);
    free(talk->buffer);
    free(talk);
}

/* --------------------------------------------------------------- threads -- */

struct sender {
    struct talk *talk;
    ucp_tag_t tag;
};

static void *send_or_receive(void *arg)
{
    struct sender *self = arg;
    struct talk *talk   = self->talk;
    char buffer[TAGGED_SIZE];
    unsigned i;

    memset(buffer, 0, sizeof(buffer));
    for (i = 0; i < MT_SENDS; ++i) {
        if (talk->team->rank == SENDER) {
            expect_done(talk,
                        ucp_tag_send_nbx(talk->ep->ep, buffer, sizeof(buffer),
                                         self->tag, &plain),
                        "send");
        } else {
            expect_done(talk,
                        ucp_tag_recv_nbx(talk->side.worker, buffer,
                                         sizeof(buffer), self->tag, ALL,
                                         &plain),
                        "receive");
        }
    }
    return NULL;
}

static void open_shared(struct side *side)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };
    ucp_worker_params_t worker = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_MULTI,
    };

    EXPECT_OK(ucp_init(&params, NULL, &side->context));
    EXPECT_OK(ucp_worker_create(side->context, &worker, &side->worker));
}

static void threaded_member(struct team *team, void *arg)
{
    struct talk *talk = calloc(1, sizeof(*talk));
    struct sender senders[2];
    pthread_t threads[2];
    int i;

    talk->team = team;
    open_shared(&talk->side);
    talk->ep = side_meet(&talk->side, team, 1 - team->rank);
    for (i = 0; i < 2; ++i) {
        senders[i] = (struct sender){talk, (ucp_tag_t)i};
        EXPECT_INT(pthread_create(&threads[i], NULL, send_or_receive,
                                  &senders[i]),
                   ==, 0);
    }
    for (i = 0; i < 2; ++i) {
        pthread_join(threads[i], NULL);
    }
    EXPECT_OK(side_close_ep(talk->ep, 0));
    agree(talk);
    side_close(&talk->side);
    free(talk);
}

int main(int argc, char **argv)
{
    struct team team = {.limit = 60, .may_die = {true, true}};
    bool pause       = team_asked(argc, argv, "--pause");

    return team_run(&team, 2,
                    team_asked(argc, argv, "--threads") ? threaded_member :
                                                          member,
                    &pause);
}
