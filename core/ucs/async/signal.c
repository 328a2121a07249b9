/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signal mode: the library's thread detects the event and signals the thread
 * that added the handler. The callback runs there in a signal handler, so it
 * and the code around it must be async-signal-safe: no lock, no allocation, no
 * log.
 *
 *   thread  --- handler into the target's inbox, then a signal --->  target thread
 *   thread  <-- handler's address by a pipe, after it has run or was rejected ---
 *
 * In between, the handler is "in flight": out of the event set and referenced.
 * A signal only means that the inbox may have entries: one signal serves many
 * handlers, and a spurious one is harmless.
 *
 * A context in this mode belongs to the thread that created it: only that
 * thread blocks it, and adds and removes its handlers. If the signal handler
 * finds the context blocked, it has interrupted the block.
 */
#include "ucs/async/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ucs/config/config.h"
#include "ucs/debug/log.h"
#include "ucs/sys/sys.h"

/* Number of the signal, or 0 if no signal handler is installed. The signal
 * handler is never removed, because signals may be pending until the process
 * exits. */
static int async_signo;

/* The inbox of a thread that has added a handler in signal mode. An inbox is
 * kept until the library is unloaded, because a signal may arrive late. */
typedef struct async_inbox {
    pid_t tid;
    async_handler_t *head; /* atomic: stack of handlers to run */
    int is_signaled;       /* atomic: a signal is pending */
    ucs_list_link_t list;
} async_inbox_t;

static UCS_LIST_HEAD(inboxes); /* under the global lock */

/* Set when the thread adds its first handler, so that the signal handler needs
 * no allocation. */
static __thread async_inbox_t *my_inbox;

/* A stack whose consumer removes all entries at once. This function adds an
 * entry. */
