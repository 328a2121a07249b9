/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous contexts, and dispatch of events to handlers. */
#include "ucs/async/internal.h"

#include <stdlib.h>

#include "ucs/sys/sys.h"

async_global_t async_global = {
    .lock          = PTHREAD_MUTEX_INITIALIZER,
    .done          = PTHREAD_COND_INITIALIZER,
    .next_seq      = ASYNC_SEQ_FIRST,
    .next_timer_id = UCS_ASYNC_TIMER_ID_MIN,
    .contexts      = UCS_LIST_INITIALIZER(&async_global.contexts),
    .ended         = UCS_LIST_INITIALIZER(&async_global.ended),
};

static void UCS_F_DTOR async_at_unload(void)
{
    ucs_hash_cleanup(&async_global.by_id);
    ucs_hash_cleanup(&async_global.by_seq);
}

/* ---- the lock of a context ----
 *
 * A thread that has an event for a handler but finds the lock of the context
 * taken adds the handler to the context's list of missed handlers, sets
 * "missed" and tries the lock again. A thread that releases the lock reads
 * "missed" afterwards. Neither thread may reorder its two accesses: those of
 * "missed" and of the spin lock are sequentially consistent, and a mutex
 * synchronizes memory (POSIX). Therefore either the first thread gets the lock
 * or the second one reads 1, and one of them runs the handler. In signal mode,
 * signal.c does not try the lock again: the code that holds the lock runs in
 * the same thread.
 */

/* Returns whether it got the lock. */
static int context_try(ucs_async_context_t *async)
{
    if (async->mode == UCS_ASYNC_MODE_THREAD_MUTEX) {
        return pthread_mutex_trylock(&async->lock.mutex) == 0;
    }

    return __atomic_exchange_n(&async->lock.spin.taken, 1, __ATOMIC_SEQ_CST) ==
           0;
}

/* Records the calling thread, which has got the lock, as the owner. */
static void context_take(ucs_async_context_t *async)
{
    __atomic_store_n(&async->owner, pthread_self(), __ATOMIC_RELAXED);
    async->depth = 1;
}

int async_context_trylock(ucs_async_context_t *async)
{
    if (ucs_async_is_mine(async) || !context_try(async)) {
        return 0;
    }

    context_take(async);
    return 1;
}

void async_context_unlock(ucs_async_context_t *async)
{
    async->depth = 0;
    __atomic_store_n(&async->owner, UCS_ASYNC_PTHREAD_ID_NULL,
                     __ATOMIC_RELAXED);
    if (async->mode == UCS_ASYNC_MODE_THREAD_MUTEX) {
        pthread_mutex_unlock(&async->lock.mutex);
    } else {
        __atomic_store_n(&async->lock.spin.taken, 0, __ATOMIC_SEQ_CST);
    }
}

void ucs_async_lock_slow(ucs_async_context_t *async)
{
    if (async->mode == UCS_ASYNC_MODE_THREAD_MUTEX) {
        pthread_mutex_lock(&async->lock.mutex);
    } else {
        ucs_spin_lock(&async->lock.spin);
    }

    context_take(async);
}

/* Reads "missed" by an atomic read-modify-write, because a plain load could be
 * reordered before the store that unlocks the context. */
static int context_has_missed(ucs_async_context_t *async)
{
    return __atomic_fetch_or(&async->missed, 0, __ATOMIC_SEQ_CST) != 0;
}

void ucs_async_unlock_slow(ucs_async_context_t *async)
{
    async_context_unlock(async);
    if (ucs_unlikely(context_has_missed(async))) {
        ucs_async_run_missed(async);
    }
}

void ucs_async_run_missed(ucs_async_context_t *async)
{
    async_handler_t *handler;
    ucs_event_set_types_t events;

    while (context_has_missed(async)) {
        if (!async_context_trylock(async)) {
            return; /* the owner runs missed handlers when it unblocks */
        }

        __atomic_store_n(&async->missed, 0, __ATOMIC_SEQ_CST);
        if (async->mode == UCS_ASYNC_MODE_SIGNAL) {
            async_signal_run_missed(async);
            async_context_unlock(async);
            continue;
        }

        async_lock();
        while (!ucs_list_is_empty(&async->missed_list)) {
            handler                = ucs_list_extract_head(&async->missed_list,
                                                           async_handler_t, missed_list);
            events                 = handler->missed_events;
            handler->is_missed     = 0;
            handler->missed_events = 0;
            async_handler_run(handler, events);
            async_handler_arm(handler);
            async_handler_put(handler);
        }
        async_unlock();
        async_context_unlock(async);
    }
}

ucs_status_t ucs_async_context_init(ucs_async_context_t *async,
                                    ucs_async_mode_t mode)
{
    if ((unsigned)mode >= UCS_ASYNC_MODE_LAST) {
        return UCS_ERR_INVALID_PARAM;
    }

    async_fork_prepare_once();
    async->mode          = mode;
    async->missed        = 0;
    async->depth         = 0;
    async->owner         = UCS_ASYNC_PTHREAD_ID_NULL;
    async->tid           = ucs_get_tid();
    async->num_handlers  = 0;
    async->pollers       = 0;
    async->loop          = NULL;
    async->signal_missed = NULL;
    ucs_list_head_init(&async->missed_list);
    if (mode == UCS_ASYNC_MODE_THREAD_MUTEX) {
        pthread_mutex_init(&async->lock.mutex, NULL);
    } else {
        (void)ucs_spinlock_init(&async->lock.spin, 0);
    }

    async_lock();
    ucs_list_add_tail(&async_global.contexts, &async->list);
    async_unlock();
    return UCS_OK;
}

