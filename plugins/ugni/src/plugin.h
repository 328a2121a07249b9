/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by all files of this plugin: the instance of a core, the memory domain
 * and its options. Functions that log have a local variable `host`.
 */
#ifndef UGNI_PLUGIN_H
#define UGNI_PLUGIN_H

#define UCX_LOG_HOST host

#include <ucx/instance.h>
#include <ucx/log.h>

#include <rdma/fabric.h>

#define UGNI_NAME "ugni"

/* Bytes: larger messages gain nothing, but each receive buffer has the size. */
enum { UGNI_MAX_SEG = 1 << 20 };

#define ugni_container_of(_ptr, _type, _member) \
    ((_type*)((char*)(_ptr) - offsetof(_type, _member)))

typedef struct ugni_instance {
    ucx_instance_t        super;
    ucx_component_t       component;
    const ucx_component_t *components[1];
} ugni_instance_t;

static inline const ucx_host_t *ugni_host(const ucx_component_t *component)
{
    return ugni_container_of(component, ugni_instance_t, component)->super.host;
}

typedef struct ugni_md_config {
    char *provider;
} ugni_md_config_t;

typedef struct ugni_md {
    uct_md_t         super;
    const ucx_host_t *host;
    char             *provider;  /* As the user named it; empty: see device.c */
} ugni_md_t;

typedef struct ugni_config {
    size_t   seg_size;
    unsigned tx_queue_len;
    unsigned rx_queue_len;
    double   timeout;
    double   linger;
} ugni_config_t;

static inline size_t ugni_min(size_t a, size_t b)
{
    return (a < b) ? a : b;
}

ucs_status_t ugni_md_resources(const ucx_component_t *component,
                               uct_md_resource_desc_t **mds_p,
                               unsigned *num_p);
ucs_status_t ugni_md_open(const ucx_component_t *component,
                          const ucx_md_open_args_t *args, uct_md_h *md_p);

ucs_status_t ugni_query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                unsigned *num_p);
/* Returns what libfabric says about the device `name`; fi_freeinfo() frees it.
 * NULL: there is no such device. */
struct fi_info *ugni_device_info(const ugni_md_t *md, const char *name);

extern const ucx_md_ops_t       ugni_md_ops;
extern const ucx_config_table_t ugni_md_config_table;
extern const ucx_config_table_t ugni_config_table;
extern const ucx_transport_t    ugni_smsg_transport;

#endif
