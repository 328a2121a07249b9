/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flags UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL and UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
 * for every operation: the return value with and without immediate completion,
 * and the number of callbacks.
 */
#include "am.h"

#include "ucp/order/queue.h"
#include "ucp/proto/ep.h"
#include "ucp/rma/rkey.h"

enum { TAG = 7, AM_KEEP = 1, AM_DROP = 2 };

typedef struct {
    local_t local;
    uint64_t memory[2];
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    /* Data of an active message that the handler kept; NULL: none */
    void *kept;
    unsigned calls; /* Number of callbacks since open_use() */
} use_t;

static char bytes[8] = "1234567", in[8];

static ucs_status_t keep(void *arg, const void *header, size_t header_length,
                         void *data, size_t length,
                         const ucp_am_recv_param_t *param)
{
    use_t *use = arg;

    if (!(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)) {
        return UCS_OK;
    }
    use->kept = data;
    return UCS_INPROGRESS;
}

static void open_use(use_t *use)
{
    ucp_mem_map_params_t map = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = use->memory,
        .length  = sizeof(use->memory),
    };
    ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id  = AM_KEEP,
        .cb  = keep,
        .arg = use,
    };
    size_t size;
    void *key;

    memset(use, 0, sizeof(*use));
    local_open_mode(&use->local,
                    UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM |
                        UCP_FEATURE_RMA | UCP_FEATURE_AMO64,
                    UCS_THREAD_MODE_SINGLE);
    ck_assert_int_eq(ucp_mem_map(use->local.context, &map, &use->memh), UCS_OK);
    ck_assert_int_eq(ucp_memh_pack(use->memh, NULL, &key, &size), UCS_OK);
    ck_assert_int_eq(ucp_ep_rkey_unpack(use->local.ep, key, &use->rkey),
                     UCS_OK);
    ucp_memh_buffer_release(key, NULL);
    ck_assert_int_eq(ucp_worker_set_am_recv_handler(use->local.worker,
                                                    &handler),
                     UCS_OK);
}

static void close_use(use_t *use)
{
    ucp_rkey_destroy(use->rkey);
    ck_assert_int_eq(ucp_mem_unmap(use->local.context, use->memh), UCS_OK);
    ucp_worker_destroy(use->local.worker);
    ucp_cleanup(use->local.context);
}

/* ------------------------------------------------------------ operations -- */

typedef ucs_status_ptr_t (*start_t)(use_t *use,
                                    const ucp_request_param_t *param);

static ucs_status_ptr_t tag_send(use_t *use, const ucp_request_param_t *param)
{
    return ucp_tag_send_nbx(use->local.ep, bytes, sizeof(bytes), TAG, param);
}

static ucs_status_ptr_t tag_send_sync(use_t *use,
                                      const ucp_request_param_t *param)
{
    return ucp_tag_send_sync_nbx(use->local.ep, bytes, sizeof(bytes), TAG,
                                 param);
}

static ucs_status_ptr_t tag_send_long(use_t *use,
                                      const ucp_request_param_t *param)
{
    return ucp_tag_send_nbx(use->local.ep, am_data, sizeof(am_data), TAG + 1,
                            param);
}

static ucs_status_ptr_t am_send_short(use_t *use,
                                      const ucp_request_param_t *param)
{
    return ucp_am_send_nbx(use->local.ep, AM_DROP, NULL, 0, bytes,
                           sizeof(bytes), param);
}

static ucs_status_ptr_t stream_send(use_t *use,
                                    const ucp_request_param_t *param)
{
    return ucp_stream_send_nbx(use->local.ep, bytes, sizeof(bytes), param);
}

static ucs_status_ptr_t put(use_t *use, const ucp_request_param_t *param)
{
    return ucp_put_nbx(use->local.ep, bytes, sizeof(bytes),
                       (uintptr_t)use->memory, use->rkey, param);
}

static ucs_status_ptr_t get(use_t *use, const ucp_request_param_t *param)
{
    return ucp_get_nbx(use->local.ep, in, sizeof(in), (uintptr_t)use->memory,
                       use->rkey, param);
}

static ucs_status_ptr_t atomic(use_t *use, ucp_atomic_op_t op, void *reply,
                               const ucp_request_param_t *param)
{
    static const uint64_t one    = 1;
    ucp_request_param_t with_all = *param;

    with_all.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    with_all.datatype = ucp_dt_make_contig(sizeof(one));
    if (reply != NULL) {
        with_all.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        with_all.reply_buffer = reply;
    }
    return ucp_atomic_op_nbx(use->local.ep, op, &one, 1, (uintptr_t)use->memory,
                             use->rkey, &with_all);
}

static ucs_status_ptr_t add(use_t *use, const ucp_request_param_t *param)
{
    return atomic(use, UCP_ATOMIC_OP_ADD, NULL, param);
}

static ucs_status_ptr_t fetch_add(use_t *use, const ucp_request_param_t *param)
{
    return atomic(use, UCP_ATOMIC_OP_ADD, in, param);
}

static ucs_status_ptr_t ep_flush(use_t *use, const ucp_request_param_t *param)
{
    return ucp_ep_flush_nbx(use->local.ep, param);
}

