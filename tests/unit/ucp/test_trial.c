/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large messages go by the method that proves to be the fastest. The lanes take
 * time on a simulated clock, which replaces that of the system in this program;
 * nothing depends on the time that the test takes.
 */
#include "direct_lane.h"
#include "lent.h"

#include "ucp/base/class.h"
#include "ucp/learn/trial.h"

#include <stdio.h>

enum {
    LENGTH    = 1 << 20,
    SMALL     = 1000,
    IN_FLIGHT = 8, /* Messages of a stream */
    PART      = LENGTH / IN_FLIGHT,
};

static char buffer[LENGTH], buffer2[LENGTH];

/* What carries the data. */
enum { MESSAGES, GETS, PUTS, CARRIERS };

/* Nanoseconds of a machine: of each message, and of a KiB by each carrier, for
 * a transfer that is alone and for one of a stream. */
typedef struct machine {
    const char *name;
    double message;
    double alone[CARRIERS], stream[CARRIERS];
    unsigned best, best_in_stream;
    unsigned outliers; /* One of so many transfers takes long; 0: none */
} machine_t;

static const machine_t machines[] = {
    {"a quick ring", 100, {30, 80, 70}, {30, 80, 70}, MESSAGES, MESSAGES, 0},
    {"a quick copy", 100, {90, 40, 60}, {90, 40, 60}, GETS, GETS, 0},
    {"shared puts", 100, {400, 240, 180}, {400, 50, 60}, PUTS, GETS, 0},
    {"expensive messages", 40000, {50, 55, 55}, {50, 55, 55}, GETS, GETS, 0},
    {"slow copies", 300, {60, 900, 700}, {60, 900, 700}, MESSAGES, MESSAGES, 0},
    {"EPYC, same cache", 20, {34, 44, 45}, {37, 33, 36}, MESSAGES, GETS, 0},
    {"Xeon, 2 cores", 150, {79, 48, 52}, {59, 43, 46}, GETS, GETS, 0},
    {"Xeon, 16 cores", 170, {69, 40, 44}, {69, 39, 35}, GETS, PUTS, 0},
    {"slow helper", 50, {44, 156, 140}, {41, 160, 150}, MESSAGES, MESSAGES, 0},
    {"oversubscribed", 100, {70, 80, 55}, {70, 50, 66}, PUTS, GETS, 13},
    {"throttled link",
     3000,
     {9000, 7600, 8200},
     {8900, 9000, 7800},
     GETS,
     PUTS,
     0},
};

enum { MACHINES = sizeof(machines) / sizeof(machines[0]) };

/* A put or get under way. */
typedef struct copy {
    size_t length;
    unsigned carrier;
    uct_completion_t *comp;
} copy_t;

enum { QUEUE = 64 };

static struct {
    machine_t machine;
    copy_t queue[QUEUE];
    unsigned first, last;
    double now;             /* Nanoseconds */
    size_t bytes[CARRIERS]; /* Of data by what carries it */
    ucp_worker_h worker;
    int streaming;
    unsigned transfers;
    ucx_iface_ops_t iface_ops;
    ucx_ep_ops_t direct_usual, direct_ops;
} sim;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    uint64_t now = (uint64_t)sim.now;

    time->tv_sec  = (time_t)(now / 1000000000);
    time->tv_nsec = (long)(now % 1000000000);
    return 0;
}

static void take(size_t length, unsigned carrier)
{
    const machine_t *machine = &sim.machine;
    double per_kib           = (sim.streaming ? machine->stream :
                                                machine->alone)[carrier];

    if ((machine->outliers > 0) && (++sim.transfers % machine->outliers == 0)) {
        sim.now += 3e6; /* a process that is not scheduled */
    }
    sim.now += per_kib * (double)length / 1024;
    sim.bytes[carrier] += length;
}

/* The lane of put and get carries out one operation after another, each in a
 * step of the test. */
static ucs_status_t start_copy(const uct_iov_t *iov, unsigned carrier,
                               uct_completion_t *comp, ucs_status_t status)
{
    if (status != UCS_OK) {
        return status;
    }
    ck_assert_uint_lt(sim.last - sim.first, QUEUE);
    sim.queue[sim.last++ % QUEUE] = (copy_t){iov->length, carrier, comp};
    return UCS_INPROGRESS;
}

