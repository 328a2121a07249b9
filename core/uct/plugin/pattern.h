/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The regular expressions of the manifest's schema: few, short and ours. What
 * is here needs no compiling and no locale, which for a dozen of patterns and
 * words cost a program more of its start than reading the manifests.
 *
 *   ^ $          the beginning and the end
 *   . x \x       any character, this one, this one whatever it means
 *   [a-z] [^/]   a character of, or not of, a list with ranges
 *   (a|b)        one of several; ( ... )? may be absent
 *   ? * + {m} {m,} {m,n}     how often the character before is there
 */
#ifndef UCT_PLUGIN_PATTERN_H
#define UCT_PLUGIN_PATTERN_H

/* Nonzero if it uses nothing but the above. */
int uct_pattern_is_good(const char *pattern);

/* Nonzero if some part of the text matches a good pattern. */
int uct_pattern_matches(const char *pattern, const char *text);

#endif
