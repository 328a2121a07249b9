/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry point: returns a description of the wrapped plugin's transport
 * under this plugin's name.
 */
#include "faults.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* The instances of all cores in this process. They are freed together, when
 * each core that has called the entry point has called fini(). `active`: number
 * of cores that have called the entry point, but not fini(). */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static faults_instance_t *instances;
static unsigned active;

static void fini(void)
{
    faults_instance_t *instance;

    pthread_mutex_lock(&lock);
    if (--active == 0) {
        while ((instance = instances) != NULL) {
            instances = instance->next;
            faults_unwrap(instance);
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

ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    const char *reason = "out of memory";
    faults_instance_t *instance;
    ucs_status_t status;

    if ((UCX_PLUGIN_ABI_MAJOR_OF(args->abi_min) > UCX_PLUGIN_ABI_MAJOR) ||
        (UCX_PLUGIN_ABI_MAJOR_OF(args->abi_max) < UCX_PLUGIN_ABI_MAJOR) ||
        !UCX_TABLE_HAS(args->host, time)) {
        return refuse(args, UCS_ERR_UNSUPPORTED,
                      "this plugin speaks plugin ABI 1.0; build it with the "
                      "core that loads it");
    }

    instance = calloc(1, sizeof(*instance));
    status   = (instance == NULL) ? UCS_ERR_NO_MEMORY :
                                    faults_wrap(instance, args, &reason);
    if (status != UCS_OK) {
        free(instance);
        return refuse(args, status, reason);
    }

    instance->components[0] = &instance->component.super;
    instance->plugin        = (ucx_plugin_t){
               .size           = sizeof(instance->plugin),
               .abi            = UCX_PLUGIN_ABI_VERSION,
               .name           = FAULTS_NAME,
               .version        = FAULTS_VERSION,
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
