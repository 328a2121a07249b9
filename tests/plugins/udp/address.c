/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device loses its address: the endpoint fails with UCS_ERR_UNREACHABLE though
 * no time limit is over, because the plugin's asynchronous descriptor reports it.
 * In a network namespace, whose loopback device is all that is touched.
 */
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ucs/async/async_fwd.h>
#include <uct/api/uct.h>

enum { SKIPPED = 77, PATIENCE = 60000 /* ms */ };

static ucs_status_t failure = UCS_OK;

static void require(int holds, const char *what)
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
    failure = status;
    return UCS_OK;
}

/* With CAP_NET_ADMIN in the new namespace. */
static int control(unsigned long what, struct ifreq *request)
{
    int fd     = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int result = ioctl(fd, what, request);

    close(fd);
    return result == 0;
}

static void enter_namespace(void)
{
    struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};

    if ((unshare(CLONE_NEWNET) != 0) &&
        (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)) {
        printf("skipped: no permission to create a network namespace\n");
        exit(SKIPPED);
    }
    require(control(SIOCSIFFLAGS, &up), "setting lo up");
}

static int remove_address(void)
{
    struct ifreq request  = {.ifr_name = "lo"};
    struct sockaddr_in in = {.sin_family = AF_INET}; /* 0.0.0.0: none */

    memcpy(&request.ifr_addr, &in, sizeof(in));
    return control(SIOCSIFADDR, &request);
}

static uct_component_h find_component(void)
{
    uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME};
    uct_component_h *list, found = NULL;
    unsigned count, i;

    require(uct_query_components(&list, &count) == UCS_OK, "components");
    for (i = 0; i < count; ++i) {
        if ((uct_component_query(list[i], &attr) == UCS_OK) &&
            !strcmp(attr.name, "udp")) {
            found = list[i];
        }
    }
    uct_release_component_list(list);
    require(found != NULL, "finding the component udp");
    return found;
}

static uct_md_h open_md(void)
{
    uct_component_h component = find_component();
    uct_md_config_t *config;
    uct_md_h md;

    require(uct_md_config_read(component, NULL, NULL, &config) == UCS_OK,
            "options of the domain");
    require(uct_md_open(component, "udp", config, &md) == UCS_OK, "domain");
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

    require(uct_md_iface_config_read(md, "udp", NULL, NULL, &config) == UCS_OK,
            "options of the interface");
    require(uct_iface_open(md, worker, &params, config, &iface) == UCS_OK,
            "interface");
    uct_config_release(config);
    uct_iface_progress_enable(iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    return iface;
}

static uct_ep_h connect_to(uct_iface_h iface)
{
    static char dev[64], addr[64];
    uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                      UCT_EP_PARAM_FIELD_IFACE_ADDR,
        .iface      = iface,
        .dev_addr   = (uct_device_addr_t *)dev,
        .iface_addr = (uct_iface_addr_t *)addr,
    };
    uct_ep_h ep;

    require((uct_iface_get_device_address(iface, (void *)dev) == UCS_OK) &&
                (uct_iface_get_address(iface, (void *)addr) == UCS_OK),
            "addresses");
    require(uct_ep_create(&params, &ep) == UCS_OK, "endpoint");
    return ep;
}

/* Progresses until the failure is reported; the pause saves processor time. */
static void wait_for_failure(uct_worker_h worker)
{
    int left;

    for (left = PATIENCE; (failure == UCS_OK) && (left > 0); --left) {
        if (uct_worker_progress(worker) == 0) {
            poll(NULL, 0, 1);
        }
    }
}

int main(void)
{
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_iface_h iface;
    uct_ep_h ep;
    uct_md_h md;

    enter_namespace();
    require(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_MUTEX, &async) ==
                UCS_OK,
            "asynchronous context");
    require(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker) == UCS_OK,
            "worker");
    md    = open_md();
    iface = open_iface(md, worker);
    ep    = connect_to(iface);
    uct_worker_progress(worker);
    require(failure == UCS_OK, "no failure before the address is removed");

    require(remove_address(), "removing the address");
    wait_for_failure(worker);
    printf("reported: %s\n", ucs_status_string(failure));
    require(failure == UCS_ERR_UNREACHABLE, "UCS_ERR_UNREACHABLE is reported");
    require(uct_ep_am_short(ep, 0, 0, NULL, 0) == UCS_ERR_UNREACHABLE,
            "a send on the failed endpoint");

    uct_ep_destroy(ep);
    uct_iface_close(iface);
    uct_md_close(md);
    uct_worker_destroy(worker);
    ucs_async_context_destroy(async);
    return 0;
}
