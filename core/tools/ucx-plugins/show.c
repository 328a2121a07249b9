/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx-plugins show: all that is known about one plugin without loading it.
 */
#include <stdlib.h>
#include <string.h>

#include "term.h"
#include "tool.h"
#include "ucs/type/memory_type.h"

static void show_words(const char *label, const char *const *list,
                       uint64_t mask)
{
    char *text = (mask == 0) ? NULL : tool_words(list, mask, ", ");

    if (text != NULL) {
        term_field(label, "%s", text);
        free(text);
    }
}

static void show_names(const char *label, const uct_names_t *names)
{
    char text[1024] = "";
    size_t length   = 0;
    unsigned i;

    for (i = 0; (i < names->count) && (length < sizeof(text)); ++i) {
        length += snprintf(text + length, sizeof(text) - length, "%s%s",
                           (i == 0) ? "" : ", ", names->name[i]);
    }
    if (names->count > 0) {
        term_field(label, "%s", text);
    }
}

static void show_transport(const uct_manifest_transport_t *transport)
{
    printf("\n%s  Transport %s%s\n", term_on(TERM_BOLD), transport->name,
           term_off(TERM_BOLD));
    show_names("  Also called", &transport->aliases);
    show_words("  Operations", uct_manifest_operations, transport->operations);
    show_words("  Capabilities", uct_manifest_tl_capabilities,
               transport->capabilities);
    show_words("  Reaches", uct_manifest_reaches, transport->reach);
    term_field("  Devices", "%s", transport->device_class);
    show_names("  Device names", &transport->device_globs);
    if (transport->latency_ns > 0) {
        term_field("  Latency", "%.6g ns, typically", transport->latency_ns);
    }
    if (transport->bandwidth_mbps > 0) {
        term_field("  Bandwidth", "%.6g MB/s, typically",
                   transport->bandwidth_mbps);
    }
}

static void show_component(const uct_manifest_component_t *component)
{
    unsigned i;

    printf("\n%sComponent %s%s\n", term_on(TERM_BOLD), component->name,
           term_off(TERM_BOLD));
    show_words("Memory types", ucs_memory_type_words, component->memory_types);
    show_words("Capabilities", uct_manifest_md_capabilities,
               component->capabilities);
    show_names("Connects by", &component->cms);
    for (i = 0; i < component->num_transports; ++i) {
        show_transport(&component->transports[i]);
    }
}

static void show_needs(const uct_need_group_t *group, const char *prefix)
{
    static const char *const words[UCT_NEED_LAST] = {
        [UCT_NEED_DEVICE]  = "device node",
        [UCT_NEED_MODULE]  = "kernel module",
        [UCT_NEED_LIBRARY] = "shared library",
    };
    unsigned kind, i;

    for (kind = 0; kind < UCT_NEED_LAST; ++kind) {
        for (i = 0; i < group->count[kind]; ++i) {
            term_field("Requires", "%s%s %s%s%s%s", prefix, words[kind],
                       group->list[kind][i].name,
                       (group->list[kind][i].hint == NULL) ? "" : " (",
                       (group->list[kind][i].hint == NULL) ?
                           "" :
                           group->list[kind][i].hint,
                       (group->list[kind][i].hint == NULL) ? "" : ")");
        }
    }
}

static void show_manifest(const uct_manifest_t *manifest)
{
    unsigned i;

    term_field("Version", "%s", manifest->version);
    term_field("Vendor", "%s", manifest->vendor);
    term_field("License", "%s", manifest->license);
    term_field("Description", "%s", manifest->description);
    term_field("ABI", "%u.%u", UCX_PLUGIN_ABI_MAJOR_OF(manifest->abi),
               UCX_PLUGIN_ABI_MINOR_OF(manifest->abi));
    show_names("Conflicts", &manifest->conflicts);
    show_names("Replaces", &manifest->replaces);
    show_names("Variables", &manifest->config_prefixes);
    show_needs(&manifest->requires.all, "");
    for (i = 0; i < manifest->requires.num_any_of; ++i) {
        show_needs(&manifest->requires.any_of[i], "one of several: ");
    }
    if (manifest->requires.hint != NULL) {
        term_field("Hint", "%s", manifest->requires.hint);
    }
    if (!manifest->by_default) {
        term_field("Default", "off, unless one of its transports is named");
    }
    for (i = 0; i < manifest->num_components; ++i) {
        show_component(&manifest->components[i]);
    }
}

int tool_show(tool_t *tool, int argc, char **argv)
{
    const uct_plugin_info_t *info;
    uct_plugin_state_t state;
    uct_plugin_t *plugin;
    uct_rejection_t rejection;

    if (argc != 1) {
        fprintf(stderr, "ucx-plugins: show takes the name of one plugin\n");
        return TOOL_USAGE;
    }
    plugin = tool_find(tool, argv[0]);
    if (plugin == NULL) {
        return tool_not_found(tool, argv[0]);
    } else if (tool->json) {
        return tool_print_json(tool_plugin_json(plugin), TOOL_OK);
    }

    info  = uct_plugin_info(plugin);
    state = uct_plugin_state(plugin, &rejection);
    term_field("Name", "%s", info->name);
    term_field("State", "%s", uct_plugin_state_name(state));
    if (rejection.code != UCT_REJECT_NONE) {
        term_field("Rejection", "%s %s: %s",
                   uct_rejection_info(rejection.code)->id,
                   uct_rejection_info(rejection.code)->meaning,
                   rejection.reason);
    }
    term_field("Manifest", "%s", info->path);
    term_field("Library", "%s%s",
               (info->library[0] == '\0') ? "not known" : info->library,
               ((info->library[0] != '\0') && !info->bind_now) ?
                   " (not linked with -z now)" :
                   "");
    term_field("Priority", "%d", info->priority);
    if (info->manifest != NULL) {
        show_manifest(info->manifest);
    }
    return TOOL_OK;
}
