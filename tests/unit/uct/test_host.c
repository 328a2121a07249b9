/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers, and services that the core offers to plugins (ucx_host_t): functions
 * of this table have their documented effect. test_rcache_events.c tests those
 * of the registration cache and of memory events. */
#include "common.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ucx/process.h>

#include "ucs/debug/log.h"
#include "uct/base/state.h"
#include "uct/base/worker.h"

static ucs_async_context_t *async;
static uct_worker_h worker;

static void setup(void)
{
    ck_ok(ucs_async_context_create(UCS_ASYNC_MODE_THREAD, &async));
    ck_ok(uct_worker_create(async, UCS_THREAD_MODE_MULTI, &worker));
}

static void teardown(void)
{
    uct_worker_destroy(worker);
    ucs_async_context_destroy(async);
}

/* --- Pools ------------------------------------------------------------------ */

typedef struct chunks {
    unsigned allocated, freed, inited;
    size_t enlarge; /* Bytes that chunk_alloc() adds to the requested size */
    /* Number of chunks after which chunk_alloc() fails; 0: it never fails */
    unsigned fail_after;
} chunks_t;

static ucs_status_t chunk_alloc(void *arg, size_t *size, void **chunk_p)
{
    chunks_t *chunks = arg;

    if ((chunks->fail_after > 0) && (chunks->allocated >= chunks->fail_after)) {
        return UCS_ERR_NO_MEMORY;
    }
    *size += chunks->enlarge;
    *chunk_p = malloc(*size);
    ++chunks->allocated;
    return UCS_OK;
}

static void chunk_free(void *arg, void *chunk)
{
    ++((chunks_t *)arg)->freed;
    free(chunk);
}

static void elem_init(void *arg, void *elem, void *chunk)
{
    ++((chunks_t *)arg)->inited;
    ck_assert((char *)elem >= (char *)chunk);
}

START_TEST(pool_elements_are_aligned_and_apart)
{
    const ucx_mpool_params_t params = {
        .size            = sizeof(params),
        .name            = "aligned",
        .elem_size       = 100,
        .align_offset    = 40,
        .alignment       = 256,
        .elems_per_chunk = 3,
        .max_elems       = 10,
    };
    void *elems[10];
    ucx_mpool_t *mpool;
    unsigned i;

    ck_ok(uct_host.mpool_create(&params, &mpool));
    for (i = 0; i < 10; ++i) {
        elems[i] = ucx_mpool_get(&uct_host, mpool);
        ck_assert_ptr_nonnull(elems[i]);
        ck_assert_uint_eq(((uintptr_t)elems[i] + 40) % 256, 0);
        memset(elems[i], (int)i, 100);
    }
    /* the limit of elements is reached */
    ck_assert_ptr_null(ucx_mpool_get(&uct_host, mpool));
    for (i = 0; i < 10; ++i) {
        ck_assert_int_eq(((char *)elems[i])[99], (char)i);
        ucx_mpool_put(mpool, elems[i]);
    }
    ck_assert_ptr_eq(ucx_mpool_get(&uct_host, mpool), elems[9]);
    ucx_mpool_put(mpool, elems[9]);
    uct_host.mpool_destroy(mpool);
}
END_TEST

/* Without UCX_STATS nothing is counted: counters_create() is not supported.
 * tests/plugins/udp/counters.py tests counters that are enabled. */
START_TEST(counters_are_rejected_with_a_status)
{
    static const char *const names[] = {
        "a",
        "a name of a counter that is longer than the space for it",
    };
    ucx_counters_params_t params = {
        .size         = sizeof(params),
        .type         = "fake",
        .name         = "first",
        .counters     = names,
        .num_counters = 1,
    };
    uint64_t *values;

    ck_status(uct_host.counters_create(&params, &values), UCS_ERR_UNSUPPORTED);
    ck_assert_ptr_null(ucx_counters_create(&uct_host, &params));
    ucx_counter_add(NULL, 0, 1);
    ucx_counters_destroy(&uct_host, NULL);

    params.num_counters = 2;
    ck_status(uct_host.counters_create(&params, &values),
              UCS_ERR_INVALID_PARAM);
    params.num_counters = 0;
    ck_status(uct_host.counters_create(&params, &values),
              UCS_ERR_INVALID_PARAM);
    params.num_counters = 1;
    params.type         = "a type with a name that is too long";
    ck_status(uct_host.counters_create(&params, &values),
              UCS_ERR_INVALID_PARAM);
    params.type = NULL;
    ck_status(uct_host.counters_create(&params, &values),
              UCS_ERR_INVALID_PARAM);
}
END_TEST

