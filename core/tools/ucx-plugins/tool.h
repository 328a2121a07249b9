/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the commands of ucx-plugins. Each command is a file; it prints its
 * output and returns the exit code.
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

typedef struct tool {
    int json;
    int all;
    int load; /* load the code of every usable plugin, too */
    uct_plugin_registry_t *registry; /* NULL for commands without one */
} tool_t;

typedef int (*tool_command_f)(tool_t *tool, int argc, char **argv);

int tool_list(tool_t *tool, int argc, char **argv);
int tool_show(tool_t *tool, int argc, char **argv);
int tool_why(tool_t *tool, int argc, char **argv);
int tool_validate(tool_t *tool, int argc, char **argv);
int tool_path(tool_t *tool, int argc, char **argv);
int tool_probe(tool_t *tool, int argc, char **argv);

/* One plugin with its state as a JSON object; NULL: out of memory. */
json_t *tool_plugin_json(uct_plugin_t *plugin);

/* Prints and frees `root`; the exit code `code`, or TOOL_SYSTEM. */
int tool_print_json(json_t *root, int code);

/* "admin", for example. */
const char *tool_origin_name(uct_search_origin_t origin);

/* Names of the bits of `mask`, separated by `separator`; free() it. */
char *tool_words(const char *const *list, uint64_t mask, const char *separator);

/* All transports or memory types of a manifest; free() it. */
char *tool_transports(const uct_manifest_t *manifest);
char *tool_memory_types(const uct_manifest_t *manifest);

/* The plugin with this name, or one that offers a transport with this name; a
 * usable one if possible. */
uct_plugin_t *tool_find(tool_t *tool, const char *name);

/* Reports on stderr that there is none, with the most similar name.
 * TOOL_NOT_FOUND. */
int tool_not_found(tool_t *tool, const char *name);

#endif
