/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending active messages over an endpoint to the worker itself: parameters,
 * completion, the deprecated calls, and sends of several threads.
 */
#include "am.h"

#include <pthread.h>
#include <sched.h>
#include <ucp/api/ucp_compat.h>

enum { ID = 5 };

static const size_t header_lengths[] = {0, 1, 8, 63, 1000};
static const size_t lengths[]        = {0, 1, 8, 100, 1000, 5000};

#define COUNT(_array) (sizeof(_array) / sizeof((_array)[0]))

/* --------------------------------------------------------------- sending -- */

START_TEST(what_cannot_be_sent_is_refused)
{
    ucp_worker_attr_t attr = {
        .field_mask = UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER,
    };
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = 5, /* invalid class */
    };
    am_seen_t seen = {0};
    local_t local;

    am_open(&local);
    am_set(&local, ID, 0, &seen);
    ck_assert_int_eq(ucp_worker_query(local.worker, &attr), UCS_OK);
    ck_assert_uint_ge(attr.max_am_header, 1024);
    ck_assert_int_eq(local_wait(&local,
                                am_send(&local, ID, attr.max_am_header, 0, 0)),
                     UCS_OK);
    am_await(&local, &seen, 1);
    ck_assert_uint_eq(seen.header_length, attr.max_am_header);

    ck_assert_int_eq(am_status(
                         am_send(&local, ID, attr.max_am_header + 1, 0, 0)),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(am_status(am_send(&local, UINT16_MAX + 1, 0, 0, 0)),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(am_status(am_send(&local, ID, 0, 0,
                                       UCP_AM_SEND_FLAG_EAGER |
                                           UCP_AM_SEND_FLAG_RNDV)),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(am_status(ucp_am_send_nbx(local.ep, ID, NULL, 1, NULL, 0,
                                               &am_none)),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(am_status(ucp_am_send_nbx(local.ep, ID, am_header,
                                               SIZE_MAX, NULL, 0, &am_none)),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(am_status(ucp_am_send_nbx(local.ep, ID, NULL, 0, am_data,
                                               8, &param)),
                     UCS_ERR_INVALID_PARAM);
    am_settle(&local);
    ck_assert_uint_eq(seen.calls, 1);
    local_close(&local);
}
END_TEST

START_TEST(a_copied_header_may_change_at_once)
{
    am_seen_t seen = {0};
    ucs_status_ptr_t sends[10];
    local_t local;
    size_t length;
    int i;

    setenv("UCX_SELF_QUEUE_LEN", "2", 1);
    for (length = 0; length <= 100000; length += 50000) {
        am_open(&local);
        am_set(&local, ID, 0, &seen);
        seen.calls = 0;
        for (i = 0; i < 10; ++i) {
            sends[i] = am_send(&local, ID, 100, length,
                               UCP_AM_SEND_FLAG_COPY_HEADER |
                                   ((i & 1) ? UCP_AM_SEND_FLAG_REPLY : 0));
            memset(am_header, 'x', 100);
        }
        for (i = 0; i < 10; ++i) {
            ck_assert_int_eq(local_wait(&local, sends[i]), UCS_OK);
        }
        am_await(&local, &seen, 10);
        ck_assert_uint_eq(seen.header_length, 100);
        local_close(&local);
    }
    unsetenv("UCX_SELF_QUEUE_LEN");
}
END_TEST

static unsigned sent;

static void on_sent(void *request, ucs_status_t status, void *user_data)
{
    ck_assert_ptr_eq(user_data, &sent);
    ck_assert_int_eq(status, UCS_OK);
    ++sent;
    ucp_request_free(request);
}

START_TEST(a_send_completes_as_it_is_asked_to)
{
    static const uint32_t wishes[] = {0, UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
                                      UCP_OP_ATTR_FLAG_FAST_CMPL,
                                      UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL,
                                      UCP_OP_ATTR_FLAG_MULTI_SEND};
    am_seen_t seen                 = {0};
    local_t local;
    size_t i, l, h;

    am_open(&local);
    am_set(&local, ID, 0, &seen);
    for (i = 0; i < COUNT(wishes); ++i) {
        for (l = 0; l < COUNT(lengths); ++l) {
            for (h = 0; h < COUNT(header_lengths); ++h) {
                ucp_request_param_t param = {
                    .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                    UCP_OP_ATTR_FIELD_USER_DATA |
                                    UCP_OP_ATTR_FIELD_FLAGS | wishes[i],
                    .flags     = UCP_AM_SEND_FLAG_EAGER,
                    .cb.send   = on_sent,
                    .user_data = &sent,
                };
                ucs_status_ptr_t ret;

                sent = seen.calls = 0;
                am_fill(am_header, header_lengths[h], 1);
                am_fill(am_data, lengths[l], 2);
                ret = ucp_am_send_nbx(local.ep, ID, am_header,
                                      header_lengths[h], am_data, lengths[l],
                                      &param);
                am_await(&local, &seen, 1);
                ck_assert_uint_eq(sent, UCS_PTR_IS_PTR(ret) ? 1 : 0);
                if (wishes[i] == UCP_OP_ATTR_FLAG_NO_IMM_CMPL) {
                    ck_assert(UCS_PTR_IS_PTR(ret));
                } else {
                    ck_assert_ptr_null(ret);
                }
            }
        }
    }
    local_close(&local);
}
END_TEST

START_TEST(a_send_that_must_be_immediate_fails_when_it_cannot)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL,
    };
    am_seen_t seen = {0};
    ucs_status_ptr_t send;
    local_t local;

    setenv("UCX_SELF_QUEUE_LEN", "1", 1);
    am_open(&local);
    am_set(&local, ID, 0, &seen);
    send = am_send(&local, ID, 0, 8, 0);
    ck_assert_int_eq(am_status(ucp_am_send_nbx(local.ep, ID, NULL, 0, am_data,
                                               8, &param)),
                     UCS_ERR_NO_RESOURCE);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_AM_SEND_FLAG_COPY_HEADER;
    ck_assert_int_eq(am_status(ucp_am_send_nbx(local.ep, ID, am_header, 8,
                                               am_data, 8, &param)),
                     UCS_ERR_NO_RESOURCE);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    am_settle(&local);
    ck_assert_uint_eq(seen.calls, 1);
    ck_assert_int_eq(am_status(ucp_am_send_nbx(local.ep, ID, NULL, 0, am_data,
                                               1 << 20, &param)),
                     UCS_ERR_NO_RESOURCE);
    local_close(&local);
    unsetenv("UCX_SELF_QUEUE_LEN");
}
END_TEST

START_TEST(pieces_of_memory_arrive_as_one)
{
    am_seen_t seen = {0};
    ucp_dt_iov_t iov[1000];
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_iov(),
    };
    size_t count, i, length;
    local_t local;

    am_open(&local);
    am_set(&local, ID, 0, &seen);
    am_fill(am_header, 9, 1);
    am_fill(am_data, 5000, 2);
    for (count = 1; count <= 1000; count = count * 3 + 1) {
        for (i = 0, length = 0; i < count; ++i) {
            iov[i].buffer = am_data + length;
            iov[i].length = i % 5;
            length += i % 5;
        }
        seen.calls = 0;
        ck_assert_int_eq(local_wait(&local,
                                    ucp_am_send_nbx(local.ep, ID, am_header, 9,
                                                    iov, count, &param)),
                         UCS_OK);
        am_await(&local, &seen, 1);
        ck_assert_uint_eq(seen.length, length);
    }
    local_close(&local);
}
END_TEST

START_TEST(sends_that_wait_end_with_the_endpoint)
{
    ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };
    ucs_status_ptr_t sends[8];
    am_seen_t seen = {0};
    local_t local;
    int i;

    setenv("UCX_SELF_QUEUE_LEN", "1", 1);
    am_open(&local);
    am_set(&local, ID, 0, &seen);
    for (i = 0; i < 8; ++i) {
        sends[i] = am_send(&local, ID, 32, (size_t)i * 30000,
                           UCP_AM_SEND_FLAG_COPY_HEADER |
                               ((i % 2) ? UCP_AM_SEND_FLAG_REPLY : 0));
    }
    ck_assert_ptr_null(ucp_ep_close_nbx(local.ep, &force));
    for (i = 1; i < 8; ++i) {
        ck_assert_int_eq(local_wait(&local, sends[i]), UCS_ERR_CANCELED);
    }
    am_settle(&local);
    ucp_worker_destroy(local.worker);
    ucp_cleanup(local.context);
    unsetenv("UCX_SELF_QUEUE_LEN");
}
END_TEST

