/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The callbacks that the progress function of a worker calls. The owner is the
 * thread that calls them ("dispatches"); only one thread at a time may do this.
 * The owner may add and remove callbacks at any time, also inside a callback.
 * Other threads use the _safe functions. Callbacks of ucs_callbackq_add() are
 * on the fast path, those of ucs_callbackq_add_safe() on the slow path. While
 * the slow path is empty, it costs each dispatch one predictable branch.
 */
#ifndef UCS_CALLBACKQ_H
#define UCS_CALLBACKQ_H

#include <pthread.h>
#include <ucs/datastruct/callbackq_compat.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

typedef struct ucs_callbackq_elem {
    ucs_callback_t cb; /* NULL: end of the array */
    void *arg;
} ucs_callbackq_elem_t;

typedef struct ucs_callbackq {
    ucs_callbackq_elem_t *fast; /* array of the callbacks on the fast path */
    unsigned slow_count; /* atomic: number of callbacks on the slow path */
    struct ucs_callbackq_priv *priv;
} ucs_callbackq_t;

ucs_status_t ucs_callbackq_init(ucs_callbackq_t *cbq);

/** Drops the remaining callbacks without calling them. Warns if any of them is
 *  not one-shot. */
void ucs_callbackq_cleanup(ucs_callbackq_t *cbq);

/**
 * Adds a callback to the fast path. Owner only.
 *
 * @return An id that is valid until removed (never negative), or
 *         UCS_CALLBACKQ_ID_NULL when out of memory.
 */
int ucs_callbackq_add(ucs_callbackq_t *cbq, ucs_callback_t cb, void *arg);

/**
 * Allocates memory for one more callback on the fast path. The caller of this
 * function can then use ucs_callbackq_add_reserved(), again after each removal
 * of that callback. Owner only.
 *
 * @return UCS_OK, or UCS_ERR_NO_MEMORY: nothing has changed.
 */
ucs_status_t ucs_callbackq_reserve(ucs_callbackq_t *cbq);

/** Undoes one ucs_callbackq_reserve(). The callback that was added with it must
 *  have been removed. Owner only. */
void ucs_callbackq_unreserve(ucs_callbackq_t *cbq);

/** As ucs_callbackq_add(), but uses memory of ucs_callbackq_reserve(), and
 *  cannot fail. Owner only. */
int ucs_callbackq_add_reserved(ucs_callbackq_t *cbq, ucs_callback_t cb,
                               void *arg);

/** Removes a callback of either path, which is not called again after the
 *  return. UCS_CALLBACKQ_ID_NULL has no effect. May be called inside a
 *  callback. Owner only. */
void ucs_callbackq_remove(ucs_callbackq_t *cbq, int id);

/**
 * Adds a callback to the slow path. Any thread. With
 * UCS_CALLBACKQ_FLAG_ONESHOT, the dispatch removes the callback after it has
 * called it once.
 *
 * @return As ucs_callbackq_add().
 */
int ucs_callbackq_add_safe(ucs_callbackq_t *cbq, ucs_callback_t cb, void *arg,
                           unsigned flags);

/** Removes a callback of ucs_callbackq_add_safe(). Any thread. Waits until the
 *  callback is not running, unless it is the callback that calls this function.
 *  The id of a one-shot callback that was already called is ignored. */
void ucs_callbackq_remove_safe(ucs_callbackq_t *cbq, int id);

/** Part of the dispatch: calls the callbacks on the slow path, and returns the
 *  sum of their results. */
unsigned ucs_callbackq_dispatch_slow(ucs_callbackq_t *cbq);

/** Hot path: calls all callbacks and returns the sum of their results. May be
 *  called inside a callback. */
static UCS_F_ALWAYS_INLINE unsigned ucs_callbackq_dispatch(ucs_callbackq_t *cbq)
{
    unsigned count = 0;
    ucs_callback_t cb;
    size_t i;

    /* cbq->fast is read in each iteration, because a callback may change or
     * reallocate the array */
    for (i = 0; (cb = cbq->fast[i].cb) != NULL; ++i) {
        count += cb(cbq->fast[i].arg);
    }

    if (ucs_unlikely(__atomic_load_n(&cbq->slow_count, __ATOMIC_RELAXED))) {
        count += ucs_callbackq_dispatch_slow(cbq);
    }

    return count;
}

END_C_DECLS

#endif
