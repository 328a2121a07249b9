/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Searches all states: see model_search.h. The search is breadth first, so that
 * the path to a fault is a shortest one. Visited states are stored as 128-bit
 * hashes; only states that are still to be expanded are stored in full.
 */
#include "model_search.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STATES = 6000000, NONE = UINT32_MAX };

typedef struct visit {
    uint64_t hash[2];
    uint32_t parent;   /* Index of the state from which it was found first */
    const char *label; /* Of the step from that state */
} visit_t;

/* A step between two states: indices into `visits`. */
typedef struct edge {
    uint32_t from;
    uint32_t to;
} edge_t;

struct model_search {
    const model_t *model;
    int variant;
    visit_t *visits; /* Visited states in the order of discovery */
    uint32_t num_visits, cap_visits;
    uint32_t *table; /* Hash table with open addressing; indices into
                      * `visits` */
    uint32_t table_mask;
    edge_t *edges;
    uint32_t num_edges, cap_edges;
    unsigned char *is_end; /* Whether each visit is an end state */
    char *queue;           /* Full states that were found and not yet
                            * expanded */
    uint32_t queue_head, queue_num, queue_cap;
    uint32_t from;    /* Index of the state that is being expanded */
    uint32_t wrong;   /* Index of the first faulty state */
    const char *what; /* What is wrong with it; NULL: no faulty state yet */
};

static void *grow(void *array, size_t count, size_t size)
{
    void *grown = realloc(array, count * size);

    if (grown == NULL) {
        fprintf(stderr, "out of memory for %zu entries\n", count);
        exit(1);
    }
    return grown;
}

static void hash_state(const void *state, size_t size, uint64_t hash[2])
{
    const unsigned char *p = state;
    uint64_t a = 0x243f6a8885a308d3, b = 0x13198a2e03707344, word;
    size_t part;

    for (; size > 0; p += part, size -= part) {
        part = (size < 8) ? size : 8;
        word = 0;
        memcpy(&word, p, part);
        a = (a ^ word) * 0x9e3779b97f4a7c15;
        a ^= a >> 32;
        b = (b + word) * 0xd6e8feb86659fd93;
        b ^= (b >> 29) ^ (a << 7);
    }
    hash[0] = a;
    hash[1] = b;
}

static void rebuild_table(model_search_t *search, uint32_t size)
{
    uint32_t i, at;

    search->table      = grow(search->table, size, sizeof(uint32_t));
    search->table_mask = size - 1;
    memset(search->table, 0xff, size * sizeof(uint32_t));
    for (i = 0; i < search->num_visits; ++i) {
        at = (uint32_t)search->visits[i].hash[0] & search->table_mask;
        while (search->table[at] != (uint32_t)NONE) {
            at = (at + 1) & search->table_mask;
        }
        search->table[at] = i;
    }
}

static void enqueue(model_search_t *search, const void *state)
{
    size_t size = search->model->state_size;

    if (search->queue_head + search->queue_num == search->queue_cap) {
        if (search->queue_head > search->queue_num) {
            memcpy(search->queue, search->queue + search->queue_head * size,
                   search->queue_num * size);
            search->queue_head = 0;
        } else {
            search->queue_cap = search->queue_cap * 2 + 1024;
            search->queue     = grow(search->queue, search->queue_cap, size);
        }
    }
    memcpy(search->queue +
               (size_t)(search->queue_head + search->queue_num) * size,
           state, size);
    ++search->queue_num;
}

/* Returns the index of a state. Adds the state if it is new. */
static uint32_t visit(model_search_t *search, const void *state,
                      const char *label)
{
    uint32_t at, index;
    uint64_t hash[2];
    visit_t *entry;

    hash_state(state, search->model->state_size, hash);
    for (at = (uint32_t)hash[0] & search->table_mask;
         (index = search->table[at]) != (uint32_t)NONE;
         at = (at + 1) & search->table_mask) {
        entry = &search->visits[index];
        if ((entry->hash[0] == hash[0]) && (entry->hash[1] == hash[1])) {
            return index;
        }
    }

    if (search->num_visits == search->cap_visits) {
        search->cap_visits = search->cap_visits * 2 + 4096;
        search->visits     = grow(search->visits, search->cap_visits,
                                  sizeof(visit_t));
        search->is_end     = grow(search->is_end, search->cap_visits, 1);
    }
    index                 = search->num_visits++;
    search->visits[index] = (visit_t){{hash[0], hash[1]}, search->from, label};
    search->is_end[index] = search->model->is_end(state, search->variant) != 0;
    search->table[at]     = index;
    if (search->num_visits * 2 > search->table_mask) {
        rebuild_table(search, (search->table_mask + 1) * 4);
    }
    if (search->what == NULL) {
        search->what  = search->model->fault(state, search->variant);
        search->wrong = index;
    }
    enqueue(search, state);
    return index;
}

