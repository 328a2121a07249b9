/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of plugins' parts in users' settings: words of transport lists and
 * names of variables. Loads no code.
 */
#ifndef UCT_BASE_WORDS_H
#define UCT_BASE_WORDS_H

#include <stddef.h>
#include <ucs/type/status.h>

/*
 * Explains in one line why a word (a transport's name or alias) selects nothing
 * usable, and what to do. UCS_OK: it is usable, the text is empty. For the
 * other codes see uct_plugin_explain_word().
 */
ucs_status_t uct_explain_word(const char *word, char *text, size_t size);

/* Prefixes ("TCP_") of the variables of plugins, loaded or not, terminated by
 * NULL; for ucs_config_warn_unknown(). NULL: unknown. */
const char *const *uct_config_prefixes(void);

#endif
