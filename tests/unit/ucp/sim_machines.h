/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated machines, to test how UCP learns the quickest protocol for large
 * messages (ucp/learn/trial.h). Each transfer takes time on a simulated clock.
 * This file replaces clock_gettime() by that clock for the whole program, so
 * that no result depends on the speed of the test machine. Messages are sent to
 * the same worker.
 */
#ifndef TEST_SIM_MACHINES_H
#define TEST_SIM_MACHINES_H

#include "direct_lane.h"

#include "ucp/base/class.h"
#include "ucp/learn/trial.h"

#include <stdlib.h>

enum {
    LENGTH    = 1 << 20,
    SMALL     = 1000,
    IN_FLIGHT = 8, /* Messages in flight in stream() */
    PART      = LENGTH / IN_FLIGHT,
};

static char buffer[LENGTH], buffer2[LENGTH];

/* "Carriers": the operations that can transfer the data of a message, which are
 * messages with fragments, gets by the receiver, and puts by the sender. */
enum { MESSAGES, GETS, PUTS, CARRIERS };

/* A simulated machine. `message`: nanoseconds that each message takes without
 * its data. `alone`, `stream`: nanoseconds for each KiB of data by each
 * carrier, for a message that is sent alone, and for one of several in flight.
 * `best`, `best_in_stream`: the quickest carrier in each case. */
typedef struct machine {
    const char *name;
    double message;
    double alone[CARRIERS], stream[CARRIERS];
    unsigned best, best_in_stream;
    /* Each call of take() whose number, from 1, is a multiple of this takes
     * 3 ms longer; 0: none */
    unsigned outliers;
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

/* A put or get in flight */
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
    double now; /* The simulated time in nanoseconds */
    /* Bytes of data that were transferred, by carrier */
    size_t bytes[CARRIERS];
    double pause; /* Nanoseconds between two transfers that are alone */
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
        /* simulates that the process is not scheduled for 3 ms */
        sim.now += 3e6;
    }
    sim.now += per_kib * (double)length / 1024;
    sim.bytes[carrier] += length;
}

/* Records a put or get, whose data the lane has copied already. Each call of
 * step() completes the oldest one. `status`: result of the lane's operation; an
 * error is returned, and nothing is recorded. */
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

/* Completes the oldest put or get, and calls progress, which delivers
 * messages. */
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

static inline ucs_status_t wait(local_t *local, ucs_status_ptr_t request)
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

/* Handler of all messages: advances the clock by the time of the message, and
 * by that of its data if it is longer than SMALL bytes, as only messages with
 * data are. */
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

static void play_one(ucp_worker_iface_t *ifaces)
{
    direct_lane_limit_messages(&ifaces[0]);
    play_messages(&ifaces[0]);
}

/* `lanes`: 2, or 1: without a lane for put and get. */
static inline void open_lanes(local_t *local, const machine_t *machine,
                              unsigned lanes, const char *learn)
{
    memset(&sim, 0, sizeof(sim));
    sim.machine = *machine;
    sim.now     = 1e9;
    sim.pause   = 1e6;
    ck_assert_int_eq(setenv("UCX_PROTO_LEARN", learn, 1), 0);
    direct_lane_open(local, lanes, (lanes == 1) ? play_one : play);
    ck_assert_int_eq(unsetenv("UCX_PROTO_LEARN"), 0);
}

static inline void open_machine(local_t *local, const machine_t *machine,
                                const char *learn)
{
    open_lanes(local, machine, 2, learn);
}

/* Sends `count` messages of `length` bytes, each one alone. */
static inline void transfer_bytes(local_t *local, size_t length, unsigned count)
{
    ucs_status_ptr_t send, recv;
    int i;

    while (count-- > 0) {
        memset(buffer, (int)count + 1, length);
        recv = local_recv(local, buffer2, length, 1);
        send = local_send(local, buffer, length, 1);
        ck_assert_int_eq(wait(local, recv), UCS_OK);
        ck_assert_int_eq(wait(local, send), UCS_OK);
        ck_assert_mem_eq(buffer, buffer2, length);
        for (i = 0; i < 4; ++i) {
            /* delivers messages that UCP sends after the transfer */
            ucp_worker_progress(local->worker);
        }
        sim.now += sim.pause;
    }
}

static inline void transfer(local_t *local, unsigned count)
{
    transfer_bytes(local, LENGTH, count);
}

/* Sends `count` messages of `length` bytes, at most PART, of which IN_FLIGHT are
 * in flight. */
static inline void stream_bytes(local_t *local, size_t length, unsigned count)
{
    ucs_status_ptr_t sends[IN_FLIGHT] = {0}, recvs[IN_FLIGHT] = {0};
    unsigned i, slot;

    sim.streaming = 1;
    for (i = 0; i < count + IN_FLIGHT; ++i) {
        slot = i % IN_FLIGHT;
        if (i >= IN_FLIGHT) {
            ck_assert_int_eq(wait(local, recvs[slot]), UCS_OK);
            ck_assert_int_eq(wait(local, sends[slot]), UCS_OK);
            ck_assert_mem_eq(buffer + slot * PART, buffer2 + slot * PART,
                             length);
        }
        if (i < count) {
            memset(buffer + slot * PART, (int)i + 1, length);
            recvs[slot] = local_recv(local, buffer2 + slot * PART, length, 1);
            sends[slot] = local_send(local, buffer + slot * PART, length, 1);
        }
    }
    sim.streaming = 0;
}

static inline void stream(local_t *local, unsigned count)
{
    stream_bytes(local, PART, count);
}

#endif
