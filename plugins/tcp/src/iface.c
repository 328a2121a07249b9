/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens and closes an interface, and returns its attributes. Opening costs a
 * few system calls: a listening socket, an epoll descriptor, random bytes.
 */
#include "iface.h"
#include "conn.h"
#include "flush.h"
#include "sock.h"
#include "ways.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Maximum size in bytes of short sends. For longer messages a buffered send
 * costs no more than a short send would. */
#define IFACE_MAX_SHORT 8192
/* Maximum length in bytes of a put or get; the core splits longer ones. */
#define IFACE_MAX_RMA (1ul << 30)
/* Bandwidth of a device in bytes per second from which on one connection does
 * not saturate it. */
#define IFACE_FAST (25e9 / 8)
/* Default time in seconds until an idle connection is probed. */
#define IFACE_KEEPIDLE 10.0
/* Bytes of Ethernet, IP and TCP headers around a packet's data. */
#define IFACE_HEADERS (38.0 + 40.0)

size_t tcp_iface_max_am(const tcp_iface_t *iface)
{
    return tcp_min(iface->config.rx_seg_size, TCP_WIRE_AM_MAX);
}

int tcp_iface_may_log(tcp_iface_t *iface)
{
    const ucx_host_t *host = iface->host;
    double now             = host->time();

    if ((iface->log_time != 0) && (now - iface->log_time < 1.0)) {
        ++iface->log_dropped;
        return 0;
    }
    if (iface->log_dropped > 0) {
        ucx_diag("%s: %u similar messages were suppressed", iface->device.name,
                 iface->log_dropped);
    }
    iface->log_time    = now;
    iface->log_dropped = 0;
    return 1;
}

/* Converts a time to the whole seconds that the kernel accepts, 1 to 32767.
 * Returns 0 if the value is not positive or is too large: the option is not set
 * then. */
static int option_seconds(double value)
{
    return (value <= 0)    ? 0 :
           (value < 1)     ? 1 :
           (value > 32767) ? 0 :
                             (int)value;
}

/* Sets the options of the listening socket, which accepted sockets inherit, and
 * of connecting sockets. */
void tcp_iface_set_options(tcp_iface_t *iface, int fd)
{
    const tcp_iface_config_t *config = &iface->config;
    int idle                         = option_seconds(config->keepidle);

    if (iface->device.is_loopback) {
        /* A system default such as bbr paces packets by a timer, which limits
         * the bandwidth although no network is shared. Every kernel has reno,
         * and permits it to every user. */
        tcp_sock_set_congestion(fd, "reno");
    }
    if (config->nodelay) {
        tcp_sock_set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    }
    if (tcp_config_is_set(config->sndbuf)) {
        tcp_sock_set_int(fd, SOL_SOCKET, SO_SNDBUF,
                         (int)tcp_min(config->sndbuf, INT32_MAX / 2));
    }
    if (tcp_config_is_set(config->rcvbuf)) {
        tcp_sock_set_int(fd, SOL_SOCKET, SO_RCVBUF,
                         (int)tcp_min(config->rcvbuf, INT32_MAX / 2));
    }
    if (tcp_config_is_set(config->syn_cnt)) {
        tcp_sock_set_int(fd, IPPROTO_TCP, TCP_SYNCNT,
                         (int)tcp_min(config->syn_cnt, 127));
    }
    if (idle > 0) {
        tcp_sock_set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
        tcp_sock_set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle);
        if (option_seconds(config->keepintvl) > 0) {
            tcp_sock_set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL,
                             option_seconds(config->keepintvl));
        }
        if (tcp_config_is_set(config->keepcnt)) {
            tcp_sock_set_int(fd, IPPROTO_TCP, TCP_KEEPCNT,
                             (int)tcp_min(config->keepcnt, 127));
        }
    }
}

/* --- Opening ------------------------------------------------------------- */

