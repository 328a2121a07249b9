/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the API that read the configuration of an endpoint or of a key,
 * which another thread may replace: they must hold the worker's lock. The test
 * holds the lock while another thread calls such a function. Meanwhile the
 * pointers to the configurations lead to a page without access rights, so that
 * a read without the lock crashes.
 */
#include "rma.h"

#include "ucp/proto/lane.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { AM_ID = 1, THREADS = 8, ROUNDS = 200, PAGE = 4096 };

typedef struct {
    local_t local;
    uint64_t memory;
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    ucp_rkey_h twin; /* Another key of the same memory */
    FILE *null;
} use_t;

static ucs_status_t drop(void *arg, const void *header, size_t header_length,
                         void *data, size_t length,
                         const ucp_am_recv_param_t *param)
{
    return UCS_OK;
}

static void open_use(use_t *use)
{
    ucp_mem_map_params_t map = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = &use->memory,
        .length  = sizeof(use->memory),
    };
    ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB,
        .id = AM_ID,
        .cb = drop,
    };

    memset(use, 0, sizeof(*use));
    local_open_mode(&use->local,
                    UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_RMA |
                        UCP_FEATURE_AMO64,
                    UCS_THREAD_MODE_MULTI);
    ck_assert_int_eq(ucp_worker_set_am_recv_handler(use->local.worker,
                                                    &handler),
                     UCS_OK);
    ck_assert_int_eq(ucp_mem_map(use->local.context, &map, &use->memh), UCS_OK);
    use->rkey = unpack_key(use->local.ep, use->memh);
    use->twin = unpack_key(use->local.ep, use->memh);
    use->null = fopen("/dev/null", "w");
    ck_assert_ptr_nonnull(use->null);
}

static void close_use(use_t *use)
{
    fclose(use->null);
    ucp_rkey_destroy(use->twin);
    ucp_rkey_destroy(use->rkey);
    ck_assert_int_eq(ucp_mem_unmap(use->local.context, use->memh), UCS_OK);
    local_close(&use->local);
}

/* ----------------------------------------------------------------- calls -- */

static ucs_status_t am_send(use_t *use)
{
    uint64_t data = 1;

    return local_wait(&use->local,
                      ucp_am_send_nbx(use->local.ep, AM_ID, NULL, 0, &data,
                                      sizeof(data), &plain));
}

static ucs_status_t tag_exchange(use_t *use)
{
    uint64_t out          = 2, in;
    ucs_status_ptr_t send = local_send(&use->local, &out, sizeof(out), 1);
    ucs_status_t status;

    status = local_wait(&use->local,
                        local_recv(&use->local, &in, sizeof(in), 1));
    return (status == UCS_OK) ? local_wait(&use->local, send) : status;
}

static ucs_status_t put(use_t *use)
{
    uint64_t data = 3;

    return local_wait(&use->local,
                      ucp_put_nbx(use->local.ep, &data, sizeof(data),
                                  (uintptr_t)&use->memory, use->rkey, &plain));
}

static ucs_status_t get(use_t *use)
{
    uint64_t data;

    return local_wait(&use->local,
                      ucp_get_nbx(use->local.ep, &data, sizeof(data),
                                  (uintptr_t)&use->memory, use->rkey, &plain));
}

static ucs_status_t atomic_add(use_t *use)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_contig(sizeof(uint64_t)),
    };
    uint64_t data = 4;

    return local_wait(&use->local,
                      ucp_atomic_op_nbx(use->local.ep, UCP_ATOMIC_OP_ADD, &data,
                                        1, (uintptr_t)&use->memory, use->rkey,
                                        &param));
}

static ucs_status_t key_pointer(use_t *use)
{
    ucs_status_t status;
    void *pointer;

    status = ucp_rkey_ptr(use->rkey, (uintptr_t)&use->memory, &pointer);
    return (status == UCS_ERR_UNREACHABLE) ? UCS_OK : status;
}

/* Only the status of the call is checked. The order is not: a transfer with one
 * of the two keys may make the keys differ. */
static ucs_status_t key_order(use_t *use)
{
    ucp_rkey_compare_params_t params = {0};
    int result;

    return ucp_rkey_compare(use->local.worker, use->rkey, use->twin, &params,
                            &result);
}

static ucs_status_t query(use_t *use)
{
    ucp_transport_entry_t entries[UCP_MAX_LANES];
    ucp_ep_attr_t attr = {
        .field_mask = UCP_EP_ATTR_FIELD_NAME | UCP_EP_ATTR_FIELD_TRANSPORTS,
        .transports =
            {
                .entries     = entries,
                .num_entries = UCP_MAX_LANES,
                .entry_size  = sizeof(entries[0]),
            },
    };
    ucs_status_t status = ucp_ep_query(use->local.ep, &attr);

    return ((status == UCS_OK) && (attr.transports.num_entries == 0)) ?
               UCS_ERR_NO_ELEM :
               status;
}

static ucs_status_t evaluate(use_t *use)
{
    ucp_ep_evaluate_perf_param_t param = {
        .field_mask   = UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE,
        .message_size = 8,
    };
    ucp_ep_evaluate_perf_attr_t attr = {
        .field_mask = UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME,
    };

    return ucp_ep_evaluate_perf(use->local.ep, &param, &attr);
}

static ucs_status_t print(use_t *use)
{
    ucp_ep_print_info(use->local.ep, use->null);
    return UCS_OK;
}

