/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cancellation of sends, put, get and atomics. An operation that has sent
 * nothing, or only the announcement of a rendezvous (RTS) that no receive has
 * matched, completes with UCS_ERR_CANCELED and has no effect at the peer. Other
 * operations complete normally.
 */
#include "am.h"

#include "ucp/order/fence.h"
#include "ucp/proto/ep.h"
#include "ucp/rma/rkey.h"

enum { TAG = 7, AM_ID = 1, LONG = 1 << 20 };

typedef struct {
    local_t local;
    char *memory;
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    am_seen_t seen;
    unsigned calls;      /* Number of callbacks of the request */
    ucs_status_t status; /* Of the last callback */
} use_t;

static char out[LONG], in[LONG];
static const char zeros[LONG];

static void open_use(use_t *use, int by_messages)
{
    ucp_mem_map_params_t map = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .length = LONG,
    };
    ucp_ep_config_t *config;
    size_t size;
    void *key;

    memset(use, 0, sizeof(*use));
    local_open_mode(&use->local,
                    UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM |
                        UCP_FEATURE_RMA | UCP_FEATURE_AMO64,
                    UCS_THREAD_MODE_SINGLE);
    if (by_messages) {
        config            = (ucp_ep_config_t *)use->local.ep->config;
        config->rma_lanes = 0;
        config->amo_lanes = 0;
    }
    use->memory = calloc(1, LONG);
    map.address = use->memory;
    ck_assert_ptr_nonnull(use->memory);
    ck_assert_int_eq(ucp_mem_map(use->local.context, &map, &use->memh), UCS_OK);
    ck_assert_int_eq(ucp_memh_pack(use->memh, NULL, &key, &size), UCS_OK);
    ck_assert_int_eq(ucp_ep_rkey_unpack(use->local.ep, key, &use->rkey),
                     UCS_OK);
    ucp_memh_buffer_release(key, NULL);
    am_set(&use->local, AM_ID, 0, &use->seen);
    memset(out, 1, sizeof(out));
    memset(in, 0, sizeof(in));
}

static void close_use(use_t *use)
{
    ucp_rkey_destroy(use->rkey);
    ck_assert_int_eq(ucp_mem_unmap(use->local.context, use->memh), UCS_OK);
    local_close(&use->local);
    free(use->memory);
}

/* ------------------------------------------------------------ operations -- */

typedef ucs_status_ptr_t (*start_t)(use_t *use, size_t length,
                                    const ucp_request_param_t *param);

static ucs_status_ptr_t tag_send(use_t *use, size_t length,
                                 const ucp_request_param_t *param)
{
    return ucp_tag_send_nbx(use->local.ep, out, length, TAG, param);
}

static ucs_status_ptr_t tag_send_sync(use_t *use, size_t length,
                                      const ucp_request_param_t *param)
{
    return ucp_tag_send_sync_nbx(use->local.ep, out, length, TAG, param);
}

static ucs_status_ptr_t am_send_one(use_t *use, size_t length,
                                    const ucp_request_param_t *param)
{
    return ucp_am_send_nbx(use->local.ep, AM_ID, out, 8, out, length, param);
}

static ucs_status_ptr_t stream_send(use_t *use, size_t length,
                                    const ucp_request_param_t *param)
{
    return ucp_stream_send_nbx(use->local.ep, out, length, param);
}

static ucs_status_ptr_t put(use_t *use, size_t length,
                            const ucp_request_param_t *param)
{
    return ucp_put_nbx(use->local.ep, out, length, (uintptr_t)use->memory,
                       use->rkey, param);
}

static ucs_status_ptr_t get(use_t *use, size_t length,
                            const ucp_request_param_t *param)
{
    return ucp_get_nbx(use->local.ep, in, length, (uintptr_t)use->memory,
                       use->rkey, param);
}

static ucs_status_ptr_t add(use_t *use, size_t length,
                            const ucp_request_param_t *param)
{
    ucp_request_param_t with_type = *param;

    with_type.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    with_type.datatype = ucp_dt_make_contig(length);
    return ucp_atomic_op_nbx(use->local.ep, UCP_ATOMIC_OP_ADD, out, 1,
                             (uintptr_t)use->memory, use->rkey, &with_type);
}

