/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds and loads the plugin under test by the functions of the core, so that
 * the checks use the plugin in the same way as the core.
 */
#include "plugin.h"
#include "host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ucx/transport.h>

/* Returns the rule of sdk/ABI.md that a plugin has broken if the core rejects
 * it with the code UCX-P<code>. */
static int rule_of(unsigned code)
{
    static const struct {
        unsigned code;
        int rule;
    } rules[] = {
        {301, 4}, {302, 5}, {601, 2},  {602, 2}, {603, 1},
        {604, 5}, {605, 7}, {606, 10}, {607, 9},
    };
    unsigned i;

    for (i = 0; i < sizeof(rules) / sizeof(rules[0]); ++i) {
        if (rules[i].code == code) {
            return rules[i].rule;
        }
    }
    return 24;
}

/* Records that the core rejects the plugin. UCX-P4xx means missing hardware or
 * software: that is no finding, the check is skipped. */
static void note_verdict(run_t *run, const ucx_verdict_t *verdict)
{
    if (verdict->code / 100 == 4) {
        check_skip(run, "%s %s: %.250s", verdict->id, verdict->meaning,
                   verdict->reason);
    } else {
        check_fail(run, rule_of(verdict->code), "%s %s: %.200s; what to do: %s",
                   verdict->id, verdict->meaning, verdict->reason,
                   verdict->remedy);
    }
}

int plugin_is_found(run_t *run)
{
    ucx_verdict_t verdict;
    ucs_status_t status;

    check_doing(run, "looking for plugins");
    status = ucx_inspect_find(run->target->path, &verdict);
    if (status == UCS_ERR_NO_ELEM) {
        check_fail(run, 24,
                   "the core does not take %.200s for a manifest: "
                   "its name must end in .json and not begin with a dot, and "
                   "its folder must be trusted (`ucx-plugins path`)",
                   run->target->path);
        return 0;
    }
    if (!check_that(run, 24, status == UCS_OK,
                    "plugins could not be searched for: %s",
                    ucs_status_string(status))) {
        return 0;
    }
    if (verdict.code != 0) {
        note_verdict(run, &verdict);
        return 0;
    }
    return 1;
}

const ucx_plugin_t *plugin_load(run_t *run)
{
    const ucx_plugin_t *descriptor;
    ucx_verdict_t verdict;

    if (!plugin_is_found(run)) {
        return NULL;
    }

    check_doing(run, "loading the library");
    if (ucx_inspect_load(run->target->path, host_watched(run), &descriptor,
                         &verdict) != UCS_OK) {
        note_verdict(run, &verdict);
        return NULL;
    }
    return descriptor;
}

uct_component_h plugin_component(const char *name)
{
    uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME};
    uct_component_h *list, found = NULL;
    unsigned count, i;

    if (uct_query_components(&list, &count) != UCS_OK) {
        return NULL;
    }
    for (i = 0; (i < count) && (found == NULL); ++i) {
        if ((uct_component_query(list[i], &attr) == UCS_OK) &&
            !strcmp(attr.name, name)) {
            found = list[i];
        }
    }
    uct_release_component_list(list); /* The components remain */
    return found;
}

static int visit_component(run_t *run, uct_component_h component,
                           const char *name, plugin_md_visit_t visit, void *arg)
{
    uct_component_attr_t attr = {
        .field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT,
    };
    uct_md_resource_desc_t *mds;
    ucs_status_t status;
    unsigned i;

    check_doing(run, "listing the domains of %s", name);
    status = uct_component_query(component, &attr);
    if (!check_that(run, 26, status == UCS_OK,
                    "%s: query_md_resources "
                    "answers %s; none is UCS_OK with 0",
                    name, ucs_status_string(status))) {
        return 0;
    }

    mds = calloc(attr.md_resource_count + 1, sizeof(*mds));
    if (mds == NULL) {
        check_fail(run, 26, "out of memory");
        return 0;
    }

    attr.field_mask   = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
    attr.md_resources = mds;
    uct_component_query(component, &attr);
    for (i = 0; i < attr.md_resource_count; ++i) {
        if (check_that(run, 25,
                       (mds[i].md_name[0] != '\0') &&
                           (memchr(mds[i].md_name, '\0', UCT_MD_NAME_MAX) !=
                            NULL),
                       "%s: the name of domain %u is empty or has no end", name,
                       i)) {
            visit(run, component, name, mds[i].md_name, arg);
        }
    }
    free(mds);
    return 1;
}

