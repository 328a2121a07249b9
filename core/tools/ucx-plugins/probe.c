/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx-plugins probe: loads plugins through the UCT API, opens every memory
 * domain and lists the devices of its transports, as a program would.
 */
#include <stdlib.h>
#include <string.h>

#include <uct/api/uct.h>

#include "term.h"
#include "tool.h"
#include "ucs/debug/log.h"
#include "uct/base/component.h"

/* State of one probe. */
typedef struct probe {
    tool_t *tool;
    uct_plugin_t *plugin; /* the current plugin */
    json_t *domains;      /* domains of the current plugin */
    term_table_t *table;  /* NULL if the output is JSON */
    unsigned num_devices; /* number of devices of the current plugin */
    ucs_status_t status;  /* first error of the current plugin */
    char failed[96];      /* the step that failed first, with the name of its
                           * object: "opening the memory domain lo" */
    char unusable[512];   /* why the current plugin cannot be used on this
                           * machine */
} probe_t;

static const char *device_kind(uct_device_type_t type)
{
    static const char *const names[] = {
        [UCT_DEVICE_TYPE_NET]  = "network",
        [UCT_DEVICE_TYPE_SHM]  = "shm",
        [UCT_DEVICE_TYPE_ACC]  = "acc",
        [UCT_DEVICE_TYPE_SELF] = "self",
    };

    return (type < UCT_DEVICE_TYPE_LAST) ? names[type] : "unknown";
}

static void note_failure(probe_t *probe, ucs_status_t status, const char *what,
                         const char *name)
{
    if (probe->status == UCS_OK) {
        probe->status = status;
        snprintf(probe->failed, sizeof(probe->failed), "%s %s", what, name);
    }
}

static void add_device(probe_t *probe, const char *component,
                       const char *md_name, const uct_tl_resource_desc_t *tl,
                       json_t *devices)
{
    ++probe->num_devices;
    if (probe->table == NULL) {
        json_array_append_new(devices,
                              json_pack("{s:s, s:s, s:s}", "transport",
                                        tl->tl_name, "device", tl->dev_name,
                                        "type", device_kind(tl->dev_type)));
        return;
    }
    term_table_add(probe->table, TERM_PLAIN, "%s",
                   uct_plugin_info(probe->plugin)->name);
    term_table_add(probe->table, TERM_PLAIN, "%s", component);
    term_table_add(probe->table, TERM_PLAIN, "%s", md_name);
    term_table_add(probe->table, TERM_GOOD, "%s", tl->tl_name);
    term_table_add(probe->table, TERM_PLAIN, "%s", tl->dev_name);
    term_table_add(probe->table, TERM_PLAIN, "%s", device_kind(tl->dev_type));
}

static void probe_transports(probe_t *probe, const char *component,
                             const char *md_name, uct_md_h md)
{
    uct_tl_resource_desc_t *resources = NULL;
    json_t *devices                   = json_array();
    unsigned count                    = 0, i;
    ucs_status_t status;

    status = uct_md_query_tl_resources(md, &resources, &count);
    if (status != UCS_OK) {
        note_failure(probe, status, "listing devices of", md_name);
    } else {
        for (i = 0; i < count; ++i) {
            add_device(probe, component, md_name, &resources[i], devices);
        }
        uct_release_tl_resource_list(resources);
    }
    json_array_append_new(probe->domains,
                          json_pack("{s:s, s:s, s:o}", "component", component,
                                    "domain", md_name, "devices", devices));
}

static void probe_md(probe_t *probe, uct_component_h component,
                     const char *name, const char *md_name)
{
    uct_md_config_t *config;
    ucs_status_t status;
    uct_md_h md;

    status = uct_md_config_read(component, NULL, NULL, &config);
    if (status != UCS_OK) {
        note_failure(probe, status, "reading the configuration of", name);
        return;
    }
    status = uct_md_open(component, md_name, config, &md);
    uct_config_release(config);
    if (status != UCS_OK) {
        note_failure(probe, status, "opening the memory domain", md_name);
        return;
    }
    probe_transports(probe, name, md_name, md);
    uct_md_close(md);
}

