/* SPDX-License-Identifier: BSD-3-Clause */
/* The marks of epochs (ucp/learn/timing.h), of requests that do not transfer
 * data: the test completes them on a simulated clock. */
#include "sim_machines.h"
#include "ucp/learn/samples.h"
#include "ucp/learn/timing.h"

enum { WARM = 2, COUNT = 12, TOTAL = WARM + COUNT };

/* A round in a stream of gets. */
typedef struct epoch {
    local_t local;
    struct ucp_trials *trials;
    ucp_learn_stream_t stream;
    ucp_request_t earlier; /* A get that began before the epoch */
    ucp_request_t requests[TOTAL];
} epoch_t;

/* Adds a request to those that are under way. */
static void start_request(epoch_t *epoch, ucp_request_t *req)
{
    memset(req, 0, sizeof(*req));
    req->worker    = epoch->local.worker;
    req->send.ep   = epoch->local.ep;
    req->dt.length = PART;
    ucs_list_add_tail(&epoch->local.ep->awaited, &req->ep_link);
}

/* Starts a round of this stage, and begins `count` requests of it. */
static void open_round(epoch_t *epoch, ucp_learn_stage_t stage,
                       const ucp_learn_round_t *round, unsigned count)
{
    const double expected[UCP_LEARN_METHODS] = {1e-9, 1e-9, 1e-9, 1e-9};
    const unsigned methods = UCS_BIT(UCP_LEARN_GET) | UCS_BIT(UCP_LEARN_PUT) |
                             UCS_BIT(UCP_LEARN_EAGER);
    unsigned i;

    open_machine(&epoch->local, &machines[0], "y");
    transfer(&epoch->local, 1);
    epoch->trials = ucp_worker_learn(epoch->local.worker)->trials;
    ck_assert_ptr_nonnull(epoch->trials);
    ucp_learn_stream_init(&epoch->stream, methods, UCP_LEARN_GET, expected);
    epoch->stream.stage        = (uint8_t)stage;
    epoch->stream.before       = 1e-9F;
    epoch->stream.learn.trial  = UCP_LEARN_PUT;
    epoch->stream.learn.timing = 1;
    start_request(epoch, &epoch->earlier);
    ucp_timing_round(epoch->trials, epoch->local.ep, &epoch->stream,
                     UCP_OP_TAG_SEND, round);
    for (i = 0; i < count; ++i) {
        start_request(epoch, &epoch->requests[i]);
        ucp_timing_add(epoch->trials, &epoch->requests[i], (ucs_time_t)sim.now);
        epoch->trials->sent += PART;
    }
}

/* Starts an epoch FULL of puts. */
static void open_epoch(epoch_t *epoch)
{
    const ucp_learn_round_t puts = {
        1, {{.method = UCP_LEARN_PUT, .warm = WARM, .count = COUNT}}};

    open_round(epoch, UCP_LEARN_FULL, &puts, TOTAL);
}

/* Closes everything; the get that began earlier is still in flight. */
static void close_round(epoch_t *epoch)
{
    ucs_list_del(&epoch->earlier.ep_link);
    local_close(&epoch->local);
}

/* Completes requests of the epoch, each some nanoseconds after the last one. */
static void complete(epoch_t *epoch, unsigned first, unsigned end,
                     double nanoseconds)
{
    unsigned i;

    for (i = first; i < end; ++i) {
        sim.now += nanoseconds;
        ucs_list_del(&epoch->requests[i].ep_link);
        if (epoch->requests[i].flags & UCP_REQUEST_FLAG_TIMED) {
            ucp_request_timed(&epoch->requests[i], UCS_OK);
        }
    }
}

/* Until a get that began before the epoch has completed, the puts take twice as
 * long. This time is not part of the result. */
START_TEST(earlier_transfers_do_not_count)
{
    epoch_t epoch;

    open_epoch(&epoch);
    complete(&epoch, 0, 6, 2.0 * PART);
    ucs_list_del(&epoch.earlier.ep_link);
    complete(&epoch, 6, TOTAL, 1.0 * PART);
    ck_assert_int_eq(epoch.stream.stage, UCP_LEARN_AFTER);
    ck_assert_double_eq_tol(epoch.stream.during, 1e-9, 1e-14);
    local_close(&epoch.local);
}
END_TEST

/* The last puts complete together with others that began after the epoch: the
 * time of that group does not count. */
START_TEST(the_last_group_does_not_count)
{
    epoch_t epoch;

    open_epoch(&epoch);
    ucs_list_del(&epoch.earlier.ep_link);
    complete(&epoch, 0, TOTAL - 2, 1.0 * PART);
    complete(&epoch, TOTAL - 2, TOTAL - 1, 8.0 * PART);
    complete(&epoch, TOTAL - 1, TOTAL, 0);
    ck_assert_int_eq(epoch.stream.stage, UCP_LEARN_AFTER);
    ck_assert_double_eq_tol(epoch.stream.during, 1e-9, 1e-14);
    local_close(&epoch.local);
}
END_TEST

/* If the get does not complete during the epoch, that has no result, and the
 * next one is longer. */
START_TEST(an_epoch_may_be_too_short)
{
    epoch_t epoch;

    open_epoch(&epoch);
    complete(&epoch, 0, TOTAL, 1.0 * PART);
    ck_assert_int_eq(epoch.stream.stage, UCP_LEARN_IDLE);
    ck_assert_uint_eq(epoch.stream.scale, 1);
    close_round(&epoch);
}
END_TEST

