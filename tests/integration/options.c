/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options: options of workers and endpoints that need a peer in another
 * process: events that wake a worker, the user's event set, waiting for a
 * memory write, network addresses, and the endpoint's transports and estimated
 * times.
 */
#include "common/data.h"
#include "common/side.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    ROUNDS = 20,
    LARGE  = 200 * 1024,
    WORDS  = 512,
};

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

struct talk {
    struct team *team;
    struct side side;    /* A worker without options */
    struct side sleeper; /* Worker with the options under test */
    struct side_ep *ep;  /* Endpoint of the sleeper to the peer's sleeper */
    uint64_t *memory;    /* WORDS words that the peer accesses */
    ucp_mem_h memh;
    ucp_rkey_h rkey; /* Of the peer's memory */
    uint64_t remote; /* Address of the peer's memory */
    char *buffer;
};

static void agree(struct talk *talk)
{
    team_barrier(talk->team, side_progress, &talk->sleeper);
}

/* ----------------------------------------------------------------- setup -- */

static void lend(struct talk *talk)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .length = WORDS * sizeof(uint64_t),
        .flags  = UCP_MEM_MAP_ALLOCATE,
    };
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};

    EXPECT_OK(ucp_mem_map(talk->side.context, &params, &talk->memh));
    EXPECT_OK(ucp_mem_query(talk->memh, &attr));
    talk->memory = attr.address;
    memset(talk->memory, 0, params.length);
}

static void swap_keys(struct talk *talk)
{
    int peer       = 1 - talk->team->rank;
    uint64_t place = (uintptr_t)talk->memory;
    char *theirs;
    size_t size;
    void *key;

    EXPECT_OK(ucp_memh_pack(talk->memh, NULL, &key, &size));
    team_put(talk->team, peer, &size, sizeof(size));
    team_put(talk->team, peer, key, size);
    team_put(talk->team, peer, &place, sizeof(place));
    ucp_memh_buffer_release(key, NULL);

    team_get(talk->team, peer, &size, sizeof(size));
    theirs = malloc(size);
    EXPECT(theirs != NULL);
    team_get(talk->team, peer, theirs, size);
    team_get(talk->team, peer, &talk->remote, sizeof(talk->remote));
    EXPECT_OK(ucp_ep_rkey_unpack(talk->ep->ep, theirs, &talk->rkey));
    free(theirs);
}

/* Opens a worker with `params` and connects it to the peer's worker. */
static void open_sleeper(struct talk *talk, const ucp_worker_params_t *params)
{
    talk->sleeper.context = talk->side.context;
    talk->sleeper.eps     = NULL;
    EXPECT_OK(
        ucp_worker_create(talk->side.context, params, &talk->sleeper.worker));
    talk->ep = side_meet(&talk->sleeper, talk->team, 1 - talk->team->rank);
    swap_keys(talk);
}

static void close_sleeper(struct talk *talk)
{
    agree(talk);
    ucp_rkey_destroy(talk->rkey);
    EXPECT_OK(side_close_ep(talk->ep, 0));
    agree(talk);
    side_close_worker(&talk->sleeper);
}

/* --------------------------------------------------------------- wake-up -- */

/* Starts one operation whose completion is an event of the given class. */
static ucs_status_ptr_t begin(struct talk *talk, unsigned event)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_contig(1),
    };
    uint64_t *result = (uint64_t *)talk->buffer;

    switch (event) {
    case UCP_WAKEUP_RMA:
        return ucp_get_nbx(talk->ep->ep, result, 8, talk->remote, talk->rkey,
                           &param);
    case UCP_WAKEUP_AMO:
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        param.datatype     = ucp_dt_make_contig(8);
        param.reply_buffer = result;
        return ucp_atomic_op_nbx(talk->ep->ep, UCP_ATOMIC_OP_ADD,
                                 &(uint64_t){1}, 1, talk->remote, talk->rkey,
                                 &param);
    case UCP_WAKEUP_TAG_SEND:
    case UCP_WAKEUP_TX:
        return ucp_tag_send_sync_nbx(talk->ep->ep, talk->buffer, LARGE, 1,
                                     &param);
    default:
        return ucp_tag_recv_nbx(talk->sleeper.worker, talk->buffer, LARGE, 1,
                                ALL, &param);
    }
}

/* The counterpart of begin(), called in the other process: receives the message
 * that begin() sends, or sends the message that it receives. Polls for its
 * completion; does not sleep. */
static void answer(struct talk *talk, unsigned event)
{
    ucp_request_param_t none = {.op_attr_mask = 0};
    ucs_status_ptr_t request;

    if (event & (UCP_WAKEUP_TAG_SEND | UCP_WAKEUP_TX)) {
        request = ucp_tag_recv_nbx(talk->sleeper.worker, talk->buffer, LARGE, 1,
                                   ALL, &none);
    } else if (event & (UCP_WAKEUP_TAG_RECV | UCP_WAKEUP_RX)) {
        request = ucp_tag_send_nbx(talk->ep->ep, talk->buffer, LARGE, 1, &none);
    } else {
        return; /* get and atomics need only the progress in agree() */
    }
    EXPECT_OK(side_wait(&talk->sleeper, request, "answer"));
}

