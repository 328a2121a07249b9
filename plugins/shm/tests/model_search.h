/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explores every interleaving of a small model: visits all reachable states,
 * and reports a faulty state or a dead end. Independent of the model.
 *
 * A model is a struct of plain bytes, in which equal states have equal bytes,
 * and a function that emits every possible next state.
 */
#ifndef MODEL_SEARCH_H
#define MODEL_SEARCH_H

#include <stddef.h>

typedef struct model_search model_search_t;

typedef struct model {
    const char *name;
    size_t state_size;
    void (*start)(void *state, int variant);
    /* Emits the next states. A state without a next state that is not an end
     * state is a dead end. */
    void (*next)(model_search_t *search, const void *state, int variant);
    /* Returns what is wrong with a state, or NULL. */
    const char *(*fault)(const void *state, int variant);
    /* Returns non-zero for an end state. If an end state can be reached from
     * every state, nothing is lost and no thread hangs under fair
     * scheduling. */
    int (*is_end)(const void *state, int variant);
} model_t;

typedef enum {
    MODEL_HOLDS,
    MODEL_WRONG,
    MODEL_DEAD_END,
    MODEL_TOO_BIG,
} model_verdict_t;

typedef struct model_result {
    model_verdict_t verdict;
    const char *what; /* Reason of MODEL_WRONG */
    unsigned num_states;
    unsigned num_steps;
} model_result_t;

/* Emits a next state. May be called by `next` only. `label` describes the step;
 * it must stay valid. */
void model_emit(model_search_t *search, const void *state, const char *label);

/* Searches all states. Prints the path to a faulty state if `show_path`. */
model_result_t model_run(const model_t *model, int variant, int show_path);

/* One line of a test: a variant, and the expected result. */
typedef struct model_case {
    const char *title;
    int variant;
    model_verdict_t expected;
} model_case_t;

/* Runs all cases and prints a line for each. Returns the exit status of a
 * test. */
int model_test(const model_t *model, const model_case_t *cases, size_t num,
               int argc, char **argv);

#endif
