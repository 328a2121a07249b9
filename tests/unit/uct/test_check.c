/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checking layer: each broken rule of a transport is reported with its number,
 * and a transport that breaks none is not reported. The transport of this file
 * does what `defect` says.
 */
#include "findings.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uct/base/component_list.h"
#include "uct/base/state.h"
#include "uct/check/internal.h"

/* --- The transport ----------------------------------------------------------- */

#define CAPABILITIES \
    (UCT_IFACE_FLAG_CONNECT_TO_EP | UCT_IFACE_FLAG_CB_SYNC | \
     UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY | \
     UCT_IFACE_FLAG_AM_ZCOPY | UCT_IFACE_FLAG_PENDING)

static struct {
    uct_completion_t *comp; /* of the last zero-copy send */
    uct_completion_t *flush;
    uct_pending_req_t *pending;
    uct_tag_context_t *recv; /* posted */
    uct_ep_h ep;
    uct_iface_h iface;
    unsigned queries;
} state;

static void complete(uct_completion_t *comp)
{
    if (--comp->count == 0) {
        comp->func(comp);
    }
}

static ucs_status_t am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                             const void *payload, unsigned length)
{
    if (breaks("no status")) {
        return (ucs_status_t)7;
    } else if (breaks("pending inside") && (state.pending != NULL)) {
        state.pending->func(state.pending);
        state.pending = NULL;
    } else if (breaks("failure inside")) {
        uct_host.iface_ep_failed(ep->iface, ep, UCS_ERR_ENDPOINT_TIMEOUT);
    } else if (breaks("never sends")) {
        return UCS_ERR_NO_RESOURCE;
    }
    return UCS_OK;
}

static ssize_t am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                        void *arg, unsigned flags)
{
    char packed[16];
    size_t length = breaks("packs never") ? 0 : pack_cb(packed, arg);

    if (breaks("packs twice")) {
        pack_cb(packed, arg);
    } else if (breaks("packs and fails")) {
        return UCS_ERR_NO_RESOURCE;
    }
    return (ssize_t)(breaks("wrong length") ? length + 1 : length);
}

static ucs_status_t am_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                             unsigned header_length, const uct_iov_t *iov,
                             size_t iovcnt, unsigned flags,
                             uct_completion_t *comp)
{
    state.comp = comp;
    if (breaks("completes first")) {
        complete(comp);
    }
    return breaks("completes nothing") ? UCS_OK : UCS_INPROGRESS;
}

static ucs_status_t ep_flush(uct_ep_h ep, unsigned flags,
                             uct_completion_t *comp)
{
    if (breaks("flushes early") || (state.comp == NULL)) {
        return UCS_OK;
    }
    state.flush = comp;
    return UCS_INPROGRESS;
}

static ucs_status_t pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                unsigned flags)
{
    if (breaks("never sends")) {
        return UCS_ERR_BUSY;
    }
    state.pending = req;
    return UCS_OK;
}

static void pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                          void *arg)
{
    if ((state.pending != NULL) && !breaks("keeps pending")) {
        cb(state.pending, arg);
    }
    state.pending = NULL;
}

static ucs_status_t get_ep_address(uct_ep_h ep, uct_ep_addr_t *addr)
{
    memset(addr, 1, breaks("address long") ? 9 : 8);
    return UCS_OK;
}

static ucs_status_t ep_create(uct_iface_h iface, const uct_ep_params_t *params,
                              uct_ep_h *ep_p)
{
    uct_ep_t *ep = calloc(1, sizeof(*ep));

    ucx_ep_init(ep, iface);
    state.ep = ep;
    *ep_p    = ep;
    return UCS_OK;
}

static void ep_destroy(uct_ep_h ep)
{
    free(ep);
}

static ucs_status_t iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p)
{
    state.iface = calloc(1, sizeof(uct_iface_t));
    ucx_iface_init(state.iface, args);
    *iface_p = state.iface;
    return UCS_OK;
}

static void iface_close(uct_iface_h iface)
{
    free(iface);
}

