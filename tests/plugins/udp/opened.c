/* SPDX-License-Identifier: BSD-3-Clause */
/* See opened.h. */
#include "opened.h"
#include "udp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ucs_status_t udp_failure = UCS_OK;

void udp_require(int holds, const char *what)
{
    if (!holds) {
        printf("failed: %s\n", what);
        exit(1);
    }
}

static ucs_status_t note_failure(void *arg, uct_ep_h ep, ucs_status_t status)
{
    (void)arg;
    (void)ep;
    udp_failure = status;
    return UCS_OK;
}

static uct_component_h find_component(void)
{
    uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME};
    uct_component_h *list, found = NULL;
    unsigned count, i;

    udp_require(uct_query_components(&list, &count) == UCS_OK, "components");
    for (i = 0; i < count; ++i) {
        if ((uct_component_query(list[i], &attr) == UCS_OK) &&
            !strcmp(attr.name, "udp")) {
            found = list[i];
        }
    }
    uct_release_component_list(list);
    udp_require(found != NULL, "finding the component udp");
    return found;
}

static uct_md_h open_md(void)
{
    uct_component_h component = find_component();
    uct_md_config_t *config;
    uct_md_h md;

    udp_require(uct_md_config_read(component, NULL, NULL, &config) == UCS_OK,
                "options of the domain");
    udp_require(uct_md_open(component, "udp", config, &md) == UCS_OK, "domain");
    uct_config_release(config);
    return md;
}

static uct_iface_h open_iface(uct_md_h md, uct_worker_h worker)
{
    const uct_iface_params_t params = {
        .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                      UCT_IFACE_PARAM_FIELD_DEVICE |
                      UCT_IFACE_PARAM_FIELD_ERR_HANDLER,
        .open_mode   = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device = {.tl_name = "udp", .dev_name = "lo"},
        .err_handler = note_failure,
    };
    uct_iface_config_t *config;
    uct_iface_h iface;

    udp_require(uct_md_iface_config_read(md, "udp", NULL, NULL, &config) ==
                    UCS_OK,
                "options of the interface");
    udp_require(uct_iface_open(md, worker, &params, config, &iface) == UCS_OK,
                "interface");
    uct_config_release(config);
    uct_iface_progress_enable(iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    return iface;
}

uct_ep_h udp_connect_port(const opened_t *opened, uint16_t port)
{
    uct_iface_h iface = opened->iface;
    udp_dev_addr_t dev;
    udp_iface_addr_t addr;
    uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                      UCT_EP_PARAM_FIELD_IFACE_ADDR,
        .iface      = iface,
        .dev_addr   = (uct_device_addr_t *)&dev,
        .iface_addr = (uct_iface_addr_t *)&addr,
    };
    uct_ep_h ep;

    udp_require((uct_iface_get_device_address(iface, (void *)&dev) == UCS_OK) &&
                    (uct_iface_get_address(iface, (void *)&addr) == UCS_OK),
                "addresses");
    if (port != 0) {
        addr.port = port;
    }
    udp_require(uct_ep_create(&params, &ep) == UCS_OK, "endpoint");
    return ep;
}

uct_ep_h udp_connect(const opened_t *opened)
{
    return udp_connect_port(opened, 0);
}

void udp_open(opened_t *opened)
{
    udp_require(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_MUTEX,
                                         &opened->async) == UCS_OK,
                "asynchronous context");
    udp_require(uct_worker_create(opened->async, UCS_THREAD_MODE_SINGLE,
                                  &opened->worker) == UCS_OK,
                "worker");
    opened->md    = open_md();
    opened->iface = open_iface(opened->md, opened->worker);
}

void udp_close(opened_t *opened)
{
    uct_iface_close(opened->iface);
    uct_md_close(opened->md);
    uct_worker_destroy(opened->worker);
    ucs_async_context_destroy(opened->async);
}
