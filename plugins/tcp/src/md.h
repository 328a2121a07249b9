/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory domain: host memory that peers access by keys, and the data that
 * its interfaces share (devices, routes).
 */
#ifndef TCP_MD_H
#define TCP_MD_H

#include "device.h"
#include "keys.h"
#include "list.h"
#include "plugin.h"
#include "route.h"

typedef struct tcp_md {
    uct_md_t super;
    const ucx_host_t *host;
    uint64_t locality; /* Identifies the kernel and network
                        * namespace */
    tcp_af_prio_t af_prio;
    tcp_routes_t routes;
    tcp_keys_t keys;

    /* List of devices, valid until the host time devices_expire; protected by
     * devices_lock */
    pthread_mutex_t devices_lock;
    tcp_device_t *devices;
    unsigned num_devices;
    double devices_expire;

    /* Open interfaces of all workers, protected by ifaces_lock */
    pthread_mutex_t ifaces_lock;
    tcp_list_t ifaces;
} tcp_md_t;

/* An unpacked remote key, to which uct_rkey_t points. */
typedef struct tcp_rkey {
    uint64_t key;
} tcp_rkey_t;

extern const ucx_md_ops_t tcp_md_ops;

/* Returns a number that is equal for processes of one kernel and one network
 * namespace, which share local addresses. */
uint64_t tcp_md_locality(const ucx_host_t *host);

/* Finds a device by name, with its bandwidth and MTU. `fresh`: lists the
 * devices again instead of using the cached list. */
ucs_status_t tcp_md_find_device(tcp_md_t *md, const char *name, int fresh,
                                tcp_device_t *device);

ucs_status_t tcp_md_resources(const ucx_component_t *component,
                              uct_md_resource_desc_t **mds_p, unsigned *num_p);
ucs_status_t tcp_md_open(const ucx_component_t *component,
                         const ucx_md_open_args_t *args, uct_md_h *md_p);
ucs_status_t tcp_rkey_unpack(const ucx_component_t *component,
                             const void *buffer, size_t length,
                             ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                             void **handle_p);
ucs_status_t tcp_rkey_release(const ucx_component_t *component, uct_rkey_t rkey,
                              void *handle);
ucs_status_t tcp_md_query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                  unsigned *num_p);

#endif
