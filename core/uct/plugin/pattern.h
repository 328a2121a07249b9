/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The regular expressions of the manifest's schema: a small subset. They need
 * no compilation and no locale. regcomp() for a dozen patterns took longer at
 * program start than reading the manifests.
 *
 *   ^ $                the beginning and the end
 *   . x \x             any character; the character x; x literally
 *   [a-z] [^/]         a character in, or not in, a list with ranges
 *   (a|b)  ( ... )?    alternatives; an optional group
 *   ? * + {m} {m,} {m,n}   repetitions of the preceding character
 */
#ifndef UCT_PLUGIN_PATTERN_H
#define UCT_PLUGIN_PATTERN_H

/* Returns nonzero if the pattern uses only the subset above. */
int uct_pattern_is_good(const char *pattern);

/* Returns nonzero if a part of the text matches the pattern, which must be
 * valid. */
int uct_pattern_matches(const char *pattern, const char *text);

#endif
