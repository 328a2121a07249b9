/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matches the regular expressions that the schema of manifests (schema.h)
 * contains. Only the subset of POSIX syntax below is supported, without
 * compilation and locale: to compile a dozen patterns by regcomp() would take
 * more time at the start of a program than to read all manifests.
 *
 *   ^ $                the beginning and the end of the text
 *   . x \x             any character; the character x; x even if it is special
 *   [a-z] [^/]         a character in, or not in, a list with ranges
 *   (a|b)  ( ... )?    alternatives; a group that may be absent
 *   ? * + {m} {m,} {m,n}   repetitions of the preceding character or list
 */
#ifndef UCT_PLUGIN_PATTERN_H
#define UCT_PLUGIN_PATTERN_H

/* Returns nonzero if the pattern uses only the subset above. */
int uct_pattern_is_good(const char *pattern);

/* Returns nonzero if a part of the text matches the pattern. The pattern must
 * be one for which uct_pattern_is_good() returns nonzero. */
int uct_pattern_matches(const char *pattern, const char *text);

#endif
