/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport `self`: reachable addresses, waiting for events, pending
 * requests, failures, keys of other processes, estimates, and enabling of
 * progress.
 */
#include "common.h"

#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "uct/base/iface.h"
#include "uct/base/md.h"
#include "uct/base/state.h"

#define AM_ID 1

static loopback_t lo;
static unsigned received;

static ucs_status_t on_message(void *arg, void *data, size_t length,
                               unsigned flags)
{
    ++received;
    return UCS_OK;
}

static void open_with(const loopback_params_t *params)
{
    loopback_open(&lo, params);
    received = 0;
    ck_ok(uct_iface_set_am_handler(lo.iface, AM_ID, on_message, NULL, 0));
}

static void setup(void)
{
    open_with(NULL);
}

static void teardown(void)
{
    loopback_close(&lo);
}

START_TEST(only_itself_is_reachable)
{
    const loopback_params_t params = {0};
    uct_iface_h other              = loopback_iface_open(&lo, &params);
    char ours[8], theirs[8], reason[128];
    uct_ep_params_t ep_params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_IFACE_ADDR,
        .iface      = lo.iface,
        .iface_addr = (void *)theirs,
    };
    uct_ep_h ep;

    ck_ok(uct_iface_get_address(lo.iface, (void *)ours));
    ck_ok(uct_iface_get_address(other, (void *)theirs));
    ck_assert_int_ne(uct_iface_is_reachable(lo.iface, NULL, (void *)ours), 0);
    ck_assert_int_eq(uct_iface_is_reachable(lo.iface, NULL, (void *)theirs), 0);
    ck_assert_int_eq(uct_iface_is_reachable(lo.iface, NULL, NULL), 0);
    ck_assert_int_eq(uct_iface_is_reachable_sized(lo.iface, NULL, 0,
                                                  (void *)ours, 7, reason,
                                                  sizeof(reason)),
                     0);
    ck_assert_str_ne(reason, "");
    ck_status(uct_ep_create(&ep_params, &ep), UCS_ERR_UNREACHABLE);
    uct_iface_close(other);
}
END_TEST

START_TEST(endpoint_parameters_are_checked)
{
    uct_ep_params_t params = {0};
    uct_ep_h ep;

    ck_status(uct_ep_create(NULL, &ep), UCS_ERR_INVALID_PARAM);
    ck_status(uct_ep_create(&params, &ep), UCS_ERR_INVALID_PARAM);
    params.field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_CM;
    params.iface      = lo.iface;
    ck_status(uct_ep_create(&params, &ep), UCS_ERR_INVALID_PARAM);
    params.field_mask = UCT_EP_PARAM_FIELD_IFACE;
    ck_status(uct_ep_create(&params, &ep), UCS_ERR_UNSUPPORTED);
    params.field_mask |= UCT_EP_PARAM_FIELD_IFACE_ADDR;
    ck_status(uct_ep_create(&params, &ep), UCS_ERR_INVALID_PARAM);
    params.field_mask |= UCT_EP_PARAM_FIELD_PATH_INDEX;
    params.path_index = 7;
    ck_status(uct_ep_create(&params, &ep), UCS_ERR_INVALID_PARAM);
}
END_TEST

static int is_readable(int fd)
{
    struct pollfd pollfd = {.fd = fd, .events = POLLIN};

    return poll(&pollfd, 1, 0) == 1;
}

START_TEST(event_fd_signals_what_comes_after_arming)
{
    int fd, again;

    ck_ok(uct_iface_event_fd_get(lo.iface, &fd));
    ck_ok(uct_iface_event_fd_get(lo.iface, &again));
    ck_assert_int_eq(fd, again);
    ck_ok(uct_iface_event_arm(lo.iface, UCT_EVENT_RECV));
    ck_assert(!is_readable(fd));
    ck_ok(uct_ep_am_short(lo.ep, AM_ID, 0, NULL, 0));
    ck_assert(is_readable(fd));

    /* arming fails while there is an event */
    ck_status(uct_iface_event_arm(lo.iface, UCT_EVENT_RECV), UCS_ERR_BUSY);
    loopback_progress(&lo);
    ck_ok(uct_iface_event_arm(lo.iface, UCT_EVENT_RECV));
    ck_assert(!is_readable(fd));
}
END_TEST

