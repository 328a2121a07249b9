/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports: attributes, GIDs, P_Keys, addresses of peers. */
#include "port.h"
#include "iwarp.h"

#include <endian.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PKEY_FULL = 0x8000 }; /* The bit of a P_Key that marks a full member */

/* Returns the number of physical lanes of the link for a value of
 * ibv_port_attr.active_width. */
static unsigned link_lanes(uint8_t width)
{
    switch (width) {
    case 1:
        return 1;
    case 2:
        return 4;
    case 4:
        return 8;
    case 8:
        return 12;
    case 16:
        return 2;
    default:
        return 1;
    }
}

/* Returns the data rate of one physical lane in bits per second for a value of
 * ibv_port_attr.active_speed: the signalling rate without the line code
 * (8b/10b; 64b/66b from FDR10). */
static double lane_speed(uint8_t speed)
{
    switch (speed) {
    case 1:
        return 2.5e9 * 8 / 10;
    case 2:
        return 5e9 * 8 / 10;
    case 4:
        return 10e9 * 8 / 10;
    case 8:
        return 10.3125e9 * 64 / 66;
    case 16:
        return 14.0625e9 * 64 / 66;
    case 32:
        return 25.78125e9 * 64 / 66;
    case 64:
        return 53.125e9 * 64 / 66;
    case 128:
        return 106.25e9 * 64 / 66;
    default:
        return 2.5e9 * 8 / 10;
    }
}

/* Returns the bytes of headers in each packet on this kind of link: link,
 * network and transport headers, checksums. */
static unsigned header_bytes(uint8_t kind)
{
    switch (kind) {
    case IB_LINK_IB:
        return 8 + 12 + 4 + 2; /* LRH, BTH, ICRC, VCRC */
    case IB_LINK_ROCE_V1:
        return 14 + 4 + 40 + 12 + 4; /* Ethernet, GRH, BTH, ICRC */
    case IB_LINK_ROCE_V2_IPV4:
        return 14 + 4 + 20 + 8 + 12 + 4; /* Ethernet, IPv4, UDP, BTH, ICRC */
    case IB_LINK_IWARP_IPV4:
        return 14 + 4 + 20 + 32 + 20; /* Ethernet, IPv4, TCP, MPA and DDP */
    case IB_LINK_IWARP_IPV6:
        return 14 + 4 + 40 + 32 + 20;
    default:
        return 14 + 4 + 40 + 8 + 12 + 4;
    }
}

static size_t mtu_bytes(enum ibv_mtu mtu)
{
    return (size_t)128 << mtu;
}

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

