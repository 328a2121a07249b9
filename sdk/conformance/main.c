/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx-plugin-check: tests a transport plugin against the plugin ABI. This file
 * reads the command line and the manifest and runs the checks; it never loads
 * the plugin itself.
 */
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ucx/abi.h>

#include "network.h"
#include "report.h"
#include "runner.h"

enum { EXIT_CONFORMS = 0, EXIT_BROKEN = 1, EXIT_USAGE = 2 };

#define ONLY_MAX 32

typedef struct options {
    int json;
    int list;
    const char *only[ONLY_MAX];
    unsigned num_only;
    const char *device;
    limits_t limits;
    const char *manifest;
} options_t;

static void print_help(void)
{
    printf("Usage: ucx-plugin-check [OPTION]... MANIFEST.json\n\n"
           "Checks that a transport plugin keeps to the plugin ABI. Each "
           "finding names the\nrule of ABI.md that is broken. Every check "
           "runs the plugin in processes of its\nown; two of them talk to "
           "each other over each device.\n\n"
           "Options:\n"
           "  -o, --only=CHECK     this check; may be given several times\n"
           "  -d, --device=NAME    this device only\n"
           "  -t, --timeout=SEC    limit for each check (default 180)\n"
           "  -n, --notice=SEC     time in which a lost peer is reported "
           "(default 60,\n                       and at most 30 for a killed "
           "process)\n"
           "  -T, --tolerance=N    how many times slower than stated a message "
           "may be\n                       (default 5)\n"
           "  -l, --list           the checks, with the rules that they hold\n"
           "  -j, --json           for programs\n"
           "  -h, --help           this text\n"
           "  -V, --version        version of the plugin ABI\n"
           "\nExit codes:\n"
           "  0  it conforms        2  wrong command line, or no such file\n"
           "  1  it does not\n"
           "\nExamples:\n"
           "  ucx-plugin-check build/mine.json\n"
           "      All checks on all devices.\n"
           "  ucx-plugin-check --device lo --only messages build/mine.json\n"
           "      Does data arrive? With UCX_LOG_LEVEL=debug one sees why "
           "not.\n"
           "  ucx-plugin-check --json build/mine.json | jq '.checks[]"
           "|select(.findings[0])'\n"
           "      What is wrong, for a script.\n"
           "\nSee ucx-plugin-check(1).\n");
}

static int usage(const char *what, const char *word)
{
    fprintf(stderr,
            "ucx-plugin-check: %s%s%s. Try `ucx-plugin-check "
            "--help`.\n",
            what, (word == NULL) ? "" : ": ", (word == NULL) ? "" : word);
    return EXIT_USAGE;
}

static int is_check(const char *name)
{
    const check_t *check;

    for (check = checks; check->name != NULL; ++check) {
        if (!strcmp(check->name, name)) {
            return 1;
        }
    }
    return 0;
}

static int read_number(const char *text, double *number_p)
{
    char *end;

    *number_p = strtod(text, &end);
    return (end != text) && (*end == '\0') && (*number_p >= 1) &&
           (*number_p <= 86400);
}

/* Parses the options. Returns -1 to continue, otherwise the exit code. */
static int read_options(int argc, char **argv, options_t *options)
{
    static const struct option words[] = {
        {"only", required_argument, NULL, 'o'},
        {"device", required_argument, NULL, 'd'},
        {"timeout", required_argument, NULL, 't'},
        {"notice", required_argument, NULL, 'n'},
        {"tolerance", required_argument, NULL, 'T'},
        {"list", no_argument, NULL, 'l'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "o:d:t:n:T:ljhV", words, NULL)) !=
           -1) {
        switch (option) {
        case 'o':
            if (!is_check(optarg) || (options->num_only == ONLY_MAX)) {
                return usage("there is no such check (see --list)", optarg);
            }
            options->only[options->num_only++] = optarg;
            break;
        case 'd':
            options->device = optarg;
            break;
        case 't':
            if (!read_number(optarg, &options->limits.check)) {
                return usage("--timeout takes seconds, 1 to 86400", optarg);
            }
            break;
        case 'n':
            if (!read_number(optarg, &options->limits.notice)) {
                return usage("--notice takes seconds, 1 to 86400", optarg);
            }
            break;
        case 'T':
            if (!read_number(optarg, &options->limits.tolerance)) {
                return usage("--tolerance takes a factor, 1 to 86400", optarg);
            }
            break;
        case 'l':
            options->list = 1;
            break;
        case 'j':
            options->json = 1;
            break;
        case 'h':
            print_help();
            return EXIT_CONFORMS;
        case 'V':
            printf("ucx-plugin-check for plugin ABI %d.%d\n",
                   UCX_PLUGIN_ABI_MAJOR, UCX_PLUGIN_ABI_MINOR);
            return EXIT_CONFORMS;
        default:
            return usage("wrong option", NULL);
        }
    }

    if (options->list) {
        report_list(options->json);
        return EXIT_CONFORMS;
    } else if (optind + 1 != argc) {
        return usage("name one manifest", NULL);
    }
    options->manifest = argv[optind];
    return -1;
}

/* Resolves the path of the manifest and its folder, and sets the core's search
 * path for plugins to that folder. */
static int find_target(const char *path, target_t *target)
{
    char copy[PATH_MAX];

    if (realpath(path, target->path) == NULL) {
        return 0;
    }
    snprintf(copy, sizeof(copy), "%s", target->path);
    snprintf(target->folder, sizeof(target->folder), "%s", dirname(copy));
    return setenv("UCX_PLUGIN_PATH", target->folder, 1) == 0;
}