static ucs_status_t iface_configure(tcp_iface_t *iface,
                                    const ucx_iface_open_args_t *args)
{
    const ucx_host_t *host     = iface->host;
    tcp_iface_config_t *config = &iface->config;
    ucs_status_t status;

    *config          = *(const tcp_iface_config_t *)args->config;
    config->keepidle = ucx_iface_keepalive(args, config->keepidle,
                                           IFACE_KEEPIDLE);
    status = tcp_config_port_range(config->port_range, &iface->port_first,
                                   &iface->port_last);
    if (status != UCS_OK) {
        ucx_error("UCX_TCP_PORT_RANGE is '%s'; set it to FIRST-LAST with "
                  "ports from 1 to 65535, or to 0",
                  config->port_range);
        return status;
    }
    config->port_range = NULL; /* The caller owns the string */

    if ((config->tx_seg_size < 4096) || (config->tx_seg_size > (1u << 20)) ||
        (config->rx_seg_size < 4096) || (config->rx_seg_size > (1u << 20)) ||
        (config->max_iov < 1) || (config->max_iov > TCP_IOV_MAX)) {
        ucx_error("TCP: segment sizes must be from 4k to 1m, MAX_IOV from 1 "
                  "to %d",
                  TCP_IOV_MAX);
        return UCS_ERR_INVALID_PARAM;
    }
    if (config->max_poll == 0) {
        config->max_poll = 1;
    }
    config->rx_seg_size &= ~(size_t)7;
    iface->rx_cap    = TCP_WIRE_AM_MAX + 64 + config->rx_seg_size;
    /* Space for two of the largest frames of a buffered send */
    iface->txbuf_cap = (uint32_t)(2 * config->tx_seg_size + 128);
    return UCS_OK;
}

/* Returns the segment size in bytes, 64 KB to TCP_WIRE_SEG_MAX. Transfers are
 * split into segments of about one millisecond of the device's bandwidth, which
 * limits how long a small message waits behind a segment. Larger segments save
 * system calls, which matters on the fastest devices only. */
static uint32_t iface_seg_size(const tcp_device_t *device)
{
    double size = device->bandwidth * 1e-3;

    return (size <= 64 * 1024)        ? 64 * 1024 :
           (size >= TCP_WIRE_SEG_MAX) ? TCP_WIRE_SEG_MAX :
                                        (uint32_t)size;
}

static ucs_status_t iface_find_device(tcp_iface_t *iface, const char *name,
                                      int fresh)
{
    const ucx_host_t *host = iface->host;
    ucs_status_t status;

    status = tcp_md_find_device(iface->md, name, fresh, &iface->device);
    if (status != UCS_OK) {
        ucx_debug("network device %s does not exist, is down, or has no "
                  "address",
                  name);
        return status;
    }
    iface->seg_size = iface_seg_size(&iface->device);
    return UCS_OK;
}

/* Binds to any port, or to a free one of the range, from a random start. A port
 * of the range is free only if listen() succeeds, too: SO_REUSEADDR lets bind()
 * succeed on a port to which another socket is bound. */
static int iface_bind(tcp_iface_t *iface)
{
    unsigned count      = iface->port_last - iface->port_first + 1;
    tcp_sockaddr_t addr = iface->device.addr;
    socklen_t length    = tcp_sock_addr_len(&addr);
    int rc              = -1;

    if (iface->port_first == 0) {
        return bind(iface->listen_fd, &addr.sa, length);
    }
    /* Permits a port on which connections of an earlier process are still in
     * TIME_WAIT */
    tcp_sock_set_int(iface->listen_fd, SOL_SOCKET, SO_REUSEADDR, 1);
    for (unsigned i = 0; (i < count) && (rc != 0); ++i) {
        tcp_sock_addr_set_port(&addr, (uint16_t)(iface->port_first +
                                                 (iface->id + i) % count));
        rc = bind(iface->listen_fd, &addr.sa, length);
        if (rc == 0) {
            rc = listen(iface->listen_fd, (int)iface->config.backlog);
        }
        if ((rc != 0) && (errno != EADDRINUSE)) {
            break;
        }
    }
    return rc;
}

