/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by all files of this plugin. No state of a core is in global
 * variables: a process may contain two cores, and each has its own instance.
 * Functions that log have a local variable `host`.
 */
#ifndef CUDA_PLUGIN_H
#define CUDA_PLUGIN_H

#define UCX_LOG_HOST host

#include <ucx/log.h>
#include <ucx/instance.h>

#ifndef CUDA_PLUGIN_VERSION
#  define CUDA_PLUGIN_VERSION "0.0.0"
#endif

#define CUDA_NAME          "cuda"
#define CUDA_COMPONENT     "cuda_cpy"
#define CUDA_IPC_COMPONENT "cuda_ipc"

#define cuda_container_of(_ptr, _type, _member) \
    ((_type *)((char *)(_ptr) - offsetof(_type, _member)))
#define cuda_unlikely(_x) __builtin_expect(!!(_x), 0)

enum { CUDA_NUM_COMPONENTS = 2 };

/* A component with the services of its core. */
typedef struct cuda_component {
    ucx_component_t  super;
    const ucx_host_t *host;
} cuda_component_t;

/* The instance of one core. */
typedef struct cuda_instance {
    ucx_instance_t        super;
    cuda_component_t      component[CUDA_NUM_COMPONENTS];
    const ucx_component_t *components[CUDA_NUM_COMPONENTS];
} cuda_instance_t;

static inline const ucx_host_t *cuda_host(const ucx_component_t *component)
{
    return cuda_container_of(component, cuda_component_t, super)->host;
}

extern const ucx_transport_t cuda_copy_transport;
extern const ucx_transport_t cuda_ipc_transport;

#endif