/* am_align_offset, which a user sets, may be odd. */
START_TEST(pool_aligns_an_odd_offset)
{
    const ucx_mpool_params_t params = {
        .size            = sizeof(params),
        .name            = "odd",
        .elem_size       = 40,
        .align_offset    = 13,
        .alignment       = 16,
        .elems_per_chunk = 2,
        .max_elems       = 5,
    };
    void *elems[5];
    ucx_mpool_t *mpool;
    unsigned i;

    ck_ok(uct_host.mpool_create(&params, &mpool));
    for (i = 0; i < 5; ++i) {
        elems[i] = ucx_mpool_get(&uct_host, mpool);
        ck_assert_ptr_nonnull(elems[i]);
        ck_assert_uint_eq(((uintptr_t)elems[i] + 13) % 16, 0);
        memset(elems[i], (int)i, 40);
    }
    ck_assert_ptr_null(ucx_mpool_get(&uct_host, mpool));
    for (i = 0; i < 5; ++i) {
        ck_assert_int_eq(((char *)elems[i])[39], (char)i);
        ucx_mpool_put(mpool, elems[i]);
    }
    for (i = 5; i-- > 0;) {
        ck_assert_ptr_eq(ucx_mpool_get(&uct_host, mpool), elems[i]);
    }
    for (i = 0; i < 5; ++i) {
        ucx_mpool_put(mpool, elems[i]);
    }
    uct_host.mpool_destroy(mpool);
}
END_TEST

START_TEST(pool_takes_chunks_of_the_plugins)
{
    chunks_t chunks                 = {.enlarge = 64 * 8, .fail_after = 2};
    const ucx_mpool_params_t params = {
        .size            = sizeof(params),
        .name            = "chunks",
        .elem_size       = 64,
        .alignment       = 64,
        .elems_per_chunk = 8,
        .max_elems       = UINT_MAX,
        .chunk_alloc     = chunk_alloc,
        .chunk_free      = chunk_free,
        .elem_init       = elem_init,
        .arg             = &chunks,
    };
    void *elem, *list = NULL;
    unsigned count = 0;
    ucx_mpool_t *mpool;

    ck_ok(uct_host.mpool_create(&params, &mpool));
    while ((elem = ucx_mpool_get(&uct_host, mpool)) != NULL) {
        *(void **)elem = list;
        list           = elem;
        ++count;
    }
    ck_assert_uint_eq(chunks.allocated, 2);
    /* the additional bytes of the enlarged chunks were used */
    ck_assert_uint_ge(count, 32);
    ck_assert_uint_eq(chunks.inited, count);
    while ((elem = list) != NULL) {
        list = *(void **)elem;
        ucx_mpool_put(mpool, elem);
    }
    uct_host.mpool_destroy(mpool);
    ck_assert_uint_eq(chunks.freed, 2);
}
END_TEST

static int count_warning(void *arg, const char *file, unsigned line,
                         const char *function, ucs_log_level_t level,
                         const char *message)
{
    *(unsigned *)arg += (strstr(message, "were not released") != NULL);
    return 1;
}

START_TEST(pool_reports_what_was_not_given_back)
{
    const ucx_mpool_params_t params = {
        .size      = sizeof(params),
        .name      = "leaky",
        .elem_size = 8,
        .alignment = 1,
        .max_elems = UINT_MAX,
    };
    unsigned warnings = 0;
    ucx_mpool_t *mpool;

    ck_ok(uct_host.mpool_create(&params, &mpool));
    ck_assert_ptr_nonnull(ucx_mpool_get(&uct_host, mpool));
    ucs_log_hook_set(count_warning, &warnings);
    uct_host.mpool_destroy(mpool);
    ucs_log_hook_set(NULL, NULL);
    ck_assert_uint_eq(warnings, 1);
}
END_TEST