static ucs_status_t iface_listen(tcp_iface_t *iface)
{
    const ucx_host_t *host = iface->host;
    socklen_t length       = sizeof(iface->listen_addr);
    char text[TCP_SOCK_STR_MAX];
    int error;

    iface->listen_fd = tcp_sock_open(iface->device.addr.sa.sa_family);
    if (iface->listen_fd < 0) {
        goto err;
    }
    tcp_iface_set_options(iface, iface->listen_fd);
    if ((iface_bind(iface) != 0) ||
        (listen(iface->listen_fd, (int)iface->config.backlog) != 0) ||
        (getsockname(iface->listen_fd, &iface->listen_addr.sa, &length) != 0)) {
        goto err;
    }
    return tcp_iface_watch(iface, EPOLL_CTL_ADD, iface->listen_fd, EPOLLIN,
                           NULL, TCP_EVENT_LISTEN);

err:
    error = errno;
    if (iface->listen_fd >= 0) {
        close(iface->listen_fd);
        iface->listen_fd = -1;
    }
    if (error == EADDRNOTAVAIL) {
        return UCS_ERR_INVALID_ADDR;
    }
    ucx_error("cannot listen on %s (%s): %s", iface->device.name,
              tcp_sock_str(&iface->device.addr, text, sizeof(text)),
              strerror(error));
    return UCS_ERR_IO_ERROR;
}

static ucs_status_t iface_make_pools(tcp_iface_t *iface)
{
    ucx_mpool_params_t params = {
        .size            = sizeof(params),
        .name            = "tcp_txbuf",
        .elem_size       = sizeof(tcp_txbuf_t) + iface->txbuf_cap,
        .alignment       = 64,
        .elems_per_chunk = 4,
        .max_elems       = UINT32_MAX,
    };
    ucs_status_t status;

    status = iface->host->mpool_create(&params, &iface->txbuf_pool);
    if (status != UCS_OK) {
        return status;
    }

    params.name            = "tcp_op";
    params.elem_size       = sizeof(tcp_zcopy_t);
    params.elems_per_chunk = 16;
    if (params.elem_size < sizeof(tcp_get_t)) {
        params.elem_size = sizeof(tcp_get_t);
    }
    return iface->host->mpool_create(&params, &iface->op_pool);
}

static void iface_init_lists(tcp_iface_t *iface)
{
    tcp_list_init(&iface->md_node);
    tcp_list_init(&iface->tx_work);
    tcp_list_init(&iface->pend_work);
    tcp_list_init(&iface->broken);
    tcp_list_init(&iface->failed_eps);
    tcp_list_init(&iface->conns);
    tcp_list_init(&iface->unknown);
    tcp_list_init(&iface->parked);
    tcp_list_init(&iface->freed);
    tcp_list_init(&iface->timed);
    iface->done_tail = &iface->done_head;
    iface->epoll_fd  = -1;
    iface->listen_fd = -1;
    iface->timer_fd  = -1;
    iface->round     = 1;
}

static void iface_drop_unknown(tcp_list_t *list)
{
    while (!tcp_list_is_empty(list)) {
        tcp_unknown_drop(tcp_list_first(list, tcp_unknown_t, node));
    }
}

