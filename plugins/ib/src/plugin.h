/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by all files of this plugin: the plugin's state for one core, the
 * services of that core (ucx_host_t), and small helpers. The core is the UCX
 * library that loads the plugin.
 *
 * No state of a core is in global variables: a process may contain two copies
 * of the core, each with its own instance of the plugin. A function that uses
 * the log macros (ucx_error() etc.) needs a variable `host`, because the macros
 * log through UCX_LOG_HOST.
 */
#ifndef IB_PLUGIN_H
#define IB_PLUGIN_H

#define UCX_LOG_HOST host

#include <ucx/count.h>
#include <ucx/instance.h>
#include <ucx/log.h>

#ifndef IB_VERSION
#define IB_VERSION "0.0.0"
#endif

#define IB_NAME "ib"

#define ib_container_of(_ptr, _type, _member) \
    ((_type *)((char *)(_ptr)-offsetof(_type, _member)))
#define ib_likely(_x)   __builtin_expect(!!(_x), 1)
#define ib_unlikely(_x) __builtin_expect(!!(_x), 0)
/* For functions of the hot path with several callers, which the compiler might
 * otherwise not inline */
#define IB_INLINE inline __attribute__((always_inline))

/* State of the plugin for one core. */
typedef struct ib_instance {
    ucx_instance_t super;
    ucx_component_t component; /* The component ib: RDMA devices */
    /* The component rdmacm; used if the plugin is built with librdmacm */
    ucx_component_t cm;
    const ucx_component_t *components[2]; /* For ucx_plugin_t.components */
} ib_instance_t;

/* Returns the services of the core that loaded the component ib. */
static inline const ucx_host_t *ib_host(const ucx_component_t *component)
{
    return ib_container_of(component, ib_instance_t, component)->super.host;
}

/* Returns the services of the core that loaded the component rdmacm. */
static inline const ucx_host_t *ib_cm_host(const ucx_component_t *component)
{
    return ib_container_of(component, ib_instance_t, cm)->super.host;
}

static inline size_t ib_min(size_t a, size_t b)
{
    return (a < b) ? a : b;
}

extern const ucx_transport_t ib_rc_transport;
extern const ucx_transport_t ib_ud_transport;

#endif
