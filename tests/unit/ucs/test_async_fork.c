/* SPDX-License-Identifier: BSD-3-Clause */
/* fork(): the child starts without handlers and can add new ones; the parent's
 * handlers continue to be called. */
#include "suite.h"
#include "async_util.h"

#include <sys/wait.h>

/* Runs in the child: returns whether no handler is left and a new handler is
 * called. */
static int child_works(ucs_async_context_t *async, probe_t *probe,
                       ucs_async_mode_t mode)
{
    probe_t fresh;

    probe_init(&fresh);
    if (ucs_async_thread_is_running() ||
        (ucs_async_remove_handler(probe->fd, 1) != UCS_ERR_NO_ELEM) ||
        (ucs_async_set_event_handler(mode, fresh.fd, UCS_EVENT_SET_EVREAD,
                                     probe_cb, &fresh, async) != UCS_OK)) {
        return 0;
    }

    eventfd_write(fresh.fd, 1);
    ucs_async_poll(async);
    probe_wait(&fresh, 1);
    ucs_async_context_destroy(async);
    close(fresh.fd);
    return !ucs_async_thread_is_running();
}

static void fork_in_mode(ucs_async_mode_t mode, int inside_block)
{
    ucs_async_context_t *async;
    probe_t probe;
    int status;
    pid_t pid;

    probe_init(&probe);
    ck_ok(ucs_async_context_create(mode, &async));
    ck_ok(ucs_async_set_event_handler(mode, probe.fd, UCS_EVENT_SET_EVREAD,
                                      probe_cb, &probe, async));
    /* When the handler has been called, the service thread of the thread modes
     * waits for events: the fork does not happen while the thread starts. The
     * library would allow that, but the address sanitizer's allocator does
     * not. */
    eventfd_write(probe.fd, 1);
    ucs_async_poll(async);
    probe_wait(&probe, 1);
    if (inside_block) {
        ucs_async_block(async);
    }

    fflush(NULL);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (inside_block) {
            ucs_async_unblock(async);
        }
        alarm(60);
        _exit(child_works(async, &probe, mode) ? 0 : 1);
    }

    if (inside_block) {
        ucs_async_unblock(async);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);

    eventfd_write(probe.fd, 1);
    ucs_async_poll(async);
    probe_wait(&probe, 2);
    ucs_async_context_destroy(async);
    close(probe.fd);
}

START_TEST(a_child_of_a_polled_process_starts_fresh)
{
    fork_in_mode(UCS_ASYNC_MODE_POLL, 0);
    fork_in_mode(UCS_ASYNC_MODE_POLL, 1);
}
END_TEST

START_TEST(a_child_of_a_threaded_process_starts_fresh)
{
/* the thread sanitizer does not support threads in the child of a process with
 * threads */
#ifndef WITH_TSAN
    int i;

    for (i = 0; i < 10; ++i) {
        fork_in_mode(UCS_ASYNC_MODE_THREAD_SPINLOCK, i % 2);
        fork_in_mode(UCS_ASYNC_MODE_THREAD_MUTEX, i % 2);
    }
#endif
}
END_TEST

/* A timer whose first call forks. */
typedef struct {
    unsigned count; /* atomic: number of calls */
    int go;    /* an eventfd: the child's callback returns when it is set */
    pid_t pid; /* of the child; 0: this is the child */
    int ends_by_thread;
} forking_t;

static void end_child(void)
{
    _exit(0);
}

static void forking_cb(int id, ucs_event_set_types_t events, void *arg)
{
    forking_t *forking = arg;
    struct pollfd pfd  = {.fd = forking->go, .events = POLLIN};

    if (__atomic_load_n(&forking->count, __ATOMIC_RELAXED) == 0) {
        forking->pid = fork();
        if (forking->pid == 0) {
            alarm(60);
            poll(&pfd, 1, -1);
            if (forking->ends_by_thread) {
                atexit(end_child);
            }
        }
    }
    __atomic_add_fetch(&forking->count, 1, __ATOMIC_RELEASE);
}

static void forking_wait(forking_t *forking, ucs_async_context_t *async,
                         unsigned count)
{
    ucs_time_t deadline = ucs_get_time() + ucs_time_from_sec(WAIT_SECONDS);

    while ((__atomic_load_n(&forking->count, __ATOMIC_ACQUIRE) < count) &&
           ((count == 1) || (forking->pid != 0))) {
        ck_assert_msg(ucs_get_time() < deadline, "the timer does not run");
        ucs_async_poll(async);
        sched_yield();
    }
}

/* The callback of a timer forks, and returns in both processes. The child can
 * add handlers, and the timer continues in the parent. */
static void fork_in_callback(ucs_async_mode_t mode)
{
    forking_t forking = {.pid = -1, .go = eventfd(0, EFD_CLOEXEC)};
    ucs_async_context_t *async;
    probe_t probe;
    int id, status;

    forking.ends_by_thread = (mode != UCS_ASYNC_MODE_POLL);
    probe_init(&probe);
    ck_ok(ucs_async_context_create(mode, &async));
    fflush(NULL);
    ck_ok(ucs_async_add_timer(mode, ucs_time_from_msec(1), forking_cb, &forking,
                              async, &id));
    forking_wait(&forking, async, 1);
    if (forking.pid == 0) {
        _exit(child_works(async, &probe, mode) ? 0 : 1);
    }
    ck_assert_int_gt(forking.pid, 0);
    /* At the second call, the parent has set the timer again */
    forking_wait(&forking, async, 2);
    eventfd_write(forking.go, 1);
    ck_assert_int_eq(waitpid(forking.pid, &status, 0), forking.pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    forking_wait(&forking, async,
                 __atomic_load_n(&forking.count, __ATOMIC_ACQUIRE) + 2);
    ck_ok(ucs_async_remove_handler(id, 1));
    ucs_async_context_destroy(async);
    close(probe.fd);
    close(forking.go);
}

START_TEST(a_callback_that_forks_returns_in_both_processes)
{
    fork_in_callback(UCS_ASYNC_MODE_POLL);
#ifndef WITH_TSAN
    fork_in_callback(UCS_ASYNC_MODE_THREAD_SPINLOCK);
    fork_in_callback(UCS_ASYNC_MODE_THREAD_MUTEX);
#endif
}
END_TEST

SUITE_MAIN("async fork", a_child_of_a_polled_process_starts_fresh,
           a_child_of_a_threaded_process_starts_fresh,
           a_callback_that_forks_returns_in_both_processes)
