/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checking layer reports rules of the plugin ABI that a transport or its
 * memory domain breaks, with the number of the rule. It reports nothing if they
 * break no rule. It limits its records of receives, and logs the same report
 * three times at most.
 */
#include "bad_transport.h"
#include "findings.h"

#include <string.h>

#include "uct/check/internal.h"

/* --- A program that uses the transport */

static unsigned num_completed, num_called, num_received;
static int receives_often;

static void on_completed(uct_completion_t *comp)
{
    ++num_completed;
}

static size_t pack(void *dest, void *arg)
{
    memcpy(dest, "packed", 6);
    return 6;
}

static ucs_status_t on_message(void *arg, void *data, size_t length,
                               unsigned flags)
{
    return UCS_OK;
}

static ucs_status_t on_failure(void *arg, uct_ep_h ep, ucs_status_t status)
{
    return UCS_OK;
}

static ucs_status_t on_pending(uct_pending_req_t *req)
{
    ++num_called;
    return UCS_OK;
}

static void on_purged(uct_pending_req_t *req, void *arg)
{
    ck_assert_ptr_eq(req->func, on_pending);
    ++num_called;
}

static void use_domain(uct_md_h md)
{
    char memory[8], key[4];
    uct_mem_h memh;

    ck_ok(uct_md_mem_reg(md, memory, sizeof(memory), 0, &memh));
    if (memh != UCT_MEM_HANDLE_NULL) {
        ck_ok(uct_md_mkey_pack(md, memh, key));
    }
}

static void send_all(uct_iface_h iface, uct_ep_h ep)
{
    char data[4]           = "abc";
    uct_iov_t iov          = {.buffer = data, .length = 4, .count = 1};
    uct_completion_t comp  = {.func = on_completed, .count = 1};
    uct_completion_t flush = {.func = on_completed, .count = 1};
    uct_pending_req_t req  = {.func = on_pending};
    unsigned i;

    for (i = 0; breaks("never sends") && (i < 20000); ++i) {
        ck_status(uct_ep_am_short(ep, 3, 0, NULL, 0), UCS_ERR_NO_RESOURCE);
        ck_status(uct_ep_pending_add(ep, &req, 0), UCS_ERR_BUSY);
    }
    if (!breaks("never sends")) {
        ck_ok(uct_ep_pending_add(ep, &req, 0));
        uct_ep_am_short(ep, 3, 0, NULL, 0);
    }
    uct_ep_am_bcopy(ep, 3, pack, NULL, 0);
    if (uct_ep_am_zcopy(ep, 3, NULL, 0, &iov, 1, 0, &comp) == UCS_INPROGRESS) {
        uct_ep_flush(ep, 0, &flush);
    }
    if (!breaks("completes late")) {
        uct_worker_progress(iface->worker);
    }
    uct_ep_pending_purge(ep, on_purged, NULL);
}

static void on_consumed(uct_tag_context_t *self)
{
    ++num_received;
}

static void on_received(uct_tag_context_t *self, uct_tag_t stag, uint64_t imm,
                        size_t length, void *inline_data, ucs_status_t status)
{
    ++num_received;
}

/* Posts one receive that completes and one that is cancelled, unless `defect`
 * changes that. */
static void receive_tagged(uct_iface_h iface)
{
    uct_tag_context_t first = {
        .tag_consumed_cb = on_consumed,
        .completed_cb    = on_received,
    };
    uct_tag_context_t second = first;
    char data[4];
    uct_iov_t iov = {.buffer = data, .length = 4, .count = 1};

    ck_ok(uct_iface_tag_recv_zcopy(iface, 1, 1, &iov, 1, &first));
    uct_worker_progress(iface->worker);
    ck_ok(uct_iface_tag_recv_zcopy(iface, 1, 1, &iov, 1, &second));
    if (!breaks("receives inside")) {
        ck_ok(uct_iface_tag_recv_cancel(iface, &second, 1));
    }
    uct_worker_progress(iface->worker);
}

/* The layer remembers a limited number of receives that have ended: its memory
 * does not grow with the number of receives. */
static void receive_often(uct_iface_h iface)
{
    uct_check_iface_t *check = uct_check_iface_of(iface);
    unsigned i;

    for (i = 0; i < 2 * UCT_CHECK_RETIRED_MAX; ++i) {
        receive_tagged(iface);
        ck_assert(ucs_list_is_empty(&check->recvs));
        ck_assert_uint_le(ucs_list_length(&check->retired_recvs),
                          UCT_CHECK_RETIRED_MAX);
    }
    num_received = 0;
}

