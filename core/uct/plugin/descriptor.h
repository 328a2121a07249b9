/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks the result of a plugin's entry point, once, so that later code can
 * trust it: sizes, names, required slots, and agreement with the manifest.
 */
#ifndef UCT_PLUGIN_DESCRIPTOR_H
#define UCT_PLUGIN_DESCRIPTOR_H

#include <ucx/plugin.h>

#include "uct/plugin/manifest.h"

ucs_status_t uct_descriptor_check(const ucx_plugin_t *descriptor,
                                  const uct_manifest_t *manifest,
                                  uct_rejection_t *rejection);

#endif