static ucs_status_t sim_get(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                            uint64_t remote_addr, uct_rkey_t rkey,
                            uct_completion_t *comp)
{
    return start_copy(iov, GETS, comp,
                      sim.direct_usual.get_zcopy(ep, iov, iovcnt, remote_addr,
                                                 rkey, comp));
}

static ucs_status_t sim_put(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                            uint64_t remote_addr, uct_rkey_t rkey,
                            uct_completion_t *comp)
{
    return start_copy(iov, PUTS, comp,
                      sim.direct_usual.put_zcopy(ep, iov, iovcnt, remote_addr,
                                                 rkey, comp));
}

/* Ends the oldest operation, and delivers messages. */
static void step(local_t *local)
{
    unsigned i;

    if (sim.first != sim.last) {
        copy_t copy = sim.queue[sim.first++ % QUEUE];

        take(copy.length, copy.carrier);
        if (--copy.comp->count == 0) {
            copy.comp->func(copy.comp);
        }
    }
    for (i = 0; i < 4; ++i) {
        ucp_worker_progress(local->worker);
    }
}

static ucs_status_t wait(local_t *local, ucs_status_ptr_t request)
{
    ucs_status_t status;
    unsigned steps = 0;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        ck_assert_uint_lt(++steps, 100000);
        step(local);
    }
    ucp_request_free(request);
    return status;
}

/* The peer takes the time of a message when it receives it. */
static ucs_status_t sim_receive(void *arg, void *data, size_t length,
                                unsigned flags)
{
    const ucp_class_message_t *message = arg;

    sim.now += sim.machine.message;
    if (length > SMALL) {
        take(length, MESSAGES);
    }
    return message->handler(sim.worker, data, length, flags);
}

static void play_messages(ucp_worker_iface_t *wiface)
{
    const ucp_class_t *const *class;
    unsigned i;

    sim.worker = wiface->worker;
    for (class = ucp_classes; *class != NULL; ++class) {
        for (i = 0; i < (*class)->num_messages; ++i) {
            const ucp_class_message_t *message = &(*class)->messages[i];

            ck_assert_int_eq(uct_iface_set_am_handler(wiface->iface,
                                                      message->id, sim_receive,
                                                      (void *)message, 0),
                             UCS_OK);
        }
    }
}

static void play(ucp_worker_iface_t *ifaces)
{
    direct_lane_limit_messages(&ifaces[0]);
    play_messages(&ifaces[0]);

    direct_lane_limit_direct(&ifaces[1], &sim.iface_ops);
    sim.direct_usual         = *ifaces[1].iface->ep_ops;
    sim.direct_ops           = sim.direct_usual;
    sim.direct_ops.get_zcopy = sim_get;
    sim.direct_ops.put_zcopy = sim_put;
    ifaces[1].iface->ep_ops  = &sim.direct_ops;
}

static void open_machine(local_t *local, const machine_t *machine,
                         const char *learn)
{
    memset(&sim, 0, sizeof(sim));
    sim.machine = *machine;
    sim.now     = 1e9;
    ck_assert_int_eq(setenv("UCX_PROTO_LEARN", learn, 1), 0);
    ck_assert_int_eq(setenv("UCX_PROTO_LEARN_STREAMS", "y", 1), 0);
    direct_lane_open(local, play);
    ck_assert_int_eq(unsetenv("UCX_PROTO_LEARN"), 0);
    ck_assert_int_eq(unsetenv("UCX_PROTO_LEARN_STREAMS"), 0);
}

static void transfer(local_t *local, unsigned count)
{
    ucs_status_ptr_t send, recv;
    int i;

    while (count-- > 0) {
        memset(buffer, (int)count + 1, LENGTH);
        recv = local_recv(local, buffer2, LENGTH, 1);
        send = local_send(local, buffer, LENGTH, 1);
        ck_assert_int_eq(wait(local, recv), UCS_OK);
        ck_assert_int_eq(wait(local, send), UCS_OK);
        ck_assert_mem_eq(buffer, buffer2, LENGTH);
        for (i = 0; i < 4; ++i) {
            ucp_worker_progress(local->worker); /* probes are answered */
        }
        sim.now += 1e6; /* the next one is not behind this one */
    }
}