static void stack_push(async_handler_t **stack, async_handler_t *handler)
{
    async_handler_t *head = __atomic_load_n(stack, __ATOMIC_RELAXED);

    do {
        handler->signal_next = head;
    } while (!__atomic_compare_exchange_n(stack, &head, handler, 0,
                                          __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

static async_handler_t *stack_take(async_handler_t **stack)
{
    return __atomic_exchange_n(stack, NULL, __ATOMIC_SEQ_CST);
}

/* Returns the handler to the library's thread. Async-signal-safe. */
static void signal_give_back(async_handler_t *handler)
{
    /* a write of a pointer is atomic; it blocks while the pipe is full */
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

/* The caller holds the context's lock, or is the last user of the context. */
void async_signal_run_missed(ucs_async_context_t *async)
{
    async_handler_t *handler, *next;

    for (handler = stack_take(&async->signal_missed); handler != NULL;
         handler = next) {
        next = handler->signal_next;
        signal_run(handler);
    }
}

static void signal_deliver(async_handler_t *handler)
{
    ucs_async_context_t *async = handler->async;

    if ((async == NULL) ||
        __atomic_load_n(&handler->is_removed, __ATOMIC_SEQ_CST)) {
        signal_run(handler);
    } else if (async_context_trylock(async)) {
        signal_run(handler);
        ucs_async_unblock(async);
    } else {
        stack_push(&async->signal_missed, handler);
        __atomic_store_n(&async->missed, 1, __ATOMIC_SEQ_CST);
    }
}

static void signal_arrived(int signo)
{
    async_inbox_t *inbox = my_inbox;
    async_handler_t *handler, *next;
    int saved_errno = errno;

    (void)signo;
    if (inbox == NULL) {
        return; /* this thread has no handlers */
    }

    /* clear first: a handler that is added later sends a new signal */
    __atomic_store_n(&inbox->is_signaled, 0, __ATOMIC_SEQ_CST);
    for (handler = stack_take(&inbox->head); handler != NULL; handler = next) {
        next = handler->signal_next;
        signal_deliver(handler);
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
        ucs_error("no free signal for asynchronous events: the application "
                  "uses signal %d; choose a free one by UCX_ASYNC_SIGNO",
                  signo);
        return UCS_ERR_BUSY;
    }

    memset(&action, 0, sizeof(action));
    action.sa_handler = signal_arrived;
    action.sa_flags   = SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    if (sigaction(signo, &action, NULL) != 0) {
        ucs_error("sigaction(%d) failed: %s", signo, strerror(errno));
        return UCS_ERR_INVALID_PARAM;
    }

    async_signo = signo;
    return UCS_OK;
}

static ucs_status_t inbox_prepare(void)
{
    async_inbox_t *inbox;

    if ((my_inbox != NULL) && (my_inbox->tid == ucs_get_tid())) {
        return UCS_OK;
    }

    inbox = calloc(1, sizeof(*inbox));
    if (inbox == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    inbox->tid = ucs_get_tid();
    ucs_list_add_tail(&inboxes, &inbox->list);
    my_inbox = inbox;
    return UCS_OK;
}

ucs_status_t async_signal_prepare(async_loop_t *loop)
{
    ucs_status_t status;

    status = inbox_prepare();
    if (status != UCS_OK) {
        return status;
    }

    if (async_signo == 0) {
        status = signal_install();
        if (status != UCS_OK) {
            return status;
        }
    }

    if (loop->done_fds[0] >= 0) {
        return UCS_OK; /* prepared by an earlier call */
    }

    if (pipe2(loop->done_fds, O_CLOEXEC) != 0) {
        status = ucs_errno_to_status(errno);
        ucs_error("pipe2() failed: %s", strerror(errno));
        return status;
    }

    return async_loop_add_fd(loop, loop->done_fds[0], UCS_EVENT_SET_EVREAD,
                             ASYNC_SEQ_DONE);
}

/* The library's thread has received the handler back: it is no longer in
 * flight. */
static void signal_landed(async_handler_t *handler)
{
    handler->in_flight = 0;
    --handler->loop->num_handlers;
    __atomic_store_n(&handler->signal_running, 0, __ATOMIC_SEQ_CST);
    pthread_cond_broadcast(&async_global.done);
}

/* Removes all handlers from the inbox of a thread that cannot be signalled. */
static void inbox_return(async_inbox_t *inbox, int error)
{
    async_handler_t *handler, *next;

    __atomic_store_n(&inbox->is_signaled, 0, __ATOMIC_SEQ_CST);
    for (handler = stack_take(&inbox->head); handler != NULL; handler = next) {
        next = handler->signal_next;
        signal_landed(handler);
        if (error == EAGAIN) {
            async_handler_arm(handler); /* too many pending signals: the event
                                         * set reports the event again */
        } else {
            ucs_warn("asynchronous event %d is lost: thread %d, which added "
                     "its handler, has exited",
                     handler->id, (int)inbox->tid);
        }
        async_handler_put(handler);
    }
}

void async_signal_dispatch(async_handler_t *handler,
                           ucs_event_set_types_t events)
{
    async_inbox_t *inbox = handler->inbox;

    __atomic_or_fetch(&handler->signal_events, (unsigned)events,
                      __ATOMIC_RELAXED);
    if (handler->in_flight) {
        return; /* still in flight: the events are merged, so a timer runs
                 * once */
    }

    handler->in_flight = 1;
    ++handler->refs;
    ++handler->loop->num_handlers;
    async_handler_disarm(handler);

    stack_push(&inbox->head, handler);
    if (__atomic_exchange_n(&inbox->is_signaled, 1, __ATOMIC_SEQ_CST) == 0) {
        if (syscall(SYS_tgkill, getpid(), inbox->tid, async_signo) != 0) {
            inbox_return(inbox, errno);
        }
    }
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
        async_thread_put(); /* the last removal could not end the thread */
    }
}

void async_signal_set_target(async_handler_t *handler)
{
    handler->inbox = my_inbox;
}

/* The child does not receive the parent's signals. */
void async_signal_after_fork(void)
{
    async_inbox_t *inbox;

    ucs_list_for_each(inbox, &inboxes, list) {
        inbox->head        = NULL;
        inbox->is_signaled = 0;
    }
}

static void UCS_F_DTOR signal_at_unload(void)
{
    if (async_signo != 0) {
        signal(async_signo, SIG_IGN); /* a signal may be pending */
    }

    while (!ucs_list_is_empty(&inboxes)) {
        free(ucs_list_extract_head(&inboxes, async_inbox_t, list));
    }
}
