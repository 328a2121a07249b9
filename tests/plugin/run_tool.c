/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the tool and captures its output.
 */
#include "run_tool.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

int run_tool(const tree_t *tree, const char *arguments, char **output_p)
{
    char command[4 * PATH_MAX];
    size_t size = 1 << 20, length;
    char *output;
    FILE *pipe;
    int status;

    snprintf(command, sizeof(command), "UCX_PLUGIN_PATH='%s/env' '%s' %s",
             tree->path, tree_product("UCX_PLUGINS_TOOL"), arguments);
    pipe = popen(command, "re");
    ck_assert_ptr_nonnull(pipe);
    output = malloc(size);
    length = fread(output, 1, size - 1, pipe);
    ck_assert_uint_lt(length, size - 1);
    output[length] = '\0';
    status         = pclose(pipe);
    ck_assert_msg(WIFEXITED(status), "%s ended by a signal: %s", command,
                  output);
    *output_p = output;
    return WEXITSTATUS(status);
}
