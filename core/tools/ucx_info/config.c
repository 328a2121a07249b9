/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_info -c: every variable with its value, in the format of ucx.conf. Only a
 * plugin's code contains its variables, so plugins are loaded: all that are
 * used by default, or those that -t selects. For the other plugins, the
 * prefixes in their manifests are listed.
 */
#include "lines.h"

#include <string.h>

#include "ucs/config/config.h"
#include "uct/base/component.h"
#include "uct/plugin/registry.h"

static void add_variable(const ucs_config_item_t *item, void *arg)
{
    const unsigned hidden = UCS_CONFIG_FLAG_HIDDEN | UCS_CONFIG_FLAG_DEPRECATED;

    json_array_append_new(arg,
                          json_pack("{s:s, s:o, s:o, s:o, s:o, s:s, s:b}",
                                    "name", item->name, "value",
                                    json_text(item->value), "default",
                                    json_text(item->dfl_value), "type",
                                    json_text(item->type), "help",
                                    json_text(item->doc), "table", item->table,
                                    "hidden", (item->flags & hidden) != 0));
}

/* Returns the usable plugins that are not loaded, with the prefixes of their
 * variables. */
static json_t *not_loaded(void)
{
    json_t *result       = json_array(), *prefixes;
    uct_plugin_t *plugin = NULL;
    uct_plugin_registry_t *registry;
    const uct_manifest_t *manifest;
    unsigned i;

    if (uct_plugin_registry_get(&registry) != UCS_OK) {
        return result;
    }
    while ((plugin = uct_plugin_next(registry, plugin)) != NULL) {
        if (uct_plugin_state(plugin, NULL) == UCT_PLUGIN_LOADED) {
            continue;
        }
        manifest = uct_plugin_info(plugin)->manifest;
        prefixes = json_array();
        for (i = 0; i < manifest->config_prefixes.count; ++i) {
            json_array_append_new(
                prefixes,
                json_sprintf("UCX_%s_", manifest->config_prefixes.name[i]));
        }
        json_array_append_new(result, json_pack("{s:o, s:o}", "plugin",
                                                json_text(manifest->name),
                                                "prefixes", prefixes));
    }
    return result;
}

static int load(uct_component_h component, const char *name)
{
    ucs_status_t status = uct_component_load(component);

    if (status == UCS_OK) {
        return INFO_OK;
    }
    info_complain("%s cannot be loaded: %s. See `ucx-plugins why %s`", name,
                  ucs_status_string(status), name);
    return INFO_BAD;
}

/* Loads the plugins that are used by default. */
static int load_all(void)
{
    const uct_component_decl_t *decl;
    int code = INFO_OK;
    uct_component_h *list;
    unsigned i, count;

    if (info_list_components(&list, &count) != UCS_OK) {
        return INFO_BAD;
    }
    for (i = 0; i < count; ++i) {
        decl = uct_component_decl(list[i]);
        if (!decl->by_name_only && (load(list[i], decl->name) != INFO_OK)) {
            code = INFO_BAD;
        }
    }
    uct_release_component_list(list);
    return code;
}

/* Loads all plugins that have a transport with this name. */
static int load_transport(const char *name)
{
    uct_component_h component = NULL;
    uct_plugin_registry_t *registry;
    int code = INFO_OK, found = 0;
    char text[1024];

    while ((component = uct_component_find_by_tl(name, component)) != NULL) {
        found = 1;
        if (load(component, name) != INFO_OK) {
            code = INFO_BAD;
        }
    }
    if (found) {
        return code;
    }
    if ((uct_plugin_registry_get(&registry) == UCS_OK) &&
        (uct_plugin_explain_word(registry, name, NULL, text, sizeof(text)) !=
         UCS_OK)) {
        info_complain("%s", text);
    }
    return INFO_BAD;
}

/* ---------------------------------------------------------------- lines -- */

typedef struct {
    const info_t *info;
    ucs_status_t status;
} listing_t;

static void print_variables(void *arg, FILE *stream)
{
    listing_t *listing = arg;
    const info_t *info = listing->info;
    unsigned flags     = UCS_CONFIG_PRINT_CONFIG;

    if (info->all) {
        flags |= UCS_CONFIG_PRINT_HIDDEN;
    }
    if (info->full) {
        flags |= UCS_CONFIG_PRINT_HEADER | UCS_CONFIG_PRINT_DOC;
        fprintf(stream, "# UCX library configuration file\n");
    }
    if (info->comment) {
        flags |= UCS_CONFIG_PRINT_COMMENT_DEFAULT;
        fprintf(stream, "# Uncomment to modify values\n");
    }
    listing->status = ucs_config_print_all(stream, info->prefix,
                                           (ucs_config_print_flags_t)flags);
}

static void add_not_loaded_lines(json_t *answer)
{
    json_t *plugin, *prefix;
    char text[512];
    size_t i, j, length;

    json_array_foreach(json_object_get(answer, "not_loaded"), i, plugin) {
        length  = 0;
        text[0] = '\0';
        json_array_foreach(json_object_get(plugin, "prefixes"), j, prefix) {
            if (length < sizeof(text)) {
                length += (size_t)snprintf(text + length, sizeof(text) - length,
                                           "%s%s*", (j == 0) ? "" : ", ",
                                           json_string_value(prefix));
            }
        }
        if (length > 0) {
            info_lines_add(answer,
                           "# %s: variables of plugin %s, which is not "
                           "loaded: add -t NAME, a transport of it",
                           text, info_text(plugin, "plugin"));
        }
    }
}

int info_config_ask(info_t *info, json_t **answer_p)
{
    listing_t listing = {info, UCS_OK};
    const char *key   = info->json ? "variables" : "lines";
    json_t *list;
    int code;

    code = (info->transport == NULL) ? load_all() :
                                       load_transport(info->transport);
    if (info->json) {
        list           = json_array();
        listing.status = ucs_config_each(info->prefix, add_variable, list);
    } else {
        list = info_lines_capture(print_variables, &listing);
    }
    *answer_p = json_pack("{s:o, s:o}", key, list, "not_loaded", not_loaded());
    if (listing.status != UCS_OK) {
        info_complain("the variables cannot be listed: %s",
                      ucs_status_string(listing.status));
        code = INFO_BAD;
    }
    if (!info->json) {
        add_not_loaded_lines(*answer_p);
    }
    return code;
}