/* Messages of PART bytes, IN_FLIGHT of them at a time. */
static void stream(local_t *local, unsigned count)
{
    ucs_status_ptr_t sends[IN_FLIGHT] = {0}, recvs[IN_FLIGHT] = {0};
    unsigned i, slot;

    sim.streaming = 1;
    for (i = 0; i < count + IN_FLIGHT; ++i) {
        slot = i % IN_FLIGHT;
        if (i >= IN_FLIGHT) {
            ck_assert_int_eq(wait(local, recvs[slot]), UCS_OK);
            ck_assert_int_eq(wait(local, sends[slot]), UCS_OK);
            ck_assert_mem_eq(buffer + slot * PART, buffer2 + slot * PART, PART);
        }
        if (i < count) {
            memset(buffer + slot * PART, (int)i + 1, PART);
            recvs[slot] = local_recv(local, buffer2 + slot * PART, PART, 1);
            sends[slot] = local_send(local, buffer + slot * PART, PART, 1);
        }
    }
    sim.streaming = 0;
}

/* The first messages are alone, and may go otherwise; and a trial may be under
 * way at first. */
static void check_stream(local_t *local, unsigned best, const char *when)
{
    unsigned tries;

    for (tries = 0; tries < 4; ++tries) {
        memset(sim.bytes, 0, sizeof(sim.bytes));
        stream(local, 4 * IN_FLIGHT);
        if (sim.bytes[best] >= 3 * IN_FLIGHT * (size_t)PART) {
            return;
        }
    }
    ck_abort_msg("%s, %s: %zu bytes by messages, %zu by get, %zu by put",
                 sim.machine.name, when, sim.bytes[MESSAGES], sim.bytes[GETS],
                 sim.bytes[PUTS]);
}

/* All data went by what is the best. */
static void check_next(local_t *local, const char *when)
{
    const machine_t *machine = &sim.machine;

    memset(sim.bytes, 0, sizeof(sim.bytes));
    transfer(local, 4);
    ck_assert_msg(sim.bytes[machine->best] >= 4 * (size_t)LENGTH,
                  "%s, %s: %zu bytes by messages, %zu by get, %zu by put",
                  machine->name, when, sim.bytes[MESSAGES], sim.bytes[GETS],
                  sim.bytes[PUTS]);
}

/* Puts or gets of memory of the same worker. */
static void access_memory(local_t *local, const lent_t *lent, int is_get,
                          unsigned count)
{
    ucp_request_param_t plain = {0};
    ucs_status_ptr_t op;

    while (count-- > 0) {
        memset(is_get ? buffer2 : buffer, (int)count + 1, LENGTH);
        op = is_get ? ucp_get_nbx(local->ep, buffer, LENGTH, (uintptr_t)buffer2,
                                  lent->rkey, &plain) :
                      ucp_put_nbx(local->ep, buffer, LENGTH, (uintptr_t)buffer2,
                                  lent->rkey, &plain);
        ck_assert_int_eq(wait(local, op), UCS_OK);
        ck_assert_int_eq(wait(local, ucp_ep_flush_nbx(local->ep, &plain)),
                         UCS_OK);
        ck_assert_mem_eq(buffer, buffer2, LENGTH);
        sim.now += 1e6;
    }
}

static void check_access(const machine_t *machine, int is_get)
{
    unsigned by_lane = is_get ? GETS : PUTS;
    unsigned best    = (machine->best == MESSAGES) ? MESSAGES : by_lane;
    char *text       = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    lent_t lent;
    local_t local;

    open_machine(&local, machine, "y");
    lend(&local, buffer2, LENGTH, &lent);
    access_memory(&local, &lent, is_get, 40);
    ck_assert_msg((sim.bytes[MESSAGES] > 0) && (sim.bytes[by_lane] > 0),
                  "%s: one of the methods is not tried", machine->name);
    memset(sim.bytes, 0, sizeof(sim.bytes));
    access_memory(&local, &lent, is_get, 4);
    ck_assert_msg(sim.bytes[best] >= 4 * (size_t)LENGTH,
                  "%s, %s: %zu bytes by messages, %zu by the lane",
                  machine->name, is_get ? "get" : "put", sim.bytes[MESSAGES],
                  sim.bytes[by_lane]);
    ucp_ep_print_info(local.ep, stream);
    fclose(stream);
    ck_assert_msg(strstr(text, (best == MESSAGES) ? "1024 KiB: messages" :
                                                    "1024 KiB: zcopy") != NULL,
                  "%s", text);
    free(text);
    take_back(&local, &lent);
    local_close(&local);
}

