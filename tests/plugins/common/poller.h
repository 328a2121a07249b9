/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The monitored descriptors of one interface. An object that a callback removes
 * is not freed before all callbacks of the round have returned, because a
 * caller may still use it.
 */
#ifndef LOCAL_POLLER_H
#define LOCAL_POLLER_H

#include <stdint.h>
#include <ucs/type/status.h>

/** A member of every object that is freed by poller_free(). */
typedef struct poller_memory {
    struct poller_memory *next;
    void *block;
} poller_memory_t;

typedef struct poller {
    int epoll; /**< Readable when there are events */
    int running;
    poller_memory_t *given_up;
} poller_t;

typedef struct poller_source poller_source_t;

struct poller_source {
    poller_memory_t memory;
    int fd; /**< -1: removed */
    void (*ready)(poller_source_t *source, uint32_t events);
    void *owner;
};

ucs_status_t poller_open(poller_t *poller);
void poller_close(poller_t *poller);

/** Monitors `fd` for `events` (EPOLL*). The source owns `fd` and closes it.
 *  Without memory `fd` is closed at once, and the result is NULL. */
poller_source_t *poller_add(poller_t *poller, int fd, uint32_t events,
                            void (*ready)(poller_source_t *, uint32_t),
                            void *owner);
void poller_modify(poller_t *poller, poller_source_t *source, uint32_t events);
/** A source of NULL is ignored. */
void poller_remove(poller_t *poller, poller_source_t *source);

/** Frees `block`, which contains `memory`: now, or after the round if callbacks
 *  are being called. */
void poller_free(poller_t *poller, void *block, poller_memory_t *memory);

/** Between these two calls, removed objects are not freed. */
void poller_hold(poller_t *poller);
void poller_release(poller_t *poller);

/** Calls the callbacks of the ready sources; returns the number of sources. */
unsigned poller_run(poller_t *poller);

/** Returns whether poller_run() would call a callback. */
int poller_is_ready(const poller_t *poller);

#endif
