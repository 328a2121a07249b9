/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of this plugin: the host, and small helpers.
 *
 * The core is the library that loads the plugin. A process may contain two
 * copies of the core, each with its own instance of the plugin; therefore no
 * state of an instance is stored in a global variable. The host is the table of
 * functions by which a core serves the plugin; the log macros use it from a
 * local variable `host`.
 */
#ifndef SHM_PLUGIN_H
#define SHM_PLUGIN_H

#define UCX_LOG_HOST host

#include <ucx/count.h>
#include <ucx/instance.h>
#include <ucx/log.h>

#ifndef SHM_VERSION
#define SHM_VERSION "0.0.0"
#endif

#define shm_container_of(_ptr, _type, _member) \
    ((_type *)((char *)(_ptr)-offsetof(_type, _member)))
#define shm_likely(_x)   __builtin_expect(!!(_x), 1)
#define shm_unlikely(_x) __builtin_expect(!!(_x), 0)
#define SHM_INLINE       inline __attribute__((always_inline))
#define SHM_CACHE_LINE   64

enum { SHM_POSIX, SHM_SYSV, SHM_CMA, SHM_NUM_COMPONENTS };

/* A component and the plugin instance to which it belongs. */
typedef struct shm_component {
    ucx_component_t super;
    struct shm_instance *instance;
    struct shm_key_cache *keys; /* posix and sysv: see keys.h; cma: NULL */
} shm_component_t;

/* State of the plugin for one core. */
typedef struct shm_instance {
    ucx_instance_t super;
    shm_component_t component[SHM_NUM_COMPONENTS];
    const ucx_component_t *components[SHM_NUM_COMPONENTS];
} shm_instance_t;

static inline const ucx_host_t *shm_host(const ucx_component_t *component)
{
    return shm_container_of(component, shm_component_t, super)
        ->instance->super.host;
}

static inline size_t shm_min(size_t a, size_t b)
{
    return (a < b) ? a : b;
}

static inline size_t shm_align_up(size_t value, size_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

extern const ucx_transport_t shm_posix_transport;
extern const ucx_transport_t shm_sysv_transport;
extern const ucx_transport_t shm_cma_transport;

/* Set the name and functions of a component, and free what was allocated for
 * it: md.c, cma_md.c */
ucs_status_t shm_md_component_init(shm_component_t *component, int which);
void shm_md_component_cleanup(shm_component_t *component);
void shm_cma_component_init(ucx_component_t *component);

#endif
