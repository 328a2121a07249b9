/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx-plugins why: the state of a plugin, the reason for it, and what to do.
 */
#include <stdlib.h>
#include <string.h>

#include "select.h"
#include "term.h"
#include "tool.h"
#include "ucs/config/config.h"
#include "uct/base/state.h"

static void explain_usable(const uct_plugin_info_t *info)
{
    char *transports = tool_transports(info->manifest);

    term_paragraph(stdout, 0,
                   "The plugin %s %s can be used. Its manifest is valid, its "
                   "requirements are met, and no earlier plugin replaces it. "
                   "Its code is loaded when a program needs %s%s.",
                   info->name, info->manifest->version,
                   (transports[0] == '\0') ? "memory of its types" :
                                             "one of its transports: ",
                   transports);
    free(transports);
}

/* Prints why programs do not use a usable plugin, if UCX_TLS excludes it or does
 * not name it. Otherwise prints nothing. */
static void explain_selection(const uct_plugin_info_t *info, const char *list,
                              uct_rejection_code_t selected)
{
    const uct_rejection_info_t *code = uct_rejection_info(selected);
    char *transports;

    if (selected == UCT_REJECT_NONE) {
        return;
    }
    transports = tool_transports(info->manifest);
    term_paragraph(stdout, 0,
                   "Programs started from here do not use it, though: %s, %s. "
                   "UCX_TLS is %s%s%s; name one of: %s.",
                   code->id, code->meaning, (list == NULL) ? "not set" : "\"",
                   (list == NULL) ? "" : list, (list == NULL) ? "" : "\"",
                   transports);
    free(transports);
}

static void explain_rejected(const uct_plugin_info_t *info,
                             uct_plugin_state_t state,
                             const uct_rejection_t *rejection)
{
    const uct_rejection_info_t *code = uct_rejection_info(rejection->code);

    term_paragraph(stdout, 0, "The plugin %s is not used (%s).", info->name,
                   uct_plugin_state_name(state));
    term_field("Because", "%s %s", code->id, code->meaning);
    term_field("In detail", "%s", rejection->reason);
    term_field("What to do", "%s", code->remedy);
}

static void explain_place(tool_t *tool, const uct_plugin_info_t *info)
{
    const uct_plugin_info_t *other;
    uct_plugin_t *plugin;
    uct_rejection_t rejection;
    unsigned i;

    term_field("Manifest", "%s", info->path);
    if (info->library[0] != '\0') {
        term_field("Library", "%s", info->library);
    }
    term_field("Found in", "%s (%s)", info->dir->path,
               tool_origin_name(info->dir->origin));
    for (i = 0; (plugin = uct_plugin_at(tool->registry, i)) != NULL; ++i) {
        other = uct_plugin_info(plugin);
        uct_plugin_state(plugin, &rejection);
        if ((other != info) && !strcmp(other->name, info->name)) {
            term_field("Also there", "%s: %s %s", other->path,
                       uct_rejection_info(rejection.code)->id,
                       uct_rejection_info(rejection.code)->meaning);
        }
    }
}

static void explain_unusable(const char *reason)
{
    if (reason[0] != '\0') {
        term_paragraph(stdout, 0, "It offers nothing here, though: %s.",
                       reason);
    }
}

static json_t *why_json(uct_plugin_t *plugin, uct_rejection_code_t selected,
                        const char *unusable)
{
    const uct_rejection_info_t *code = uct_rejection_info(selected);
    json_t *root                     = tool_plugin_json(plugin);

    if ((root != NULL) && (unusable[0] != '\0')) {
        json_object_set_new(root, "unusable", json_text(unusable));
    }
    json_object_set_new(root, "selected",
                        json_boolean(selected == UCT_REJECT_NONE));
    if ((root != NULL) && (selected != UCT_REJECT_NONE)) {
        json_object_set_new(root, "selection",
                            json_pack("{s:s, s:s, s:s}", "code", code->id,
                                      "meaning", code->meaning, "remedy",
                                      code->remedy));
    }
    return root;
}

/* Loads the plugin, so that a fault of its code rejects it. */
static void load(uct_plugin_t *plugin)
{
    const ucx_plugin_t *descriptor;

    if (uct_plugin_load(plugin, &uct_host, &descriptor, NULL) == UCS_OK) {
        uct_plugin_release(plugin);
    }
}

int tool_why(tool_t *tool, int argc, char **argv)
{
    const char *list = ucs_config_lookup(NULL, "TLS");
    uct_rejection_code_t selected;
    const uct_plugin_info_t *info;
    uct_plugin_state_t state;
    uct_plugin_t *plugin;
    uct_rejection_t rejection;
    char unusable[512] = "";
    int usable, code;

    if (argc != 1) {
        fprintf(stderr, "ucx-plugins: why takes the name of one plugin or "
                        "transport\n");
        return TOOL_USAGE;
    }
    plugin = tool_find(tool, argv[0]);
    if (plugin == NULL) {
        return tool_not_found(tool, argv[0]);
    }

    info  = uct_plugin_info(plugin);
    state = uct_plugin_state(plugin, &rejection);
    if (rejection.code == UCT_REJECT_NONE) {
        load(plugin);
        state = uct_plugin_state(plugin, &rejection);
    }
    usable   = rejection.code == UCT_REJECT_NONE;
    selected = usable ? select_judge(info->manifest, list) : UCT_REJECT_NONE;
    if (usable) {
        tool_probe_reason(tool, plugin, unusable, sizeof(unusable));
    }
    code = (usable && (selected == UCT_REJECT_NONE) && (unusable[0] == '\0')) ?
               TOOL_OK :
               TOOL_BAD;
    if (tool->json) {
        return tool_print_json(why_json(plugin, selected, unusable), code);
    }

    if (usable) {
        explain_usable(info);
        explain_unusable(unusable);
        explain_selection(info, list, selected);
    } else {
        explain_rejected(info, state, &rejection);
    }
    explain_place(tool, info);
    return code;
}