START_TEST(unarmed_message_makes_arming_busy)
{
    int fd;

    ck_ok(uct_iface_event_fd_get(lo.iface, &fd));
    ck_ok(uct_ep_am_short(lo.ep, AM_ID, 0, NULL, 0));
    ck_assert(!is_readable(fd));
    ck_status(uct_iface_event_arm(lo.iface, UCT_EVENT_RECV), UCS_ERR_BUSY);
}
END_TEST

/* A pending request; its callback sends a message. */
typedef struct sender {
    uct_pending_req_t req;
    uct_ep_h ep;
    uint64_t number;
    unsigned calls;
    ucs_status_t status;
    int stop; /* nonzero: the callback does not try to send */
} sender_t;

static ucs_status_t sender_try(uct_pending_req_t *req)
{
    sender_t *sender = (sender_t *)req;

    ++sender->calls;
    sender->status = sender->stop ? UCS_ERR_NO_RESOURCE :
                                    uct_ep_am_short(sender->ep, AM_ID,
                                                    sender->number, NULL, 0);
    return sender->status;
}

static void count_purged(uct_pending_req_t *req, void *arg)
{
    /* the request belongs to the user again, who may overwrite it */
    memset(req, 0xab, sizeof(*req));
    ++*(unsigned *)arg;
}

static void fill_queue(void)
{
    while (uct_ep_am_short(lo.ep, AM_ID, 0, NULL, 0) == UCS_OK) {
    }
}

START_TEST(full_queue_refuses_and_pending_goes_on)
{
    const loopback_params_t params = {.queue_len = "4"};
    sender_t senders[6];
    unsigned i;

    teardown();
    open_with(&params);
    memset(senders, 0, sizeof(senders));
    senders[0].req.func = sender_try;
    ck_status(uct_ep_pending_add(lo.ep, &senders[0].req, 0), UCS_ERR_BUSY);

    fill_queue();
    ck_status(uct_ep_am_short(lo.ep, AM_ID, 0, NULL, 0), UCS_ERR_NO_RESOURCE);
    for (i = 0; i < 6; ++i) {
        senders[i].req.func = sender_try;
        senders[i].ep       = lo.ep;
        ck_ok(uct_ep_pending_add(lo.ep, &senders[i].req, 0));
        ck_assert_uint_eq(senders[i].calls, 0);
    }
    loopback_progress(&lo);
    ck_assert_uint_eq(received, 10);
    for (i = 0; i < 6; ++i) {
        ck_ok(senders[i].status);
        ck_assert_uint_eq(senders[i].calls, 1);
    }
}
END_TEST

START_TEST(request_that_cannot_go_keeps_its_place)
{
    const loopback_params_t params = {.queue_len = "1"};
    sender_t first  = {.req.func = sender_try, .ep = lo.ep, .stop = 1};
    sender_t second = {.req.func = sender_try, .ep = lo.ep};

    teardown();
    open_with(&params);
    first.ep = second.ep = lo.ep;
    fill_queue();
    ck_ok(uct_ep_pending_add(lo.ep, &first.req, 0));
    ck_ok(uct_ep_pending_add(lo.ep, &second.req, 0));
    uct_worker_progress(lo.worker);
    ck_assert_uint_eq(first.calls, 1);
    ck_assert_uint_eq(second.calls, 0);
    /* arming fails while requests are in the pending queue */
    ck_status(uct_iface_event_arm(lo.iface, UCT_EVENT_RECV), UCS_ERR_BUSY);

    first.stop = 0;
    loopback_progress(&lo);
    ck_assert_uint_eq(first.calls, 2);
    ck_assert_uint_eq(second.calls, 1);
    ck_assert_uint_eq(received, 3);
}
END_TEST

