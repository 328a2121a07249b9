/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all files of this plugin share: the host and small helpers.
 *
 * Nothing of a core is kept in globals: a process may hold two cores, and each
 * gets an instance of its own. Functions that log have `host` at hand.
 */
#ifndef IB_PLUGIN_H
#define IB_PLUGIN_H

#define UCX_LOG_HOST host

#include <ucx/plugin.h>
#include <ucx/log.h>

#ifndef IB_VERSION
#  define IB_VERSION "0.0.0"
#endif

#define IB_NAME "ib"

#define ib_container_of(_ptr, _type, _member) \
    ((_type*)((char*)(_ptr) - offsetof(_type, _member)))
#define ib_likely(_x)   __builtin_expect(!!(_x), 1)
#define ib_unlikely(_x) __builtin_expect(!!(_x), 0)

/* One core's view of this plugin. */
typedef struct ib_instance {
    ucx_plugin_t          plugin;
    ucx_component_t       component;
    ucx_component_t       cm;            /* Where librdmacm is there */
    const ucx_component_t *components[2];
    const ucx_host_t      *host;
    struct ib_instance    *next;
} ib_instance_t;

static inline const ucx_host_t *ib_host(const ucx_component_t *component)
{
    return ib_container_of(component, ib_instance_t, component)->host;
}

/* The same for the component rdmacm. */
static inline const ucx_host_t *ib_cm_host(const ucx_component_t *component)
{
    return ib_container_of(component, ib_instance_t, cm)->host;
}

/* A completion counts down and keeps the first error. */
static inline void ib_complete(uct_completion_t *comp, ucs_status_t status)
{
    if (comp == NULL) {
        return;
    }
    if ((status != UCS_OK) && (comp->status == UCS_OK)) {
        comp->status = status;
    }
    if (--comp->count == 0) {
        comp->func(comp);
    }
}

static inline size_t ib_min(size_t a, size_t b)
{
    return (a < b) ? a : b;
}

extern const ucx_transport_t ib_rc_transport;
extern const ucx_transport_t ib_ud_transport;

#endif
