/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx-plugins validate: checks manifest files. Faults make the command fail. A
 * cause of rejection that depends only on the file's location, or on a library
 * that is not built yet, is printed as a remark.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "term.h"
#include "tool.h"
#include "uct/plugin/library.h"

typedef struct validation {
    uct_manifest_t *manifest;
    uct_rejection_t fault;  /* fault of the manifest itself; code
                             * UCT_REJECT_NONE: the manifest is valid */
    uct_rejection_t remark; /* cause of rejection in this folder; code
                             * UCT_REJECT_NONE: none */
} validation_t;

/* Checks that the manifest of a plugin is in a file with the plugin's name. */
static void check_name(const char *real, validation_t *result)
{
    const char *base = strrchr(real, '/') + 1;
    char expected[64];

    if (result->manifest->kind != UCT_MANIFEST_PLUGIN) {
        return;
    }
    snprintf(expected, sizeof(expected), "%s.json", result->manifest->name);
    if (strcmp(base, expected)) {
        uct_reject(&result->fault, UCT_REJECT_NAME,
                   "the file is named %s, but its plugin requires %s", base,
                   expected);
    }
}

static void check_library(char *real, uct_trust_t *trust, validation_t *result)
{
    char path[PATH_MAX];
    uct_elf_t elf;

    if (result->manifest->kind != UCT_MANIFEST_PLUGIN) {
        return;
    }
    *strrchr(real, '/') = '\0';
    uct_plugin_check_library((real[0] == '\0') ? "/" : real,
                             result->manifest->library, trust, 0, path, &elf,
                             &result->remark);
    if (result->remark.code == UCT_REJECT_LIBRARY_ESCAPES) {
        result->fault       = result->remark;
        result->remark.code = UCT_REJECT_NONE;
    }
}

static void validate(const char *path, validation_t *result)
{
    uct_manifest_t *again;
    char real[PATH_MAX];
    uct_trust_t trust;

    memset(result, 0, sizeof(*result));
    if (uct_manifest_read(path, NULL, NULL, 0, real, &result->manifest,
                          &result->fault) != UCS_OK) {
        result->manifest = NULL;
        return;
    }
    check_name(real, result);

    uct_trust_init(&trust);
    if (uct_manifest_read(path, NULL, &trust, 0, NULL, &again,
                          &result->remark) == UCS_OK) {
        uct_manifest_free(again);
        check_library(real, &trust, result);
    }
}

static json_t *validation_json(const char *path, const validation_t *result)
{
    const uct_rejection_t *const parts[] = {&result->fault, &result->remark};
    static const char *const keys[]      = {"fault", "remark"};
    json_t *object;
    unsigned i;

    object = json_pack("{s:o, s:b}", "file", json_text(path), "valid",
                       result->fault.code == UCT_REJECT_NONE);
    for (i = 0; (object != NULL) && (i < 2); ++i) {
        if (parts[i]->code != UCT_REJECT_NONE) {
            json_object_set_new(
                object, keys[i],
                json_pack("{s:s, s:s, s:o, s:s}", "code",
                          uct_rejection_info(parts[i]->code)->id, "meaning",
                          uct_rejection_info(parts[i]->code)->meaning, "reason",
                          json_text(parts[i]->reason), "remedy",
                          uct_rejection_info(parts[i]->code)->remedy));
        }
    }
    return object;
}

static void print_validation(const char *path, const validation_t *result)
{
    const uct_rejection_info_t *info;

    if (result->fault.code == UCT_REJECT_NONE) {
        printf("%s%s: valid%s", term_on(TERM_GOOD), path, term_off(TERM_GOOD));
        printf(" (%s %s)\n",
               (result->manifest->kind == UCT_MANIFEST_PLUGIN) ? "plugin" :
                                                                 "override of",
               result->manifest->name);
    } else {
        info = uct_rejection_info(result->fault.code);
        printf("%s%s: %s%s\n", term_on(TERM_BAD), path, info->id,
               term_off(TERM_BAD));
        term_paragraph(stdout, 4, "%s: %s", info->meaning,
                       result->fault.reason);
    }
    if (result->remark.code != UCT_REJECT_NONE) {
        info = uct_rejection_info(result->remark.code);
        term_paragraph(stdout, 4,
                       "Remark: in this folder it would be rejected: %s %s: "
                       "%s",
                       info->id, info->meaning, result->remark.reason);
    }
}

int tool_validate(tool_t *tool, int argc, char **argv)
{
    json_t *files = json_array();
    int code      = TOOL_OK, i;
    validation_t result;

    if (argc == 0) {
        json_decref(files);
        fprintf(stderr, "ucx-plugins: validate takes one or more files\n");
        return TOOL_USAGE;
    }

    for (i = 0; i < argc; ++i) {
        validate(argv[i], &result);
        if ((access(argv[i], F_OK) != 0) && (errno == ENOENT)) {
            code = TOOL_NOT_FOUND;
        } else if ((result.fault.code != UCT_REJECT_NONE) &&
                   (code == TOOL_OK)) {
            code = TOOL_BAD;
        }
        if (tool->json) {
            json_array_append_new(files, validation_json(argv[i], &result));
        } else {
            print_validation(argv[i], &result);
        }
        if (result.manifest != NULL) {
            uct_manifest_free(result.manifest);
        }
    }

    if (tool->json) {
        return tool_print_json(json_pack("{s:i, s:o}", "format", 1, "files",
                                         files),
                               code);
    }
    json_decref(files);
    return code;
}