/* ------------------------------------------------------ deprecated calls -- */

static struct {
    unsigned calls;
    size_t length;
    ucp_ep_h reply_ep;
    unsigned flags;
    void *data;
    ucs_status_t answer;
} old;

static ucs_status_t on_old(void *arg, void *data, size_t length,
                           ucp_ep_h reply_ep, unsigned flags)
{
    ck_assert_ptr_eq(arg, &old);
    am_check(data, length, 2);
    ++old.calls;
    old.length   = length;
    old.reply_ep = reply_ep;
    old.flags    = flags;
    old.data     = data;
    return (flags & UCP_CB_PARAM_FLAG_DATA) ? old.answer : UCS_OK;
}

static void old_sent(void *request, ucs_status_t status)
{
    ck_assert_int_eq(status, UCS_OK);
    ++sent;
    ucp_request_free(request);
}

START_TEST(the_old_calls_send_and_handle)
{
    static const size_t sizes[] = {0, 8, 1000, 5000};
    local_t local;
    size_t i;
    int reply;

    am_open(&local);
    ck_assert_int_eq(ucp_worker_set_am_handler(local.worker, ID, on_old, &old,
                                               UCP_AM_FLAG_WHOLE_MSG),
                     UCS_OK);
    for (i = 0; i < COUNT(sizes); ++i) {
        for (reply = 0; reply < 2; ++reply) {
            ucs_status_ptr_t ret;

            old.calls = sent = 0;
            old.answer       = reply ? UCS_INPROGRESS : UCS_OK;
            am_fill(am_data, sizes[i], 2);
            ret = ucp_am_send_nb(local.ep, ID, am_data, sizes[i],
                                 ucp_dt_make_contig(1), old_sent,
                                 reply ? UCP_AM_SEND_REPLY : 0);
            ck_assert(!UCS_PTR_IS_ERR(ret));
            while ((old.calls == 0) || (UCS_PTR_IS_PTR(ret) && !sent)) {
                ucp_worker_progress(local.worker);
            }
            ck_assert_uint_eq(old.length, sizes[i]);
            ck_assert_int_eq(old.reply_ep != NULL, reply);
            if (reply && (old.flags & UCP_CB_PARAM_FLAG_DATA)) {
                am_check(old.data, sizes[i], 2);
                ucp_am_data_release(local.worker, old.data);
            }
        }
    }
    local_close(&local);
}
END_TEST

