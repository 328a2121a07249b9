/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More threads than cores (at most 24) share one worker and one endpoint in
 * each process: tagged and active messages, put, get, keys that are unpacked
 * and destroyed, queries. --unsteady: the transport tests/plugins/faults
 * reports another cost at every query, so that UCP replaces the protocol
 * configurations of the endpoint and the keys continuously. The thread
 * sanitizer then detects reads of a configuration without the worker's lock.
 */
#include "common/data.h"
#include "common/side.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    AM_ID   = 3,
    ROUNDS  = 24,
    MOST    = 150000,
    THREADS = 24,      /* Most threads of a process */
    ABOVE   = 4,       /* Threads beyond the number of cores */
    PROBE   = 1 << 20, /* Message size of the cost queries, in bytes */
};

static const size_t sizes[]            = {8, 1000, 6000, 70000, MOST};
static const ucp_request_param_t plain = {0};

/* Range of the times that ucp_ep_evaluate_perf() estimated, in seconds. */
struct range {
    double least, most;
};

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    char *memory; /* MOST bytes for each thread of the peer */
    ucp_mem_h memh;
    uint64_t remote; /* Address of the peer's memory */
    void *key;
    ucp_rkey_h rkey; /* Key of the peer's memory; all threads use it */
    int threads;
    _Atomic uint64_t ams; /* Number of received active messages */
};

struct actor {
    struct talk *talk;
    int number;
    char *out, *in;
    struct range times;
    pthread_t thread;
};

/* Returns the number that selects the contents of a message (data_fill()); both
 * sides compute it. */
static uint64_t name_of(int rank, int thread, int round)
{
    return ((uint64_t)rank << 32) | ((uint64_t)thread << 16) | (uint64_t)round;
}

/* Waits until a request has ended. It does not sleep, because another thread
 * may call the progress that completes the request, and then no event
 * follows. */
static void finish(struct actor *actor, ucs_status_ptr_t request,
                   const char *what)
{
    double end = test_now() + test_seconds(40);

    if (!UCS_PTR_IS_PTR(request)) {
        EXPECT_OK(UCS_PTR_RAW_STATUS(request));
        return;
    }
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        if (ucp_worker_progress(actor->talk->side.worker) == 0) {
            sched_yield();
        }
        if (test_now() > end) {
            FAIL("%s is not over in time", what);
        }
    }
    EXPECT_OK(ucp_request_check_status(request));
    ucp_request_free(request);
}

/* ------------------------------------------------------- active messages -- */

struct fetch {
    struct talk *talk;
    uint64_t name;
    size_t length;
    char data[];
};

static void am_has_come(struct talk *talk, const void *data, size_t length,
                        uint64_t name)
{
    data_verify(data, length, name);
    atomic_fetch_add(&talk->ams, 1);
}

static void fetched(void *request, ucs_status_t status, size_t length,
                    void *arg)
{
    struct fetch *fetch = arg;

    EXPECT_OK(status);
    EXPECT_INT(length, ==, fetch->length);
    am_has_come(fetch->talk, fetch->data, length, fetch->name);
    free(fetch);
    ucp_request_free(request);
}

static void fetch_data(struct talk *talk, void *data, size_t length,
                       uint64_t name)
{
    struct fetch *fetch       = malloc(sizeof(*fetch) + length);
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA |
                        UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
        .cb.recv_am = fetched,
        .user_data  = fetch,
    };

    EXPECT(fetch != NULL);
    fetch->talk   = talk;
    fetch->name   = name;
    fetch->length = length;
    EXPECT(UCS_PTR_IS_PTR(ucp_am_recv_data_nbx(talk->side.worker, data,
                                               fetch->data, length, &param)));
}

static ucs_status_t on_am(void *arg, const void *header, size_t header_length,
                          void *data, size_t length,
                          const ucp_am_recv_param_t *param)
{
    struct talk *talk = arg;
    uint64_t name;

    EXPECT_INT(header_length, ==, sizeof(name));
    memcpy(&name, header, sizeof(name));
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        fetch_data(talk, data, length, name);
        return UCS_INPROGRESS;
    }
    am_has_come(talk, data, length, name);
    return UCS_OK;
}

