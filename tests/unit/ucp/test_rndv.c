/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous and zero-copy sends over a lane whose put and zero-copy operations
 * the test replaces: they fail, or the transport holds them when the endpoint
 * is closed. Also the number of registrations with and without the user's
 * memory handles, and invalid messages, as a peer that violates the protocol
 * could send them.
 */
#include "local.h"

#include "ucp/proto/ep.h"
#include "ucp/tag/eager.h"
#include "ucp/tag/rndv.h"
#include "ucp/wireup/introduce.h"

static const ucp_request_param_t none  = {0};
static const ucp_request_param_t force = {
    .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
    .flags        = UCP_EP_CLOSE_FLAG_FORCE,
};

static char buffer[1 << 20], buffer2[1 << 20];

/* The lane's operations, some of them replaced. */
static ucx_ep_ops_t ops;
static uct_completion_t *held[64];
static unsigned num_held;
static int num_puts, puts_ok;

static ucs_status_t hold_put(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp)
{
    char *dest = (char *)(uintptr_t)remote_addr;
    size_t i;

    ++num_puts;
    for (i = 0; i < iovcnt; dest += iov[i].length, ++i) {
        memcpy(dest, iov[i].buffer, iov[i].length);
    }
    held[num_held++] = comp;
    return UCS_INPROGRESS;
}

static ucs_status_t fail_put(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp)
{
    if (num_puts++ < puts_ok) {
        held[num_held++] = comp;
        return UCS_INPROGRESS;
    }
    return UCS_ERR_IO_ERROR;
}

static ucs_status_t hold_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                               unsigned header_length, const uct_iov_t *iov,
                               size_t iovcnt, unsigned flags,
                               uct_completion_t *comp)
{
    held[num_held++] = comp;
    return UCS_INPROGRESS;
}

/* Completes the held operations with `status`. */
static void release_held(ucs_status_t status)
{
    unsigned i;

    for (i = 0; i < num_held; ++i) {
        uct_completion_update_status(held[i], status);
        if (--held[i]->count == 0) {
            held[i]->func(held[i]);
        }
    }
    num_held = 0;
}

/* Opens an endpoint whose rendezvous puts the data, in puts of at most
 * `max_put` bytes, with remote keys. */
static void open_putting(local_t *local, size_t max_put)
{
    ucp_ep_config_t *config;

    setenv("UCX_RNDV_SCHEME", "put_zcopy", 1);
    local_open(local);
    unsetenv("UCX_RNDV_SCHEME");
    config = (ucp_ep_config_t *)local->ep->config;
    config->lanes[0].md_flags |= UCT_MD_FLAG_NEED_RKEY;
    config->lanes[0].put.max_zcopy = max_put;
    ucp_ep_config_assign(config);
    ops      = *local->ep->am->ops;
    num_puts = 0;
    num_held = 0;
}

static void use_ops(local_t *local)
{
    local->ep->am->ops = &ops;
}

static void settle(local_t *local)
{
    int i;

    for (i = 0; i < 100; ++i) {
        ucp_worker_progress(local->worker);
    }
}

static void end(local_t *local)
{
    settle(local);
    ucp_worker_destroy(local->worker);
    ucp_cleanup(local->context);
}

