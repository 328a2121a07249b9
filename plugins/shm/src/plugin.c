/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry point: returns the description of the plugin (ucx_plugin_t). Opens
 * no device and no shared memory.
 */
#include "plugin.h"
#include "md.h"

static ucx_instances_t instances = UCX_INSTANCES_INIT;

static void instance_cleanup(ucx_instance_t *super)
{
    shm_instance_t *instance = (shm_instance_t *)super;

    shm_md_component_cleanup(&instance->component[SHM_SYSV]);
    shm_md_component_cleanup(&instance->component[SHM_POSIX]);
}

static void plugin_fini(void)
{
    ucx_instances_close(&instances, instance_cleanup);
}

static ucs_status_t instance_init(ucx_instance_t *super)
{
    shm_instance_t *instance = (shm_instance_t *)super;
    ucx_plugin_t *plugin     = &super->plugin;
    ucs_status_t status;
    int i;

    for (i = 0; i < SHM_NUM_COMPONENTS; ++i) {
        instance->component[i].instance   = instance;
        instance->component[i].super.size = sizeof(ucx_component_t);
        instance->components[i]           = &instance->component[i].super;
    }

    status = shm_md_component_init(&instance->component[SHM_POSIX], SHM_POSIX);
    if (status != UCS_OK) {
        return status;
    }
    status = shm_md_component_init(&instance->component[SHM_SYSV], SHM_SYSV);
    if (status != UCS_OK) {
        shm_md_component_cleanup(&instance->component[SHM_POSIX]);
        return status;
    }
    shm_cma_component_init(&instance->component[SHM_CMA].super);

    plugin->name           = "shm";
    plugin->version        = SHM_VERSION;
    plugin->components     = instance->components;
    plugin->num_components = SHM_NUM_COMPONENTS;
    plugin->fini           = plugin_fini;
    return UCS_OK;
}

ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    return ucx_instances_open(&instances, args, sizeof(shm_instance_t),
                              instance_init, plugin_p);
}