START_TEST(impossible_pools_are_refused)
{
    ucx_mpool_params_t good = {
        .size      = sizeof(good),
        .elem_size = 64,
        .alignment = 8,
        .max_elems = 1,
    };
    ucx_mpool_params_t params;
    ucx_mpool_t *mpool;

    ucs_log_level_set(UCS_LOG_LEVEL_FATAL);
#define REFUSED(_member, _value) \
    params         = good; \
    params._member = _value; \
    ck_status(uct_host.mpool_create(&params, &mpool), UCS_ERR_INVALID_PARAM)

    REFUSED(alignment, 0);
    REFUSED(alignment, 24);
    REFUSED(alignment, 8192);
    REFUSED(elem_size, 4);
    REFUSED(elem_size, SIZE_MAX);
    REFUSED(align_offset, 65);
    REFUSED(max_elems, 0);
    REFUSED(size, 16);
    ucs_log_level_set(UCS_LOG_LEVEL_WARN);
}
END_TEST

/* --- Progress ------------------------------------------------------------------ */

typedef struct calls {
    unsigned count;
    unsigned answer;
    uct_worker_h worker;
    int id;
} calls_t;

static unsigned on_progress(void *arg)
{
    calls_t *calls = arg;

    ++calls->count;
    return calls->answer;
}

static unsigned on_progress_leave(void *arg)
{
    calls_t *calls = arg;

    uct_host.progress_remove(calls->worker, calls->id);
    return on_progress(arg);
}

START_TEST(progress_callbacks_are_summed_and_removed)
{
    calls_t a = {.answer = 2}, b = {.answer = 3, .worker = worker};

    ck_ok(uct_host.progress_add(worker, on_progress, &a, &a.id));
    ck_ok(uct_host.progress_add(worker, on_progress_leave, &b, &b.id));
    ck_assert_uint_eq(uct_worker_progress(worker), 5);
    ck_assert_uint_eq(uct_worker_progress(worker), 2);
    uct_host.progress_remove(worker, a.id);
    ck_assert_uint_eq(uct_worker_progress(worker), 0);
    ck_assert_uint_eq(a.count, 2);
    ck_assert_uint_eq(b.count, 1);
}
END_TEST

START_TEST(safe_registration_follows_the_id)
{
    calls_t calls         = {.answer = 1};
    uct_worker_cb_id_t id = UCS_CALLBACKQ_ID_NULL;
    uct_worker_cb_id_t copy;

    uct_worker_progress_register_safe(worker, on_progress, &calls, 0, &id);
    ck_assert_int_ne(id, UCS_CALLBACKQ_ID_NULL);
    copy = id;
    uct_worker_progress_register_safe(worker, on_progress, &calls, 0, &id);
    ck_assert_int_eq(id, copy);
    ck_assert_uint_eq(uct_worker_progress(worker), 1);
    uct_worker_progress_unregister_safe(worker, &id);
    ck_assert_int_eq(id, UCS_CALLBACKQ_ID_NULL);
    uct_worker_progress_unregister_safe(worker, &id);
    ck_assert_uint_eq(uct_worker_progress(worker), 0);

    uct_worker_progress_register_safe(worker, on_progress, &calls,
                                      UCS_CALLBACKQ_FLAG_ONESHOT, &id);
    ck_assert_uint_eq(uct_worker_progress(worker), 1);
    ck_assert_uint_eq(uct_worker_progress(worker), 0);
    ck_assert_uint_eq(calls.count, 2);
}
END_TEST

static void on_oneshot(void *arg)
{
    ++((calls_t *)arg)->count;
}

static void on_oneshot_again(void *arg)
{
    calls_t *calls = arg;

    ++calls->count;
    ck_ok(uct_host.progress_oneshot(calls->worker, on_oneshot_again, arg));
}

static void wake(void *arg)
{
    ++*(unsigned *)arg;
}

START_TEST(oneshots_run_once_and_wake)
{
    calls_t a = {0}, b = {0};
    unsigned woken = 0;

    uct_worker_set_wake(worker, wake, &woken);
    ck_ok(uct_host.progress_oneshot(worker, on_oneshot, &a));
    ck_ok(uct_host.progress_oneshot(worker, on_oneshot, &b));
    ck_ok(uct_host.progress_oneshot(worker, on_oneshot, &a));
    ck_assert_uint_eq(woken, 3);
    ck_assert(uct_worker_has_oneshots(worker));
    uct_host.progress_cancel(worker, on_oneshot, &a);
    ck_assert_uint_eq(uct_worker_progress(worker), 1);
    ck_assert_uint_eq(a.count, 0);
    ck_assert_uint_eq(b.count, 1);
    ck_assert(!uct_worker_has_oneshots(worker));
    ck_assert_uint_eq(uct_worker_progress(worker), 0);

    uct_worker_set_wake(worker, NULL, NULL);
    ck_ok(uct_host.progress_oneshot(worker, on_oneshot, &b));
    ck_assert_uint_eq(woken, 3);
    /* this callback is never called: teardown() destroys the worker, which
     * frees the memory of the callback */
}
END_TEST

