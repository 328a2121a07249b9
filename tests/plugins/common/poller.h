/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptors of one interface. Whatever a callback gives up lives until
 * the round ends, for somebody below it on the stack may still look at it.
 */
#ifndef LOCAL_POLLER_H
#define LOCAL_POLLER_H

#include <stdint.h>
#include <ucs/type/status.h>

/** Part of everything that poller_free() frees. */
typedef struct poller_memory {
    struct poller_memory *next;
    void                 *block;
} poller_memory_t;

typedef struct poller {
    int             epoll;    /**< Readable when there is something to do */
    int             running;
    poller_memory_t *given_up;
} poller_t;

typedef struct poller_source poller_source_t;

struct poller_source {
    poller_memory_t memory;
    int             fd;       /**< -1: removed */
    void            (*ready)(poller_source_t *source, uint32_t events);
    void            *owner;
};

ucs_status_t poller_open(poller_t *poller);
void poller_close(poller_t *poller);

/** Watches `fd`, which is closed with the source; if there is no memory, at
 *  once, and the answer is NULL. `events`: EPOLL*. */
poller_source_t *poller_add(poller_t *poller, int fd, uint32_t events,
                            void (*ready)(poller_source_t *, uint32_t),
                            void *owner);
void poller_modify(poller_t *poller, poller_source_t *source, uint32_t events);
/** NULL is no source. */
void poller_remove(poller_t *poller, poller_source_t *source);

/** Frees the block, of which `memory` is a part: now or, if sources are being
 *  served, after that. */
void poller_free(poller_t *poller, void *block, poller_memory_t *memory);

/** Between the two, what is given up is kept. */
void poller_hold(poller_t *poller);
void poller_release(poller_t *poller);

/** Serves the sources that are ready; returns how many. */
unsigned poller_run(poller_t *poller);

/** Non-zero: a run would serve somebody. */
int poller_is_ready(const poller_t *poller);

#endif