/* Delivers PROBE messages and their answers. */
static void progress(epoch_t *epoch)
{
    unsigned i;

    for (i = 0; i < 8; ++i) {
        ucp_worker_progress(epoch->local.worker);
    }
}

/* Two epochs FIRST in a round, of eager messages and of puts, which complete in
 * another order than they began: each has its own result, and both are reported
 * when the last one is known. */
START_TEST(each_epoch_of_a_round_has_a_result)
{
    const ucp_learn_round_t firsts = {
        2,
        {{.method = UCP_LEARN_EAGER, .warm = 1, .count = 4},
         {.method = UCP_LEARN_PUT, .warm = 1, .count = 4}}};
    epoch_t epoch;
    const ucp_learn_t *learn = &epoch.stream.learn;

    open_round(&epoch, UCP_LEARN_FIRST, &firsts, 10);
    ucp_learn_add(&epoch.stream.learn, UCP_LEARN_GET, 1e-9);
    complete(&epoch, 0, 1, 1.0 * PART);
    progress(&epoch);
    complete(&epoch, 5, 10, 0.5 * PART);
    ck_assert_uint_eq(learn->method[UCP_LEARN_PUT].count, 0);
    complete(&epoch, 1, 5, 2.0 * PART);
    progress(&epoch);
    ck_assert_uint_eq(epoch.trials->flagged, 0);
    /* 10 requests have taken the time of 11.5 */
    ck_assert_double_eq_tol(epoch.stream.credit, -1.5, 1e-2);
    ck_assert_double_eq_tol(ucp_learn_time(learn, UCP_LEARN_PUT), 0.5e-9,
                            1e-14);
    /* 2.5 transfers by puts, and 4 that take twice as long */
    ck_assert_double_eq_tol(ucp_learn_time(learn, UCP_LEARN_EAGER),
                            (5 * 0.5 + 4 * 2) / 4 * 1e-9, 1e-11);
    close_round(&epoch);
}
END_TEST

/* While eager messages are under way, so many others begin that nothing of
 * the time seems to be left for them: they do not seem to be faster. */
START_TEST(a_result_without_time_is_not_fast)
{
    const ucp_learn_round_t first = {
        1, {{.method = UCP_LEARN_EAGER, .warm = 1, .count = 4}}};
    epoch_t epoch;
    const ucp_learn_t *learn = &epoch.stream.learn;

    open_round(&epoch, UCP_LEARN_FIRST, &first, 5);
    ucp_learn_add(&epoch.stream.learn, UCP_LEARN_GET, 1e-9);
    complete(&epoch, 0, 1, 1.0 * PART);
    progress(&epoch);
    epoch.trials->sent += 20 * (size_t)PART;
    complete(&epoch, 1, 5, 1.0 * PART);
    progress(&epoch);
    ck_assert_double_eq_tol(ucp_learn_time(learn, UCP_LEARN_EAGER), 1e-9,
                            1e-14);
    close_round(&epoch);
}
END_TEST

/* A stream in both directions, of which nothing is received while an epoch of
 * eager messages begins: its messages leave faster. The epoch does not end
 * because of that. Afterwards it would be a stream in one direction. */
START_TEST(an_epoch_does_not_change_the_load)
{
    const double expected[UCP_LEARN_METHODS] = {1e-9, 1e-9, 1e-9, 1e-9};
    const ucp_learn_round_t eager            = {
                   1, {{.method = UCP_LEARN_EAGER, .warm = 32, .count = 32}}};
    ucp_learn_load_t load = UCP_LEARN_BOTH;
    epoch_t epoch;
    ucp_learn_now_t now;
    unsigned i;

    open_machine(&epoch.local, &machines[0], "y");
    transfer(&epoch.local, 1);
    epoch.trials = ucp_worker_learn(epoch.local.worker)->trials;
    ucp_learn_stream_init(&epoch.stream,
                          UCS_BIT(UCP_LEARN_GET) | UCS_BIT(UCP_LEARN_EAGER),
                          UCP_LEARN_GET, expected);
    epoch.trials->window.kind = UCP_LEARN_BOTH;
    start_request(&epoch, &epoch.earlier);
    ucp_timing_round(epoch.trials, epoch.local.ep, &epoch.stream,
                     UCP_OP_TAG_SEND, &eager);
    for (i = 0; (i < 128) && (load == UCP_LEARN_BOTH); ++i) {
        now  = (ucp_learn_now_t){(ucs_time_t)(sim.now += 10)};
        load = ucp_learn_load_of(epoch.trials, epoch.trials->entries,
                                 epoch.local.ep, PART, &now);
        epoch.trials->sent += PART;
        if (i < 64) {
            ck_assert_int_eq(load, UCP_LEARN_BOTH);
            start_request(&epoch, &epoch.requests[0]);
            ucp_timing_add(epoch.trials, &epoch.requests[0],
                           (ucs_time_t)sim.now);
            ucs_list_del(&epoch.requests[0].ep_link);
        }
    }
    ck_assert_int_eq(load, UCP_LEARN_STREAM);
    close_round(&epoch);
}
END_TEST

SUITE_MAIN("timing", each_epoch_of_a_round_has_a_result,
           a_result_without_time_is_not_fast, earlier_transfers_do_not_count,
           the_last_group_does_not_count, an_epoch_may_be_too_short,
           an_epoch_does_not_change_the_load)