/* Frees an interface, which may be opened only in part. */
static void iface_cleanup(tcp_iface_t *iface)
{
    const ucx_host_t *host = iface->host;
    tcp_unknown_t *unknown;

    pthread_mutex_lock(&iface->md->ifaces_lock);
    tcp_list_del(&iface->md_node);
    pthread_mutex_unlock(&iface->md->ifaces_lock);
    while (!tcp_list_is_empty(&iface->conns)) {
        tcp_conn_destroy(tcp_list_first(&iface->conns, tcp_conn_t, node));
    }
    iface_drop_unknown(&iface->unknown);
    iface_drop_unknown(&iface->parked);
    while (!tcp_list_is_empty(&iface->freed)) {
        unknown = tcp_list_first(&iface->freed, tcp_unknown_t, node);
        tcp_list_del(&unknown->node);
        free(unknown);
    }
    tcp_op_dispatch(iface);

    if (iface->timer_fd >= 0) {
        close(iface->timer_fd);
    }
    if (iface->listen_fd >= 0) {
        close(iface->listen_fd);
    }
    if (iface->epoll_fd >= 0) {
        close(iface->epoll_fd);
    }
    if (iface->part_pool != NULL) {
        host->mpool_destroy(iface->part_pool);
    }
    if (iface->op_pool != NULL) {
        host->mpool_destroy(iface->op_pool);
    }
    if (iface->txbuf_pool != NULL) {
        host->mpool_destroy(iface->txbuf_pool);
    }
    free(iface->rx_buf);
    free(iface->hash);
    free(iface);
}

/* Returns an unused id that differs from `other`, the id of another interface
 * of the worker, in the lowest byte only; 0: there is none. */
static uint64_t id_beside(const tcp_iface_t *iface, uint64_t other)
{
    const tcp_md_t *md = iface->md;
    const tcp_list_t *node;

    for (unsigned i = 1; i <= UINT8_MAX; ++i) {
        uint64_t id = other ^ i;

        for (node = md->ifaces.next;
             (node != &md->ifaces) &&
             (tcp_container_of(node, tcp_iface_t, md_node)->id != id);
             node = node->next) {
        }
        if ((node == &md->ifaces) && (id != 0)) {
            return id;
        }
    }
    return 0;
}

/* Selects a random id. The ids of one worker's interfaces differ in the lowest
 * byte only, so that similar addresses can be compressed. A process that has
 * one address can compute the ids of all these interfaces. Only one thread at a
 * time opens interfaces of a worker. */
static ucs_status_t iface_take_id(tcp_iface_t *iface)
{
    tcp_md_t *md        = iface->md;
    ucs_status_t status = UCS_OK;

    pthread_mutex_lock(&md->ifaces_lock);
    for (tcp_list_t *node                                = md->ifaces.next;
         (node != &md->ifaces) && (iface->id == 0); node = node->next) {
        tcp_iface_t *other = tcp_container_of(node, tcp_iface_t, md_node);

        if (other->super.worker == iface->super.worker) {
            iface->id = id_beside(iface, other->id);
        }
    }
    while ((iface->id == 0) && (status == UCS_OK)) {
        if (getrandom(&iface->id, sizeof(iface->id), 0) !=
            (ssize_t)sizeof(iface->id)) {
            status = UCS_ERR_IO_ERROR;
        }
    }
    pthread_mutex_unlock(&md->ifaces_lock);
    return status;
}

