/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of the memory domain, remote keys, and the list of devices. */
#include "md.h"
#include "config.h"
#include "sock.h"
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Seconds for which a list of devices is valid. */
#define MD_DEVICES_LIFETIME 1.0

ucs_status_t tcp_md_resources(const ucx_component_t *component,
                              uct_md_resource_desc_t **mds_p, unsigned *num_p)
{
    uct_md_resource_desc_t *md = calloc(1, sizeof(*md));

    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    strcpy(md->md_name, TCP_NAME);
    *mds_p = md;
    *num_p = 1;
    return UCS_OK;
}

/* Returns a hash of kernel and network namespace. Without /proc, all namespaces
 * of the kernel have the same value. */
uint64_t tcp_md_locality(const ucx_host_t *host)
{
    uint64_t id = host->machine_guid();
    struct stat st;

    if (stat("/proc/self/ns/net", &st) == 0) {
        id ^= ((uint64_t)st.st_ino * 0x9e3779b97f4a7c15ull) ^
              ((uint64_t)st.st_dev << 40);
    }
    return id;
}

static ucs_status_t md_af_prio(const tcp_md_config_t *config,
                               tcp_af_prio_t *prio)
{
    unsigned count = 0;

    memset(prio, 0, sizeof(*prio));
    for (unsigned i = 0; (i < config->af_prio.count) && (count < 2); ++i) {
        const char *name = config->af_prio.names[i];

        if (strcmp(name, "inet") == 0) {
            prio->family[count++] = AF_INET;
        } else if (strcmp(name, "inet6") == 0) {
            prio->family[count++] = AF_INET6;
        } else {
            return UCS_ERR_INVALID_PARAM;
        }
    }
    prio->family[count] = AF_UNSPEC;
    return (count == 0) ? UCS_ERR_INVALID_PARAM : UCS_OK;
}

