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

SUITE_MAIN("async fork", a_child_of_a_polled_process_starts_fresh,
           a_child_of_a_threaded_process_starts_fresh)
