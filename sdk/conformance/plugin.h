/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plugin as the core sees it: found by its manifest and loaded, with its
 * components and domains. Used in the processes of checks only.
 */
#ifndef CONFORMANCE_PLUGIN_H
#define CONFORMANCE_PLUGIN_H

#include "check.h"

#include <ucx/plugin.h>

/* Finds the plugin in the core's registry of plugins, without loading it. If
 * the core would not use the plugin, records a finding or marks the check as
 * skipped, and returns 0. */
int plugin_is_found(run_t *run);

/* Loads the plugin and returns its descriptor. Returns NULL on failure: with a
 * finding, or with the check marked as skipped if hardware or software that the
 * plugin needs is missing. */
const ucx_plugin_t *plugin_load(run_t *run);

/* Returns a component of the core by its name; NULL if there is none. */
uct_component_h plugin_component(const char *name);

/* Calls `visit` for each domain of each component of the plugin. Returns 0 and
 * records a finding if the domains of a component cannot be listed. */
typedef void (*plugin_md_visit_t)(run_t *run, uct_component_h component,
                                  const char *component_name,
                                  const char *md_name, void *arg);
int plugin_for_each_md(run_t *run, plugin_md_visit_t visit, void *arg);

/* Opens a domain with its default configuration; NULL and a finding on
 * failure. */
uct_md_h plugin_open_md(run_t *run, uct_component_h component,
                        const char *md_name);

#endif
