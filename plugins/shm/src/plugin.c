/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry point: returns the descriptor. Opens nothing.
 */
#include "plugin.h"
#include "md.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Descriptors are valid until the last core has called fini(). */
static pthread_mutex_t instances_lock = PTHREAD_MUTEX_INITIALIZER;
static shm_instance_t *instances;
static unsigned num_active;

static void instance_free(shm_instance_t *instance)
{
    shm_md_component_cleanup(&instance->component[SHM_SYSV]);
    shm_md_component_cleanup(&instance->component[SHM_POSIX]);
    free(instance);
}

static void plugin_fini(void)
{
    shm_instance_t *instance;

    pthread_mutex_lock(&instances_lock);
    if (--num_active == 0) {
        while ((instance = instances) != NULL) {
            instances = instance->next;
            instance_free(instance);
        }
    }
    pthread_mutex_unlock(&instances_lock);
}

static ucs_status_t
instance_init(shm_instance_t *instance, const ucx_host_t *host)
{
    ucx_plugin_t *plugin = &instance->plugin;
    ucs_status_t status;
    int i;

    instance->host = host;
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

    plugin->size           = sizeof(*plugin);
    plugin->abi            = UCX_PLUGIN_ABI_VERSION;
    plugin->name           = "shm";
    plugin->version        = SHM_VERSION;
    plugin->components     = instance->components;
    plugin->num_components = SHM_NUM_COMPONENTS;
    plugin->fini           = plugin_fini;
    return UCS_OK;
}

/* Checks for the newest service that this plugin needs of the host. */
static int host_is_complete(const ucx_host_t *host)
{
    return UCX_TABLE_HAS(host, time);
}

static ucs_status_t
refuse(const ucx_plugin_args_t *args, ucs_status_t status, const char *reason)
{
    if ((args->reason != NULL) && (args->reason_size > 0)) {
        snprintf(args->reason, args->reason_size, "%s", reason);
    }
    return status;
}

ucs_status_t
ucx_plugin_entry(const ucx_plugin_args_t *args, const ucx_plugin_t **plugin_p)
{
    shm_instance_t *instance;
    ucs_status_t status;

    if (!UCX_TABLE_HAS(args, reason_size)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if ((UCX_PLUGIN_ABI_MAJOR_OF(args->abi_min) > UCX_PLUGIN_ABI_MAJOR) ||
        (UCX_PLUGIN_ABI_MAJOR_OF(args->abi_max) < UCX_PLUGIN_ABI_MAJOR)) {
        return refuse(args, UCS_ERR_UNSUPPORTED,
                      "the core does not support plugin ABI 1; install the "
                      "shm plugin of its version");
    }
    if (!host_is_complete(args->host)) {
        return refuse(args, UCS_ERR_UNSUPPORTED,
                      "the core lacks services of plugin ABI 1.0; install a "
                      "newer one");
    }

    instance = calloc(1, sizeof(*instance));
    status   = (instance == NULL) ? UCS_ERR_NO_MEMORY
                                  : instance_init(instance, args->host);
    if (status != UCS_OK) {
        free(instance);
        return refuse(args, status, "out of memory");
    }

    pthread_mutex_lock(&instances_lock);
    instance->next = instances;
    instances      = instance;
    ++num_active;
    pthread_mutex_unlock(&instances_lock);

    *plugin_p = &instance->plugin;
    return UCS_OK;
}
