/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops that wait for descriptors and timers, and the library's service thread,
 * which runs one of the loops. */
#include "ucs/async/internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "ucs/debug/log.h"
#include "ucs/sys/sys.h"
#include "ucs/time/time.h"

/* Maximum time that the unload of the library waits for its threads to end, for
 * all of them together. A thread does not end while a callback runs in it. */
#define THREAD_JOIN_SECONDS 1

ucs_status_t async_loop_create(async_loop_t **loop_p)
{
    async_loop_t *loop;
    ucs_status_t status;

    loop = calloc(1, sizeof(*loop));
    if (loop == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    status = ucs_event_set_create(&loop->set);
    if (status != UCS_OK) {
        free(loop);
        return status;
    }

    loop->timer_fd    = -1;
    loop->wake_fd     = -1;
    loop->done_fds[0] = -1;
    loop->done_fds[1] = -1;
    ucs_list_head_init(&loop->timers);
    ucs_list_head_init(&loop->ended);
    *loop_p = loop;
    return UCS_OK;
}

static void close_fd(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

void async_loop_destroy(async_loop_t *loop)
{
    close_fd(loop->timer_fd);
    close_fd(loop->wake_fd);
    close_fd(loop->done_fds[0]);
    close_fd(loop->done_fds[1]);
    ucs_event_set_cleanup(loop->set);
    free(loop);
}

void async_loop_disown(async_loop_t *loop)
{
    int *fds[] = {&loop->timer_fd, &loop->wake_fd, &loop->done_fds[0],
                  &loop->done_fds[1]};
    unsigned i;

    for (i = 0; i < ucs_static_array_size(fds); ++i) {
        close_fd(*fds[i]);
        *fds[i] = -1;
    }
    ucs_list_head_init(&loop->timers);
}

/* The loops that the calling thread is processing, innermost first: a callback
 * may poll. */
typedef struct process {
    const async_loop_t *loop;
    const struct process *outer;
} process_t;

static __thread const process_t *processes;

static int is_processed(const async_loop_t *loop)
{
    const process_t *process = processes;

    while ((process != NULL) && (process->loop != loop)) {
        process = process->outer;
    }
    return process != NULL;
}

void async_loop_leave(async_loop_t *loop)
{
    async_loop_disown(loop);
    if (is_processed(loop)) {
        loop->is_left = 1;
    } else {
        async_loop_destroy(loop);
    }
}

ucs_status_t async_loop_add_fd(async_loop_t *loop, int fd,
                               ucs_event_set_types_t events, uint64_t seq)
{
    return ucs_event_set_add(loop->set, fd, events, (void *)(uintptr_t)seq);
}

void async_loop_set_timer(async_loop_t *loop)
{
    struct itimerspec spec = {{0, 0}, {0, 0}};
    ucs_time_t first       = UCS_TIME_INFINITY;
    async_handler_t *handler;

    if (loop->timer_fd < 0) {
        return;
    }

    ucs_list_for_each(handler, &loop->timers, timer_list) {
        if (handler->expires < first) {
            first = handler->expires;
        }
    }

    if (first != UCS_TIME_INFINITY) {
        spec.it_value.tv_sec  = (time_t)(first / UCS_NSEC_PER_SEC);
        spec.it_value.tv_nsec = (long)(first % UCS_NSEC_PER_SEC);
    }

    if (timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL) != 0) {
        ucs_error("timerfd_settime() failed: %s", strerror(errno));
    }
}

ucs_status_t async_loop_add_timer(async_loop_t *loop, async_handler_t *handler)
{
    ucs_status_t status;
    int fd;

    if (loop->timer_fd < 0) {
        fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        if (fd < 0) {
            ucs_error("timerfd_create() failed: %s", strerror(errno));
            return ucs_errno_to_status(errno);
        }

        status = async_loop_add_fd(loop, fd, UCS_EVENT_SET_EVREAD,
                                   ASYNC_SEQ_TIMER);
        if (status != UCS_OK) {
            close(fd);
            return status;
        }
        loop->timer_fd = fd;
    }

    ucs_list_add_tail(&loop->timers, &handler->timer_list);
    async_loop_set_timer(loop);
    return UCS_OK;
}

/* Reads the count of a timer or event descriptor. One read sets the count to
 * zero, so that the descriptor is not readable any more. */
static void drain(int fd)
{
    uint64_t count;
    ssize_t bytes;

    do {
        bytes = read(fd, &count, sizeof(count));
    } while ((bytes < 0) && (errno == EINTR));
}

static async_handler_t *first_due(async_loop_t *loop, ucs_time_t now)
{
    async_handler_t *handler;

    ucs_list_for_each(handler, &loop->timers, timer_list) {
        if (handler->expires <= now) {
            return handler;
        }
    }

    return NULL;
}

/* Each expired timer runs once, even if it expired several times. */
static void loop_run_timers(async_loop_t *loop)
{
    ucs_time_t now = ucs_get_time();
    async_handler_t *handler;

    drain(loop->timer_fd);
    while ((handler = first_due(loop, now)) != NULL) {
        handler->expires += handler->interval;
        if (handler->expires <= now) {
            handler->expires = now + handler->interval;
        }

        ++handler->refs;
        async_handler_dispatch(handler, 0);
        async_handler_put(handler);
    }

    async_loop_set_timer(loop);
}

static void loop_event(void *data, ucs_event_set_types_t events, void *arg)
{
    uint64_t seq       = (uintptr_t)data;
    async_loop_t *loop = arg;
    async_handler_t *handler;

    async_lock();
    switch (seq) {
    case ASYNC_SEQ_TIMER:
        loop_run_timers(loop);
        break;
    case ASYNC_SEQ_WAKE:
        drain(loop->wake_fd);
        break;
    case ASYNC_SEQ_DONE:
        async_signal_done(loop);
        break;
    default:
        handler = ucs_hash_get(&async_global.by_seq, seq);
        if (handler != NULL) {
            ++handler->refs;
            async_handler_dispatch(handler, events);
            async_handler_put(handler);
        }
        break;
    }
    async_unlock();
}

void async_loop_process(async_loop_t *loop, int timeout_ms)
{
    const process_t process = {loop, processes};
    unsigned count          = ucs_sys_event_set_max_wait_events;

    processes = &process;
    ucs_event_set_wait(loop->set, &count, timeout_ms, loop_event, loop);
    processes = process.outer;
    if (ucs_unlikely(loop->is_left) && !is_processed(loop)) {
        async_loop_destroy(loop);
    }
}

/* ---- the service thread ---- */

static void *thread_main(void *arg)
{
    async_loop_t *loop = arg;

    ucs_debug("asynchronous thread started");
    while (!__atomic_load_n(&loop->stop, __ATOMIC_ACQUIRE)) {
        async_loop_process(loop, -1);
    }

    ucs_debug("asynchronous thread ends");
    async_lock();
    loop->is_finished = 1;
    async_unlock();
    return NULL;
}

/* Starts the thread with all signals blocked, so that the signals of the
 * process are delivered to threads of the application. */
static ucs_status_t thread_start(async_loop_t *loop)
{
    sigset_t all, saved;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved);
    error = pthread_create(&loop->thread, NULL, thread_main, loop);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    if (error != 0) {
        ucs_error("cannot start the thread for asynchronous events: %s",
                  strerror(error));
        return UCS_ERR_EXCEEDS_LIMIT;
    }

    pthread_setname_np(loop->thread, "ucx-async");
    return UCS_OK;
}

