/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uct_worker: the callbacks that the progress of a worker calls. Its layout is
 * visible to the libraries of the core, so that UCP can inline the progress;
 * plugins and users have only a handle. The worker's thread is the thread that
 * calls progress; other threads may queue one-shot calls, which the next
 * progress makes.
 */
#ifndef UCT_BASE_WORKER_H
#define UCT_BASE_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <uct/api/uct.h>
#include <ucx/host.h>

#include "ucs/datastruct/callbackq.h"

/* Called when a one-shot call is queued: wakes the worker's thread, which may
 * be sleeping. It must only signal, for example write to an eventfd, because it
 * runs in any thread, with the lock of the worker held. */
typedef void (*uct_worker_wake_cb_t)(void *arg);

/* A one-shot call. */
typedef struct uct_oneshot {
    struct uct_oneshot *next;
    ucx_oneshot_cb_t cb;
    void *arg;
    int is_owned; /* allocated by uct_worker_oneshot_add(); the worker frees
                   * it */
} uct_oneshot_t;

struct uct_worker {
    ucs_callbackq_t progress_q; /* progress callbacks of interfaces, plugins and
                                 * users */
    atomic_uint num_oneshots;   /* number of queued one-shot calls; progress
                                 * accesses the queue only if it is not 0 */
    ucs_thread_mode_t thread_mode;
    ucs_async_context_t *async; /* as passed by the user, who owns it */
    int is_polled;              /* set by uct_worker_set_polled() */

    pthread_mutex_t lock;          /* protects the members below */
    uct_oneshot_t *oneshots;       /* queued calls, in order */
    uct_oneshot_t **oneshots_tail; /* address of the last `next`, or of
                                    * `oneshots` if the queue is empty */
    uct_worker_wake_cb_t wake_cb;  /* NULL: none */
    void *wake_arg;                /* argument of wake_cb */
};
typedef struct uct_worker uct_worker_t;

/* Runs the one-shot calls that are queued when this function begins. Calls that
 * are queued while it runs wait for the next progress. Returns the number of
 * calls. */
unsigned uct_worker_run_oneshots(uct_worker_h worker);

/* Makes progress. Only the worker's thread may call this function. Hot path: in
 * addition to the progress callbacks, it only loads num_oneshots. */
static inline unsigned uct_worker_progress_inline(uct_worker_h worker)
{
    unsigned count = 0;

    if (ucs_unlikely(atomic_load_explicit(&worker->num_oneshots,
                                          memory_order_relaxed) != 0)) {
        count = uct_worker_run_oneshots(worker);
    }

    return count + ucs_callbackq_dispatch(&worker->progress_q);
}

/* Queues a one-shot call of `cb`: the next progress calls it once. Calls the
 * wake-up callback of the worker. Any thread. */
ucs_status_t uct_worker_oneshot_add(uct_worker_h worker, ucx_oneshot_cb_t cb,
                                    void *arg);

/* As uct_worker_oneshot_add(), but uses memory of the caller, and therefore
 * cannot fail. `oneshot` must not be queued already. It must exist until its
 * callback is called or the call is cancelled; the callback may free it. */
void uct_worker_oneshot_post(uct_worker_h worker, uct_oneshot_t *oneshot,
                             ucx_oneshot_cb_t cb, void *arg);

/* Removes every queued one-shot call with this `cb` and `arg`. Any thread. If
 * the calling thread is not the worker's, the callback may be running, also
 * after the return. */
void uct_worker_oneshot_cancel(uct_worker_h worker, ucx_oneshot_cb_t cb,
                               void *arg);

/* Returns whether one-shot calls are queued. If so, the worker's thread must
 * call progress before it sleeps. Any thread. */
static inline int uct_worker_has_oneshots(uct_worker_h worker)
{
    return atomic_load_explicit(&worker->num_oneshots, memory_order_acquire) !=
           0;
}

/*
 * Sets the wake-up callback (NULL: none). After this function has returned, the
 * previous callback is not called any more. Before the worker's thread sleeps,
 * it must first enable its wake-up mechanism, and then check
 * uct_worker_has_oneshots(). In the reverse order, a call that is queued in
 * between would not wake the thread.
 */
void uct_worker_set_wake(uct_worker_h worker, uct_worker_wake_cb_t cb,
                         void *arg);

/* Declares that the owner of the worker only polls (UCX_IFACE_OPEN_POLLED): it
 * requests no event descriptor of the interfaces that are opened later. Called
 * before other threads use the worker. */
static inline void uct_worker_set_polled(uct_worker_h worker)
{
    worker->is_polled = 1;
}

#endif
