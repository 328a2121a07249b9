/* SPDX-License-Identifier: BSD-3-Clause */
/* The all-to-all: four processes on two cores, each of which sends messages of
 * mixed sizes to every other process. The processes poll. If `yields` is set, a
 * process yields its core after a poll without an event, as MPI libraries do on
 * a host that has fewer cores than processes. */
#include "bench.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
    PEERS   = BENCH_CROWD_SIZE - 1,
    SLOTS   = 8,          /* Sends in flight to each peer, and receives in
                           * flight from each peer */
    LARGEST = 256 * 1024, /* Bytes of the largest message */
    TRIAL   = 4,          /* Cycles of a trial */
};

/* A cycle is one message of each of these sizes (in bytes) from each process to
 * each peer. */
static const size_t sizes[] = {8,  64,    8, 1024,  8,   4096,
                               64, 16384, 8, 65536, 256, LARGEST};

enum { CYCLE = sizeof(sizes) / sizeof(sizes[0]) };

struct crowd;

/* A buffer for a message of a peer, and the receive that uses it. */
struct slot {
    struct crowd *crowd;
    bool busy;     /* A receive is in flight */
    char expected; /* Value of every byte of the peer's messages */
    size_t size;   /* Bytes of the message of the current or last receive */
    char *buffer;  /* LARGEST bytes */
};

struct peer {
    uint32_t rank;
    ucp_ep_h ep;
    struct slot receives[SLOTS];
    uint64_t receive_next; /* Number of receives that were started in this
                            * run */
    uint64_t send_next;    /* Number of sends that were started in this run */
    uint32_t sends_in_flight;
};

/* The state of one process. */
struct crowd {
    struct bench *bench;
    bool yields;
    uint32_t barriers; /* Barriers that this process has entered */
    uint64_t messages; /* Messages of this run to each peer */
    uint64_t done;     /* Complete sends and receives of this run */
    char *sent;        /* LARGEST bytes, each byte_of() this process's rank */
    char *received;    /* The buffers of all slots */
    struct peer peers[PEERS];
};

/* Progresses once, and yields the core if that is selected. */
static void idle(struct crowd *crowd)
{
    if ((ucp_worker_progress(crowd->bench->worker) == 0) && crowd->yields) {
        sched_yield();
    }
}

/* Returns when all processes have called this function. Progresses while it
 * waits. */
static void barrier(struct crowd *crowd)
{
    _Atomic uint32_t *arrived = &crowd->bench->shared->crowd_arrived;

    ++crowd->barriers;
    atomic_fetch_add(arrived, 1);
    while (atomic_load(arrived) < crowd->barriers * BENCH_CROWD_SIZE) {
        idle(crowd);
    }
}

/* Returns the value of all bytes of the messages that this rank sends. */
static char byte_of(uint32_t rank)
{
    return 'A' + rank;
}

/* Checks the message of a receive that has ended. */
static void received(struct slot *slot, ucs_status_t status)
{
    bench_check(status, "a receive");
    if ((slot->buffer[0] != slot->expected) ||
        (slot->buffer[slot->size - 1] != slot->expected)) {
        bench_fail("a message", "arrived with other bytes than sent");
    }
    slot->busy = false;
    ++slot->crowd->done;
}

static void on_received(void *request, ucs_status_t status,
                        const ucp_tag_recv_info_t *info, void *arg)
{
    (void)info;
    received(arg, status);
    ucp_request_free(request);
}

static void post_receive(struct crowd *crowd, struct peer *peer,
                         struct slot *slot)
{
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.recv   = on_received,
        .user_data = slot,
    };
    ucp_tag_t tag = ((ucp_tag_t)peer->rank << 32) | peer->receive_next;
    ucs_status_ptr_t request;

    slot->size                   = sizes[peer->receive_next++ % CYCLE];
    slot->busy                   = true;
    slot->buffer[0]              = 0;
    slot->buffer[slot->size - 1] = 0;
    request = ucp_tag_recv_nbx(crowd->bench->worker, slot->buffer, slot->size,
                               tag, ~(ucp_tag_t)0, &param);
    if (!UCS_PTR_IS_PTR(request)) {
        received(slot, UCS_PTR_STATUS(request));
    }
}

