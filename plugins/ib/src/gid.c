/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the GID of a port, or on iWARP its IP address. */
#include "gid.h"
#include "iwarp.h"

#include <ifaddrs.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static int gid_is_ipv4(const union ibv_gid *gid)
{
    static const uint8_t prefix[12] = {0, 0, 0, 0, 0,    0,
                                       0, 0, 0, 0, 0xff, 0xff};

    return memcmp(gid->raw, prefix, sizeof(prefix)) == 0;
}

static int gid_is_link_local(const union ibv_gid *gid)
{
    return (gid->raw[0] == 0xfe) && ((gid->raw[1] & 0xc0) == 0x80);
}

/* Returns the kind of link for a GID of an Ethernet port. */
static uint8_t gid_kind(const struct ibv_gid_entry *entry)
{
    if (entry->gid_type != IBV_GID_TYPE_ROCE_V2) {
        return IB_LINK_ROCE_V1;
    }
    return gid_is_ipv4(&entry->gid) ? IB_LINK_ROCE_V2_IPV4 :
                                      IB_LINK_ROCE_V2_IPV6;
}

/* Returns the preference of a GID; higher is better. A link-local address ranks
 * lower, because it is not routed. */
static int gid_rank(const struct ibv_gid_entry *entry)
{
    int local = gid_is_link_local(&entry->gid);

    switch (gid_kind(entry)) {
    case IB_LINK_ROCE_V2_IPV4:
        return 6;
    case IB_LINK_ROCE_V2_IPV6:
        return local ? 3 : 5;
    default:
        return local ? 2 : 4;
    }
}

/* Reads the entry of the GID table that the user has configured. Address
 * handles have 8 bits for the index. */
static ucs_status_t gid_by_index(const ucx_host_t *host,
                                 struct ibv_context *context, unsigned index,
                                 ib_port_t *port, struct ibv_gid_entry *entry)
{
    if (index > UINT8_MAX) {
        ucx_error("UCX_IB_GID_INDEX=%u: only the GIDs 0 to %u of a port can be "
                  "used",
                  index, UINT8_MAX);
        return UCS_ERR_INVALID_PARAM;
    }
    if (ibv_query_gid_ex(context, port->number, index, entry, 0) == 0) {
        return UCS_OK;
    }
    ucx_error("UCX_IB_GID_INDEX=%u: port %u of %s has no such GID (show_gids, "
              "or /sys/class/infiniband/%s/ports/%u/gids, lists them)",
              index, port->number, ibv_get_device_name(context->device),
              ibv_get_device_name(context->device), port->number);
    return UCS_ERR_INVALID_PARAM;
}

/* Reads the GIDs of all ports in one system call, not in one for each of the up
 * to 1024 entries of a table. Returns the number of GIDs; negative: failure.
 * The caller frees *table_p, also after a failure. */
static ssize_t gid_table(struct ibv_context *context, int port_length,
                         struct ibv_gid_entry **table_p)
{
    struct ibv_device_attr attr;
    size_t length;

    if (ibv_query_device(context, &attr) != 0) {
        return -1;
    }
    length   = (size_t)port_length * attr.phys_port_cnt;
    *table_p = calloc(length, sizeof(**table_p));
    return (*table_p == NULL) ?
               -1 :
               ibv_query_gid_table(context, *table_p, length, 0);
}

/* Selects the best entry of the port's table. */
static ucs_status_t gid_select(struct ibv_context *context, int port_length,
                               ib_port_t *port, struct ibv_gid_entry *best)
{
    struct ibv_gid_entry *table = NULL;
    ssize_t length              = gid_table(context, port_length, &table);
    int rank                    = 0, entry_rank;

    for (ssize_t i = 0; i < length; ++i) {
        if ((table[i].port_num != port->number) ||
            (table[i].gid_index > UINT8_MAX)) {
            continue;
        }
        entry_rank = gid_rank(&table[i]);
        if (entry_rank > rank) {
            rank  = entry_rank;
            *best = table[i];
        }
    }
    free(table);
    return (rank == 0) ? UCS_ERR_NO_DEVICE : UCS_OK;
}

