/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every interleaving of a small model: goes through all states that can be
 * reached, step by step, and says whether one is wrong or a dead end. It knows
 * nothing of what is modelled.
 *
 * A model is a struct of plain bytes, in which equal states are equal bytes,
 * and a function that emits every state that may come next.
 */
#ifndef MODEL_SEARCH_H
#define MODEL_SEARCH_H

#include <stddef.h>

typedef struct model_search model_search_t;

typedef struct model {
    const char *name;
    size_t     state_size;
    void (*start)(void *state, int variant);
    /* Emits what may come next. No step and not the end: a dead end. */
    void (*next)(model_search_t *search, const void *state, int variant);
    /* What is wrong with a state, or NULL. */
    const char *(*fault)(const void *state, int variant);
    /* Non-zero: all is done. From every state this must be reachable: that is
     * what "nothing is lost and nobody hangs" means under fair turns. */
    int (*is_end)(const void *state, int variant);
} model_t;

typedef enum { MODEL_HOLDS, MODEL_WRONG, MODEL_DEAD_END, MODEL_TOO_BIG }
    model_verdict_t;

typedef struct model_result {
    model_verdict_t verdict;
    const char      *what;       /* Of MODEL_WRONG */
    unsigned        num_states;
    unsigned        num_steps;
} model_result_t;

/* From `next` only. `label` says who does what; it is kept by reference. */
void model_emit(model_search_t *search, const void *state, const char *label);

/* Prints how a wrong state is reached, if `show_path`. */
model_result_t model_run(const model_t *model, int variant, int show_path);

/* One line of a test: a variant, and what must come out. */
typedef struct model_case {
    const char      *title;
    int             variant;
    model_verdict_t expected;
} model_case_t;

/* Runs all; prints a line each. Returns the exit status of a test. */
int model_test(const model_t *model, const model_case_t *cases, size_t num,
               int argc, char **argv);

#endif
