/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The callbacks that the progress function of a worker calls. One thread at a
 * time, the owner, dispatches, that is, calls them. It may add and remove
 * callbacks at any time, also inside a callback. Other threads use the _safe
 * functions, which add one predictable branch to each dispatch as long as no
 * such callback exists.
 */
#ifndef UCS_CALLBACKQ_H
#define UCS_CALLBACKQ_H

#include <pthread.h>
#include <ucs/datastruct/callbackq_compat.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

typedef struct ucs_callbackq_elem {
    ucs_callback_t cb; /* NULL terminates the array */
    void *arg;
} ucs_callbackq_elem_t;

typedef struct ucs_callbackq {
    ucs_callbackq_elem_t *fast; /* called on every dispatch */
    unsigned slow_count;        /* atomic: the number of callbacks of
                                 * ucs_callbackq_add_safe */
    struct ucs_callbackq_priv *priv;
} ucs_callbackq_t;

ucs_status_t ucs_callbackq_init(ucs_callbackq_t *cbq);

/** Drops the remaining callbacks without calling them. A warning names those
 *  that are not one-shot. */
void ucs_callbackq_cleanup(ucs_callbackq_t *cbq);

/**
 * Adds a callback to the fast path. Owner only.
 *
 * @return An id that is valid until removed (never negative), or
 *         UCS_CALLBACKQ_ID_NULL when out of memory.
 */
int ucs_callbackq_add(ucs_callbackq_t *cbq, ucs_callback_t cb, void *arg);

/**
 * Reserves a place on the fast path, so that one callback at a time can be
 * added without an allocation. Owner only.
 *
 * @return UCS_OK, or UCS_ERR_NO_MEMORY: nothing has changed.
 */
ucs_status_t ucs_callbackq_reserve(ucs_callbackq_t *cbq);

/** Releases a place that ucs_callbackq_reserve() reserved. The callback in it
 *  must have been removed. */
void ucs_callbackq_unreserve(ucs_callbackq_t *cbq);

/** As ucs_callbackq_add, but uses a reserved place, and cannot fail. Owner
 *  only. */
int ucs_callbackq_add_reserved(ucs_callbackq_t *cbq, ucs_callback_t cb,
                               void *arg);

/** Removes a callback immediately. May be called inside a callback. Owner
 *  only. */
void ucs_callbackq_remove(ucs_callbackq_t *cbq, int id);

/**
 * Adds a callback from any thread. With UCS_CALLBACKQ_FLAG_ONESHOT it is called
 * once, which removes it.
 */
int ucs_callbackq_add_safe(ucs_callbackq_t *cbq, ucs_callback_t cb, void *arg,
                           unsigned flags);

/** Removes a callback of ucs_callbackq_add_safe, from any thread. After the
 *  return, the callback is not running and will not run, unless the callback
 *  itself calls this function. The id of a one-shot callback that was called is
 *  ignored. */
void ucs_callbackq_remove_safe(ucs_callbackq_t *cbq, int id);

/** Part of the dispatch: calls the callbacks of ucs_callbackq_add_safe(). */
unsigned ucs_callbackq_dispatch_slow(ucs_callbackq_t *cbq);

/** Hot path: calls all callbacks and returns the sum of their results. May be
 *  called inside a callback. */
static UCS_F_ALWAYS_INLINE unsigned ucs_callbackq_dispatch(ucs_callbackq_t *cbq)
{
    unsigned count = 0;
    ucs_callback_t cb;
    size_t i;

    /* reload: a callback may change or move the array */
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
