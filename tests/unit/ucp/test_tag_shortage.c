/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives of unexpected messages while there is no memory for requests.
 */
#include "local.h"
#include "ucp/base/request.h"
#include "ucp/base/worker.h"

/* Takes all requests of the worker, which gets no more memory for others.
 * Returns the number of requests in `taken`. */
static unsigned take_requests(ucp_worker_h worker, ucp_request_t **taken,
                              unsigned max)
{
    unsigned count = 0;

    worker->requests.data->max_elems = worker->requests.data->num_elems;
    while ((taken[count] = ucp_request_get_internal(worker)) != NULL) {
        ++count;
        ck_assert_uint_lt(count, max);
    }
    return count;
}

/* A message whose data has not arrived yet, announced or in fragments, is not
 * lost if there is no memory for the request of its receive. */
START_TEST(a_message_stays_if_there_is_no_request)
{
    enum { SIZE = 1 << 20, MAX = 65536 };
    static const char *const thresholds[] = {"8k", "inf"};
    ucp_request_t **taken                 = malloc(MAX * sizeof(*taken));
    char *out = malloc(SIZE), *in = calloc(1, SIZE);
    ucs_status_ptr_t send;
    unsigned count, i;
    local_t local;

    memset(out, 's', SIZE);
    ck_assert_int_eq(setenv("UCX_SELF_QUEUE_LEN", "4", 1), 0);
    for (i = 0; i < 2; ++i) {
        ck_assert_int_eq(setenv("UCX_RNDV_THRESH", thresholds[i], 1), 0);
        local_open(&local);
        send = local_send(&local, out, SIZE, 9);
        local_await(&local, 9);
        count = take_requests(local.worker, taken, MAX);
        ck_assert_ptr_eq(local_recv(&local, in, SIZE, 9),
                         UCS_STATUS_PTR(UCS_ERR_NO_MEMORY));
        while (count > 0) {
            ucp_request_put(taken[--count]);
        }
        ck_assert_int_eq(local_wait(&local, local_recv(&local, in, SIZE, 9)),
                         UCS_OK);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        ck_assert_mem_eq(in, out, SIZE);
        memset(in, 0, SIZE);
        local_close(&local);
    }
    ck_assert_int_eq(unsetenv("UCX_RNDV_THRESH"), 0);
    ck_assert_int_eq(unsetenv("UCX_SELF_QUEUE_LEN"), 0);
    free(taken);
    free(in);
    free(out);
}
END_TEST

SUITE_MAIN("shortage of tagged messages",
           a_message_stays_if_there_is_no_request)
