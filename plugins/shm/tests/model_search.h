/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explores every interleaving of a small model: visits all reachable states,
 * and reports a faulty state or a dead end. A dead end is a state from which no
 * end state can be reached.
 *
 * A model has a state, which is a struct of plain bytes, and a function that
 * emits every possible next state. Equal states must have equal bytes.
 */
#ifndef MODEL_SEARCH_H
#define MODEL_SEARCH_H

#include <stddef.h>

typedef struct model_search model_search_t;

typedef struct model {
    const char *name;
    size_t state_size; /* In bytes */
    /* Sets the first state, which is zeroed before. `variant`, here and below:
     * what the model changes or leaves out, as the model defines it. */
    void (*start)(void *state, int variant);
    /* Calls model_emit() for each state that can follow. */
    void (*next)(model_search_t *search, const void *state, int variant);
    /* Returns what is wrong with a state, or NULL. */
    const char *(*fault)(const void *state, int variant);
    /* Returns non-zero for an end state, in which all work is done. If one can
     * be reached from every state, nothing is lost and no thread hangs under
     * fair scheduling. */
    int (*is_end)(const void *state, int variant);
} model_t;

typedef enum {
    MODEL_HOLDS,    /* No faulty state and no dead end */
    MODEL_WRONG,    /* A faulty state was found, and the search stopped */
    MODEL_DEAD_END, /* All states were visited, and one is a dead end */
    MODEL_TOO_BIG,  /* Not all states were visited: there are too many */
} model_verdict_t;

typedef struct model_result {
    model_verdict_t verdict;
    const char *what;    /* Reason of MODEL_WRONG; otherwise NULL */
    unsigned num_states; /* Number of different states visited */
    unsigned num_steps;  /* Number of calls of model_emit() */
} model_result_t;

/* Adds a state that can follow the one passed to `next`. May be called by
 * `next` only. `label` describes the step to it; the string is not copied. */
void model_emit(model_search_t *search, const void *state, const char *label);

/* Searches all states. If `show_path` is set, prints the labels of the steps
 * that lead to the faulty state or dead end. */
model_result_t model_run(const model_t *model, int variant, int show_path);

/* One line of a test: a variant, and the expected result. */
typedef struct model_case {
    const char *title;
    int variant;
    model_verdict_t expected;
} model_case_t;

/* Runs all cases and prints a line for each. With the argument --path it also
 * prints the path to each fault. Returns the exit status of the program. */
int model_test(const model_t *model, const model_case_t *cases, size_t num,
               int argc, char **argv);

#endif