ucs_status_t tcp_md_open(const ucx_component_t *component,
                         const ucx_md_open_args_t *args, uct_md_h *md_p)
{
    const ucx_host_t *host = tcp_host(component);
    ucs_status_t status;
    tcp_md_t *md;

    if (args->config == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    md = calloc(1, sizeof(*md));
    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    ucx_md_init(&md->super, args);
    md->host     = host;
    md->locality = tcp_md_locality(host);
    status       = md_af_prio(args->config, &md->af_prio);
    if (status != UCS_OK) {
        ucx_error("UCX_TCP_AF_PRIO accepts inet and inet6 only; set it to one "
                  "of them, or to both in the order of preference");
        goto err;
    }

    status = tcp_keys_init(&md->keys);
    if (status != UCS_OK) {
        goto err;
    }
    tcp_routes_init(&md->routes, host);
    pthread_mutex_init(&md->devices_lock, NULL);
    pthread_mutex_init(&md->ifaces_lock, NULL);
    tcp_list_init(&md->ifaces);
    *md_p = &md->super;
    return UCS_OK;

err:
    free(md);
    return status;
}

static void tcp_md_close(uct_md_h uct_md)
{
    tcp_md_t *md = (tcp_md_t *)uct_md;

    pthread_mutex_destroy(&md->ifaces_lock);
    pthread_mutex_destroy(&md->devices_lock);
    free(md->devices);
    tcp_routes_cleanup(&md->routes);
    tcp_keys_cleanup(&md->keys);
    free(md);
}

static ucs_status_t tcp_md_query(uct_md_h md, ucx_md_attr_t *attr)
{
    const uint64_t host_memory = UCS_BIT(UCS_MEMORY_TYPE_HOST);

    attr->flags = UCT_MD_FLAG_REG | UCT_MD_FLAG_NEED_RKEY |
                  UCT_MD_FLAG_SOCKADDR | UCT_MD_FLAG_INVALIDATE;
    attr->max_reg                = SIZE_MAX;
    attr->reg_mem_types          = host_memory;
    attr->reg_nonblock_mem_types = host_memory;
    attr->access_mem_types       = host_memory;
    attr->reg_cost               = ucs_linear_func_make(1e-7, 0);
    attr->rkey_packed_size       = sizeof(tcp_wire_rkey_t);
    attr->reg_alignment          = 1;
    return UCS_OK;
}

static ucs_status_t tcp_md_mem_reg(uct_md_h uct_md, void *address,
                                   size_t length,
                                   const ucx_mem_reg_params_t *params,
                                   uct_mem_h *memh_p)
{
    tcp_md_t *md = (tcp_md_t *)uct_md;
    ucs_status_t status;
    tcp_key_t *key;

    if ((uintptr_t)address > UINTPTR_MAX - length) {
        return UCS_ERR_INVALID_ADDR;
    }
    if (UCX_TABLE_HAS(params, dmabuf_fd) && (params->dmabuf_fd != -1)) {
        return UCS_ERR_UNSUPPORTED;
    }

    status = tcp_keys_add(&md->keys, address, length, params->flags,
                          UCX_TABLE_HAS(params, secret) ? params->secret : 0,
                          &key);
    if (status == UCS_OK) {
        *memh_p = key;
    }
    return status;
}

/* tcp_keys_remove() waits for all accesses to the memory. Therefore an
 * invalidation is complete after it, and its completion is called at once. */
static ucs_status_t tcp_md_mem_dereg(uct_md_h uct_md, uct_mem_h memh,
                                     const ucx_mem_dereg_params_t *params)
{
    tcp_md_t *md = (tcp_md_t *)uct_md;

    tcp_keys_remove(&md->keys, memh);
    if ((params != NULL) && (params->flags & UCX_MEM_DEREG_INVALIDATE)) {
        ucx_complete(params->comp, UCS_OK);
    }
    return UCS_OK;
}

static ucs_status_t tcp_md_mkey_pack(uct_md_h md, uct_mem_h memh, void *address,
                                     size_t length, unsigned flags,
                                     void *buffer)
{
    const tcp_key_t *key = memh;
    tcp_wire_rkey_t packed;

    if (flags & UCX_MKEY_PACK_EXPORT) {
        return UCS_ERR_UNSUPPORTED;
    }

    packed.key = htole64(atomic_load_explicit(&key->key, memory_order_relaxed));
    memcpy(buffer, &packed, sizeof(packed));
    return UCS_OK;
}

ucs_status_t tcp_rkey_unpack(const ucx_component_t *component,
                             const void *buffer, size_t length,
                             ucs_sys_device_t sys_dev, uct_rkey_t *rkey_p,
                             void **handle_p)
{
    tcp_wire_rkey_t packed;
    tcp_rkey_t *rkey;

    if (length < sizeof(packed)) {
        return UCS_ERR_INVALID_PARAM;
    }
    memcpy(&packed, buffer, sizeof(packed));
    if (packed.key == 0) {
        return UCS_ERR_INVALID_PARAM;
    }

    rkey = malloc(sizeof(*rkey));
    if (rkey == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    rkey->key = le64toh(packed.key);
    *rkey_p   = (uct_rkey_t)rkey;
    *handle_p = NULL;
    return UCS_OK;
}

ucs_status_t tcp_rkey_release(const ucx_component_t *component, uct_rkey_t rkey,
                              void *handle)
{
    free((void *)rkey);
    return UCS_OK;
}

static int tcp_md_is_sockaddr_accessible(uct_md_h uct_md,
                                         const ucs_sock_addr_t *sockaddr,
                                         uct_sockaddr_accessibility_t mode)
{
    tcp_md_t *md = (tcp_md_t *)uct_md;
    tcp_sockaddr_t addr;
    tcp_route_t route;

    if (tcp_sock_addr_copy(&addr, sockaddr->addr, sockaddr->addrlen, 1) !=
        UCS_OK) {
        return 0;
    }
    if ((mode == UCT_SOCKADDR_ACC_LOCAL) && tcp_sock_addr_is_any(&addr)) {
        return 1;
    }
    if (tcp_route_find(&md->routes, &addr, NULL, &route) != UCS_OK) {
        return 0;
    }
    return (route.kind == TCP_ROUTE_LOCAL) ||
           ((mode == UCT_SOCKADDR_ACC_REMOTE) &&
            (route.kind == TCP_ROUTE_DEVICE));
}

/* --- Devices ------------------------------------------------------------- */

/* Refreshes the list of devices if it has expired or if `fresh`. Called with
 * devices_lock held. */
static ucs_status_t md_look_at_devices(tcp_md_t *md, int fresh)
{
    const ucx_host_t *host = md->host;
    tcp_device_t *list;
    ucs_status_t status;
    char path[64];
    unsigned num;

    if (!fresh && (host->time() < md->devices_expire)) {
        return UCS_OK;
    }
    status = tcp_device_list(&md->af_prio, &list, &num);
    if (status != UCS_OK) {
        return status;
    }

    for (unsigned i = 0; i < num; ++i) {
        list[i].sys_dev = UCS_SYS_DEVICE_ID_UNKNOWN;
        snprintf(path, sizeof(path), "/sys/class/net/%s/device", list[i].name);
        if (!list[i].is_loopback) {
            (void)host->sys_device_by_sysfs(path, &list[i].sys_dev);
        }
    }
    free(md->devices);
    md->devices        = list;
    md->num_devices    = num;
    md->devices_expire = host->time() + MD_DEVICES_LIFETIME;
    return UCS_OK;
}

ucs_status_t tcp_md_find_device(tcp_md_t *md, const char *name, int fresh,
                                tcp_device_t *device)
{
    ucs_status_t status;

    pthread_mutex_lock(&md->devices_lock);
    status = md_look_at_devices(md, fresh);
    if (status == UCS_OK) {
        status = UCS_ERR_NO_DEVICE;
        for (unsigned i = 0; i < md->num_devices; ++i) {
            if (strcmp(md->devices[i].name, name) == 0) {
                if (md->devices[i].mtu == 0) {
                    tcp_device_ask_speed(&md->devices[i]);
                }
                *device = md->devices[i];
                status  = UCS_OK;
                break;
            }
        }
    }
    pthread_mutex_unlock(&md->devices_lock);
    return status;
}

ucs_status_t tcp_md_query_devices(uct_md_h uct_md,
                                  ucx_device_desc_t **devices_p,
                                  unsigned *num_p)
{
    tcp_md_t *md = (tcp_md_t *)uct_md;
    ucx_device_desc_t *devices;
    ucs_status_t status;

    pthread_mutex_lock(&md->devices_lock);
    status = md_look_at_devices(md, 0);
    if (status != UCS_OK) {
        goto out;
    }

    devices = calloc(md->num_devices + 1, sizeof(*devices));
    if (devices == NULL) {
        status = UCS_ERR_NO_MEMORY;
        goto out;
    }
    for (unsigned i = 0; i < md->num_devices; ++i) {
        strcpy(devices[i].name, md->devices[i].name);
        devices[i].type    = UCT_DEVICE_TYPE_NET;
        devices[i].sys_dev = md->devices[i].sys_dev;
    }
    *devices_p = devices;
    *num_p     = md->num_devices;

out:
    pthread_mutex_unlock(&md->devices_lock);
    return status;
}

const ucx_md_ops_t tcp_md_ops = {
    .size                   = sizeof(tcp_md_ops),
    .close                  = tcp_md_close,
    .query                  = tcp_md_query,
    .mem_reg                = tcp_md_mem_reg,
    .mem_dereg              = tcp_md_mem_dereg,
    .mkey_pack              = tcp_md_mkey_pack,
    .is_sockaddr_accessible = tcp_md_is_sockaddr_accessible,
};