START_TEST(oneshot_that_returns_waits_for_the_next_progress)
{
    calls_t calls = {.worker = worker};

    ck_ok(uct_host.progress_oneshot(worker, on_oneshot_again, &calls));
    ck_assert_uint_eq(uct_worker_progress(worker), 1);
    ck_assert_uint_eq(calls.count, 1);
    ck_assert_uint_eq(uct_worker_progress(worker), 1);
    ck_assert_uint_eq(calls.count, 2);
    uct_host.progress_cancel(worker, on_oneshot_again, &calls);
}
END_TEST

#define NUM_THREADS 4
#define NUM_SHOTS   500

static atomic_uint shots;

static void on_shot(void *arg)
{
    ++shots;
}

static void *shoot(void *arg)
{
    unsigned i;

    for (i = 0; i < NUM_SHOTS; ++i) {
        if (uct_host.progress_oneshot(worker, on_shot, NULL) != UCS_OK) {
            return "failed";
        }
    }
    return NULL;
}

START_TEST(threads_add_oneshots_while_one_progresses)
{
    pthread_t threads[NUM_THREADS];
    void *result;
    unsigned i;

    shots = 0;
    for (i = 0; i < NUM_THREADS; ++i) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, shoot, NULL), 0);
    }
    while (shots < NUM_THREADS * NUM_SHOTS) {
        uct_worker_progress(worker);
    }
    for (i = 0; i < NUM_THREADS; ++i) {
        pthread_join(threads[i], &result);
        ck_assert_ptr_null(result);
    }
    ck_assert_uint_eq(shots, NUM_THREADS * NUM_SHOTS);
}
END_TEST

/* --- Asynchronous events ------------------------------------------------------- */

typedef struct event {
    atomic_uint count;
    atomic_int events;
    ucx_async_id_t id;
    int leave; /* nonzero: the handler removes itself */
} event_t;

static void on_fd(int fd, int events, void *arg)
{
    event_t *event = arg;
    uint64_t value;

    ck_assert_int_eq(read(fd, &value, sizeof(value)), sizeof(value));
    event->events = events;
    ++event->count;
    if (event->leave) {
        uct_host.async_remove(event->id);
    }
}

static void raise_event(int fd)
{
    const uint64_t one = 1;

    ck_assert_int_eq(write(fd, &one, sizeof(one)), sizeof(one));
}

/* Waits until *count has reached `value`. There is no time limit here: that of
 * libcheck for a test applies. */
static void wait_for(atomic_uint *count, unsigned value)
{
    while (*count < value) {
        usleep(100);
    }
}

START_TEST(fd_handler_runs_until_removed)
{
    int fd        = eventfd(0, EFD_NONBLOCK);
    event_t event = {0};
    ucx_async_id_t second;

    ck_ok(uct_host.async_add_fd(worker, fd, UCS_EVENT_SET_EVREAD, on_fd, &event,
                                &event.id));
    ucs_log_level_set(UCS_LOG_LEVEL_FATAL);
    ck_status(uct_host.async_add_fd(worker, fd, UCS_EVENT_SET_EVREAD, on_fd,
                                    &event, &second),
              UCS_ERR_ALREADY_EXISTS);
    ucs_log_level_set(UCS_LOG_LEVEL_WARN);
    raise_event(fd);
    wait_for(&event.count, 1);
    ck_assert(event.events & UCS_EVENT_SET_EVREAD);

    ck_ok(uct_host.async_modify_fd(event.id, UCS_EVENT_SET_EVREAD));
    raise_event(fd);
    wait_for(&event.count, 2);

    uct_host.async_remove(event.id);
    /* the handler was removed already: no effect */
    uct_host.async_remove(event.id);
    uct_host.async_remove(0);
    raise_event(fd);
    ck_status(uct_host.async_modify_fd(event.id, UCS_EVENT_SET_EVREAD),
              UCS_ERR_NO_ELEM);
    ck_assert_uint_eq(event.count, 2);
    close(fd);
}
END_TEST