/* Opens the transport, uses it as a program does, and closes it. */
static void use_transport(void)
{
    const uct_iface_params_t params = {
        .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                      UCT_IFACE_PARAM_FIELD_DEVICE |
                      UCT_IFACE_PARAM_FIELD_ERR_HANDLER,
        .open_mode   = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device = {.tl_name = "bad", .dev_name = "dev0"},
        .err_handler = on_failure,
    };
    uct_ep_params_t ep_params = {.field_mask = UCT_EP_PARAM_FIELD_IFACE};
    char addr[16];
    uct_component_h component;
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_iface_h iface;
    uct_md_h md;
    uct_ep_h ep;
    int fd, again;

    findings[0] = '\0';
    num_called = num_received = 0;
    ck_ok(uct_component_add(&bad_decl, bad_load, NULL, NULL, &component));
    ck_ok(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_MUTEX, &async));
    ck_ok(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker));
    ck_ok(uct_md_open(component, "bad", NULL, &md));
    use_domain(md);
    ck_ok(uct_iface_open(md, worker, &params, NULL, &iface));
    uct_iface_progress_enable(iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    ck_ok(uct_iface_set_am_handler(iface, 3, on_message, NULL, 0));
    ck_ok(uct_iface_event_fd_get(iface, &fd));
    ck_ok(uct_iface_event_fd_get(iface, &again));
    ep_params.iface = iface;
    ck_ok(uct_ep_create(&ep_params, &ep));
    ck_ok(uct_ep_get_address(ep, (uct_ep_addr_t *)addr));
    if (receives_often) {
        receive_often(iface);
    }
    receive_tagged(iface);
    send_all(iface, ep);
    if (breaks("sends after failure")) {
        uct_host.iface_ep_failed(iface, ep, UCS_ERR_ENDPOINT_TIMEOUT);
        ck_ok(uct_ep_am_short(ep, 3, 0, NULL, 0));
    }
    uct_ep_destroy(ep);
    if (breaks("fails after the end")) {
        uct_host.iface_ep_failed(iface, ep, UCS_ERR_ENDPOINT_TIMEOUT);
    }
    uct_worker_progress(worker);
    uct_iface_close(iface);
    uct_md_close(md);
    uct_worker_destroy(worker);
    ucs_async_context_destroy(async);
    uct_component_remove(component);
}

/* --- Tests ------------------------------------------------------------------- */

START_TEST(a_transport_that_conforms_is_not_reported)
{
    defect = "";
    use_transport();
    ck_assert_str_eq(findings, "");
    ck_assert_uint_eq(num_completed, 2);
    ck_assert_uint_eq(num_called, 1);
    ck_assert_uint_eq(num_received, 2);
}
END_TEST

START_TEST(records_of_receives_do_not_accumulate)
{
    defect         = "";
    receives_often = 1;
    use_transport();
    ck_assert_str_eq(findings, "");
}
END_TEST

static const planted_t defects[] = {
    {"no status", 26, "which is no status"},
    {"pending inside", 26, "called inside this operation"},
    {"failure inside", 18, "call it from progress"},
    {"never sends", 26, "no send succeeds"},
    {"packs never", 26, "called 0 times"},
    {"packs twice", 26, "called 2 times"},
    {"packs and fails", 26, "after it has packed"},
    {"wrong length", 26, "but 6 bytes were packed"},
    {"completes first", 26, "before the call returned"},
    {"completes nothing", 26, "did not return UCS_INPROGRESS"},
    {"completes twice", 26, "called twice"},
    {"completes late", 26, "after the endpoint was destroyed"},
    {"flushes early", 26, "completion of an earlier am_zcopy"},
    {"keeps pending", 26, "not passed to the callback"},
    {"address long", 25, "beyond the 8 bytes"},
    {"delivers elsewhere", 16, "active message"},
    {"fails twice", 18, "reported twice"},
    {"fails after the end", 18, "does not exist"},
    {"sends after failure", 18, "a send is accepted"},
    {"receives inside", 16, "inside tag_recv_zcopy"},
    {"receives elsewhere", 16, "in no call"},
    {"receives twice", 26, "after the receive has ended"},
    {"receives after cancel", 26, "cancelled by force"},
    {"no limit", 25, "am.max_bcopy is 0"},
    {"undeclared", 10, "does not declare"},
    {"slot missing", 25, "slot get_bcopy, which is missing"},
    {"other query", 25, "other capabilities"},
    {"other descriptor", 26, "stay the same"},
    {"md undeclared", 10, "does not declare"},
    {"odd alignment", 25, "no power of two"},
    {"no handle", 26, "without a handle"},
    {"key long", 25, "beyond the 4 bytes"},
};

START_TEST(each_broken_rule_is_reported_with_its_number)
{
    defect = defects[_i].defect;
    use_transport();
    expect_finding(&defects[_i]);
}
END_TEST

START_TEST(a_finding_is_logged_three_times_at_most)
{
    unsigned count = 0, i;
    const char *at;

    defect = "no status";
    for (i = 0; i < 5; ++i) {
        use_transport();
        for (at = findings; (at = strstr(at, "rule 26")) != NULL; ++at) {
            ++count;
        }
    }
    ck_assert_uint_le(count, 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checking layer");
    TCase *tc    = tcase_create("all");

    watch_findings();
    tcase_add_test(tc, a_transport_that_conforms_is_not_reported);
    tcase_add_test(tc, records_of_receives_do_not_accumulate);
    tcase_add_loop_test(tc, each_broken_rule_is_reported_with_its_number, 0,
                        (int)(sizeof(defects) / sizeof(defects[0])));
    tcase_add_test(tc, a_finding_is_logged_three_times_at_most);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
