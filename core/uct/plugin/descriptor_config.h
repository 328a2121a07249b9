/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks the tables of configuration variables in a plugin's descriptor.
 */
#ifndef UCT_PLUGIN_DESCRIPTOR_CONFIG_H
#define UCT_PLUGIN_DESCRIPTOR_CONFIG_H

#include <ucx/config.h>

#include "uct/plugin/manifest.h"

/* Returns UCS_OK if the table is valid and `manifest` declares its prefix;
 * otherwise stores the first fault in `rejection` (may be NULL) and returns an
 * error. `component` (a component's name) and `what` (the owner of the table: a
 * transport's name, "memory domain" or "connection manager") are used in the
 * reason of the rejection. */
ucs_status_t uct_descriptor_check_config(const ucx_config_table_t *table,
                                         const uct_manifest_t *manifest,
                                         const char *component,
                                         const char *what,
                                         uct_rejection_t *rejection);

#endif
