/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums and lower envelopes of piecewise linear functions. */
#include "ucs/datastruct/piecewise_func.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/sys/math.h"

ucs_status_t ucs_piecewise_func_init(ucs_piecewise_func_t *pw)
{
    pw->segments = malloc(4 * sizeof(*pw->segments));
    if (pw->segments == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    pw->segments[0].end  = SIZE_MAX;
    pw->segments[0].func = UCS_LINEAR_FUNC_ZERO;
    pw->count            = 1;
    pw->capacity         = 4;
    return UCS_OK;
}

void ucs_piecewise_func_cleanup(ucs_piecewise_func_t *pw)
{
    free(pw->segments);
    pw->segments = NULL;
    pw->count    = 0;
    pw->capacity = 0;
}

/* Returns the index of the segment that contains size x. */
static unsigned segment_at(const ucs_piecewise_func_t *pw, size_t x)
{
    unsigned i = 0;

    while (pw->segments[i].end < x) {
        ++i;
    }

    return i;
}

/* Splits the segment that contains x, so that one segment ends at x (inclusive)
 * and the next segment follows. */
static ucs_status_t piecewise_split(ucs_piecewise_func_t *pw, size_t x)
{
    unsigned i = segment_at(pw, x);
    ucs_piecewise_segment_t *larger;

    if (pw->segments[i].end == x) {
        return UCS_OK;
    }

    if (pw->count == pw->capacity) {
        larger = realloc(pw->segments,
                         2 * pw->capacity * sizeof(*pw->segments));
        if (larger == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
        pw->segments = larger;
        pw->capacity *= 2;
    }

    memmove(&pw->segments[i + 1], &pw->segments[i],
            (pw->count - i) * sizeof(*pw->segments));
    pw->segments[i].end = x;
    ++pw->count;
    return UCS_OK;
}

ucs_status_t ucs_piecewise_func_add_range(ucs_piecewise_func_t *pw,
                                          size_t start, size_t end,
                                          ucs_linear_func_t func)
{
    ucs_status_t status;
    unsigned i;

    if (start > end) {
        return UCS_ERR_INVALID_PARAM;
    }

    status = (start == 0) ? UCS_OK : piecewise_split(pw, start - 1);
    if (status == UCS_OK) {
        status = piecewise_split(pw, end);
    }
    if (status != UCS_OK) {
        return status;
    }

    for (i = segment_at(pw, start); pw->segments[i].end <= end; ++i) {
        ucs_linear_func_add_inplace(&pw->segments[i].func, func);
        if (pw->segments[i].end == end) {
            break;
        }
    }

    return UCS_OK;
}

double ucs_piecewise_func_apply(const ucs_piecewise_func_t *pw, size_t x)
{
    return ucs_linear_func_apply(pw->segments[segment_at(pw, x)].func,
                                 (double)x);
}

/* ---- envelope ---- */

typedef struct {
    const ucs_piecewise_func_t *const *funcs; /* the candidates; entries may be
                                               * NULL */
    const size_t (*ranges)[2]; /* first and last size of each; NULL: any size */
    unsigned num_funcs;
    ucs_envelope_entry_t *entries; /* the result so far */
    unsigned count;                /* number of entries */
    unsigned capacity;             /* length of the array */
} envelope_t;

static int compare_sizes(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

/* Divides all sizes into intervals in which no candidate has a new segment, or
 * begins or ends to be valid. Returns the ends of these intervals in ascending
 * order; the last one is SIZE_MAX. */
static size_t *envelope_breaks(const envelope_t *env, size_t *count_p)
{
    size_t total = 1, count = 0, kept, i;
    size_t *breaks;
    unsigned f, s;

    for (f = 0; f < env->num_funcs; ++f) {
        total += 2 + ((env->funcs[f] == NULL) ? 0 : env->funcs[f]->count);
    }

    breaks = malloc(total * sizeof(*breaks));
    if (breaks == NULL) {
        return NULL;
    }

    breaks[count++] = SIZE_MAX;
    for (f = 0; f < env->num_funcs; ++f) {
        if (env->funcs[f] == NULL) {
            continue;
        }
        for (s = 0; s < env->funcs[f]->count; ++s) {
            breaks[count++] = env->funcs[f]->segments[s].end;
        }
        if (env->ranges != NULL) {
            breaks[count++] = env->ranges[f][1];
            if (env->ranges[f][0] > 0) {
                breaks[count++] = env->ranges[f][0] - 1;
            }
        }
    }

    qsort(breaks, count, sizeof(*breaks), compare_sizes);
    for (kept = 1, i = 1; i < count; ++i) {
        if (breaks[i] != breaks[kept - 1]) {
            breaks[kept++] = breaks[i];
        }
    }

    *count_p = kept;
    return breaks;
}

/* Returns whether candidate `f` is valid at size x. If so, *line receives its
 * linear function there. */
static int envelope_line(const envelope_t *env, unsigned f, size_t x,
                         ucs_linear_func_t *line)
{
    const ucs_piecewise_func_t *pw = env->funcs[f];

    if ((pw == NULL) || ((env->ranges != NULL) && ((x < env->ranges[f][0]) ||
                                                   (x > env->ranges[f][1])))) {
        return 0;
    }

    *line = pw->segments[segment_at(pw, x)].func;
    return 1;
}

/* Returns the index of the candidate with the smallest value at size x, and its
 * linear function. Of several such candidates, it is the one with the smallest
 * slope. Returns UINT_MAX if no candidate is valid. */
static unsigned envelope_best(const envelope_t *env, size_t x,
                              ucs_linear_func_t *best_line)
{
    unsigned best = UINT_MAX;
    ucs_linear_func_t line;
    double cost, best_cost = 0;
    unsigned f;

    for (f = 0; f < env->num_funcs; ++f) {
        if (!envelope_line(env, f, x, &line)) {
            continue;
        }

        cost = ucs_linear_func_apply(line, (double)x);
        if ((best == UINT_MAX) || (cost < best_cost) ||
            ((cost == best_cost) && (line.m < best_line->m))) {
            best       = f;
            best_cost  = cost;
            *best_line = line;
        }
    }

    return best;
}

/* Finds the first size in (x, end] from which a candidate has a smaller value
 * than the line `from`. Returns the index of the candidate and stores the size
 * in *next_p; returns UINT_MAX if there is none. The slope of the candidate is
 * smaller than that of `from`, so the loop in envelope_interval()
 * terminates. */
static unsigned envelope_cross(const envelope_t *env, size_t x, size_t end,
                               ucs_linear_func_t from, size_t *next_p,
                               ucs_linear_func_t *next_line)
{
    unsigned found = UINT_MAX;
    ucs_linear_func_t line;
    size_t next;
    double at;
    unsigned f;

    *next_p = SIZE_MAX;
    for (f = 0; f < env->num_funcs; ++f) {
        if (!envelope_line(env, f, end, &line) || !(line.m < from.m) ||
            (ucs_linear_func_intersect(from, line, &at) != 0) ||
            !(at < (double)end)) {
            continue;
        }

        next = (at < (double)x) ? x + 1 : (size_t)at + 1;
        next = ucs_max(next, x + 1);
        if ((next <= end) && ((found == UINT_MAX) || (next < *next_p) ||
                              ((next == *next_p) && (line.m < next_line->m)))) {
            found      = f;
            *next_p    = next;
            *next_line = line;
        }
    }

    return found;
}

/* Adds an entry that ends at `end`. If the last entry has the same index,
 * extends that entry instead. */
static ucs_status_t envelope_emit(envelope_t *env, size_t end, unsigned index)
{
    ucs_envelope_entry_t *larger;

    if ((env->count > 0) && (env->entries[env->count - 1].index == index)) {
        env->entries[env->count - 1].end = end;
        return UCS_OK;
    }

    if (env->count == env->capacity) {
        env->capacity = ucs_max(2 * env->capacity, 8u);
        larger = realloc(env->entries, env->capacity * sizeof(*env->entries));
        if (larger == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
        env->entries = larger;
    }

    env->entries[env->count].end     = end;
    env->entries[env->count++].index = index;
    return UCS_OK;
}

/* Adds the entries for the sizes from `start` to `end`, an interval in which
 * every valid candidate is one line. */
static ucs_status_t envelope_interval(envelope_t *env, size_t start, size_t end)
{
    ucs_linear_func_t line = UCS_LINEAR_FUNC_ZERO, next_line = line;
    unsigned index, next_index;
    ucs_status_t status;
    size_t next;

    index = envelope_best(env, start, &line);
    while ((index != UINT_MAX) && (start < end)) {
        next_index = envelope_cross(env, start, end, line, &next, &next_line);
        if (next_index == UINT_MAX) {
            break;
        }

        status = envelope_emit(env, next - 1, index);
        if (status != UCS_OK) {
            return status;
        }

        start = next;
        index = next_index;
        line  = next_line;
    }

    return envelope_emit(env, end, index);
}

ucs_status_t ucs_piecewise_envelope(const ucs_piecewise_func_t *const *funcs,
                                    const size_t (*ranges)[2],
                                    unsigned num_funcs,
                                    ucs_envelope_entry_t **entries_p,
                                    unsigned *count_p)
{
    envelope_t env      = {funcs, ranges, num_funcs, NULL, 0, 0};
    ucs_status_t status = UCS_OK;
    size_t start        = 0;
    size_t *breaks;
    size_t i, count;

    breaks = envelope_breaks(&env, &count);
    if (breaks == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    for (i = 0; (i < count) && (status == UCS_OK); ++i) {
        status = envelope_interval(&env, start, breaks[i]);
        start  = breaks[i] + 1;
    }

    free(breaks);
    if (status != UCS_OK) {
        free(env.entries);
        return status;
    }

    *entries_p = env.entries;
    *count_p   = env.count;
    return UCS_OK;
}
