/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry point: returns the descriptor. Opens nothing.
 */
#include "plugin.h"
#include "config.h"
#include "md.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Descriptors are valid until the last core has called fini(). */
static pthread_mutex_t instances_lock = PTHREAD_MUTEX_INITIALIZER;
static tcp_instance_t *instances;
static unsigned num_active;

static const ucx_transport_t *const transports[] = {&tcp_transport};

static void plugin_fini(void)
{
    tcp_instance_t *instance;

    pthread_mutex_lock(&instances_lock);
    if (--num_active == 0) {
        while ((instance = instances) != NULL) {
            instances = instance->next;
            free(instance);
        }
    }
    pthread_mutex_unlock(&instances_lock);
}

static void instance_init(tcp_instance_t *instance, const ucx_host_t *host)
{
    ucx_component_t *component = &instance->component;
    ucx_plugin_t *plugin       = &instance->plugin;

    instance->host          = host;
    instance->components[0] = component;

    component->size               = sizeof(*component);
    component->name               = TCP_NAME;
    component->flags              = UCT_COMPONENT_FLAG_CM;
    component->md_config          = &tcp_md_config_table;
    component->cm_config          = &tcp_cm_config_table;
    component->query_md_resources = tcp_md_resources;
    component->md_open            = tcp_md_open;
    component->md_ops             = &tcp_md_ops;
    component->rkey_unpack        = tcp_rkey_unpack;
    component->rkey_release       = tcp_rkey_release;
    component->transports         = transports;
    component->num_transports     = 1;
    component->cm_ops             = &tcp_cm_ops;

    plugin->size           = sizeof(*plugin);
    plugin->abi            = UCX_PLUGIN_ABI_VERSION;
    plugin->name           = TCP_NAME;
    plugin->version        = TCP_VERSION;
    plugin->components     = instance->components;
    plugin->num_components = 1;
    plugin->fini           = plugin_fini;
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
    tcp_instance_t *instance;

    if (!UCX_TABLE_HAS(args, reason_size)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if ((UCX_PLUGIN_ABI_MAJOR_OF(args->abi_min) > UCX_PLUGIN_ABI_MAJOR) ||
        (UCX_PLUGIN_ABI_MAJOR_OF(args->abi_max) < UCX_PLUGIN_ABI_MAJOR)) {
        return refuse(args, UCS_ERR_UNSUPPORTED,
                      "the core does not support plugin ABI 1; install the "
                      "tcp plugin of its version");
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
