/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices: the domains that the provider has for messages. */
#include "plugin.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <stdio.h>
#include <string.h>

/* Providers for a user who names none: those of Cray's networks. */
static const char *const default_providers[] = {"cxi", "gni"};

static struct fi_info *get_info(const ucx_host_t *host, const char *provider)
{
    struct fi_info *hints = fi_allocinfo(), *info = NULL;
    int rc;

    if (hints == NULL) {
        return NULL;
    }
    hints->caps                   = FI_MSG;
    hints->mode                   = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type          = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    /* Without FI_MR_LOCAL: send and receive buffers are not registered */
    hints->domain_attr->mr_mode   = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
                                    FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    hints->fabric_attr->prov_name = strdup(provider);
    rc = fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info);
    fi_freeinfo(hints);
    if (rc != 0) {
        ucx_debug("libfabric has no usable provider '%s': %s", provider,
                  fi_strerror(-rc));
        return NULL;
    }
    return info;
}

static struct fi_info *provider_info(const ugni_md_t *md)
{
    const ucx_host_t *host = md->host;
    struct fi_info *info   = NULL;

    if (md->provider[0] == '\0') {
        for (size_t i = 0; (info == NULL) &&
             (i < sizeof(default_providers) / sizeof(default_providers[0]));
             ++i) {
            info = get_info(host, default_providers[i]);
        }
        if (info == NULL) {
            ucx_diag("ugni: libfabric has neither cxi nor gni here; set "
                     "UCX_UGNI_PROVIDER to another provider of fi_info");
        }
        return info;
    }
    info = get_info(host, md->provider);
    if (info == NULL) {
        ucx_warn("UCX_UGNI_PROVIDER=%s: libfabric has no such provider with "
                 "reliable datagrams; fi_info -t FI_EP_RDM lists "
                 "them", md->provider);
    }
    return info;
}

static void free_list(struct fi_info *list)
{
    if (list != NULL) { /* fi_freeinfo() does not accept NULL */
        fi_freeinfo(list);
    }
}

/* A domain may appear several times, once for each address family for example:
 * the first entry is the best one. */
static int is_repeated(const struct fi_info *list, const struct fi_info *info)
{
    for (; list != info; list = list->next) {
        if (strcmp(list->domain_attr->name, info->domain_attr->name) == 0) {
            return 1;
        }
    }
    return 0;
}

ucs_status_t ugni_query_devices(uct_md_h uct_md, ucx_device_desc_t **devices_p,
                                unsigned *num_p)
{
    struct fi_info *list = provider_info((ugni_md_t*)uct_md), *info;
    ucx_device_desc_t *devices;
    unsigned num = 0;

    for (info = list; info != NULL; info = info->next) {
        ++num;
    }
    devices = calloc(num + 1, sizeof(*devices));
    if (devices == NULL) {
        free_list(list);
        return UCS_ERR_NO_MEMORY;
    }
    num = 0;
    for (info = list; info != NULL; info = info->next) {
        if (is_repeated(list, info) ||
            (strlen(info->domain_attr->name) >= sizeof(devices[num].name))) {
            continue;
        }
        strcpy(devices[num].name, info->domain_attr->name);
        devices[num].type    = UCT_DEVICE_TYPE_NET;
        devices[num].sys_dev = UCS_SYS_DEVICE_ID_UNKNOWN;
        ++num;
    }
    free_list(list);
    *devices_p = devices;
    *num_p     = num;
    return UCS_OK;
}

struct fi_info *ugni_device_info(const ugni_md_t *md, const char *name)
{
    struct fi_info *list = provider_info(md), *info, *found = NULL;

    for (info = list; (info != NULL) && (found == NULL); info = info->next) {
        if (strcmp(info->domain_attr->name, name) == 0) {
            found = fi_dupinfo(info);
        }
    }
    free_list(list);
    return found;
}
