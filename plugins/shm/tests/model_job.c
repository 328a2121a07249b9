/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Model of a copy (job) that two processes share, as in src/cma_job.h. The
 * initiator claims chunks from the front, the helper from the back. Two jobs of
 * three chunks use the same words one after the other, in every interleaving
 * that the C11 memory model allows. Property: when the initiator ends a job it
 * sees every byte, and nothing is written afterwards, whether the helper begins
 * early, late, never, or refuses a chunk.
 *
 * Each shared word is one byte here, which is enough for these numbers. Which
 * side copies a chunk depends on the interleaving.
 */
#include <stdint.h>

enum { CHUNKS = 3, JOBS = 2 };

/* Memory locations. CLAIM: see pack_claim(), written by both sides. HELPED: see
 * pack_helped(), written by the helper. HELLO: number of the newest job, which
 * the initiator writes to notify the helper. CHUNK + n: the number of the job
 * for which chunk n was copied last. */
enum { CLAIM = 0, HELPED, HELLO, CHUNK, MEMORY_PLACES = CHUNK + CHUNKS };

enum { INITIATOR, HELPER, MEMORY_THREADS };
enum { MEMORY_DEPTH = 20 };

#include "model_memory.h"
#include "model_search.h"

typedef enum {
    AS_IT_IS,
    COUNT_NOT_RELEASED, /* The count may become visible before the chunk */
    COUNT_NOT_ACQUIRED, /* The initiator may see the count, but not the chunk */
    HELPER_NOT_AWAITED, /* The job ends when no chunk is left to claim, without
                         * waiting for the helper */
    COUNT_BEFORE_COPY,  /* The helper counts a chunk before it copies it */
    NO_GENERATION,      /* The helper does not check that a claim word is of the
                         * job that it helps with */
    REFUSAL_IS_DONE,    /* The initiator takes a refused chunk for copied */
    CLAIM_NOT_AT_ONCE,  /* The claim word is loaded and stored, not exchanged
                         * atomically */
} variant_t;

/* Members of the initiator (i):
 * - step: the next step, I_*;
 * - job: number of the job, from 1;
 * - front: index of the first chunk that it has not claimed;
 * - back: the helper has claimed the chunks from this one on, as far as the
 *   initiator has seen;
 * - chunk: index of the chunk to copy, or to check at the end;
 * - ended: number of the last job that has ended; 0: none;
 * - fault: see fault(); 0: none.
 *
 * Members of the helper (h):
 * - step: the next step, H_*;
 * - job: number of the job that it helps with; 0: none yet;
 * - limit: index of the last chunk that it has claimed; CHUNKS: none yet;
 * - done: number of chunks that it has counted as copied;
 * - seen: claim word that it exchanges in H_CLAIM. */
typedef struct state {
    memory_t memory;
    struct {
        uint8_t step, job, front, back, chunk, ended, fault;
    } i;
    struct {
        uint8_t step, job, limit, done, seen;
    } h;
} state_t;

enum { I_OPEN, I_TELL, I_LOOK, I_CLAIM, I_COPY, I_END, I_CHECK, I_DONE };
enum { H_WAIT, H_LOOK, H_CLAIM, H_COPY, H_COUNT, H_REFUSE };

/* The chunks from `front` on, below `back`, are free to be claimed. */
static uint8_t pack_claim(unsigned job, unsigned back, unsigned front)
{
    return (uint8_t)((job << 6) | (back << 3) | front);
}

/* `done`: number of chunks that the helper has copied. `refused`: 1: it could
 * not copy the chunk that it claimed last, and has left the job. */
static uint8_t pack_helped(unsigned job, unsigned done, unsigned refused)
{
    return (uint8_t)((job << 6) | (refused << 3) | done);
}

static void start(void *arg, int variant)
{
    state_t *state = arg;

    memory_start(&state->memory);
    state->i.job = 1;
}

static void emit(model_search_t *search, state_t *copy, const char *label)
{
    memory_tidy(&copy->memory);
    model_emit(search, copy, label);
}

/* Replaces the claim word by `word` if it is still `old`. Returns non-zero on
 * success. */
static int exchange(state_t *copy, unsigned thread, uint8_t old, uint8_t word,
                    int variant)
{
    if (variant == CLAIM_NOT_AT_ONCE) {
        memory_write(&copy->memory, thread, CLAIM, word, RELEASE);
        return 1;
    }
    if (memory_last(&copy->memory, CLAIM) != old) {
        return 0;
    }
    memory_swap(&copy->memory, thread, CLAIM, word);
    return 1;
}

/* -------------------------------------------------------- the initiator -- */

static void open_job(model_search_t *search, const state_t *state)
{
    state_t copy;
    uint8_t first;

    /* The initiator may claim the first chunk in the same write that opens the
     * job: one state without, and one with this claim */
    for (first = 0; first <= 1; ++first) {
        copy = *state;
        memory_write(&copy.memory, INITIATOR, CLAIM,
                     pack_claim(state->i.job, CHUNKS, first), RELEASE);
        copy.i.front = first;
        copy.i.back  = CHUNKS;
        copy.i.step  = I_TELL;
        if (first == 1) {
            memory_write(&copy.memory, INITIATOR, CHUNK, state->i.job, RELAXED);
        }
        emit(search, &copy, "initiator: opens a job");
    }
}

