/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous contexts for use inside the library. A context runs the handlers
 * of descriptors and timers that belong to it. While a context is blocked, its
 * handlers do not run: a handler that becomes due is recorded as missed, and
 * runs when the last block is removed.
 */
#ifndef UCS_ASYNC_H
#define UCS_ASYNC_H

#include <pthread.h>
#include <ucs/async/async_fwd.h>
#include "ucs/datastruct/list.h"
#include <ucs/type/spinlock.h>

BEGIN_C_DECLS

/* The smallest identifier of a timer. Handlers of descriptors have the
 * descriptor as identifier, which is smaller. */
#define UCS_ASYNC_TIMER_ID_MIN 1000000

struct ucs_async_context {
    ucs_async_mode_t mode;
    unsigned missed; /* atomic: a handler was missed and must run */
    unsigned depth;  /* nested blocks; accessed by the owner only */
    pthread_t owner; /* atomic: the thread that blocks the context, or
                      * UCS_ASYNC_PTHREAD_ID_NULL */
    union {
        ucs_spinlock_t spin;
        pthread_mutex_t mutex;
    } lock;
    pid_t tid;                   /* UCS_ASYNC_MODE_SIGNAL: the only thread that
                                  * may use the context */
    unsigned num_handlers;       /* this and below: under the global lock */
    unsigned pollers;            /* threads in ucs_async_poll(NULL) */
    struct async_loop *loop;     /* poll mode: created with the first handler */
    ucs_list_link_t missed_list; /* handlers that were missed */
    struct async_handler *signal_missed; /* atomic: missed handlers in signal
                                          * mode */
    ucs_list_link_t list;                /* all contexts of the process */
};

/** Initializes a context that is a member of another structure. */
ucs_status_t ucs_async_context_init(ucs_async_context_t *async,
                                    ucs_async_mode_t mode);
void ucs_async_context_cleanup(ucs_async_context_t *async);

void ucs_async_lock_slow(ucs_async_context_t *async);
void ucs_async_unlock_slow(ucs_async_context_t *async);

/** Runs missed handlers. Does nothing while the context is blocked, because
 *  the last unblock runs them. */
void ucs_async_run_missed(ucs_async_context_t *async);

static inline int ucs_async_is_mine(const ucs_async_context_t *async)
{
    return pthread_equal(__atomic_load_n(&async->owner, __ATOMIC_RELAXED),
                         pthread_self());
}

/** Stops the context's handlers; waits for a handler that runs in another
 *  thread. Calls may be nested. */
static inline void ucs_async_block(ucs_async_context_t *async)
{
    if (ucs_async_is_mine(async)) {
        ++async->depth;
        return;
    }

    ucs_async_lock_slow(async);
}

/** Removes a block; the last one runs missed handlers. */
static inline void ucs_async_unblock(ucs_async_context_t *async)
{
    if (--async->depth > 0) {
        return;
    }

    ucs_async_unlock_slow(async);
}

/** Returns a descriptor that is readable when ucs_async_poll() has handlers to
 *  run. The context owns it. UCS_ERR_UNSUPPORTED unless the mode is
 *  UCS_ASYNC_MODE_POLL. */
ucs_status_t ucs_async_event_fd(ucs_async_context_t *async, int *fd_p);

/** Removes every handler of a context and waits until none of them runs in
 *  another thread. */
void ucs_async_remove_all(ucs_async_context_t *async);

/** Returns whether the library's thread is running. For tests and
 *  diagnostics. */
int ucs_async_thread_is_running(void);

END_C_DECLS

#endif
