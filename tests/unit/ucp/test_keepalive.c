/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keepalive, and messages about lost endpoints. The test changes the loopback
 * interface so that it does not detect lost peers, which makes UCP check its
 * endpoints, and counts these checks. tests/integration tests peers that end.
 */
#include "local.h"

#include "ucp/base/ids.h"
#include "ucp/core/ep_life.h"
#include "ucp/proto/ep.h"
#include "ucp/wireup/introduce.h"
#include "ucp/wireup/state.h"

#include <poll.h>
#include <time.h>

enum { MAX_EPS = 16 };

static const ucp_request_param_t none  = {0};
static const ucp_request_param_t force = {
    .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
    .flags        = UCP_EP_CLOSE_FLAG_FORCE,
};

/* Calls of the transport's operations, for each endpoint of counted_ep(). */
static struct {
    uct_ep_h ep;
    unsigned checks;
    unsigned messages;   /* Number of UCP_AM_ID_KEEPALIVE messages */
    ucs_status_t answer; /* Status that a check returns */
} asked[MAX_EPS];

static unsigned num_asked;
static const ucx_ep_ops_t *real_ops;
static ucx_ep_ops_t counting_ops;
static ucx_iface_attr_t weak_attr;

static unsigned index_of(uct_ep_h ep)
{
    unsigned i;

    for (i = 0; (i < num_asked) && (asked[i].ep != ep); ++i) {
    }
    ck_assert_uint_lt(i, num_asked);
    return i;
}

static ucs_status_t count_check(uct_ep_h ep, unsigned flags,
                                uct_completion_t *comp)
{
    unsigned i = index_of(ep);

    ck_assert_uint_eq(flags, 0);
    ck_assert_ptr_null(comp);
    ++asked[i].checks;
    return asked[i].answer;
}

static ssize_t count_message(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack,
                             void *arg, unsigned flags)
{
    asked[index_of(ep)].messages += (id == UCP_AM_ID_KEEPALIVE);
    return real_ops->am_bcopy(ep, id, pack, arg, flags);
}

/* Opens a worker whose interface does not detect lost peers, with these values
 * of UCX_KEEPALIVE_INTERVAL and UCX_KEEPALIVE_NUM_EPS. `can_check`: the
 * interface supports uct_ep_check(); otherwise UCP sends messages. */
static void open_weak(local_t *local, const char *interval, const char *num_eps,
                      int can_check)
{
    ucp_worker_iface_t *wiface;

    setenv("UCX_KEEPALIVE_INTERVAL", interval, 1);
    setenv("UCX_KEEPALIVE_NUM_EPS", num_eps, 1);
    local_open(local);
    unsetenv("UCX_KEEPALIVE_NUM_EPS");
    unsetenv("UCX_KEEPALIVE_INTERVAL");

    num_asked = 0;
    wiface    = &local->worker->ifaces[0];
    weak_attr = *wiface->attr;
    weak_attr.flags &= ~(uint64_t)UCX_IFACE_FLAG_DETECTS_FAILURE;
    weak_attr.base.cap.flags &= ~(uint64_t)UCT_IFACE_FLAG_EP_KEEPALIVE;
    wiface->attr = &weak_attr;
    if (!can_check) {
        wiface->lane.caps &= ~(uint64_t)UCT_IFACE_FLAG_EP_CHECK;
    }
}

typedef struct {
    int calls;
    ucs_status_t status;
} failure_t;

static void on_failure(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    failure_t *failure = arg;

    ++failure->calls;
    failure->status = status;
}

static ucp_ep_h new_ep(local_t *local, ucp_err_handling_mode_t mode,
                       failure_t *failure)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_FLAGS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        /* UCP treats this endpoint like one to another process */
        .flags           = UCP_EP_PARAMS_FLAGS_NO_LOOPBACK,
        .err_mode        = mode,
        .err_handler.cb  = on_failure,
        .err_handler.arg = failure,
    };
    ucp_ep_h ep;

    ck_assert_int_eq(ucp_worker_query(local->worker, &attr), UCS_OK);
    params.address = attr.address;
    ck_assert_int_eq(ucp_ep_create(local->worker, &params, &ep), UCS_OK);
    ucp_worker_release_address(local->worker, attr.address);
    return ep;
}

/* Creates an endpoint whose checks are counted in asked[]: its operations table
 * is replaced by counting_ops. */
