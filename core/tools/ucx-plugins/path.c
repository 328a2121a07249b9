/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx-plugins path: the search folders in order, and for each whether it is
 * used, and if not, why.
 */
#include <string.h>

#include "term.h"
#include "tool.h"

/* Returns the number of manifests found in the folder. */
static unsigned count_found(tool_t *tool, const uct_search_dir_t *dir)
{
    unsigned count = 0, i;
    uct_plugin_t *plugin;

    for (i = 0; (plugin = uct_plugin_at(tool->registry, i)) != NULL; ++i) {
        count += uct_plugin_info(plugin)->dir == dir;
    }
    return count;
}

static json_t *path_json(tool_t *tool, const uct_search_t *search)
{
    json_t *dirs = json_array();
    const uct_search_dir_t *dir;
    unsigned i;

    for (i = 0; i < search->num_dirs; ++i) {
        dir = &search->dirs[i];
        json_array_append_new(
            dirs,
            json_pack("{s:o, s:s, s:b, s:o, s:i}", "directory",
                      json_text(dir->path), "origin",
                      tool_origin_name(dir->origin), "counts", dir->counts,
                      "why",
                      (dir->why[0] == '\0') ? json_null() : json_text(dir->why),
                      "plugins", (int)count_found(tool, dir)));
    }
    return json_pack("{s:i, s:o}", "format", 1, "path", dirs);
}

int tool_path(tool_t *tool, int argc, char **argv)
{
    const uct_search_t *search = uct_plugin_search(tool->registry);
    const uct_search_dir_t *dir;
    term_table_t table;
    unsigned i;

    if (argc > 0) {
        fprintf(stderr, "ucx-plugins: path takes no argument, not '%s'\n",
                argv[0]);
        return TOOL_USAGE;
    } else if (tool->json) {
        return tool_print_json(path_json(tool, search), TOOL_OK);
    }

    term_table_init(&table, 5);
    term_table_add(&table, TERM_BOLD, "FOLDER");
    term_table_add(&table, TERM_BOLD, "FROM");
    term_table_add(&table, TERM_BOLD, "COUNTS");
    term_table_add(&table, TERM_BOLD, "PLUGINS");
    term_table_add(&table, TERM_BOLD, "REMARK");
    for (i = 0; i < search->num_dirs; ++i) {
        dir = &search->dirs[i];
        term_table_add(&table, TERM_PLAIN, "%s", dir->path);
        term_table_add(&table, TERM_PLAIN, "%s", tool_origin_name(dir->origin));
        term_table_add(&table, dir->counts ? TERM_GOOD : TERM_DIM, "%s",
                       dir->counts ? "yes" : "no");
        term_table_add(&table, TERM_PLAIN, "%u", count_found(tool, dir));
        term_table_add(&table, TERM_PLAIN, "%s",
                       (dir->why[0] == '\0') ? "-" : dir->why);
    }
    term_table_print(&table);
    return TOOL_OK;
}