static ucs_status_t port_set_gid(const ucx_host_t *host,
                                 struct ibv_context *context,
                                 const struct ibv_port_attr *attr,
                                 const ib_md_config_t *config, ib_port_t *port)
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
    if (config->gid_index != UINT_MAX) {
        status = gid_by_index(host, context, config->gid_index, port, &entry);
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

/* Stores the index of the first entry of the P_Key table that is a full member
 * of the partition `wanted`, or of any partition if `wanted` is 0. If there is
 * none, stores that of the first limited member. Returns 0 if there is
 * neither. */
static int find_pkey(struct ibv_context *context, uint8_t number,
                     uint16_t length, unsigned wanted, uint16_t *index_p,
                     uint16_t *pkey_p)
{
    int is_found = 0;
    uint16_t pkey;
    __be16 raw;

    for (uint16_t i = 0; i < length; ++i) {
        if (ibv_query_pkey(context, number, i, &raw) != 0) {
            continue;
        }
        pkey = be16toh(raw);
        if (((pkey & ~PKEY_FULL) == 0) || /* An unused entry */
            ((wanted != 0) && ((pkey | PKEY_FULL) != (wanted | PKEY_FULL))) ||
            (is_found && !(pkey & PKEY_FULL))) {
            continue;
        }
        is_found = 1;
        *index_p = i;
        *pkey_p  = pkey;
        if (pkey & PKEY_FULL) {
            break;
        }
    }
    return is_found;
}

/* Selects the P_Key. Only InfiniBand has partitions; on other ports, queue
 * pairs use the entry 0. */
static ucs_status_t port_set_pkey(const ucx_host_t *host,
                                  struct ibv_context *context,
                                  const struct ibv_port_attr *attr,
                                  unsigned wanted, ib_port_t *port)
{
    const char *name = ibv_get_device_name(context->device);
    uint16_t pkey    = 0;

    port->pkey_index = 0;
    if (port->kind != IB_LINK_IB) {
        return UCS_OK;
    }
    if (!find_pkey(context, port->number, attr->pkey_tbl_len, wanted,
                   &port->pkey_index, &pkey)) {
        if (wanted != 0) {
            ucx_error("UCX_IB_PKEY, UCX_RC_PKEY or UCX_UD_PKEY is 0x%x: port "
                      "%u of %s is no member of that partition",
                      wanted, port->number, name);
            return UCS_ERR_INVALID_PARAM;
        }
        ucx_error("port %u of %s is a member of no partition; check the "
                  "configuration of the subnet manager",
                  port->number, name);
        return UCS_ERR_NO_DEVICE;
    }
    if (!(pkey & PKEY_FULL)) {
        ucx_diag("port %u of %s is a limited member of partition 0x%x: it "
                 "reaches full members only",
                 port->number, name, pkey);
    }
    return UCS_OK;
}

/* Stores a variable of the transport in *value, if the user has set the
 * variable. */
static ucs_status_t take(const ucx_host_t *host, const char *name,
                         unsigned wanted, unsigned max, unsigned *value)
{
    if (wanted == UINT_MAX) {
        return UCS_OK;
    }
    if (wanted > max) {
        ucx_error("UCX_*_%s=%u of an InfiniBand transport: at most %u", name,
                  wanted, max);
        return UCS_ERR_INVALID_PARAM;
    }
    *value = wanted;
    return UCS_OK;
}

ucs_status_t ib_port_config(const ucx_host_t *host,
                            const ib_md_config_t *domain,
                            const ib_path_config_t *path,
                            ib_md_config_t *config)
{
    ucs_status_t status;

    *config = *domain;
    if (path->pkey != 0) {
        config->pkey = path->pkey;
    }
    if (path->path_mtu != 0) {
        config->path_mtu = path->path_mtu;
    }
    if (path->is_global != UCS_AUTO) {
        config->is_global = path->is_global != UCS_NO;
    }
    if (path->local_subnet != UCS_AUTO) {
        config->local_subnet = path->local_subnet != UCS_NO;
    }
    status = take(host, "SL", path->sl, 15, &config->sl);
    if (status == UCS_OK) {
        status = take(host, "TRAFFIC_CLASS", path->traffic_class, UINT8_MAX,
                      &config->traffic_class);
    }
    if (status == UCS_OK) {
        status = take(host, "HOP_LIMIT", path->hop_limit, UINT8_MAX,
                      &config->hop_limit);
    }
    return status;
}

ucs_status_t ib_port_open(const ucx_host_t *host, struct ibv_context *context,
                          uint8_t number, const ib_md_config_t *config,
                          ib_port_t *port)
{
    struct ibv_port_attr attr;
    ucs_status_t status;
    double payload;

    memset(port, 0, sizeof(*port));
    if (ibv_query_port(context, number, &attr) != 0) {
        return UCS_ERR_IO_ERROR;
    }
    if (attr.state != IBV_PORT_ACTIVE) {
        return UCS_ERR_NO_DEVICE;
    }

    port->number        = number;
    port->lid           = attr.lid;
    port->max_msg       = attr.max_msg_sz;
    port->sl            = (uint8_t)config->sl;
    port->traffic_class = (uint8_t)config->traffic_class;
    port->hop_limit     = (uint8_t)config->hop_limit;
    port->is_global     = (uint8_t)config->is_global;
    port->local_subnet  = (uint8_t)config->local_subnet;
    port->mtu           = attr.active_mtu;
    if ((config->path_mtu != 0) && (config->path_mtu < port->mtu)) {
        port->mtu = (enum ibv_mtu)config->path_mtu;
    }

    status = port_set_gid(host, context, &attr, config, port);
    if (status == UCS_OK) {
        port->prefix = gid_prefix(port->kind, &port->gid);
        status       = port_set_pkey(host, context, &attr, config->pkey, port);
    }
    if (status != UCS_OK) {
        return status;
    }

    payload         = (double)mtu_bytes(port->mtu);
    payload         = payload / (payload + header_bytes(port->kind));
    port->bandwidth = lane_speed(attr.active_speed) *
                      link_lanes(attr.active_width) / 8 * payload;
    port->latency = (port->kind == IB_LINK_IB) ? 600e-9 : 900e-9;
    return UCS_OK;
}

void ib_port_address(const ib_port_t *port, ib_wire_device_t *wire)
{
    wire->kind = port->kind;
    wire->mtu  = (uint8_t)port->mtu;
    wire->lid  = htole16(port->lid);
    memcpy(wire->gid, port->gid.raw, sizeof(wire->gid));
}

/* Copies and checks an address from a peer. */
static ucs_status_t take_address(const void *address, size_t length,
                                 ib_wire_device_t *wire)
{
    if ((address == NULL) || (length < sizeof(*wire))) {
        return UCS_ERR_INVALID_ADDR;
    }
    memcpy(wire, address, sizeof(*wire));
    if ((wire->kind < IB_LINK_IB) || (wire->kind > IB_LINK_IWARP_IPV6) ||
        (wire->mtu < IBV_MTU_256) || (wire->mtu > IBV_MTU_4096)) {
        return UCS_ERR_INVALID_ADDR;
    }
    return UCS_OK;
}

static int same_subnet(const ib_port_t *port, const ib_wire_device_t *wire)
{
    unsigned bytes = port->prefix / 8;
    uint8_t mask   = (uint8_t)(0xff00 >> (port->prefix % 8));

    return (memcmp(port->gid.raw, wire->gid, bytes) == 0) &&
           ((mask == 0) ||
            (((port->gid.raw[bytes] ^ wire->gid[bytes]) & mask) == 0));
}

static int unreachable(const ucx_reachable_args_t *args, const char *reason)
{
    if ((args->reason != NULL) && (args->reason_size > 0)) {
        snprintf(args->reason, args->reason_size, "%s", reason);
    }
    return 0;
}

int ib_port_reaches(const ib_port_t *port, const ucx_reachable_args_t *args)
{
    ib_wire_device_t wire;

    if (take_address(args->dev_addr, args->dev_addr_length, &wire) != UCS_OK) {
        return unreachable(args, "not an address of an RDMA port");
    }
    if (wire.kind != port->kind) {
        return unreachable(args, "the ports' link types differ (InfiniBand, "
                                 "RoCE v1, RoCE v2 or iWARP over IPv4 or "
                                 "IPv6)");
    }
    if (same_subnet(port, &wire)) {
        return 2;
    }
    if (port->local_subnet && (port->kind != IB_LINK_IB)) {
        return unreachable(args, "another subnet (UCX_IB_ROCE_LOCAL_SUBNET)");
    }
    /* RoCE v2 and iWARP are routed by IP, InfiniBand by a global routing
     * header. */
    if (port->kind == IB_LINK_ROCE_V1) {
        return unreachable(args, "RoCE v1 does not leave its Ethernet segment");
    }
    return 1;
}

ucs_status_t ib_port_path(const ib_port_t *port, const void *address,
                          size_t length, struct ibv_ah_attr *ah,
                          enum ibv_mtu *mtu_p)
{
    ib_wire_device_t wire;
    ucs_status_t status;

    status = take_address(address, length, &wire);
    if (status != UCS_OK) {
        return status;
    }
    if (wire.kind != port->kind) {
        return UCS_ERR_UNREACHABLE;
    }

    memset(ah, 0, sizeof(*ah));
    ah->port_num  = port->number;
    ah->sl        = port->sl;
    ah->dlid      = le16toh(wire.lid);
    ah->is_global = (port->kind != IB_LINK_IB) || port->is_global ||
                    !same_subnet(port, &wire);
    if (ah->is_global) {
        memcpy(ah->grh.dgid.raw, wire.gid, sizeof(wire.gid));
        ah->grh.sgid_index    = port->gid_index;
        ah->grh.traffic_class = port->traffic_class;
        ah->grh.hop_limit     = port->hop_limit;
    }
    *mtu_p = (wire.mtu < port->mtu) ? (enum ibv_mtu)wire.mtu : port->mtu;
    return UCS_OK;
}
