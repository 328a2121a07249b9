/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress callbacks. The fast path is an array that only the owner accesses.
 * Callbacks that ucs_callbackq_add_safe() has added are in a list under a
 * mutex: they are slower to call, but their removal can wait for a running
 * call.
 */
#include "ucs/datastruct/callbackq.h"

#include <stdlib.h>
#include <string.h>

#include "ucs/datastruct/hash.h"
#include "ucs/datastruct/list.h"
#include "ucs/datastruct/ptr_array.h"
#include "ucs/debug/assert.h"
#include "ucs/sys/math.h"

/* Ids of callbacks on the slow path have this bit. The other bits are a
 * counter, so that the id of a removed callback is not reused soon. */
#define SLOW_ID_FLAG (1 << 29)
#define SLOW_ID_MASK (SLOW_ID_FLAG - 1)

/* A callback on the slow path. */
typedef struct {
    ucs_list_link_t list; /* link in ucs_callbackq_priv::slow */
    ucs_callback_t cb;
    void *arg;
    unsigned flags; /* UCS_CALLBACKQ_FLAG_* */
    int id;
    unsigned round;   /* number of the last dispatch that has visited this
                       * element; before that, of the last dispatch that began
                       * before it was added */
    unsigned waiters; /* number of threads that wait until is_running is 0 */
    int is_running;   /* thread `runner` is in the callback */
    int is_removed;   /* not in the list any more; freed when no thread uses
                       * it */
    pthread_t runner; /* valid while is_running */
} slow_elem_t;

struct ucs_callbackq_priv {
    unsigned count;    /* number of callbacks on the fast path */
    unsigned reserved; /* number of successful ucs_callbackq_reserve() calls
                        * minus ucs_callbackq_unreserve() calls */
    unsigned capacity; /* number of callbacks for which `fast` and `ids` have
                        * space */
    int *ids;          /* ids of the callbacks, in the order of `fast` */
    ucs_ptr_array_t index_by_id; /* index in `fast` of the callback with an id;
                                  * times 2, because entries must be even */

    pthread_mutex_t lock;  /* protects the members below, and changes of
                            * ucs_callbackq_t::slow_count */
    pthread_cond_t done;   /* signalled when a callback with waiters returns */
    ucs_list_link_t slow;  /* list of slow_elem_t; those that were visited last
                            * are at the tail */
    ucs_hash_t slow_by_id; /* the same elements by their id */
    int next_slow_id;      /* counter for the id of the next element */
    unsigned round;        /* number of dispatches of the slow path so far */
};

static void *index_to_ptr(unsigned index)
{
    return (void *)((uintptr_t)index << 1);
}

static unsigned ptr_to_index(void *ptr)
{
    return (unsigned)((uintptr_t)ptr >> 1);
}

/* Allocates memory, so that there is space for one callback in addition to
 * `count` and `reserved`. */