static ucs_status_ptr_t fetch_add(use_t *use, size_t length,
                                  const ucp_request_param_t *param)
{
    ucp_request_param_t with_reply = *param;

    with_reply.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    with_reply.reply_buffer = in;
    return add(use, length, &with_reply);
}

static const struct {
    const char *name;
    start_t start;
    size_t length;
} operations[] = {
    {"tag", tag_send, 8},
    {"tag, medium", tag_send, 4000},
    {"tag, long", tag_send, LONG},
    {"tag, sync", tag_send_sync, 8},
    {"tag, sync, long", tag_send_sync, LONG},
    {"am", am_send_one, 8},
    {"am, medium", am_send_one, 4000},
    {"am, long", am_send_one, LONG},
    {"stream", stream_send, 8},
    {"stream, long", stream_send, LONG},
    {"put", put, 8},
    {"put, long", put, LONG},
    {"get", get, 8},
    {"get, long", get, LONG},
    {"atomic", add, 8},
    {"fetching atomic", fetch_add, 8},
};

enum { NUM_OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

static void on_end(void *request, ucs_status_t status, void *user_data)
{
    use_t *use = user_data;

    ++use->calls;
    use->status = status;
}

static ucs_status_ptr_t start(use_t *use, start_t func, size_t length)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA |
                        UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
        .cb.send   = on_end,
        .user_data = use,
    };
    ucs_status_ptr_t request = func(use, length, &param);

    ck_assert(UCS_PTR_IS_PTR(request));
    return request;
}

/* Checks that no message, stream data or put has arrived. */
static void check_nothing_came(use_t *use)
{
    ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL,
    };
    ucp_tag_recv_info_t info;
    ucs_status_ptr_t ret;
    size_t length;
    unsigned i;

    ck_assert_int_eq(local_wait(&use->local,
                                ucp_ep_flush_nbx(use->local.ep, &am_none)),
                     UCS_OK);
    for (i = 0; i < 100; ++i) {
        ucp_worker_progress(use->local.worker);
    }
    ck_assert_ptr_null(ucp_tag_probe_nb(use->local.worker, 0, 0, 0, &info));
    ck_assert_uint_eq(use->seen.calls, 0);
    ret = ucp_stream_recv_nbx(use->local.ep, in, 1, &length, &force);
    ck_assert_int_eq(am_status(ret), UCS_ERR_NO_RESOURCE);
    ck_assert_int_eq(memcmp(use->memory, zeros, LONG), 0);
    ck_assert_int_eq(memcmp(in, zeros, LONG), 0);
}

START_TEST(a_send_that_waits_for_resources_can_be_cancelled)
{
    ucs_status_ptr_t request;
    int by_messages;
    use_t use;
    size_t i;

    for (i = 0; i < 2 * NUM_OPERATIONS; ++i) {
        by_messages = (i >= NUM_OPERATIONS);
        open_use(&use, by_messages);
        ucp_ep_hold(use.local.ep);
        request = start(&use, operations[i % NUM_OPERATIONS].start,
                        operations[i % NUM_OPERATIONS].length);
        ck_assert_int_eq(ucp_request_check_status(request), UCS_INPROGRESS);
        ucp_request_cancel(use.local.worker, request);
        ck_assert_msg(use.calls == 1, "%s: %u callbacks",
                      operations[i % NUM_OPERATIONS].name, use.calls);
        ck_assert_int_eq(use.status, UCS_ERR_CANCELED);
        ck_assert_int_eq(ucp_request_check_status(request), UCS_ERR_CANCELED);
        /* no effect on a request that has ended */
        ucp_request_cancel(use.local.worker, request);
        ck_assert_uint_eq(use.calls, 1);
        ucp_request_free(request);
        ucp_ep_resume(use.local.ep);
        check_nothing_came(&use);
        close_use(&use);
    }
}
END_TEST

