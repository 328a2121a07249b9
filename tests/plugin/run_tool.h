/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the tool ucx-plugins in a test tree. */
#ifndef TESTS_PLUGIN_RUN_TOOL_H
#define TESTS_PLUGIN_RUN_TOOL_H

#include "tree.h"

/*
 * Runs it with UCX_PLUGIN_PATH set to the tree's env folder; `arguments` is for
 * the shell. Returns its exit code, and its standard output; free() it.
 */
int run_tool(const tree_t *tree, const char *arguments, char **output_p);

#endif
