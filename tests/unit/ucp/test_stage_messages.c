/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages, put and get with staged memory, that is, memory that only a copier
 * transport can access (staged.h). Also with lanes that access such memory
 * directly, so that no copies are needed.
 */
#include "staged.h"

#include "ucp/dt/dt.h"

/* -------------------------------------------------------------- messages -- */

/* Sends one message and expects that its receive ends with the status
 * `received`. Returns the final status of the send. */
static ucs_status_t exchange(local_t *local, size_t length,
                             ucs_status_t received)
{
    ucs_status_ptr_t send, recv;

    memset(data, 0, SIZE);
    recv = ucp_tag_recv_nbx(local->worker, data, length, 1, UINT64_MAX,
                            &hinted);
    send = ucp_tag_send_nbx(local->ep, memory, length, 1, &hinted);
    ck_assert_int_eq(local_wait(local, recv), received);
    if (received == UCS_OK) {
        ck_assert_mem_eq(data, memory, length);
    }
    return local_wait(local, send);
}

START_TEST(messages_go_through_fragments)
{
    static const size_t sizes[] = {1, 10, 500, 5000, 20000, 20001, SIZE};
    local_t local;
    unsigned i;

    open_staged(&local);
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        ck_assert_int_eq(exchange(&local, sizes[i], UCS_OK), UCS_OK);
    }
    close_staged(&local);
}
END_TEST

START_TEST(a_copy_that_fails_ends_both_sides)
{
    ucs_status_t status;
    local_t local;
    unsigned at;

    open_staged(&local);
    for (at = 1; at < 30; at += 7) {
        play.fail_at = play.posts + at;
        status       = exchange(&local, 20000, UCS_ERR_IO_ERROR);
        /* A later copy may be one of the receiver: then the send may
         * succeed. */
        ck_assert((status == UCS_ERR_IO_ERROR) ||
                  ((status == UCS_OK) && (at > 4)));
        play.fail_at = 0;
        ck_assert_int_eq(exchange(&local, 20000, UCS_OK), UCS_OK);
    }
    close_staged(&local);
}
END_TEST

START_TEST(an_endpoint_that_ends_waits_for_its_copies)
{
    static const ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };
    ucs_status_ptr_t send, recv;
    local_t local;
    int i;

    open_staged(&local);
    recv = ucp_tag_recv_nbx(local.worker, data, SIZE, 1, UINT64_MAX, &hinted);
    send = ucp_tag_send_nbx(local.ep, memory, SIZE, 1, &hinted);
    for (i = 0; (play.num_held == 0) && (i < 100); ++i) {
        ucp_worker_progress(local.worker);
    }
    ck_assert_uint_gt(play.num_held, 0);
    local_wait(&local, ucp_ep_close_nbx(local.ep, &force));
    ck_assert_int_eq(local_wait(&local, send), UCS_ERR_CANCELED);
    for (i = 0; i < 1000; ++i) {
        ucp_worker_progress(local.worker);
    }
    /* The receive belongs to this worker, not to the closed endpoint: it may
     * still wait for a message. */
    if (ucp_request_check_status(recv) == UCS_INPROGRESS) {
        ucp_request_free(recv);
    } else {
        ck_assert_int_lt(local_wait(&local, recv), 0);
    }
    uninstall(local.worker);
    ucp_worker_destroy(local.worker);
    ucp_cleanup(local.context);
}
END_TEST

/* A message between staged memory that the lane can access is sent by
 * zero-copy, without the copier. When the lane cannot access it, the copier is
 * used. */
static void exchange_directly(const char *scheme)
{
    ucp_ep_config_t *config;
    local_t local;

    setenv("UCX_RNDV_SCHEME", scheme, 1);
    open_staged(&local);
    unsetenv("UCX_RNDV_SCHEME");
    config = (ucp_ep_config_t *)local.ep->config;
    config->lanes[0].mem_types |= UCS_BIT(STAGED_TYPE);
    config->lanes[0].remote_types |= UCS_BIT(STAGED_TYPE);
    config->lanes[0].md_flags |= UCT_MD_FLAG_NEED_RKEY;
    ck_assert_int_eq(exchange(&local, SIZE, UCS_OK), UCS_OK);
    ck_assert_uint_eq(play.posts + play.shorts, 0);

    config->lanes[0].mem_types &= ~UCS_BIT(STAGED_TYPE);
    config->lanes[0].remote_types &= ~UCS_BIT(STAGED_TYPE);
    ck_assert_int_eq(exchange(&local, SIZE, UCS_OK), UCS_OK);
    ck_assert_uint_gt(play.posts, 0);
    close_staged(&local);
}

/* The lane cannot access the receiver's memory: the receiver gets the data into
 * fragments of host memory, from which the copier copies it. */