START_TEST(purge_takes_the_requests_of_one_endpoint)
{
    const loopback_params_t params = {.queue_len = "1"};
    sender_t senders[4];
    unsigned purged = 0;
    uct_ep_h other;
    unsigned i;

    teardown();
    open_with(&params);
    ck_ok(loopback_ep_create(lo.iface, &other));
    fill_queue();
    memset(senders, 0, sizeof(senders));
    for (i = 0; i < 4; ++i) {
        senders[i].req.func = sender_try;
        senders[i].ep       = (i % 2) ? other : lo.ep;
        ck_ok(uct_ep_pending_add(senders[i].ep, &senders[i].req, 0));
    }
    uct_ep_pending_purge(other, count_purged, &purged);
    ck_assert_uint_eq(purged, 2);
    uct_ep_destroy(other);
    loopback_progress(&lo);
    ck_assert_uint_eq(senders[0].calls, 1);
    ck_assert_uint_eq(senders[1].calls, 0);
    ck_assert_uint_eq(senders[2].calls, 1);
    ck_assert_uint_eq(received, 3);
}
END_TEST

START_TEST(invalidated_endpoint_fails_from_progress)
{
    uct_completion_t comp = {.count = 1};
    uint64_t result;

    ck_ok(uct_ep_check(lo.ep, 0, &comp));
    ck_status(uct_ep_check(lo.ep, 1, &comp), UCS_ERR_INVALID_PARAM);
    ck_ok(uct_ep_invalidate(lo.ep, 0));
    ck_assert_uint_eq(lo.num_failures, 0);
    loopback_progress(&lo);
    ck_assert_uint_eq(lo.num_failures, 1);
    ck_status(lo.failure, UCS_ERR_CONNECTION_RESET);

    ck_status(uct_ep_check(lo.ep, 0, &comp), UCS_ERR_CONNECTION_RESET);
    ck_status(uct_ep_am_short(lo.ep, AM_ID, 0, NULL, 0),
              UCS_ERR_CONNECTION_RESET);
    ck_status(uct_ep_put_short(lo.ep, "x", 1, (uintptr_t)&result, 0),
              UCS_ERR_CONNECTION_RESET);
    ck_status(uct_ep_atomic64_fetch(lo.ep, UCT_ATOMIC_OP_ADD, 1, &result,
                                    (uintptr_t)&result, 0, NULL),
              UCS_ERR_CONNECTION_RESET);
    ck_ok(uct_ep_flush(lo.ep, UCT_FLUSH_FLAG_CANCEL, NULL));
}
END_TEST

static ucs_status_t never_called(uct_pending_req_t *req)
{
    ck_abort_msg("a request of a cancelled endpoint was called");
}

