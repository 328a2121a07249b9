/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules 6, 7, 10, 11, 24 and 29 of sdk/ABI.md: the core accepts the descriptor,
 * it contains everything that the manifest declares, and it does not change
 * while domains are opened. The manifest declares each operation that has a
 * slot. Variables that name paths have UCX_CONFIG_FLAG_PATH.
 */
#include "check.h"
#include "offers.h"
#include "plugin.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Adds bytes to a checksum (FNV-1a). Checksums of the plugin's tables, taken
 * before and after its use, show whether a table has changed. */
static uint64_t add_bytes(uint64_t sum, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    size_t i;

    for (i = 0; i < size; ++i) {
        sum = (sum ^ byte[i]) * 0x100000001b3ull;
    }
    return sum;
}

/* Adds a table to a checksum. The first member of each table is its size. */
static uint64_t add_table(uint64_t sum, const void *table)
{
    size_t size;

    if (table == NULL) {
        return sum;
    }
    memcpy(&size, table, sizeof(size));
    return add_bytes(add_bytes(sum, &table, sizeof(table)), table, size);
}

static uint64_t sum_transport(uint64_t sum, const ucx_transport_t *tl)
{
    sum = add_table(sum, tl);
    sum = add_table(sum, tl->iface_ops);
    sum = add_table(sum, tl->ep_ops);
    sum = add_table(sum, tl->config);
    return add_bytes(sum, tl->name, strlen(tl->name));
}

static uint64_t sum_component(uint64_t sum, const ucx_component_t *component)
{
    unsigned i;

    sum = add_table(sum, component);
    sum = add_table(sum, component->md_ops);
    sum = add_table(sum, component->md_config);
    sum = add_table(sum, component->cm_config);
    if (UCX_TABLE_HAS(component, cm_ops)) {
        sum = add_table(sum, component->cm_ops);
    }
    for (i = 0; i < component->num_transports; ++i) {
        sum = sum_transport(sum, component->transports[i]);
    }
    return add_bytes(sum, component->name, strlen(component->name));
}

static uint64_t sum_plugin(const ucx_plugin_t *plugin)
{
    uint64_t sum = add_table(0xcbf29ce484222325ull, plugin);
    unsigned i;

    for (i = 0; i < plugin->num_components; ++i) {
        sum = sum_component(sum, plugin->components[i]);
    }
    return add_bytes(sum, plugin->version, strlen(plugin->version));
}

static const ucx_transport_t *find_transport(const ucx_component_t *component,
                                             const char *name)
{
    unsigned i;

    for (i = 0; i < component->num_transports; ++i) {
        if (!strcmp(component->transports[i]->name, name)) {
            return component->transports[i];
        }
    }
    return NULL;
}

#define HAS_SLOT(_table, _slot) \
    (UCX_TABLE_HAS(_table, _slot) && ((_table)->_slot != NULL))

/* Checks that the component has everything that the manifest declares, and that
 * the manifest declares each operation that has a slot. Components and
 * transports that it does not declare need no check: the core rejects them when
 * it loads the plugin. */
static void check_declared_parts(run_t *run, const ucx_component_t *component)
{
    const ucx_manifest_component_t *declared =
        ucx_manifest_component(run->target->manifest, component->name);
    const ucx_transport_t *tl;
    unsigned i;

    for (i = 0; i < declared->num_transports; ++i) {
        tl = find_transport(component, declared->transports[i].name);
        if (check_that(run, 10, tl != NULL,
                       "the manifest declares transport "
                       "%s, the library has none",
                       declared->transports[i].name)) {
            offers_check_slots(run, 10, "the manifest declares", tl,
                               declared->transports[i].iface_flags,
                               declared->transports[i].event_flags);
            offers_check_declared(run, tl, &declared->transports[i]);
        }
    }
    check_that(run, 10, !declared->has_cm || HAS_SLOT(component, cm_ops),
               "the manifest declares a "
               "connection manager of %s, the library has none",
               component->name);
}