static ucs_status_t iface_setup(tcp_iface_t *iface,
                                const ucx_iface_open_args_t *args)
{
    const ucx_host_t *host = iface->host;
    ucs_status_t status;

    status = iface_take_id(iface);
    if (status != UCS_OK) {
        return status;
    }

    status = iface_configure(iface, args);
    if (status != UCS_OK) {
        return status;
    }
    status = iface_find_device(iface, args->dev_name, 0);
    if (status != UCS_OK) {
        return status;
    }
    /* The kernel allocates only the pages that are used */
    iface->rx_buf = malloc(iface->rx_cap);
    if (iface->rx_buf == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    /* Create the timer now: it is used when descriptors have run out, and could
     * not be created then */
    iface->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    iface->timer_fd = timerfd_create(CLOCK_MONOTONIC,
                                     TFD_NONBLOCK | TFD_CLOEXEC);
    if ((iface->epoll_fd < 0) || (iface->timer_fd < 0) ||
        (tcp_iface_watch(iface, EPOLL_CTL_ADD, iface->timer_fd, EPOLLIN, NULL,
                         TCP_EVENT_TIMER) != UCS_OK)) {
        ucx_error("cannot open an interface on %s: %s", args->dev_name,
                  strerror(errno));
        return UCS_ERR_IO_ERROR;
    }
    status = iface_make_pools(iface);
    if (status != UCS_OK) {
        return status;
    }

    status = iface_listen(iface);
    if (status == UCS_ERR_INVALID_ADDR) {
        /* The address has changed since the look-up */
        status = iface_find_device(iface, args->dev_name, 1);
        if (status == UCS_OK) {
            status = iface_listen(iface);
        }
    }
    return status;
}

static ucs_status_t tcp_iface_open(uct_md_h md,
                                   const ucx_iface_open_args_t *args,
                                   uct_iface_h *iface_p)
{
    tcp_iface_t *iface;
    ucs_status_t status;

    if ((args->config == NULL) || (args->dev_name == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }
    iface = calloc(1, sizeof(*iface));
    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    ucx_iface_init(&iface->super, args);
    iface->md   = (tcp_md_t *)md;
    iface->host = iface->md->host;
    iface_init_lists(iface);
    (void)tcp_iface_set_am_tracer(&iface->super, NULL, NULL);
    status = iface_setup(iface, args);
    if (status != UCS_OK) {
        iface_cleanup(iface);
        return status;
    }
    tcp_ways_reserve(iface);
    pthread_mutex_lock(&iface->md->ifaces_lock);
    tcp_list_add_tail(&iface->md->ifaces, &iface->md_node);
    pthread_mutex_unlock(&iface->md->ifaces_lock);
    *iface_p = &iface->super;
    return UCS_OK;
}

static void tcp_iface_close(uct_iface_h iface)
{
    iface_cleanup(tcp_iface(iface));
}

/* --- Attributes ---------------------------------------------------------- */

static void query_limits(const tcp_iface_t *iface, uct_iface_attr_t *attr)
{
    const tcp_iface_config_t *config = &iface->config;
    size_t max_short = tcp_min(IFACE_MAX_SHORT, config->tx_seg_size);
    unsigned mtu     = iface->device.mtu;
    double bandwidth = iface->device.bandwidth;

    attr->cap.am.max_short = max_short;
    attr->cap.am.max_bcopy = tcp_min(config->tx_seg_size, TCP_WIRE_AM_MAX);
    attr->cap.am.max_zcopy = tcp_iface_max_am(iface);
    attr->cap.am.opt_zcopy_align = 1;
    attr->cap.am.align_mtu       = mtu;
    attr->cap.am.max_hdr         = max_short;
    attr->cap.am.max_iov         = config->max_iov;

    attr->cap.put.max_short = max_short;
    attr->cap.put.max_bcopy = tcp_min(config->tx_seg_size, TCP_WIRE_SEG_MAX);
    attr->cap.put.max_zcopy = IFACE_MAX_RMA;
    attr->cap.put.opt_zcopy_align = 1;
    attr->cap.put.align_mtu       = mtu;
    attr->cap.put.max_iov         = config->max_iov;

    attr->cap.get.max_bcopy       = config->tx_seg_size;
    attr->cap.get.max_zcopy       = IFACE_MAX_RMA;
    attr->cap.get.opt_zcopy_align = 1;
    attr->cap.get.align_mtu       = mtu;
    attr->cap.get.max_iov         = config->max_iov;

    attr->bandwidth.shared = iface->device.is_loopback ?
                                 bandwidth :
                                 bandwidth * mtu / (mtu + IFACE_HEADERS);
    attr->dev_num_paths    = (config->num_paths > 0) ? config->num_paths :
                             (!iface->device.is_loopback &&
                           (bandwidth >= IFACE_FAST)) ?
                                                       2 :
                                                       1;
    /* The kernel's time at both sides; over a network also the transfer of one
     * full packet */
    attr->latency          = ucs_linear_func_make(
                 iface->device.is_loopback ? 5e-6 : 10e-6 + 1500 / bandwidth, 0);
}

static ucs_status_t tcp_iface_query(uct_iface_h uct_iface,
                                    ucx_iface_attr_t *attr)
{
    tcp_iface_t *iface     = tcp_iface(uct_iface);
    uct_iface_attr_t *base = &attr->base;
    int family             = iface->device.addr.sa.sa_family;

    base->cap.flags = UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY |
                      UCT_IFACE_FLAG_AM_ZCOPY | UCT_IFACE_FLAG_PENDING |
                      UCT_IFACE_FLAG_PUT_SHORT | UCT_IFACE_FLAG_PUT_BCOPY |
                      UCT_IFACE_FLAG_PUT_ZCOPY | UCT_IFACE_FLAG_GET_BCOPY |
                      UCT_IFACE_FLAG_GET_ZCOPY |
                      UCT_IFACE_FLAG_CONNECT_TO_IFACE | UCT_IFACE_FLAG_CB_SYNC |
                      UCT_IFACE_FLAG_EP_CHECK | UCT_IFACE_FLAG_EP_KEEPALIVE |
                      UCT_IFACE_FLAG_ERRHANDLE_AM_ID |
                      UCT_IFACE_FLAG_ERRHANDLE_REMOTE_MEM |
                      UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE;
    if (!iface->device.is_loopback) {
        base->cap.flags |= UCT_IFACE_FLAG_INTER_NODE;
    }
    base->cap.event_flags = UCT_IFACE_FLAG_EVENT_SEND_COMP |
                            UCT_IFACE_FLAG_EVENT_RECV | UCT_IFACE_FLAG_EVENT_FD;
    query_limits(iface, base);

    base->device_addr_len = tcp_dev_addr_length(&iface->device.addr);
    base->iface_addr_len  = sizeof(tcp_wire_iface_addr_t) +
                           tcp_ways_length(iface);
    base->overhead    = 2e-6;
    base->max_num_eps = SIZE_MAX;
    base->priority    = (iface->config.prefer_default &&
                      !iface->device.is_loopback &&
                      (tcp_route_default(&iface->md->routes, family) ==
                       iface->device.index)) ?
                            1 :
                            0;

    attr->flags = UCX_IFACE_FLAG_TESTED_REACHABILITY |
                  UCX_IFACE_FLAG_DETECTS_FAILURE;
    attr->max_inflight_eps = SIZE_MAX;
    return UCS_OK;
}

static ucs_status_t tcp_iface_get_address(uct_iface_h uct_iface,
                                          uct_iface_addr_t *addr)
{
    tcp_iface_t *iface = tcp_iface(uct_iface);
    tcp_wire_iface_addr_t wire;

    tcp_wire_iface_set(&wire, tcp_sock_addr_port(&iface->listen_addr),
                       iface->id);
    memcpy(addr, &wire, sizeof(wire));
    tcp_ways_pack(iface, (uint8_t *)addr + sizeof(wire));
    return UCS_OK;
}

static const ucx_iface_ops_t iface_ops = {
    .size               = sizeof(iface_ops),
    .close              = tcp_iface_close,
    .query              = tcp_iface_query,
    .estimate           = tcp_iface_estimate,
    .get_device_address = tcp_iface_get_device_address,
    .get_address        = tcp_iface_get_address,
    .is_reachable       = tcp_iface_is_reachable,
    .ep_create          = tcp_ep_create,
    .progress           = tcp_iface_progress,
    .flush              = tcp_iface_flush,
    .fence              = tcp_iface_fence,
    .event_fd_get       = tcp_iface_event_fd_get,
    .event_arm          = tcp_iface_event_arm,
    .set_am_tracer      = tcp_iface_set_am_tracer,
};

const ucx_transport_t tcp_transport = {
    .size          = sizeof(tcp_transport),
    .name          = TCP_NAME,
    .config        = &tcp_iface_config_table,
    .query_devices = tcp_md_query_devices,
    .iface_open    = tcp_iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &tcp_ep_ops,
};
