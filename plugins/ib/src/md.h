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
    ucx_rcache_t *rcache; /* Cache of registrations; NULL: not used */
    int odp_access;       /* Access flag of all registrations of host memory:
                           * IBV_ACCESS_ON_DEMAND, or 0 */
    /* Additional access flags of the plugin's buffers: on iWARP, the right of
     * remote writes, which the destination of an RDMA read needs; else 0 */
    int sink_access;
    int has_dmabuf;    /* The device can register memory by a dmabuf */
    int is_limit_told; /* ib_reg_failed() has reported the limit of locked
                        * memory as an error; accessed atomically */
    /* List of ib_watch_t (watch.h): the interfaces that receive events of the
     * device. Protected by watches_lock */
    pthread_mutex_t watches_lock;
    ib_link_t watches;
} ib_md_t;

/* A registration. A memory handle (uct_mem_h) points to this structure. */
typedef struct ib_region {
    ucx_rcache_region_t super;
    struct ibv_mr *mr;
    int is_cached; /* ib_md_t.rcache owns the registration; otherwise the user
                    * of the memory handle does */
} ib_region_t;

static inline uint32_t ib_lkey(uct_mem_h memh)
{
    return ((const ib_region_t *)memh)->mr->lkey;
}

ucs_status_t ib_md_open(const ucx_component_t *component,
                        const ucx_md_open_args_t *args, uct_md_h *md_p);

/* Logs a failed registration and converts errno to the returned status. If the
 * limit of locked memory is the probable reason, the first failure of the
 * domain is logged as an error, with advice for the user, and later ones are
 * logged for debugging. Failures for other reasons are logged at `level`. Any
 * thread may call this function. */
ucs_status_t ib_reg_failed(ib_md_t *md, int level, const void *address,
                           size_t length);

/* Sets md->odp_access: decides whether memory is registered for on-demand
 * paging. Must be called after md->rcache is set, because the decision depends
 * on the cache. */
void ib_md_set_odp(ib_md_t *md);

/* Sets md->has_dmabuf. */
void ib_md_set_dmabuf(ib_md_t *md);

/* Returns the same as ib_md_query_devices(), but nothing for an iWARP device,
 * which supports no datagrams. */
ucs_status_t ib_md_query_ud_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                    unsigned *num_p);
/* Returns one UCT device, "DEVICE:PORT", for each port that ib_port_open() can
 * open. */
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