START_TEST(those_before_and_behind_it_arrive_in_order)
{
    ucs_status_ptr_t requests[3];
    use_t use;
    int i;

    open_use(&use, 0);
    ucp_ep_hold(use.local.ep);
    for (i = 0; i < 3; ++i) {
        out[i]      = (char)(10 + i);
        requests[i] = ucp_tag_send_nbx(use.local.ep, out + i, 1, TAG, &am_none);
    }
    ucp_request_cancel(use.local.worker, requests[1]);
    ucp_request_cancel(use.local.worker, requests[0]);
    ucp_ep_resume(use.local.ep);
    ck_assert_int_eq(local_wait(&use.local, requests[0]), UCS_ERR_CANCELED);
    ck_assert_int_eq(local_wait(&use.local, requests[1]), UCS_ERR_CANCELED);
    ck_assert_int_eq(local_wait(&use.local, requests[2]), UCS_OK);
    ck_assert_int_eq(local_wait(&use.local, local_recv(&use.local, in, 1, TAG)),
                     UCS_OK);
    ck_assert_int_eq(in[0], 12);
    in[0] = 0;
    check_nothing_came(&use);
    close_use(&use);
}
END_TEST

/* Cancels operations that wait for a fence: an earlier put is not complete,
 * because ucp_ep_hold() makes it wait in the endpoint's queue. */
START_TEST(a_send_behind_a_fence_can_be_cancelled)
{
    static const start_t starts[] = {put, get, add};
    ucs_status_ptr_t first, request;
    use_t use;
    size_t i;

    for (i = 0; i < sizeof(starts) / sizeof(starts[0]); ++i) {
        open_use(&use, 0);
        ucp_ep_hold(use.local.ep);
        first = start(&use, put, 8);
        ck_assert_int_eq(ucp_worker_fence(use.local.worker), UCS_OK);
        ck_assert(use.local.ep->flags & UCP_EP_FLAG_FENCING);
        request = start(&use, starts[i], 8);
        ucp_request_cancel(use.local.worker, request);
        ck_assert_uint_eq(use.calls, 1);
        ck_assert_int_eq(use.status, UCS_ERR_CANCELED);
        ucp_request_cancel(use.local.worker, first);
        ck_assert_uint_eq(use.calls, 2);
        ucp_request_free(request);
        ucp_request_free(first);
        ucp_ep_resume(use.local.ep);
        check_nothing_came(&use);
        close_use(&use);
    }
}
END_TEST

START_TEST(an_unmatched_rts_is_withdrawn)
{
    static const start_t starts[] = {tag_send, tag_send_sync};
    ucp_tag_recv_info_t info;
    ucs_status_ptr_t request, other;
    use_t use;
    size_t i;

    open_use(&use, 0);
    for (i = 0; i < sizeof(starts) / sizeof(starts[0]); ++i) {
        request = start(&use, starts[i], LONG);
        local_await(&use.local, TAG);
        ucp_request_cancel(use.local.worker, request);
        ucp_request_cancel(use.local.worker, request);
        ck_assert_int_eq(local_wait(&use.local, request), UCS_ERR_CANCELED);
        ck_assert_uint_eq(use.calls, i + 1);
        ck_assert_ptr_null(
            ucp_tag_probe_nb(use.local.worker, TAG, UINT64_MAX, 0, &info));
    }
    check_nothing_came(&use);

    /* Only the announcement of the cancelled send is removed, not that of
     * another send with the same tag. */
    request = start(&use, tag_send, LONG);
    local_await(&use.local, TAG);
    other = start(&use, tag_send, LONG / 2);
    ucp_request_cancel(use.local.worker, request);
    ck_assert_int_eq(local_wait(&use.local, request), UCS_ERR_CANCELED);
    ck_assert_ptr_nonnull(
        ucp_tag_probe_nb(use.local.worker, TAG, UINT64_MAX, 0, &info));
    ck_assert_uint_eq(info.length, LONG / 2);
    request = local_recv(&use.local, in, LONG, TAG);
    ck_assert_int_eq(local_wait(&use.local, request), UCS_OK);
    ck_assert_int_eq(local_wait(&use.local, other), UCS_OK);
    ck_assert_int_eq(memcmp(in, out, LONG / 2), 0);
    close_use(&use);
}
END_TEST