static void probe_component(probe_t *probe, uct_component_h component,
                            const char *name)
{
    uct_component_attr_t attr;
    ucs_status_t status;
    char reason[512];
    unsigned i;

    status = uct_component_inspect(component, reason, sizeof(reason));
    if ((status != UCS_OK) && (reason[0] != '\0')) {
        if (probe->unusable[0] == '\0') {
            snprintf(probe->unusable, sizeof(probe->unusable), "%s", reason);
        }
        return;
    }
    attr.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT;
    status          = uct_component_query(component, &attr);
    if (status != UCS_OK) {
        note_failure(probe, status, "asking the component", name);
        return;
    }

    attr.field_mask   = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
    attr.md_resources = calloc(attr.md_resource_count + 1,
                               sizeof(*attr.md_resources));
    if (attr.md_resources == NULL) {
        note_failure(probe, UCS_ERR_NO_MEMORY, "asking the component", name);
        return;
    }
    status = uct_component_query(component, &attr);
    if (status != UCS_OK) {
        note_failure(probe, status, "asking the component", name);
    } else {
        for (i = 0; i < attr.md_resource_count; ++i) {
            probe_md(probe, component, name, attr.md_resources[i].md_name);
        }
    }
    free(attr.md_resources);
}

/* Probes all components of the UCT library that the plugin's manifest names. */
static void probe_plugin(probe_t *probe, uct_component_h *components,
                         unsigned num_components)
{
    const uct_manifest_t *manifest = uct_plugin_info(probe->plugin)->manifest;
    uct_component_attr_t attr;
    unsigned i;

    probe->num_devices = 0;
    probe->status      = UCS_OK;
    probe->unusable[0] = '\0';
    for (i = 0; i < num_components; ++i) {
        attr.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME;
        if ((uct_component_query(components[i], &attr) == UCS_OK) &&
            (uct_manifest_component(manifest, attr.name) != NULL)) {
            probe_component(probe, components[i], attr.name);
        }
    }
}

void tool_probe_reason(tool_t *tool, uct_plugin_t *plugin, char *reason,
                       size_t reason_size)
{
    probe_t probe = {.tool = tool, .plugin = plugin};
    uct_component_h *components;
    char *transports;
    unsigned count;

    reason[0] = '\0';
    if (uct_query_components(&components, &count) != UCS_OK) {
        return;
    }
    probe.domains = json_array();
    probe_plugin(&probe, components, count);
    json_decref(probe.domains);
    uct_release_component_list(components);
    if (probe.status != UCS_OK) {
        snprintf(reason, reason_size, "%s failed: %s", probe.failed,
                 ucs_status_string(probe.status));
    } else if (probe.unusable[0] != '\0') {
        snprintf(reason, reason_size, "%s", probe.unusable);
    } else if (probe.num_devices == 0) {
        transports = tool_transports(uct_plugin_info(plugin)->manifest);
        if (transports[0] != '\0') {
            snprintf(reason, reason_size, "it finds no device");
        }
        free(transports);
    }
}

/* Prints the failure of the plugin, or why it offers nothing, if so. The reason
 * of a rejection takes precedence: it is more specific than a status. */
static void print_verdict(probe_t *probe)
{
    const char *name = uct_plugin_info(probe->plugin)->name;
    uct_rejection_t rejection;

    uct_plugin_state(probe->plugin, &rejection);
    if (rejection.code != UCT_REJECT_NONE) {
        term_paragraph(stdout, 0, "%s: %s %s: %s", name,
                       uct_rejection_info(rejection.code)->id,
                       uct_rejection_info(rejection.code)->meaning,
                       rejection.reason);
    } else if (probe->status != UCS_OK) {
        term_paragraph(stdout, 0, "%s: %s failed: %s", name, probe->failed,
                       ucs_status_string(probe->status));
    } else if (probe->unusable[0] != '\0') {
        term_paragraph(stdout, 0, "%s: offers nothing here: %s", name,
                       probe->unusable);
    } else if (probe->num_devices == 0) {
        term_paragraph(stdout, 0, "%s: it works, but finds no device here.",
                       name);
    }
}

