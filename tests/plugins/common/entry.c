/* SPDX-License-Identifier: BSD-3-Clause */
/* See entry.h. The entry point only describes the plugin: no device is
 * opened. */
#include "entry.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* The instances of all cores in this process. They are freed together, when
 * each core that has called the entry point has called fini(). `active`: number
 * of cores that have called the entry point, but not fini(). */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static local_instance_t *instances;
static unsigned active;

static void fini(void)
{
    local_instance_t *instance;

    pthread_mutex_lock(&lock);
    if (--active == 0) {
        while ((instance = instances) != NULL) {
            instances = instance->next;
            free(instance);
        }
    }
    pthread_mutex_unlock(&lock);
}

static ucs_status_t refuse(const ucx_plugin_args_t *args, ucs_status_t status,
                           const char *reason)
{
    if ((args->reason != NULL) && (args->reason_size > 0)) {
        snprintf(args->reason, args->reason_size, "%s", reason);
    }
    return status;
}

ucs_status_t local_entry(const ucx_plugin_args_t *args,
                         const ucx_component_t *pattern,
                         const ucx_plugin_t **plugin_p)
{
    local_instance_t *instance;

    if ((UCX_PLUGIN_ABI_MAJOR_OF(args->abi_min) > UCX_PLUGIN_ABI_MAJOR) ||
        (UCX_PLUGIN_ABI_MAJOR_OF(args->abi_max) < UCX_PLUGIN_ABI_MAJOR) ||
        !UCX_TABLE_HAS(args->host, time)) {
        return refuse(args, UCS_ERR_UNSUPPORTED,
                      "this plugin speaks plugin ABI 1; use it with the core"
                      " that it was built with");
    }

    instance = calloc(1, sizeof(*instance));
    if (instance == NULL) {
        return refuse(args, UCS_ERR_NO_MEMORY, "out of memory");
    }
    instance->host          = args->host;
    instance->component     = *pattern;
    instance->components[0] = &instance->component;
    instance->plugin        = (ucx_plugin_t){
               .size           = sizeof(instance->plugin),
               .abi            = UCX_PLUGIN_ABI_VERSION,
               .name           = pattern->name,
               .version        = LOCAL_VERSION,
               .components     = instance->components,
               .num_components = 1,
               .fini           = fini,
    };

    pthread_mutex_lock(&lock);
    instance->next = instances;
    instances      = instance;
    ++active;
    pthread_mutex_unlock(&lock);
    *plugin_p = &instance->plugin;
    return UCS_OK;
}

ucs_status_t local_query_mds(const ucx_component_t *component,
                             uct_md_resource_desc_t **mds_p, unsigned *num_p)
{
    uct_md_resource_desc_t *md = calloc(1, sizeof(*md));

    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    snprintf(md->md_name, sizeof(md->md_name), "%s", component->name);
    *mds_p = md; /* the core frees it */
    *num_p = 1;
    return UCS_OK;
}

ucs_status_t local_query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                 unsigned *num_p)
{
    ucx_device_desc_t *device = calloc(1, sizeof(*device));

    (void)md;
    if (device == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    snprintf(device->name, sizeof(device->name), "host");
    device->type    = UCT_DEVICE_TYPE_SHM;
    device->sys_dev = UCS_SYS_DEVICE_ID_UNKNOWN;
    *devices_p      = device; /* the core frees it */
    *num_p          = 1;
    return UCS_OK;
}
