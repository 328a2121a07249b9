/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds a transport on a device, opens it, and allocates memory for it. */
#include "uct_side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ucs_status_t fail(struct perf_run *run, ucs_status_t status,
                         const char *call)
{
    return perf_error(run, status, "%s: %s", call, ucs_status_string(status));
}

static bool domain_has(uct_md_h md, const struct params *params)
{
    uct_tl_resource_desc_t *resources;
    bool found = false;
    unsigned count, i;

    if (uct_md_query_tl_resources(md, &resources, &count) != UCS_OK) {
        return false;
    }
    for (i = 0; (i < count) && !found; ++i) {
        found = (strcmp(resources[i].tl_name, params->transport) == 0) &&
                (strcmp(resources[i].dev_name, params->device) == 0);
    }
    uct_release_tl_resource_list(resources);
    return found;
}

/* Searches the transport in the domains of a component. If it is found, its
 * domain stays open in side->md. */
static bool open_of(struct uct_side *side, uct_component_h component,
                    const struct params *params)
{
    uct_component_attr_t attr = {
        .field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT,
    };
    uct_md_config_t *config;
    bool found = false;
    unsigned i;

    if ((uct_component_query(component, &attr) != UCS_OK) ||
        (attr.md_resource_count == 0)) {
        return false;
    }
    attr.field_mask   = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
    attr.md_resources = calloc(attr.md_resource_count,
                               sizeof(*attr.md_resources));
    if ((attr.md_resources == NULL) ||
        (uct_component_query(component, &attr) != UCS_OK) ||
        (uct_md_config_read(component, NULL, NULL, &config) != UCS_OK)) {
        goto out;
    }
    for (i = 0; (i < attr.md_resource_count) && !found; ++i) {
        if (uct_md_open(component, attr.md_resources[i].md_name, config,
                        &side->md) != UCS_OK) {
            side->md = NULL;
            continue;
        }
        found = domain_has(side->md, params);
        if (!found) {
            uct_md_close(side->md);
            side->md = NULL;
        }
    }
    uct_config_release(config);
out:
    free(attr.md_resources);
    return found;
}

ucs_status_t uct_open_domain(struct perf_run *run, struct uct_side *side)
{
    ucs_status_t status;
    bool found = false;
    unsigned count, i;

    status = uct_query_components(&side->components, &count);
    if (status != UCS_OK) {
        side->components = NULL;
        return fail(run, status, "uct_query_components");
    }
    for (i = 0; (i < count) && !found; ++i) {
        found           = open_of(side, side->components[i], &run->params);
        side->component = side->components[i];
    }
    if (!found) {
        return perf_error(run, UCS_ERR_NO_DEVICE,
                          "there is no transport %s on "
                          "a device %s here; `ucx_info -d` shows those that "
                          "are",
                          run->params.transport, run->params.device);
    }
    status = uct_md_query(side->md, &side->md_attr);
    return (status == UCS_OK) ? UCS_OK : fail(run, status, "uct_md_query");
}

static ucs_status_t open_worker(struct perf_run *run, struct uct_side *side)
{
    ucs_status_t status;

    status = ucs_async_context_create(run->params.async_mode, &side->async);
    if (status != UCS_OK) {
        side->async = NULL;
        return fail(run, status, "ucs_async_context_create (-A)");
    }
    status = uct_worker_create(side->async, UCS_THREAD_MODE_SINGLE,
                               &side->worker);
    if (status != UCS_OK) {
        side->worker = NULL;
        return fail(run, status, "uct_worker_create");
    }
    return UCS_OK;
}

/* Stores the error of the endpoint, which functions that wait return. Does not
 * report it: at the end of a test the peer closes its endpoint, which is no
 * error. */
static ucs_status_t on_error(void *arg, uct_ep_h ep, ucs_status_t status)
{
    struct uct_side *side = arg;

    (void)ep;
    side->completion.status = status;
    return UCS_OK;
}

ucs_status_t uct_open_iface(struct perf_run *run, struct uct_side *side)
{
    const uct_iface_params_t params = {
        .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                      UCT_IFACE_PARAM_FIELD_DEVICE |
                      UCT_IFACE_PARAM_FIELD_ERR_HANDLER |
                      UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG,
        .open_mode = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device =
            {
                .tl_name  = run->params.transport,
                .dev_name = run->params.device,
            },
        .err_handler     = on_error,
        .err_handler_arg = side,
    };
    uct_ep_params_t ep_params = {.field_mask = UCT_EP_PARAM_FIELD_IFACE};
    uct_iface_config_t *config;
    ucs_status_t status;

    status = open_worker(run, side);
    if (status != UCS_OK) {
        return status;
    }
    status = uct_md_iface_config_read(side->md, run->params.transport, NULL,
                                      NULL, &config);
    if (status != UCS_OK) {
        return fail(run, status, "uct_md_iface_config_read");
    }
    status = uct_iface_open(side->md, side->worker, &params, config,
                            &side->iface);
    uct_config_release(config);
    if (status != UCS_OK) {
        side->iface = NULL;
        return fail(run, status, "uct_iface_open");
    }
    status = uct_iface_query(side->iface, &side->attr);
    if (status != UCS_OK) {
        return fail(run, status, "uct_iface_query");
    }
    uct_iface_progress_enable(side->iface,
                              UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    /* a transport that connects endpoints to endpoints needs its endpoint
     * before the addresses are exchanged */
    if (!(side->attr.cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE)) {
        ep_params.iface = side->iface;
        status          = uct_ep_create(&ep_params, &side->ep);
        if (status != UCS_OK) {
            side->ep = NULL;
            return fail(run, status, "uct_ep_create");
        }
    }
    return UCS_OK;
}

/* Registers the memory, unless it was registered when it was allocated, or the
 * domain does not register memory. */
static ucs_status_t have_handle(struct perf_run *run, struct uct_side *side,
                                struct uct_area *area, unsigned flags)
{
    ucs_status_t status;

    area->handle = area->allocated.memh;
    if ((area->handle != UCT_MEM_HANDLE_NULL) ||
        !(side->md_attr.cap.flags & UCT_MD_FLAG_REG)) {
        return UCS_OK;
    }
    status = uct_md_mem_reg(side->md, area->memory, area->allocated.length,
                            flags, &area->handle);
    area->registered = (status == UCS_OK);
    return (status == UCS_OK) ? UCS_OK : fail(run, status, "uct_md_mem_reg");
}

ucs_status_t uct_area_open(struct perf_run *run, struct uct_side *side,
                           struct uct_area *area, size_t length)
{
    unsigned flags = UCT_MD_MEM_ACCESS_ALL |
                     ((run->params.flags & PARAMS_NONBLOCK) ?
                          UCT_MD_MEM_FLAG_NONBLOCK :
                          0);
    ucs_status_t status;

    status = uct_iface_mem_alloc(side->iface, length, flags, "ucx_perftest",
                                 &area->allocated);
    if (status != UCS_OK) {
        return perf_error(run, status,
                          "cannot allocate %zu bytes for messages "
                          "(-s, -O): %s",
                          length, ucs_status_string(status));
    }
    area->have   = true;
    area->memory = area->allocated.address;
    memset(area->memory, 0, length);
    return have_handle(run, side, area, flags);
}

void uct_area_close(struct uct_side *side, struct uct_area *area)
{
    if (area->registered) {
        uct_md_mem_dereg(side->md, area->handle);
    }
    if (area->have) {
        uct_iface_mem_free(&area->allocated);
    }
}
