/* SPDX-License-Identifier: BSD-3-Clause */
/* For large messages, put and get, UCP tries several methods (messages, or put
 * and get over a lane) and then uses the fastest one. sim_machines.h simulates
 * how long each takes. */
#include "lent.h"
#include "sim_machines.h"
#include "ucp/learn/lead.h"
#include "ucp/proto/measure.h"

#include <stdio.h>

/* Sends streams until the method `best` transfers three quarters of the data of
 * one of them; fails after four streams. The first messages of a stream count
 * as single messages and may use another method, and a trial of another method
 * may be in progress. */
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

/* Sends messages and checks that the fastest method transfers all their
 * data. */
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

/* Puts to or gets from memory of the same worker, `count` times. */
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
    access_memory(&local, &lent, is_get, 100);
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
        transfer(&local, 100);
        check_next(&local, "after 100 messages");
        local_close(&local);
    }
}
END_TEST

/* Messages of a size that was not sent before begin with the method that is the
 * fastest for a similar size, although it is not by the estimates. */
START_TEST(a_new_size_begins_with_the_fastest)
{
    local_t local;
    size_t length;

    for (length = LENGTH / 4; length <= LENGTH; length *= 4) {
        open_machine(&local, &machines[2], "y");
        transfer_bytes(&local, LENGTH / 2, 1);
        ck_assert_uint_eq(sim.bytes[GETS], LENGTH / 2); /* the estimate */
        transfer_bytes(&local, LENGTH / 2, 100);
        memset(sim.bytes, 0, sizeof(sim.bytes));
        transfer_bytes(&local, length, 4);
        ck_assert_uint_eq(sim.bytes[PUTS], 4 * length);
        local_close(&local);
    }
}
END_TEST

/* Single messages and streams of messages of one size in turn: UCP selects a
 * method for each of the two. */
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
    transfer(&local, 6); /* a trial that is in progress ends */
    check_next(&local, "with streams between");
    local_close(&local);
}
END_TEST

/* Returns whether the results of the endpoint contain `text`. */
static int contains(local_t *local, const char *text)
{
    char *info = NULL;
    size_t size;
    FILE *stream = open_memstream(&info, &size);
    int found;

    ucp_ep_print_info(local->ep, stream);
    fclose(stream);
    found = (strstr(info, text) != NULL);
    free(info);
    return found;
}

/* The methods of a message: their names in the results, and the user's setting
 * that selects them. */
static const struct {
    const char *name, *variable, *value;
} methods[] = {{"eager", "UCX_RNDV_THRESH", "inf"},
               {"rndv/am", "UCX_RNDV_SCHEME", "am"},
               {"rndv/get", "UCX_RNDV_SCHEME", "get_zcopy"},
               {"rndv/put", "UCX_RNDV_SCHEME", "put_zcopy"}};

enum { METHODS = sizeof(methods) / sizeof(methods[0]) };

/* Returns the simulated time of a stream by one method. */
static double time_of_stream(const machine_t *machine, unsigned method)
{
    local_t local;
    double begin, end;

    ck_assert_int_eq(setenv(methods[method].variable, methods[method].value, 1),
                     0);
    open_machine(&local, machine, "n");
    ck_assert_int_eq(unsetenv(methods[method].variable), 0);
    begin = sim.now;
    stream(&local, 4 * IN_FLIGHT);
    end = sim.now;
    local_close(&local);
    return end - begin;
}

/* Returns the method that UCP has selected for streams after `count`
 * messages. */
static unsigned selected_after(const machine_t *machine, unsigned count)
{
    unsigned method, found = METHODS;
    char text[64];
    local_t local;

    open_machine(&local, machine, "y");
    stream(&local, count);
    for (method = 0; method < METHODS; ++method) {
        snprintf(text, sizeof(text), "128 KiB in streams both ways: %s,",
                 methods[method].name);
        if (contains(&local, text)) {
            found = method;
        }
    }
    local_close(&local);
    ck_assert_uint_lt(found, METHODS);
    return found;
}

/* Checks that after `count` messages of a stream UCP has selected a method that
 * takes at most a tenth longer than the fastest one. */
static void check_selected(const machine_t *machine, unsigned count)
{
    unsigned found  = selected_after(machine, count);
    double selected = time_of_stream(machine, found);
    double least    = selected;
    unsigned method;
    double time;

    for (method = 0; method < METHODS; ++method) {
        time  = time_of_stream(machine, method);
        least = (time < least) ? time : least;
    }
    ck_assert_msg(selected <= 1.1 * least,
                  "%s, after %u messages: %s takes %g us, the fastest %g",
                  machine->name, count, methods[found].name, selected / 1e3,
                  least / 1e3);
}

/* The fastest method may differ between single messages and streams of
 * messages. After 100 messages of a stream, UCP has selected one that takes at
 * most a tenth longer than the fastest, although on some machines the estimates
 * are wrong by a factor of four. */
START_TEST(the_fastest_for_streams_is_found)
{
    size_t i;

    for (i = 0; i < MACHINES; ++i) {
        check_selected(&machines[i], 100);
    }
}
END_TEST