static ucs_status_ptr_t worker_flush(use_t *use,
                                     const ucp_request_param_t *param)
{
    return ucp_worker_flush_nbx(use->local.worker, param);
}

static ucs_status_ptr_t ep_close(use_t *use, const ucp_request_param_t *param)
{
    return ucp_ep_close_nbx(use->local.ep, param);
}

typedef struct {
    const char *name;
    start_t start;
    /* Result with FORCE_IMM_CMPL when no earlier operation is outstanding */
    ucs_status_t idle;
    int ends; /* The operation closes the endpoint */
} operation_t;

static const operation_t operations[] = {
    {"tag send", tag_send, UCS_OK, 0},
    {"tag send, sync", tag_send_sync, UCS_ERR_NO_RESOURCE, 0},
    {"tag send, long", tag_send_long, UCS_ERR_NO_RESOURCE, 0},
    {"am send", am_send_short, UCS_OK, 0},
    {"stream send", stream_send, UCS_OK, 0},
    {"put", put, UCS_OK, 0},
    {"get", get, UCS_OK, 0},
    {"atomic", add, UCS_OK, 0},
    {"fetching atomic", fetch_add, UCS_ERR_NO_RESOURCE, 0},
    {"endpoint's flush", ep_flush, UCS_OK, 0},
    {"worker's flush", worker_flush, UCS_OK, 0},
    {"close", ep_close, UCS_OK, 1},
};

