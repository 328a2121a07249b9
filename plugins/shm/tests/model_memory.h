/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A weak memory model. For each location it keeps the values written, in order
 * (the log), and for each thread a position in that log: the oldest value that
 * the thread may still read. A plain read may return any value from the
 * position on, and moves the position there. An acquire read of a value that
 * was written with release also moves the reader's other positions, at least to
 * those that the writer had. This is the C11 memory model except that a write
 * is never visible before an earlier read of the same thread. Where that
 * matters, a model makes the read in a later step.
 *
 * Store buffers (x86) are included: every result that they allow is allowed
 * here.
 */
#ifndef MODEL_MEMORY_H
#define MODEL_MEMORY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file that includes this one defines the numbers of locations
 * (MEMORY_PLACES) and threads (MEMORY_THREADS), and the maximum number of
 * values in a log (MEMORY_DEPTH). A model that needs a longer log ends with an
 * error; small logs make searches fast. */

typedef enum { RELAXED, ACQUIRE, RELEASE } memory_order_kind_t;

/* A position in the log of each location. */
typedef struct memory_view {
    uint8_t at[MEMORY_PLACES];
} memory_view_t;

typedef struct memory_value {
    uint8_t value;
    memory_view_t seen; /* Release write: positions of the writer. Relaxed
                         * write: 0 in all other locations' logs */
} memory_value_t;

typedef struct memory {
    uint8_t num[MEMORY_PLACES]; /* Number of values in each log */
    memory_value_t log[MEMORY_PLACES][MEMORY_DEPTH];
    memory_view_t now[MEMORY_THREADS];   /* Positions of each thread */
    memory_view_t later[MEMORY_THREADS]; /* Positions that each thread gets with
                                          * its next full fence: `now`, and
                                          * `seen` of all values that it has
                                          * read */
    memory_view_t fences;                /* Positions after the last full fence
                                          * of any thread */
} memory_t;

static inline void view_join(memory_view_t *view, const memory_view_t *other)
{
    for (int i = 0; i < MEMORY_PLACES; ++i) {
        if (other->at[i] > view->at[i]) {
            view->at[i] = other->at[i];
        }
    }
}

static inline void memory_start(memory_t *memory)
{
    memset(memory, 0, sizeof(*memory));
    memset(memory->num, 1, sizeof(memory->num)); /* Each location is 0 */
}

/* Returns the index, in the log of a location, of the oldest value that a
 * thread may read. It may read that and every newer value. */
static inline unsigned memory_first(const memory_t *memory, unsigned thread,
                                    unsigned place)
{
    return memory->now[thread].at[place];
}

static inline uint8_t memory_read(memory_t *memory, unsigned thread,
                                  unsigned place, unsigned version,
                                  memory_order_kind_t order)
{
    const memory_value_t *entry = &memory->log[place][version];

    memory->now[thread].at[place] = (uint8_t)version;
    if (order == ACQUIRE) {
        view_join(&memory->now[thread], &entry->seen);
    }
    view_join(&memory->later[thread], &entry->seen);
    view_join(&memory->later[thread], &memory->now[thread]);
    return entry->value;
}

/* Drops the values of a location that no thread can read any more, so that logs
 * stay short, and states that behave alike have equal bytes. */
static inline void memory_forget(memory_t *memory, unsigned place)
{
    uint8_t least = memory->now[0].at[place];
    memory_view_t *views[2 * MEMORY_THREADS + 1];
    unsigned num_views = 0, i, j;

    for (i = 0; i < MEMORY_THREADS; ++i) {
        views[num_views++] = &memory->now[i];
        views[num_views++] = &memory->later[i];
        if (memory->now[i].at[place] < least) {
            least = memory->now[i].at[place];
        }
    }
    views[num_views++] = &memory->fences;
    if (least == 0) {
        return;
    }

    memory->num[place] -= least;
    memmove(&memory->log[place][0], &memory->log[place][least],
            memory->num[place] * sizeof(memory_value_t));
    memset(&memory->log[place][memory->num[place]], 0,
           (MEMORY_DEPTH - memory->num[place]) * sizeof(memory_value_t));
    for (i = 0; i < num_views; ++i) {
        views[i]->at[place] -= (views[i]->at[place] < least) ?
                                   views[i]->at[place] :
                                   least;
    }
    for (i = 0; i < MEMORY_PLACES; ++i) {
        for (j = 0; j < memory->num[i]; ++j) {
            uint8_t *at = &memory->log[i][j].seen.at[place];

            *at -= (*at < least) ? *at : least;
        }
    }
}

static inline void memory_tidy(memory_t *memory)
{
    for (unsigned i = 0; i < MEMORY_PLACES; ++i) {
        memory_forget(memory, i);
    }
}

static inline memory_value_t *memory_append(memory_t *memory, unsigned thread,
                                            unsigned place, uint8_t value)
{
    unsigned version = memory->num[place];

    if (version == MEMORY_DEPTH) {
        memory_tidy(memory);
        version = memory->num[place];
        if (version == MEMORY_DEPTH) {
            fprintf(stderr, "the model needs a longer log\n");
            exit(1);
        }
    }
    memory->num[place]              = (uint8_t)(version + 1);
    memory->log[place][version]     = (memory_value_t){.value = value};
    memory->now[thread].at[place]   = (uint8_t)version;
    memory->later[thread].at[place] = (uint8_t)version;
    return &memory->log[place][version];
}

static inline void memory_write(memory_t *memory, unsigned thread,
                                unsigned place, uint8_t value,
                                memory_order_kind_t order)
{
    memory_value_t *entry = memory_append(memory, thread, place, value);

    if (order == RELEASE) {
        entry->seen = memory->now[thread];
    } else {
        entry->seen.at[place] = memory->now[thread].at[place];
    }
}

/* Reads the last value and writes another one atomically, with acquire and
 * release. Returns the old value. */
static inline uint8_t memory_swap(memory_t *memory, unsigned thread,
                                  unsigned place, uint8_t value)
{
    unsigned last = memory->num[place] - 1u;
    uint8_t old   = memory_read(memory, thread, place, last, ACQUIRE);

    memory_write(memory, thread, place, value, RELEASE);
    return old;
}

static inline uint8_t memory_last(const memory_t *memory, unsigned place)
{
    return memory->log[place][memory->num[place] - 1].value;
}

static inline void memory_full_fence(memory_t *memory, unsigned thread)
{
    view_join(&memory->now[thread], &memory->later[thread]);
    view_join(&memory->now[thread], &memory->fences);
    memory->fences        = memory->now[thread];
    memory->later[thread] = memory->now[thread];
}

#endif
