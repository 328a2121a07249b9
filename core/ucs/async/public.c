/* SPDX-License-Identifier: BSD-3-Clause */
/* Public functions: add, change and remove handlers, poll contexts. */
#include "ucs/async/internal.h"

#include <stdlib.h>

#include "ucs/debug/log.h"
#include "ucs/sys/sys.h"
#include "ucs/time/time.h"

static ucs_status_t check_mode(ucs_async_mode_t mode,
                               const ucs_async_context_t *async)
{
    if ((unsigned)mode >= UCS_ASYNC_MODE_LAST) {
        ucs_error("%d is not a valid mode of asynchronous events", (int)mode);
        return UCS_ERR_INVALID_PARAM;
    } else if ((async != NULL) && (async->mode != mode)) {
        ucs_error("a handler in mode %s cannot belong to a context in mode %s",
                  ucs_async_mode_names[mode],
                  ucs_async_mode_names[async->mode]);
        return UCS_ERR_INVALID_PARAM;
    } else if ((async != NULL) && (mode == UCS_ASYNC_MODE_SIGNAL) &&
               (async->tid != ucs_get_tid())) {
        ucs_error("thread %d created a context in signal mode, so thread %d "
                  "cannot add a handler to it",
                  (int)async->tid, (int)ucs_get_tid());
        return UCS_ERR_INVALID_PARAM;
    }

    return UCS_OK;
}

/* Returns the loop at *place, which is created at the first call. The caller
 * holds the global lock. */
static ucs_status_t poll_loop_get(async_loop_t **place, async_loop_t **loop_p)
{
    ucs_status_t status;
    async_loop_t *loop;

    if (*place == NULL) {
        status = async_loop_create(&loop);
        if (status != UCS_OK) {
            return status;
        }
        __atomic_store_n(place, loop, __ATOMIC_RELEASE);
    }

    *loop_p = *place;
    return UCS_OK;
}

static ucs_status_t loop_get(ucs_async_mode_t mode, ucs_async_context_t *async,
                             async_loop_t **loop_p)
{
    ucs_status_t status;

    if (mode == UCS_ASYNC_MODE_POLL) {
        return poll_loop_get((async == NULL) ? &async_global.poll_loop :
                                               &async->loop,
                             loop_p);
    }

    status = async_thread_get(loop_p);
    if ((status == UCS_OK) && (mode == UCS_ASYNC_MODE_SIGNAL)) {
        status = async_signal_prepare(*loop_p);
    }

    return status;
}

static ucs_status_t handler_publish(async_handler_t *handler)
{
    ucs_status_t status;

    status = ucs_hash_put(&async_global.by_id, (uint64_t)handler->id, handler);
    if (status != UCS_OK) {
        if (status == UCS_ERR_ALREADY_EXISTS) {
            ucs_error("descriptor %d already has a handler; remove that "
                      "first, before the descriptor is closed",
                      handler->id);
        }
        return status;
    }

    status = ucs_hash_put(&async_global.by_seq, handler->seq, handler);
    if (status != UCS_OK) {
        ucs_hash_del(&async_global.by_id, (uint64_t)handler->id);
    }

    return status;
}

static void handler_hide(async_handler_t *handler)
{
    ucs_hash_del(&async_global.by_id, (uint64_t)handler->id);
    ucs_hash_del(&async_global.by_seq, handler->seq);
}

/* Adds the handler to its event loop. The caller holds the global lock. */
static ucs_status_t handler_start(async_handler_t *handler)
{
    ucs_status_t status;

    status = loop_get(handler->mode, handler->async, &handler->loop);
    if (status != UCS_OK) {
        return status;
    }

    if (handler->mode == UCS_ASYNC_MODE_SIGNAL) {
        async_signal_set_target(handler);
    }

    if (handler->interval != 0) {
        handler->expires = ucs_get_time() + handler->interval;
        status           = async_loop_add_timer(handler->loop, handler);
    } else {
        status = async_loop_add_fd(handler->loop, handler->id, handler->events,
                                   handler->seq);
        handler->is_armed = (status == UCS_OK);
        if (status != UCS_OK) {
            ucs_error("descriptor %d cannot be monitored: %s", handler->id,
                      ucs_status_string(status));
        }
    }

    if (status == UCS_OK) {
        ++handler->loop->num_handlers;
        if (handler->async != NULL) {
            __atomic_add_fetch(&handler->async->num_handlers, 1,
                               __ATOMIC_RELAXED);
        }
    }

    return status;
}

