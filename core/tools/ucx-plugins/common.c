/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helpers of several commands: lists of names, JSON, finding a plugin.
 */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

#include "memory_end.h"
#include "term.h"
#include "ucs/config/config.h"
#include "ucs/type/memory_type.h"

const char *tool_origin_name(uct_search_origin_t origin)
{
    static const char *const names[] = {
        [UCT_SEARCH_ENV]    = "environment",
        [UCT_SEARCH_ADMIN]  = "administrator",
        [UCT_SEARCH_SYSTEM] = "system",
    };

    return names[origin];
}

/* Appends a word to a list, which is allocated by malloc(). */
static char *append(char *list, const char *word, const char *separator)
{
    size_t length = strlen(list);
    char *longer  = memory_or_end(
         realloc(list, length + strlen(separator) + strlen(word) + 1));

    if (length > 0) {
        strcat(longer, separator);
    }
    return strcat(longer, word);
}

char *tool_words(const char *const *list, uint64_t mask, const char *separator)
{
    char *text = memory_or_end(strdup(""));
    unsigned i;

    for (i = 0; list[i] != NULL; ++i) {
        if (mask & (1ull << i)) {
            text = append(text, list[i], separator);
        }
    }
    return text;
}

char *tool_transports(const uct_manifest_t *manifest)
{
    char *text = memory_or_end(strdup(""));
    unsigned i, j;

    for (i = 0; (manifest != NULL) && (i < manifest->num_components); ++i) {
        for (j = 0; j < manifest->components[i].num_transports; ++j) {
            text = append(text, manifest->components[i].transports[j].name,
                          ",");
        }
    }
    return text;
}

char *tool_memory_types(const uct_manifest_t *manifest)
{
    uint64_t mask = 0;
    unsigned i;

    for (i = 0; (manifest != NULL) && (i < manifest->num_components); ++i) {
        mask |= manifest->components[i].memory_types;
    }
    return tool_words(ucs_memory_type_words, mask, ",");
}

static json_t *search_json(const uct_plugin_info_t *info)
{
    return json_pack("{s:o, s:s, s:o, s:o, s:o}", "path", json_text(info->path),
                     "origin", tool_origin_name(info->dir->origin), "directory",
                     json_text(info->dir->path), "library",
                     (info->library[0] == '\0') ? json_null() :
                                                  json_text(info->library),
                     "manifest",
                     (info->manifest == NULL) ?
                         json_null() :
                         json_incref(info->manifest->root));
}

json_t *tool_plugin_json(uct_plugin_t *plugin)
{
    const uct_plugin_info_t *info = uct_plugin_info(plugin);
    uct_rejection_t rejection;
    const uct_rejection_info_t *code;
    uct_plugin_state_t state;
    json_t *result, *places;

    state  = uct_plugin_state(plugin, &rejection);
    code   = uct_rejection_info(rejection.code);
    result = json_pack("{s:s, s:s, s:i, s:b}", "name", info->name, "state",
                       uct_plugin_state_name(state), "priority", info->priority,
                       "default",
                       (info->manifest == NULL) || info->manifest->by_default);
    if ((result != NULL) && (rejection.code != UCT_REJECT_NONE)) {
        json_object_set_new(result, "rejection",
                            json_pack("{s:s, s:s, s:o, s:s, s:b}", "code",
                                      code->id, "meaning", code->meaning,
                                      "reason", json_text(rejection.reason),
                                      "remedy", code->remedy, "fault",
                                      code->fault));
    }
    places = search_json(info);
    if ((result == NULL) || (places == NULL) ||
        (json_object_update(result, places) != 0)) {
        json_decref(result);
        result = NULL;
    }
    json_decref(places);
    return result;
}

int tool_print_json(json_t *root, int code)
{
    if (root == NULL) {
        fprintf(stderr, "ucx-plugins: out of memory\n");
        return TOOL_SYSTEM;
    }
    json_dumpf(root, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(root);
    return code;
}

static int offers(const uct_manifest_t *manifest, const char *word)
{
    const uct_manifest_transport_t *transport;
    unsigned i, j;

    for (i = 0; i < manifest->num_components; ++i) {
        for (j = 0; j < manifest->components[i].num_transports; ++j) {
            transport = &manifest->components[i].transports[j];
            if (!strcmp(transport->name, word) ||
                uct_names_has(&transport->aliases, word)) {
                return 1;
            }
        }
    }
    return 0;
}

uct_plugin_t *tool_find(tool_t *tool, const char *name)
{
    uct_plugin_t *found = uct_plugin_find(tool->registry, name), *plugin;
    const uct_manifest_t *manifest;
    uct_rejection_t rejection;
    unsigned i;

    if (found != NULL) {
        return found;
    }
    for (i = 0; (plugin = uct_plugin_at(tool->registry, i)) != NULL; ++i) {
        manifest = uct_plugin_info(plugin)->manifest;
        if ((manifest == NULL) || !offers(manifest, name)) {
            continue;
        }
        uct_plugin_state(plugin, &rejection);
        if (rejection.code == UCT_REJECT_NONE) {
            return plugin;
        }
        found = (found == NULL) ? plugin : found;
    }
    return found;
}

int tool_not_found(tool_t *tool, const char *name)
{
    const char **names, *nearest;
    unsigned count = 0, i;

    while (uct_plugin_at(tool->registry, count) != NULL) {
        ++count;
    }
    names = calloc(count + 1, sizeof(*names));
    if (names == NULL) {
        return TOOL_SYSTEM;
    }
    for (i = 0; i < count; ++i) {
        names[i] = uct_plugin_info(uct_plugin_at(tool->registry, i))->name;
    }
    nearest = ucs_config_nearest(name, names);
    term_paragraph(stderr, 0,
                   "ucx-plugins: there is no plugin %s in the %u found%s%s%s. "
                   "`ucx-plugins list` shows them, `ucx-plugins path` where "
                   "they are looked for.",
                   name, count, (nearest == NULL) ? "" : "; did you mean ",
                   (nearest == NULL) ? "" : nearest,
                   (nearest == NULL) ? "" : "?");
    free(names);
    return TOOL_NOT_FOUND;
}
