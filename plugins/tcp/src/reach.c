/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device addresses, and reachability of peers. Queries the routing table; sends
 * nothing.
 */
#include "iface.h"
#include "sock.h"
#include "wire.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t tcp_dev_addr_length(const tcp_sockaddr_t *addr)
{
    return (addr->sa.sa_family == AF_INET) ? TCP_WIRE_DEV_LEN_V4 :
                                             TCP_WIRE_DEV_LEN_V6;
}

void tcp_dev_addr_pack(uint64_t locality, const tcp_sockaddr_t *addr,
                       void *buffer)
{
    tcp_sockaddr_t copy = *addr;
    uint8_t *dst        = buffer;
    size_t length;
    void *ip;

    locality = htole64(locality);
    ip       = tcp_sock_addr_ip(&copy, &length);
    dst[0]   = (length == 4) ? 4 : 6;
    dst[1]   = tcp_sock_addr_is_loopback(addr) ? TCP_WIRE_DEV_LOOPBACK : 0;
    memcpy(dst + 2, &locality, sizeof(locality));
    memcpy(dst + TCP_WIRE_DEV_HEAD, ip, length);
}

ucs_status_t tcp_dev_addr_unpack(const void *buffer, size_t length,
                                 tcp_sockaddr_t *addr, unsigned *flags_p,
                                 uint64_t *locality_p)
{
    const uint8_t *src = buffer;
    size_t ip_length;
    void *ip;

    if ((src == NULL) || (length == 0) || ((src[0] != 4) && (src[0] != 6))) {
        return UCS_ERR_INVALID_ADDR;
    }
    memset(addr, 0, sizeof(*addr));
    addr->sa.sa_family = (src[0] == 4) ? AF_INET : AF_INET6;
    if (length < tcp_dev_addr_length(addr)) {
        return UCS_ERR_INVALID_ADDR;
    }

    *flags_p    = src[1];
    *locality_p = tcp_wire_load(src + 2);
    ip          = tcp_sock_addr_ip(addr, &ip_length);
    memcpy(ip, src + TCP_WIRE_DEV_HEAD, ip_length);
    return tcp_sock_addr_is_any(addr) ? UCS_ERR_INVALID_ADDR : UCS_OK;
}

ucs_status_t tcp_iface_get_device_address(uct_iface_h uct_iface,
                                          uct_device_addr_t *addr)
{
    tcp_iface_t *iface = tcp_iface(uct_iface);

    tcp_dev_addr_pack(iface->md->locality, &iface->device.addr, addr);
    return UCS_OK;
}

static int __attribute__((format(printf, 2, 3)))
unreachable(const ucx_reachable_args_t *args, const char *format, ...)
{
    va_list ap;

    if ((args->reason != NULL) && (args->reason_size > 0)) {
        va_start(ap, format);
        vsnprintf(args->reason, args->reason_size, format, ap);
        va_end(ap);
    }
    return 0;
}

/* Results of is_reachable, from worst to best. BY_ROUTER: this host has a
 * route, but whether the routers behind it have one is not known. WITHIN_HOST:
 * the address is on this host, but not in the device's network. Within a host
 * any address is reachable from any device, but two interfaces share a
 * connection only if both sides select the same pair, so SAME_NETWORK is
 * preferred. */
enum { BY_ROUTER = 1, WITHIN_HOST = 2, SAME_NETWORK = 3 };

/* Handles a peer's address that is also an address of this host. The peer may
 * nevertheless be on another host that has the same address: bridges of
 * containers, for example, often have the same address on every host. */
static int reach_local(const tcp_iface_t *iface, const char *peer,
                       uint64_t locality, int is_same,
                       const ucx_reachable_args_t *args)
{
    if (locality != iface->md->locality) {
        return unreachable(args,
                           "%s is an address of this host, but the peer "
                           "is on another host (or network namespace)",
                           peer);
    }
    return is_same ? SAME_NETWORK : WITHIN_HOST;
}

int tcp_iface_is_reachable(uct_iface_h uct_iface,
                           const ucx_reachable_args_t *args)
{
    tcp_iface_t *iface          = tcp_iface(uct_iface);
    const tcp_device_t *device  = &iface->device;
    char peer[TCP_SOCK_STR_MAX] = "";
    tcp_sockaddr_t addr;
    uint64_t locality;
    tcp_route_t route;
    unsigned flags;

    if ((args->dev_addr == NULL) ||
        (tcp_dev_addr_unpack(args->dev_addr, args->dev_addr_length, &addr,
                             &flags, &locality) != UCS_OK)) {
        return unreachable(args, "not an address of this transport");
    }
    if ((args->iface_addr != NULL) && (args->iface_addr_length != 0) &&
        (args->iface_addr_length < sizeof(tcp_wire_iface_addr_t))) {
        return unreachable(args, "the interface address is too short");
    }

    if (args->reason != NULL) {
        tcp_sock_str(&addr, peer, sizeof(peer));
    }
    if (addr.sa.sa_family != device->addr.sa.sa_family) {
        return unreachable(args,
                           "the address families of %s and %s differ "
                           "(see UCX_TCP_AF_PRIO)",
                           peer, device->name);
    }
    if ((flags & TCP_WIRE_DEV_LOOPBACK) || tcp_sock_addr_is_loopback(&addr)) {
        return reach_local(iface, peer, locality, device->is_loopback, args);
    }
    if (device->is_loopback && (locality != iface->md->locality)) {
        return unreachable(args,
                           "%s is on another host, which the loopback "
                           "device does not reach",
                           peer);
    }

    if (tcp_route_find(&iface->md->routes, &addr,
                       device->is_loopback ? NULL : &device->addr,
                       &route) != UCS_OK) {
        return unreachable(args,
                           "the kernel did not answer a query for the "
                           "route to %s",
                           peer);
    }
    switch (route.kind) {
    case TCP_ROUTE_LOCAL:
        return reach_local(iface, peer, locality,
                           tcp_device_on_link(device, &addr), args);
    case TCP_ROUTE_DEVICE:
        if (tcp_device_on_link(device, &addr)) {
            return SAME_NETWORK;
        }
        if (route.ifindex == device->index) {
            return BY_ROUTER;
        }
        return unreachable(args, "the route to %s does not use %s", peer,
                           device->name);
    default:
        return unreachable(args, "no route to %s", peer);
    }
}
