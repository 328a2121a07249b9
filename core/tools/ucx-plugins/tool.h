/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the commands of ucx-plugins. Each command has a file;
 * it prints its output and returns the exit code.
 */
#ifndef UCX_PLUGINS_TOOL_H
#define UCX_PLUGINS_TOOL_H

#include <jansson.h>

#include "json_text.h"
#include "uct/plugin/registry.h"

/* Scripts depend on these numbers; the man page documents them. */
enum {
    TOOL_OK        = 0, /* success */
    TOOL_BAD       = 1, /* a plugin is rejected, not used or not valid */
    TOOL_USAGE     = 2, /* the command line is wrong */
    TOOL_NOT_FOUND = 3, /* no plugin or file of this name */
    TOOL_SYSTEM    = 4, /* out of memory or another resource */
};

/* Options of the command line. A plugin is usable if it is not rejected. */
typedef struct tool {
    /* -j: print JSON */
    int json;
    /* -a: print more; see the help */
    int all;
    int load; /* also load the code of every usable plugin */
    uct_plugin_registry_t *registry; /* NULL for commands that need no
                                      * registry */
} tool_t;

typedef int (*tool_command_f)(tool_t *tool, int argc, char **argv);

int tool_list(tool_t *tool, int argc, char **argv);
int tool_show(tool_t *tool, int argc, char **argv);
int tool_why(tool_t *tool, int argc, char **argv);
int tool_validate(tool_t *tool, int argc, char **argv);
int tool_path(tool_t *tool, int argc, char **argv);
int tool_probe(tool_t *tool, int argc, char **argv);

/* Loads the plugin and opens its memory domains, as the command probe does.
 * Writes the first failure, or why the plugin offers nothing on this machine;
 * an empty text if neither is the case. */
void tool_probe_reason(tool_t *tool, uct_plugin_t *plugin, char *reason,
                       size_t reason_size);

/* Returns one plugin with its state as a JSON object, or NULL if memory is
 * exhausted. */
json_t *tool_plugin_json(uct_plugin_t *plugin);

/* Prints and frees `root`. Returns `code`; TOOL_SYSTEM, after a message, if
 * `root` is NULL. */
int tool_print_json(json_t *root, int code);

/* Returns the name of an origin, for example "administrator". */
const char *tool_origin_name(uct_search_origin_t origin);

/* Returns the words whose bits are set in `mask`, separated by `separator`. Bit
 * n stands for list[n]; NULL ends the list. Release the result by free(). */
char *tool_words(const char *const *list, uint64_t mask, const char *separator);

/* Return the names of all transports, or of all memory types, that a manifest
 * declares, separated by commas; no name if `manifest` is NULL. Release the
 * result by free(). */
char *tool_transports(const uct_manifest_t *manifest);
char *tool_memory_types(const uct_manifest_t *manifest);

/* Returns the plugin with this name. If there is none, returns a plugin that
 * offers a transport with this name or alias, a usable one if possible; NULL if
 * none does. */
uct_plugin_t *tool_find(tool_t *tool, const char *name);

/* Reports on stderr that no plugin has this name, with the most similar name.
 * Returns TOOL_NOT_FOUND, or TOOL_SYSTEM if memory is exhausted. */
int tool_not_found(tool_t *tool, const char *name);

#endif