static void on_sent(void *request, ucs_status_t status, void *arg)
{
    struct peer *peer = arg;

    bench_check(status, "a send");
    --peer->sends_in_flight;
    ++peer->receives[0].crowd->done;
    ucp_request_free(request);
}

static void post_send(struct crowd *crowd, struct peer *peer)
{
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send   = on_sent,
        .user_data = peer,
    };
    ucp_tag_t tag = ((ucp_tag_t)crowd->bench->rank << 32) | peer->send_next;
    ucs_status_ptr_t request;

    ++peer->sends_in_flight;
    request = ucp_tag_send_nbx(peer->ep, crowd->sent,
                               sizes[peer->send_next++ % CYCLE], tag, &param);
    if (!UCS_PTR_IS_PTR(request)) {
        bench_check(UCS_PTR_STATUS(request), "ucp_tag_send_nbx");
        --peer->sends_in_flight;
        ++crowd->done;
    }
}

/* Starts receives from and sends to the peer until SLOTS of each are in flight,
 * or all of this run have been started. */
static void fill(struct crowd *crowd, struct peer *peer)
{
    struct slot *slot = &peer->receives[peer->receive_next % SLOTS];

    while ((peer->receive_next < crowd->messages) && !slot->busy) {
        post_receive(crowd, peer, slot);
        slot = &peer->receives[peer->receive_next % SLOTS];
    }
    while ((peer->send_next < crowd->messages) &&
           (peer->sends_in_flight < SLOTS)) {
        post_send(crowd, peer);
    }
}

/* One run: sends and receives all messages of this many cycles. */
static void exchange(struct crowd *crowd, uint64_t cycles)
{
    int i;

    crowd->messages = cycles * CYCLE;
    crowd->done     = 0;
    for (i = 0; i < PEERS; ++i) {
        crowd->peers[i].receive_next = 0;
        crowd->peers[i].send_next    = 0;
    }
    while (crowd->done < 2 * PEERS * crowd->messages) {
        for (i = 0; i < PEERS; ++i) {
            fill(crowd, &crowd->peers[i]);
        }
        idle(crowd);
    }
}

/* Driver: selects the process with which bench_put(), bench_get() and so on
 * communicate. */
static void talk_to(struct bench *bench, uint32_t rank)
{
    bench->socket = bench->crowd_sockets[rank];
}

/* Driver: receives the worker addresses of the other processes, and sends those
 * of all processes to each of them. */
static void share_addresses(struct bench *bench,
                            void *addresses[BENCH_CROWD_SIZE])
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    uint64_t lengths[BENCH_CROWD_SIZE];
    uint32_t rank, other;

    bench_check(ucp_worker_query(bench->worker, &attr), "ucp_worker_query");
    addresses[0] = attr.address;
    lengths[0]   = attr.address_length;
    for (rank = 1; rank < BENCH_CROWD_SIZE; ++rank) {
        talk_to(bench, rank);
        addresses[rank] = bench_get_blob(bench, &lengths[rank]);
    }
    for (rank = 1; rank < BENCH_CROWD_SIZE; ++rank) {
        talk_to(bench, rank);
        for (other = 0; other < BENCH_CROWD_SIZE; ++other) {
            bench_put_blob(bench, addresses[other], lengths[other]);
        }
    }
    talk_to(bench, 1);
    ucp_worker_release_address(bench->worker, attr.address);
    addresses[0] = NULL;
}

/* The other processes: sends the worker address of this process to the driver,
 * and receives those of all processes. */
static void learn_addresses(struct bench *bench,
                            void *addresses[BENCH_CROWD_SIZE])
{
    uint64_t length;
    uint32_t rank;

    bench_put_address(bench, bench->worker);
    for (rank = 0; rank < BENCH_CROWD_SIZE; ++rank) {
        addresses[rank] = bench_get_blob(bench, &length);
    }
}

/* Initializes `peer` and creates the endpoint to it. buffers: memory for all of
 * its slots. */