START_TEST(data_is_put_where_the_lane_can)
{
    ucs_status_ptr_t send, recv;
    local_t local;

    open_putting(&local, 1000);
    ops.put_zcopy = hold_put;
    use_ops(&local);
    memset(buffer, 'p', 10500);
    recv = local_recv(&local, buffer2, sizeof(buffer2), 1);
    send = local_send(&local, buffer, 10500, 1);
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(num_puts, 11);
    ck_assert_mem_eq(buffer, buffer2, 10500);
    settle(&local);
    ck_assert_int_eq(ucp_request_check_status(send), UCS_INPROGRESS);
    release_held(UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    local_close(&local);
}
END_TEST

/* The operations of the worker's only memory domain before begin_counting()
 * replaced them, and the number of its registrations since then. */
static const ucx_md_ops_t *usual_md_ops;
static unsigned num_regs;

static ucs_status_t count_reg(uct_md_h md, void *address, size_t length,
                              const ucx_mem_reg_params_t *params,
                              uct_mem_h *memh_p)
{
    ++num_regs;
    return usual_md_ops->mem_reg(md, address, length, params, memh_p);
}

/* Makes the lane require registered memory, and counts registrations until the
 * test restores the domain's operations. `flags` are added to those of the
 * lane's domain. */
static void begin_counting(local_t *local, ucx_md_ops_t *md_ops, uint64_t flags)
{
    ucp_ep_config_t *config = (ucp_ep_config_t *)local->ep->config;
    uct_md_h md             = local->context->mds[0].md;

    config->lanes[0].md_flags |= flags | UCT_MD_FLAG_NEED_MEMH;
    ucp_ep_config_assign(config);
    usual_md_ops    = md->ops;
    *md_ops         = *md->ops;
    md_ops->mem_reg = count_reg;
    md->ops         = md_ops;
    memset(buffer, 'h', sizeof(buffer));
    num_regs = 0;
}

static ucp_mem_h map_buffer(local_t *local, void *address, unsigned prot)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_PROT,
        .address = address,
        .length  = sizeof(buffer),
        .prot    = prot,
    };
    ucp_mem_h memh;

    ck_assert_int_eq(ucp_mem_map(local->context, &params, &memh), UCS_OK);
    return memh;
}

static void rndv_once(local_t *local, ucp_mem_h from, ucp_mem_h to)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH};
    ucs_status_ptr_t send, recv;

    param.memh = to;
    recv = ucp_tag_recv_nbx(local->worker, buffer2 + 10, 100000, 1, UINT64_MAX,
                            &param);
    param.memh = from;
    send       = ucp_tag_send_nbx(local->ep, buffer + 20, 100000, 1, &param);
    ck_assert_int_eq(local_wait(local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(local, send), UCS_OK);
    ck_assert_mem_eq(buffer + 20, buffer2 + 10, 100000);
}

/* Counts registrations in a rendezvous by `scheme`, over a lane that needs
 * registered memory on both sides: without the user's memory handles, with
 * them, and with a handle that lacks rights. */
static void check_handles(const char *scheme)
{
    const unsigned all = UCP_MEM_MAP_PROT_LOCAL_READ |
                         UCP_MEM_MAP_PROT_LOCAL_WRITE |
                         UCP_MEM_MAP_PROT_REMOTE_READ |
                         UCP_MEM_MAP_PROT_REMOTE_WRITE;
    const unsigned own = UCP_MEM_MAP_PROT_LOCAL_READ |
                         UCP_MEM_MAP_PROT_LOCAL_WRITE;
    ucp_mem_h from, to, mine;
    ucx_md_ops_t md_ops;
    local_t local;
    int i;

    setenv("UCX_RNDV_SCHEME", scheme, 1);
    setenv("UCX_RNDV_THRESH", "0", 1);
    local_open(&local);
    unsetenv("UCX_RNDV_SCHEME");
    unsetenv("UCX_RNDV_THRESH");
    begin_counting(&local, &md_ops, UCT_MD_FLAG_NEED_RKEY);
    rndv_once(&local, NULL, NULL);
    ck_assert_uint_eq(num_regs, 2);

    from     = map_buffer(&local, buffer, all);
    to       = map_buffer(&local, buffer2, all);
    num_regs = 0;
    for (i = 0; i < 5; ++i) {
        rndv_once(&local, from, to);
    }
    ck_assert_uint_eq(num_regs, 2);

    /* The sender's handle grants the peer no access. A get needs a key of that
     * memory, so that the library registers it again for each message. For a
     * put it registers the memory of the handle once. */
    mine     = map_buffer(&local, buffer, own);
    num_regs = 0;
    rndv_once(&local, mine, to);
    rndv_once(&local, mine, to);
    ck_assert_uint_eq(num_regs, (strcmp(scheme, "get_zcopy") == 0) ? 2 : 1);

    ck_assert_int_eq(ucp_mem_unmap(local.context, from), UCS_OK);
    ck_assert_int_eq(ucp_mem_unmap(local.context, to), UCS_OK);
    ck_assert_int_eq(ucp_mem_unmap(local.context, mine), UCS_OK);
    local.context->mds[0].md->ops = usual_md_ops;
    local_close(&local);
}