static unsigned count_bits(const uint8_t *bytes, size_t length)
{
    unsigned num = 0;

    for (size_t i = 0; i < length; ++i) {
        num += (unsigned)__builtin_popcount(bytes[i]);
    }
    return num;
}

/* Returns the length of the subnet prefix in bits, if the GID is the IP address
 * `at` of a network device; otherwise 0. */
static unsigned prefix_at(const struct ifaddrs *at, const union ibv_gid *gid)
{
    const struct sockaddr_in6 *in6 = (const void *)at->ifa_addr;
    const struct sockaddr_in *in   = (const void *)at->ifa_addr;

    if ((at->ifa_addr == NULL) || (at->ifa_netmask == NULL)) {
        return 0;
    }
    if ((at->ifa_addr->sa_family == AF_INET) && gid_is_ipv4(gid) &&
        (memcmp(&in->sin_addr, gid->raw + 12, 4) == 0)) {
        in = (const void *)at->ifa_netmask;
        return 96 + count_bits((const uint8_t *)&in->sin_addr, 4);
    }
    if ((at->ifa_addr->sa_family == AF_INET6) &&
        (memcmp(&in6->sin6_addr, gid->raw, 16) == 0)) {
        in6 = (const void *)at->ifa_netmask;
        return count_bits((const uint8_t *)&in6->sin6_addr, 16);
    }
    return 0;
}

/* Returns the length of the GID's subnet prefix in bits. A prefix of InfiniBand
 * or RoCE v1 has 64 bits. The prefix of an IP address is that of its network
 * device. If no network device has the address, for example because the device
 * is in another namespace, 64 bits are compared: then all IPv4 addresses count
 * as one subnet. */
static uint8_t gid_prefix(uint8_t kind, const union ibv_gid *gid)
{
    unsigned prefix = 0;
    struct ifaddrs *list;

    if ((kind == IB_LINK_IB) || (kind == IB_LINK_ROCE_V1) ||
        (getifaddrs(&list) != 0)) {
        return 64;
    }
    for (const struct ifaddrs *at = list; (at != NULL) && (prefix == 0);
         at                       = at->ifa_next) {
        prefix = prefix_at(at, gid);
    }
    freeifaddrs(list);
    return (prefix == 0) ? 64 : (uint8_t)prefix;
}

/* Sets the kind of the link, the GID and its index. */
static ucs_status_t select_any(const ucx_host_t *host,
                               struct ibv_context *context,
                               const struct ibv_port_attr *attr, unsigned index,
                               ib_port_t *port)
{
    int is_ethernet            = attr->link_layer == IBV_LINK_LAYER_ETHERNET;
    struct ibv_gid_entry entry = {0};
    ucs_status_t status;

    if (ib_is_iwarp(context)) {
        status     = ib_iwarp_address(host, context, port->number, &port->gid);
        port->kind = gid_is_ipv4(&port->gid) ? IB_LINK_IWARP_IPV4 :
                                               IB_LINK_IWARP_IPV6;
        return status;
    }
    if (index != UINT_MAX) {
        status = gid_by_index(host, context, index, port, &entry);
    } else if (is_ethernet) {
        status = gid_select(context, attr->gid_tbl_len, port, &entry);
    } else {
        status = (ibv_query_gid_ex(context, port->number, 0, &entry, 0) == 0) ?
                     UCS_OK :
                     UCS_ERR_NO_DEVICE;
    }
    if (status != UCS_OK) {
        return status;
    }
    port->gid       = entry.gid;
    port->gid_index = (uint8_t)entry.gid_index;
    port->kind      = is_ethernet ? gid_kind(&entry) : IB_LINK_IB;
    return UCS_OK;
}

ucs_status_t ib_gid_select(const ucx_host_t *host, struct ibv_context *context,
                           const struct ibv_port_attr *attr, unsigned index,
                           ib_port_t *port)
{
    ucs_status_t status = select_any(host, context, attr, index, port);

    if (status == UCS_OK) {
        port->prefix = gid_prefix(port->kind, &port->gid);
    }
    return status;
}
