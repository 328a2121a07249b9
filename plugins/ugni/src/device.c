/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices of the memory domain: the domains of libfabric that the provider
 * has. */
#include "plugin.h"
#include "mem.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <stdio.h>
#include <string.h>

/* Providers that are tried in this order if the user names none: those of
 * Cray's networks. */
static const char *const default_providers[] = {"cxi", "gni"};

/* Sets of required capabilities, the most useful first. The first one that the
 * provider has is used. */
static const uint64_t wanted_caps[] = {
    FI_MSG | FI_RMA | FI_ATOMIC,
    FI_MSG | FI_RMA,
    FI_MSG,
};

enum { NUM_CAPS = sizeof(wanted_caps) / sizeof(wanted_caps[0]) };

/* FI_MR_* modes of registration that this plugin supports. */
#define MR_MODES \
    (FI_MR_LOCAL | FI_MR_ENDPOINT | FI_MR_RAW | FI_MR_VIRT_ADDR | \
     FI_MR_ALLOCATED | FI_MR_PROV_KEY)

/* Returns the domains of the provider that have these capabilities and work
 * with these modes of registration, or NULL. */
static struct fi_info *get_info(const char *provider, uint64_t caps,
                                int mr_mode)
{
    struct fi_info *hints = fi_allocinfo(), *info = NULL;

    if (hints == NULL) {
        return NULL;
    }
    hints->caps                       = caps;
    hints->mode                       = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type              = FI_EP_RDM;
    /* Workers of several threads may use one domain. */
    hints->domain_attr->threading     = FI_THREAD_SAFE;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->mr_mode       = mr_mode;
    hints->fabric_attr->prov_name     = strdup(provider);
    if (fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info) != 0) {
        info = NULL;
    }
    fi_freeinfo(hints);
    return info;
}

/* Returns whether registered memory has a different key for each endpoint of
 * libfabric. With FI_MR_ENDPOINT, memory is registered with each endpoint. The
 * keys are then equal only if this plugin chooses them. */
static int has_many_keys(const struct fi_info *info)
{
    const int mode = info->domain_attr->mr_mode;

    return (mode & FI_MR_ENDPOINT) && (mode & (FI_MR_PROV_KEY | FI_MR_RAW));
}

/* Returns whether the provider's access to remote memory can be used. ofi_rxd
 * (libfabric 1.17) crashes when two processes read each other's memory at the
 * same time. */
static int has_safe_rma(const char *provider)
{
    return strstr(provider, "ofi_rxd") == NULL;
}

/* Adds the optional capability `cap` to *caps and *info, if the provider has it
 * in addition to *caps. */
static void add_cap(struct fi_info **info, const char *provider, uint64_t *caps,
                    uint64_t cap, int mr_mode)
{
    struct fi_info *other = get_info(provider, *caps | cap, mr_mode);

    if (other != NULL) {
        fi_freeinfo(*info);
        *info = other;
        *caps |= cap;
    }
}

/* Returns whether the plugin uses an optional capability. `ternary` is the
 * user's setting. If the setting is neither y nor n, only cxi uses the
 * capability: its hardware receives many messages into a buffer, matches tags,
 * and accesses memory of accelerators. */
static int is_wanted(int ternary, const char *provider)
{
    return (ternary == UCS_YES) ||
           ((ternary != UCS_NO) && (strcmp(provider, "cxi") == 0));
}

/* Returns whether the provider can match tags and search unexpected messages.
 * In libfabric 1.17 shm has no search. With ofi_rxd the receive of a message
 * that was found and claimed ends with a truncation error. The provider sockets
 * receives in its own thread, and loses a message if its receive is posted
 * while the message arrives. */
static int can_match(const char *provider)
{
    return (strcmp(provider, "shm") != 0) &&
           (strcmp(provider, "sockets") != 0) &&
           (strstr(provider, "ofi_rxd") == NULL);
}

/* Adds the optional capabilities for which is_wanted() is true and which the
 * provider has, and stores them in md->caps. `caps` and `mr_mode` are the
 * arguments of get_info() that have returned `info`. Returns the result of
 * get_info() with all capabilities; frees `info` if that is another one. */
