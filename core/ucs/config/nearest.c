/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the known word that is most similar to a misspelt one. */
#include "ucs/config/config.h"

#include <ctype.h>
#include <string.h>

#include "ucs/sys/math.h"

#define NEAREST_WORD_MAX 96

static int lower(char c)
{
    return tolower((unsigned char)c);
}

/* Damerau-Levenshtein distance (restricted: no letter is changed twice) by
 * dynamic programming over the prefixes of both words. Three rows of the matrix
 * are kept, because a swap of neighbouring letters refers to the row before the
 * previous row. */
unsigned ucs_config_edit_distance(const char *a, const char *b, unsigned limit)
{
    unsigned rows[3][NEAREST_WORD_MAX + 1];
    unsigned *prev2 = rows[0], *prev = rows[1], *row = rows[2], *spare;
    size_t length_a = strlen(a), length_b = strlen(b);
    size_t i, j;

    if ((length_a > NEAREST_WORD_MAX) || (length_b > NEAREST_WORD_MAX) ||
        (ucs_max(length_a, length_b) - ucs_min(length_a, length_b) > limit)) {
        return limit + 1;
    }

    for (j = 0; j <= length_b; ++j) {
        prev[j] = (unsigned)j;
    }

    for (i = 1; i <= length_a; ++i) {
        row[0] = (unsigned)i;
        for (j = 1; j <= length_b; ++j) {
            row[j] = prev[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
            row[j] = ucs_min(row[j], prev[j] + 1);
            row[j] = ucs_min(row[j], row[j - 1] + 1);
            if ((i > 1) && (j > 1) && (lower(a[i - 1]) == lower(b[j - 2])) &&
                (lower(a[i - 2]) == lower(b[j - 1]))) {
                row[j] = ucs_min(row[j], prev2[j - 2] + 1);
            }
        }

        spare = prev2;
        prev2 = prev;
        prev  = row;
        row   = spare;
    }

    return ucs_min(prev[length_b], limit + 1);
}

/* The limit grows with the length, from 1 to 4: any two short words differ in
 * few letters, so a larger limit would match unrelated words. */
unsigned ucs_config_slips(const char *word)
{
    size_t length = strlen(word);

    return (length <= 4) ? 1 :
                           (unsigned)ucs_min((length - 1) / 4 + 1, (size_t)4);
}

const char *ucs_config_nearest(const char *word, const char *const *candidates)
{
    unsigned best       = ucs_config_slips(word);
    const char *nearest = NULL;
    unsigned distance;

    for (; *candidates != NULL; ++candidates) {
        distance = ucs_config_edit_distance(word, *candidates, best);
        if ((distance < best) || ((distance == best) && (nearest == NULL))) {
            best    = distance;
            nearest = *candidates;
        }
    }

    return nearest;
}
