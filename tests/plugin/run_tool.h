/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the tool ucx-plugins in a test tree. */
#ifndef TESTS_PLUGIN_RUN_TOOL_H
#define TESTS_PLUGIN_RUN_TOOL_H

#include "tree.h"

/*
 * Runs ucx-plugins with UCX_PLUGIN_PATH set to the folder env/ of the tree; a
 * shell interprets `arguments`. Returns the exit code. *output_p receives the
 * standard output; the caller frees it.
 */
int run_tool(const tree_t *tree, const char *arguments, char **output_p);

#endif
