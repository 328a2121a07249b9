/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the example plugin opaque: a cancel on an endpoint does not affect the
 * operations of an endpoint that was destroyed before, although both may have
 * had the same address. */
#include <ucs/async/async_fwd.h>
#include <uct/api/uct.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 10000 };

static unsigned ended; /* Number of calls of completions */

static void require(int holds, const char *what)
{
    if (!holds) {
        printf("failed: %s\n", what);
        exit(1);
    }
}

static void on_end(uct_completion_t *comp)
{
    (void)comp;
    ++ended;
}

static uct_md_h open_md(void)
{
    uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME};
    uct_component_h *list, found = NULL;
    uct_md_config_t *config;
    unsigned count, i;
    uct_md_h md;

    require(uct_query_components(&list, &count) == UCS_OK, "components");
    for (i = 0; i < count; ++i) {
        if ((uct_component_query(list[i], &attr) == UCS_OK) &&
            (strcmp(attr.name, "opaque") == 0)) {
            found = list[i];
        }
    }
    uct_release_component_list(list);
    require(found != NULL, "finding the component opaque");
    require((uct_md_config_read(found, NULL, NULL, &config) == UCS_OK) &&
                (uct_md_open(found, "opaque", config, &md) == UCS_OK),
            "domain");
    uct_config_release(config);
    return md;
}

static uct_iface_h open_iface(uct_md_h md, uct_worker_h worker)
{
    const uct_iface_params_t params = {
        .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                      UCT_IFACE_PARAM_FIELD_DEVICE,
        .open_mode   = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device = {.tl_name = "opaque", .dev_name = "opaque0"},
    };
    uct_iface_config_t *config;
    uct_iface_h iface;

    require((uct_md_iface_config_read(md, "opaque", NULL, NULL, &config) ==
             UCS_OK) &&
                (uct_iface_open(md, worker, &params, config, &iface) == UCS_OK),
            "interface");
    uct_config_release(config);
    uct_iface_progress_enable(iface, UCT_PROGRESS_SEND);
    return iface;
}

static uct_ep_h connect_self(uct_iface_h iface)
{
    uint64_t device              = 0, address;
    const uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                      UCT_EP_PARAM_FIELD_IFACE_ADDR,
        .iface      = iface,
        .dev_addr   = (const uct_device_addr_t *)&device,
        .iface_addr = (const uct_iface_addr_t *)&address,
    };
    uct_ep_h ep;

    require((uct_iface_get_address(iface, (uct_iface_addr_t *)&address) ==
             UCS_OK) &&
                (uct_ep_create(&params, &ep) == UCS_OK),
            "endpoint");
    return ep;
}

static void cancel_spares_earlier_endpoint(uct_worker_h worker,
                                           uct_iface_h iface)
{
    static char source[] = "kept", target[sizeof(source)];
    const uct_iov_t iov  = {
         .buffer = source,
         .length = sizeof(source),
         .count  = 1,
    };
    uct_completion_t put   = {.func = on_end, .count = 1, .status = UCS_OK};
    uct_completion_t flush = {.func = on_end, .count = 1, .status = UCS_OK};
    uct_ep_h ep            = connect_self(iface);
    unsigned left;

    require(uct_ep_put_zcopy(ep, &iov, 1, (uintptr_t)target, 0, &put) ==
                UCS_INPROGRESS,
            "an outstanding put");
    uct_ep_destroy(ep);
    ep = connect_self(iface);
    require(uct_ep_flush(ep, UCT_FLUSH_FLAG_CANCEL, &flush) == UCS_INPROGRESS,
            "an outstanding flush");
    for (left = ROUNDS; (ended < 2) && (left > 0); --left) {
        uct_worker_progress(worker);
    }
    require(ended == 2, "both operations complete");
    require((put.status == UCS_OK) && (strcmp(target, source) == 0),
            "the put of the destroyed endpoint is not cancelled");
    uct_ep_destroy(ep);
}

int main(void)
{
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_iface_h iface;
    uct_md_h md;

    require((ucs_async_context_create(UCS_ASYNC_MODE_THREAD_MUTEX, &async) ==
             UCS_OK) &&
                (uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker) ==
                 UCS_OK),
            "worker");
    md    = open_md();
    iface = open_iface(md, worker);
    cancel_spares_earlier_endpoint(worker, iface);
    uct_iface_close(iface);
    uct_md_close(md);
    uct_worker_destroy(worker);
    ucs_async_context_destroy(async);
    return 0;
}
