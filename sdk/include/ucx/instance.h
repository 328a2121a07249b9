/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry point that most plugins need, as inline functions. Optional.
 *
 * A process may contain several copies of the core, and each passes its own
 * services (args->host). So the descriptor of a plugin is not constant data but
 * part of an instance per core, which begins with ucx_instance_t:
 *
 *   typedef struct {
 *       ucx_instance_t super;
 *       ucx_component_t component;
 *       ...
 *   } my_t;
 *   static ucx_instances_t instances = UCX_INSTANCES_INIT;
 *
 *   static void fini(void) { ucx_instances_close(&instances, NULL); }
 *   static ucs_status_t init(ucx_instance_t *instance) { ... }
 *
 *   ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
 *                                 const ucx_plugin_t **plugin_p)
 *   {
 *       return ucx_instances_open(&instances, args, sizeof(my_t), init,
 *                                 plugin_p);
 *   }
 */
#ifndef UCX_INSTANCE_H
#define UCX_INSTANCE_H

#include <ucx/plugin.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

UCX_BEGIN_DECLS

/** The head of an instance: the plugin's state for one core. */
typedef struct ucx_instance {
    ucx_plugin_t plugin;    /**< Descriptor for this core, written by init() */
    const ucx_host_t *host; /**< Services of this core */
    struct ucx_instance *next;
} ucx_instance_t;

/** All instances of a plugin in the process, one for each core that loaded
 *  it. */
typedef struct ucx_instances {
    pthread_mutex_t lock;
    ucx_instance_t *list;
    unsigned active; /**< Number of cores that have not called fini() yet */
} ucx_instances_t;

#define UCX_INSTANCES_INIT \
    { \
        PTHREAD_MUTEX_INITIALIZER, NULL, 0 \
    }

/** Rejects the load with a reason for the user, which says what is wrong and
 *  what to do. Returns `status`. */
static inline ucs_status_t ucx_plugin_reject(const ucx_plugin_args_t *args,
                                             ucs_status_t status,
                                             const char *reason)
{
    if ((args->reason != NULL) && (args->reason_size > 0)) {
        snprintf(args->reason, args->reason_size, "%s", reason);
    }
    return status;
}

/** Checks that the core supports this major version of the ABI and has all
 *  services of 1.0. A plugin that needs a newer service checks for it in
 *  init(). */
static inline ucs_status_t ucx_plugin_check_core(const ucx_plugin_args_t *args)
{
    if (!UCX_TABLE_HAS(args, reason_size)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if ((UCX_PLUGIN_ABI_MAJOR_OF(args->abi_min) > UCX_PLUGIN_ABI_MAJOR) ||
        (UCX_PLUGIN_ABI_MAJOR_OF(args->abi_max) < UCX_PLUGIN_ABI_MAJOR)) {
        return ucx_plugin_reject(args, UCS_ERR_UNSUPPORTED,
                                 "the core does not support plugin ABI 1; "
                                 "install the plugin of its version");
    }
    if (!UCX_TABLE_HAS(args->host, time)) {
        return ucx_plugin_reject(args, UCS_ERR_UNSUPPORTED,
                                 "the core lacks services of plugin ABI 1.0; "
                                 "install a newer core");
    }
    return UCS_OK;
}

/**
 * Implements ucx_plugin_entry(). May be called by any thread.
 *
 * Allocates `size` zeroed bytes, sets `host`, and calls init(), which writes
 * the descriptor and the components; plugin.size and plugin.abi are set
 * already. If init() fails it undoes its own work, and the load is rejected.
 */
static inline ucs_status_t
ucx_instances_open(ucx_instances_t *instances, const ucx_plugin_args_t *args,
                   size_t size, ucs_status_t (*init)(ucx_instance_t *instance),
                   const ucx_plugin_t **plugin_p)
{
    ucs_status_t status = ucx_plugin_check_core(args);
    ucx_instance_t *instance;

    if (status != UCS_OK) {
        return status;
    }
    instance = (ucx_instance_t *)calloc(1, size);
    if (instance == NULL) {
        return ucx_plugin_reject(args, UCS_ERR_NO_MEMORY, "out of memory");
    }

    instance->host        = args->host;
    instance->plugin.size = sizeof(instance->plugin);
    instance->plugin.abi  = UCX_PLUGIN_ABI_VERSION;
    status                = init(instance);
    if (status != UCS_OK) {
        free(instance);
        return ucx_plugin_reject(args, status,
                                 (status == UCS_ERR_NO_MEMORY) ?
                                     "out of memory" :
                                     "the plugin cannot start");
    }

    pthread_mutex_lock(&instances->lock);
    instance->next  = instances->list;
    instances->list = instance;
    ++instances->active;
    pthread_mutex_unlock(&instances->lock);

    *plugin_p = &instance->plugin;
    return UCS_OK;
}

/**
 * Implements fini(). It cannot determine which core calls it, so it frees all
 * instances when the last core calls it. cleanup() undoes init(); it may be
 * NULL.
 */
static inline void
ucx_instances_close(ucx_instances_t *instances,
                    void (*cleanup)(ucx_instance_t *instance))
{
    ucx_instance_t *instance;

    pthread_mutex_lock(&instances->lock);
    if (--instances->active == 0) {
        while ((instance = instances->list) != NULL) {
            instances->list = instance->next;
            if (cleanup != NULL) {
                cleanup(instance);
            }
            free(instance);
        }
    }
    pthread_mutex_unlock(&instances->lock);
}

UCX_END_DECLS

#endif