START_TEST(fd_handler_may_remove_itself)
{
    int fd        = eventfd(0, EFD_NONBLOCK);
    event_t event = {.leave = 1};

    ck_ok(uct_host.async_add_fd(worker, fd, UCS_EVENT_SET_EVREAD, on_fd, &event,
                                &event.id));
    raise_event(fd);
    wait_for(&event.count, 1);
    ucs_async_poll(async);
    /* The removal completes later. After that, a handler can be added for the
     * descriptor again; until then this fails. */
    ucs_log_level_set(UCS_LOG_LEVEL_FATAL);
    while (uct_host.async_add_fd(worker, fd, UCS_EVENT_SET_EVREAD, on_fd,
                                 &event, &event.id) != UCS_OK) {
        usleep(100);
    }
    ucs_log_level_set(UCS_LOG_LEVEL_WARN);
    uct_host.async_remove(event.id);
    close(fd);
}
END_TEST

/* The handler that remove_other() removes; 0: none */
static ucx_async_id_t removed_id;
static atomic_uint num_removed;
static pthread_t remover;

static void *remove_other(void *arg)
{
    uct_host.async_remove(removed_id);
    ++num_removed;
    return NULL;
}

/* Replaces the function of libucs for the code under test. If removed_id is
 * set, another thread tries to remove that handler during the call. */
__attribute__((visibility("default"))) ucs_status_t
ucs_async_modify_handler(int fd, ucs_event_set_types_t events)
{
    ucs_status_t (*next)(int, ucs_event_set_types_t) = (ucs_status_t(*)(
        int, ucs_event_set_types_t))dlsym(RTLD_NEXT,
                                          "ucs_async_modify_handler");

    if (removed_id != 0) {
        ck_assert_int_eq(pthread_create(&remover, NULL, remove_other, NULL), 0);
        usleep(20000); /* enough for a removal that does not wait */
        ck_assert_uint_eq(num_removed, 0);
    }
    return next(fd, events);
}

START_TEST(removal_waits_for_a_modification)
{
    int fd        = eventfd(0, EFD_NONBLOCK);
    event_t event = {0};

    ck_ok(uct_host.async_add_fd(worker, fd, UCS_EVENT_SET_EVREAD, on_fd, &event,
                                &event.id));
    removed_id = event.id;
    ck_ok(uct_host.async_modify_fd(event.id, UCS_EVENT_SET_EVREAD));
    pthread_join(remover, NULL);
    removed_id = 0;
    ck_assert_uint_eq(num_removed, 1);
    close(fd);
}
END_TEST

static void on_timer(void *arg)
{
    ++((event_t *)arg)->count;
}

START_TEST(timer_fires_until_removed)
{
    event_t event = {0};
    ucx_async_id_t id;
    unsigned count;

    ck_ok(uct_host.async_add_timer(worker, 1e-3, on_timer, &event, &id));
    wait_for(&event.count, 3);
    uct_host.async_remove(id);
    count = event.count;
    usleep(5000);
    ck_assert_uint_eq(event.count, count);
}
END_TEST

/* --- The rest -------------------------------------------------------------------- */

START_TEST(clock_and_identity_stay)
{
    double before = uct_host.time();
    ucs_sys_device_t sys_dev;

    ck_assert(uct_host.time() >= before);
    ck_assert_uint_eq(uct_host.machine_guid(), uct_host.machine_guid());
    ck_assert_uint_ne(uct_host.machine_guid(), 0);
    ck_status(uct_host.sys_device_by_sysfs("/sys/class/net/lo/device",
                                           &sys_dev),
              UCS_ERR_NO_ELEM);
}
END_TEST

START_TEST(pci_devices_have_numbers_names_and_distances)
{
    const ucx_pci_address_t pci = {.domain = 0xffff, .bus = 0xfe, .slot = 1};
    ucs_sys_device_t sys_dev, again;
    ucx_sys_distance_t distance;

    ck_ok(uct_host.sys_device_by_pci(&pci, &sys_dev));
    ck_ok(uct_host.sys_device_by_pci(&pci, &again));
    ck_assert_int_eq(sys_dev, again);
    ck_ok(uct_host.sys_device_set_name(sys_dev, "some-device"));
    ck_ok(uct_host.sys_device_distance(sys_dev, sys_dev, &distance));
    ck_assert(distance.latency >= 0);
    ck_assert(distance.bandwidth > 0);
}
END_TEST