static ucp_ep_h counted_ep(local_t *local, failure_t *failure)
{
    ucp_ep_h ep = new_ep(local, UCP_ERR_HANDLING_MODE_PEER, failure);

    ck_assert_uint_lt(num_asked, MAX_EPS);
    memset(&asked[num_asked], 0, sizeof(asked[num_asked]));
    asked[num_asked++].ep = ep->am;
    if (ep->am->ops != &counting_ops) {
        real_ops              = ep->am->ops;
        counting_ops          = *real_ops;
        counting_ops.check    = count_check;
        counting_ops.am_bcopy = count_message;
        ep->am->ops           = &counting_ops;
    }
    return ep;
}

static double now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Progresses until the counter has reached `value`; fails after 20 seconds. */
static void await(local_t *local, const unsigned *counter, unsigned value)
{
    double end = now() + 20;

    while (*counter < value) {
        ucp_worker_progress(local->worker);
        ck_assert(now() < end);
    }
}

START_TEST(nobody_is_looked_after_who_does_not_need_it)
{
    failure_t failure = {0};
    local_t local;

    setenv("UCX_KEEPALIVE_INTERVAL", "1ms", 1);
    local_open(&local);
    unsetenv("UCX_KEEPALIVE_INTERVAL");
    /* this transport detects lost peers: no keepalive is needed */
    new_ep(&local, UCP_ERR_HANDLING_MODE_PEER, &failure);
    ck_assert_int_eq(ucp_worker_wireup(local.worker)->keepalive.timer, 0);
    local_close(&local);

    open_weak(&local, "1ms", "128", 1);
    new_ep(&local, UCP_ERR_HANDLING_MODE_NONE, &failure);
    ck_assert_int_eq(ucp_worker_wireup(local.worker)->keepalive.timer, 0);
    new_ep(&local, UCP_ERR_HANDLING_MODE_PEER, &failure);
    ck_assert_int_ne(ucp_worker_wireup(local.worker)->keepalive.timer, 0);
    local_close(&local);
}
END_TEST

START_TEST(zero_and_infinity_turn_it_off)
{
    static const char *const never[] = {"0", "inf"};
    failure_t failure                = {0};
    local_t local;
    int i;

    for (i = 0; i < 2; ++i) {
        open_weak(&local, never[i], "128", 1);
        new_ep(&local, UCP_ERR_HANDLING_MODE_PEER, &failure);
        ck_assert_int_eq(ucp_worker_wireup(local.worker)->keepalive.timer, 0);
        local_close(&local);
    }
    open_weak(&local, "1ms", "0", 1);
    new_ep(&local, UCP_ERR_HANDLING_MODE_PEER, &failure);
    ck_assert_int_eq(ucp_worker_wireup(local.worker)->keepalive.timer, 0);
    local_close(&local);
}
END_TEST

START_TEST(rounds_take_turns)
{
    failure_t failure = {0};
    unsigned least = ~0u, most = 0, i;
    local_t local;

    open_weak(&local, "1ms", "2", 1);
    for (i = 0; i < 5; ++i) {
        counted_ep(&local, &failure);
    }
    await(&local, &asked[4].checks, 6);
    for (i = 0; i < 5; ++i) {
        least = (asked[i].checks < least) ? asked[i].checks : least;
        most  = (asked[i].checks > most) ? asked[i].checks : most;
        ck_assert_uint_eq(asked[i].messages, 0);
    }
    ck_assert_uint_le(most - least, 1);
    ck_assert_int_eq(failure.calls, 0);
    local_close(&local);
}
END_TEST

START_TEST(who_goes_while_it_is_his_turn_is_passed_over)
{
    failure_t failure = {0};
    ucp_ep_h eps[4];
    local_t local;
    unsigned i;

    open_weak(&local, "1ms", "1", 1);
    for (i = 0; i < 4; ++i) {
        eps[i] = counted_ep(&local, &failure);
    }
    for (i = 1; i < 3; ++i) {
        await(&local, &asked[3].checks, asked[3].checks + 1);
        while (ucp_worker_wireup(local.worker)->keepalive.next != eps[i]) {
            ucp_worker_progress(local.worker);
        }
        ck_assert_ptr_null(ucp_ep_close_nbx(eps[i], &force));
        ucp_worker_progress(local.worker);
        ck_assert_ptr_ne(ucp_worker_wireup(local.worker)->keepalive.next,
                         eps[i]);
    }
    await(&local, &asked[3].checks, asked[3].checks + 3);
    local_close(&local);
}
END_TEST

