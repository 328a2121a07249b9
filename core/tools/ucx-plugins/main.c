/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx-plugins: shows which transport plugins are installed, which are used, and
 * why the other plugins are not used. This file reads the command line.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <uct/api/version.h>

#include "memory_end.h"
#include "term.h"
#include "tool.h"
#include "ucs/debug/log.h"
#include "uct/base/state.h"

/* The plugins that a command uses. */
typedef enum registry_use {
    REGISTRY_NONE,
    REGISTRY_OWN,    /* searched for this command, without log messages */
    REGISTRY_SHARED, /* those that the UCT library has found: the command opens
                      * them by the UCT API */
} registry_use_t;

static const struct command {
    const char *name;
    const char *arguments;
    const char *help;
    tool_command_f run;
    registry_use_t registry;
} commands[] = {
    {"list", "", "all plugins found, in order, with state and reason",
     tool_list, REGISTRY_OWN},
    {"show", "NAME", "the manifest of one plugin", tool_show, REGISTRY_OWN},
    {"why", "NAME",
     "why a plugin (or transport) is used or not, and what to do", tool_why,
     REGISTRY_OWN},
    {"path", "", "the folders searched, in order, and which count", tool_path,
     REGISTRY_OWN},
    {"probe", "[NAME]", "load plugins and list the devices they find",
     tool_probe, REGISTRY_SHARED},
    {"validate", "FILE...", "check manifests in any folder", tool_validate,
     REGISTRY_NONE},
};
#define NUM_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const char help_head[] =
    "Usage: ucx-plugins [OPTION]... COMMAND [ARGUMENT]...\n"
    "\n"
    "Transports are plugins: a manifest NAME.json and a shared object. Only\n"
    "probe, why and --load run a plugin's code.\n"
    "\n"
    "Commands:\n";

static const char help_tail[] =
    "\n"
    "Options:\n"
    "  -a, --all         more: remedies, shadowed plugins, overrides\n"
    "  -j, --json        output for programs\n"
    "  -l, --load        load usable plugins, to find faults of their code\n"
    "      --color=WHEN  auto (a terminal, NO_COLOR unset), always, never\n"
    "  -h, --help        this text\n"
    "  -V, --version     version of the tool and of the plugin ABI\n"
    "\n"
    "Exit codes:\n"
    "  0  success\n"
    "  1  something is rejected, not used or not valid\n"
    "  2  the command line is invalid\n"
    "  3  there is no plugin or file of this name\n"
    "  4  out of memory or of another resource\n"
    "\n"
    "Examples:\n"
    "  ucx-plugins list\n"
    "      Which plugins are installed, and why are some not used?\n"
    "  ucx-plugins why tcp\n"
    "      Is tcp used by programs started from here? Why, or why not?\n"
    "  UCX_PLUGIN_PATH=$HOME/plugins ucx-plugins probe mine\n"
    "      Does the plugin that I have just built load and find devices?\n"
    "  ucx-plugins validate mine.json && echo good\n"
    "      Is the manifest valid?\n"
    "  ucx-plugins list -j | jq -r '.plugins[]|select(.rejection)|.name'\n"
    "      The names of all plugins that are not used.\n"
    "\n"
    "ucx-plugins(1) explains the codes and the search order.\n";

static void print_help(void)
{
    unsigned i;

    fputs(help_head, stdout);
    for (i = 0; i < NUM_COMMANDS; ++i) {
        printf("  %-8s %-8s  %s\n", commands[i].name, commands[i].arguments,
               commands[i].help);
    }
    fputs(help_tail, stdout);
}

static void print_version(void)
{
    printf("ucx-plugins %d.%d, plugin ABI %d.%d\n", UCT_VERNO_MAJOR,
           UCT_VERNO_MINOR, UCX_PLUGIN_ABI_MAJOR, UCX_PLUGIN_ABI_MINOR);
}

static const struct command *find_command(const char *name)
{
    unsigned i;

    for (i = 0; i < NUM_COMMANDS; ++i) {
        if (!strcmp(commands[i].name, name)) {
            return &commands[i];
        }
    }
    return NULL;
}

