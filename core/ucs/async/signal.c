/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signal mode: the thread finds the event and interrupts the thread that added
 * the handler; the callback runs there, in a signal handler, and may do only
 * what signal handlers may. So may the code here that runs before and after it:
 * no lock, no allocation, no log.
 *
 *   thread --- signal with the handler's address ---> target thread
 *   thread <-- the address, by a pipe, when it has run or was refused ---
 *
 * In between the handler is "in flight": out of the event set, and kept alive.
 *
 * A context in this mode belongs to the thread that created it: only that one
 * blocks it, and adds and removes its handlers. So whoever finds the context
 * blocked in the signal handler has interrupted the block.
 */
#include "ucs/async/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ucs/config/config.h"
#include "ucs/debug/log.h"
#include "ucs/sys/sys.h"

/* 0: the signal is not ours yet. Once taken it is kept: signals may be under
 * way until the process ends. */
static int async_signo;

/* Gives the handler back to the thread. Callable from a signal handler. */
static void signal_give_back(async_handler_t *handler)
{
    /* a write of a pointer is whole, and waits if the pipe is full */
    ucs_write_full(handler->loop->done_fds[1], &handler, sizeof(handler));
}

static void signal_run(async_handler_t *handler)
{
    unsigned events;

    __atomic_store_n(&handler->signal_running, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&handler->is_removed, __ATOMIC_SEQ_CST)) {
        events = __atomic_exchange_n(&handler->signal_events, 0,
                                     __ATOMIC_RELAXED);
        handler->cb(handler->id, (ucs_event_set_types_t)events, handler->arg);
    }

    signal_give_back(handler);
}

/* A stack whose only consumer takes all of it at once. */
static void signal_miss(ucs_async_context_t *async, async_handler_t *handler)
{
    async_handler_t *head = __atomic_load_n(&async->signal_missed,
                                            __ATOMIC_RELAXED);

    do {
        handler->signal_next = head;
    } while (!__atomic_compare_exchange_n(&async->signal_missed, &head, handler,
                                          0, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
    __atomic_store_n(&async->missed, 1, __ATOMIC_SEQ_CST);
}

/* The caller has the context's lock, or is the last to use the context. */
void async_signal_run_missed(ucs_async_context_t *async)
{
    async_handler_t *handler, *next;

    handler = __atomic_exchange_n(&async->signal_missed, NULL,
                                  __ATOMIC_ACQUIRE);
    for (; handler != NULL; handler = next) {
        next = handler->signal_next;
        signal_run(handler);
    }
}

static void signal_arrived(int signo, siginfo_t *info, void *context)
{
    async_handler_t *handler = info->si_value.sival_ptr;
    int saved_errno = errno;
    ucs_async_context_t *async;

    (void)signo;
    (void)context;
    if ((info->si_code != SI_QUEUE) || (info->si_pid != getpid())) {
        return; /* somebody else's */
    }

    async = handler->async;
    if ((async == NULL) ||
        __atomic_load_n(&handler->is_removed, __ATOMIC_SEQ_CST)) {
        signal_run(handler);
    } else if (async_context_trylock(async)) {
        signal_run(handler);
        ucs_async_unblock(async);
    } else {
        signal_miss(async, handler); /* this thread is inside a block */
    }

    errno = saved_errno;
}

static int signal_is_free(int signo)
{
    struct sigaction old;

    return (sigaction(signo, NULL, &old) == 0) &&
           !(old.sa_flags & SA_SIGINFO) && (old.sa_handler == SIG_DFL);
}

static ucs_status_t signal_install(void)
{
    int signo = (int)ucs_global_opts.async_signo;
    struct sigaction action;

    if (signo == 0) {
        for (signo = SIGRTMIN; (signo <= SIGRTMAX) && !signal_is_free(signo);
             ++signo) {
        }
    }

    if ((signo > SIGRTMAX) || !signal_is_free(signo)) {
        ucs_error("no signal is left for asynchronous events: the application "
                  "uses signal %d; choose a free one by UCX_ASYNC_SIGNO", signo);
        return UCS_ERR_BUSY;
    }

    memset(&action, 0, sizeof(action));
    action.sa_sigaction = signal_arrived;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    if (sigaction(signo, &action, NULL) != 0) {
        ucs_error("sigaction(%d) failed: %s", signo, strerror(errno));
        return UCS_ERR_INVALID_PARAM;
    }

    async_signo = signo;
    return UCS_OK;
}

ucs_status_t async_signal_prepare(async_loop_t *loop)
{
    ucs_status_t status;

    if (async_signo == 0) {
        status = signal_install();
        if (status != UCS_OK) {
            return status;
        }
    }

    if (loop->done_fds[0] >= 0) {
        return UCS_OK;
    }

    if (pipe2(loop->done_fds, O_CLOEXEC) != 0) {
        status = ucs_errno_to_status(errno);
        ucs_error("pipe2() failed: %s", strerror(errno));
        return status;
    }

    return async_loop_add_fd(loop, loop->done_fds[0], UCS_EVENT_SET_EVREAD,
                             ASYNC_SEQ_DONE);
}

/* The handler is not in flight any more. */
static void signal_landed(async_handler_t *handler)
{
    handler->in_flight = 0;
    --handler->loop->num_handlers;
    __atomic_store_n(&handler->signal_running, 0, __ATOMIC_SEQ_CST);
    pthread_cond_broadcast(&async_global.done);
}

void async_signal_dispatch(async_handler_t *handler,
                           ucs_event_set_types_t events)
{
    siginfo_t info;
    int error;

    __atomic_or_fetch(&handler->signal_events, (unsigned)events,
                      __ATOMIC_RELAXED);
    if (handler->in_flight) {
        return; /* of a timer: one more time that it was due */
    }

    handler->in_flight = 1;
    ++handler->refs;
    ++handler->loop->num_handlers;
    async_handler_disarm(handler);

    memset(&info, 0, sizeof(info));
    info.si_signo = async_signo;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = handler;
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), handler->target_tid,
                async_signo, &info) == 0) {
        return;
    }

    /* EAGAIN: too many signals are queued, so the event will be found again.
     * Otherwise the thread is gone, and the handler with it. */
    error = errno;
    signal_landed(handler);
    if (error == EAGAIN) {
        async_handler_arm(handler);
    } else {
        ucs_warn("asynchronous event %d is lost: thread %d, which added its "
                 "handler, does not run any more", handler->id,
                 handler->target_tid);
    }
    async_handler_put(handler);
}

void async_signal_done(async_loop_t *loop)
{
    async_handler_t *handler;

    if (ucs_read_full(loop->done_fds[0], &handler, sizeof(handler)) != UCS_OK) {
        return;
    }

    signal_landed(handler);
    async_handler_arm(handler);
    async_handler_put(handler);

    if ((loop->num_handlers == 0) && (loop == async_global.thread_loop)) {
        async_thread_put(); /* the last remover could not end the thread */
    }
}
