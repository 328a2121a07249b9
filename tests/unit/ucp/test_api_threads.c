/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that share a context, each with its own worker, and threads that each
 * have their own context. The thread sanitizer detects data races.
 */
#include "api.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 60, SIZE = 100000 };

static void *map_and_pass(void *arg)
{
    ucp_context_h context             = arg;
    ucp_worker_params_t worker_params = {0};
    ucp_ep_params_t ep_params         = {0};
    char *memory = calloc(1, SIZE), *data = calloc(1, SIZE);
    ucp_mem_map_params_t map = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = memory,
        .length  = SIZE,
    };
    ucp_request_param_t none = {0};
    local_t local            = {.context = context};
    ucs_status_ptr_t send;
    ucp_rkey_h rkey;
    ucp_mem_h memh;
    size_t size;
    void *key;
    int i;

    ck_assert_int_eq(ucp_worker_create(context, &worker_params, &local.worker),
                     UCS_OK);
    local.ep = connect_self(local.worker, &ep_params);
    for (i = 0; i < ROUNDS; ++i) {
        ck_assert_int_eq(ucp_mem_map(context, &map, &memh), UCS_OK);
        ck_assert_int_eq(ucp_memh_pack(memh, NULL, &key, &size), UCS_OK);
        ck_assert_int_eq(ucp_ep_rkey_unpack(local.ep, key, &rkey), UCS_OK);
        ucp_memh_buffer_release(key, NULL);
        memset(data, i, SIZE);
        ck_assert_int_eq(local_wait(&local, ucp_put_nbx(local.ep, data, SIZE,
                                                        (uintptr_t)memory, rkey,
                                                        &none)),
                         UCS_OK);
        ck_assert_int_eq(local_wait(&local, ucp_ep_flush_nbx(local.ep, &none)),
                         UCS_OK);
        ck_assert_int_eq(memory[SIZE - 1], (char)i);

        send = local_send(&local, memory, SIZE, 1);
        ck_assert_int_eq(local_wait(&local, local_recv(&local, data, SIZE, 1)),
                         UCS_OK);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        ck_assert_int_eq(data[0], (char)i);
        ucp_rkey_destroy(rkey);
        ck_assert_int_eq(ucp_mem_unmap(context, memh), UCS_OK);
    }
    close_ep(&local, local.ep);
    ucp_worker_destroy(local.worker);
    free(data);
    free(memory);
    return NULL;
}

START_TEST(workers_of_several_threads_share_a_context)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES |
                      UCP_PARAM_FIELD_MT_WORKERS_SHARED,
        .features          = UCP_FEATURE_TAG | UCP_FEATURE_RMA,
        .mt_workers_shared = 1,
    };
    pthread_t threads[THREADS];
    ucp_context_h context;
    int i;

    ck_assert_int_eq(ucp_init(&params, NULL, &context), UCS_OK);
    for (i = 0; i < THREADS; ++i) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, map_and_pass,
                                        context),
                         0);
    }
    for (i = 0; i < THREADS; ++i) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    ucp_cleanup(context);
}
END_TEST

static void *open_and_close(void *arg)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG | UCP_FEATURE_RMA,
    };
    ucp_context_h context;
    int i;

    for (i = 0; i < 5; ++i) {
        ck_assert_int_eq(ucp_init(&params, NULL, &context), UCS_OK);
        map_and_pass(context);
        ucp_cleanup(context);
    }
    return NULL;
}

START_TEST(contexts_of_several_threads_know_nothing_of_each_other)
{
    pthread_t threads[THREADS];
    int i;

    for (i = 0; i < THREADS; ++i) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, open_and_close,
                                        NULL),
                         0);
    }
    for (i = 0; i < THREADS; ++i) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
}
END_TEST

SUITE_MAIN("threads with workers of their own",
           workers_of_several_threads_share_a_context,
           contexts_of_several_threads_know_nothing_of_each_other)