START_TEST(what_is_fetched_goes_through_fragments)
{
    static const ucp_request_param_t none = {0};
    ucs_status_ptr_t send, recv;
    ucp_ep_config_t *config;
    local_t local;
    unsigned fail_at;

    setenv("UCX_RNDV_SCHEME", "get_zcopy", 1);
    open_staged(&local);
    unsetenv("UCX_RNDV_SCHEME");
    config = (ucp_ep_config_t *)local.ep->config;
    config->lanes[0].md_flags |= UCT_MD_FLAG_NEED_RKEY;
    for (fail_at = 0; fail_at < 20; fail_at += 6) {
        memset(data, 0, SIZE);
        play.posts   = 0;
        play.fail_at = fail_at;
        recv         = ucp_tag_recv_nbx(local.worker, data, SIZE, 1, UINT64_MAX,
                                        &hinted);
        send         = ucp_tag_send_nbx(local.ep, memory, SIZE, 1, &none);
        ck_assert_int_eq(local_wait(&local, recv),
                         (fail_at == 0) ? UCS_OK : UCS_ERR_IO_ERROR);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        if (fail_at == 0) {
            ck_assert_mem_eq(data, memory, SIZE);
        }
        ck_assert_uint_gt(play.posts, 0);
    }
    close_staged(&local);
}
END_TEST

START_TEST(a_lane_that_reaches_the_memory_needs_no_copies)
{
    exchange_directly("get_zcopy");
    exchange_directly("put_zcopy");
}
END_TEST

START_TEST(puts_and_gets_of_a_lane_that_reaches_need_no_copies)
{
    ucp_ep_config_t *config;
    lent_t lent;
    int direct;

    lend(&lent, BY_LANE, SIZE);
    install(lent.local.worker);
    config = (ucp_ep_config_t *)lent.local.ep->config;
    for (direct = 0; direct < 2; ++direct) {
        if (direct) {
            config->lanes[0].mem_types |= UCS_BIT(STAGED_TYPE);
        }
        play.posts = 0;
        fill(memory, SIZE, 5 + direct);
        ck_assert_int_eq(local_wait(&lent.local,
                                    ucp_put_nbx(lent.local.ep, memory, SIZE,
                                                lent_at(&lent, 0), lent.rkey,
                                                &hinted)),
                         UCS_OK);
        ck_assert_int_eq(lent_flush(&lent), UCS_OK);
        ck_assert_mem_eq(lent.memory, memory, SIZE);
        memset(data, 0, SIZE);
        ck_assert_int_eq(local_wait(&lent.local,
                                    ucp_get_nbx(lent.local.ep, data, SIZE,
                                                lent_at(&lent, 0), lent.rkey,
                                                &hinted)),
                         UCS_OK);
        ck_assert_mem_eq(data, memory, SIZE);
        ck_assert_int_eq(play.posts == 0, direct);
    }
    uninstall(lent.local.worker);
    take_back(&lent);
}
END_TEST

/* ----------------------------------------------------------------- types -- */

START_TEST(memory_that_nobody_can_copy_is_refused)
{
    ucp_request_param_t param = hinted;
    ucp_dt_iter_t iter;
    local_t local;

    local_open(&local); /* without a copier */
    ck_assert_int_eq(ucp_dt_iter_begin(local.worker, &iter, memory, 8, &param,
                                       0),
                     UCS_ERR_UNSUPPORTED);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(
                         ucp_tag_send_nbx(local.ep, memory, 8, 1, &param)),
                     UCS_ERR_UNSUPPORTED);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(ucp_tag_recv_nbx(local.worker, memory,
                                                         8, 1, 0, &param)),
                     UCS_ERR_UNSUPPORTED);
    param.memory_type = (ucs_memory_type_t)(UCS_MEMORY_TYPE_LAST + 1);
    ck_assert_int_eq(ucp_dt_iter_begin(local.worker, &iter, memory, 8, &param,
                                       0),
                     UCS_ERR_INVALID_PARAM);

    /* memory that the processor can access needs no copier, and neither does a
     * message without data */
    param.memory_type = UCS_MEMORY_TYPE_ROCM_MANAGED;
    ck_assert_int_eq(ucp_dt_iter_begin(local.worker, &iter, memory, 8, &param,
                                       0),
                     UCS_OK);
    ck_assert_int_eq(iter.dt_class, UCP_DT_CLASS_CONTIG);
    ck_assert_int_eq(iter.mem_type, UCS_MEMORY_TYPE_ROCM_MANAGED);
    param.memory_type = UCS_MEMORY_TYPE_UNKNOWN;
    ck_assert_int_eq(ucp_dt_iter_begin(local.worker, &iter, memory, 8, &param,
                                       0),
                     UCS_OK);
    param.memory_type = STAGED_TYPE;
    ck_assert_int_eq(ucp_dt_iter_begin(local.worker, &iter, memory, 0, &param,
                                       0),
                     UCS_OK);
    local_close(&local);
}
END_TEST

SUITE_MAIN("messages of staged memory", messages_go_through_fragments,
           a_copy_that_fails_ends_both_sides,
           an_endpoint_that_ends_waits_for_its_copies,
           what_is_fetched_goes_through_fragments,
           a_lane_that_reaches_the_memory_needs_no_copies,
           puts_and_gets_of_a_lane_that_reaches_need_no_copies,
           memory_that_nobody_can_copy_is_refused)