static void check_components(run_t *run, const ucx_plugin_t *plugin)
{
    const ucx_manifest_t *manifest = run->target->manifest;
    unsigned i, j;
    int found;

    for (i = 0; i < manifest->num_components; ++i) {
        found = 0;
        for (j = 0; j < plugin->num_components; ++j) {
            if (!strcmp(plugin->components[j]->name,
                        manifest->components[i].name)) {
                check_declared_parts(run, plugin->components[j]);
                found = 1;
            }
        }
        check_that(run, 10, found,
                   "the manifest declares component %s, the "
                   "library has none",
                   manifest->components[i].name);
    }
}

static int has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    const char *at;

    for (at = text; *at != '\0'; ++at) {
        if ((strncasecmp(at, word, length) == 0) &&
            !isalnum((unsigned char)at[length]) &&
            ((at == text) || !isalnum((unsigned char)at[-1]))) {
            return 1;
        }
    }
    return 0;
}

/* Returns whether the name or help of a variable contains words for paths. Only
 * variables of the type UCX_CONFIG_STRING are examined. */
static int names_a_path(const ucx_config_field_t *field)
{
    static const char *const words[] = {"path", "file", "folder", "dir",
                                        "directory"};
    unsigned i;

    for (i = 0; (field->type == UCX_CONFIG_STRING) &&
                (i < ucs_static_array_size(words));
         ++i) {
        if (has_word(field->name, words[i]) ||
            has_word(field->help, words[i])) {
            return 1;
        }
    }
    return 0;
}

static void check_paths(run_t *run, const ucx_config_table_t *table)
{
    const ucx_config_field_t *field;
    unsigned i, flags;

    for (i = 0; (table != NULL) && (i < table->num_fields); ++i) {
        field = (const ucx_config_field_t *)((const char *)table->fields +
                                             i * table->field_size);
        flags = (table->field_size >=
                 offsetof(ucx_config_field_t, flags) + sizeof(field->flags)) ?
                    field->flags :
                    0;
        check_that(run, 29,
                   !names_a_path(field) || (flags & UCX_CONFIG_FLAG_PATH),
                   "UCX_%s%s names a path by its name or help, and has no "
                   "UCX_CONFIG_FLAG_PATH",
                   table->prefix, field->name);
    }
}

static void check_variables(run_t *run, const ucx_plugin_t *plugin)
{
    const ucx_component_t *component;
    unsigned i, j;

    for (i = 0; i < plugin->num_components; ++i) {
        component = plugin->components[i];
        check_paths(run, component->md_config);
        check_paths(run, component->cm_config);
        for (j = 0; j < component->num_transports; ++j) {
            check_paths(run, component->transports[j]->config);
        }
    }
}

/* Opens and closes a domain; check_descriptor() compares the checksums of the
 * tables before and after. */
static void use_md(run_t *run, uct_component_h component,
                   const char *component_name, const char *md_name, void *arg)
{
    uct_md_h md = plugin_open_md(run, component, md_name);
    uct_tl_resource_desc_t *tls;
    unsigned count;

    if (md != NULL) {
        if (uct_md_query_tl_resources(md, &tls, &count) == UCS_OK) {
            uct_release_tl_resource_list(tls);
        }
        uct_md_close(md);
    }
}

void check_descriptor(run_t *run)
{
    const ucx_plugin_t *plugin = plugin_load(run);
    uint64_t sum;

    if (plugin == NULL) {
        return;
    }

    check_doing(run, "comparing the descriptor with the manifest");
    check_components(run, plugin);
    check_variables(run, plugin);

    sum = sum_plugin(plugin);
    plugin_for_each_md(run, use_md, NULL)
        ;
    check_that(run, 11, sum == sum_plugin(plugin),
               "tables of the descriptor have changed while domains were "
               "opened; they must be constant");
}