START_TEST(cancelled_endpoint_sends_nothing)
{
    uct_pending_req_t req = {.func = never_called};
    uint64_t memory       = 0, result;
    uct_iov_t iov         = {.buffer = &memory, .length = 8, .count = 1};
    unsigned before;
    uct_ep_h other;

    ck_ok(loopback_ep_create(lo.iface, &other));
    ck_ok(uct_ep_flush(other, UCT_FLUSH_FLAG_CANCEL, NULL));
    ck_status(uct_ep_am_short(other, AM_ID, 0, NULL, 0), UCS_ERR_CANCELED);
    ck_status(uct_ep_am_short_iov(other, AM_ID, &iov, 1), UCS_ERR_CANCELED);
    ck_status(uct_ep_put_short(other, "x", 1, (uintptr_t)&memory, 0),
              UCS_ERR_CANCELED);
    ck_status(uct_ep_get_short(other, &result, 8, (uintptr_t)&memory, 0),
              UCS_ERR_CANCELED);
    ck_status(uct_ep_atomic64_post(other, UCT_ATOMIC_OP_ADD, 1,
                                   (uintptr_t)&memory, 0),
              UCS_ERR_CANCELED);
    ck_status(uct_ep_tag_eager_short(other, 1, "x", 1), UCS_ERR_CANCELED);
    ck_assert_uint_eq(memory, 0);
    ck_status(uct_ep_fence(other, 0), UCS_ERR_CANCELED);
    ck_status(uct_ep_check(other, 0, NULL), UCS_ERR_CANCELED);
    ck_status(uct_ep_pending_add(other, &req, 0), UCS_ERR_BUSY);
    ck_ok(uct_ep_flush(other, UCT_FLUSH_FLAG_LOCAL, NULL));
    ck_ok(uct_ep_flush(other, UCT_FLUSH_FLAG_CANCEL, NULL));

    /* other endpoints continue to work, and no failure is reported */
    before = received;
    ck_ok(uct_ep_am_short(lo.ep, AM_ID, 0, NULL, 0));
    loopback_progress(&lo);
    ck_assert_uint_eq(received, before + 1);
    ck_assert_uint_eq(lo.num_failures, 0);
    uct_ep_destroy(other);
}
END_TEST

START_TEST(destroyed_endpoint_reports_nothing)
{
    uct_ep_h ep;

    ck_ok(loopback_ep_create(lo.iface, &ep));
    ck_ok(uct_ep_invalidate(ep, 0));
    uct_ep_destroy(ep);
    loopback_progress(&lo);
    ck_assert_uint_eq(lo.num_failures, 0);
}
END_TEST

START_TEST(foreign_keys_are_refused)
{
    uct_rkey_bundle_t bundle;
    char packed[8];
    uct_mem_h memh;
    pid_t pid;
    int wstatus;

    ck_ok(uct_md_mem_reg(lo.md, packed, sizeof(packed), UCT_MD_MEM_ACCESS_ALL,
                         &memh));
    ck_ok(uct_md_mkey_pack(lo.md, memh, packed));
    ck_status(uct_rkey_unpack_sized(lo.component, packed, 7,
                                    UCS_SYS_DEVICE_ID_UNKNOWN, &bundle),
              UCS_ERR_INVALID_PARAM);
    packed[3] ^= 1;
    ck_status(uct_rkey_unpack(lo.component, packed, &bundle),
              UCS_ERR_UNREACHABLE);
    packed[3] ^= 1;

    /* In a child, which is another process, the key does not refer to the
     * child's memory: unpacking fails. */
    pid = fork();
    if (pid == 0) {
        _exit(uct_rkey_unpack(lo.component, packed, &bundle) !=
              UCS_ERR_UNREACHABLE);
    }
    ck_assert_int_eq(waitpid(pid, &wstatus, 0), pid);
    ck_assert(WIFEXITED(wstatus) && (WEXITSTATUS(wstatus) == 0));
    ck_ok(uct_rkey_unpack(lo.component, packed, &bundle));
    ck_ok(uct_rkey_release(lo.component, &bundle));
    ck_ok(uct_md_mem_dereg(lo.md, memh));
}
END_TEST

START_TEST(keys_remember_their_component)
{
    uct_rkey_bundle_t bundle = {0};
    void *pointer;

    ck_status(uct_rkey_release(lo.component, &bundle), UCS_ERR_INVALID_PARAM);
    ck_status(uct_rkey_ptr(lo.component, &bundle, 0, &pointer),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_rkey_unpack(lo.component, NULL, &bundle),
              UCS_ERR_INVALID_PARAM);
}
END_TEST

