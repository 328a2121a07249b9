/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous handlers of plugins. libucs identifies a handler by its
 * descriptor or timer number, which the system reuses. A plugin receives an id
 * that is never reused, so that a removal by an old id cannot remove a newer
 * handler.
 */
#include <pthread.h>
#include <stdlib.h>

#include "ucs/async/async.h"
#include "ucs/datastruct/hash.h"
#include "ucs/debug/log.h"
#include "ucs/time/time.h"
#include "uct/base/host_services.h"
#include "uct/base/worker.h"

typedef struct uct_async_handler {
    int number;                    /* descriptor or timer number in libucs */
    ucx_async_fd_cb_t fd_cb;       /* of a descriptor; NULL: a timer */
    ucx_async_timer_cb_t timer_cb; /* of a timer; NULL: a descriptor */
    void *arg;                     /* passed to the callback */
} uct_async_handler_t;

/* Protects the variables below. */
static pthread_mutex_t uct_handlers_lock = PTHREAD_MUTEX_INITIALIZER;
static ucs_hash_t uct_handlers;          /* handlers by id; not initialized
                                          * while uct_handlers_count is 0 */
static unsigned uct_handlers_count;      /* number of handlers in the table */
static ucx_async_id_t uct_handlers_last; /* the id that was assigned last */

/* Stores the handler under a new id. */
static ucs_status_t uct_handler_publish(uct_async_handler_t *handler,
                                        ucx_async_id_t *id_p)
{
    ucs_status_t status;

    pthread_mutex_lock(&uct_handlers_lock);
    if (uct_handlers_count == 0) {
        ucs_hash_init(&uct_handlers);
    }
    status = ucs_hash_put(&uct_handlers, uct_handlers_last + 1, handler);
    if (status == UCS_OK) {
        *id_p = ++uct_handlers_last;
        ++uct_handlers_count;
    } else if (uct_handlers_count == 0) {
        ucs_hash_cleanup(&uct_handlers);
    }
    pthread_mutex_unlock(&uct_handlers_lock);
    return status;
}

/* Returns the handler of an id, or NULL. The caller holds uct_handlers_lock, and
 * keeps it while it uses the handler. */
static uct_async_handler_t *uct_handler_find(ucx_async_id_t id)
{
    return (uct_handlers_count > 0) ? ucs_hash_get(&uct_handlers, id) : NULL;
}

/* Removes the handler of an id from the table and returns it; returns NULL if
 * the id is unknown. */
static uct_async_handler_t *uct_handler_take(ucx_async_id_t id)
{
    uct_async_handler_t *handler;

    pthread_mutex_lock(&uct_handlers_lock);
    handler = uct_handler_find(id);
    if (handler != NULL) {
        ucs_hash_del(&uct_handlers, id);
        if (--uct_handlers_count == 0) {
            ucs_hash_cleanup(&uct_handlers);
        }
    }
    pthread_mutex_unlock(&uct_handlers_lock);
    return handler;
}

/* Calls the plugin's callback. The callback may remove and free the handler, so
 * the handler is not accessed after the call. */
static void uct_handler_call(int number, ucs_event_set_types_t events,
                             void *arg)
{
    uct_async_handler_t *handler = arg;

    if (handler->fd_cb != NULL) {
        handler->fd_cb(number, (int)events, handler->arg);
    } else {
        handler->timer_cb(handler->arg);
    }
}

ucs_status_t uct_host_async_add_fd(uct_worker_h worker, int fd, int events,
                                   ucx_async_fd_cb_t cb, void *arg,
                                   ucx_async_id_t *id_p)
{
    ucs_async_context_t *async   = worker->async;
    uct_async_handler_t *handler = calloc(1, sizeof(*handler));
    ucs_status_t status;

    if (handler == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    handler->number = fd;
    handler->fd_cb  = cb;
    handler->arg    = arg;
    status          = uct_handler_publish(handler, id_p);
    if (status != UCS_OK) {
        free(handler);
        return status;
    }

    /* from here on, another thread may call the callback */
    status = ucs_async_set_event_handler(async->mode, fd,
                                         (ucs_event_set_types_t)events,
                                         uct_handler_call, handler, async);
    if (status != UCS_OK) {
        (void)uct_handler_take(*id_p);
        free(handler);
    }
    return status;
}

ucs_status_t uct_host_async_modify_fd(ucx_async_id_t id, int events)
{
    ucs_status_t status = UCS_ERR_NO_ELEM;
    uct_async_handler_t *handler;

    /* Under the lock, no thread can remove the handler. Afterwards its
     * descriptor could belong to another one. */
    pthread_mutex_lock(&uct_handlers_lock);
    handler = uct_handler_find(id);
    if ((handler != NULL) && (handler->fd_cb != NULL)) {
        status = ucs_async_modify_handler(handler->number,
                                          (ucs_event_set_types_t)events);
    }
    pthread_mutex_unlock(&uct_handlers_lock);
    return status;
}

ucs_status_t uct_host_async_add_timer(uct_worker_h worker, double interval,
                                      ucx_async_timer_cb_t cb, void *arg,
                                      ucx_async_id_t *id_p)
{
    ucs_async_context_t *async   = worker->async;
    uct_async_handler_t *handler = calloc(1, sizeof(*handler));
    ucs_status_t status;

    if (handler == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    handler->timer_cb = cb;
    handler->arg      = arg;
    status = ucs_async_add_timer(async->mode, ucs_time_from_sec(interval),
                                 uct_handler_call, handler, async,
                                 &handler->number);
    if (status != UCS_OK) {
        free(handler);
        return status;
    }

    /* The handler gets its id after `number` is set, because any thread that
     * has the id may remove the timer by this number. */
    status = uct_handler_publish(handler, id_p);
    if (status != UCS_OK) {
        (void)ucs_async_remove_handler(handler->number, 1);
        free(handler);
    }
    return status;
}

void uct_host_async_remove(ucx_async_id_t id)
{
    uct_async_handler_t *handler = uct_handler_take(id);

    if (handler == NULL) {
        return; /* the id is 0, or was removed already */
    }

    /* Waits until the callback has returned, unless it is the callback that
     * calls this function. */
    (void)ucs_async_remove_handler(handler->number, 1);
    free(handler);
}