static ucs_status_t callbackq_grow(ucs_callbackq_t *cbq)
{
    struct ucs_callbackq_priv *priv = cbq->priv;
    ucs_callbackq_elem_t *fast;
    unsigned capacity;
    int *ids;

    if (priv->count + priv->reserved < priv->capacity) {
        return UCS_OK;
    }

    capacity = ucs_max(priv->capacity * 2, 8u);
    if (ucs_ptr_array_reserve(&priv->index_by_id, capacity) != UCS_OK) {
        return UCS_ERR_NO_MEMORY;
    }
    ids = realloc(priv->ids, capacity * sizeof(*ids));
    if (ids == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    priv->ids = ids;
    fast      = realloc(cbq->fast, (capacity + 1) * sizeof(*fast));
    if (fast == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    cbq->fast      = fast;
    priv->capacity = capacity;
    return UCS_OK;
}

ucs_status_t ucs_callbackq_init(ucs_callbackq_t *cbq)
{
    struct ucs_callbackq_priv *priv;

    cbq->fast = calloc(1, sizeof(*cbq->fast));
    priv      = calloc(1, sizeof(*priv));
    if ((cbq->fast == NULL) || (priv == NULL)) {
        free(cbq->fast);
        free(priv);
        return UCS_ERR_NO_MEMORY;
    }

    cbq->slow_count = 0;
    cbq->priv       = priv;
    ucs_ptr_array_init(&priv->index_by_id);
    pthread_mutex_init(&priv->lock, NULL);
    pthread_cond_init(&priv->done, NULL);
    ucs_list_head_init(&priv->slow);
    ucs_hash_init(&priv->slow_by_id);
    return UCS_OK;
}

int ucs_callbackq_add(ucs_callbackq_t *cbq, ucs_callback_t cb, void *arg)
{
    return (callbackq_grow(cbq) == UCS_OK) ?
               ucs_callbackq_add_reserved(cbq, cb, arg) :
               UCS_CALLBACKQ_ID_NULL;
}

ucs_status_t ucs_callbackq_reserve(ucs_callbackq_t *cbq)
{
    ucs_status_t status = callbackq_grow(cbq);

    cbq->priv->reserved += (status == UCS_OK);
    return status;
}

void ucs_callbackq_unreserve(ucs_callbackq_t *cbq)
{
    --cbq->priv->reserved;
}

int ucs_callbackq_add_reserved(ucs_callbackq_t *cbq, ucs_callback_t cb,
                               void *arg)
{
    struct ucs_callbackq_priv *priv = cbq->priv;
    ucs_status_t status;
    unsigned id;

    status = ucs_ptr_array_insert(&priv->index_by_id, index_to_ptr(priv->count),
                                  &id);
    ucs_assert_always((status == UCS_OK) && (priv->count < priv->capacity));

    priv->ids[priv->count]        = (int)id;
    cbq->fast[priv->count + 1].cb = NULL;
    cbq->fast[priv->count].arg    = arg;
    cbq->fast[priv->count].cb     = cb;
    ++priv->count;
    return (int)id;
}

/* Moves the last callback of the array to the place of the removed one. If a
 * dispatch is running and has passed that place, the moved callback is not
 * called in this dispatch. */
void ucs_callbackq_remove(ucs_callbackq_t *cbq, int id)
{
    struct ucs_callbackq_priv *priv = cbq->priv;
    unsigned index, last;
    void *ptr;

    if (id == UCS_CALLBACKQ_ID_NULL) {
        return;
    } else if (id & SLOW_ID_FLAG) {
        ucs_callbackq_remove_safe(cbq, id);
        return;
    }

    ucs_assert_always(
        ucs_ptr_array_lookup(&priv->index_by_id, (unsigned)id, &ptr));
    index = ptr_to_index(ptr);
    last  = --priv->count;
    if (index != last) {
        cbq->fast[index]                          = cbq->fast[last];
        priv->ids[index]                          = priv->ids[last];
        priv->index_by_id.elems[priv->ids[index]] = (uintptr_t)index_to_ptr(
            index);
    }

    cbq->fast[last].cb = NULL;
    ucs_ptr_array_remove(&priv->index_by_id, (unsigned)id);
}

/* Keeps the id in a variable: after the lock is released, another thread may
 * call, remove and free the element. */
int ucs_callbackq_add_safe(ucs_callbackq_t *cbq, ucs_callback_t cb, void *arg,
                           unsigned flags)
{
    struct ucs_callbackq_priv *priv = cbq->priv;
    ucs_status_t status;
    slow_elem_t *elem;
    int id;

    elem = calloc(1, sizeof(*elem));
    if (elem == NULL) {
        return UCS_CALLBACKQ_ID_NULL;
    }

    elem->cb    = cb;
    elem->arg   = arg;
    elem->flags = flags;

    pthread_mutex_lock(&priv->lock);
    do {
        id     = SLOW_ID_FLAG | (priv->next_slow_id++ & SLOW_ID_MASK);
        status = ucs_hash_put(&priv->slow_by_id, (uint64_t)id, elem);
    } while (status == UCS_ERR_ALREADY_EXISTS);

    if (status == UCS_OK) {
        elem->id    = id;
        elem->round = priv->round; /* first called by the next dispatch */
        ucs_list_add_tail(&priv->slow, &elem->list);
        __atomic_add_fetch(&cbq->slow_count, 1, __ATOMIC_RELAXED);
    } else {
        free(elem);
        id = UCS_CALLBACKQ_ID_NULL;
    }

    pthread_mutex_unlock(&priv->lock);
    return id;
}

/* Removes the element from the list and the hash table. The caller holds the
 * lock. */
static void slow_unlink(ucs_callbackq_t *cbq, slow_elem_t *elem)
{
    ucs_list_del(&elem->list);
    ucs_hash_del(&cbq->priv->slow_by_id, (uint64_t)elem->id);
    elem->is_removed = 1;
    __atomic_sub_fetch(&cbq->slow_count, 1, __ATOMIC_RELAXED);
}

/* Frees a removed element unless a thread still uses it. The caller holds the
 * lock. */
static void slow_put(slow_elem_t *elem)
{
    if (!elem->is_running && (elem->waiters == 0)) {
        free(elem);
    }
}

/* Unlinks the element and waits until no other thread runs its callback. The
 * caller holds the lock. */
static void slow_remove(ucs_callbackq_t *cbq, slow_elem_t *elem)
{
    slow_unlink(cbq, elem);
    if (elem->is_running && pthread_equal(elem->runner, pthread_self())) {
        return; /* called by the callback itself: the dispatch frees the
                 * element */
    }

    ++elem->waiters;
    while (elem->is_running) {
        pthread_cond_wait(&cbq->priv->done, &cbq->priv->lock);
    }
    --elem->waiters;
    slow_put(elem);
}

void ucs_callbackq_remove_safe(ucs_callbackq_t *cbq, int id)
{
    struct ucs_callbackq_priv *priv = cbq->priv;
    slow_elem_t *elem;

    if (id == UCS_CALLBACKQ_ID_NULL) {
        return;
    } else if (!(id & SLOW_ID_FLAG)) {
        ucs_callbackq_remove(cbq, id);
        return;
    }

    pthread_mutex_lock(&priv->lock);
    elem = ucs_hash_get(&priv->slow_by_id, (uint64_t)id);
    if (elem != NULL) {
        slow_remove(cbq, elem);
    }
    pthread_mutex_unlock(&priv->lock);
}

/* Calls the callback of one element. The caller holds the lock, which is
 * released during the callback. */
static unsigned slow_call(ucs_callbackq_t *cbq, slow_elem_t *elem)
{
    struct ucs_callbackq_priv *priv = cbq->priv;
    unsigned count;

    elem->is_running = 1;
    elem->runner     = pthread_self();
    pthread_mutex_unlock(&priv->lock);

    count = elem->cb(elem->arg);

    pthread_mutex_lock(&priv->lock);
    elem->is_running = 0;
    if (!elem->is_removed && (elem->flags & UCS_CALLBACKQ_FLAG_ONESHOT)) {
        slow_unlink(cbq, elem);
    }

    if (elem->waiters > 0) {
        pthread_cond_broadcast(&priv->done);
    }

    if (elem->is_removed) {
        slow_put(elem);
    }

    return count;
}

/* Each dispatch has a number, and stores it in each element that it visits. A
 * visited element moves to the tail of the list. The dispatch ends when the
 * element at the head has this number, or a larger one: then this dispatch or a
 * nested one (a callback may dispatch) has visited all elements. */
unsigned ucs_callbackq_dispatch_slow(ucs_callbackq_t *cbq)
{
    struct ucs_callbackq_priv *priv = cbq->priv;
    unsigned count                  = 0;
    slow_elem_t *elem;
    unsigned round;

    pthread_mutex_lock(&priv->lock);
    round = ++priv->round;
    while (!ucs_list_is_empty(&priv->slow)) {
        elem = ucs_list_head(&priv->slow, slow_elem_t, list);
        if ((int)(elem->round - round) >= 0) {
            break;
        }

        elem->round = round;
        ucs_list_del(&elem->list);
        ucs_list_add_tail(&priv->slow, &elem->list);
        if (!elem->is_running) {
            count += slow_call(cbq, elem);
        }
    }
    pthread_mutex_unlock(&priv->lock);

    return count;
}

void ucs_callbackq_cleanup(ucs_callbackq_t *cbq)
{
    struct ucs_callbackq_priv *priv = cbq->priv;
    slow_elem_t *elem, *next;
    unsigned left = priv->count;

    ucs_list_for_each_safe(elem, next, &priv->slow, list) {
        left += !(elem->flags & UCS_CALLBACKQ_FLAG_ONESHOT);
        free(elem);
    }

    if (left > 0) {
        ucs_warn("%u progress callbacks were never removed; the first of the "
                 "fast ones is %p",
                 left, (void *)(uintptr_t)cbq->fast[0].cb);
    }

    ucs_hash_cleanup(&priv->slow_by_id);
    ucs_ptr_array_cleanup(&priv->index_by_id);
    pthread_cond_destroy(&priv->done);
    pthread_mutex_destroy(&priv->lock);
    free(priv->ids);
    free(priv);
    free(cbq->fast);
    cbq->fast = NULL;
    cbq->priv = NULL;
}