static void stream_once(local_t *local, const ucp_request_param_t *param)
{
    ucp_request_param_t all = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_STREAM_RECV_FLAG_WAITALL,
    };
    ucs_status_ptr_t send, recv;
    size_t length;

    recv = ucp_stream_recv_nbx(local->ep, buffer2, 100000, &length, &all);
    send = ucp_stream_send_nbx(local->ep, buffer + 20, 100000, param);
    ck_assert_int_eq(local_wait(local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(local, send), UCS_OK);
    ck_assert_mem_eq(buffer + 20, buffer2, 100000);
}

/* Where zero-copy needs registered memory, a stream is sent by buffered copy:
 * the memory of the user's handle is not registered again. */
START_TEST(a_handle_of_the_user_is_not_registered_again_for_a_stream)
{
    ucp_request_param_t param = {0};
    ucx_md_ops_t md_ops;
    local_t local;

    setenv("UCX_ZCOPY_THRESH", "1", 1);
    local_open_mode(&local, UCP_FEATURE_TAG | UCP_FEATURE_STREAM,
                    UCS_THREAD_MODE_SINGLE);
    unsetenv("UCX_ZCOPY_THRESH");
    begin_counting(&local, &md_ops, 0);
    param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH;
    param.memh = map_buffer(&local, buffer, UCP_MEM_MAP_PROT_LOCAL_READ);
    num_regs   = 0;
    stream_once(&local, &param);
    ck_assert_uint_eq(num_regs, 0);

    ck_assert_int_eq(ucp_mem_unmap(local.context, param.memh), UCS_OK);
    local.context->mds[0].md->ops = usual_md_ops;
    local_close(&local);
}
END_TEST

START_TEST(a_handle_of_the_user_is_not_registered_again)
{
    check_handles("get_zcopy");
    check_handles("put_zcopy");
}
END_TEST

START_TEST(a_handle_that_does_not_cover_the_buffer_is_refused)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH};
    char other[100000];
    local_t local, local2;

    local_open(&local);
    local_open(&local2);
    param.memh = map_buffer(&local, buffer, UCP_MEM_MAP_PROT_LOCAL_READ);
    ck_assert_int_eq(UCS_PTR_STATUS(ucp_tag_send_nbx(local.ep, other,
                                                     sizeof(other), 1, &param)),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(UCS_PTR_STATUS(ucp_tag_send_nbx(local2.ep, buffer,
                                                     sizeof(other), 1, &param)),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_mem_unmap(local.context, param.memh), UCS_OK);
    local_close(&local);
    local_close(&local2);
}
END_TEST

START_TEST(a_put_that_the_transport_holds_completes_after_the_endpoint)
{
    ucs_status_ptr_t send, recv;
    local_t local;

    open_putting(&local, 1000);
    ops.put_zcopy = hold_put;
    use_ops(&local);
    recv = local_recv(&local, buffer2, sizeof(buffer2), 1);
    send = local_send(&local, buffer, 10500, 1);
    settle(&local);
    ck_assert_uint_eq(num_held, 11);
    ck_assert_ptr_null(ucp_ep_close_nbx(local.ep, &force));
    settle(&local);
    /* the transport still uses the buffer: the send must not complete yet */
    ck_assert_int_eq(ucp_request_check_status(send), UCS_INPROGRESS);
    release_held(UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_ERR_CANCELED);
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    end(&local);
}
END_TEST

START_TEST(a_put_that_fails_ends_both_sides)
{
    ucs_status_ptr_t send, recv;
    local_t local;
    int ok;

    for (ok = 0; ok < 3; ++ok) {
        open_putting(&local, 1000);
        ops.put_zcopy = fail_put;
        puts_ok       = ok;
        use_ops(&local);
        recv = local_recv(&local, buffer2, sizeof(buffer2), 1);
        send = local_send(&local, buffer, 10500, 1);
        ck_assert_int_eq(local_wait(&local, recv), UCS_ERR_IO_ERROR);
        release_held(UCS_OK);
        ck_assert_int_eq(local_wait(&local, send), UCS_ERR_IO_ERROR);
        ck_assert_int_eq(num_puts, ok + 1);
        local_close(&local);
    }
}
END_TEST

