/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds and opens devices. Has no state. */
#include "device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ucs_status_t ib_md_resources(const ucx_component_t *component,
                             uct_md_resource_desc_t **mds_p, unsigned *num_p)
{
    const ucx_host_t *host = ib_host(component);
    uct_md_resource_desc_t *mds;
    struct ibv_device **list;
    int num = 0;

    *mds_p = NULL;
    *num_p = 0;
    list   = ibv_get_device_list(&num);
    if (list == NULL) {
        /* Without the kernel module there are no devices, which is no reason
         * for a warning. */
        if ((errno != ENOSYS) && (errno != ENOENT)) {
            ucx_warn("cannot list RDMA devices: %s", strerror(errno));
        }
        return UCS_OK;
    }
    mds = calloc((size_t)num + 1, sizeof(*mds));
    if (mds == NULL) {
        ibv_free_device_list(list);
        return UCS_ERR_NO_MEMORY;
    }
    for (int i = 0; i < num; ++i) {
        snprintf(mds[*num_p].md_name, sizeof(mds[*num_p].md_name), "%s",
                 ibv_get_device_name(list[i]));
        ++*num_p;
    }
    ibv_free_device_list(list);
    *mds_p = mds;
    return UCS_OK;
}

ucs_status_t ib_device_open(const ucx_host_t *host, const char *name,
                            struct ibv_context **context_p)
{
    struct ibv_device **list;
    int num = 0;

    *context_p = NULL;
    list       = ibv_get_device_list(&num);
    if (list == NULL) {
        return UCS_ERR_NO_DEVICE;
    }
    errno = ENODEV;
    for (int i = 0; i < num; ++i) {
        if (strcmp(ibv_get_device_name(list[i]), name) == 0) {
            *context_p = ibv_open_device(list[i]);
            break;
        }
    }
    if (*context_p == NULL) {
        ucx_diag("cannot open RDMA device %s: %s%s", name, strerror(errno),
                 ((errno == EACCES) || (errno == EPERM)) ?
                     " (may this user open /dev/infiniband/uverbs*?)" :
                     "");
    }
    ibv_free_device_list(list);
    return (*context_p == NULL) ? UCS_ERR_NO_DEVICE : UCS_OK;
}

uint8_t ib_device_port(struct ibv_context *context, const char *name)
{
    const char *device = ibv_get_device_name(context->device);
    size_t length      = strlen(device);
    unsigned long number;
    char *end;

    if ((strncmp(name, device, length) != 0) || (name[length] != ':')) {
        return 0;
    }
    number = strtoul(name + length + 1, &end, 10);
    return ((*end == '\0') && (number <= UINT8_MAX)) ? (uint8_t)number : 0;
}