/* Streams of a size that was not sent before, too, although messages are not the
 * fastest by the estimates. */
START_TEST(a_new_size_of_a_stream_begins_with_the_fastest)
{
    local_t local;

    open_machine(&local, &machines[0], "y");
    stream_bytes(&local, PART / 2, 40);
    ck_assert(contains(&local, "64 KiB in streams both ways: rndv/get"));
    local_close(&local);

    open_machine(&local, &machines[0], "y");
    stream(&local, 1000);
    stream_bytes(&local, PART / 2, 40);
    ck_assert(!contains(&local, "64 KiB in streams both ways: rndv/get"));
    ck_assert(!contains(&local, "64 KiB in streams both ways: rndv/put"));
    ck_assert(contains(&local, "64 KiB in streams both ways: "));
    local_close(&local);
}
END_TEST

/* Sends messages for which a receive is posted, and returns whether the results
 * contain `text`. */
static int shows(double pause, const char *text)
{
    local_t local;
    int found;

    open_machine(&local, &machines[2], "y");
    sim.pause = pause;
    transfer(&local, 120);
    found = contains(&local, text);
    local_close(&local);
    return found;
}

/* Over a single lane there is a choice, too: eager messages are faster than a
 * rendezvous in fragments where each message takes long. Longer messages than
 * those that may be eager have no choice, and are not timed. */
START_TEST(one_lane_has_two_methods)
{
    local_t local;

    open_lanes(&local, &machines[3], 1, "y");
    transfer_bytes(&local, LENGTH / 4, 100);
    ck_assert(contains(&local, "256 KiB: eager"));
    ck_assert(contains(&local, "rndv/am"));
    transfer_bytes(&local, LENGTH, 10);
    ck_assert(!contains(&local, "1024 KiB"));
    stream(&local, 1000);
    ck_assert(contains(&local, "128 KiB in streams both ways: eager"));
    local_close(&local);
}
END_TEST

/* An eager message uses the protocol that the costs select among all that are not
 * a rendezvous, not only among those that copy its data. */
START_TEST(eager_messages_use_the_cheapest_protocol)
{
    const ucp_ep_config_t *config;
    const ucp_proto_t *eager, *cheapest;
    unsigned found = 0;
    local_t local;
    size_t length;

    open_machine(&local, &machines[3], "y");
    config = local.ep->config;
    for (length = 4096; length <= LENGTH; length += 4096) {
        eager    = ucp_proto_find(&config->eager, length);
        cheapest = ucp_proto_find(
            &config->tables[UCP_OP_TAG_SEND][UCP_DT_CLASS_CONTIG], length);
        ck_assert(!(eager->flags & UCP_PROTO_FLAG_RNDV));
        if (!(cheapest->flags & UCP_PROTO_FLAG_RNDV)) {
            ck_assert_ptr_eq(eager, cheapest);
            ++found;
        }
    }
    ck_assert_uint_gt(found, 0);
    local_close(&local);
}
END_TEST

/* Over a single lane of a network there is a choice for long messages that do not
 * follow each other. */
START_TEST(one_network_lane_has_two_methods)
{
    ucp_lane_config_t *lane;
    local_t local;

    open_lanes(&local, &machines[3], 1, "y");
    lane = (ucp_lane_config_t *)&local.ep->config->lanes[UCP_AM_LANE];
    lane->is_network = 1;
    transfer_bytes(&local, 65536, 40);
    ck_assert(!contains(&local, "64 KiB"));
    transfer_bytes(&local, LENGTH / 4, 40);
    ck_assert(contains(&local, "256 KiB: eager"));
    stream(&local, 1000);
    ck_assert(!contains(&local, "in streams"));
    local_close(&local);
}
END_TEST

/* A process that sends and receives about as much makes exchanges, for which
 * the fastest method is found, too; but not if it does other work for most of
 * the time. */
START_TEST(exchanges_are_recognized)
{
    ck_assert(shows(1000, "1024 KiB in exchanges: rndv/put"));
    ck_assert(!shows(2e6, "in exchanges"));
    ck_assert(shows(2e6, "1024 KiB: rndv/put"));
}
END_TEST

/* A worker that exchanges with itself does not follow its own announcements.
 * Invalid ones do no harm. tests/integration/exchanges.c has two processes. */
START_TEST(own_announcements_are_not_followed)
{
    local_t local;
    unsigned i;

    open_machine(&local, &machines[2], "y");
    sim.pause = 1000;
    ucp_lead_received(local.ep, LENGTH, 1 + UCP_LEARN_AM);
    transfer(&local, 100);
    for (i = 0; i <= UINT8_MAX; ++i) {
        ucp_lead_received(local.ep, LENGTH, i);
        ucp_lead_received(local.ep, SIZE_MAX, i);
        ucp_lead_received(local.ep, UCP_TRIAL_MIN - 1, i);
        ucp_lead_received(local.ep, 0, i);
    }
    transfer(&local, 20);
    ck_assert(contains(&local, "1024 KiB in exchanges: rndv/put"));
    ck_assert(!contains(&local, "selected by the peer"));
    local_close(&local);
}
END_TEST