/* Completes the request; sleeps on the descriptor whenever the worker has no
 * events. */
static void sleep_until_done(struct talk *talk, int fd,
                             ucs_status_ptr_t request)
{
    struct pollfd set   = {.fd = fd, .events = POLLIN};
    ucp_worker_h worker = talk->sleeper.worker;
    ucs_status_t status;

    EXPECT(!UCS_PTR_IS_ERR(request));
    if (request == NULL) {
        return;
    }
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        if (ucp_worker_progress(worker) != 0) {
            continue;
        }
        status = ucp_worker_arm(worker);
        if (status == UCS_ERR_BUSY) {
            continue;
        }
        EXPECT_OK(status);
        if (poll(&set, 1, (int)(test_seconds(20) * 1e3)) != 1) {
            FAIL("asleep for %.0f s: an event was lost", test_seconds(20));
        }
    }
    EXPECT_OK(ucp_request_check_status(request));
    ucp_request_free(request);
}

static void wakes_for(struct talk *talk, unsigned events)
{
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_EVENTS,
        .events     = events,
    };
    unsigned event = events & ~(unsigned)UCP_WAKEUP_EDGE;
    int round, fd;

    open_sleeper(talk, &params);
    EXPECT_OK(ucp_worker_get_efd(talk->sleeper.worker, &fd));
    for (round = 0; round < ROUNDS; ++round) {
        if ((round & 1) == talk->team->rank) {
            sleep_until_done(talk, fd, begin(talk, event));
        } else {
            answer(talk, event);
        }
        agree(talk);
    }
    close_sleeper(talk);
}

/* Sleeps on an event set (epoll) of the user, to which the library adds the
 * worker's descriptors. */
static void wakes_in_own_set(struct talk *talk)
{
    int set                    = epoll_create1(EPOLL_CLOEXEC);
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_EVENT_FD |
                      UCP_WORKER_PARAM_FIELD_USER_DATA,
        .event_fd  = set,
        .user_data = talk,
    };
    struct epoll_event event = {.data.ptr = NULL};
    ucs_status_ptr_t request;
    int fd;

    EXPECT(set >= 0);
    open_sleeper(talk, &params);
    EXPECT_STATUS(ucp_worker_get_efd(talk->sleeper.worker, &fd),
                  UCS_ERR_UNSUPPORTED);
    agree(talk);
    if (talk->team->rank == 0) {
        request = begin(talk, UCP_WAKEUP_RX);
        while (ucp_request_check_status(request) == UCS_INPROGRESS) {
            if ((ucp_worker_progress(talk->sleeper.worker) == 0) &&
                (ucp_worker_arm(talk->sleeper.worker) == UCS_OK)) {
                EXPECT_INT(epoll_wait(set, &event, 1,
                                      (int)(test_seconds(20) * 1e3)),
                           ==, 1);
                EXPECT(event.data.ptr == talk);
            }
        }
        ucp_request_free(request);
    } else {
        answer(talk, UCP_WAKEUP_RX);
    }
    close_sleeper(talk);
    EXPECT_INT(epoll_wait(set, &event, 1, 0), ==, 0);
    close(set);
}

/* --------------------------------------------------- waiting for a write -- */

static void sees_a_write(struct talk *talk)
{
    ucp_worker_params_t params = {.field_mask = 0};
    ucp_request_param_t none   = {.op_attr_mask = 0};
    double deadline            = test_now() + test_seconds(20);
    volatile uint64_t *word    = &talk->memory[7];
    uint64_t value             = 42;

    open_sleeper(talk, &params);
    agree(talk);
    if (talk->team->rank == 0) {
        EXPECT_OK(
            side_wait(&talk->sleeper,
                      ucp_put_nbx(talk->ep->ep, &value, 8, talk->remote + 7 * 8,
                                  talk->rkey, &none),
                      "put"));
        EXPECT_OK(side_flush(talk->ep));
    } else {
        while (*word == 0) {
            ucp_worker_progress(talk->sleeper.worker);
            ucp_worker_wait_mem(talk->sleeper.worker, (void *)word);
            EXPECT(test_now() < deadline);
        }
        EXPECT_INT(*word, ==, 42);
    }
    close_sleeper(talk);
}

/* ------------------------------------------------------------- addresses -- */

/* Connects by an address that contains network devices only (NET_ONLY). If no
 * transport of the test reaches the peer by this address, only the worker's id
 * in it is checked. */