static void *deliver(void *arg)
{
    const ucx_am_slot_t *slot = &state.iface->am[3];

    slot->cb(slot->arg, "data", 4, 0);
    return NULL;
}

static void end_receive(uct_tag_context_t *ctx)
{
    ctx->tag_consumed_cb(ctx);
    ctx->completed_cb(ctx, 1, 0, 4, NULL, UCS_OK);
}

static void *end_receive_elsewhere(void *arg)
{
    end_receive(arg);
    return NULL;
}

static ucs_status_t tag_recv_zcopy(uct_iface_h iface, uct_tag_t tag,
                                   uct_tag_t tag_mask, const uct_iov_t *iov,
                                   size_t iovcnt, uct_tag_context_t *ctx)
{
    if (breaks("receives inside")) {
        end_receive(ctx);
    } else {
        state.recv = ctx;
    }
    return UCS_OK;
}

static ucs_status_t tag_recv_cancel(uct_iface_h iface, uct_tag_context_t *ctx,
                                    int force)
{
    ck_assert_ptr_eq(ctx, state.recv);
    if (!breaks("receives after cancel")) {
        state.recv = NULL;
    }
    return UCS_OK;
}

static void progress_receive(void)
{
    uct_tag_context_t *ctx = state.recv;
    pthread_t thread;

    if (ctx == NULL) {
        return;
    }
    state.recv = NULL;
    if (breaks("receives elsewhere")) {
        pthread_create(&thread, NULL, end_receive_elsewhere, ctx);
        pthread_join(thread, NULL);
    } else {
        end_receive(ctx);
        if (breaks("receives twice")) {
            end_receive(ctx);
        }
    }
}

static unsigned iface_progress(uct_iface_h iface)
{
    uct_completion_t *comp = state.comp, *flush = state.flush;
    pthread_t thread;

    progress_receive();
    if (comp != NULL) {
        state.comp = NULL;
        complete(comp);
        if (breaks("completes twice")) {
            comp->func(comp);
        }
    }
    if (flush != NULL) {
        state.flush = NULL;
        complete(flush);
    }
    if (breaks("fails twice")) {
        uct_host.iface_ep_failed(iface, state.ep, UCS_ERR_ENDPOINT_TIMEOUT);
        uct_host.iface_ep_failed(iface, state.ep, UCS_ERR_ENDPOINT_TIMEOUT);
    }
    if (breaks("delivers elsewhere")) {
        pthread_create(&thread, NULL, deliver, NULL);
        pthread_join(thread, NULL);
    } else {
        deliver(NULL);
    }
    return 1;
}

static ucs_status_t iface_query(uct_iface_h iface, ucx_iface_attr_t *attr)
{
    ++state.queries;
    attr->base.cap.flags        = CAPABILITIES;
    attr->base.cap.am.max_short = 16;
    attr->base.cap.am.max_bcopy = breaks("no limit") ? 0 : 16;
    attr->base.cap.am.max_zcopy = 16;
    attr->base.cap.am.max_iov   = 1;
    attr->base.ep_addr_len      = 8;
    if (breaks("undeclared")) {
        attr->base.cap.flags |= UCT_IFACE_FLAG_PUT_SHORT;
        attr->base.cap.put.max_short = 8;
    } else if (breaks("other query")) {
        attr->base.ep_addr_len += state.queries;
    }
    return UCS_OK;
}

static ucs_status_t event_fd_get(uct_iface_h iface, int *fd_p)
{
    static int fd = 100;

    *fd_p = breaks("other descriptor") ? ++fd : fd;
    return UCS_OK;
}

static ucs_status_t iface_flush(uct_iface_h iface, unsigned flags,
                                uct_completion_t *comp)
{
    return UCS_OK;
}

static ucs_status_t query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                  unsigned *num_p)
{
    *devices_p = calloc(1, sizeof(**devices_p));
    strcpy((*devices_p)[0].name, "dev0");
    (*devices_p)[0].type = UCT_DEVICE_TYPE_SELF;
    *num_p               = 1;
    return UCS_OK;
}

