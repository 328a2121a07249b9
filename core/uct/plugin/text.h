/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes foreign bytes (file names, other people's words) fit for a terminal, a
 * log and JSON. No input or output happens here.
 */
#ifndef UCT_PLUGIN_TEXT_H
#define UCT_PLUGIN_TEXT_H

/*
 * Replaces, in place, every byte that is a control character (C0, DEL, C1) or
 * no part of well-formed UTF-8 by '?'. A line cleaned so cannot drive a
 * terminal and can be put into JSON.
 */
void uct_text_clean(char *text);

#endif
