/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries the kernel's routing tables by rtnetlink, and caches the answers. */
#include "route.h"
#include "sock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <unistd.h>

#define ROUTE_LIFETIME 3.0 /* Seconds for which an answer is cached */

typedef struct route_request {
    struct nlmsghdr nh;
    struct rtmsg rt;
    uint8_t attrs[2 * RTA_SPACE(16)];
} route_request_t;

void tcp_routes_init(tcp_routes_t *routes, const ucx_host_t *host)
{
    memset(routes, 0, sizeof(*routes));
    routes->host = host;
    pthread_mutex_init(&routes->lock, NULL);
}

void tcp_routes_cleanup(tcp_routes_t *routes)
{
    pthread_mutex_destroy(&routes->lock);
}

static void request_add(route_request_t *req, unsigned short type,
                        const tcp_sockaddr_t *addr)
{
    tcp_sockaddr_t copy = *addr;
    struct rtattr *rta;
    size_t length;
    void *ip;

    ip  = tcp_sock_addr_ip(&copy, &length);
    rta = (struct rtattr *)((char *)&req->nh + NLMSG_ALIGN(req->nh.nlmsg_len));
    rta->rta_type = type;
    rta->rta_len  = (unsigned short)RTA_LENGTH(length);
    memcpy(RTA_DATA(rta), ip, length);
    req->nh.nlmsg_len = NLMSG_ALIGN(req->nh.nlmsg_len) +
                        (uint32_t)RTA_SPACE(length);
    if (type == RTA_DST) {
        req->rt.rtm_dst_len = (unsigned char)(length * 8);
    } else {
        req->rt.rtm_src_len = (unsigned char)(length * 8);
    }
}

/* Parses one answer from the kernel. *route stays unchanged (TCP_ROUTE_NONE) if
 * there is no route. */
static ucs_status_t reply_parse(const struct nlmsghdr *nh, size_t size,
                                tcp_route_t *route)
{
    const struct rtmsg *rt;
    const struct rtattr *rta;
    int length;

    if (!NLMSG_OK(nh, (unsigned)size)) {
        return UCS_ERR_IO_ERROR;
    }
    if (nh->nlmsg_type == NLMSG_ERROR) {
        const struct nlmsgerr *err = NLMSG_DATA(nh);

        if (nh->nlmsg_len < NLMSG_LENGTH(sizeof(*err))) {
            return UCS_ERR_IO_ERROR;
        }
        /* Errors that the kernel returns if it has no route */
        switch (-err->error) {
        case ENETUNREACH:
        case EHOSTUNREACH:
        case ESRCH:
        case EACCES:
        case EINVAL:
        case ENODEV:
            return UCS_OK;
        default:
            return UCS_ERR_IO_ERROR;
        }
    }
    if ((nh->nlmsg_type != RTM_NEWROUTE) ||
        (nh->nlmsg_len < NLMSG_LENGTH(sizeof(*rt)))) {
        return UCS_ERR_IO_ERROR;
    }

    rt = NLMSG_DATA(nh);
    if (rt->rtm_type == RTN_LOCAL) {
        route->kind = TCP_ROUTE_LOCAL;
        return UCS_OK;
    }
    if (rt->rtm_type != RTN_UNICAST) {
        return UCS_OK;
    }

    length = (int)RTM_PAYLOAD(nh);
    for (rta = RTM_RTA(rt); RTA_OK(rta, length); rta = RTA_NEXT(rta, length)) {
        if ((rta->rta_type == RTA_OIF) && (RTA_PAYLOAD(rta) >= 4)) {
            uint32_t ifindex;

            memcpy(&ifindex, RTA_DATA(rta), sizeof(ifindex));
            route->kind    = TCP_ROUTE_DEVICE;
            route->ifindex = ifindex;
        }
    }
    return UCS_OK;
}

/* Sends a query; the kernel answers synchronously, so the read does not
 * block. */