static json_t *verdict_json(probe_t *probe)
{
    json_t *object = tool_plugin_json(probe->plugin);

    json_object_set(object, "domains", probe->domains);
    if (probe->unusable[0] != '\0') {
        json_object_set_new(object, "unusable", json_text(probe->unusable));
    }
    if (probe->status != UCS_OK) {
        json_object_set_new(object, "failure",
                            json_pack("{s:s, s:s}", "what", probe->failed,
                                      "status",
                                      ucs_status_string(probe->status)));
    }
    return object;
}

/* Probes one plugin and adds its result. Returns TOOL_BAD if the plugin is
 * rejected or failed. */
static int run_one(probe_t *probe, uct_component_h *components,
                   unsigned num_components, json_t *results)
{
    uct_rejection_t rejection;

    probe->domains = json_array();
    uct_plugin_state(probe->plugin, &rejection);
    if (rejection.code == UCT_REJECT_NONE) {
        probe_plugin(probe, components, num_components);
    } else {
        probe->status = uct_rejection_info(rejection.code)->status;
        snprintf(probe->failed, sizeof(probe->failed), "the search");
    }
    json_array_append_new(results, verdict_json(probe));
    json_decref(probe->domains);
    return (probe->status == UCS_OK) ? TOOL_OK : TOOL_BAD;
}

/* Probes the plugin `only`, or all usable plugins if it is NULL. */
static int run_all(tool_t *tool, uct_plugin_t *only,
                   uct_component_h *components, unsigned num_components,
                   json_t *results)
{
    static const char *const titles[] = {"PLUGIN",    "COMPONENT", "DOMAIN",
                                         "TRANSPORT", "DEVICE",    "TYPE"};
    term_table_t table;
    probe_t probe = {.tool = tool, .table = tool->json ? NULL : &table};
    int code      = TOOL_OK;
    uct_rejection_t rejection;
    unsigned i;

    term_table_init(&table, 6);
    for (i = 0; i < 6; ++i) {
        term_table_add(&table, TERM_BOLD, "%s", titles[i]);
    }
    for (i = 0; (probe.plugin = uct_plugin_at(tool->registry, i)) != NULL;
         ++i) {
        uct_plugin_state(probe.plugin, &rejection);
        if ((only == NULL) ? (rejection.code != UCT_REJECT_NONE) :
                             (only != probe.plugin)) {
            continue;
        }
        if (run_one(&probe, components, num_components, results) != TOOL_OK) {
            code = TOOL_BAD;
        }
        if (!tool->json) {
            print_verdict(&probe);
        }
    }

    if (tool->json) {
        term_table_free(&table);
    } else {
        term_table_print(&table);
    }
    return code;
}

int tool_probe(tool_t *tool, int argc, char **argv)
{
    uct_component_h *components = NULL;
    uct_plugin_t *only          = NULL;
    json_t *results;
    unsigned count;
    int code;

    if (argc > 1) {
        fprintf(stderr, "ucx-plugins: probe takes the name of one plugin, or "
                        "nothing\n");
        return TOOL_USAGE;
    }
    if ((argc == 1) && ((only = tool_find(tool, argv[0])) == NULL)) {
        return tool_not_found(tool, argv[0]);
    }
    if (uct_query_components(&components, &count) != UCS_OK) {
        fprintf(stderr, "ucx-plugins: the components cannot be listed\n");
        return TOOL_SYSTEM;
    }

    results = json_array();
    code    = run_all(tool, only, components, count, results);
    uct_release_component_list(components);
    if (tool->json) {
        return tool_print_json(json_pack("{s:i, s:o}", "format", 1, "plugins",
                                         results),
                               code);
    }
    json_decref(results);
    return code;
}
