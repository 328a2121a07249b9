/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the commands of ucx-plugins share. Each command is a file; it prints
 * its answer and returns the exit code.
 */
#ifndef UCX_PLUGINS_TOOL_H
#define UCX_PLUGINS_TOOL_H

#include <jansson.h>

#include "json_text.h"
#include "uct/plugin/registry.h"

/* Scripts rely on these numbers; the man page explains them. */
enum {
    TOOL_OK        = 0, /* all is well */
    TOOL_BAD       = 1, /* something is refused, not used or not valid */
    TOOL_USAGE     = 2, /* the command line makes no sense */
    TOOL_NOT_FOUND = 3, /* no plugin or file of this name */
    TOOL_SYSTEM    = 4  /* memory or another resource is out */
};

typedef struct tool {
    int json;
    int all;
    int load; /* ask the code of every usable plugin, too */
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

/* "admin" and such. */
const char *tool_origin_name(uct_search_origin_t origin);

/* Words for the bits of `mask`, with `separator` between, to free(). */
char *tool_words(const char *const *list, uint64_t mask, const char *separator);

/* All transports or memory types of a manifest, to free(). */
char *tool_transports(const uct_manifest_t *manifest);
char *tool_memory_types(const uct_manifest_t *manifest);

/* The plugin called NAME, or one that offers a transport called so, a usable
 * one if there is. */
uct_plugin_t *tool_find(tool_t *tool, const char *name);

/* Says on stderr that there is none, with the nearest name. TOOL_NOT_FOUND. */
int tool_not_found(tool_t *tool, const char *name);

#endif
