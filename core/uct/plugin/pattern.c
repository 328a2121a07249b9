/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matches a text against a regular expression (the subset of pattern.h) by
 * backtracking: match() reads the pattern from left to right, calls itself for
 * each alternative and number of repetitions, and tries the next one if the
 * rest of the pattern does not match.
 *
 * An atom is one character, list or group of a pattern, without its repetition.
 */
#include "uct/plugin/pattern.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

enum { GROUP_DEPTH_MAX = 8 }; /* largest number of nested groups */

/* What must match after the end of the group that is being matched. */
typedef struct rest {
    const char *pattern;      /* the pattern behind the group */
    const struct rest *outer; /* the same for the enclosing group; NULL if there
                               * is none */
} rest_t;

/* Allowed number of repetitions; UINT_MAX: any number. */
typedef struct count {
    unsigned min;
    unsigned max;
} count_t;

/* ------------------------------------------------------ pattern parts -- */

/* Returns the position after the list ("[...]") that begins at `p`, or NULL if
 * the list is not terminated. A closing bracket that is the first character of
 * the list does not end it. */
static const char *list_end(const char *p)
{
    p += 1 + (p[1] == '^');
    if (*p != '\0') {
        p = strchr(p + 1, ']');
    }
    return ((p == NULL) || (*p == '\0')) ? NULL : p + 1;
}

/* Returns the position after the group ("(...)") that begins at `p`, or NULL if
 * the group is not terminated. */
static const char *group_end(const char *p)
{
    unsigned depth = 0;

    while ((p != NULL) && (*p != '\0')) {
        switch (*p) {
        case '\\':
            p += 1 + (p[1] != '\0');
            break;
        case '[':
            p = list_end(p);
            break;
        case '(':
            ++depth;
            ++p;
            break;
        case ')':
            ++p;
            if (--depth == 0) {
                return p;
            }
            break;
        default:
            ++p;
        }
    }
    return NULL;
}

/* Returns the position after the character, list or group at `p`, or NULL if it
 * is not complete. */
static const char *atom_end(const char *p)
{
    switch (*p) {
    case '[':
        return list_end(p);
    case '(':
        return group_end(p);
    case '\\':
        return (p[1] == '\0') ? NULL : p + 2;
    default:
        return p + 1;
    }
}

/* Reads a number of at most 6 digits. Returns the position after it, or NULL if
 * there is no digit. */
static const char *read_number(const char *p, unsigned *number)
{
    const char *start = p;

    for (*number = 0; (*p >= '0') && (*p <= '9') && (p - start < 6); ++p) {
        *number = *number * 10 + (unsigned)(*p - '0');
    }
    return (p == start) ? NULL : p;
}

/* Reads the repetition at `p`; if there is none, the count is 1. Returns the
 * position after it, or NULL if it is invalid. */
static const char *read_count(const char *p, count_t *count)
{
    static const char signs[] = "?*+";
    const char *sign          = (*p == '\0') ? NULL : strchr(signs, *p);

    count->min = count->max = 1;
    if (sign != NULL) {
        count->min = *sign == '+';
        count->max = (*sign == '?') ? 1 : UINT_MAX;
        return p + 1;
    } else if (*p != '{') {
        return p;
    }

    p          = read_number(p + 1, &count->min);
    count->max = count->min;
    if ((p != NULL) && (*p == ',')) {
        count->max = UINT_MAX;
        if (*++p != '}') {
            p = read_number(p, &count->max);
        }
    }
    return ((p == NULL) || (*p != '}') || (count->min > count->max)) ? NULL :
                                                                       p + 1;
}

/* Returns whether the list ("[a-z]" or "[^a-z]") matches the character. */
static int is_in_list(const char *list, unsigned char c)
{
    const char *p = list + 1, *end = list_end(list) - 1;
    int is_negative = *p == '^';

    for (p += is_negative; p < end; ++p) {
        if ((p + 2 < end) && (p[1] == '-')) {
            if ((c >= (unsigned char)p[0]) && (c <= (unsigned char)p[2])) {
                return !is_negative;
            }
            p += 2;
        } else if (c == (unsigned char)*p) {
            return !is_negative;
        }
    }
    return is_negative;
}

/* Returns whether the atom (a character or a list, not a group) matches the
 * character. */
