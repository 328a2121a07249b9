/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory domain: an opened device, its protection domain, registrations. */
#ifndef IB_MD_H
#define IB_MD_H

#include "config.h"
#include "list.h"

#include <infiniband/verbs.h>
#include <pthread.h>

typedef struct ib_md {
    uct_md_t super;
    const ucx_host_t *host;
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_device_attr attr;
    ib_md_config_t config;
    ucs_sys_device_t sys_dev;
    ucx_rcache_t *rcache; /* NULL: no cache */
    int odp_access;       /* IBV_ACCESS_ON_DEMAND, or 0 */
    /* Access rights of buffers that receive the data of reads */
    int sink_access;
    int has_dmabuf;    /* The device registers memory by a dmabuf */
    int is_limit_told; /* Accessed atomically: see ib_reg_failed() */
    /* Interfaces that receive events of the device: watch.h */
    pthread_mutex_t watches_lock;
    ib_link_t watches;
} ib_md_t;

/* A memory handle points to this structure: a registration in the cache, or a
 * separate one. */
typedef struct ib_region {
    ucx_rcache_region_t super;
    struct ibv_mr *mr;
    int is_cached;
} ib_region_t;

static inline uint32_t ib_lkey(uct_mem_h memh)
{
    return ((const ib_region_t *)memh)->mr->lkey;
}

ucs_status_t ib_md_open(const ucx_component_t *component,
                        const ucx_md_open_args_t *args, uct_md_h *md_p);

/* Logs the failed registration, whose reason is errno, and returns its status.
 * If the reason is the limit of locked memory, it is reported once as an error
 * that says what the user can do; other reasons are reported at `level`. Any
 * thread may call this function. */
ucs_status_t ib_reg_failed(ib_md_t *md, int level, const void *address,
                           size_t length);

/* Decides whether memory is registered for on-demand paging. Called after the
 * attempt to create the cache. */
void ib_md_set_odp(ib_md_t *md);

/* Determines whether the device registers memory by a dmabuf. */
void ib_md_set_dmabuf(ib_md_t *md);

/* Returns the devices of ib_md_query_devices() except iWARP devices, which have
 * no datagrams. */
ucs_status_t ib_md_query_ud_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                    unsigned *num_p);
/* Returns one device for each active port. */
ucs_status_t ib_md_query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                 unsigned *num_p);

ucs_status_t ib_rkey_unpack(const ucx_component_t *component,
                            const void *buffer, size_t length,
                            ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                            void **handle_p);
ucs_status_t ib_rkey_release(const ucx_component_t *component, uct_rkey_t rkey,
                             void *handle);
ucs_status_t ib_rkey_compare(const ucx_component_t *component, uct_rkey_t a,
                             uct_rkey_t b, int *result);

extern const ucx_md_ops_t ib_md_ops;

#endif
