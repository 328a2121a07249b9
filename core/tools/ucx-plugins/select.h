/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Effect of a UCX_TLS list on a plugin; for explanations only. The library
 * makes the selection itself.
 */
#ifndef UCX_PLUGINS_SELECT_H
#define UCX_PLUGINS_SELECT_H

#include "uct/plugin/manifest.h"

/*
 * Returns how a value of UCX_TLS affects the plugin: UCT_REJECT_NONE if it
 * allows a transport of the plugin, or if a default plugin has no transports.
 * Otherwise UCT_REJECT_EXCLUDED or, for a plugin that is used only if it is
 * named, UCT_REJECT_NOT_DEFAULT. If `list` is NULL, the variable is not set,
 * which has the same effect as "all".
 */
uct_rejection_code_t select_judge(const uct_manifest_t *manifest,
                                  const char *list);

#endif
