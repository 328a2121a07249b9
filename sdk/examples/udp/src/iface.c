/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface, which has one socket on one device: its options, its
 * attributes, its events, and how it is opened and closed.
 */
#include "udp.h"

#include <math.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

static const ucx_config_field_t fields[] = {
    {
        .name   = "TIMEOUT",
        .type   = UCX_CONFIG_TIME,
        .offset = offsetof(udp_config_t, timeout),
        .dflt   = "10s",
        .help = "Time without an acknowledgement after which a peer counts as "
                "lost.",
    },
    {
        .name   = "KEEPALIVE",
        .type   = UCX_CONFIG_TIME,
        .offset = offsetof(udp_config_t, keepalive),
        .dflt   = "auto",
        .help   = "Time between two probes of an idle peer; inf: none.",
    },
};

static const ucx_config_table_t config_table = UCX_CONFIG_TABLE("UDP_",
                                                                udp_config_t,
                                                                fields);

/* -------------------------------------------------------------- events -- */

static ucs_status_t event_fd_get(uct_iface_h iface, int *fd_p)
{
    *fd_p = ((udp_iface_t *)iface)->epoll;
    return UCS_OK;
}

/* Arms the event descriptor. Sets the timer, so that a sleeping user is woken
 * and calls progress for the next retransmission or probe. */
static ucs_status_t event_arm(uct_iface_h super, unsigned events)
{
    udp_iface_t *iface = (udp_iface_t *)super;
    UCX_EXCLUDE_SERVICE(&iface->guard);
    struct pollfd pfd = {.fd = iface->socket, .events = POLLIN};
    double wait = udp_iface_is_idle(iface) ? iface->keepalive : UDP_FIRST_RTO;
    struct itimerspec timer = {.it_value = {0, 0}};

    (void)events;
    if (isfinite(wait) && (iface->streams != NULL)) {
        timer.it_value.tv_sec  = (time_t)wait;
        timer.it_value.tv_nsec = 1 + (long)(fmod(wait, 1) * 999999998);
    }
    timerfd_settime(iface->timer, 0, &timer, NULL);
    return ((iface->service.arrived != NULL) || (iface->done != NULL) ||
            (iface->num_failed > 0) || (poll(&pfd, 1, 0) > 0)) ?
               UCS_ERR_BUSY :
               UCS_OK;
}

/* ---------------------------------------------------------------- life -- */

static void close_fds(udp_iface_t *iface)
{
    const int fds[] = {iface->socket, iface->timer, iface->epoll};
    unsigned i;

    for (i = 0; i < sizeof(fds) / sizeof(fds[0]); ++i) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
}

static int watch(udp_iface_t *iface, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};

    return epoll_ctl(iface->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static int open_fds(udp_iface_t *iface)
{
    struct sockaddr_in own = {.sin_family = AF_INET};
    socklen_t length       = sizeof(own);

    own.sin_addr.s_addr = iface->dev.ip;
    iface->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                           0);
    iface->timer  = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    iface->epoll  = epoll_create1(EPOLL_CLOEXEC);
    if ((iface->socket < 0) || (iface->timer < 0) || (iface->epoll < 0) ||
        (bind(iface->socket, (struct sockaddr *)&own, sizeof(own)) != 0) ||
        (getsockname(iface->socket, (struct sockaddr *)&own, &length) != 0) ||
        !watch(iface, iface->socket) || !watch(iface, iface->timer)) {
        close_fds(iface);
        return 0;
    }
    iface->addr.port = own.sin_port;
    return 1;
}

static ucs_status_t start(udp_iface_t *iface)
{
    ucs_status_t status;

    if (!udp_find_address(iface->dev_name, &iface->dev.ip)) {
        return UCS_ERR_NO_DEVICE;
    }
    if (!open_fds(iface)) {
        return UCS_ERR_IO_ERROR;
    }
    status = udp_watch_start(iface);
    if (status != UCS_OK) {
        close_fds(iface);
    }
    return status;
}

static uint64_t *create_counters(const udp_iface_t *iface)
{
    static const char *const names[] = {
        [UDP_COUNT_SENT]          = "sent",
        [UDP_COUNT_RETRANSMITTED] = "retransmitted",
        [UDP_COUNT_RECEIVED]      = "received",
        [UDP_COUNT_REPEATED]      = "repeated",
    };
    const ucx_counters_params_t params = {
        .size         = sizeof(params),
        .type         = UDP_NAME,
        .name         = iface->dev_name,
        .counters     = names,
        .num_counters = UDP_COUNT_LAST,
    };

    return ucx_counters_create(iface->host, &params);
}

