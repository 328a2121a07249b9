/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the list of figures for the option --sweep: one kind of figure for many
 * sizes. The script `portable` uses this option. */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SIZES = 256, /* Figures in the list */
    MAX_NAME  = 32,  /* Bytes of a figure's name, with the final 0 */
    BW_WINDOW = 16,  /* Messages in flight for bandwidth */
};

/* The kinds. The size in these entries is replaced for each figure. */
static const struct figure kinds[] = {
    {"tag", "us", UCP_FEATURE_TAG, latency_take, 0, 0},
    {"tag_bw", "GB/s", UCP_FEATURE_TAG, bandwidth_take, 0, BW_WINDOW},
    {"tag_both", "GB/s", UCP_FEATURE_TAG, both_take, 0, BW_WINDOW},
    {"am", "us", UCP_FEATURE_AM, am_latency_take, 0, 0},
    {"get", "us", UCP_FEATURE_RMA, get_take, 0, BENCH_PLAIN},
    {"put", "us", UCP_FEATURE_RMA, put_take, 0, BENCH_PLAIN},
    {"get_alloc", "us", UCP_FEATURE_RMA, get_take, 0, BENCH_ALLOCATED},
    {"put_alloc", "us", UCP_FEATURE_RMA, put_take, 0, BENCH_ALLOCATED},
};

static struct figure sweep_figures[MAX_SIZES];
static char sweep_names[MAX_SIZES][MAX_NAME];

static const struct figure *find_kind(const char *name)
{
    unsigned i;

    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
        if (strcmp(kinds[i].name, name) == 0) {
            return &kinds[i];
        }
    }
    fprintf(stderr, "ucp_bench: --sweep knows no '%s'; it knows", name);
    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
        fprintf(stderr, "%s %s", (i > 0) ? "," : "", kinds[i].name);
    }
    fputc('\n', stderr);
    return NULL;
}

/* Adds a figure for one size to the list. Returns false after an error message
 * if the list is full. */
static bool add(struct figure_list *list, const struct figure *kind,
                uint64_t size)
{
    unsigned i = list->count;

    if (i == MAX_SIZES) {
        fprintf(stderr, "ucp_bench: --sizes takes %d sizes at most\n",
                MAX_SIZES);
        return false;
    }
    snprintf(sweep_names[i], MAX_NAME, "%s_%llu", kind->name,
             (unsigned long long)size);
    sweep_figures[i]      = *kind;
    sweep_figures[i].name = sweep_names[i];
    sweep_figures[i].size = size;
    ++list->count;
    return true;
}

/* Adds a figure for each size in the text, which is numbers with commas
 * between. Returns false after an error message. */
static bool add_listed(struct figure_list *list, const struct figure *kind,
                       const char *sizes)
{
    const char *next = sizes;
    unsigned long long size;
    char *end;

    do {
        errno = 0;
        size  = strtoull(next, &end, 10);
        if ((*next < '0') || (*next > '9') || (errno != 0) || (size == 0) ||
            (size > BENCH_MAX_SIZE) || ((*end != ',') && (*end != '\0'))) {
            fprintf(stderr,
                    "ucp_bench: --sizes wants numbers from 1 to %d with"
                    " commas between, not '%s'\n",
                    BENCH_MAX_SIZE, next);
            return false;
        }
        if (!add(list, kind, size)) {
            return false;
        }
        next = end + 1;
    } while (*end != '\0');
    return true;
}

bool sweep_make(const char *kind_name, const char *sizes,
                struct figure_list *list)
{
    const struct figure *kind = find_kind(kind_name);
    uint64_t size;

    list->figures = sweep_figures;
    list->count   = 0;
    if (kind == NULL) {
        return false;
    }
    if (sizes != NULL) {
        return add_listed(list, kind, sizes);
    }
    for (size = 1; size <= BENCH_USUAL_SIZE; size *= 2) {
        if (!add(list, kind, size)) {
            return false;
        }
    }
    return true;
}
