/* SPDX-License-Identifier: BSD-3-Clause */
/* ucx_inspect_find() and ucx_inspect_load(): for tools, find the plugin of a
 * manifest and load its code, or tell why the core does not use the plugin. */
#include <ucx/inspect.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uct/plugin/registry.h"

static void fill_verdict(ucx_verdict_t *verdict,
                         const uct_rejection_t *rejection)
{
    const uct_rejection_info_t *info = uct_rejection_info(rejection->code);

    _Static_assert(sizeof(verdict->reason) >= sizeof(rejection->reason),
                   "the reason fits");
    verdict->code    = rejection->code;
    verdict->id      = info->id;
    verdict->meaning = info->meaning;
    verdict->remedy  = info->remedy;
    snprintf(verdict->reason, sizeof(verdict->reason), "%s",
             (rejection->code == UCT_REJECT_NONE) ? "" : rejection->reason);
}

static ucs_status_t find(const char *manifest_path, uct_plugin_t **plugin_p)
{
    uct_plugin_registry_t *registry;
    char real[PATH_MAX];
    ucs_status_t status;
    unsigned i;

    status = uct_plugin_registry_get(&registry);
    if (status != UCS_OK) {
        return status;
    }
    for (i = 0; (*plugin_p = uct_plugin_at(registry, i)) != NULL; ++i) {
        if ((realpath(uct_plugin_info(*plugin_p)->path, real) != NULL) &&
            !strcmp(real, manifest_path)) {
            return UCS_OK;
        }
    }
    return UCS_ERR_NO_ELEM;
}

ucs_status_t ucx_inspect_find(const char *manifest_path, ucx_verdict_t *verdict)
{
    uct_rejection_t rejection;
    uct_plugin_t *plugin;
    ucs_status_t status;

    status = find(manifest_path, &plugin);
    if (status == UCS_OK) {
        uct_plugin_state(plugin, &rejection);
        fill_verdict(verdict, &rejection);
    }
    return status;
}

ucs_status_t ucx_inspect_load(const char *manifest_path, const ucx_host_t *host,
                              const ucx_plugin_t **descriptor_p,
                              ucx_verdict_t *verdict)
{
    uct_rejection_t rejection = {.code = UCT_REJECT_NONE};
    uct_plugin_t *plugin;
    ucs_status_t status;

    status = find(manifest_path, &plugin);
    if (status == UCS_OK) {
        status = uct_plugin_load(plugin, host, descriptor_p, &rejection);
    }
    fill_verdict(verdict, &rejection);
    return status;
}
