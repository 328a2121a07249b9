/* SPDX-License-Identifier: BSD-3-Clause */
/* A port of a device: its attributes, the GID that the plugin uses, and the
 * address that peers receive. */
#ifndef IB_PORT_H
#define IB_PORT_H

#include "config.h"

#include <infiniband/verbs.h>

/*
 * The device address as sent to peers. Multi-byte fields are little-endian, the
 * GID is in network order.
 *
 *    0        1        2        4                          20
 *   +--------+--------+--------+--------------------------+
 *   | kind   | mtu    | lid    | gid                      |
 *   +--------+--------+--------+--------------------------+
 */
typedef struct ib_wire_device {
    uint8_t kind;    /* IB_LINK_* */
    uint8_t mtu;     /* ib_port_t.mtu of the port, 1 to 5 */
    uint16_t lid;    /* The port's local identifier; only InfiniBand uses it */
    uint8_t gid[16]; /* On iWARP, the IP address; IPv4 as ::ffff:a.b.c.d */
} __attribute__((packed)) ib_wire_device_t;

_Static_assert(sizeof(ib_wire_device_t) == 20, "wire format");

/* The kind of a port's link. Only ports with the same kind can connect. */
enum {
    IB_LINK_IB = 1,
    IB_LINK_ROCE_V1,
    IB_LINK_ROCE_V2_IPV4,
    IB_LINK_ROCE_V2_IPV6,
    IB_LINK_IWARP_IPV4,
    IB_LINK_IWARP_IPV6,
};

typedef struct ib_port {
    uint8_t number;      /* Port number of the device, from 1 */
    uint8_t kind;        /* Kind of link: IB_LINK_* */
    uint8_t gid_index;   /* Index of `gid` in the port's GID table */
    uint8_t prefix;      /* Length of the subnet prefix of `gid` in bits, 1 to
                          * 128 */
    uint16_t pkey_index; /* Index of the partition key in the port's table */
    enum ibv_mtu mtu;    /* Maximum packet size: the port's, or less if the user
                          * has set PATH_MTU */
    uint16_t lid;
    union ibv_gid gid; /* On iWARP, the IP address; see ib_wire_device_t */
    uint32_t max_msg;  /* Maximum message length in bytes */
    double bandwidth;  /* Bytes per second of payload */
    double latency;    /* Seconds, of the link and the devices together */
    /* Values of the variables of the same names, for packets to all peers */
    uint8_t sl, traffic_class, hop_limit;
    uint8_t is_global; /* Packets within a subnet have a global header, too */
    uint8_t local_subnet; /* Reaches only RoCE ports of the same subnet */
} ib_port_t;

/* Stores the variables of the memory domain in *config, replaced by those of a
 * transport that the user has set. UCS_ERR_INVALID_PARAM: a variable of the
 * transport is out of range. */
ucs_status_t ib_port_config(const ucx_host_t *host,
                            const ib_md_config_t *domain,
                            const ib_path_config_t *path,
                            ib_md_config_t *config);

/* Fills *port: reads the port's attributes and selects its GID and P_Key.
 * UCS_ERR_NO_DEVICE: the port is not active, or it has no GID (on iWARP, no IP
 * address) or is in no partition. UCS_ERR_INVALID_PARAM: a variable names an
 * entry that the port does not have. */
ucs_status_t ib_port_open(const ucx_host_t *host, struct ibv_context *context,
                          uint8_t number, const ib_md_config_t *config,
                          ib_port_t *port);

void ib_port_address(const ib_port_t *port, ib_wire_device_t *wire);

/* Returns 0 if the peer whose device address is in `args` is not reachable, 1
 * if the peer is in another subnet than the port, 2 if both are in the same
 * subnet. The address is untrusted input. If the result is 0 and `args` has a
 * buffer for the reason, stores the reason. */
int ib_port_reaches(const ib_port_t *port, const ucx_reachable_args_t *args);

/* Fills *ah for packets to the peer with this device address, and stores the
 * smaller of both ports' MTUs in *mtu_p. */
ucs_status_t ib_port_path(const ib_port_t *port, const void *address,
                          size_t length, struct ibv_ah_attr *ah,
                          enum ibv_mtu *mtu_p);

#endif
