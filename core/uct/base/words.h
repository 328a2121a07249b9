/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What users write about plugins: words of transport lists and names of
 * variables. Nothing of it loads code.
 */
#ifndef UCT_BASE_WORDS_H
#define UCT_BASE_WORDS_H

#include <stddef.h>
#include <ucs/type/status.h>

/*
 * Says in one line why a word (a transport's name or alias) leads to nothing
 * that can be used, and what to do. UCS_OK: it does lead to something, the text
 * is empty. For the other codes see uct_plugin_explain_word().
 */
ucs_status_t uct_explain_word(const char *word, char *text, size_t size);

/* Prefixes ("TCP_") of the variables of plugins, loaded or not, ended by NULL;
 * for ucs_config_warn_unknown(). NULL: not known. */
const char *const *uct_config_prefixes(void);

#endif