static void set_handler(struct talk *talk)
{
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id  = AM_ID,
        .cb  = on_am,
        .arg = talk,
    };

    EXPECT_OK(ucp_worker_set_am_recv_handler(talk->side.worker, &param));
}

/* --------------------------------------------------------------- threads -- */

static void exchange_messages(struct actor *actor, size_t length, int round)
{
    struct talk *talk = actor->talk;
    int rank          = talk->team->rank;
    uint64_t mine     = name_of(rank, actor->number, round);
    uint64_t theirs   = name_of(1 - rank, actor->number, round);
    ucs_status_ptr_t recv, send, am;

    data_fill(actor->out, length, mine);
    recv = ucp_tag_recv_nbx(talk->side.worker, actor->in, length, theirs,
                            UINT64_MAX, &plain);
    send = ucp_tag_send_nbx(talk->ep->ep, actor->out, length, mine, &plain);
    am   = ucp_am_send_nbx(talk->ep->ep, AM_ID, &mine, sizeof(mine), actor->out,
                           length, &plain);
    finish(actor, recv, "a receive");
    finish(actor, send, "a send");
    finish(actor, am, "an active message");
    data_verify(actor->in, length, theirs);
}

/* Puts to and gets from the peer's memory, with the shared key and with one
 * that this thread has unpacked. */
static void use_memory(struct actor *actor, size_t length, int round)
{
    struct talk *talk = actor->talk;
    uint64_t mine     = name_of(talk->team->rank, actor->number, round);
    uint64_t place    = talk->remote + (uint64_t)actor->number * MOST;
    ucp_rkey_h own;

    EXPECT_OK(ucp_ep_rkey_unpack(talk->ep->ep, talk->key, &own));
    finish(actor,
           ucp_put_nbx(talk->ep->ep, actor->out, length, place,
                       (round & 1) ? own : talk->rkey, &plain),
           "a put");
    finish(actor, ucp_ep_flush_nbx(talk->ep->ep, &plain), "a flush");
    memset(actor->in, 0, length);
    finish(actor,
           ucp_get_nbx(talk->ep->ep, actor->in, length, place,
                       (round & 1) ? talk->rkey : own, &plain),
           "a get");
    data_verify(actor->in, length, mine);
    ucp_rkey_destroy(own);
}

static void ask(struct actor *actor)
{
    ucp_ep_evaluate_perf_param_t param = {
        .field_mask   = UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE,
        .message_size = PROBE,
    };
    ucp_ep_evaluate_perf_attr_t perf = {
        .field_mask = UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME,
    };
    ucp_transport_entry_t entries[8];
    ucp_ep_attr_t attr = {
        .field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS,
        .transports =
            {
                .entries     = entries,
                .num_entries = 8,
                .entry_size  = sizeof(entries[0]),
            },
    };
    struct range *times = &actor->times;
    ucp_ep_h ep         = actor->talk->ep->ep;

    EXPECT_OK(ucp_ep_evaluate_perf(ep, &param, &perf));
    times->least = (perf.estimated_time < times->least) ? perf.estimated_time :
                                                          times->least;
    times->most  = (perf.estimated_time > times->most) ? perf.estimated_time :
                                                         times->most;
    EXPECT_OK(ucp_ep_query(ep, &attr));
    EXPECT_INT(attr.transports.num_entries, >, 0);
}

static void *work(void *arg)
{
    struct actor *actor = arg;
    size_t length;
    int round;

    for (round = 0; round < ROUNDS; ++round) {
        length =
            sizes[(round + actor->number) % (sizeof(sizes) / sizeof(sizes[0]))];
        exchange_messages(actor, length, round);
        use_memory(actor, length, round);
        ask(actor);
    }
    return NULL;
}

/* --------------------------------------------------------------- process -- */

static void open_side(struct side *side)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES |
                      UCP_PARAM_FIELD_MT_WORKERS_SHARED,
        .features          = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_RMA,
        .mt_workers_shared = 1,
    };
    ucp_worker_params_t worker = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_MULTI,
    };

    EXPECT_OK(ucp_init(&params, NULL, &side->context));
    EXPECT_OK(ucp_worker_create(side->context, &worker, &side->worker));
}

