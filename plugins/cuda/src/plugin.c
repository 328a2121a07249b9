/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry point: describes the plugin. Opens no device. */
#include "plugin.h"
#include "md.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Instances stay valid until the last fini(), of any core. */
static pthread_mutex_t instances_lock = PTHREAD_MUTEX_INITIALIZER;
static cuda_instance_t *instances;
static unsigned num_active;

static const ucx_transport_t *const transports[] = {&cuda_copy_transport};

static void plugin_fini(void)
{
    cuda_instance_t *instance;

    pthread_mutex_lock(&instances_lock);
    if (--num_active == 0) {
        while ((instance = instances) != NULL) {
            instances = instance->next;
            free(instance);
        }
    }
    pthread_mutex_unlock(&instances_lock);
}

static void instance_init(cuda_instance_t *instance, const ucx_host_t *host)
{
    ucx_component_t *component = &instance->component;
    ucx_plugin_t *plugin       = &instance->plugin;

    instance->host          = host;
    instance->components[0] = component;

    component->size               = sizeof(*component);
    component->name               = CUDA_COMPONENT;
    component->query_md_resources = cuda_md_resources;
    component->md_open            = cuda_md_open;
    component->md_ops             = &cuda_md_ops;
    component->transports         = transports;
    component->num_transports     = 1;

    plugin->size           = sizeof(*plugin);
    plugin->abi            = UCX_PLUGIN_ABI_VERSION;
    plugin->name           = CUDA_NAME;
    plugin->version        = CUDA_PLUGIN_VERSION;
    plugin->components     = instance->components;
    plugin->num_components = 1;
    plugin->fini           = plugin_fini;
}

/* Checks for the newest service that this plugin needs. */
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
    cuda_instance_t *instance;

    if (!UCX_TABLE_HAS(args, reason_size)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if ((UCX_PLUGIN_ABI_MAJOR_OF(args->abi_min) > UCX_PLUGIN_ABI_MAJOR) ||
        (UCX_PLUGIN_ABI_MAJOR_OF(args->abi_max) < UCX_PLUGIN_ABI_MAJOR)) {
        return refuse(args, UCS_ERR_UNSUPPORTED,
                      "the core does not speak plugin ABI 1; install the cuda "
                      "plugin that belongs to it");
    }
    if (!host_is_complete(args->host)) {
        return refuse(args, UCS_ERR_UNSUPPORTED,
                      "the core lacks services of plugin ABI 1.0; install a "
                      "newer one");
    }

    instance = calloc(1, sizeof(*instance));
    if (instance == NULL) {
        return refuse(args, UCS_ERR_NO_MEMORY, "out of memory");
    }
    instance_init(instance, args->host);

    pthread_mutex_lock(&instances_lock);
    instance->next = instances;
    instances      = instance;
    ++num_active;
    pthread_mutex_unlock(&instances_lock);

    *plugin_p = &instance->plugin;
    return UCS_OK;
}
