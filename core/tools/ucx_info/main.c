/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_info: shows the capabilities of this machine's transports, the
 * configuration of the library, and how an endpoint would use the transports.
 * This file has the table of modes and runs the selected ones.
 */
#include "info.h"

#include <string.h>

#include "memory_end.h"
#include "session.h"

/* Modes run in this order. Modes that load no plugin are first, so that each
 * prints the same as if it were the only one. */
const info_mode_t info_modes[] = {
    {'v', "version", NULL, "versions of library, headers and plugin ABI", 0,
     info_version_ask, info_version_print},
    {'b', "build", NULL, "how the library was built", 0, info_build_ask,
     info_build_print},
    {'y', "types", NULL, "sizes of structures", 0, info_types_ask,
     info_types_print},
    {'s', "system", NULL, "timer, processors, memory of this machine", 0,
     info_system_ask, info_system_print},
    {'T', "topology", NULL, "how far devices are from each other", 0,
     info_topology_ask, info_topology_print},
    {'M', "copy", NULL, "how fast memory is copied, by size", 0, info_copy_ask,
     info_copy_print},
    {'c', "config", NULL, "variables and their values", 0, info_config_ask,
     info_lines_print},
    {'d', "devices", NULL, "memory domains, transports and devices", 0,
     info_devices_ask, info_devices_print},
    {0, "live", "PID", "what a process with UCX_STATS=y has counted", 0,
     info_live_ask, NULL},
    {'p', "context", NULL, "what a UCP context uses", 1, info_context_ask,
     info_lines_print},
    {'w', "worker", NULL, "a UCP worker", 1, info_worker_ask, info_lines_print},
    {'e', "endpoint", NULL, "lanes and protocols of a UCP endpoint", 1,
     info_endpoint_ask, info_endpoint_print},
    {'m', "memory", "SIZE", "how UCP allocates memory: 1M, or 1M,cuda", 1,
     info_memory_ask, info_lines_print},
    {0},
};

_Static_assert(sizeof(info_modes) / sizeof(info_modes[0]) <= INFO_MODES_MAX,
               "info_t has an argument for each mode");

const char *info_argument(const info_t *info, const char *mode)
{
    unsigned i;

    for (i = 0; info_modes[i].name != NULL; ++i) {
        if (strcmp(info_modes[i].name, mode) == 0) {
            return info->arguments[i];
        }
    }
    return NULL;
}

/* Runs one mode; prints its answer, or adds it to `root`. */
static int run_mode(info_t *info, const info_mode_t *mode, json_t *root)
{
    json_t *answer = NULL;
    int code       = mode->ask(info, &answer);

    if (answer == NULL) {
        return code;
    } else if (info->json) {
        json_object_set_new(root, mode->name, answer);
    } else {
        if (mode->print != NULL) {
            mode->print(info, answer);
        }
        json_decref(answer);
        fflush(stdout);
    }
    return code;
}

static int run_all(info_t *info)
{
    json_t *root = info->json ? json_pack("{s:i}", "format", 1) : NULL;
    int code     = INFO_OK;
    unsigned i;

    if (info->json && (root == NULL)) {
        info_complain("out of memory");
        return INFO_BAD;
    }

    for (i = 0; info_modes[i].name != NULL; ++i) {
        if ((info->modes & (1ull << i)) &&
            (run_mode(info, &info_modes[i], root) != INFO_OK)) {
            code = INFO_BAD;
        }
    }
    info_session_close(info);

    if (root != NULL) {
        json_dumpf(root, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(root);
    }
    return code;
}

int main(int argc, char **argv)
{
    info_t info = {.peer_fd = -1};
    int code;

    memory_end_begin("ucx_info", INFO_BAD);
    code = info_read_command_line(argc, argv, &info);

    if (code == INFO_OK) {
        code = run_all(&info);
    } else if (code < 0) {
        code = INFO_OK;
    }

    if ((fflush(stdout) != 0) || ferror(stdout)) {
        info_complain("the output could not be written");
        code = (code == INFO_OK) ? INFO_BAD : code;
    }
    return code;
}