static const ucx_iface_ops_t iface_ops = {
    .size            = sizeof(iface_ops),
    .close           = iface_close,
    .query           = iface_query,
    .ep_create       = ep_create,
    .progress        = iface_progress,
    .flush           = iface_flush,
    .event_fd_get    = event_fd_get,
    .tag_recv_zcopy  = tag_recv_zcopy,
    .tag_recv_cancel = tag_recv_cancel,
};

static const ucx_ep_ops_t ep_ops = {
    .size          = sizeof(ep_ops),
    .am_short      = am_short,
    .am_bcopy      = am_bcopy,
    .am_zcopy      = am_zcopy,
    .flush         = ep_flush,
    .pending_add   = pending_add,
    .pending_purge = pending_purge,
    .get_address   = get_ep_address,
    .destroy       = ep_destroy,
};

static const ucx_transport_t tl = {
    .size          = sizeof(tl),
    .name          = "bad",
    .query_devices = query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &ep_ops,
};

/* --- The domain -------------------------------------------------------------- */

static ucs_status_t md_open(const ucx_component_t *component,
                            const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    uct_md_t *md = malloc(sizeof(*md));

    ucx_md_init(md, args);
    *md_p = md;
    return UCS_OK;
}

static void md_close(uct_md_h md)
{
    free(md);
}

static ucs_status_t md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    attr->flags = UCT_MD_FLAG_REG |
                  (breaks("md undeclared") ? UCT_MD_FLAG_ALLOC : 0);
    attr->max_reg          = SIZE_MAX;
    attr->rkey_packed_size = 4;
    attr->reg_alignment    = breaks("odd alignment") ? 3 : 1;
    return UCS_OK;
}

static ucs_status_t mem_reg(uct_md_h md, void *address, size_t length,
                            const ucx_mem_reg_params_t *params,
                            uct_mem_h *memh_p)
{
    *memh_p = breaks("no handle") ? UCT_MEM_HANDLE_NULL : address;
    return UCS_OK;
}

static ucs_status_t mkey_pack(uct_md_h md, uct_mem_h memh, void *address,
                              size_t length, unsigned flags, void *buffer)
{
    memset(buffer, 1, breaks("key long") ? 5 : 4);
    return UCS_OK;
}

static ucs_status_t query_mds(const ucx_component_t *component,
                              uct_md_resource_desc_t **mds_p, unsigned *num_p)
{
    *mds_p = calloc(1, sizeof(**mds_p));
    strcpy((*mds_p)[0].md_name, "bad");
    *num_p = 1;
    return UCS_OK;
}

static const ucx_md_ops_t md_ops = {
    .size      = sizeof(md_ops),
    .close     = md_close,
    .query     = md_query,
    .mem_reg   = mem_reg,
    .mkey_pack = mkey_pack,
};

static const ucx_transport_t *const transports[] = {&tl};

static const ucx_component_t bad = {
    .size               = sizeof(bad),
    .name               = "bad",
    .query_md_resources = query_mds,
    .md_open            = md_open,
    .md_ops             = &md_ops,
    .transports         = transports,
    .num_transports     = 1,
};

static const uct_tl_decl_t tl_decl = {
    .name      = "bad",
    .cap_flags = CAPABILITIES,
    .dev_type  = UCT_DEVICE_TYPE_SELF,
};

static const uct_component_decl_t decl = {
    .name           = "bad",
    .md_flags       = UCT_MD_FLAG_REG,
    .transports     = &tl_decl,
    .num_transports = 1,
};

static ucs_status_t load(void *arg, const uct_component_decl_t *wanted,
                         const ucx_component_t **desc_p)
{
    *desc_p = &bad;
    return UCS_OK;
}

/* --- A program that uses it -------------------------------------------------- */

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

/* One receive that completes, and one that is cancelled. */
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

/* The layer's memory does not grow with the number of receives. */
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

/* Opens everything, uses it as a program would, closes it. */
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

    memset(&state, 0, sizeof(state));
    findings[0] = '\0';
    num_called = num_received = 0;
    ck_ok(uct_component_add(&decl, load, NULL, &component));
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