START_TEST(a_held_zero_copy_send_completes_after_the_endpoint)
{
    ucs_status_ptr_t send[2];
    local_t local;
    int fails, i;

    setenv("UCX_ZCOPY_THRESH", "1", 1);
    setenv("UCX_RNDV_THRESH", "7000", 1);
    for (fails = 0; fails < 2; ++fails) {
        local_open(&local);
        num_held     = 0;
        ops          = *local.ep->am->ops;
        ops.am_zcopy = hold_zcopy;
        use_ops(&local);
        send[0] = local_send(&local, buffer, 1000, 1);
        send[1] = ucp_tag_send_sync_nbx(local.ep, buffer, 1000, 1, &none);
        ck_assert_uint_eq(num_held, 2);
        if (fails) {
            ucp_ep_fail(local.ep, UCS_ERR_ENDPOINT_TIMEOUT);
        }
        ck_assert_ptr_null(ucp_ep_close_nbx(local.ep, &force));
        settle(&local);
        for (i = 0; i < 2; ++i) {
            ck_assert_int_eq(ucp_request_check_status(send[i]), UCS_INPROGRESS);
        }
        release_held(UCS_ERR_CANCELED);
        ck_assert_int_eq(local_wait(&local, send[0]), UCS_ERR_CANCELED);
        ck_assert_int_ne(local_wait(&local, send[1]), UCS_OK);
        end(&local);
    }
    unsetenv("UCX_RNDV_THRESH");
    unsetenv("UCX_ZCOPY_THRESH");
}
END_TEST

/* ---------------------------------------------------- malformed messages -- */

typedef struct {
    const void *data;
    size_t length;
} message_t;

static size_t pack_message(void *dest, void *arg)
{
    const message_t *message = arg;

    memcpy(dest, message->data, message->length);
    return message->length;
}

static void inject(local_t *local, uint8_t id, const void *data, size_t length)
{
    message_t message = {data, length};

    ck_assert_int_eq(local->ep->am->ops->am_bcopy(local->ep->am, id,
                                                  pack_message, &message, 0),
                     (ssize_t)length);
    settle(local);
}

/* Fills in a rendezvous announcement (RTS) as from this worker's own endpoint.
 * It contains no key by which the data could be fetched. */
static void fill_rts(ucp_tag_rts_t *rts, local_t *local, size_t length,
                     uint32_t request)
{
    memset(rts, 0, sizeof(*rts));
    rts->tag          = ucp_le64(1);
    rts->rndv.length  = ucp_le64(length);
    rts->rndv.sender  = ucp_ep_wire_end(local->ep);
    rts->rndv.request = ucp_le32(request);
}

START_TEST(an_rtr_without_an_rts_is_dropped)
{
    ucp_rndv_rtr_t rtr = {{{0}}};
    ucs_status_ptr_t send[8];
    local_t local, *l = &local;
    int i, k;

    setenv("UCX_SELF_QUEUE_LEN", "3", 1);
    for (k = 0; k < 3; ++k) {
        local_open(&local);
        for (i = 0; i < 8; ++i) {
            send[i] = local_send(&local, buffer, 100000, 1);
        }
        /* The later sends wait for send resources and have sent no RTS. Their
         * request ids are small numbers, which a hostile peer can guess. */
        rtr.recv_request = ucp_le32(1);
        rtr.secret       = ucp_le32(local.ep->secret);
        rtr.length       = ucp_le64((k == 0) ? 0 : (k == 1) ? 100000 : 5);
        rtr.send_request = ucp_le32(ucp_request_of(send[7])->id);
        ck_assert_uint_ne(ucp_request_of(send[7])->id, 0);
        ck_assert_int_eq(ucp_rndv_rtr_handler(l->worker, &rtr, sizeof(rtr), 0),
                         UCS_OK);
        ck_assert_int_eq(ucp_request_check_status(send[7]), UCS_INPROGRESS);
        for (i = 0; i < 8; ++i) {
            ck_assert_int_eq(local_wait(l, local_recv(l, buffer2, 100000, 1)),
                             UCS_OK);
            ck_assert_int_eq(local_wait(l, send[i]), UCS_OK);
        }
        local_close(l);
    }
    unsetenv("UCX_SELF_QUEUE_LEN");
}
END_TEST

