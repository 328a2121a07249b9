/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plugin as the core's framework sees it: found by its manifest, loaded,
 * its components and domains. For processes of checks only.
 */
#ifndef CONFORMANCE_PLUGIN_H
#define CONFORMANCE_PLUGIN_H

#include "check.h"
#include "uct/plugin/registry.h"

/* The plugin in the registry; a finding, or a skip, and NULL if the core would
 * not use it. Loads nothing. */
uct_plugin_t *plugin_find(run_t *run);

/* Loaded; otherwise a finding, or a skip where it has nothing to drive. */
const ucx_plugin_t *plugin_load(run_t *run);

/* Calls `visit` for each domain of the component; 0 and a finding if they
 * could not be listed. */
typedef void (*plugin_md_visit_t)(run_t *run, uct_component_h component,
                                  const char *component_name,
                                  const char *md_name, void *arg);
int plugin_for_each_md(run_t *run, plugin_md_visit_t visit, void *arg);

/* With its default configuration; NULL and a finding if it does not open. */
uct_md_h plugin_open_md(run_t *run, uct_component_h component,
                        const char *md_name);

#endif