static int is_one(const char *atom, char c)
{
    if (c == '\0') {
        return 0;
    }
    switch (*atom) {
    case '.':
        return 1;
    case '[':
        return is_in_list(atom, (unsigned char)c);
    case '\\':
        return c == atom[1];
    default:
        return c == *atom;
    }
}

/* -------------------------------------------------------------- matching -- */

/* Returns whether `pattern`, and after it all of `rest`, matches a beginning of
 * `text`. `start` is the beginning of the whole text, where '^' matches. */
static int match(const char *pattern, const char *text, const char *start,
                 const rest_t *rest);

/* Returns the position of the next '|' of the group, or of its ')'. `p` is
 * inside the group, at the beginning of an alternative. */
static const char *next_branch(const char *p)
{
    while ((*p != '|') && (*p != ')') && (*p != '\0')) {
        p = atom_end(p);
    }
    return p;
}

/* As match(), for the pattern that begins with the group at `group`: tries the
 * pattern without the group if it may be absent, then each alternative. */
static int match_group(const char *group, const char *text, const char *start,
                       const rest_t *rest)
{
    const char *after = group_end(group), *branch = group + 1;
    count_t count;
    rest_t then;

    then.pattern = read_count(after, &count);
    then.outer   = rest;
    if ((count.min == 0) && match(then.pattern, text, start, rest)) {
        return 1;
    }
    for (;;) {
        if (match(branch, text, start, &then)) {
            return 1;
        }
        branch = next_branch(branch);
        if (*branch != '|') {
            return 0;
        }
        ++branch;
    }
}

/* As match(), for the pattern that begins with `atom`, a character or a list:
 * tries the largest number of repetitions first, then fewer, until the pattern
 * behind it matches. */
static int match_run(const char *atom, const char *text, const char *start,
                     const rest_t *rest)
{
    unsigned found = 0;
    count_t count;
    const char *then = read_count(atom_end(atom), &count);

    while ((found < count.max) && is_one(atom, text[found])) {
        ++found;
    }
    for (; found + 1 > count.min; --found) {
        if (match(then, text + found, start, rest)) {
            return 1;
        } else if (found == 0) {
            break;
        }
    }
    return 0;
}

static int match(const char *pattern, const char *text, const char *start,
                 const rest_t *rest)
{
    for (;;) {
        switch (*pattern) {
        case '\0':
        case ')':
        case '|':
            if (rest == NULL) {
                return 1;
            }
            pattern = rest->pattern;
            rest    = rest->outer;
            break;
        case '^':
            if (text != start) {
                return 0;
            }
            ++pattern;
            break;
        case '$':
            if (*text != '\0') {
                return 0;
            }
            ++pattern;
            break;
        case '(':
            return match_group(pattern, text, start, rest);
        default:
            return match_run(pattern, text, start, rest);
        }
    }
}

int uct_pattern_matches(const char *pattern, const char *text)
{
    const char *from = text;

    do {
        if (match(pattern, from, text, NULL)) {
            return 1;
        }
    } while ((*pattern != '^') && (*from++ != '\0'));
    return 0;
}

/* ------------------------------------------------- checks of the pattern -- */

/* Checks the pattern from `p` on; `depth` is the number of groups around `p`.
 * Returns the position of the pattern's end or of the ')' that ends the group
 * around `p`; NULL if the pattern is invalid. */
static const char *check(const char *p, unsigned depth)
{
    const char *after;
    count_t count;

    while ((p != NULL) && (*p != '\0') && (*p != ')')) {
        if ((*p == '^') || (*p == '$')) {
            ++p;
            continue;
        } else if (*p == '|') {
            p = (depth == 0) ? NULL : p + 1;
            continue;
        } else if (strchr("?*+{", *p) != NULL) {
            return NULL; /* There is nothing before the repetition that could
                          * be repeated */
        }
        after = atom_end(p);
        if ((after != NULL) && (*p == '(')) {
            if ((depth == GROUP_DEPTH_MAX) ||
                (check(p + 1, depth + 1) != after - 1)) {
                return NULL;
            }
            p = read_count(after, &count);
            /* match_group() supports only groups that occur once or not at
             * all. */
            p = (count.max > 1) ? NULL : p;
        } else {
            p = (after == NULL) ? NULL : read_count(after, &count);
        }
    }
    return p;
}

int uct_pattern_is_good(const char *pattern)
{
    const char *end = check(pattern, 0);

    return (end != NULL) && (*end == '\0');
}