/* Returns TOOL_OK to continue, -1 if nothing is left to do, otherwise the exit
 * code. */
static int read_options(int argc, char **argv, tool_t *tool)
{
    enum { OPTION_COLOR = 256 };
    static const struct option options[] = {
        {"all", no_argument, NULL, 'a'},
        {"json", no_argument, NULL, 'j'},
        {"load", no_argument, NULL, 'l'},
        {"color", optional_argument, NULL, OPTION_COLOR},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    const char *color = "auto";
    int option;

    while ((option = getopt_long(argc, argv, "ajlhV", options, NULL)) != -1) {
        switch (option) {
        case 'a':
            tool->all = 1;
            break;
        case 'j':
            tool->json = 1;
            break;
        case 'l':
            tool->load = 1;
            break;
        case OPTION_COLOR:
            color = (optarg == NULL) ? "always" : optarg;
            break;
        case 'h':
            print_help();
            return -1;
        case 'V':
            print_version();
            return -1;
        default:
            fprintf(stderr, "Try `ucx-plugins --help`.\n");
            return TOOL_USAGE;
        }
    }
    if (!term_init(color)) {
        fprintf(stderr,
                "ucx-plugins: --color takes auto, always or never, not '%s'\n",
                color);
        return TOOL_USAGE;
    }
    return TOOL_OK;
}

/* Loads every usable plugin, so that the output includes errors of loading.
 * Opens no memory domain. */
static void load_all(uct_plugin_registry_t *registry)
{
    uct_plugin_t *plugin = NULL;
    const ucx_plugin_t *descriptor;

    while ((plugin = uct_plugin_next(registry, plugin)) != NULL) {
        if (uct_plugin_load(plugin, &uct_host, &descriptor, NULL) == UCS_OK) {
            uct_plugin_release(plugin);
        }
    }
}

static int run(const struct command *command, tool_t *tool, int argc,
               char **argv)
{
    ucs_status_t status = UCS_OK;
    int code;

    if (command->registry == REGISTRY_OWN) {
        status = uct_plugin_registry_create(NULL, UCT_PLUGIN_SCAN_QUIET,
                                            &tool->registry);
    } else if (command->registry == REGISTRY_SHARED) {
        /* Unless the user has set a level, log only errors: warnings would
         * repeat what the output contains. */
        if (getenv("UCX_LOG_LEVEL") == NULL) {
            ucs_log_level_set(UCS_LOG_LEVEL_ERROR);
        }
        status = uct_plugin_registry_get(&tool->registry);
    }
    if (status != UCS_OK) {
        fprintf(stderr, "ucx-plugins: the search failed: %s\n",
                ucs_status_string(status));
        return TOOL_SYSTEM;
    }

    if (tool->load && (tool->registry != NULL)) {
        load_all(tool->registry);
    }
    code = command->run(tool, argc, argv);
    if (command->registry == REGISTRY_OWN) {
        uct_plugin_registry_destroy(tool->registry);
    }
    return code;
}

int main(int argc, char **argv)
{
    tool_t tool = {0};
    const struct command *command;
    int code;

    memory_end_begin("ucx-plugins", TOOL_SYSTEM);
    code = read_options(argc, argv, &tool);
    if (code != TOOL_OK) {
        return (code < 0) ? TOOL_OK : code;
    }
    if (optind == argc) {
        fprintf(stderr, "ucx-plugins: no command is given. Try "
                        "`ucx-plugins list`, or `ucx-plugins --help`.\n");
        return TOOL_USAGE;
    }
    command = find_command(argv[optind]);
    if (command == NULL) {
        fprintf(stderr,
                "ucx-plugins: unknown command '%s'. Try `ucx-plugins "
                "--help`.\n",
                argv[optind]);
        return TOOL_USAGE;
    }

    code = run(command, &tool, argc - optind - 1, argv + optind + 1);
    if ((fflush(stdout) != 0) || ferror(stdout)) {
        fprintf(stderr, "ucx-plugins: the output could not be written\n");
        return TOOL_SYSTEM;
    }
    return code;
}