static int is_wanted(const options_t *options, const check_t *check)
{
    unsigned i;

    for (i = 0; i < options->num_only; ++i) {
        if (!strcmp(options->only[i], check->name)) {
            return 1;
        }
    }
    return options->num_only == 0;
}

typedef struct pass {
    const options_t *options;
    const target_t *target;
    report_t report;
    record_t *record;  /* Record of the running check */
    record_t *listing; /* Record of list_resources(): the resources, or the
                        * reason why there are none */
    int told;          /* The findings in `listing` were reported */
} pass_t;

static void run_one(pass_t *pass, const check_t *check,
                    const resource_t *resource)
{
    runner_run(pass->target, resource, check->run, check->rules[0],
               &pass->options->limits, pass->record);
    report_add(&pass->report, check, resource, pass->record);
}

static void run_skipped(pass_t *pass, const check_t *check, const char *reason)
{
    memset(pass->record, 0, sizeof(*pass->record));
    pass->record->skipped = 1;
    snprintf(pass->record->reason, sizeof(pass->record->reason), "%s", reason);
    report_add(&pass->report, check, NULL, pass->record);
}

/* Reports a check that cannot run because the plugin could not be loaded or its
 * resources could not be listed. The first such check shows the findings, even
 * if --only excludes the check that would otherwise show them; the others are
 * skipped. */
static void run_unlisted(pass_t *pass, const check_t *check)
{
    if (pass->told) {
        run_skipped(pass, check, "the plugin could not be loaded");
    } else {
        report_add(&pass->report, check, NULL, pass->listing);
        pass->told = 1;
    }
}

static void run_on_resources(pass_t *pass, const check_t *check)
{
    unsigned ran = 0, i;

    for (i = 0; i < pass->listing->num_resources; ++i) {
        if ((pass->options->device == NULL) ||
            !strcmp(pass->options->device, pass->listing->resources[i].dev)) {
            run_one(pass, check, &pass->listing->resources[i]);
            ++ran;
        }
    }

    if (ran == 0) {
        run_skipped(pass, check,
                    pass->listing->skipped ? pass->listing->reason :
                    (pass->listing->num_resources > 0) ?
                                             "the plugin shows no such device" :
                                             "the plugin shows no device here");
    }
}

/* Returns whether a check needs a plugin that can be loaded. The four checks
 * that do not need this find out why it cannot be loaded. */
static int needs_code(const check_t *check)
{
    return (check->run != check_manifest) && (check->run != check_library) &&
           (check->run != check_entry) && (check->run != check_descriptor);
}

static void run_all(pass_t *pass)
{
    const check_t *check;

    if (pass->target->manifest != NULL) {
        runner_run(pass->target, NULL, list_resources, 26,
                   &pass->options->limits, pass->listing);
    }

    for (check = checks; check->name != NULL; ++check) {
        if (!is_wanted(pass->options, check)) {
            continue;
        } else if ((pass->target->manifest == NULL) &&
                   (check->run != check_manifest)) {
            run_skipped(pass, check,
                        "without a valid manifest there is "
                        "nothing to check");
        } else if (needs_code(check) && (pass->listing->num_findings > 0)) {
            run_unlisted(pass, check);
        } else if ((check->run == check_network) &&
                   (pass->options->device != NULL) &&
                   strcmp(pass->options->device, NETWORK_DEVICE)) {
            run_skipped(pass, check,
                        "--device names another device than " NETWORK_DEVICE
                        ", which it creates");
        } else if (needs_code(check) && pass->listing->skipped) {
            run_skipped(pass, check, pass->listing->reason);
        } else if (check->per_resource) {
            run_on_resources(pass, check);
        } else {
            run_one(pass, check, NULL);
        }
    }
}

/*
 * A conforming plugin may log errors for broken input; they are shown only if
 * UCX_LOG_LEVEL is set. The core's library has read this variable before
 * main(), so the program executes itself again. If that fails, the messages are
 * shown.
 */
static void start_quietly(char **argv)
{
    if (getenv("UCX_LOG_LEVEL") == NULL) {
        setenv("UCX_LOG_LEVEL", "fatal", 1);
        execv("/proc/self/exe", argv);
    }
}

int main(int argc, char **argv)
{
    static target_t target;
    options_t options = {
        .limits = {.check = 180, .notice = 60, .tolerance = 5},
    };
    pass_t pass = {.options = &options, .target = &target};
    ucx_manifest_t *manifest;
    int code;

    start_quietly(argv);
    code = read_options(argc, argv, &options);
    if (code >= 0) {
        return code;
    }
    errno = 0;
    if (!find_target(options.manifest, &target)) {
        return usage((errno == ENOMEM) ? "out of memory while looking for" :
                                         "there is no such file",
                     options.manifest);
    }

    pass.record  = runner_record_new();
    pass.listing = runner_record_new();
    if ((pass.record == NULL) || (pass.listing == NULL)) {
        fprintf(stderr, "ucx-plugin-check: out of memory\n");
        return EXIT_BROKEN;
    }

    manifest        = ucx_manifest_read(target.path, target.why_invalid,
                                        sizeof(target.why_invalid));
    target.manifest = manifest;
    if (manifest != NULL) {
        snprintf(target.library, sizeof(target.library), "%s/%s", target.folder,
                 manifest->library);
    }

    report_begin(&pass.report, options.json, &target);
    run_all(&pass);
    if (!report_end(&pass.report, &target)) {
        fprintf(stderr, "ucx-plugin-check: the report could not be written\n");
        code = EXIT_BROKEN;
    } else {
        code = (pass.report.count[CHECK_FAILED] > 0) ? EXIT_BROKEN :
                                                       EXIT_CONFORMS;
    }

    ucx_manifest_free(manifest);
    runner_record_free(pass.listing);
    runner_record_free(pass.record);
    return code;
}