START_TEST(old_and_new_am_handlers_are_not_mixed)
{
    am_seen_t seen = {0};
    local_t local;

    am_open(&local);
    old.calls = 0;
    am_set(&local, ID, 0, &seen);
    ck_assert_int_eq(ucp_worker_set_am_handler(local.worker, ID + 1, on_old,
                                               &old, 0),
                     UCS_OK);
    ck_assert_ptr_null(ucp_am_send_nb(local.ep, ID, am_data, 8,
                                      ucp_dt_make_contig(1), NULL, 0));
    ck_assert_ptr_null(am_send(&local, ID + 1, 0, 8, 0));
    am_settle(&local);
    ck_assert_uint_eq(seen.calls + old.calls, 0);
    /* a handler set by the new or the deprecated call replaces the other one */
    am_set(&local, ID + 1, 0, &seen);
    ck_assert_ptr_null(am_send(&local, ID + 1, 0, 8, 0));
    am_await(&local, &seen, 1);
    ck_assert_int_eq(ucp_worker_set_am_handler(local.worker, ID + 1, on_old,
                                               &old, 0),
                     UCS_OK);
    ck_assert_int_eq(ucp_worker_set_am_handler(local.worker, ID + 1, NULL, NULL,
                                               0),
                     UCS_OK);
    local_close(&local);
}
END_TEST