static ucs_status_t route_ask(const tcp_sockaddr_t *dst,
                              const tcp_sockaddr_t *src, tcp_route_t *route)
{
    route_request_t req;
    ucs_status_t status = UCS_ERR_IO_ERROR;
    char reply[4096] __attribute__((aligned(NLMSG_ALIGNTO)));
    ssize_t length;
    int fd;

    route->kind    = TCP_ROUTE_NONE;
    route->ifindex = 0;
    fd             = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) {
        return UCS_ERR_IO_ERROR;
    }

    memset(&req, 0, sizeof(req));
    req.nh.nlmsg_len   = NLMSG_LENGTH(sizeof(req.rt));
    req.nh.nlmsg_type  = RTM_GETROUTE;
    req.nh.nlmsg_flags = NLM_F_REQUEST;
    req.rt.rtm_family  = (unsigned char)dst->sa.sa_family;
    request_add(&req, RTA_DST, dst);
    if (src != NULL) {
        request_add(&req, RTA_SRC, src);
    }

    if (send(fd, &req, req.nh.nlmsg_len, 0) == (ssize_t)req.nh.nlmsg_len) {
        do {
            length = recv(fd, reply, sizeof(reply), 0);
        } while ((length < 0) && (errno == EINTR));
        if (length > 0) {
            status = reply_parse((void *)reply, (size_t)length, route);
        }
    }

    close(fd);
    return status;
}

static unsigned addr_hash(const tcp_sockaddr_t *addr)
{
    tcp_sockaddr_t copy = *addr;
    unsigned hash       = 2166136261u;
    const uint8_t *ip;
    size_t length;

    ip = tcp_sock_addr_ip(&copy, &length);
    for (size_t i = 0; i < length; ++i) {
        hash = (hash ^ ip[i]) * 16777619u;
    }
    return hash;
}

static int slot_matches(const tcp_route_slot_t *slot, const tcp_sockaddr_t *dst,
                        const tcp_sockaddr_t *src)
{
    return tcp_sock_addr_same_ip(&slot->dst, dst) &&
           ((src == NULL) ? (slot->src.sa.sa_family == AF_UNSPEC) :
                            tcp_sock_addr_same_ip(&slot->src, src));
}

ucs_status_t tcp_route_find(tcp_routes_t *routes, const tcp_sockaddr_t *dst,
                            const tcp_sockaddr_t *src, tcp_route_t *route_p)
{
    unsigned hash = addr_hash(dst) ^ ((src == NULL) ? 0 : 3 * addr_hash(src));
    tcp_route_slot_t *slot = &routes->slots[hash & (TCP_ROUTE_SLOTS - 1)];
    double now             = routes->host->time();
    ucs_status_t status;
    int hit;

    pthread_mutex_lock(&routes->lock);
    hit = (now < slot->expires) && slot_matches(slot, dst, src);
    if (hit) {
        *route_p = slot->route;
    }
    pthread_mutex_unlock(&routes->lock);
    if (hit) {
        return UCS_OK;
    }

    status = route_ask(dst, src, route_p);
    if (status != UCS_OK) {
        return status;
    }

    pthread_mutex_lock(&routes->lock);
    memset(slot, 0, sizeof(*slot));
    slot->dst = *dst;
    if (src != NULL) {
        slot->src = *src;
    }
    slot->route   = *route_p;
    slot->expires = now + ROUTE_LIFETIME;
    pthread_mutex_unlock(&routes->lock);
    return UCS_OK;
}

unsigned tcp_route_default(tcp_routes_t *routes, int family)
{
    tcp_sockaddr_t far;
    tcp_route_t route;

    /* Addresses reserved for documentation: hosts have no other route for them,
     * so the answer is the default route. */
    memset(&far, 0, sizeof(far));
    far.sa.sa_family = (sa_family_t)family;
    if (family == AF_INET) {
        far.in.sin_addr.s_addr = htonl(0xcb007101u); /* 203.0.113.1 */
    } else {
        inet_pton(AF_INET6, "2001:db8::1", &far.in6.sin6_addr);
    }

    if ((tcp_route_find(routes, &far, NULL, &route) != UCS_OK) ||
        (route.kind != TCP_ROUTE_DEVICE)) {
        return 0;
    }
    return route.ifindex;
}
