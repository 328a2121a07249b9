/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The monitored descriptors of one interface, and the callbacks for their
 * events. poller_run() calls the callbacks. A callback may remove objects:
 * their memory is freed after poller_run() has called all callbacks, because
 * the functions that have called the callback may still use them.
 */
#ifndef LOCAL_POLLER_H
#define LOCAL_POLLER_H

#include <stdint.h>
#include <ucs/type/status.h>

/** A member of every object that is freed by poller_free(). Used only while the
 * object waits to be freed. */
typedef struct poller_memory {
    struct poller_memory *next;
    void *block; /**< The object, to pass to free() */
} poller_memory_t;

typedef struct poller {
    int epoll;   /**< epoll descriptor; readable when there are events */
    int running; /**< Number of calls of poller_hold() without
                  * poller_release() */
    poller_memory_t *given_up; /**< Objects to free when `running` is 0 */
} poller_t;

typedef struct poller_source poller_source_t;

/** A monitored descriptor. */
struct poller_source {
    poller_memory_t memory;
    int fd; /**< -1: the source was removed */
    /** Callback; `events` are EPOLL* */
    void (*ready)(poller_source_t *source, uint32_t events);
    void *owner; /**< Argument of poller_add(), for the callback */
};

ucs_status_t poller_open(poller_t *poller);
void poller_close(poller_t *poller);

/* Monitors `fd` for `events` (EPOLL*). poller_remove() closes `fd`. On failure,
 * closes `fd` and returns NULL. */
poller_source_t *poller_add(poller_t *poller, int fd, uint32_t events,
                            void (*ready)(poller_source_t *, uint32_t),
                            void *owner);
void poller_modify(poller_t *poller, poller_source_t *source, uint32_t events);
/** Stops monitoring a descriptor and closes it; the source is freed. Does
 *  nothing if `source` is NULL. */
void poller_remove(poller_t *poller, poller_source_t *source);

/** Frees `block`, whose member `memory` is: at once, or if poller_hold() or
 *  poller_run() is in effect, when that ends. */
void poller_free(poller_t *poller, void *block, poller_memory_t *memory);

/** Between these two calls, no object is freed. The calls may be nested. */
void poller_hold(poller_t *poller);
void poller_release(poller_t *poller);

/** Calls the callbacks of the ready sources, of at most 32 in one call; returns
 *  the number of ready sources. */
unsigned poller_run(poller_t *poller);

/** Returns whether poller_run() would call a callback. */
int poller_is_ready(const poller_t *poller);

#endif