static const struct {
    const char *name;
    ucs_status_t (*run)(use_t *use);
} calls[] = {
    {"ucp_am_send_nbx", am_send},
    {"ucp_tag_send_nbx", tag_exchange},
    {"ucp_put_nbx", put},
    {"ucp_get_nbx", get},
    {"ucp_atomic_op_nbx", atomic_add},
    {"ucp_rkey_ptr", key_pointer},
    {"ucp_rkey_compare", key_order},
    {"ucp_ep_query", query},
    {"ucp_ep_evaluate_perf", evaluate},
    {"ucp_ep_print_info", print},
};

enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

/* ----------------------------------------------------------------- tests -- */

typedef struct {
    use_t *use;
    unsigned call;
    atomic_int tid; /* Id of the calling thread; 0: it has not started */
    atomic_int done;
    ucs_status_t status;
} caller_t;

static void *call_once(void *arg)
{
    caller_t *caller = arg;

    atomic_store(&caller->tid, (int)syscall(SYS_gettid));
    caller->status = calls[caller->call].run(caller->use);
    atomic_store(&caller->done, 1);
    return NULL;
}

/* Waits until the calling thread sleeps: it then waits for the lock. */
static void await_blocked(caller_t *caller)
{
    double start = local_now();
    char path[64], stat[256], *state;
    FILE *file;

    do {
        ck_assert_msg(!atomic_load(&caller->done), "%s took no lock",
                      calls[caller->call].name);
        ck_assert(local_now() - start < LOCAL_LIMIT);
        sched_yield();
        state = NULL;
        if (atomic_load(&caller->tid) != 0) {
            snprintf(path, sizeof(path), "/proc/self/task/%d/stat",
                     atomic_load(&caller->tid));
            file = fopen(path, "r");
            if (file != NULL) {
                state = (fgets(stat, sizeof(stat), file) != NULL) ?
                            strrchr(stat, ')') :
                            NULL;
                fclose(file);
            }
        }
    } while ((state == NULL) || (state[2] != 'S'));
}

START_TEST(configurations_are_read_with_the_lock)
{
    const ucp_ep_config_t *ep_config;
    const ucp_rma_config_t *rkey_config, *twin_config;
    caller_t caller;
    pthread_t thread;
    use_t use;
    void *page;
    unsigned i;

    open_use(&use);
    page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(page != MAP_FAILED);
    for (i = 0; i < CALLS; ++i) {
        memset(&caller, 0, sizeof(caller));
        caller.use  = &use;
        caller.call = i;

        ucp_worker_enter(use.local.worker);
        ep_config            = use.local.ep->config;
        rkey_config          = use.rkey->config;
        twin_config          = use.twin->config;
        use.local.ep->config = page;
        use.rkey->config     = page;
        use.twin->config     = page;
        ck_assert_int_eq(pthread_create(&thread, NULL, call_once, &caller), 0);
        await_blocked(&caller);
        use.local.ep->config = ep_config;
        use.rkey->config     = rkey_config;
        use.twin->config     = twin_config;
        ucp_worker_leave(use.local.worker);

        pthread_join(thread, NULL);
        ck_assert_msg(caller.status == UCS_OK, "%s: %s", calls[i].name,
                      ucs_status_string(caller.status));
    }
    munmap(page, PAGE);
    close_use(&use);
}
END_TEST

typedef struct {
    use_t *use;
    atomic_int *left; /* Number of threads that still run */
    unsigned bad;
} busy_t;

static void *call_all(void *arg)
{
    busy_t *busy = arg;
    unsigned i;

    for (i = 0; i < ROUNDS; ++i) {
        /* The last call in the table prints, which is slow: it runs in the
         * first round only. */
        busy->bad += (calls[i % (CALLS - (i >= CALLS))].run(busy->use) !=
                      UCS_OK);
    }
    atomic_fetch_sub(busy->left, 1);
    return NULL;
}

/* Threads make all calls while the main thread alternates between two
 * configurations of the endpoint. The thread sanitizer detects reads without
 * the lock. */
START_TEST(threads_call_while_configurations_change)
{
    const ucp_ep_config_t *both[2];
    atomic_int left = THREADS;
    busy_t busy[THREADS];
    pthread_t ids[THREADS];
    ucp_worker_h worker;
    unsigned i;
    use_t use;

    open_use(&use);
    worker  = use.local.worker;
    both[0] = use.local.ep->config;
    both[1] = ucp_ep_config_measured(worker, both[0], both[0]->measured + 1,
                                     both[0]->measured_copy);
    ck_assert_ptr_nonnull(both[1]);
    ck_assert_ptr_ne(both[0], both[1]);
    for (i = 0; i < THREADS; ++i) {
        busy[i] = (busy_t){&use, &left, 0};
        ck_assert_int_eq(pthread_create(&ids[i], NULL, call_all, &busy[i]), 0);
    }
    for (i = 0; atomic_load(&left) > 0; ++i) {
        ucp_worker_enter(worker);
        use.local.ep->config = both[i & 1];
        ucp_worker_leave(worker);
        ucp_worker_progress(worker);
        sched_yield();
    }
    for (i = 0; i < THREADS; ++i) {
        pthread_join(ids[i], NULL);
        ck_assert_uint_eq(busy[i].bad, 0);
    }
    ck_assert_int_eq(local_wait(&use.local,
                                ucp_ep_flush_nbx(use.local.ep, &plain)),
                     UCS_OK);
    close_use(&use);
}
END_TEST

SUITE_MAIN("locked", configurations_are_read_with_the_lock,
           threads_call_while_configurations_change)
