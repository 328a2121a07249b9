/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all files of this plugin share. Nothing of a core is kept in globals: a
 * process may hold two cores, and each gets an instance of its own. Functions that
 * log have `host` at hand.
 */
#ifndef CUDA_PLUGIN_H
#define CUDA_PLUGIN_H

#define UCX_LOG_HOST host

#include <ucx/log.h>
#include <ucx/plugin.h>

#ifndef CUDA_PLUGIN_VERSION
#  define CUDA_PLUGIN_VERSION "0.0.0"
#endif

#define CUDA_NAME      "cuda"
#define CUDA_COMPONENT "cuda_cpy"

#define cuda_container_of(_ptr, _type, _member) \
    ((_type *)((char *)(_ptr) - offsetof(_type, _member)))
#define cuda_unlikely(_x) __builtin_expect(!!(_x), 0)

/* One core's view of this plugin. */
typedef struct cuda_instance {
    ucx_plugin_t          plugin;
    ucx_component_t       component;
    const ucx_component_t *components[1];
    const ucx_host_t      *host;
    struct cuda_instance  *next;
} cuda_instance_t;

static inline const ucx_host_t *cuda_host(const ucx_component_t *component)
{
    return cuda_container_of(component, cuda_instance_t, component)->host;
}

extern const ucx_transport_t cuda_copy_transport;

#endif