int plugin_for_each_md(run_t *run, plugin_md_visit_t visit, void *arg)
{
    const ucx_manifest_t *manifest = run->target->manifest;
    uct_component_h component;
    int result = 1;
    unsigned i;

    for (i = 0; i < manifest->num_components; ++i) {
        component = plugin_component(manifest->components[i].name);
        if (component == NULL) {
            check_fail(run, 24, "the core does not know the component %s",
                       manifest->components[i].name);
            result = 0;
        } else if (!visit_component(run, component,
                                    manifest->components[i].name, visit, arg)) {
            result = 0;
        }
    }
    return result;
}

uct_md_h plugin_open_md(run_t *run, uct_component_h component,
                        const char *md_name)
{
    uct_md_config_t *config;
    ucs_status_t status;
    uct_md_h md;

    check_doing(run, "opening the domain %s", md_name);
    status = uct_md_config_read(component, NULL, NULL, &config);
    if (status != UCS_OK) {
        check_fail(run, 26, "domain %s: its variables cannot be read: %s",
                   md_name, ucs_status_string(status));
        return NULL;
    }

    status = uct_md_open(component, md_name, config, &md);
    uct_config_release(config);
    if (status != UCS_OK) {
        check_fail(run, 26, "domain %s was listed but does not open: %s",
                   md_name, ucs_status_string(status));
        return NULL;
    }
    return md;
}

/* --- The listing --------------------------------------------------------- */

/* Frees a list from the plugin with free(), as the core does (rule 19). A list
 * in the data of a library is detected before; other memory that is not from
 * malloc() causes a crash, which is reported under rule 19. */
static void check_freed(run_t *run, const char *what, void *list)
{
    Dl_info library;

    if (check_that(run, 19, dladdr(list, &library) == 0,
                   "%s: the list is data of a library; the core frees it, so "
                   "it must come from malloc()",
                   what)) {
        check_doing_under(run, 19, "freeing the list of %s", what);
        free(list);
    }
}

/* Calls the plugin's slots that return lists, and frees the lists, before the
 * core does so: here, a crash is reported under rule 19. */
static int check_lists(run_t *run, uct_md_h md)
{
    const ucx_component_t *component = md->component;
    ucx_device_desc_t *devices;
    uct_md_resource_desc_t *mds;
    unsigned i, count;

    check_doing(run, "listing the domains of %s", component->name);
    if ((component->query_md_resources(component, &mds, &count) == UCS_OK) &&
        (count > 0)) {
        check_freed(run, "query_md_resources", mds);
    }
    for (i = 0; i < component->num_transports; ++i) {
        check_doing(run, "listing the devices of %s",
                    component->transports[i]->name);
        if ((component->transports[i]->query_devices(md, &devices, &count) ==
             UCS_OK) &&
            (count > 0)) {
            check_freed(run, "query_devices", devices);
        }
    }
    return !check_has_failed(run);
}

static void list_md(run_t *run, uct_component_h component,
                    const char *component_name, const char *md_name, void *arg)
{
    uct_md_h md = plugin_open_md(run, component, md_name);
    uct_tl_resource_desc_t *tls;
    resource_t *resource;
    unsigned count, i;

    if (md == NULL) {
        return;
    }

    if (check_lists(run, md) &&
        (uct_md_query_tl_resources(md, &tls, &count) == UCS_OK)) {
        for (i = 0; (i < count) && (run->record->num_resources < RESOURCES_MAX);
             ++i) {
            resource = &run->record->resources[run->record->num_resources++];
            snprintf(resource->component, sizeof(resource->component), "%s",
                     component_name);
            snprintf(resource->md, sizeof(resource->md), "%s", md_name);
            memcpy(resource->tl, tls[i].tl_name, sizeof(resource->tl));
            memcpy(resource->dev, tls[i].dev_name, sizeof(resource->dev));
            resource->type = tls[i].dev_type;
        }
        uct_release_tl_resource_list(tls);
    }
    uct_md_close(md);
}

void list_resources(run_t *run)
{
    if (plugin_load(run) != NULL) {
        plugin_for_each_md(run, list_md, NULL)
            ;
    }
}
