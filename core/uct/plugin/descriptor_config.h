/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks the tables of configuration variables in a plugin's descriptor.
 */
#ifndef UCT_PLUGIN_DESCRIPTOR_CONFIG_H
#define UCT_PLUGIN_DESCRIPTOR_CONFIG_H

#include <ucx/config.h>

#include "uct/plugin/manifest.h"

/* `component` and `what` are used in error messages. */
ucs_status_t uct_descriptor_check_config(const ucx_config_table_t *table,
                                         const uct_manifest_t *manifest,
                                         const char *component,
                                         const char *what,
                                         uct_rejection_t *rejection);

#endif