START_TEST(an_ack_of_an_rts_is_dropped)
{
    ucp_eager_sync_ack_t ack;
    ucs_status_ptr_t send;
    local_t local;

    local_open(&local);
    send        = ucp_tag_send_sync_nbx(local.ep, buffer, 100000, 1, &none);
    ack.request = ucp_le32(ucp_request_of(send)->id);
    inject(&local, UCP_AM_ID_EAGER_SYNC_ACK, &ack, sizeof(ack));
    ck_assert_int_eq(local_wait(&local, local_recv(&local, buffer2, 100000, 1)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    local_close(&local);
}
END_TEST

START_TEST(fragments_beyond_the_message_end_the_receive)
{
    static const uint64_t offsets[] = {100000, 99999, UINT64_MAX,
                                       UINT64_MAX - 1};
    char message[sizeof(ucp_rndv_data_t) + 2];
    ucp_rndv_data_t *data = (ucp_rndv_data_t *)message;
    ucs_status_ptr_t recv;
    ucp_tag_rts_t rts;
    local_t local;
    size_t i;

    memset(message, 0, sizeof(message));
    local_open(&local);
    ck_assert_int_eq(ucp_wireup_introduce(local.ep), UCS_OK);
    settle(&local);
    fill_rts(&rts, &local, 100000, 77);
    for (i = 0; i < 4; ++i) {
        recv = local_recv(&local, buffer2, 100000, 1);
        inject(&local, UCP_AM_ID_RNDV_RTS, &rts, sizeof(rts));
        data->recv_request = ucp_le32(ucp_request_of(recv)->id);
        data->offset       = ucp_le64(offsets[i]);
        inject(&local, UCP_AM_ID_RNDV_DATA, message, sizeof(message));
        ck_assert_int_eq(local_wait(&local, recv), UCS_ERR_IO_ERROR);
    }
    local_close(&local);
}
END_TEST

START_TEST(an_answer_that_wants_another_length_ends_both_sides)
{
    ucs_status_ptr_t send, recv;
    ucp_tag_rts_t rts;
    local_t local;

    local_open(&local);
    send = local_send(&local, buffer, 100000, 2);
    settle(&local);
    /* a second announcement of the same send, with a wrong length */
    fill_rts(&rts, &local, 50000, ucp_request_of(send)->id);
    recv = local_recv(&local, buffer2, 100000, 1);
    inject(&local, UCP_AM_ID_RNDV_RTS, &rts, sizeof(rts));
    ck_assert_int_eq(local_wait(&local, recv), UCS_ERR_IO_ERROR);
    ck_assert_int_eq(local_wait(&local, send), UCS_ERR_IO_ERROR);
    local_close(&local);
}
END_TEST

START_TEST(a_farewell_in_the_middle_resets_the_receive)
{
    ucs_status_ptr_t recv, again;
    ucp_tag_rts_t rts;
    local_t local;

    local_open(&local);
    local_play_peer(&local);
    ck_assert_int_eq(ucp_wireup_introduce(local.ep), UCS_OK);
    settle(&local);
    fill_rts(&rts, &local, 100000, 77);
    recv = local_recv(&local, buffer2, 100000, 1);
    /* this announcement matches the receive */
    inject(&local, UCP_AM_ID_RNDV_RTS, &rts, sizeof(rts));
    /* the second announcement stays unexpected */
    inject(&local, UCP_AM_ID_RNDV_RTS, &rts, sizeof(rts));
    inject(&local, UCP_AM_ID_FAREWELL, &rts.rndv.sender,
           sizeof(rts.rndv.sender));
    inject(&local, UCP_AM_ID_FAREWELL, &rts.rndv.sender,
           sizeof(rts.rndv.sender));
    ck_assert_int_eq(local_wait(&local, recv), UCS_ERR_CONNECTION_RESET);
    again = local_recv(&local, buffer2, 100000, 1);
    ck_assert_int_eq(local_wait(&local, again), UCS_ERR_CONNECTION_RESET);
    local_close(&local);
}
END_TEST

SUITE_MAIN("rendezvous", data_is_put_where_the_lane_can,
           a_handle_of_the_user_is_not_registered_again,
           a_handle_of_the_user_is_not_registered_again_for_a_stream,
           a_handle_that_does_not_cover_the_buffer_is_refused,
           a_put_that_the_transport_holds_completes_after_the_endpoint,
           a_put_that_fails_ends_both_sides,
           a_held_zero_copy_send_completes_after_the_endpoint,
           an_rtr_without_an_rts_is_dropped, an_ack_of_an_rts_is_dropped,
           fragments_beyond_the_message_end_the_receive,
           an_answer_that_wants_another_length_ends_both_sides,
           a_farewell_in_the_middle_resets_the_receive)
