/* SPDX-License-Identifier: BSD-3-Clause */
/* uct_md_query_tl_resources: the transports of a memory domain and their
 * devices, as the plugin lists them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/debug/log.h"
#include "uct/base/state.h"

/* Appends the devices of one transport to the array at *list_p. */
static ucs_status_t uct_tl_list_devices(uct_md_h md, const uct_tl_t *tl,
                                        uct_tl_resource_desc_t **list_p,
                                        unsigned *count_p)
{
    ucx_device_desc_t *devices = NULL;
    unsigned num_devices       = 0;
    uct_tl_resource_desc_t *list, *desc;
    ucs_status_t status;
    unsigned i;

    status = tl->desc.query_devices(md, &devices, &num_devices);
    if (uct_checks != NULL) {
        uct_checks->listed_devices(tl->desc.name,
                                   uct_tl_declared(md, tl)->dev_type, status,
                                   devices, num_devices);
    }
    if ((status != UCS_OK) || (num_devices == 0)) {
        if (status == UCS_OK) {
            free(devices);
        }
        return status;
    }

    list = realloc(*list_p, ((size_t)*count_p + num_devices) * sizeof(*list));
    if (list == NULL) {
        free(devices);
        return UCS_ERR_NO_MEMORY;
    }

    for (i = 0; i < num_devices; ++i) {
        desc = &list[(*count_p)++];
        memset(desc, 0, sizeof(*desc));
        snprintf(desc->tl_name, sizeof(desc->tl_name), "%s", tl->desc.name);
        snprintf(desc->dev_name, sizeof(desc->dev_name), "%.*s",
                 UCT_DEVICE_NAME_MAX - 1, devices[i].name);
        desc->dev_type   = devices[i].type;
        desc->sys_device = devices[i].sys_dev;
    }

    *list_p = list;
    free(devices);
    return UCS_OK;
}

/* Keeps a copy of the list for uct_tl_check_device(): to list the devices again
 * may take longer than everything else that uct_iface_open() does. */
static void uct_md_remember_resources(uct_md_state_t *state,
                                      const uct_tl_resource_desc_t *list,
                                      unsigned count)
{
    uct_tl_resource_desc_t *copy = malloc((count + 1) * sizeof(*copy));

    if (copy == NULL) {
        return; /* without the copy, the next uct_iface_open() lists the devices
                 * again */
    }

    if (count > 0) {
        memcpy(copy, list, count * sizeof(*copy));
    }
    pthread_mutex_lock(&state->lock);
    free(state->resources);
    state->resources     = copy;
    state->num_resources = count;
    pthread_mutex_unlock(&state->lock);
}

ucs_status_t uct_md_query_tl_resources(uct_md_h md,
                                       uct_tl_resource_desc_t **resources_p,
                                       unsigned *num_resources_p)
{
    uct_tl_resource_desc_t *list = NULL;
    unsigned count               = 0;
    const uct_code_t *code;
    ucs_status_t status;
    unsigned i;

    if ((md == NULL) || (resources_p == NULL) || (num_resources_p == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    code = uct_md_state(md)->code;
    for (i = 0; i < code->num_tls; ++i) {
        status = uct_tl_list_devices(md, &code->tls[i], &list, &count);
        if (status == UCS_ERR_NO_MEMORY) {
            free(list);
            return status;
        }
        /* after another error, continue with the other transports */
        if (status != UCS_OK) {
            ucs_diag("transport %s could not list its devices: %s",
                     code->tls[i].desc.name, ucs_status_string(status));
        }
    }

    uct_md_remember_resources(uct_md_state(md), list, count);
    *resources_p     = list;
    *num_resources_p = count;
    return UCS_OK;
}

void uct_release_tl_resource_list(uct_tl_resource_desc_t *resources)
{
    free(resources);
}

static int uct_resources_have(const uct_tl_resource_desc_t *list,
                              unsigned count, const char *tl_name,
                              const char *dev_name)
{
    unsigned i;

    for (i = 0; i < count; ++i) {
        if ((strcmp(list[i].tl_name, tl_name) == 0) &&
            (strcmp(list[i].dev_name, dev_name) == 0)) {
            return 1;
        }
    }
    return 0;
}

ucs_status_t uct_tl_check_device(uct_md_h md, const uct_tl_t *tl,
                                 const char *dev_name)
{
    uct_md_state_t *state        = uct_md_state(md);
    uct_tl_resource_desc_t *list = NULL;
    unsigned count               = 0;
    ucs_status_t status;
    int found;

    pthread_mutex_lock(&state->lock);
    found = uct_resources_have(state->resources, state->num_resources,
                               tl->desc.name, dev_name);
    pthread_mutex_unlock(&state->lock);
    if (found) {
        return UCS_OK;
    }

    status = uct_tl_list_devices(md, tl, &list, &count);
    if ((status == UCS_OK) &&
        !uct_resources_have(list, count, tl->desc.name, dev_name)) {
        status = UCS_ERR_NO_DEVICE;
    }
    free(list);
    return status;
}