void ucs_async_context_cleanup(ucs_async_context_t *async)
{
    ucs_async_remove_all(async);

    async_lock();
    while (async->pollers > 0) {
        pthread_cond_wait(&async_global.done, &async_global.lock);
    }
    ucs_list_del(&async->list);
    async_unlock();

    if (async->mode == UCS_ASYNC_MODE_SIGNAL) {
        /* The handlers are removed: no callback runs. The call only returns the
         * handlers to the service thread, which releases them. */
        async_signal_run_missed(async);
    }

    if (async->loop != NULL) {
        async_loop_destroy(async->loop);
    }

    if (async->mode == UCS_ASYNC_MODE_THREAD_MUTEX) {
        pthread_mutex_destroy(&async->lock.mutex);
    }
}

ucs_status_t ucs_async_context_create(ucs_async_mode_t mode,
                                      ucs_async_context_t **async_p)
{
    ucs_async_context_t *async;
    ucs_status_t status;

    async = malloc(sizeof(*async));
    if (async == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    status = ucs_async_context_init(async, mode);
    if (status != UCS_OK) {
        free(async);
        return status;
    }

    *async_p = async;
    return UCS_OK;
}

void ucs_async_context_destroy(ucs_async_context_t *async)
{
    ucs_async_context_cleanup(async);
    free(async);
}

/* ---- handlers ---- */

void async_handler_put(async_handler_t *handler)
{
    if (--handler->refs == 0) {
        free(handler);
    }
}

static int is_timer(const async_handler_t *handler)
{
    return handler->id >= UCS_ASYNC_TIMER_ID_MIN;
}

void async_handler_arm(async_handler_t *handler)
{
    if (is_timer(handler) || handler->is_armed || handler->is_removed ||
        handler->is_missed || handler->in_flight) {
        return;
    }

    handler->is_armed = (async_loop_add_fd(handler->loop, handler->id,
                                           handler->events,
                                           handler->seq) == UCS_OK);
}

/* Removes the descriptor from the event set. With an empty event mask instead,
 * epoll would still report a hang-up, repeatedly. */
void async_handler_disarm(async_handler_t *handler)
{
    if (handler->is_armed) {
        ucs_event_set_del(handler->loop->set, handler->id);
        handler->is_armed = 0;
    }
}

void async_handler_run(async_handler_t *handler, ucs_event_set_types_t events)
{
    async_loop_t *loop = handler->loop;
    int is_thread      = (loop == async_global.thread_loop) &&
                    pthread_equal(loop->thread, pthread_self());

    if (handler->is_running) {
        /* The callback is already running: it polls the context itself, or
         * another thread runs it. epoll reports a level-triggered event again;
         * an edge-triggered event must be saved. The expiry of a timer is
         * dropped. */
        if (handler->events & UCS_EVENT_SET_EDGE_TRIGGERED) {
            handler->pending |= events;
            handler->has_pending = 1;
        }
        return;
    }

    while (!handler->is_removed) {
        handler->is_running  = 1;
        handler->runner      = pthread_self();
        handler->has_pending = 0;
        handler->pending     = 0;
        if (is_thread) {
            loop->is_running = 1;
        }
        async_unlock();

        handler->cb(handler->id, events, handler->arg);

        async_lock();
        if (is_thread) {
            loop->is_running = 0;
        }
        handler->is_running = 0;
        events              = handler->pending;
        if (!handler->has_pending) {
            break;
        }
    }

    if (handler->is_removed) {
        pthread_cond_broadcast(&async_global.done);
    }
}

/* Records the handler as missed, because its context is blocked. Then tries to
 * run missed handlers, because the block may have ended meanwhile. The caller
 * holds the global lock, which is released during that attempt. */
static void handler_miss(async_handler_t *handler, ucs_event_set_types_t events)
{
    ucs_async_context_t *async = handler->async;

    handler->missed_events |= events;
    if (!handler->is_missed) {
        handler->is_missed = 1;
        ++handler->refs;
        ucs_list_add_tail(&async->missed_list, &handler->missed_list);
        async_handler_disarm(handler);
    }

    ++async->pollers; /* the context must not be freed while this thread does
                       * not hold the global lock */
    __atomic_store_n(&async->missed, 1, __ATOMIC_SEQ_CST);
    async_unlock();
    ucs_async_run_missed(async);
    async_lock();
    --async->pollers;
    pthread_cond_broadcast(&async_global.done);
}

void async_handler_dispatch(async_handler_t *handler,
                            ucs_event_set_types_t events)
{
    ucs_async_context_t *async = handler->async;

    if (handler->is_removed) {
        return;
    }

    if (handler->mode == UCS_ASYNC_MODE_SIGNAL) {
        async_signal_dispatch(handler, events);
    } else if ((async == NULL) || (handler->mode == UCS_ASYNC_MODE_POLL)) {
        /* In poll mode this thread has locked the context (poll_context() in
         * public.c). */
        async_handler_run(handler, events);
    } else if (async_context_trylock(async)) {
        ++async->pollers;
        async_handler_run(handler, events);
        async_unlock();
        ucs_async_unblock(async);
        async_lock();
        --async->pollers;
        pthread_cond_broadcast(&async_global.done);
    } else {
        handler_miss(handler, events);
    }
}