void model_emit(model_search_t *search, const void *state, const char *label)
{
    uint32_t to = visit(search, state, label);

    if (search->num_edges == search->cap_edges) {
        search->cap_edges = search->cap_edges * 2 + 4096;
        search->edges = grow(search->edges, search->cap_edges, sizeof(edge_t));
    }
    search->edges[search->num_edges++] = (edge_t){search->from, to};
}

/* Searches backwards from the end states. Returns the first state from which no
 * end state can be reached. */
static uint32_t find_dead_end(model_search_t *search)
{
    uint32_t num        = search->num_visits;
    uint32_t *first     = calloc((size_t)num + 2, sizeof(uint32_t));
    uint32_t *from      = grow(NULL, (size_t)search->num_edges + 1,
                               sizeof(uint32_t));
    uint32_t *stack     = grow(NULL, (size_t)num + 1, sizeof(uint32_t));
    unsigned char *good = search->is_end;
    uint32_t depth = 0, i, j, result = (uint32_t)NONE;

    if (first == NULL) {
        exit(1);
    }
    for (i = 0; i < search->num_edges; ++i) {
        ++first[search->edges[i].to + 2];
    }
    for (i = 2; i < num + 2; ++i) {
        first[i] += first[i - 1];
    }
    for (i = 0; i < search->num_edges; ++i) {
        from[first[search->edges[i].to + 1]++] = search->edges[i].from;
    }
    for (i = 0; i < num; ++i) {
        if (good[i]) {
            stack[depth++] = i;
        }
    }
    while (depth > 0) {
        i = stack[--depth];
        for (j = first[i]; j < first[i + 1]; ++j) {
            if (!good[from[j]]) {
                good[from[j]]  = 1;
                stack[depth++] = from[j];
            }
        }
    }
    for (i = 0; (i < num) && (result == (uint32_t)NONE); ++i) {
        result = good[i] ? (uint32_t)NONE : i;
    }
    free(stack);
    free(from);
    free(first);
    return result;
}

static void print_path(const model_search_t *search, uint32_t index)
{
    if (index != 0) {
        print_path(search, search->visits[index].parent);
        printf("        %s\n", search->visits[index].label);
    }
}

static void go_on(model_search_t *search, void *state)
{
    size_t size = search->model->state_size;

    while ((search->queue_num > 0) && (search->what == NULL) &&
           (search->num_visits < MAX_STATES)) {
        memcpy(state, search->queue + (size_t)search->queue_head * size, size);
        ++search->queue_head;
        --search->queue_num;
        ++search->from;
        search->model->next(search, state, search->variant);
    }
}

model_result_t model_run(const model_t *model, int variant, int show_path)
{
    model_search_t search = {
        .model   = model,
        .variant = variant,
        .wrong   = (uint32_t)NONE,
    };
    model_result_t result = {.verdict = MODEL_HOLDS};
    uint32_t bad          = (uint32_t)NONE;
    void *state           = calloc(1, model->state_size);

    if (state == NULL) {
        exit(1);
    }
    rebuild_table(&search, 1u << 16);
    model->start(state, variant);
    visit(&search, state, "start");
    search.from = (uint32_t)NONE; /* go_on() increments this first, so that it
                                   * becomes 0, the index of the start */
    go_on(&search, state);

    if (search.what != NULL) {
        result.verdict = MODEL_WRONG;
        result.what    = search.what;
        bad            = search.wrong;
    } else if (search.queue_num > 0) {
        result.verdict = MODEL_TOO_BIG;
    } else {
        bad = find_dead_end(&search);
        if (bad != (uint32_t)NONE) {
            result.verdict = MODEL_DEAD_END;
        }
    }
    if (show_path && (bad != (uint32_t)NONE)) {
        print_path(&search, bad);
    }

    result.num_states = search.num_visits;
    result.num_steps  = search.num_edges;
    free(state);
    free(search.queue);
    free(search.is_end);
    free(search.edges);
    free(search.table);
    free(search.visits);
    return result;
}

int model_test(const model_t *model, const model_case_t *cases, size_t num,
               int argc, char **argv)
{
    static const char *const verdicts[] = {"holds", "wrong", "dead end",
                                           "too many states"};
    int failed                          = 0, wanted, show;
    model_result_t result;
    size_t i;

    show = (argc > 1) && (strcmp(argv[1], "--path") == 0);
    for (i = 0; i < num; ++i) {
        result = model_run(model, cases[i].variant, show);
        wanted = result.verdict == cases[i].expected;
        failed |= !wanted;
        printf("%s %s, %s: %s%s%s (%u states, %u steps)%s%s\n",
               wanted ? "ok  " : "FAIL", model->name, cases[i].title,
               verdicts[result.verdict], (result.what == NULL) ? "" : ": ",
               (result.what == NULL) ? "" : result.what, result.num_states,
               result.num_steps, wanted ? "" : "; expected: ",
               wanted ? "" : verdicts[cases[i].expected]);
        if (!wanted && !show) {
            model_run(model, cases[i].variant, 1);
        }
    }
    return failed;
}
