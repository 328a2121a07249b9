/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface: one socket on one device. It receives and acknowledges what
 * peers send, and lets the streams of its endpoints retransmit.
 */
#include "udp.h"

#include <arpa/inet.h>
#include <endian.h>
#include <ifaddrs.h>
#include <math.h>
#include <net/if.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <ucx/am.h>

enum { DATAGRAMS_A_ROUND = 32 };

static const ucx_config_field_t fields[] = {
    {.name   = "TIMEOUT",
     .type   = UCX_CONFIG_TIME,
     .offset = offsetof(udp_config_t, timeout),
     .dflt   = "10s",
     .help   = "Time without an acknowledgement after which a peer counts as "
               "lost."},
    {.name   = "KEEPALIVE",
     .type   = UCX_CONFIG_TIME,
     .offset = offsetof(udp_config_t, keepalive),
     .dflt   = "auto",
     .help   = "Time between two probes of an idle peer; inf: none."}
};

static const ucx_config_table_t config_table = {
    .size         = sizeof(config_table),
    .prefix       = "UDP_",
    .options_size = sizeof(udp_config_t),
    .field_size   = sizeof(ucx_config_field_t),
    .fields       = fields,
    .num_fields   = sizeof(fields) / sizeof(fields[0])
};

/* ----------------------------------------------------------- devices -- */

static int is_device(const struct ifaddrs *entry)
{
    return (entry->ifa_addr != NULL) &&
           (entry->ifa_addr->sa_family == AF_INET) &&
           (entry->ifa_flags & IFF_UP) &&
           (strlen(entry->ifa_name) < UCT_DEVICE_NAME_MAX);
}

/* A device with several addresses is listed once. */
static int is_listed(const ucx_device_desc_t *devices, unsigned count,
                     const char *name)
{
    while (count > 0) {
        if (!strcmp(devices[--count].name, name)) {
            return 1;
        }
    }
    return 0;
}

static ucs_status_t query_devices(uct_md_h md, ucx_device_desc_t **devices_p,
                                  unsigned *num_p)
{
    struct ifaddrs *list, *entry;
    ucx_device_desc_t *devices;
    unsigned count = 0;

    (void)md;
    if (getifaddrs(&list) != 0) {
        return UCS_ERR_IO_ERROR;
    }
    for (entry = list; entry != NULL; entry = entry->ifa_next) {
        ++count;
    }
    devices = calloc(count + 1, sizeof(*devices));
    count   = 0;
    for (entry = list; (devices != NULL) && (entry != NULL);
         entry = entry->ifa_next) {
        if (is_device(entry) && !is_listed(devices, count, entry->ifa_name)) {
            strcpy(devices[count].name, entry->ifa_name);
            devices[count].type      = UCT_DEVICE_TYPE_NET;
            devices[count++].sys_dev = UCS_SYS_DEVICE_ID_UNKNOWN;
        }
    }
    freeifaddrs(list);
    *devices_p = devices;
    *num_p     = count;
    return (devices == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
}

static int find_address(const char *name, uint32_t *ip_p)
{
    struct ifaddrs *list, *entry;
    int found = 0;

    if (getifaddrs(&list) != 0) {
        return 0;
    }
    for (entry = list; !found && (entry != NULL); entry = entry->ifa_next) {
        if (is_device(entry) && !strcmp(entry->ifa_name, name)) {
            *ip_p = ((struct sockaddr_in *)(void *)entry->ifa_addr)
                        ->sin_addr.s_addr;
            found = 1;
        }
    }
    freeifaddrs(list);
    return found;
}

static int is_loopback(uint32_t ip)
{
    return (ntohl(ip) >> 24) == IN_LOOPBACKNET;
}

int udp_is_reachable(uct_iface_h super, const ucx_reachable_args_t *args)
{
    const udp_iface_t *iface = (udp_iface_t *)super;
    udp_dev_addr_t dev;
    udp_iface_addr_t addr;

    if ((args->dev_addr == NULL) || (args->dev_addr_length != sizeof(dev)) ||
        ((args->iface_addr != NULL) &&
         (args->iface_addr_length != sizeof(addr)))) {
        return 0;
    }
    memcpy(&dev, args->dev_addr, sizeof(dev));
    if (args->iface_addr != NULL) {
        memcpy(&addr, args->iface_addr, sizeof(addr));
        if (addr.port == 0) {
            return 0;
        }
    }
    if (is_loopback(iface->dev.ip)) {
        return is_loopback(dev.ip) &&
               (memcmp(&dev.scope, &iface->dev.scope, sizeof(dev.scope)) == 0);
    }
    return (dev.ip != INADDR_ANY) && !is_loopback(dev.ip) &&
           (ntohl(dev.ip) < 0xe0000000u); /* multicast, broadcast */
}

/* ----------------------------------------------------------- receiving -- */

static void acknowledge(udp_iface_t *iface, const struct sockaddr_in *peer,
                        uint64_t stream, uint32_t number)
{
    const udp_header_t header = {.magic  = htole32(UDP_MAGIC),
                                 .kind   = UDP_KIND_ACK,
                                 .number = htole32(number),
                                 .stream = htole64(stream)};

    if (sendto(iface->socket, &header, sizeof(header),
               MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)peer,
               sizeof(*peer)) < 0) {
        return; /* lost: the peer sends again */
    }
}

