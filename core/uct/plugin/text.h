/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes text that does not come from the core (file names, texts of plugins)
 * safe for terminals, logs and JSON.
 */
#ifndef UCT_PLUGIN_TEXT_H
#define UCT_PLUGIN_TEXT_H

/*
 * Replaces, in place, every byte that is a control character (C0, DEL, C1) or
 * not part of well-formed UTF-8 by '?'. The result cannot control a terminal,
 * and needs only the usual escapes of quotes and backslashes in JSON.
 */
void uct_text_clean(char *text);

#endif
