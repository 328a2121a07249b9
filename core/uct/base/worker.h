/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uct_worker, on which a thread calls progress. Its layout is visible to the
 * libraries of the core, so that UCP can inline its progress; plugins and
 * users have only a handle.
 */
#ifndef UCT_BASE_WORKER_H
#define UCT_BASE_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <uct/api/uct.h>
#include <ucx/host.h>

#include "ucs/datastruct/callbackq.h"

/* Wakes the thread that sleeps on the worker. It must only signal, for example
 * write to an eventfd, because it runs on any thread while a lock of the worker
 * is held. */
typedef void (*uct_worker_wake_cb_t)(void *arg);

/* One call that waits for the next progress. */
typedef struct uct_oneshot {
    struct uct_oneshot *next;
    ucx_oneshot_cb_t cb;
    void *arg;
    int is_owned; /* allocated by the worker, which frees it */
} uct_oneshot_t;

struct uct_worker {
    ucs_callbackq_t progress_q;
    atomic_uint num_oneshots; /* the only member that progress
                               * reads */
    ucs_thread_mode_t thread_mode;
    ucs_async_context_t *async; /* owned by the caller */

    pthread_mutex_t lock;    /* protects the members below */
    uct_oneshot_t *oneshots; /* queue, in the order of calls */
    uct_oneshot_t **oneshots_tail;
    uct_worker_wake_cb_t wake_cb;
    void *wake_arg;
};
typedef struct uct_worker uct_worker_t;

/* Runs the one-shot calls that are queued when this function begins. Calls that
 * are queued while it runs wait for the next progress. Returns the number of
 * calls. */
unsigned uct_worker_run_oneshots(uct_worker_h worker);

/* Makes progress. Only the worker's thread may call it. Hot path: one load in
 * addition to the progress callbacks. */
static inline unsigned uct_worker_progress_inline(uct_worker_h worker)
{
    unsigned count = 0;

    if (ucs_unlikely(atomic_load_explicit(&worker->num_oneshots,
                                          memory_order_relaxed) != 0)) {
        count = uct_worker_run_oneshots(worker);
    }

    return count + ucs_callbackq_dispatch(&worker->progress_q);
}

/* Queues a call of `cb`, which the next progress makes once, and wakes a
 * sleeping thread. Any thread. */
ucs_status_t uct_worker_oneshot_add(uct_worker_h worker, ucx_oneshot_cb_t cb,
                                    void *arg);

/* As uct_worker_oneshot_add(), but uses memory of the caller, and therefore
 * cannot fail. `oneshot` must not be queued already. It must exist until its
 * callback is called or the call is cancelled; the callback may free it. */
void uct_worker_oneshot_post(uct_worker_h worker, uct_oneshot_t *oneshot,
                             ucx_oneshot_cb_t cb, void *arg);

/* Removes every queued call of (cb, arg). Any thread. If the calling thread is
 * not the worker's, the callback may still be running after the return. */
void uct_worker_oneshot_cancel(uct_worker_h worker, ucx_oneshot_cb_t cb,
                               void *arg);

/* Returns whether one-shot calls are queued, which the next progress runs; the
 * thread must not sleep then. Any thread. */
static inline int uct_worker_has_oneshots(uct_worker_h worker)
{
    return atomic_load_explicit(&worker->num_oneshots, memory_order_acquire) !=
           0;
}

/*
 * Sets the callback that is called when a call is queued (NULL: none). After
 * this function has returned, the previous callback is not called any more.
 * Before a thread sleeps, it must arm the worker and then check
 * uct_worker_has_oneshots(); in the reverse order it could miss a call.
 */
void uct_worker_set_wake(uct_worker_h worker, uct_worker_wake_cb_t cb,
                         void *arg);

#endif
