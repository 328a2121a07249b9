/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names in users' settings that belong to plugins: words of transport lists,
 * and names of variables. Loads no code.
 */
#ifndef UCT_BASE_WORDS_H
#define UCT_BASE_WORDS_H

#include <stddef.h>
#include <ucs/type/status.h>

/*
 * Explains in one line why a word (a transport's name or alias) selects nothing
 * usable, and what to do. Returns UCS_OK with an empty text if the word is
 * usable. For the other codes see uct_plugin_explain_word().
 */
ucs_status_t uct_explain_word(const char *word, char *text, size_t size);

/* Returns the prefixes ("TCP_") of the variables of all plugins, loaded or not,
 * terminated by NULL, for ucs_config_warn_unknown(). Returns NULL if they
 * cannot be determined. */
const char *const *uct_config_prefixes(void);

#endif