/* Maps the memory of all threads and exchanges its address and key. */
static void swap_memory(struct talk *talk)
{
    struct team *team           = talk->team;
    int peer                    = 1 - team->rank;
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_ADDRESS,
        .address = talk->memory,
        .length  = (size_t)talk->threads * MOST,
    };
    uint64_t address = (uintptr_t)talk->memory;
    size_t size;
    void *key;

    EXPECT_OK(ucp_mem_map(talk->side.context, &params, &talk->memh));
    EXPECT_OK(ucp_memh_pack(talk->memh, NULL, &key, &size));
    team_put(team, peer, &address, sizeof(address));
    team_put(team, peer, &size, sizeof(size));
    team_put(team, peer, key, size);
    ucp_memh_buffer_release(key, NULL);

    team_get(team, peer, &talk->remote, sizeof(talk->remote));
    team_get(team, peer, &size, sizeof(size));
    talk->key = malloc(size);
    EXPECT(talk->key != NULL);
    team_get(team, peer, talk->key, size);
    EXPECT_OK(ucp_ep_rkey_unpack(talk->ep->ep, talk->key, &talk->rkey));
}

static void open_talk(struct talk *talk)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    talk->threads = (int)cores + ABOVE;
    if (talk->threads > THREADS) {
        talk->threads = THREADS;
    }
    talk->memory = calloc((size_t)talk->threads, MOST);
    EXPECT(talk->memory != NULL);
    open_side(&talk->side);
    set_handler(talk);
    talk->ep = side_meet(&talk->side, talk->team, 1 - talk->team->rank);
    swap_memory(talk);
    team_barrier(talk->team, side_progress, &talk->side);
}

static void close_talk(struct talk *talk)
{
    ucp_rkey_destroy(talk->rkey);
    free(talk->key);
    EXPECT_OK(ucp_mem_unmap(talk->side.context, talk->memh));
    EXPECT_OK(side_close_ep(talk->ep, 0));
    team_barrier(talk->team, side_progress, &talk->side);
    side_close(&talk->side);
    free(talk->memory);
}

static void run_threads(struct talk *talk, struct range *times)
{
    struct actor actors[THREADS];
    struct actor *actor;
    int i;

    for (i = 0; i < talk->threads; ++i) {
        actor  = &actors[i];
        *actor = (struct actor){.talk   = talk,
                                .number = i,
                                .times  = {1e9, 0},
                                .out    = malloc(MOST),
                                .in     = malloc(MOST)};
        EXPECT((actor->out != NULL) && (actor->in != NULL));
        EXPECT_INT(pthread_create(&actor->thread, NULL, work, actor), ==, 0);
    }
    for (i = 0; i < talk->threads; ++i) {
        actor = &actors[i];
        EXPECT_INT(pthread_join(actor->thread, NULL), ==, 0);
        times->least = (actor->times.least < times->least) ?
                           actor->times.least :
                           times->least;
        times->most  = (actor->times.most > times->most) ? actor->times.most :
                                                           times->most;
        free(actor->out);
        free(actor->in);
    }
}

static void member(struct team *team, void *arg)
{
    struct talk talk     = {.team = team};
    struct range times   = {1e9, 0};
    const bool *unsteady = arg;
    double end;

    /* the thread with the same number in the other process is the partner */
    open_talk(&talk);
    run_threads(&talk, &times);
    end = test_now() + test_seconds(40);
    while (atomic_load(&talk.ams) < (uint64_t)talk.threads * ROUNDS) {
        side_progress(&talk.side);
        EXPECT(test_now() < end);
    }
    team_barrier(team, side_progress, &talk.side);
    EXPECT_INT(talk.ams, ==, talk.threads * ROUNDS);
    if (*unsteady && (times.most < 1.5 * times.least)) {
        FAIL("1 MiB took from %g to %g s: no configuration was exchanged",
             times.least, times.most);
    }
    close_talk(&talk);
}

int main(int argc, char **argv)
{
    struct team team = {.limit = 120};
    bool unsteady    = team_asked(argc, argv, "--unsteady");

    return team_run(&team, 2, member, &unsteady);
}