START_TEST(registration_wants_memory)
{
    uct_mem_h memh;

    ck_status(uct_md_mem_reg(lo.md, NULL, 8, 0, &memh), UCS_ERR_INVALID_PARAM);
    ck_status(uct_md_mem_reg(lo.md, &memh, 0, 0, &memh), UCS_ERR_INVALID_PARAM);
    ck_status(uct_md_mem_dereg(lo.md, NULL), UCS_ERR_INVALID_PARAM);
    ck_status(uct_md_mem_dereg(lo.md, &lo), UCS_ERR_INVALID_PARAM);
    ck_status(uct_md_mkey_pack(lo.md, NULL, &memh), UCS_ERR_INVALID_PARAM);
}
END_TEST

START_TEST(estimates_come_from_the_attributes)
{
    ucx_perf_t perf = {.size = sizeof(perf), .op = UCX_OP_AM_SHORT};
    double copied;

    ck_ok(uct_iface_estimate(lo.iface, &perf));
    ck_assert(perf.bandwidth.shared > 0);
    ck_assert(perf.recv_overhead > 0);
    /* zero-copy of a message copies the data, too */
    copied  = perf.bandwidth.shared;
    perf.op = UCX_OP_AM_ZCOPY;
    ck_ok(uct_iface_estimate(lo.iface, &perf));
    ck_assert(perf.bandwidth.shared < copied);
    perf.op = UCX_OP_PUT_ZCOPY;
    ck_ok(uct_iface_estimate(lo.iface, &perf));
    ck_assert(perf.recv_overhead == 0);
    perf.op = UCX_OP_TAG_SHORT;
    ck_status(uct_iface_estimate(lo.iface, &perf), UCS_ERR_UNSUPPORTED);
}
END_TEST

START_TEST(what_is_not_offered_is_unsupported)
{
    uct_tag_context_t ctx;
    char addr[8];

    ck_status(uct_ep_tag_eager_short(lo.ep, 0, NULL, 0), UCS_ERR_UNSUPPORTED);
    ck_status(UCS_PTR_STATUS(
                  uct_ep_tag_rndv_zcopy(lo.ep, 0, NULL, 0, NULL, 0, 0, NULL)),
              UCS_ERR_UNSUPPORTED);
    ck_status(uct_iface_tag_recv_zcopy(lo.iface, 0, 0, NULL, 0, &ctx),
              UCS_ERR_UNSUPPORTED);
    ck_status(uct_ep_get_address(lo.ep, (void *)addr), UCS_ERR_UNSUPPORTED);
    ck_status(uct_ep_connect_to_ep(lo.ep, NULL, (void *)addr),
              UCS_ERR_UNSUPPORTED);
    ck_status(uct_ep_disconnect(lo.ep, 0), UCS_ERR_UNSUPPORTED);
    ck_status(uct_iface_flush(lo.iface, UCT_FLUSH_FLAG_REMOTE, NULL),
              UCS_ERR_UNSUPPORTED);
}
END_TEST

START_TEST(progress_can_be_switched_off_by_halves)
{
    uct_iface_progress_disable(lo.iface, UCT_PROGRESS_SEND);
    ck_ok(uct_ep_am_short(lo.ep, AM_ID, 0, NULL, 0));
    ck_assert_uint_eq(uct_worker_progress(lo.worker), 1);
    uct_iface_progress_disable(lo.iface, UCT_PROGRESS_RECV);
    ck_ok(uct_ep_am_short(lo.ep, AM_ID, 0, NULL, 0));
    ck_assert_uint_eq(uct_worker_progress(lo.worker), 0);
    ck_assert_uint_eq(uct_iface_progress(lo.iface), 1);
    uct_iface_progress_enable(lo.iface,
                              UCT_PROGRESS_RECV | UCT_PROGRESS_THREAD_SAFE);
    ck_ok(uct_ep_am_short(lo.ep, AM_ID, 0, NULL, 0));
    ck_assert_uint_eq(uct_worker_progress(lo.worker), 1);
    ck_assert_uint_eq(received, 3);
}
END_TEST

