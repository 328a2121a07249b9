/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signal mode. "Handler" is an asynchronous handler (async_handler_t) here; the
 * function that the kernel calls for a signal is signal_arrived(). The
 * library's service thread detects the event of a handler and signals the
 * target thread, which is the thread that added the handler. signal_arrived()
 * runs the callback there. Therefore the callback and the code around it must
 * be async-signal-safe: no lock, no allocation, no log.
 *
 *   service thread --- handler into the inbox, then a signal --> target thread
 *   service thread <-- address of the handler by a pipe --------- target thread
 *
 * In between, the handler is "in flight": the service thread does not wait for
 * its events, and holds a reference to it. One signal serves all handlers in
 * the inbox. A signal that finds an empty inbox has no effect.
 *
 * A context in this mode belongs to the thread that created it: only that
 * thread blocks it, and adds its handlers. If signal_arrived() finds the
 * context blocked, it has interrupted the code that blocks the context. Then
 * the handler is missed: that code runs it by unblocking the context.
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

/* Number of the signal; 0 until signal_arrived() is installed for it. The
 * installation lasts until the library is unloaded, because a signal may still
 * be pending after the last handler was removed. */
static int async_signo;

/* The inbox of a thread that has added a handler in signal mode. An inbox is
 * kept until the library is unloaded, because a signal may arrive after the
 * last handler of the thread was removed. */
typedef struct async_inbox {
    pid_t tid;
    async_handler_t *head; /* atomic: stack of handlers to run */
    int is_signaled;       /* atomic: a signal was sent and has not arrived */
    ucs_list_link_t list;  /* link in `inboxes` */
} async_inbox_t;

/* The inboxes of all threads; protected by the global lock (async_lock() in
 * internal.h). */
static UCS_LIST_HEAD(inboxes);

/* Inbox of this thread; NULL until the thread adds its first handler. Created
 * then, because signal_arrived() must not allocate. */
static __thread async_inbox_t *my_inbox;

/* Adds a handler to a stack. The consumer takes all entries at once, so there
 * is no ABA problem. */
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

/* Returns the handler to the service thread. Async-signal-safe. */
static void signal_give_back(async_handler_t *handler)
{
    /* POSIX: a pipe write of up to PIPE_BUF bytes is not interleaved with
     * writes of other threads. It blocks while the pipe is full. */
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

/* The caller holds the context's lock, or no other code uses the context any
 * more. */
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

    /* Cleared before the stack is read: if the service thread adds a handler
     * after the read, it sends a new signal. */
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

/* The handler is no longer in flight: its target thread has returned it, or
 * could not be signalled. */
static void signal_landed(async_handler_t *handler)
{
    handler->in_flight = 0;
    --handler->loop->num_handlers;
    __atomic_store_n(&handler->signal_running, 0, __ATOMIC_SEQ_CST);
    pthread_cond_broadcast(&async_global.done);
}

/* Removes all handlers from the inbox of a thread that cannot be signalled.
 * `error`: the errno of tgkill(). */
static void inbox_return(async_inbox_t *inbox, int error)
{
    async_handler_t *handler, *next;

    __atomic_store_n(&inbox->is_signaled, 0, __ATOMIC_SEQ_CST);
    for (handler = stack_take(&inbox->head); handler != NULL; handler = next) {
        next = handler->signal_next;
        signal_landed(handler);
        if (error == EAGAIN) {
            /* The limit of pending signals is reached. The event set reports
             * the event again. */
            async_handler_arm(handler);
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
        return; /* the target thread gets these events too when it runs the
                 * handler, or at the next run if it has already run it; a timer
                 * runs once for several expiries */
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
        /* The last handler was removed while it was in flight. The removal
         * could not end the service thread then. */
        async_thread_put();
    }
}

void async_signal_set_target(async_handler_t *handler)
{
    handler->inbox = my_inbox;
}

/* Empties the inboxes in the child: signals that are pending in the parent do
 * not arrive in the child. */
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