static void uses_a_network_address(struct talk *talk)
{
    ucp_worker_attr_t attr = {
        .field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS |
                      UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS,
        .address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY,
    };
    ucp_worker_address_attr_t uid = {
        .field_mask = UCP_WORKER_ADDRESS_ATTR_FIELD_UID,
    };
    int peer = 1 - talk->team->rank;
    struct side_ep *ep;
    uint64_t theirs;
    char *address;
    size_t length;
    char in = 0;

    EXPECT_OK(ucp_worker_query(talk->side.worker, &attr));
    EXPECT_OK(ucp_worker_address_query(attr.address, &uid));
    team_put(talk->team, peer, &uid.worker_uid, sizeof(uid.worker_uid));
    team_put(talk->team, peer, &attr.address_length, sizeof(length));
    team_put(talk->team, peer, attr.address, attr.address_length);
    ucp_worker_release_address(talk->side.worker, attr.address);

    team_get(talk->team, peer, &theirs, sizeof(theirs));
    team_get(talk->team, peer, &length, sizeof(length));
    address = malloc(length);
    EXPECT(address != NULL);
    team_get(talk->team, peer, address, length);
    EXPECT_OK(ucp_worker_address_query((ucp_address_t *)address, &uid));
    EXPECT(uid.worker_uid == theirs);

    ep = side_try_connect(&talk->side, address);
    if (ep != NULL) {
        side_send_wait(ep, "n", 1, 3);
        EXPECT_INT(side_recv_wait(&talk->side, &in, 1, 3, ALL), ==, 1);
        EXPECT_INT(in, ==, 'n');
    }
    team_barrier(talk->team, side_progress, &talk->side);
    if (ep != NULL) {
        EXPECT_OK(side_close_ep(ep, 0));
    }
    free(address);
    team_barrier(talk->team, side_progress, &talk->side);
}

/* ------------------------------------------------------------- endpoints -- */

/* Each transport that ucp_ep_query() reports appears in the printed
 * descriptions of the context and of the endpoint. The estimated time of a
 * large message is longer than that of a small one. */
static void tells_of_its_way(struct talk *talk)
{
    ucp_worker_params_t params = {.field_mask = 0};
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
    ucp_ep_evaluate_perf_param_t question = {
        .field_mask   = UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE,
        .message_size = 1,
    };
    ucp_ep_evaluate_perf_attr_t
        small =
            {
                .field_mask = UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME,
            },
        large     = small;
    char *context = NULL, *way = NULL, name[128];
    size_t size;
    FILE *stream;
    unsigned i;

    open_sleeper(talk, &params);
    side_send_wait(talk->ep, "x", 1, 5);
    EXPECT_INT(side_recv_wait(&talk->sleeper, name, 1, 5, ALL), ==, 1);
    EXPECT_OK(ucp_ep_query(talk->ep->ep, &attr));
    EXPECT_INT(attr.transports.num_entries, >=, 1);

    stream = open_memstream(&context, &size);
    ucp_context_print_info(talk->side.context, stream);
    fclose(stream);
    stream = open_memstream(&way, &size);
    ucp_ep_print_info(talk->ep->ep, stream);
    fclose(stream);
    for (i = 0; i < attr.transports.num_entries; ++i) {
        snprintf(name, sizeof(name), "%s/%s", entries[i].transport_name,
                 entries[i].device_name);
        EXPECT(strstr(context, name) != NULL);
        EXPECT(strstr(way, name) != NULL);
    }
    free(context);
    free(way);

    EXPECT_OK(ucp_ep_evaluate_perf(talk->ep->ep, &question, &small));
    question.message_size = 16 << 20;
    EXPECT_OK(ucp_ep_evaluate_perf(talk->ep->ep, &question, &large));
    EXPECT(small.estimated_time > 0);
    EXPECT(large.estimated_time > small.estimated_time);
    close_sleeper(talk);
}

static void member(struct team *team, void *arg)
{
    static const unsigned events[] = {
        UCP_WAKEUP_RMA,
        UCP_WAKEUP_AMO,
        UCP_WAKEUP_TAG_SEND,
        UCP_WAKEUP_TAG_RECV,
        UCP_WAKEUP_TX,
        UCP_WAKEUP_RX,
        UCP_WAKEUP_RX | UCP_WAKEUP_EDGE,
        UCP_WAKEUP_TX | UCP_WAKEUP_EDGE,
    };
    struct talk talk = {.team = team, .buffer = calloc(1, LARGE)};
    size_t i;

    (void)arg;
    EXPECT(talk.buffer != NULL);
    side_open(&talk.side, UCP_FEATURE_TAG | UCP_FEATURE_RMA |
                              UCP_FEATURE_AMO64 | UCP_FEATURE_WAKEUP);
    lend(&talk);
    for (i = 0; i < sizeof(events) / sizeof(events[0]); ++i) {
        wakes_for(&talk, events[i]);
    }
    wakes_in_own_set(&talk);
    sees_a_write(&talk);
    uses_a_network_address(&talk);
    tells_of_its_way(&talk);
    EXPECT_OK(ucp_mem_unmap(talk.side.context, talk.memh));
    side_close(&talk.side);
    free(talk.buffer);
}

int main(int argc, char **argv)
{
    struct team team = {.limit = 120};

    (void)argc;
    (void)argv;
    return team_run(&team, 2, member, NULL);
}