/* Joins and frees the stopped threads (async_global.ended) that have left their
 * loop, except the calling thread. */
static void thread_reap(void)
{
    async_loop_t *loop, *next;

    ucs_list_for_each_safe(loop, next, &async_global.ended, ended) {
        if (loop->is_finished && !pthread_equal(loop->thread, pthread_self())) {
            ucs_list_del(&loop->ended);
            pthread_join(loop->thread, NULL);
            async_loop_destroy(loop);
        }
    }
}

ucs_status_t async_thread_get(async_loop_t **loop_p)
{
    ucs_status_t status;
    async_loop_t *loop;

    thread_reap();
    if (async_global.thread_loop != NULL) {
        *loop_p = async_global.thread_loop;
        return UCS_OK;
    }

    status = async_loop_create(&loop);
    if (status != UCS_OK) {
        return status;
    }

    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->wake_fd < 0) {
        status = ucs_errno_to_status(errno);
        ucs_error("eventfd() failed: %s", strerror(errno));
        goto err;
    }

    status = async_loop_add_fd(loop, loop->wake_fd, UCS_EVENT_SET_EVREAD,
                               ASYNC_SEQ_WAKE);
    if (status == UCS_OK) {
        status = thread_start(loop);
    }
    if (status != UCS_OK) {
        goto err;
    }

    async_global.thread_loop = loop;
    *loop_p                  = loop;
    return UCS_OK;

err:
    async_loop_destroy(loop);
    return status;
}

static void thread_stop(async_loop_t *loop)
{
    uint64_t one = 1;

    __atomic_store_n(&loop->stop, 1, __ATOMIC_RELEASE);
    while ((write(loop->wake_fd, &one, sizeof(one)) < 0) && (errno == EINTR)) {
    }
}

/* If the thread is inside a callback, returns NULL, so that the caller does not
 * wait for the thread: the callback may wait for a lock that the caller holds.
 * thread_reap() joins the thread later. */
async_loop_t *async_thread_put(void)
{
    async_loop_t *loop = async_global.thread_loop;

    if ((loop == NULL) || (loop->num_handlers > 0)) {
        return NULL;
    }

    async_global.thread_loop = NULL;
    thread_stop(loop);
    if (loop->is_running || pthread_equal(loop->thread, pthread_self())) {
        ucs_list_add_tail(&async_global.ended, &loop->ended);
        return NULL;
    }

    return loop;
}

void async_thread_join(async_loop_t *loop)
{
    if (loop != NULL) {
        pthread_join(loop->thread, NULL);
        async_loop_destroy(loop);
    }
}

int ucs_async_thread_is_running(void)
{
    int is_running;

    async_lock();
    is_running = (async_global.thread_loop != NULL);
    async_unlock();
    return is_running;
}

/* Stops the threads, and joins those that end in time: the library's code must
 * not be unmapped while they run it. */
static void UCS_F_DTOR thread_at_unload(void)
{
    struct timespec deadline;
    async_loop_t *loop, *next;
    ucs_list_link_t loops;

    ucs_list_head_init(&loops);
    async_lock();
    if (async_global.thread_loop != NULL) {
        thread_stop(async_global.thread_loop);
        ucs_list_add_tail(&loops, &async_global.thread_loop->ended);
        async_global.thread_loop = NULL;
    }
    ucs_list_splice_tail(&loops, &async_global.ended);
    async_unlock();

    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += THREAD_JOIN_SECONDS;
    ucs_list_for_each_safe(loop, next, &loops, ended) {
        if (!pthread_equal(loop->thread, pthread_self()) &&
            (pthread_timedjoin_np(loop->thread, NULL, &deadline) == 0)) {
            async_loop_destroy(loop);
        }
    }
}