START_TEST(a_check_that_fails_is_told_once)
{
    failure_t failure = {0}, other = {0};
    ucp_ep_h ep;
    local_t local;

    open_weak(&local, "1ms", "128", 1);
    ep = counted_ep(&local, &failure);
    counted_ep(&local, &other);
    asked[0].answer = UCS_ERR_ENDPOINT_TIMEOUT;
    await(&local, &asked[1].checks, 5);
    ck_assert_uint_eq(asked[0].checks, 1);
    ck_assert_int_eq(failure.calls, 1);
    ck_assert_int_eq(failure.status, UCS_ERR_ENDPOINT_TIMEOUT);
    ck_assert_int_eq(other.calls, 0);
    ck_assert_int_eq(UCS_PTR_STATUS(ucp_tag_send_nbx(ep, "", 0, 1, &none)),
                     UCS_ERR_ENDPOINT_TIMEOUT);
    ck_assert_int_eq(UCS_PTR_STATUS(ucp_ep_flush_nbx(ep, &none)),
                     UCS_ERR_ENDPOINT_TIMEOUT);
    ck_assert_int_eq(local_wait(&local, ucp_ep_close_nbx(ep, &none)), UCS_OK);
    local_close(&local);
}
END_TEST

START_TEST(a_busy_transport_is_no_failure)
{
    failure_t failure = {0};
    local_t local;

    open_weak(&local, "1ms", "128", 1);
    counted_ep(&local, &failure);
    asked[0].answer = UCS_ERR_NO_RESOURCE;
    await(&local, &asked[0].checks, 3);
    asked[0].answer = UCS_INPROGRESS;
    await(&local, &asked[0].checks, 6);
    ck_assert_int_eq(failure.calls, 0);
    local_close(&local);
}
END_TEST

START_TEST(who_cannot_check_sends_a_message)
{
    failure_t failure = {0};
    local_t local;

    open_weak(&local, "1ms", "128", 0);
    counted_ep(&local, &failure);
    await(&local, &asked[0].messages, 5);
    ck_assert_uint_eq(asked[0].checks, 0);
    ck_assert_int_eq(failure.calls, 0);
    local_close(&local);
}
END_TEST

START_TEST(the_timer_goes_with_the_last_endpoint)
{
    failure_t failure = {0};
    double end        = now() + 20;
    ucp_ep_h ep;
    local_t local;
    int i;

    open_weak(&local, "1ms", "128", 1);
    for (i = 0; i < 2; ++i) {
        ep = new_ep(&local, UCP_ERR_HANDLING_MODE_PEER, &failure);
        ck_assert_int_ne(ucp_worker_wireup(local.worker)->keepalive.timer, 0);
        ck_assert_int_eq(local_wait(&local, ucp_ep_close_nbx(ep, &none)),
                         UCS_OK);
        while (ucp_worker_wireup(local.worker)->keepalive.timer != 0) {
            ucp_worker_progress(local.worker);
            ck_assert(now() < end);
        }
    }
    local_close(&local);
}
END_TEST

START_TEST(a_worker_that_sleeps_is_woken_for_it)
{
    struct pollfd event = {.events = POLLIN};
    failure_t failure   = {0};
    double end          = now() + 20;
    unsigned woken      = 0;
    local_t local;

    open_weak(&local, "20ms", "128", 1);
    counted_ep(&local, &failure);
    ck_assert_int_eq(ucp_worker_get_efd(local.worker, &event.fd), UCS_OK);
    while ((asked[0].checks < 3) || (woken < 2)) {
        while (ucp_worker_progress(local.worker) > 0) {
        }
        if (ucp_worker_arm(local.worker) == UCS_OK) {
            ck_assert_int_eq(poll(&event, 1, 10000), 1);
            ++woken;
        }
        ck_assert(now() < end);
    }
    local_close(&local);
}
END_TEST