/* The worker receives what it sends: its streams are in both directions, of
 * which the fastest method is learnt separately. */
START_TEST(both_directions_are_recognized)
{
    local_t local;

    open_machine(&local, &machines[2], "y");
    stream(&local, 200);
    ck_assert(contains(&local, "128 KiB in streams both ways"));
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
    stream(&local, 16000);
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

/* If the measured bandwidth of messages changes, the endpoint gets another
 * configuration. What was learnt remains. */
START_TEST(a_measured_bandwidth_does_not_restart_the_search)
{
    const ucp_ep_config_t *config;
    local_t local;

    /* the transport of the simulation measures nothing */
    ck_assert_int_eq(setenv("UCX_PROTO_MEASURE", "n", 1), 0);
    open_machine(&local, &machines[2], "y");
    ck_assert_int_eq(unsetenv("UCX_PROTO_MEASURE"), 0);
    transfer(&local, 40);
    stream(&local, 4000);
    config = ucp_ep_config_measured(local.worker, local.ep->config,
                                    ucp_measure_class(3e9, 0), 0);
    ck_assert_ptr_nonnull(config);
    ck_assert_ptr_ne(config, local.ep->config);
    local.ep->config = config;
    transfer(&local, 2); /* the first one follows the stream */
    check_next(&local, "after a change of the configuration");
    check_stream(&local, machines[2].best_in_stream,
                 "after a change of the configuration");
    local_close(&local);
}
END_TEST

/* Gives the endpoint the configuration of a measured bandwidth of messages, and
 * sends the first messages of a stream. */
static void begin_stream(local_t *local, double bandwidth)
{
    const ucp_ep_config_t *config;

    ck_assert_int_eq(setenv("UCX_PROTO_MEASURE", "n", 1), 0);
    open_machine(local, &machines[0], "y");
    ck_assert_int_eq(unsetenv("UCX_PROTO_MEASURE"), 0);
    config = ucp_ep_config_measured(local->worker, local->ep->config,
                                    ucp_measure_class(bandwidth, 0), 0);
    ck_assert_ptr_nonnull(config);
    local->ep->config = config;
    stream(local, IN_FLIGHT);
}

/* By the costs, messages are faster than a get. A stream begins with get
 * nevertheless, unless messages are far faster: they occupy both processors. */
START_TEST(a_stream_begins_with_one_copy)
{
    local_t local;

    begin_stream(&local, 1.1 * DIRECT_LANE_BANDWIDTH);
    ck_assert_uint_ge(sim.bytes[MESSAGES], PART); /* the first is alone */
    ck_assert_uint_ge(sim.bytes[GETS], (IN_FLIGHT - 2) * (size_t)PART);
    local_close(&local);

    begin_stream(&local, 4 * DIRECT_LANE_BANDWIDTH);
    ck_assert_uint_ge(sim.bytes[MESSAGES], IN_FLIGHT * (size_t)PART);
    local_close(&local);
}
END_TEST

/* The rates of streams include the bytes that the worker receives, in messages
 * of any length. */
START_TEST(received_bytes_count)
{
    const size_t lengths[] = {1, 1000, 20000, LENGTH};
    size_t sum             = 0;
    ucs_status_ptr_t recv;
    local_t local;
    unsigned i;

    open_machine(&local, &machines[0], "y");
    for (i = 0; i < 4; ++i) {
        recv = local_recv(&local, buffer2, LENGTH, 1);
        ck_assert_int_eq(wait(&local,
                              local_send(&local, buffer, lengths[i], 1)),
                         UCS_OK);
        ck_assert_int_eq(wait(&local, recv), UCS_OK);
        sum += lengths[i];
        ck_assert_uint_eq(local.worker->received, sum);
    }
    local_close(&local);
}
END_TEST

START_TEST(the_variable_switches_it_off)
{
    local_t local;

    open_machine(&local, &machines[2], "n");
    transfer(&local, 100);
    /* by the cost estimate a get is faster than a put */
    ck_assert_uint_eq(sim.bytes[PUTS], 0);
    local_close(&local);
}
END_TEST

/* An endpoint is closed by force while a trial is in progress; then messages
 * are sent over a new endpoint. */
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

SUITE_MAIN("trial", the_fastest_is_found, a_new_size_begins_with_the_fastest,
           a_new_size_of_a_stream_begins_with_the_fastest,
           the_fastest_put_and_get_is_found, the_fastest_for_streams_is_found,
           streams_and_single_messages_are_learnt_separately,
           one_lane_has_two_methods, one_network_lane_has_two_methods,
           eager_messages_use_the_cheapest_protocol, exchanges_are_recognized,
           own_announcements_are_not_followed, both_directions_are_recognized,
           a_change_is_followed_in_a_stream, a_change_is_followed,
           a_measured_bandwidth_does_not_restart_the_search,
           a_stream_begins_with_one_copy, received_bytes_count,
           the_variable_switches_it_off, an_endpoint_closes_during_a_trial)
