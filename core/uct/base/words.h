/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names in users' settings that belong to plugins: words of the list of
 * transports (UCX_TLS), and names of variables. Loads no code of plugins.
 */
#ifndef UCT_BASE_WORDS_H
#define UCT_BASE_WORDS_H

#include <stddef.h>
#include <ucs/type/status.h>

/*
 * Explains in one line why a word (a transport's name or alias) selects no
 * usable transport, and what to do. Returns UCS_OK with an empty text if it
 * selects one, UCS_ERR_UNSUPPORTED if only a rejected plugin has it,
 * UCS_ERR_NO_ELEM if the word is unknown.
 */
ucs_status_t uct_explain_word(const char *word, char *text, size_t size);

/* Returns the prefixes ("TCP_") of the variables of all plugins, also of those
 * that are not loaded, terminated by NULL. For ucs_config_warn_unknown().
 * Returns NULL if the plugins cannot be searched. */
const char *const *uct_config_prefixes(void);

#endif