static int keep_line(void *arg, const char *file, unsigned line,
                     const char *function, ucs_log_level_t level,
                     const char *message)
{
    snprintf(arg, 128, "%s:%u %d %s", file, line, level, message);
    return 1;
}

START_TEST(start_times_tell_processes_apart)
{
    siginfo_t info;
    uint64_t own, other;
    int known = 0;
    pid_t pid;

    own = ucx_process_start_time((uint32_t)getpid(), &known);
    ck_assert_int_eq(known, 1);
    ck_assert_uint_gt(own, 0);

    pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    other = ucx_process_start_time((uint32_t)pid, &known);
    ck_assert_int_eq(known, 1);
    ck_assert_uint_ge(other, own);

    kill(pid, SIGKILL);
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    ck_assert_uint_eq(ucx_process_start_time((uint32_t)pid, &known), 0);
    /* the process has ended but was not reaped: it counts as ended */
    ck_assert_int_eq(known, 1);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ck_assert_uint_eq(ucx_process_start_time((uint32_t)pid, &known), 0);
    ck_assert_int_eq(known, 1);
}
END_TEST

/* A child process hides /proc in a mount namespace of its own. Its exit status
 * is 77 if that is not permitted. */
START_TEST(without_proc_no_start_time_is_known)
{
    int known = 1, status;
    pid_t pid = fork();

    if (pid == 0) {
        if ((unshare(CLONE_NEWNS) != 0) ||
            (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) ||
            (mount("none", "/proc", "tmpfs", 0, NULL) != 0)) {
            _exit(77);
        }
        (void)ucx_process_start_time((uint32_t)getppid(), &known);
        _exit(known);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        printf("skipped: no permission to mount over /proc\n");
        return;
    }
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

START_TEST(log_lines_go_to_the_log)
{
    char line[128] = "";

    ucs_log_hook_set(keep_line, line);
    uct_host.log(UCS_LOG_LEVEL_ERROR, "file.c", 7, "%s=%d", "x", 1);
    uct_host.log((int)ucs_log_level_get() + 1, "file.c", 8, "dropped");
    ucs_log_hook_set(NULL, NULL);
    ck_assert_str_eq(line, "file.c:7 1 x=1");
    ck_assert_int_eq(*uct_host.log_level, (int)ucs_log_level_get());
}
END_TEST

START_TEST(worker_parameters_are_checked)
{
    uct_worker_h none;

    ck_status(uct_worker_create(NULL, UCS_THREAD_MODE_SINGLE, &none),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_worker_create(async, UCS_THREAD_MODE_LAST, &none),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, NULL),
              UCS_ERR_INVALID_PARAM);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("host services");
    TCase *tc    = tcase_create("all");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, pool_elements_are_aligned_and_apart);
    tcase_add_test(tc, pool_aligns_an_odd_offset);
    tcase_add_test(tc, counters_are_rejected_with_a_status);
    tcase_add_test(tc, pool_takes_chunks_of_the_plugins);
    tcase_add_test(tc, pool_reports_what_was_not_given_back);
    tcase_add_test(tc, impossible_pools_are_refused);
    tcase_add_test(tc, progress_callbacks_are_summed_and_removed);
    tcase_add_test(tc, safe_registration_follows_the_id);
    tcase_add_test(tc, oneshots_run_once_and_wake);
    tcase_add_test(tc, oneshot_that_returns_waits_for_the_next_progress);
    tcase_add_test(tc, threads_add_oneshots_while_one_progresses);
    tcase_add_test(tc, fd_handler_runs_until_removed);
    tcase_add_test(tc, fd_handler_may_remove_itself);
    tcase_add_test(tc, removal_waits_for_a_modification);
    tcase_add_test(tc, timer_fires_until_removed);
    tcase_add_test(tc, clock_and_identity_stay);
    tcase_add_test(tc, pci_devices_have_numbers_names_and_distances);
    tcase_add_test(tc, start_times_tell_processes_apart);
    tcase_add_test(tc, without_proc_no_start_time_is_known);
    tcase_add_test(tc, log_lines_go_to_the_log);
    tcase_add_test(tc, worker_parameters_are_checked);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