static int next_timer_id(void)
{
    int id;

    do {
        id                         = async_global.next_timer_id;
        async_global.next_timer_id = (id == INT_MAX) ? UCS_ASYNC_TIMER_ID_MIN :
                                                       id + 1;
    } while (ucs_hash_get(&async_global.by_id, (uint64_t)id) != NULL);

    return id;
}

/* Adds a copy of `params` as a new handler. If params->id is negative, the
 * handler is a timer and gets a new id. *id_p receives the id. */
static ucs_status_t handler_add(const async_handler_t *params, int *id_p)
{
    async_loop_t *ended = NULL;
    async_handler_t *handler;
    ucs_status_t status;

    status = check_mode(params->mode, params->async);
    if (status != UCS_OK) {
        return status;
    }

    handler = malloc(sizeof(*handler));
    if (handler == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    async_fork_prepare_once();
    *handler            = *params;
    handler->refs       = 1;
    handler->target_tid = ucs_get_tid();

    async_lock();
    handler->seq = async_global.next_seq++;
    if (handler->id < 0) {
        handler->id = next_timer_id();
    }

    status = handler_publish(handler);
    if (status != UCS_OK) {
        goto err;
    }

    status = handler_start(handler);
    if (status != UCS_OK) {
        handler_hide(handler);
        ended = async_thread_put();
        goto err;
    }

    *id_p = handler->id;
    async_unlock();
    return UCS_OK;

err:
    async_unlock();
    async_thread_join(ended);
    free(handler);
    return status;
}

ucs_status_t ucs_async_set_event_handler(ucs_async_mode_t mode, int event_fd,
                                         ucs_event_set_types_t events,
                                         ucs_async_event_cb_t cb, void *arg,
                                         ucs_async_context_t *async)
{
    async_handler_t params = {
        .id     = event_fd,
        .mode   = mode,
        .events = events,
        .cb     = cb,
        .arg    = arg,
        .async  = async,
    };
    int id;

    if ((event_fd < 0) || (event_fd >= UCS_ASYNC_TIMER_ID_MIN) ||
        (cb == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    return handler_add(&params, &id);
}

ucs_status_t ucs_async_add_timer(ucs_async_mode_t mode, ucs_time_t interval,
                                 ucs_async_event_cb_t cb, void *arg,
                                 ucs_async_context_t *async, int *timer_id_p)
{
    async_handler_t params = {
        .id       = -1,
        .mode     = mode,
        .interval = interval,
        .cb       = cb,
        .arg      = arg,
        .async    = async,
    };

    /* the upper limit: now + interval must not overflow */
    if ((interval == 0) || (interval > UCS_TIME_INFINITY / 2) || (cb == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    return handler_add(&params, timer_id_p);
}

/* Removes a handler. If `sync` is nonzero and another thread runs the callback,
 * waits until the callback has returned. The caller holds the global lock,
 * which is released during the wait. */
static void handler_remove(async_handler_t *handler, int sync)
{
    handler_hide(handler);
    async_handler_disarm(handler);
    __atomic_store_n(&handler->is_removed, 1, __ATOMIC_SEQ_CST);
    if (handler->interval != 0) {
        ucs_list_del(&handler->timer_list);
        async_loop_set_timer(handler->loop);
    }

    if (handler->is_missed) {
        ucs_list_del(&handler->missed_list);
        handler->is_missed = 0;
        async_handler_put(handler);
    }

    --handler->loop->num_handlers;
    while (sync &&
           ((handler->is_running &&
             !pthread_equal(handler->runner, pthread_self())) ||
            (__atomic_load_n(&handler->signal_running, __ATOMIC_SEQ_CST) &&
             (handler->target_tid != ucs_get_tid())))) {
        pthread_cond_wait(&async_global.done, &async_global.lock);
    }

    if (handler->async != NULL) {
        __atomic_sub_fetch(&handler->async->num_handlers, 1, __ATOMIC_RELAXED);
    }

    async_handler_put(handler);
}

ucs_status_t ucs_async_remove_handler(int id, int sync)
{
    async_handler_t *handler;
    async_loop_t *ended;

    async_lock();
    handler = ucs_hash_get(&async_global.by_id, (uint64_t)id);
    if (handler == NULL) {
        async_unlock();
        return UCS_ERR_NO_ELEM;
    }

    handler_remove(handler, sync);
    ended = async_thread_put();
    async_unlock();
    async_thread_join(ended);
    return UCS_OK;
}

void ucs_async_remove_all(ucs_async_context_t *async)
{
    async_handler_t *handler;
    async_loop_t *ended;

    async_lock();
    do {
        ucs_hash_for_each(handler, &async_global.by_id) {
            if (handler->async == async) {
                ucs_debug("handler of %d was not removed; it is removed with "
                          "its context",
                          handler->id);
                handler_remove(handler, 1);
                break; /* the table has changed */
            }
        }
    } while (handler != NULL);

    ended = async_thread_put();
    async_unlock();
    async_thread_join(ended);
}

ucs_status_t ucs_async_modify_handler(int fd, ucs_event_set_types_t events)
{
    ucs_status_t status = UCS_OK;
    async_handler_t *handler;

    async_lock();
    handler = ucs_hash_get(&async_global.by_id, (uint64_t)fd);
    if (handler == NULL) {
        status = UCS_ERR_NO_ELEM;
    } else if (handler->interval != 0) {
        status = UCS_ERR_INVALID_PARAM;
    } else {
        if (handler->is_armed) {
            status = ucs_event_set_mod(handler->loop->set, fd, events,
                                       (void *)(uintptr_t)handler->seq);
        }
        if (status == UCS_OK) {
            handler->events = events;
        }
    }
    async_unlock();

    return status;
}

/* ---- polling ---- */

static void poll_context(ucs_async_context_t *async)
{
    async_loop_t *loop;

    if (async->mode != UCS_ASYNC_MODE_POLL) {
        ucs_async_run_missed(async);
        return;
    }

    if ((__atomic_load_n(&async->num_handlers, __ATOMIC_RELAXED) == 0) ||
        !async_context_trylock(async)) {
        return;
    }

    loop = __atomic_load_n(&async->loop, __ATOMIC_ACQUIRE);
    if (loop != NULL) {
        async_loop_process(loop, 0);
    }

    ucs_async_unblock(async);
}

/* Polls every context, and the loop of handlers without a context. `pollers`
 * keeps a context in the list while the global lock is released, so that the
 * walk can continue from it. */
static void poll_all(void)
{
    ucs_async_context_t *async;
    async_loop_t *loop;

    async_lock();
    ucs_list_for_each(async, &async_global.contexts, list) {
        ++async->pollers;
        async_unlock();
        poll_context(async);
        async_lock();
        --async->pollers;
        pthread_cond_broadcast(&async_global.done);
    }
    loop = async_global.poll_loop;
    async_unlock();

    if (loop != NULL) {
        async_loop_process(loop, 0);
    }
}

void ucs_async_poll(ucs_async_context_t *async)
{
    if (async == NULL) {
        poll_all();
    } else {
        poll_context(async);
    }
}

ucs_status_t ucs_async_event_fd(ucs_async_context_t *async, int *fd_p)
{
    ucs_status_t status;
    async_loop_t *loop;

    if (async->mode != UCS_ASYNC_MODE_POLL) {
        return UCS_ERR_UNSUPPORTED; /* only contexts in poll mode have a loop
                                     * of their own */
    }

    async_lock();
    status = poll_loop_get(&async->loop, &loop);
    async_unlock();
    return (status == UCS_OK) ? ucs_event_set_fd_get(loop->set, fd_p) : status;
}