enum { NUM_OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

static void on_send(void *request, ucs_status_t status, void *user_data)
{
    use_t *use = user_data;

    ck_assert_int_eq(status, UCS_OK);
    ++use->calls;
}

static ucp_request_param_t with_callback(use_t *use, uint32_t flags)
{
    return (ucp_request_param_t){
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA | flags,
        .cb.send   = on_send,
        .user_data = use,
    };
}

/* Starts an operation with FORCE_IMM_CMPL and returns its status. It must
 * return no request and call no callback. */
static ucs_status_t forced(use_t *use, const operation_t *op)
{
    ucp_request_param_t param = with_callback(use,
                                              UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
    ucs_status_ptr_t ret      = op->start(use, &param);

    ck_assert_msg(!UCS_PTR_IS_PTR(ret), "%s: a request", op->name);
    ck_assert_msg(use->calls == 0, "%s: a callback", op->name);
    return UCS_PTR_STATUS(ret);
}

START_TEST(a_forced_operation_is_complete_or_fails)
{
    const operation_t *op;
    ucs_status_t status;
    use_t use;

    for (op = operations; op < operations + NUM_OPERATIONS; ++op) {
        open_use(&use);
        status = forced(&use, op);
        ck_assert_msg(status == op->idle, "%s: %s", op->name,
                      ucs_status_string(status));
        if (!op->ends) {
            local_wait(
                &use.local,
                ucp_ep_close_nbx(use.local.ep,
                                 &(ucp_request_param_t){
                                     .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                     .flags        = UCP_EP_CLOSE_FLAG_FORCE,
                                 }));
        }
        close_use(&use);
    }
}
END_TEST

/* After ucp_ep_hold() all operations queue behind an earlier send. So none can
 * complete at once; with FORCE_IMM_CMPL each fails with UCS_ERR_NO_RESOURCE and
 * has no effect. */
START_TEST(a_forced_operation_fails_behind_others_and_changes_nothing)
{
    const operation_t *op;
    ucs_status_ptr_t first;
    ucs_status_t status;
    double start;
    use_t use;

    for (op = operations; op < operations + NUM_OPERATIONS; ++op) {
        open_use(&use);
        ucp_ep_hold(use.local.ep);
        first  = tag_send(&use, &am_none);
        status = forced(&use, op);
        ck_assert_msg(status == UCS_ERR_NO_RESOURCE, "%s: %s", op->name,
                      ucs_status_string(status));
        ck_assert_int_eq(forced(&use, op), UCS_ERR_NO_RESOURCE);
        ck_assert_int_eq(ucp_request_check_status(first), UCS_INPROGRESS);

        ucp_ep_resume(use.local.ep);
        ck_assert_int_eq(local_wait(&use.local, first), UCS_OK);
        start = local_now();
        while (forced(&use, op) != op->idle) {
            local_progress(&use.local, start);
        }
        ck_assert_int_eq(local_wait(&use.local, local_recv(&use.local, in,
                                                           sizeof(in), TAG)),
                         UCS_OK);
        if (!op->ends) {
            local_wait(&use.local, ucp_ep_close_nbx(use.local.ep, &am_none));
        }
        close_use(&use);
    }
}
END_TEST

START_TEST(an_operation_that_may_not_complete_at_once_has_a_request)
{
    ucp_request_param_t param;
    const operation_t *op;
    ucs_status_ptr_t ret;
    ucs_status_ptr_t recv;
    use_t use;

    for (op = operations; op < operations + NUM_OPERATIONS; ++op) {
        open_use(&use);
        param = with_callback(&use, UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
        ret   = op->start(&use, &param);
        ck_assert_msg(UCS_PTR_IS_PTR(ret), "%s: no request", op->name);
        recv = local_recv(&use.local, am_data, sizeof(am_data),
                          (op->start == tag_send_long) ? TAG + 1 : TAG);
        ck_assert_int_eq(local_wait(&use.local, ret), UCS_OK);
        ck_assert_msg(use.calls == 1, "%s: %u calls", op->name, use.calls);
        if (UCS_PTR_IS_PTR(recv)) {
            ucp_request_cancel(use.local.worker, recv);
            ucp_request_free(recv);
        }
        if (!op->ends) {
            local_wait(&use.local, ucp_ep_close_nbx(use.local.ep, &am_none));
        }
        close_use(&use);
    }
}
END_TEST

/* With both flags, flush and close complete at once, but return a request. */
START_TEST(a_forced_flush_or_close_may_have_a_request)
{
    static const start_t starts[] = {ep_flush, worker_flush, ep_close};
    ucp_request_param_t param;
    ucs_status_ptr_t ret;
    use_t use;
    size_t i;

    open_use(&use);
    for (i = 0; i < sizeof(starts) / sizeof(starts[0]); ++i) {
        use.calls = 0;
        param     = with_callback(&use, UCP_OP_ATTR_FLAG_NO_IMM_CMPL |
                                            UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
        ret       = starts[i](&use, &param);
        ck_assert(UCS_PTR_IS_PTR(ret));
        ck_assert_int_eq(ucp_request_check_status(ret), UCS_OK);
        ck_assert_uint_eq(use.calls, 1);
        ucp_request_free(ret);
    }
    close_use(&use);
}
END_TEST

/* -------------------------------------------------------------- receives -- */

static ucp_request_param_t plain_with(uint32_t flags)
{
    return (ucp_request_param_t){.op_attr_mask = flags};
}

static ucs_status_t forced_tag_recv(use_t *use)
{
    ucp_request_param_t param = plain_with(UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
    ucs_status_ptr_t ret = ucp_tag_recv_nbx(use->local.worker, in, sizeof(in),
                                            TAG, UINT64_MAX, &param);

    ck_assert(!UCS_PTR_IS_PTR(ret));
    return UCS_PTR_STATUS(ret);
}

static ucs_status_t forced_stream_recv(use_t *use)
{
    ucp_request_param_t param = plain_with(UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
    ucs_status_ptr_t ret;
    size_t length;

    ret = ucp_stream_recv_nbx(use->local.ep, in, sizeof(in), &length, &param);
    ck_assert(!UCS_PTR_IS_PTR(ret));
    return UCS_PTR_STATUS(ret);
}

START_TEST(a_forced_receive_takes_what_is_there)
{
    ucp_request_param_t force   = plain_with(UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
    ucp_request_param_t by_rndv = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_AM_SEND_FLAG_RNDV,
    };
    ucs_status_ptr_t send, ret;
    double start;
    use_t use;

    open_use(&use);
    ck_assert_int_eq(forced_tag_recv(&use), UCS_ERR_NO_RESOURCE);
    ck_assert_int_eq(local_wait(&use.local, tag_send(&use, &am_none)), UCS_OK);
    local_await(&use.local, TAG);
    ck_assert_int_eq(forced_tag_recv(&use), UCS_OK);
    ck_assert_int_eq(memcmp(in, bytes, sizeof(in)), 0);
    ck_assert_int_eq(forced_tag_recv(&use), UCS_ERR_NO_RESOURCE);

    ck_assert_int_eq(forced_stream_recv(&use), UCS_ERR_NO_RESOURCE);
    ck_assert_int_eq(local_wait(&use.local, stream_send(&use, &am_none)),
                     UCS_OK);
    start = local_now();
    memset(in, 0, sizeof(in));
    while (forced_stream_recv(&use) == UCS_ERR_NO_RESOURCE) {
        local_progress(&use.local, start);
    }
    ck_assert_int_eq(memcmp(in, bytes, sizeof(in)), 0);

    /* By rendezvous the data is still at the sender: the receive cannot
     * complete at once. */
    send = ucp_am_send_nbx(use.local.ep, AM_KEEP, NULL, 0, bytes, sizeof(bytes),
                           &by_rndv);
    while (use.kept == NULL) {
        local_progress(&use.local, start);
    }
    ret = ucp_am_recv_data_nbx(use.local.worker, use.kept, in, sizeof(in),
                               &force);
    ck_assert_int_eq(am_status(ret), UCS_ERR_NO_RESOURCE);
    /* the failed receive has released the descriptor, and the sender gets the
     * error */
    ck_assert_int_eq(local_wait(&use.local, send), UCS_ERR_NO_RESOURCE);
    local_wait(&use.local, ucp_ep_close_nbx(use.local.ep, &am_none));
    close_use(&use);
}
END_TEST

SUITE_MAIN("immediate completion", a_forced_operation_is_complete_or_fails,
           a_forced_operation_fails_behind_others_and_changes_nothing,
           an_operation_that_may_not_complete_at_once_has_a_request,
           a_forced_flush_or_close_may_have_a_request,
           a_forced_receive_takes_what_is_there)