static void connect_peer(struct crowd *crowd, struct peer *peer, uint32_t rank,
                         const void *address, char *buffers)
{
    int i;

    peer->rank = rank;
    for (i = 0; i < SLOTS; ++i) {
        peer->receives[i] = (struct slot){.crowd    = crowd,
                                          .expected = byte_of(rank),
                                          .buffer   = buffers +
                                                    ((size_t)i * LARGEST)};
    }
    peer->ep = bench_create_ep(crowd->bench, address);
}

static void crowd_open(struct crowd *crowd, struct bench *bench, bool yields)
{
    void *addresses[BENCH_CROWD_SIZE];
    uint32_t rank;
    int i = 0;

    memset(crowd, 0, sizeof(*crowd));
    crowd->bench    = bench;
    crowd->yields   = yields;
    crowd->sent     = malloc(LARGEST);
    crowd->received = malloc((size_t)PEERS * SLOTS * LARGEST);
    if ((crowd->sent == NULL) || (crowd->received == NULL)) {
        bench_fail("no memory for the all-to-all", "too large");
    }
    memset(crowd->sent, byte_of(bench->rank), LARGEST);
    memset(crowd->received, 0, (size_t)PEERS * SLOTS * LARGEST);
    bench_age_pages();
    bench_check(bench_open_worker(bench, UCP_FEATURE_TAG), "ucp_init");
    if (bench->rank == 0) {
        share_addresses(bench, addresses);
    } else {
        learn_addresses(bench, addresses);
    }
    for (rank = 0; rank < BENCH_CROWD_SIZE; ++rank) {
        if (rank != bench->rank) {
            connect_peer(crowd, &crowd->peers[i], rank, addresses[rank],
                         crowd->received + ((size_t)i * SLOTS * LARGEST));
            ++i;
        }
        free(addresses[rank]);
    }
}

static void crowd_close(struct crowd *crowd)
{
    ucp_ep_h eps[PEERS];
    int i;

    for (i = 0; i < PEERS; ++i) {
        eps[i] = crowd->peers[i].ep;
    }
    bench_close_eps(crowd->bench, eps, PEERS);
    barrier(crowd);
    bench_close_worker(crowd->bench);
    free(crowd->received);
    free(crowd->sent);
}

void crowd_answer(struct bench *bench, const struct bench_command *command)
{
    struct crowd crowd;
    uint64_t cycles;

    crowd_open(&crowd, bench, command->window);
    for (;;) {
        barrier(&crowd);
        cycles = atomic_load(&bench->shared->crowd_cycles);
        if (cycles == 0) {
            break;
        }
        exchange(&crowd, cycles);
        barrier(&crowd);
    }
    crowd_close(&crowd);
}

/* Driver: starts one run in all processes and takes part in it. Returns the
 * seconds until the last process has ended it. */
static double lead(struct crowd *crowd, uint64_t cycles)
{
    double start;

    atomic_store(&crowd->bench->shared->crowd_cycles, cycles);
    barrier(crowd);
    start = bench_now();
    exchange(crowd, cycles);
    barrier(crowd);
    return bench_now() - start;
}

double crowd_take(struct bench *bench, uint64_t size, uint32_t window)
{
    const struct bench_command command = {
        .kind   = BENCH_CROWD,
        .window = window,
    };
    struct crowd crowd;
    uint64_t cycles;
    uint32_t rank;
    double time;

    (void)size;
    atomic_store(&bench->shared->crowd_arrived, 0);
    for (rank = 1; rank < BENCH_CROWD_SIZE; ++rank) {
        talk_to(bench, rank);
        bench_tell(bench, command);
    }
    crowd_open(&crowd, bench, window);
    lead(&crowd, TRIAL);
    time   = lead(&crowd, TRIAL);
    cycles = bench_count_for(bench->seconds * 2, time, TRIAL);
    time   = lead(&crowd, cycles);
    atomic_store(&bench->shared->crowd_cycles, 0);
    barrier(&crowd);
    crowd_close(&crowd);
    return time * 1e6 / cycles;
}