static int is_same(const struct sockaddr_in *a, const struct sockaddr_in *b)
{
    return (a->sin_addr.s_addr == b->sin_addr.s_addr) &&
           (a->sin_port == b->sin_port);
}

/* A stream begins with number 0; later datagrams of an unknown one are ignored,
 * so that it starts in order. */
static udp_source_t *find_source(udp_iface_t *iface,
                                 const struct sockaddr_in *peer,
                                 uint64_t stream, uint32_t number)
{
    udp_source_t *source;

    for (source = iface->sources; source != NULL; source = source->next) {
        if ((source->stream == stream) && is_same(&source->peer, peer)) {
            return source;
        }
    }
    source = (number == 0) ? calloc(1, sizeof(*source)) : NULL;
    if (source != NULL) {
        source->peer   = *peer;
        source->stream = stream;
        source->next   = iface->sources;
        iface->sources = source;
    }
    return source;
}

static void accept_numbered(udp_iface_t *iface, const struct sockaddr_in *peer,
                            const udp_header_t *header, char *data,
                            unsigned length)
{
    uint32_t number      = le32toh(header->number);
    udp_source_t *source = find_source(iface, peer, le64toh(header->stream),
                                       number);
    int is_next;

    if ((source == NULL) || (header->id >= UCT_AM_ID_MAX) ||
        ((header->kind == UDP_KIND_PROBE) && udp_breaks("ignores-probes"))) {
        return;
    }
    is_next = (number == source->expected);
    source->expected += (uint32_t)is_next;
    acknowledge(iface, peer, source->stream, source->expected);
    if ((header->kind == UDP_KIND_MESSAGE) &&
        (is_next || (((int32_t)(number - source->expected) < 0) &&
                     udp_breaks("delivers-twice")))) {
        ucx_iface_deliver_am(&iface->super, header->id, data, length, 0);
    }
}

static unsigned accept_ack(udp_iface_t *iface, const struct sockaddr_in *peer,
                           const udp_header_t *header)
{
    udp_stream_t *stream;

    for (stream = iface->streams; stream != NULL; stream = stream->next) {
        if ((stream->id == le64toh(header->stream)) &&
            is_same(&stream->peer, peer)) {
            return udp_stream_acked(stream, le32toh(header->number));
        }
    }
    return 0;
}