START_TEST(a_matched_rts_is_not_withdrawn)
{
    ucp_tag_recv_info_t info;
    ucp_tag_message_h message;
    ucs_status_ptr_t send, recv;
    use_t use;

    open_use(&use, 0);
    send = start(&use, tag_send, LONG);
    local_await(&use.local, TAG);
    message = ucp_tag_probe_nb(use.local.worker, TAG, UINT64_MAX, 1, &info);
    ck_assert_ptr_nonnull(message);
    ucp_request_cancel(use.local.worker, send);
    am_settle(&use.local);
    ck_assert_int_eq(ucp_request_check_status(send), UCS_INPROGRESS);

    recv = ucp_tag_msg_recv_nbx(use.local.worker, in, LONG, message, &am_none);
    ck_assert_int_eq(local_wait(&use.local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&use.local, send), UCS_OK);
    ck_assert_int_eq(use.status, UCS_OK);
    ck_assert_int_eq(memcmp(in, out, LONG), 0);
    close_use(&use);
}
END_TEST

static void take_stream(use_t *use, size_t count)
{
    ucp_request_param_t all = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_STREAM_RECV_FLAG_WAITALL,
    };
    size_t length;

    ck_assert_int_eq(local_wait(&use->local,
                                ucp_stream_recv_nbx(use->local.ep, in, count,
                                                    &length, &all)),
                     UCS_OK);
}

/* A stream send, or a put by messages: one fragment has been sent, and the
 * others wait in the endpoint's queue. The operation cannot be cancelled any
 * more. */
START_TEST(a_partly_sent_message_is_not_cancelled)
{
    static const start_t starts[] = {stream_send, put};
    ucs_status_ptr_t request;
    ucp_request_t *req;
    size_t i;
    use_t use;

    for (i = 0; i < sizeof(starts) / sizeof(starts[0]); ++i) {
        open_use(&use, 1);
        /* A first operation also sends what the endpoint must send before the
         * message under test. */
        ck_assert_int_eq(local_wait(&use.local, start(&use, starts[i], 8)),
                         UCS_OK);
        if (starts[i] == stream_send) {
            take_stream(&use, 8);
        }
        ucp_ep_hold(use.local.ep);
        request = start(&use, starts[i], LONG);
        req     = ucp_request_of(request);
        ck_assert_int_eq(req->send.proto->progress(req), UCS_INPROGRESS);
        ucp_request_cancel(use.local.worker, request);
        ck_assert_int_eq(ucp_request_check_status(request), UCS_INPROGRESS);
        ucp_ep_resume(use.local.ep);
        ck_assert_int_eq(local_wait(&use.local, request), UCS_OK);
        if (starts[i] == put) {
            ck_assert_int_eq(local_wait(&use.local,
                                        ucp_ep_flush_nbx(use.local.ep,
                                                         &am_none)),
                             UCS_OK);
            ck_assert_int_eq(memcmp(use.memory, out, LONG), 0);
        } else {
            take_stream(&use, LONG);
            ck_assert_int_eq(memcmp(in, out, LONG), 0);
        }
        close_use(&use);
    }
}
END_TEST

START_TEST(flushes_and_completed_requests_are_left_alone)
{
    ucs_status_ptr_t send, flush;
    use_t use;

    open_use(&use, 0);
    ucp_ep_hold(use.local.ep);
    send  = start(&use, tag_send, 8);
    flush = ucp_ep_flush_nbx(use.local.ep, &am_none);
    ck_assert(UCS_PTR_IS_PTR(flush));
    ucp_request_cancel(use.local.worker, flush);
    ck_assert_int_eq(ucp_request_check_status(flush), UCS_INPROGRESS);
    ucp_ep_resume(use.local.ep);
    ck_assert_int_eq(local_wait(&use.local, flush), UCS_OK);
    while (ucp_request_check_status(send) == UCS_INPROGRESS) {
        ucp_worker_progress(use.local.worker);
    }
    ucp_request_cancel(use.local.worker, send);
    ck_assert_int_eq(local_wait(&use.local, send), UCS_OK);
    ck_assert_int_eq(use.calls, 1);
    close_use(&use);
}
END_TEST

SUITE_MAIN("cancelling sends", a_send_that_waits_for_resources_can_be_cancelled,
           those_before_and_behind_it_arrive_in_order,
           a_send_behind_a_fence_can_be_cancelled,
           an_unmatched_rts_is_withdrawn, a_matched_rts_is_not_withdrawn,
           a_partly_sent_message_is_not_cancelled,
           flushes_and_completed_requests_are_left_alone)
