/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the unit tests of UCT; see common.h. */
#include "common.h"

#include <stdlib.h>
#include <string.h>

static ucs_status_t loopback_err_handler(void *arg, uct_ep_h ep,
                                         ucs_status_t status)
{
    loopback_t *lo = arg;

    lo->failure = status;
    ++lo->num_failures;
    return UCS_OK;
}

uct_iface_h loopback_iface_open(loopback_t *lo, const loopback_params_t *params)
{
    uct_iface_params_t iface_params = {
        .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                      UCT_IFACE_PARAM_FIELD_DEVICE |
                      UCT_IFACE_PARAM_FIELD_RX_HEADROOM |
                      UCT_IFACE_PARAM_FIELD_AM_ALIGNMENT |
                      UCT_IFACE_PARAM_FIELD_AM_ALIGN_OFFSET |
                      UCT_IFACE_PARAM_FIELD_ERR_HANDLER |
                      UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG,
        .open_mode       = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device     = {.tl_name = "self", .dev_name = "memory"},
        .rx_headroom     = params->rx_headroom,
        .am_alignment    = params->am_alignment ? params->am_alignment : 1,
        .am_align_offset = params->am_align_offset,
        .err_handler     = loopback_err_handler,
        .err_handler_arg = lo,
    };
    uct_iface_config_t *config;
    uct_iface_h iface;

    ck_ok(uct_md_iface_config_read(lo->md, "self", NULL, NULL, &config));
    if (params->queue_len != NULL) {
        ck_ok(uct_config_modify(config, "QUEUE_LEN", params->queue_len));
    }
    ck_ok(uct_iface_open(lo->md, lo->worker, &iface_params, config, &iface));
    uct_config_release(config);
    uct_iface_progress_enable(iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    return iface;
}

ucs_status_t loopback_ep_create(uct_iface_h iface, uct_ep_h *ep_p)
{
    char addr[64];
    uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_IFACE_ADDR,
        .iface      = iface,
        .iface_addr = (const uct_iface_addr_t *)addr,
    };

    ck_ok(uct_iface_get_address(iface, (uct_iface_addr_t *)addr));
    return uct_ep_create(&params, ep_p);
}

static uct_component_h find_self(void)
{
    uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME};
    uct_component_h found     = NULL;
    uct_component_h *components;
    unsigned count, i;

    ck_ok(uct_query_components(&components, &count));
    for (i = 0; i < count; ++i) {
        ck_ok(uct_component_query(components[i], &attr));
        if (strcmp(attr.name, "self") == 0) {
            found = components[i];
        }
    }
    uct_release_component_list(components);
    ck_assert_ptr_nonnull(found);
    return found;
}

void loopback_open(loopback_t *lo, const loopback_params_t *params)
{
    const loopback_params_t defaults = {0};

    memset(lo, 0, sizeof(*lo));
    lo->component = find_self();
    ck_ok(ucs_async_context_create(UCS_ASYNC_MODE_THREAD, &lo->async));
    ck_ok(uct_worker_create(lo->async, UCS_THREAD_MODE_SINGLE, &lo->worker));
    ck_ok(uct_md_open(lo->component, "self", NULL, &lo->md));
    lo->iface = loopback_iface_open(lo, params ? params : &defaults);
    ck_ok(loopback_ep_create(lo->iface, &lo->ep));
}

void loopback_close(loopback_t *lo)
{
    uct_ep_destroy(lo->ep);
    uct_iface_close(lo->iface);
    uct_md_close(lo->md);
    uct_worker_destroy(lo->worker);
    ucs_async_context_destroy(lo->async);
}

unsigned loopback_progress(loopback_t *lo)
{
    unsigned total = 0;
    unsigned count;

    while ((count = uct_worker_progress(lo->worker)) > 0) {
        total += count;
    }
    return total;
}

int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int failed;

    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