START_TEST(a_worker_that_never_progresses_gets_one_round)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    double end                  = now() + 20;
    failure_t failure           = {0};
    local_t local;

    open_weak(&local, "1ms", "128", 1);
    counted_ep(&local, &failure);
    /* about 50 keepalive rounds become due, without progress */
    nanosleep(&pause, NULL);
    while (!atomic_load(&ucp_worker_wireup(local.worker)->keepalive.due)) {
        ck_assert(now() < end); /* the library's timer thread may be late */
        nanosleep(&pause, NULL);
    }
    while (asked[0].checks == 0) {
        ucp_worker_progress(local.worker);
        ck_assert(now() < end);
    }
    ck_assert_uint_le(asked[0].checks, 2);
    local_close(&local);
}
END_TEST

/* Delivers the message by which a peer reports that its reply endpoint for this
 * worker's endpoint `end` has failed. `length`: bytes of the message. */
static void say_lost(local_t *local, ucp_wire_end_t end, size_t length)
{
    char message[sizeof(end) + 1] = {0};

    memcpy(message, &end, sizeof(end));
    ck_assert_int_eq(ucp_ep_lost_handler(local->worker, message, length, 0),
                     UCS_OK);
    ucp_worker_progress(local->worker);
}

START_TEST(a_lost_end_fails_and_no_other)
{
    failure_t failure = {0}, other = {0};
    ucp_wire_end_t end, wrong;
    ucp_ep_h ep;
    local_t local;

    local_open(&local);
    ep  = new_ep(&local, UCP_ERR_HANDLING_MODE_PEER, &failure);
    end = ucp_ep_wire_end(ep);
    new_ep(&local, UCP_ERR_HANDLING_MODE_PEER, &other);

    say_lost(&local, end, sizeof(end) - 1);
    say_lost(&local, end, sizeof(end) + 1);
    wrong             = end;
    wrong.worker_uuid = ucp_le64(local.worker->uuid + 1);
    say_lost(&local, wrong, sizeof(wrong));
    wrong       = end;
    wrong.ep_id = ucp_le64(ucp_le64_get(end.ep_id) ^ (1ull << 40));
    /* the part of the id that makes it hard to guess is wrong */
    say_lost(&local, wrong, sizeof(wrong));
    wrong.ep_id = ucp_le64(0);
    say_lost(&local, wrong, sizeof(wrong));
    ck_assert_int_eq(failure.calls, 0);

    say_lost(&local, end, sizeof(end));
    say_lost(&local, end, sizeof(end));
    ck_assert_int_eq(failure.calls, 1);
    ck_assert_int_eq(failure.status, UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(other.calls, 0);
    ck_assert_ptr_null(ucp_ep_close_nbx(ep, &force));
    local_close(&local);
}
END_TEST

/* The receiver's reply endpoint fails, and the sender is informed: the send,
 * which waits for a reply, ends with an error. */
START_TEST(who_asks_learns_that_the_answers_are_lost)
{
    static char data[100000];
    failure_t failure = {0};
    ucp_wire_end_t end;
    ucs_status_ptr_t send;
    ucp_ep_h ep, answers;
    local_t local;

    local_open(&local);
    ep   = new_ep(&local, UCP_ERR_HANDLING_MODE_PEER, &failure);
    send = ucp_tag_send_nbx(ep, data, sizeof(data), 1, &none);
    ck_assert(UCS_PTR_IS_PTR(send));
    end = ucp_ep_wire_end(ep);
    while ((answers = ucp_wireup_reply_ep(local.worker, &end)) == NULL) {
        ucp_worker_progress(local.worker);
    }
    ucp_ep_fail(answers, UCS_ERR_ENDPOINT_TIMEOUT);
    ck_assert_int_eq(local_wait(&local, send), UCS_ERR_CONNECTION_RESET);
    ucp_worker_progress(local.worker);
    ck_assert_int_eq(failure.calls, 1);
    ck_assert_int_eq(failure.status, UCS_ERR_CONNECTION_RESET);
    ck_assert_ptr_null(ucp_ep_close_nbx(ep, &force));
    local_close(&local);
}
END_TEST

SUITE_MAIN("keepalive", nobody_is_looked_after_who_does_not_need_it,
           zero_and_infinity_turn_it_off, rounds_take_turns,
           who_goes_while_it_is_his_turn_is_passed_over,
           a_check_that_fails_is_told_once, a_busy_transport_is_no_failure,
           who_cannot_check_sends_a_message,
           the_timer_goes_with_the_last_endpoint,
           a_worker_that_sleeps_is_woken_for_it,
           a_worker_that_never_progresses_gets_one_round,
           a_lost_end_fails_and_no_other,
           who_asks_learns_that_the_answers_are_lost)