START_TEST(the_fastest_put_and_get_is_found)
{
    size_t i;

    for (i = 0; i < MACHINES; ++i) {
        check_access(&machines[i], 0);
        check_access(&machines[i], 1);
    }
}
END_TEST

START_TEST(the_fastest_is_found)
{
    local_t local;
    size_t i;

    for (i = 0; i < MACHINES; ++i) {
        open_machine(&local, &machines[i], "y");
        transfer(&local, 40);
        check_next(&local, "after 40 messages");
        local_close(&local);
    }
}
END_TEST

/* The best way of a stream may differ from that of single messages. */
START_TEST(the_fastest_for_streams_is_found)
{
    local_t local;
    size_t i;

    for (i = 0; i < MACHINES; ++i) {
        open_machine(&local, &machines[i], "y");
        stream(&local, 100);
        check_stream(&local, machines[i].best_in_stream, "after 100 messages");
        local_close(&local);
    }
}
END_TEST

/* Single messages and streams of the same sizes in turn: each has its own. */
START_TEST(streams_and_single_messages_are_learnt_separately)
{
    local_t local;
    unsigned i;

    open_machine(&local, &machines[2], "y");
    for (i = 0; i < 10; ++i) {
        stream(&local, 40);
        transfer(&local, 10);
    }
    check_stream(&local, GETS, "with single messages between");
    transfer(&local, 6); /* the rest of a trial */
    check_next(&local, "with streams between");
    local_close(&local);
}
END_TEST

START_TEST(a_change_is_followed_in_a_stream)
{
    local_t local;

    open_machine(&local, &machines[1], "y");
    stream(&local, 200);
    check_stream(&local, GETS, "before the change");
    sim.machine = machines[4];
    stream(&local, 900);
    check_stream(&local, MESSAGES, "after the change");
    local_close(&local);
}
END_TEST

START_TEST(a_change_is_followed)
{
    local_t local;

    open_machine(&local, &machines[1], "y");
    transfer(&local, 40);
    sim.machine = machines[4];
    transfer(&local, 140);
    check_next(&local, "after the change");
    sim.machine = machines[2];
    transfer(&local, 140);
    check_next(&local, "after the second change");
    local_close(&local);
}
END_TEST

START_TEST(what_is_learnt_is_shown)
{
    local_t local;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    open_machine(&local, &machines[2], "y");
    transfer(&local, 40);
    ucp_ep_print_info(local.ep, stream);
    fclose(stream);
    ck_assert_msg(strstr(text, "1024 KiB: rndv/put") != NULL, "%s", text);
    free(text);
    local_close(&local);
}
END_TEST

START_TEST(the_variable_switches_it_off)
{
    local_t local;

    open_machine(&local, &machines[2], "n");
    transfer(&local, 100);
    ck_assert_uint_eq(sim.bytes[PUTS], 0); /* a get costs less by estimate */
    local_close(&local);
}
END_TEST

/* A transfer of the trial ends with its endpoint; another endpoint learns. */
START_TEST(an_endpoint_closes_during_a_trial)
{
    ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };
    ucs_status_ptr_t send;
    local_t local;
    unsigned count;

    for (count = 0; count < 30; ++count) {
        open_machine(&local, &machines[0], "y");
        transfer(&local, count);
        send = local_send(&local, buffer, LENGTH, 2);
        if (UCS_PTR_IS_PTR(send)) {
            ucp_request_free(send);
        }
        ck_assert(ucp_ep_close_nbx(local.ep, &force) == NULL);
        ucp_worker_progress(local.worker);
        local.ep = local_ep(&local, 0);
        transfer(&local, 20);
        local_close(&local);
    }
}
END_TEST

SUITE_MAIN("trial", the_fastest_is_found, the_fastest_put_and_get_is_found,
           the_fastest_for_streams_is_found,
           streams_and_single_messages_are_learnt_separately,
           a_change_is_followed_in_a_stream, a_change_is_followed,
           what_is_learnt_is_shown, the_variable_switches_it_off,
           an_endpoint_closes_during_a_trial)