static void look_at_claim(model_search_t *search, const state_t *state)
{
    unsigned version;
    state_t copy;
    uint8_t word;

    for (version = memory_first(&state->memory, INITIATOR, CLAIM);
         version < state->memory.num[CLAIM]; ++version) {
        copy = *state;
        word = memory_read(&copy.memory, INITIATOR, CLAIM, version, ACQUIRE);
        copy.i.back = (word >> 3) & 7;
        copy.i.step = (copy.i.back > copy.i.front) ? I_CLAIM : I_END;
        emit(search, &copy, "initiator: reads the claims");
    }
}

/* No chunk is free. Ends the job if the helper has copied all chunks that it
 * claimed, or has refused its last one, which the initiator copies then. */
static void look_at_end(model_search_t *search, const state_t *state,
                        int variant)
{
    unsigned taken = CHUNKS - state->i.back;
    unsigned version, done;
    state_t copy;
    uint8_t word;

    if ((taken == 0) || (variant == HELPER_NOT_AWAITED)) {
        copy         = *state;
        copy.i.step  = I_CHECK;
        copy.i.chunk = 0;
        emit(search, &copy, "initiator: waits for nobody");
        return;
    }
    for (version = memory_first(&state->memory, INITIATOR, HELPED);
         version < state->memory.num[HELPED]; ++version) {
        copy = *state;
        word = memory_read(&copy.memory, INITIATOR, HELPED, version,
                           (variant == COUNT_NOT_ACQUIRED) ? RELAXED : ACQUIRE);
        done = word & 7;
        if (((word >> 6) == state->i.job) && (done == taken)) {
            copy.i.step  = I_CHECK;
            copy.i.chunk = 0;
        } else if (((word >> 6) == state->i.job) && ((word >> 3) & 1)) {
            copy.i.step  = I_CHECK;
            copy.i.chunk = 0;
            if (variant != REFUSAL_IS_DONE) {
                memory_write(&copy.memory, INITIATOR, CHUNK + state->i.back,
                             state->i.job, RELAXED);
            }
        }
        emit(search, &copy, "initiator: reads the count");
    }
}

/* The job has ended, and the user reads the data: each chunk must be of this
 * job. */
static void check_chunk(model_search_t *search, const state_t *state)
{
    unsigned place = CHUNK + state->i.chunk;
    unsigned version;
    state_t copy;

    for (version = memory_first(&state->memory, INITIATOR, place);
         version < state->memory.num[place]; ++version) {
        copy         = *state;
        copy.i.ended = state->i.job;
        if (memory_read(&copy.memory, INITIATOR, place, version, RELAXED) !=
            state->i.job) {
            copy.i.fault = 1;
        }
        if (++copy.i.chunk == CHUNKS) {
            copy.i.step = (copy.i.job == JOBS) ? I_DONE : I_OPEN;
            copy.i.job  = (uint8_t)(copy.i.job + (copy.i.job < JOBS));
        }
        emit(search, &copy, "initiator: reads a chunk after the end");
    }
}

static void initiator_next(model_search_t *search, const state_t *state,
                           int variant)
{
    state_t copy = *state;

    switch (state->i.step) {
    case I_OPEN:
        open_job(search, state);
        return;
    case I_TELL:
        memory_write(&copy.memory, INITIATOR, HELLO, state->i.job, RELEASE);
        copy.i.step = I_LOOK;
        emit(search, &copy, "initiator: tells of the job");
        return;
    case I_LOOK:
        look_at_claim(search, state);
        return;
    case I_CLAIM:
        copy.i.step = I_LOOK;
        if (exchange(&copy, INITIATOR,
                     pack_claim(state->i.job, state->i.back, state->i.front),
                     pack_claim(state->i.job, state->i.back,
                                state->i.front + 1u),
                     variant)) {
            copy.i.chunk = copy.i.front++;
            copy.i.step  = I_COPY;
        }
        emit(search, &copy, "initiator: claims the first");
        return;
    case I_COPY:
        memory_write(&copy.memory, INITIATOR, CHUNK + state->i.chunk,
                     state->i.job, RELAXED);
        copy.i.step = I_LOOK;
        emit(search, &copy, "initiator: copies");
        return;
    case I_END:
        look_at_end(search, state, variant);
        return;
    case I_CHECK:
        check_chunk(search, state);
        return;
    }
}

/* ----------------------------------------------------------- the helper -- */

