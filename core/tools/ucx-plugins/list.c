/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx-plugins list: all plugins, those with the highest priority first, then
 * the reasons of rejections, and the overrides: files that enable or disable a
 * plugin or change its priority.
 */
#include <stdlib.h>
#include <string.h>

#include "term.h"
#include "tool.h"

static const char *or_dash(const char *text)
{
    return ((text == NULL) || (text[0] == '\0')) ? "-" : text;
}

static const char *abi_text(const uct_manifest_t *manifest, char *buffer,
                            size_t size)
{
    if (manifest == NULL) {
        return "-";
    }
    snprintf(buffer, size, "%u.%u", UCX_PLUGIN_ABI_MAJOR_OF(manifest->abi),
             UCX_PLUGIN_ABI_MINOR_OF(manifest->abi));
    return buffer;
}

static term_style_t state_style(const uct_rejection_t *rejection)
{
    if (rejection->code == UCT_REJECT_NONE) {
        return TERM_GOOD;
    } else if (uct_rejection_info(rejection->code)->fault) {
        return TERM_BAD;
    }
    return (rejection->code == UCT_REJECT_SHADOWED) ? TERM_DIM : TERM_WARN;
}

static void add_header(term_table_t *table)
{
    static const char *const titles[] = {"NAME",   "VERSION", "ABI",
                                         "STATE",  "CODE",    "TRANSPORTS",
                                         "MEMORY", "FROM"};
    unsigned i;

    for (i = 0; i < sizeof(titles) / sizeof(titles[0]); ++i) {
        term_table_add(table, TERM_BOLD, "%s", titles[i]);
    }
}

static void add_plugin(term_table_t *table, uct_plugin_t *plugin)
{
    const uct_plugin_info_t *info = uct_plugin_info(plugin);
    char *transports              = tool_transports(info->manifest);
    char *memory                  = tool_memory_types(info->manifest);
    uct_rejection_t rejection;
    uct_plugin_state_t state;
    char abi[16];
    int usable;

    state  = uct_plugin_state(plugin, &rejection);
    usable = rejection.code == UCT_REJECT_NONE;
    term_table_add(table, usable ? TERM_BOLD : TERM_PLAIN, "%s", info->name);
    term_table_add(table, TERM_PLAIN, "%s",
                   (info->manifest == NULL) ? "-" : info->manifest->version);
    term_table_add(table, TERM_PLAIN, "%s",
                   abi_text(info->manifest, abi, sizeof(abi)));
    term_table_add(table, state_style(&rejection), "%s%s",
                   uct_plugin_state_name(state),
                   (usable && !info->manifest->by_default) ? " on request" :
                                                             "");
    term_table_add(table, state_style(&rejection), "%s",
                   usable ? "-" : uct_rejection_info(rejection.code)->id);
    term_table_add(table, TERM_PLAIN, "%s", or_dash(transports));
    term_table_add(table, TERM_PLAIN, "%s", or_dash(memory));
    term_table_add(table, TERM_DIM, "%s", info->path);
    free(transports);
    free(memory);
}

/* Prints the reasons of rejections, one paragraph each. Without -a, omits
 * plugins that an earlier plugin of the same name replaces (shadowed plugins),
 * because their lines in the table are sufficient. */
static void print_reasons(tool_t *tool)
{
    const uct_rejection_info_t *code;
    uct_plugin_t *plugin;
    uct_rejection_t rejection;
    int first = 1;
    unsigned i;

    for (i = 0; (plugin = uct_plugin_at(tool->registry, i)) != NULL; ++i) {
        uct_plugin_state(plugin, &rejection);
        if ((rejection.code == UCT_REJECT_NONE) ||
            ((rejection.code == UCT_REJECT_SHADOWED) && !tool->all)) {
            continue;
        }
        if (first) {
            putchar('\n');
            first = 0;
        }
        code = uct_rejection_info(rejection.code);
        term_paragraph(stdout, 0, "%s: %s %s: %s",
                       uct_plugin_info(plugin)->name, code->id, code->meaning,
                       rejection.reason);
        if (tool->all) {
            term_paragraph(stdout, 4, "What to do: %s.", code->remedy);
        }
    }
}

static void print_overrides(tool_t *tool)
{
    const uct_plugin_override_t *overrides;
    const uct_manifest_t *word;
    unsigned count, i;

    overrides = uct_plugin_overrides(tool->registry, &count);
    for (i = 0; i < count; ++i) {
        word = overrides[i].manifest;
        if (!tool->all && overrides[i].matched) {
            continue;
        }
        term_paragraph(stdout, 0, "Override %s: plugin %s%s%s%s",
                       overrides[i].path, word->name,
                       !word->has_enabled ? "" :
                       word->enabled      ? " enabled" :
                                            " disabled",
                       word->has_priority ? ", another priority" : "",
                       overrides[i].matched ? "" :
                                              "; but no plugin of this name "
                                              "was found");
    }
}

/* Counts all plugins, and the usable ones. Returns TOOL_BAD if a plugin is
 * rejected because of a fault. */
static int verdict(tool_t *tool, unsigned *usable_p, unsigned *count_p)
{
    uct_plugin_t *plugin;
    uct_rejection_t rejection;
    int result = TOOL_OK;
    unsigned i;

    *usable_p = 0;
    for (i = 0; (plugin = uct_plugin_at(tool->registry, i)) != NULL; ++i) {
        uct_plugin_state(plugin, &rejection);
        *usable_p += rejection.code == UCT_REJECT_NONE;
        if (uct_rejection_info(rejection.code)->fault) {
            result = TOOL_BAD;
        }
    }
    *count_p = i;
    return result;
}

static int print_list_json(tool_t *tool, int code)
{
    json_t *plugins = json_array();
    uct_plugin_t *plugin;
    char abi[16];
    unsigned i;

    for (i = 0; (plugin = uct_plugin_at(tool->registry, i)) != NULL; ++i) {
        json_array_append_new(plugins, tool_plugin_json(plugin));
    }
    snprintf(abi, sizeof(abi), "%d.%d", UCX_PLUGIN_ABI_MAJOR,
             UCX_PLUGIN_ABI_MINOR);
    return tool_print_json(json_pack("{s:i, s:s, s:o}", "format", 1, "abi", abi,
                                     "plugins", plugins),
                           code);
}

int tool_list(tool_t *tool, int argc, char **argv)
{
    unsigned usable, count, i;
    term_table_t table;
    int code;

    if (argc > 0) {
        fprintf(stderr, "ucx-plugins: list takes no argument, not '%s'\n",
                argv[0]);
        return TOOL_USAGE;
    }

    code = verdict(tool, &usable, &count);
    if (tool->json) {
        return print_list_json(tool, code);
    }
    if (count == 0) {
        term_paragraph(stdout, 0,
                       "No plugin was found. `ucx-plugins path` shows where "
                       "they are looked for.");
        return code;
    }

    term_table_init(&table, 8);
    add_header(&table);
    for (i = 0; i < count; ++i) {
        add_plugin(&table, uct_plugin_at(tool->registry, i));
    }
    term_table_print(&table);
    print_reasons(tool);
    print_overrides(tool);
    return code;
}
