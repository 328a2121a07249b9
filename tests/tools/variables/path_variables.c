/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks that every variable of the library and of all plugins that names a
 * file or a folder has the flag for paths. A set-user-ID program ignores
 * variables with this flag; without it, the program's user could control which
 * files the program creates.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <ucp/api/ucp.h>
#include <uct/api/uct.h>

#include "ucs/config/config.h"
#include "uct/base/component.h"

/* Type of the variables to check: only a text can name a file */
static const char text_type[] = "any text";

static const char *const path_words[] = {"path",  "paths",     "file",
                                         "files", "folder",    "folders",
                                         "dir",   "directory", NULL};

/* Variables that must be found, so that the test fails if the iteration finds
 * nothing. */
static const char *const known_paths[] = {"UCX_LOG_FILE",   "UCX_CONFIG_DIR",
                                          "UCX_STATS_DEST", "UCX_PLUGIN_PATH",
                                          "UCX_POSIX_DIR",  NULL};

typedef struct {
    unsigned found; /* A bit for each of known_paths */
    unsigned faults;
} walk_t;

static int is_letter(char c)
{
    return isalnum((unsigned char)c);
}

static int has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    const char *at;

    for (at = text; *at != '\0'; ++at) {
        if ((strncasecmp(at, word, length) == 0) && !is_letter(at[length]) &&
            ((at == text) || !is_letter(at[-1]))) {
            return 1;
        }
    }
    return 0;
}

static int names_a_path(const ucs_config_item_t *item)
{
    unsigned i;

    if (strcmp(item->type, text_type) != 0) {
        return 0;
    }
    for (i = 0; path_words[i] != NULL; ++i) {
        if (has_word(item->name, path_words[i]) ||
            has_word(item->doc, path_words[i])) {
            return 1;
        }
    }
    return 0;
}

static void visit(const ucs_config_item_t *item, void *arg)
{
    walk_t *walk = arg;
    unsigned i;

    if (names_a_path(item) && !(item->flags & UCS_CONFIG_FLAG_PATH)) {
        fprintf(stderr,
                "%s names a path by its name or help, and has no flag "
                "that says so\n",
                item->name);
        ++walk->faults;
    }
    for (i = 0; known_paths[i] != NULL; ++i) {
        if ((strcmp(item->name, known_paths[i]) == 0) &&
            (item->flags & UCS_CONFIG_FLAG_PATH)) {
            walk->found |= UCS_BIT(i);
        }
    }
}

static int load_plugins(void)
{
    uct_component_h *components;
    ucp_config_t *config;
    unsigned count, i;

    /* registers the variables of the library itself */
    if (ucp_config_read(NULL, NULL, &config) != UCS_OK) {
        return 0;
    }
    ucp_config_release(config);
    if (uct_query_components(&components, &count) != UCS_OK) {
        return 0;
    }
    for (i = 0; i < count; ++i) {
        if (uct_component_load(components[i]) != UCS_OK) {
            return 0;
        }
    }
    uct_release_component_list(components);
    return 1;
}

int main(void)
{
    walk_t walk = {0, 0};
    unsigned i;

    if (!load_plugins() || (ucs_config_each(NULL, visit, &walk) != UCS_OK)) {
        return 1;
    }
    for (i = 0; known_paths[i] != NULL; ++i) {
        if (!(walk.found & UCS_BIT(i))) {
            fprintf(stderr, "%s is not listed as a path\n", known_paths[i]);
            ++walk.faults;
        }
    }
    return walk.faults != 0;
}
