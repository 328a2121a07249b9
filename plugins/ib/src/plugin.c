/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry point: describes the plugin. Opens no device. */
#include "plugin.h"
#ifdef IB_HAVE_RDMACM
#  include "cm_config.h"
#endif
#include "config.h"
#include "device.h"
#include "md.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Instances stay valid until the last fini(), of any core. */
static pthread_mutex_t instances_lock = PTHREAD_MUTEX_INITIALIZER;
static ib_instance_t *instances;
static unsigned num_active;

static const ucx_transport_t *const transports[] = {
    &ib_rc_transport, &ib_ud_transport
};

static void plugin_fini(void)
{
    ib_instance_t *instance;

    pthread_mutex_lock(&instances_lock);
    if (--num_active == 0) {
        while ((instance = instances) != NULL) {
            instances = instance->next;
            free(instance);
        }
    }
    pthread_mutex_unlock(&instances_lock);
}

#ifdef IB_HAVE_RDMACM
/* The component rdmacm has no memory domain. */
static ucs_status_t no_md_resources(const ucx_component_t *component,
                                    uct_md_resource_desc_t **mds_p,
                                    unsigned *num_p)
{
    *mds_p = NULL;
    *num_p = 0;
    return UCS_OK;
}

static ucs_status_t no_md_open(const ucx_component_t *component,
                               const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    return UCS_ERR_NO_DEVICE;
}
#endif

/* A separate component, so that UCX_SOCKADDR_TLS_PRIORITY can name it. */
static void cm_init(ib_instance_t *instance)
{
#ifdef IB_HAVE_RDMACM
    ucx_component_t *component = &instance->cm;

    instance->components[instance->plugin.num_components++] = component;

    component->size      = sizeof(*component);
    component->name      = "rdmacm";
    component->flags     = UCT_COMPONENT_FLAG_CM;
    component->cm_config = &ib_cm_config_table;
    component->cm_ops    = &ib_cm_ops;
    component->md_ops    = &ib_md_ops;
    component->md_open   = no_md_open;
    component->query_md_resources = no_md_resources;
#endif
}

static void instance_init(ib_instance_t *instance, const ucx_host_t *host)
{
    ucx_component_t *component = &instance->component;
    ucx_plugin_t *plugin       = &instance->plugin;

    instance->host          = host;
    instance->components[0] = component;

    component->size               = sizeof(*component);
    component->name               = IB_NAME;
    component->md_config          = &ib_md_config_table;
    component->query_md_resources = ib_md_resources;
    component->md_open            = ib_md_open;
    component->md_ops             = &ib_md_ops;
    component->rkey_unpack        = ib_rkey_unpack;
    component->rkey_release       = ib_rkey_release;
    component->rkey_compare       = ib_rkey_compare;
    component->transports         = transports;
    component->num_transports     = sizeof(transports) /
                                    sizeof(transports[0]);

    plugin->size           = sizeof(*plugin);
    plugin->abi            = UCX_PLUGIN_ABI_VERSION;
    plugin->name           = IB_NAME;
    plugin->version        = IB_VERSION;
    plugin->components     = instance->components;
    plugin->num_components = 1;
    plugin->fini           = plugin_fini;
    cm_init(instance);
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
    ib_instance_t *instance;

    if (!UCX_TABLE_HAS(args, reason_size)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if ((UCX_PLUGIN_ABI_MAJOR_OF(args->abi_min) > UCX_PLUGIN_ABI_MAJOR) ||
        (UCX_PLUGIN_ABI_MAJOR_OF(args->abi_max) < UCX_PLUGIN_ABI_MAJOR)) {
        return refuse(args, UCS_ERR_UNSUPPORTED,
                      "the core does not speak plugin ABI 1; install the ib "
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