/* --------------------------------------------------------------- threads -- */

enum { THREADS = 4, MESSAGES = 200 };

typedef struct {
    local_t *local;
    unsigned id;
    unsigned bad;
    /* Data that the handler has kept and the thread has not taken; NULL:
     * none */
    void *arrived;
} am_thread_t;

static ucs_status_t hand_over(void *arg, const void *header,
                              size_t header_length, void *data, size_t length,
                              const ucp_am_recv_param_t *param)
{
    am_thread_t *self = arg;

    __atomic_store_n(&self->arrived, data, __ATOMIC_RELEASE);
    return UCS_INPROGRESS;
}

static size_t thread_size(unsigned message)
{
    return (message % 16 == 0) ? 100000 : message * 5;
}

/* Thread function: sends to its own handler, and receives the data that the
 * handler keeps. */
static void *converse(void *arg)
{
    const ucp_request_param_t reply = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_AM_SEND_FLAG_REPLY,
    };
    am_thread_t *self = arg;
    char *out         = malloc(100000);
    char *in          = malloc(100000);
    ucs_status_ptr_t send, recv;
    unsigned i;
    void *data;

    for (i = 0; i < MESSAGES; ++i) {
        size_t size = thread_size(i);

        memset(out, (int)(i + self->id), size);
        send = ucp_am_send_nbx(self->local->ep, self->id, NULL, 0, out, size,
                               (i & 1) ? &reply : &am_none);
        while ((data = __atomic_exchange_n(&self->arrived, NULL,
                                           __ATOMIC_ACQUIRE)) == NULL) {
            ucp_worker_progress(self->local->worker);
            sched_yield();
        }
        recv = ucp_am_recv_data_nbx(self->local->worker, data, in, size,
                                    &am_none);
        self->bad += (local_wait(self->local, recv) != UCS_OK);
        self->bad += (local_wait(self->local, send) != UCS_OK);
        self->bad += (memcmp(in, out, size) != 0);
    }
    free(in);
    free(out);
    return NULL;
}

START_TEST(threads_share_one_worker)
{
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .flags = UCP_AM_FLAG_PERSISTENT_DATA,
        .cb    = hand_over,
    };
    am_thread_t threads[THREADS];
    pthread_t ids[THREADS];
    local_t local;
    unsigned i;

    local_open_mode(&local, UCP_FEATURE_AM, UCS_THREAD_MODE_MULTI);
    for (i = 0; i < THREADS; ++i) {
        threads[i] = (am_thread_t){&local, i, 0, NULL};
        param.id   = i;
        param.arg  = &threads[i];
        ck_assert_int_eq(ucp_worker_set_am_recv_handler(local.worker, &param),
                         UCS_OK);
    }
    for (i = 0; i < THREADS; ++i) {
        ck_assert_int_eq(pthread_create(&ids[i], NULL, converse, &threads[i]),
                         0);
    }
    for (i = 0; i < THREADS; ++i) {
        pthread_join(ids[i], NULL);
        ck_assert_uint_eq(threads[i].bad, 0);
    }
    local_close(&local);
}
END_TEST

SUITE_MAIN("active messages, sending", what_cannot_be_sent_is_refused,
           a_copied_header_may_change_at_once,
           a_send_completes_as_it_is_asked_to,
           a_send_that_must_be_immediate_fails_when_it_cannot,
           pieces_of_memory_arrive_as_one,
           sends_that_wait_end_with_the_endpoint, the_old_calls_send_and_handle,
           old_and_new_am_handlers_are_not_mixed, threads_share_one_worker)
