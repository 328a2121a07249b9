/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers (uct_worker_h): callbacks of users and transports that each progress
 * calls, and one-shot calls, which any thread queues for the worker's next
 * progress. worker.h has the inline function that makes progress.
 */
#include "uct/base/worker.h"

#include <stdlib.h>

#include "ucs/debug/log.h"
#include "uct/base/checking.h"

ucs_status_t uct_worker_create(ucs_async_context_t *async,
                               ucs_thread_mode_t thread_mode,
                               uct_worker_h *worker_p)
{
    uct_worker_t *worker;
    ucs_status_t status;

    if ((async == NULL) || (worker_p == NULL) ||
        ((unsigned)thread_mode >= UCS_THREAD_MODE_LAST)) {
        return UCS_ERR_INVALID_PARAM;
    }

    worker = calloc(1, sizeof(*worker));
    if (worker == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    status = ucs_callbackq_init(&worker->progress_q);
    if (status != UCS_OK) {
        goto err_free;
    }

    if (pthread_mutex_init(&worker->lock, NULL) != 0) {
        status = UCS_ERR_NO_MEMORY;
        goto err_queue;
    }

    atomic_init(&worker->num_oneshots, 0);
    worker->oneshots_tail = &worker->oneshots;
    worker->thread_mode   = thread_mode;
    worker->async         = async;
    *worker_p             = worker;
    return UCS_OK;

err_queue:
    ucs_callbackq_cleanup(&worker->progress_q);
err_free:
    free(worker);
    return status;
}

static void uct_oneshot_free(uct_oneshot_t *oneshot)
{
    if (oneshot->is_owned) {
        free(oneshot);
    }
}

void uct_worker_destroy(uct_worker_h worker)
{
    uct_oneshot_t *oneshot;

    while ((oneshot = worker->oneshots) != NULL) {
        worker->oneshots = oneshot->next;
        uct_oneshot_free(oneshot);
    }

    ucs_callbackq_cleanup(&worker->progress_q);
    pthread_mutex_destroy(&worker->lock);
    free(worker);
}

unsigned uct_worker_progress(uct_worker_h worker)
{
    return uct_worker_progress_inline(worker);
}

/* Calls the callback of uct_worker_set_wake(), which wakes the worker's thread.
 * The caller holds the lock. */
static void uct_worker_wake(uct_worker_t *worker)
{
    if (worker->wake_cb != NULL) {
        worker->wake_cb(worker->wake_arg);
    }
}

void uct_worker_progress_register_safe(uct_worker_h worker, ucs_callback_t func,
                                       void *arg, unsigned flags,
                                       uct_worker_cb_id_t *id_p)
{
    if (*id_p != UCS_CALLBACKQ_ID_NULL) {
        return;
    }

    *id_p = ucs_callbackq_add_safe(&worker->progress_q, func, arg, flags);
    if (*id_p == UCS_CALLBACKQ_ID_NULL) {
        ucs_error("no memory for a progress callback; it will not be called");
        return;
    }

    pthread_mutex_lock(&worker->lock);
    uct_worker_wake(worker);
    pthread_mutex_unlock(&worker->lock);
}

void uct_worker_progress_unregister_safe(uct_worker_h worker,
                                         uct_worker_cb_id_t *id_p)
{
    if (*id_p == UCS_CALLBACKQ_ID_NULL) {
        return;
    }

    ucs_callbackq_remove_safe(&worker->progress_q, *id_p);
    *id_p = UCS_CALLBACKQ_ID_NULL;
}

void uct_worker_set_wake(uct_worker_h worker, uct_worker_wake_cb_t cb,
                         void *arg)
{
    pthread_mutex_lock(&worker->lock);
    worker->wake_cb  = cb;
    worker->wake_arg = arg;
    pthread_mutex_unlock(&worker->lock);
}

/* Appends a call to the queue and wakes the worker's thread. */
static void uct_worker_oneshot_push(uct_worker_h worker, uct_oneshot_t *oneshot,
                                    ucx_oneshot_cb_t cb, void *arg)
{
    oneshot->next = NULL;
    oneshot->cb   = cb;
    oneshot->arg  = arg;

    pthread_mutex_lock(&worker->lock);
    *worker->oneshots_tail = oneshot;
    worker->oneshots_tail  = &oneshot->next;
    atomic_fetch_add_explicit(&worker->num_oneshots, 1, memory_order_release);
    uct_worker_wake(worker);
    pthread_mutex_unlock(&worker->lock);
}

ucs_status_t uct_worker_oneshot_add(uct_worker_h worker, ucx_oneshot_cb_t cb,
                                    void *arg)
{
    uct_oneshot_t *oneshot = malloc(sizeof(*oneshot));

    if (oneshot == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    oneshot->is_owned = 1;
    uct_worker_oneshot_push(worker, oneshot, cb, arg);
    return UCS_OK;
}

void uct_worker_oneshot_post(uct_worker_h worker, uct_oneshot_t *oneshot,
                             ucx_oneshot_cb_t cb, void *arg)
{
    oneshot->is_owned = 0;
    uct_worker_oneshot_push(worker, oneshot, cb, arg);
}

void uct_worker_oneshot_cancel(uct_worker_h worker, ucx_oneshot_cb_t cb,
                               void *arg)
{
    uct_oneshot_t **link, *oneshot;

    pthread_mutex_lock(&worker->lock);
    link = &worker->oneshots;
    while ((oneshot = *link) != NULL) {
        if ((oneshot->cb != cb) || (oneshot->arg != arg)) {
            link = &oneshot->next;
            continue;
        }
        *link = oneshot->next;
        atomic_fetch_sub_explicit(&worker->num_oneshots, 1,
                                  memory_order_release);
        uct_oneshot_free(oneshot);
    }
    worker->oneshots_tail = link;
    pthread_mutex_unlock(&worker->lock);
}

/* Removes the first call from the queue, or returns NULL. */
static uct_oneshot_t *uct_worker_oneshot_pop(uct_worker_t *worker)
{
    uct_oneshot_t *oneshot;

    pthread_mutex_lock(&worker->lock);
    oneshot = worker->oneshots;
    if (oneshot != NULL) {
        worker->oneshots = oneshot->next;
        if (worker->oneshots == NULL) {
            worker->oneshots_tail = &worker->oneshots;
        }
        atomic_fetch_sub_explicit(&worker->num_oneshots, 1,
                                  memory_order_release);
    }
    pthread_mutex_unlock(&worker->lock);

    return oneshot;
}

unsigned uct_worker_run_oneshots(uct_worker_h worker)
{
    unsigned limit = atomic_load_explicit(&worker->num_oneshots,
                                          memory_order_acquire);
    unsigned count;
    uct_oneshot_t *oneshot, call;

    /* The calls are taken from the queue one by one, because a callback may
     * cancel later ones. */
    for (count = 0; count < limit; ++count) {
        oneshot = uct_worker_oneshot_pop(worker);
        if (oneshot == NULL) {
            break;
        }
        call = *oneshot; /* a copy, because the callback may queue or free its
                          * uct_oneshot_t */
        uct_oneshot_free(oneshot);
        if (uct_checks != NULL) {
            uct_checks->oneshot(call.cb, call.arg);
        } else {
            call.cb(call.arg);
        }
    }

    return count;
}
