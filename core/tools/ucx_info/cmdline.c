/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of ucx_info: modes select what is printed, settings change
 * what the modes do. Modes and settings are rows of two tables, from which help
 * and parser are generated.
 */
#include "settings.h"

#include <getopt.h>
#include <stdarg.h>
#include <string.h>

#include "session.h"
#include "ucs/config/config.h"

/* MAX_OPTIONS limits the number of rows in both tables. getopt returns for a
 * long option FIRST_MODE or FIRST_SETTING plus the index of its row. */
enum { MAX_OPTIONS = 64, FIRST_MODE = 256, FIRST_SETTING = 512 };

void info_complain(const char *format, ...)
{
    va_list ap;

    fflush(stdout);
    fputs("ucx_info: ", stderr);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
}

/* ---------------------------------------------------------------- help -- */

static const char help_head[] = "Usage: ucx_info MODE... [SETTING]...\n"
                                "\n"
                                "Modes, one or several:\n";

static const char help_tail[] =
    "  -h, --help                 this text\n"
    "\n"
    "-v -b -y -s -T -M load no plugin, -c and -d those that are used by default,\n"
    "with -t NAME the one with the transport NAME.\n"
    "Exit codes: 0 success, 1 something could not be shown, 2 invalid command line.\n"
    "\n"
    "Examples:\n"
    "  ucx_info -d -t tcp              can tcp be used here, and how well?\n"
    "  ucx_info -c -f | less           what can be set, and to what?\n"
    "  ucx_info -c -t tcp              ... and of tcp alone?\n"
    "  ucx_info -e -u t -P intra       how do processes of this machine talk?\n"
    "  ucx_info -e -u t --listen       ... and two machines? Here, and there:\n"
    "  ucx_info -e -u t --connect HOST\n"
    "  ucx_info --live 1234 -i 1       what does process 1234 send just now?\n"
    "  ucx_info -d --json | jq '.devices.components[].name'\n";

static void print_option(char letter, const char *name, const char *argument,
                         const char *help)
{
    char text[64];
    const char *line = help;
    int optional     = (argument != NULL) && (argument[0] == '[');
    size_t length;

    if (optional) {
        snprintf(text, sizeof(text), "%s[=%s", name, argument + 1);
    } else {
        snprintf(text, sizeof(text), "%s%s%s", name,
                 (argument == NULL) ? "" : " ",
                 (argument == NULL) ? "" : argument);
    }
    printf("  %c%c%c --%-20s ", (letter == 0) ? ' ' : '-',
           (letter == 0) ? ' ' : letter, (letter == 0) ? ' ' : ',', text);
    for (;;) {
        length = strcspn(line, "\n");
        printf("%.*s\n", (int)length, line);
        if (line[length] == '\0') {
            return;
        }
        line += length + 1;
        printf("%29s", "");
    }
}

static void print_help(void)
{
    const info_mode_t *mode;
    const info_setting_t *setting;
    int needs_features = 0;

    fputs(help_head, stdout);
    for (mode = info_modes; mode->name != NULL; ++mode) {
        if (mode->needs_features && !needs_features) {
            needs_features = 1;
            fputs("\nModes that need -u:\n", stdout);
        }
        print_option(mode->letter, mode->name, mode->argument, mode->help);
    }
    fputs("\nSettings:\n", stdout);
    for (setting = info_settings; setting->name != NULL; ++setting) {
        if (setting->help != NULL) {
            print_option(setting->letter, setting->name, setting->argument,
                         setting->help);
        }
    }
    fputs(help_tail, stdout);
}

/* --------------------------------------------------------------- parser -- */

/* The tables of modes and settings in the form that getopt requires. */
typedef struct parser {
    char letters[2 * MAX_OPTIONS + 2];
    struct option options[MAX_OPTIONS + 1];
    unsigned count;
} parser_t;

static void add_option(parser_t *parser, char letter, const char *name,
                       const char *argument, int value)
{
    struct option *option = &parser->options[parser->count++];
    size_t length         = strlen(parser->letters);

    option->name    = name;
    option->has_arg = (argument == NULL)   ? no_argument :
                      (argument[0] == '[') ? optional_argument :
                                             required_argument;
    option->flag    = NULL;
    option->val     = value;
    if (letter != 0) {
        parser->letters[length]     = letter;
        parser->letters[length + 1] = (argument == NULL) ? '\0' : ':';
        parser->letters[length + 2] = '\0';
    }
}

static void make_parser(parser_t *parser)
{
    unsigned i;

    memset(parser, 0, sizeof(*parser));
    strcpy(parser->letters, ":");
    for (i = 0; info_modes[i].name != NULL; ++i) {
        add_option(parser, info_modes[i].letter, info_modes[i].name,
                   info_modes[i].argument, FIRST_MODE + (int)i);
    }
    for (i = 0; info_settings[i].name != NULL; ++i) {
        add_option(parser, info_settings[i].letter, info_settings[i].name,
                   info_settings[i].argument, FIRST_SETTING + (int)i);
    }
    add_option(parser, 'h', "help", NULL, 'h');
}