static ucs_status_t iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p)
{
    const udp_config_t *config = args->config;
    ucs_status_t status;
    udp_iface_t *iface;

    if (config == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    iface = calloc(1, sizeof(*iface));
    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_iface_init(&iface->super, args);
    ucx_guard_init(&iface->guard);
    iface->host   = ucx_simple_host(md->component);
    iface->window = (ucx_window_params_t){
        .max_window = UDP_WINDOW,
        .max_kept   = UDP_WINDOW,
        .min_rto    = UDP_FIRST_RTO,
        .max_rto    = UDP_MAX_RTO,
        .backoff    = 2,
        .timeout    = config->timeout,
    };
    iface->keepalive = ucx_iface_keepalive(args, config->keepalive, INFINITY);
    iface->dev.scope = udp_scope(iface->host);
    snprintf(iface->dev_name, sizeof(iface->dev_name), "%s", args->dev_name);
    status = start(iface);
    if (status != UCS_OK) {
        free(iface);
        return status;
    }
    iface->counters = create_counters(iface);
    udp_service_start(iface);
    *iface_p = &iface->super;
    return UCS_OK;
}

static void iface_close(uct_iface_h super)
{
    udp_iface_t *iface = (udp_iface_t *)super;
    udp_stream_t *stream;
    udp_done_t *done;

    udp_service_stop(iface);
    udp_watch_stop(iface);
    while ((stream = iface->streams) != NULL) {
        iface->streams = stream->next;
        udp_stream_free(stream);
    }
    udp_sources_free(iface);
    while ((done = iface->done) != NULL) {
        iface->done = done->next;
        udp_done_free(done);
    }
    close_fds(iface);
    ucx_counters_destroy(iface->host, iface->counters);
    free(iface);
}

static ucs_status_t iface_query(uct_iface_h iface, ucx_iface_attr_t *attr)
{
    uct_iface_attr_t *base = &attr->base;

    (void)iface;
    base->cap.flags = UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY |
                      UCT_IFACE_FLAG_PENDING | UCT_IFACE_FLAG_CB_SYNC |
                      UCT_IFACE_FLAG_CONNECT_TO_IFACE |
                      UCT_IFACE_FLAG_INTER_NODE | UCT_IFACE_FLAG_EP_CHECK |
                      UCT_IFACE_FLAG_EP_KEEPALIVE |
                      UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE;
    base->cap.event_flags = UCT_IFACE_FLAG_EVENT_RECV |
                            UCT_IFACE_FLAG_EVENT_SEND_COMP |
                            UCT_IFACE_FLAG_EVENT_FD;
    base->cap.am.max_short = UDP_MAX_MESSAGE;
    base->cap.am.max_bcopy = UDP_MAX_MESSAGE;
    base->cap.am.max_iov   = 1;
    base->device_addr_len  = sizeof(udp_dev_addr_t);
    base->iface_addr_len   = sizeof(udp_iface_addr_t);
    base->overhead         = 4e-6;
    base->latency.c        = 8e-6;
    base->bandwidth.shared = 200e6;
    base->max_num_eps      = SIZE_MAX;
    base->dev_num_paths    = 1;
    attr->max_inflight_eps = SIZE_MAX;
    return UCS_OK;
}

static ucs_status_t get_device_address(uct_iface_h iface,
                                       uct_device_addr_t *address)
{
    memcpy(address, &((udp_iface_t *)iface)->dev, sizeof(udp_dev_addr_t));
    return UCS_OK;
}

static ucs_status_t get_address(uct_iface_h iface, uct_iface_addr_t *address)
{
    memcpy(address, &((udp_iface_t *)iface)->addr, sizeof(udp_iface_addr_t));
    return UCS_OK;
}

static const ucx_iface_ops_t iface_ops = {
    .size               = sizeof(iface_ops),
    .close              = iface_close,
    .query              = iface_query,
    .get_device_address = get_device_address,
    .get_address        = get_address,
    .is_reachable       = udp_is_reachable,
    .ep_create          = udp_ep_create,
    .progress           = udp_iface_progress,
    .flush              = udp_iface_flush,
    .event_fd_get       = event_fd_get,
    .event_arm          = event_arm,
};

const ucx_transport_t udp_transport = {
    .size          = sizeof(udp_transport),
    .name          = UDP_NAME,
    .config        = &config_table,
    .query_devices = udp_query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &udp_ep_ops,
};