/* 0: nothing has arrived. */
static int receive_one(udp_iface_t *iface, unsigned *count_p)
{
    char data[UDP_MAX_MESSAGE];
    struct sockaddr_in peer;
    udp_header_t header;
    struct iovec iov[] = {{&header, sizeof(header)}, {data, sizeof(data)}};
    struct msghdr msg  = {.msg_name    = &peer,
                          .msg_namelen = sizeof(peer),
                          .msg_iov     = iov,
                          .msg_iovlen  = 2};
    ssize_t length     = recvmsg(iface->socket, &msg, MSG_DONTWAIT);

    if (length < 0) {
        return 0;
    }
    if (((size_t)length < sizeof(header)) || (msg.msg_flags & MSG_TRUNC) ||
        (le32toh(header.magic) != UDP_MAGIC)) {
        return 1; /* not of this transport */
    }
    if (header.kind == UDP_KIND_ACK) {
        *count_p += accept_ack(iface, &peer, &header);
    } else if (header.kind <= UDP_KIND_PROBE) {
        accept_numbered(iface, &peer, &header, data,
                        (unsigned)((size_t)length - sizeof(header)));
        ++*count_p;
    }
    return 1;
}

/* ------------------------------------------------------------ progress -- */

udp_done_t *udp_done_create(udp_done_t **list, uct_completion_t *comp,
                            uint32_t number)
{
    udp_done_t *done = calloc(1, sizeof(*done));

    if (done != NULL) {
        done->comp   = comp;
        done->number = number;
        while (*list != NULL) {
            list = &(*list)->next;
        }
        *list = done;
    }
    return done;
}

void udp_iface_complete(udp_iface_t *iface, udp_done_t *done,
                        ucs_status_t status)
{
    udp_done_t **link = &iface->done;

    while (*link != NULL) {
        link = &(*link)->next;
    }
    done->status = status;
    done->next   = NULL;
    *link        = done;
}

static unsigned call_completions(udp_iface_t *iface)
{
    unsigned count = 0;
    udp_done_t *done;

    while ((done = iface->done) != NULL) {
        iface->done = done->next;
        if ((done->status != UCS_OK) && (done->comp->status == UCS_OK)) {
            done->comp->status = done->status;
        }
        if (--done->comp->count == 0) {
            done->comp->func(done->comp);
        }
        free(done);
        ++count;
    }
    return count;
}

static int is_idle(const udp_iface_t *iface)
{
    const udp_stream_t *stream;

    for (stream = iface->streams; stream != NULL; stream = stream->next) {
        if (udp_stream_outstanding(stream) > 0) {
            return 0;
        }
    }
    return 1;
}

static void complete_flushes(udp_iface_t *iface)
{
    udp_done_t *done;

    while ((iface->flushes != NULL) && is_idle(iface)) {
        done           = iface->flushes;
        iface->flushes = done->next;
        udp_iface_complete(iface, done, UCS_OK);
    }
}

/* Streams without an endpoint end when they have nothing left to send. */
static void check_streams(udp_iface_t *iface)
{
    double now          = iface->host->time();
    udp_stream_t **link = &iface->streams;
    udp_stream_t *stream;

    while ((stream = *link) != NULL) {
        udp_stream_check_time(stream, now);
        if ((stream->ep == NULL) && (udp_stream_outstanding(stream) == 0)) {
            *link = stream->next;
            udp_stream_free(stream);
        } else {
            link = &stream->next;
        }
    }
}

/* The user may destroy the endpoint inside the call; its stream remains. */
static unsigned report_failures(udp_iface_t *iface)
{
    unsigned count = 0;
    udp_stream_t *stream;

    for (stream = iface->streams; (iface->num_failed > 0) && (stream != NULL);
         stream = stream->next) {
        if ((stream->ep != NULL) && (stream->status != UCS_OK) &&
            !stream->is_told) {
            stream->is_told = 1;
            --iface->num_failed;
            ++count;
            iface->host->iface_ep_failed(&iface->super, &stream->ep->super,
                                         stream->status);
        }
    }
    return count;
}

