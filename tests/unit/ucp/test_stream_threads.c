/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of several threads on one worker in multi-threaded mode. Each thread
 * has an endpoint to that worker.
 */
#include "stream.h"

#include <pthread.h>
#include <sched.h>

enum { THREADS = 4, MESSAGES = 300 };

typedef struct {
    local_t *local;
    /* To the same worker: the thread's stream starts and ends here */
    ucp_ep_h ep;
    size_t bad;
} thread_t;

static ucs_status_t wait_shared(local_t *local, ucs_status_ptr_t request)
{
    ucs_status_t status = local_wait(local, request);

    sched_yield();
    return status;
}

static void *converse(void *arg)
{
    ucp_request_param_t wait_all = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
        .flags        = UCP_STREAM_RECV_FLAG_WAITALL,
    };
    thread_t *self = arg;
    char *out = malloc(20000), *in = malloc(20000);
    ucs_status_ptr_t send, recv;
    size_t place = 0, size, length, i;
    int n;

    for (n = 0; n < MESSAGES; ++n) {
        size = (n % 16 == 0) ? 20000 : 1 + n % 300;
        stream_fill(out, size, place);
        send = ucp_stream_send_nbx(self->ep, out, size, &stream_none);
        recv = ucp_stream_recv_nbx(self->ep, in, size, &length, &wait_all);
        self->bad += (wait_shared(self->local, recv) != UCS_OK);
        self->bad += (wait_shared(self->local, send) != UCS_OK);
        for (i = 0; i < size; ++i) {
            self->bad += (in[i] != stream_byte(place + i));
        }
        place += size;
    }
    free(in);
    free(out);
    return NULL;
}

START_TEST(threads_have_streams_of_their_own_on_one_worker)
{
    thread_t threads[THREADS];
    pthread_t ids[THREADS];
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    local_t local;
    int i;

    local_open_mode(&local, UCP_FEATURE_STREAM, UCS_THREAD_MODE_MULTI);
    ck_assert_int_eq(ucp_worker_query(local.worker, &attr), UCS_OK);
    params.address = attr.address;
    for (i = 0; i < THREADS; ++i) {
        threads[i] = (thread_t){.local = &local};
        ck_assert_int_eq(ucp_ep_create(local.worker, &params, &threads[i].ep),
                         UCS_OK);
    }
    ucp_worker_release_address(local.worker, attr.address);
    for (i = 0; i < THREADS; ++i) {
        ck_assert_int_eq(pthread_create(&ids[i], NULL, converse, &threads[i]),
                         0);
    }
    for (i = 0; i < THREADS; ++i) {
        pthread_join(ids[i], NULL);
        ck_assert_uint_eq(threads[i].bad, 0);
        stream_close(&local, threads[i].ep, 0);
    }
    local_close(&local);
}
END_TEST

SUITE_MAIN("stream threads", threads_have_streams_of_their_own_on_one_worker)
