/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks what a plugin's entry point returned, once, so that nobody after it
 * has to: sizes, names, required slots, and the manifest's promise.
 */
#ifndef UCT_PLUGIN_DESCRIPTOR_H
#define UCT_PLUGIN_DESCRIPTOR_H

#include <ucx/plugin.h>

#include "uct/plugin/manifest.h"

ucs_status_t uct_descriptor_check(const ucx_plugin_t *descriptor,
                                  const uct_manifest_t *manifest,
                                  uct_refusal_t *refusal);

#endif