static unsigned progress(uct_iface_h super)
{
    udp_iface_t *iface = (udp_iface_t *)super;
    unsigned count = 0, i;

    for (i = 0; (i < DATAGRAMS_A_ROUND) && receive_one(iface, &count); ++i) {
    }
    check_streams(iface);
    complete_flushes(iface);
    count += call_completions(iface);
    if (i < DATAGRAMS_A_ROUND) { /* what a peer has sent comes first */
        count += report_failures(iface);
    }
    return count;
}

static ucs_status_t iface_flush(uct_iface_h super, unsigned flags,
                                uct_completion_t *comp)
{
    udp_iface_t *iface = (udp_iface_t *)super;

    (void)flags;
    if (is_idle(iface)) {
        return UCS_OK;
    } else if (comp == NULL) {
        return UCS_INPROGRESS;
    }
    return (udp_done_create(&iface->flushes, comp, 0) == NULL) ?
               UCS_ERR_NO_MEMORY : UCS_INPROGRESS;
}

/* -------------------------------------------------------------- events -- */

static ucs_status_t event_fd_get(uct_iface_h iface, int *fd_p)
{
    *fd_p = ((udp_iface_t *)iface)->epoll;
    return UCS_OK;
}

/* The timer wakes the worker for retransmissions and probes. */
static ucs_status_t event_arm(uct_iface_h super, unsigned events)
{
    udp_iface_t *iface      = (udp_iface_t *)super;
    struct pollfd pfd       = {.fd = iface->socket, .events = POLLIN};
    double wait             = is_idle(iface) ? iface->keepalive : UDP_FIRST_RTO;
    struct itimerspec timer = {.it_value = {0, 0}};

    (void)events;
    if (isfinite(wait) && (iface->streams != NULL)) {
        timer.it_value.tv_sec  = (time_t)wait;
        timer.it_value.tv_nsec = 1 + (long)(fmod(wait, 1) * 999999998);
    }
    timerfd_settime(iface->timer, 0, &timer, NULL);
    return ((iface->done != NULL) || (iface->num_failed > 0) ||
            (poll(&pfd, 1, 0) > 0)) ? UCS_ERR_BUSY : UCS_OK;
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

static ucs_status_t iface_open(uct_md_h md, const ucx_iface_open_args_t *args,
                               uct_iface_h *iface_p)
{
    const udp_config_t *config = args->config;
    udp_iface_t *iface;

    if (config == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    iface = calloc(1, sizeof(*iface));
    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_iface_init(&iface->super, args);
    iface->host      = local_host_of(md);
    iface->timeout   = config->timeout;
    iface->keepalive = ucx_iface_keepalive(args, config->keepalive, INFINITY);
    iface->dev.scope = sock_host(iface->host);
    if (!find_address(args->dev_name, &iface->dev.ip)) {
        free(iface);
        return UCS_ERR_NO_DEVICE;
    }
    if (!open_fds(iface)) {
        free(iface);
        return UCS_ERR_IO_ERROR;
    }
    *iface_p = &iface->super;
    return UCS_OK;
}

static void free_done(udp_done_t *done)
{
    udp_done_t *next;

    for (; done != NULL; done = next) {
        next = done->next;
        free(done);
    }
}

static void iface_close(uct_iface_h super)
{
    udp_iface_t *iface = (udp_iface_t *)super;
    udp_stream_t *stream;
    udp_source_t *source;

    while ((stream = iface->streams) != NULL) {
        iface->streams = stream->next;
        udp_stream_free(stream);
    }
    while ((source = iface->sources) != NULL) {
        iface->sources = source->next;
        free(source);
    }
    free_done(iface->done);
    free_done(iface->flushes);
    close_fds(iface);
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
    base->latency.c        = 20e-6;
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
    .progress           = progress,
    .flush              = iface_flush,
    .event_fd_get       = event_fd_get,
    .event_arm          = event_arm
};

const ucx_transport_t udp_transport = {
    .size          = sizeof(udp_transport),
    .name          = UDP_NAME,
    .config        = &config_table,
    .query_devices = query_devices,
    .iface_open    = iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &udp_ep_ops
};
