/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a UCX_TLS list makes of a plugin; for explanations only. The choice
 * itself is made by the library.
 */
#ifndef UCX_PLUGINS_SELECT_H
#define UCX_PLUGINS_SELECT_H

#include "uct/plugin/manifest.h"

/*
 * The refusal code that the list amounts to: NONE if it lets a transport of
 * the plugin through, EXCLUDED, or NOT_DEFAULT if the plugin waits to be named.
 * `list` NULL: nothing is set, which means "all".
 */
uct_refusal_code_t select_judge(const uct_manifest_t *manifest,
                                const char *list);

#endif
