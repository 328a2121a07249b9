/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large messages go by the method that proves to be the fastest. The lanes take
 * time on a simulated clock, which replaces that of the system in this program;
 * nothing depends on the time that the test takes.
 */
#include "direct_lane.h"
#include "lent.h"

#include "ucp/learn/trial.h"

#include <stdio.h>

enum { LENGTH = 1 << 20, SMALL = 1000 };

static char buffer[LENGTH], buffer2[LENGTH];

/* Nanoseconds of a machine: of each message, and of a KiB by each method. */
typedef struct machine {
    const char *name;
    double message, copy, get, put;
    unsigned best;
} machine_t;

/* What carries the data. */
enum { MESSAGES, GETS, PUTS };

static const machine_t machines[] = {
    {"a quick ring", 100, 30, 80, 70, MESSAGES},
    {"a quick copy", 100, 90, 40, 60, GETS},
    {"shared puts", 100, 400, 240, 180, PUTS},
    {"expensive messages", 40000, 50, 55, 55, GETS},
    {"slow copies", 300, 60, 900, 700, MESSAGES},
};

static struct {
    machine_t machine;
    double now;      /* Nanoseconds */
    size_t bytes[3]; /* Of data by what carries it */
    ucx_iface_ops_t iface_ops;
    ucx_ep_ops_t usual, ops, direct_usual, direct_ops;
} sim;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    uint64_t now = (uint64_t)sim.now;

    time->tv_sec  = (time_t)(now / 1000000000);
    time->tv_nsec = (long)(now % 1000000000);
    return 0;
}

static void take(double per_kib, size_t length, unsigned carrier)
{
    sim.now += per_kib * (double)length / 1024;
    sim.bytes[carrier] += length;
}

static ucs_status_t sim_get(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                            uint64_t remote_addr, uct_rkey_t rkey,
                            uct_completion_t *comp)
{
    take(sim.machine.get, iov->length, GETS);
    return sim.direct_usual.get_zcopy(ep, iov, iovcnt, remote_addr, rkey, comp);
}

static ucs_status_t sim_put(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                            uint64_t remote_addr, uct_rkey_t rkey,
                            uct_completion_t *comp)
{
    take(sim.machine.put, iov->length, PUTS);
    return sim.direct_usual.put_zcopy(ep, iov, iovcnt, remote_addr, rkey, comp);
}

static ssize_t sim_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack,
                         void *arg, unsigned flags)
{
    ssize_t length = sim.usual.am_bcopy(ep, id, pack, arg, flags);

    sim.now += sim.machine.message;
    if (length > SMALL) {
        take(sim.machine.copy, (size_t)length, MESSAGES);
    }
    return length;
}

static ucs_status_t sim_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                              unsigned header_length, const uct_iov_t *iov,
                              size_t iovcnt, unsigned flags,
                              uct_completion_t *comp)
{
    sim.now += sim.machine.message;
    take(sim.machine.copy, iov->length, MESSAGES);
    return sim.usual.am_zcopy(ep, id, header, header_length, iov, iovcnt, flags,
                              comp);
}

static void play(ucp_worker_iface_t *ifaces)
{
    direct_lane_limit_messages(&ifaces[0]);
    sim.usual               = *ifaces[0].iface->ep_ops;
    sim.ops                 = sim.usual;
    sim.ops.am_bcopy        = sim_bcopy;
    sim.ops.am_zcopy        = sim_zcopy;
    ifaces[0].iface->ep_ops = &sim.ops;

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
    direct_lane_open(local, play);
    ck_assert_int_eq(unsetenv("UCX_PROTO_LEARN"), 0);
}

static void transfer(local_t *local, unsigned count)
{
    ucs_status_ptr_t send, recv;
    int i;

    while (count-- > 0) {
        memset(buffer, (int)count + 1, LENGTH);
        recv = local_recv(local, buffer2, LENGTH, 1);
        send = local_send(local, buffer, LENGTH, 1);
        ck_assert_int_eq(local_wait(local, recv), UCS_OK);
        ck_assert_int_eq(local_wait(local, send), UCS_OK);
        ck_assert_mem_eq(buffer, buffer2, LENGTH);
        for (i = 0; i < 4; ++i) {
            ucp_worker_progress(local->worker); /* probes are answered */
        }
        sim.now += 1e6; /* the next one is not behind this one */
    }
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
        ck_assert_int_eq(local_wait(local, op), UCS_OK);
        ck_assert_int_eq(local_wait(local, ucp_ep_flush_nbx(local->ep, &plain)),
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

    for (i = 0; i < sizeof(machines) / sizeof(machines[0]); ++i) {
        check_access(&machines[i], 0);
        check_access(&machines[i], 1);
    }
}
END_TEST

START_TEST(the_fastest_is_found)
{
    local_t local;
    size_t i;

    for (i = 0; i < sizeof(machines) / sizeof(machines[0]); ++i) {
        open_machine(&local, &machines[i], "y");
        transfer(&local, 40);
        check_next(&local, "after 40 messages");
        local_close(&local);
    }
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
           a_change_is_followed, what_is_learnt_is_shown,
           the_variable_switches_it_off, an_endpoint_closes_during_a_trial)
