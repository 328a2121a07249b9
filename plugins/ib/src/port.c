/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports: attributes, P_Keys, addresses of peers. */
#include "port.h"
#include "gid.h"

#include <endian.h>
#include <limits.h>
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

    status = ib_gid_select(host, context, &attr, config->gid_index, port);
    if (status == UCS_OK) {
        status = port_set_pkey(host, context, &attr, config->pkey, port);
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