/* Reports an unknown option, with the most similar known option. */
static void complain_of_option(const parser_t *parser, const char *word)
{
    const char *names[MAX_OPTIONS + 1] = {NULL};
    char name[32], other;
    const char *nearest = NULL;
    unsigned i, count = 0;

    if ((optopt > 0) && (optopt < FIRST_MODE)) {
        /* suggest the option with the same letter in the other case, if there
         * is one */
        other = (char)(optopt ^ 0x20);
        if (strchr(parser->letters + 1, other) == NULL || (other == ':')) {
            info_complain("unknown option -%c; try `ucx_info --help`", optopt);
        } else {
            info_complain("unknown option -%c; did you mean -%c? Try `ucx_info "
                          "--help`",
                          optopt, other);
        }
        return;
    }

    for (i = 0; i < parser->count; ++i) {
        if (strcmp(parser->options[i].name, "peer") != 0) {
            names[count++] = parser->options[i].name;
        }
    }
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
    nearest = ucs_config_nearest(name, names);
    info_complain("unknown option --%s%s%s%s; try `ucx_info --help`", name,
                  (nearest == NULL) ? "" : ": did you mean --",
                  (nearest == NULL) ? "" : nearest,
                  (nearest == NULL) ? "" : "?");
}

/* Applies an option that getopt has found. Returns 0 if its argument is
 * invalid. */
static int take_option(info_t *info, int value, const char *text)
{
    unsigned i;

    for (i = 0; info_modes[i].name != NULL; ++i) {
        if ((value == FIRST_MODE + (int)i) || (value == info_modes[i].letter)) {
            info->modes |= 1ull << i;
            info->arguments[i] = text;
            return 1;
        }
    }
    for (i = 0; info_settings[i].name != NULL; ++i) {
        if ((value == FIRST_SETTING + (int)i) ||
            (value == info_settings[i].letter)) {
            return info_setting_apply(&info_settings[i], info, text);
        }
    }
    return 0;
}

static int is_asked(const info_t *info, const char *mode)
{
    unsigned i;

    for (i = 0; info_modes[i].name != NULL; ++i) {
        if (strcmp(info_modes[i].name, mode) == 0) {
            return (info->modes & (1ull << i)) != 0;
        }
    }
    return 0;
}

/* Checks that a mode is selected, and that the modes have the settings and
 * arguments that they require. */
static int check_modes(const info_t *info)
{
    const char *memory = info_argument(info, "memory");
    unsigned i;

    if (info->modes == 0) {
        info_complain("nothing to show: no option is given. Try `ucx_info -d`, "
                      "or `ucx_info --help`");
        return INFO_USAGE;
    }
    for (i = 0; info_modes[i].name != NULL; ++i) {
        if ((info->modes & (1ull << i)) && info_modes[i].needs_features &&
            (info->features == NULL)) {
            info_complain("--%s needs the features of UCP to use: add -u t for "
                          "tags, or other letters of artsm",
                          info_modes[i].name);
            return INFO_USAGE;
        }
    }
    if ((memory != NULL) && !info_memory_is_size(memory)) {
        info_complain("-m takes a size such as 4096, 64K or 1M, and perhaps a "
                      "memory type after a comma; not '%s'",
                      memory);
        return INFO_USAGE;
    }
    return INFO_OK;
}

/* Checks settings that are valid alone but not together. */
static int check_settings(const info_t *info)
{
    int ways = (info->address != NULL) + (info->listen != NULL) +
               (info->connect != NULL) + (info->place != INFO_PLACE_SELF);

    if ((ways > 0) && !is_asked(info, "endpoint")) {
        info_complain("-P, -A, --listen and --connect select the peer of an "
                      "endpoint: add -e");
    } else if (ways > 1) {
        info_complain("-P, -A, --listen and --connect exclude each other: each "
                      "selects the peer of the endpoint");
    } else if ((info->transport != NULL) && !is_asked(info, "devices") &&
               !is_asked(info, "config")) {
        info_complain("-t needs -d or -c; UCX_TLS selects the transports of "
                      "UCP");
    } else {
        return INFO_OK;
    }
    return INFO_USAGE;
}

int info_read_command_line(int argc, char **argv, info_t *info)
{
    parser_t parser;
    int value;

    make_parser(&parser);
    opterr = 0;
    while ((value = getopt_long(argc, argv, parser.letters, parser.options,
                                NULL)) != -1) {
        if (value == 'h') {
            print_help();
            return -1;
        } else if (value == '?') {
            complain_of_option(&parser, argv[optind - 1]);
            return INFO_USAGE;
        } else if (value == ':') {
            info_complain("%s needs an argument; try `ucx_info --help`",
                          argv[optind - 1]);
            return INFO_USAGE;
        } else if (!take_option(info, value, optarg)) {
            return INFO_USAGE;
        }
    }
    if (optind < argc) {
        info_complain("unexpected argument '%s'; try `ucx_info --help`",
                      argv[optind]);
        return INFO_USAGE;
    }

    value = check_modes(info);
    return (value == INFO_OK) ? check_settings(info) : value;
}
