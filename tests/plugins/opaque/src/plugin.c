/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry point: describes the plugin.
 */
#include "opaque.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct instance {
    ucx_component_t       component;
    ucx_plugin_t          plugin;
    const ucx_component_t *components[1];
    struct instance       *next;
} instance_t;

static const ucx_transport_t *const transports[] = {&opaque_transport};

/* Descriptors are valid until the last core has called fini(). */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static instance_t *instances;
static unsigned active;

static void fini(void)
{
    instance_t *instance;

    pthread_mutex_lock(&lock);
    if (--active == 0) {
        while ((instance = instances) != NULL) {
            instances = instance->next;
            free(instance);
        }
    }
    pthread_mutex_unlock(&lock);
}

static void describe(instance_t *instance)
{
    instance->component = (ucx_component_t){
        .size               = sizeof(instance->component),
        .name               = OPAQUE_NAME,
        .query_md_resources = opaque_query_mds,
        .md_open            = opaque_md_open,
        .md_ops             = &opaque_md_ops,
        .transports         = transports,
        .num_transports     = 1
    };
    instance->components[0] = &instance->component;
    instance->plugin        = (ucx_plugin_t){
        .size           = sizeof(instance->plugin),
        .abi            = UCX_PLUGIN_ABI_VERSION,
        .name           = OPAQUE_NAME,
        .version        = OPAQUE_VERSION,
        .components     = instance->components,
        .num_components = 1,
        .fini           = fini
    };
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
    instance_t *instance;

    if ((UCX_PLUGIN_ABI_MAJOR_OF(args->abi_min) > UCX_PLUGIN_ABI_MAJOR) ||
        (UCX_PLUGIN_ABI_MAJOR_OF(args->abi_max) < UCX_PLUGIN_ABI_MAJOR)) {
        return refuse(args, UCS_ERR_UNSUPPORTED,
                      "this plugin speaks plugin ABI 1 only");
    }

    instance = calloc(1, sizeof(*instance));
    if (instance == NULL) {
        return refuse(args, UCS_ERR_NO_MEMORY, "out of memory");
    }
    describe(instance);

    pthread_mutex_lock(&lock);
    instance->next = instances;
    instances      = instance;
    ++active;
    pthread_mutex_unlock(&lock);
    *plugin_p = &instance->plugin;
    return UCS_OK;
}