/* A worker does not progress a new interface until uct_iface_progress_enable()
 * is called. */
START_TEST(progress_is_off_until_it_is_enabled)
{
    uct_iface_params_t params = {
        .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                      UCT_IFACE_PARAM_FIELD_DEVICE,
        .open_mode   = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device = {.tl_name = "self", .dev_name = "memory"},
    };
    uct_iface_config_t *config;
    uct_iface_h iface;
    uct_ep_h ep;

    ck_ok(uct_md_iface_config_read(lo.md, "self", NULL, NULL, &config));
    ck_ok(uct_iface_open(lo.md, lo.worker, &params, config, &iface));
    uct_config_release(config);
    ck_ok(uct_iface_set_am_handler(iface, AM_ID, on_message, NULL, 0));
    ck_ok(loopback_ep_create(iface, &ep));
    ck_ok(uct_ep_am_short(ep, AM_ID, 0, NULL, 0));
    ck_assert_uint_eq(uct_worker_progress(lo.worker), 0);
    ck_assert_uint_eq(received, 0);
    uct_iface_progress_enable(iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    ck_assert_uint_eq(uct_worker_progress(lo.worker), 1);
    ck_assert_uint_eq(received, 1);
    uct_iface_progress_disable(iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    ck_ok(uct_ep_am_short(ep, AM_ID, 0, NULL, 0));
    ck_assert_uint_eq(uct_worker_progress(lo.worker), 0);
    /* the interface can still be progressed by uct_iface_progress() */
    ck_assert_uint_eq(uct_iface_progress(iface), 1);
    ck_assert_uint_eq(received, 2);
    uct_ep_destroy(ep);
    uct_iface_close(iface);
}
END_TEST

/* Without the checking layer, the tables contain the transport's own functions,
 * so that checks of plugins cost nothing. */
START_TEST(unchecked_slots_are_those_of_the_transport)
{
    const uct_tl_t *tl = uct_iface_state(lo.iface)->tl;

    ck_assert_ptr_null(tl->check);
    ck_assert_ptr_eq(lo.ep->ops->am_short, tl->desc.ep_ops->am_short);
    ck_assert_ptr_eq(lo.ep->ops->am_zcopy, tl->desc.ep_ops->am_zcopy);
    ck_assert_ptr_eq(lo.iface->ops->progress, tl->desc.iface_ops->progress);
    ck_ok(uct_iface_set_am_handler(lo.iface, AM_ID, on_message, NULL, 0));
    ck_assert_ptr_eq(lo.iface->am[AM_ID].cb, on_message);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("self interface");
    TCase *tc    = tcase_create("all");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, only_itself_is_reachable);
    tcase_add_test(tc, endpoint_parameters_are_checked);
    tcase_add_test(tc, event_fd_signals_what_comes_after_arming);
    tcase_add_test(tc, unarmed_message_makes_arming_busy);
    tcase_add_test(tc, full_queue_refuses_and_pending_goes_on);
    tcase_add_test(tc, request_that_cannot_go_keeps_its_place);
    tcase_add_test(tc, purge_takes_the_requests_of_one_endpoint);
    tcase_add_test(tc, invalidated_endpoint_fails_from_progress);
    tcase_add_test(tc, cancelled_endpoint_sends_nothing);
    tcase_add_test(tc, destroyed_endpoint_reports_nothing);
    tcase_add_test(tc, foreign_keys_are_refused);
    tcase_add_test(tc, keys_remember_their_component);
    tcase_add_test(tc, registration_wants_memory);
    tcase_add_test(tc, estimates_come_from_the_attributes);
    tcase_add_test(tc, what_is_not_offered_is_unsupported);
    tcase_add_test(tc, progress_can_be_switched_off_by_halves);
    tcase_add_test(tc, progress_is_off_until_it_is_enabled);
    tcase_add_test(tc, unchecked_slots_are_those_of_the_transport);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