static struct fi_info *add_caps(ugni_md_t *md, struct fi_info *info,
                                const char *provider, uint64_t caps,
                                int mr_mode)
{
    const ucx_host_t *host = md->host;

    if (is_wanted(md->wants_multi_recv, provider)) {
        if (strcmp(provider, "shm") != 0) { /* shm loses messages with
                                             * FI_MULTI_RECV */
            add_cap(&info, provider, &caps, FI_MULTI_RECV, mr_mode);
        }
        if (!(caps & FI_MULTI_RECV) && (md->wants_multi_recv == UCS_YES)) {
            ucx_warn("UCX_UGNI_MULTI_RECV=y, but FI_MULTI_RECV of the provider "
                     "%s cannot be used: each message gets a buffer",
                     provider);
        }
    }
    if (is_wanted(md->wants_tags, provider)) {
        if (can_match(provider)) {
            add_cap(&info, provider, &caps, FI_TAGGED, mr_mode);
        }
        if (!(caps & FI_TAGGED) && (md->wants_tags == UCS_YES)) {
            ucx_warn("UCX_UGNI_TM_ENABLE=y, but the provider %s cannot match "
                     "tags and search unexpected messages: no tag matching",
                     provider);
        }
    }
    if ((caps & FI_RMA) && is_wanted(md->wants_hmem, provider)) {
        add_cap(&info, provider, &caps, FI_HMEM, mr_mode | FI_MR_HMEM);
        if (!(caps & FI_HMEM)) { /* shm has FI_HMEM only without atomics */
            caps &= ~(uint64_t)FI_ATOMIC;
            add_cap(&info, provider, &caps, FI_HMEM, mr_mode | FI_MR_HMEM);
        }
    }
    md->caps = caps & (FI_MULTI_RECV | FI_HMEM | FI_TAGGED);
    return info;
}

static struct fi_info *provider_info(ugni_md_t *md, const char *provider)
{
    const ucx_host_t *host = md->host;
    struct fi_info *info   = NULL, *other;
    int mr_mode            = MR_MODES;
    uint64_t caps          = 0;

    for (unsigned i = 0; (i < NUM_CAPS) && (info == NULL); ++i) {
        if ((wanted_caps[i] & FI_RMA) && !has_safe_rma(provider)) {
            continue;
        }
        caps = wanted_caps[i];
        info = get_info(provider, caps, mr_mode);
        if ((info == NULL) || !(caps & FI_RMA) || !has_many_keys(info)) {
            continue;
        }
        /* cxi lets the plugin choose the keys if these modes are excluded. Then
         * memory has one key, and no target (target.c) is needed. */
        other = get_info(provider, caps,
                         mr_mode & ~(FI_MR_PROV_KEY | FI_MR_RAW));
        if (other != NULL) {
            fi_freeinfo(info);
            info = other;
            mr_mode &= ~(FI_MR_PROV_KEY | FI_MR_RAW);
        }
    }
    if (info == NULL) {
        ucx_debug("ugni: libfabric has no usable provider '%s'", provider);
        return NULL;
    }
    return add_caps(md, info, provider, caps, mr_mode);
}

static struct fi_info *find_info(ugni_md_t *md)
{
    const ucx_host_t *host = md->host;
    struct fi_info *info   = NULL;

    if (md->provider[0] == '\0') {
        for (size_t i = 0;
             (info == NULL) &&
             (i < sizeof(default_providers) / sizeof(default_providers[0]));
             ++i) {
            info = provider_info(md, default_providers[i]);
        }
        if (info == NULL) {
            ucx_diag("ugni: libfabric has neither cxi nor gni here; set "
                     "UCX_UGNI_PROVIDER to another provider of fi_info");
        }
        return info;
    }
    info = provider_info(md, md->provider);
    if (info == NULL) {
        ucx_warn("UCX_UGNI_PROVIDER=%s: libfabric has no such provider with "
                 "reliable datagrams; fi_info -t FI_EP_RDM lists them",
                 md->provider);
    }
    return info;
}

/* Returns the device whose domain of libfabric has this name, or NULL.
 * libfabric may list a domain several times, for example once for each address
 * family. Only the first entry becomes a device, because libfabric lists the
 * best one first. */
static ugni_device_t *find_device(ugni_md_t *md, const char *name)
{
    for (unsigned i = 0; i < md->num_devices; ++i) {
        if (strcmp(md->devices[i].info->domain_attr->name, name) == 0) {
            return &md->devices[i];
        }
    }
    return NULL;
}

