/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptors of one interface. What a callback removes exists until the
 * round ends, because a caller may still use it.
 */
#ifndef LOCAL_POLLER_H
#define LOCAL_POLLER_H

#include <stdint.h>
#include <ucs/type/status.h>

/** Member of every object that poller_free() frees. */
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

/** Monitors `fd`, which is closed with the source; without memory it is closed
 *  at once, and the result is NULL. `events`: EPOLL*. */
poller_source_t *poller_add(poller_t *poller, int fd, uint32_t events,
                            void (*ready)(poller_source_t *, uint32_t),
                            void *owner);
void poller_modify(poller_t *poller, poller_source_t *source, uint32_t events);
/** NULL is no source. */
void poller_remove(poller_t *poller, poller_source_t *source);

/** Frees the block that contains `memory`: now or, if sources are being served,
 *  afterwards. */
void poller_free(poller_t *poller, void *block, poller_memory_t *memory);

/** Between these calls, removed objects are kept. */
void poller_hold(poller_t *poller);
void poller_release(poller_t *poller);

/** Serves the ready sources; returns their number. */
unsigned poller_run(poller_t *poller);

/** Non-zero: a run would serve a source. */
int poller_is_ready(const poller_t *poller);

#endif
