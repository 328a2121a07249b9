/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Effect of a UCX_TLS list on a plugin; for explanations only. The library
 * makes the selection itself.
 */
#ifndef UCX_PLUGINS_SELECT_H
#define UCX_PLUGINS_SELECT_H

#include "uct/plugin/manifest.h"

/*
 * Returns the rejection code that results from the list: NONE if it allows a
 * transport of the plugin, EXCLUDED, or NOT_DEFAULT if the plugin must be
 * selected by name. If `list` is NULL, the variable is not set, which has the
 * same effect as "all".
 */
uct_rejection_code_t select_judge(const uct_manifest_t *manifest,
                                  const char *list);

#endif