void ugni_devices_list(ugni_md_t *md)
{
    struct fi_info *list, *info;
    const char *name;

    if (md->is_listed) {
        return;
    }
    md->is_listed = 1; /* Set even if there is no provider, so that find_info()
                        * logs this only once */
    list          = find_info(md);
    for (info = list; info != NULL; info = info->next) {
        name = info->domain_attr->name;
        if ((find_device(md, name) == NULL) &&
            (strlen(name) < UCT_DEVICE_NAME_MAX) &&
            (md->num_devices < UGNI_MAX_DEVICES)) {
            md->devices[md->num_devices].info = fi_dupinfo(info);
            if (md->devices[md->num_devices].info == NULL) {
                break;
            }
            ++md->num_devices;
        }
    }
    if (md->num_devices > 0) {
        info            = md->devices[0].info;
        md->mr_mode     = (uint64_t)info->domain_attr->mr_mode;
        md->raw_key     = (md->mr_mode & FI_MR_RAW) ?
                              info->domain_attr->mr_key_size :
                              0;
        md->has_targets = (info->caps & FI_RMA) && has_many_keys(info);
        if (md->caps & FI_HMEM) {
            ugni_hmem_probe(md);
        }
        if (info->caps & FI_RMA) {
            ugni_cache_create(md);
        }
    }
    if (list != NULL) { /* fi_freeinfo() does not accept NULL */
        fi_freeinfo(list);
    }
}

static ucs_status_t query(ugni_md_t *md, uint64_t caps,
                          ucx_device_desc_t **devices_p, unsigned *num_p)
{
    ucx_device_desc_t *devices = calloc(UGNI_MAX_DEVICES, sizeof(*devices));
    unsigned num               = 0;
    struct fi_info *info;

    if (devices == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    pthread_mutex_lock(&md->lock);
    ugni_devices_list(md);
    for (unsigned i = 0; i < md->num_devices; ++i) {
        info = md->devices[i].info;
        if ((info->caps & caps) == caps) {
            strcpy(devices[num].name, info->domain_attr->name);
            devices[num].type    = UCT_DEVICE_TYPE_NET;
            devices[num].sys_dev = UCS_SYS_DEVICE_ID_UNKNOWN;
            ++num;
        }
    }
    pthread_mutex_unlock(&md->lock);
    *devices_p = devices;
    *num_p     = num;
    return UCS_OK;
}

ucs_status_t ugni_query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                unsigned *num_p)
{
    return query((ugni_md_t *)md, FI_MSG, devices_p, num_p);
}

ucs_status_t ugni_query_rdma_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                     unsigned *num_p)
{
    return query((ugni_md_t *)md, FI_RMA, devices_p, num_p);
}

ucs_status_t ugni_device_open(ugni_md_t *md, ugni_device_t *device)
{
    const ucx_host_t *host = md->host;
    struct fi_info *info   = device->info;
    int rc                 = 0;

    if (device->domain != NULL) {
        return UCS_OK;
    }
    if (device->fabric == NULL) {
        rc = fi_fabric(info->fabric_attr, &device->fabric, NULL);
    }
    if (rc == 0) {
        rc = fi_domain(device->fabric, info, &device->domain, NULL);
    }
    if ((rc == 0) && md->has_targets) {
        rc = ugni_target_open(device);
        if (rc != 0) {
            fi_close(&device->domain->fid);
        }
    }
    if (rc == 0) {
        return UCS_OK;
    }
    ucx_error("ugni: cannot open the domain %s (provider %s): %s",
              info->domain_attr->name, info->fabric_attr->prov_name,
              fi_strerror(-rc));
    device->domain = NULL;
    return (rc == -FI_ENOMEM) ? UCS_ERR_NO_MEMORY : UCS_ERR_IO_ERROR;
}

ucs_status_t ugni_device_get(ugni_md_t *md, const char *name,
                             ugni_device_t **device_p)
{
    ucs_status_t status = UCS_ERR_NO_DEVICE;

    pthread_mutex_lock(&md->lock);
    ugni_devices_list(md);
    *device_p = find_device(md, name);
    if (*device_p != NULL) {
        status = ugni_device_open(md, *device_p);
    }
    pthread_mutex_unlock(&md->lock);
    return status;
}

void ugni_devices_close(ugni_md_t *md)
{
    ugni_mappings_drop(md);
    for (unsigned i = 0; i < md->num_devices; ++i) {
        ugni_target_close(&md->devices[i]);
        if (md->devices[i].domain != NULL) {
            fi_close(&md->devices[i].domain->fid);
        }
        if (md->devices[i].fabric != NULL) {
            fi_close(&md->devices[i].fabric->fid);
        }
        fi_freeinfo(md->devices[i].info);
    }
}