static void helper_wait(model_search_t *search, const state_t *state)
{
    unsigned version;
    state_t copy;
    uint8_t job;

    for (version = memory_first(&state->memory, HELPER, HELLO);
         version < state->memory.num[HELLO]; ++version) {
        copy = *state;
        job  = memory_read(&copy.memory, HELPER, HELLO, version, ACQUIRE);
        if (job != state->h.job) {
            copy.h.job   = job;
            copy.h.limit = CHUNKS;
            copy.h.done  = 0;
            copy.h.step  = H_LOOK;
        }
        emit(search, &copy, "helper: looks for a job");
    }
}

static void helper_look(model_search_t *search, const state_t *state,
                        int variant)
{
    unsigned version, back, front;
    state_t copy;
    uint8_t word;

    for (version = memory_first(&state->memory, HELPER, CLAIM);
         version < state->memory.num[CLAIM]; ++version) {
        copy  = *state;
        word  = memory_read(&copy.memory, HELPER, CLAIM, version, ACQUIRE);
        back  = (word >> 3) & 7;
        front = word & 7;
        if ((((word >> 6) != state->h.job) && (variant != NO_GENERATION)) ||
            (front >= back) ||
            ((back != state->h.limit) && (variant != NO_GENERATION))) {
            copy.h.step = H_WAIT;
            copy.h.seen = 0;
        } else {
            copy.h.step = H_CLAIM;
            copy.h.seen = word;
        }
        emit(search, &copy, "helper: reads the claims");
    }
}

static void helper_count(state_t *copy, unsigned refused, int variant)
{
    memory_write(&copy->memory, HELPER, HELPED,
                 pack_helped(copy->h.job, copy->h.done, refused),
                 (variant == COUNT_NOT_RELEASED) ? RELAXED : RELEASE);
}

static void helper_copy(state_t *copy)
{
    if (copy->i.ended >= copy->h.job) {
        copy->i.fault = 2;
    }
    memory_write(&copy->memory, HELPER, CHUNK + copy->h.limit, copy->h.job,
                 RELAXED);
}

static void helper_next(model_search_t *search, const state_t *state,
                        int variant)
{
    state_t copy = *state;
    unsigned back, front;

    switch (state->h.step) {
    case H_WAIT:
        helper_wait(search, state);
        return;
    case H_LOOK:
        helper_look(search, state, variant);
        return;
    case H_CLAIM:
        back        = (state->h.seen >> 3) & 7;
        front       = state->h.seen & 7;
        copy.h.step = H_LOOK;
        if (exchange(&copy, HELPER, state->h.seen,
                     pack_claim(state->h.seen >> 6, back - 1, front),
                     variant)) {
            copy.h.limit = (uint8_t)(back - 1);
            copy.h.step  = H_COPY;
            copy.h.seen  = 0;
        }
        emit(search, &copy, "helper: claims the last");
        return;
    case H_COPY:
        if (variant == COUNT_BEFORE_COPY) {
            ++copy.h.done;
            helper_count(&copy, 0, variant);
        } else {
            helper_copy(&copy);
        }
        copy.h.step = H_COUNT;
        emit(search, &copy, "helper: copies");

        copy        = *state; /* Instead, the helper may be unable to copy */
        copy.h.step = H_REFUSE;
        emit(search, &copy, "helper: cannot copy");
        return;
    case H_COUNT:
        if (variant == COUNT_BEFORE_COPY) {
            helper_copy(&copy);
        } else {
            ++copy.h.done;
            helper_count(&copy, 0, variant);
        }
        copy.h.step = H_LOOK;
        emit(search, &copy, "helper: counts");
        return;
    case H_REFUSE:
        helper_count(&copy, 1, variant);
        copy.h.step = H_WAIT;
        emit(search, &copy, "helper: refuses");
        return;
    }
}

static void next(model_search_t *search, const void *arg, int variant)
{
    initiator_next(search, arg, variant);
    helper_next(search, arg, variant);
}

static const char *fault(const void *arg, int variant)
{
    const state_t *state = arg;

    return (state->i.fault == 1) ? "a chunk that is not there at the end" :
           (state->i.fault == 2) ? "a chunk written after the end" :
                                   NULL;
}

static int is_end(const void *arg, int variant)
{
    return ((const state_t *)arg)->i.step == I_DONE;
}

static const model_t job = {
    "job", sizeof(state_t), start, next, fault, is_end,
};

static const model_case_t cases[] = {
    {"as it is", AS_IT_IS, MODEL_HOLDS},
    {"the count is not released", COUNT_NOT_RELEASED, MODEL_WRONG},
    {"the count is not acquired", COUNT_NOT_ACQUIRED, MODEL_WRONG},
    {"the helper is not waited for", HELPER_NOT_AWAITED, MODEL_WRONG},
    {"counted before it is copied", COUNT_BEFORE_COPY, MODEL_WRONG},
    {"a claim names no job", NO_GENERATION, MODEL_WRONG},
    {"a refusal is taken for a copy", REFUSAL_IS_DONE, MODEL_WRONG},
    {"a claim is not exchanged at once", CLAIM_NOT_AT_ONCE, MODEL_WRONG},
};

int main(int argc, char **argv)
{
    return model_test(&job, cases, sizeof(cases) / sizeof(cases[0]), argc,
                      argv);
}
