/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks the descriptor (ucx_plugin_t) that a plugin's entry point has
 * returned: sizes of the tables, names, required functions, and agreement with
 * the manifest. The loader does this once, so that later code can rely on it.
 */
#ifndef UCT_PLUGIN_DESCRIPTOR_H
#define UCT_PLUGIN_DESCRIPTOR_H

#include <ucx/plugin.h>

#include "uct/plugin/manifest.h"

/*
 * Returns UCS_OK if the descriptor is valid and the manifest declares all that
 * it offers. Otherwise stores the first fault in `rejection` (may be NULL) and
 * returns an error. `descriptor` may be NULL, which is a fault.
 */
ucs_status_t uct_descriptor_check(const ucx_plugin_t *descriptor,
                                  const uct_manifest_t *manifest,
                                  uct_rejection_t *rejection);

#endif
