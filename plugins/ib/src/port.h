/* SPDX-License-Identifier: BSD-3-Clause */
/* A port of a device: its attributes, its selected GID, and its address. */
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
    uint8_t kind; /* IB_LINK_* */
    uint8_t mtu;  /* An ibv_mtu, 1 to 5 */
    uint16_t lid; /* InfiniBand only */
    uint8_t gid[16];
} __attribute__((packed)) ib_wire_device_t;

_Static_assert(sizeof(ib_wire_device_t) == 20, "wire format");

/* The kind of link: only ports of the same kind can connect. */
enum {
    IB_LINK_IB = 1,
    IB_LINK_ROCE_V1,
    IB_LINK_ROCE_V2_IPV4,
    IB_LINK_ROCE_V2_IPV6,
    IB_LINK_IWARP_IPV4,
    IB_LINK_IWARP_IPV6,
};

typedef struct ib_port {
    uint8_t number;
    uint8_t kind; /* Kind of link: IB_LINK_* */
    uint8_t gid_index;
    uint8_t prefix; /* Bits of the GID that are the subnet's, 0 to 128 */
    uint16_t pkey_index;
    enum ibv_mtu mtu;
    uint16_t lid;
    union ibv_gid gid;
    uint32_t max_msg; /* Maximum message length in bytes */
    double bandwidth; /* Bytes per second of payload */
    double latency;   /* Seconds, of the link and the devices together */
    /* Attributes of packets to all peers */
    uint8_t sl, traffic_class, hop_limit;
    uint8_t is_global;    /* All packets have a global header */
    uint8_t local_subnet; /* Reaches only RoCE ports of the same subnet */
} ib_port_t;

/* Combines the variables of the domain with those of a transport.
 * UCS_ERR_INVALID_PARAM: one is out of range. */
ucs_status_t ib_port_config(const ucx_host_t *host,
                            const ib_md_config_t *domain,
                            const ib_path_config_t *path,
                            ib_md_config_t *config);

/* Reads the port's attributes and selects its GID and P_Key.
 * UCS_ERR_NO_DEVICE: the port is not active; UCS_ERR_INVALID_PARAM: a
 * variable names an entry that the port does not have. */
ucs_status_t ib_port_open(const ucx_host_t *host, struct ibv_context *context,
                          uint8_t number, const ib_md_config_t *config,
                          ib_port_t *port);

void ib_port_address(const ib_port_t *port, ib_wire_device_t *wire);

/* Returns 0 if the peer with this address is not reachable, 1 if it is in
 * another subnet, 2 if it is in the port's subnet. The address is untrusted
 * input. Stores a reason if `args` has a buffer for it. */
int ib_port_reaches(const ib_port_t *port, const ucx_reachable_args_t *args);

/* Fills `ah` and *mtu_p for the path to the peer. */
ucs_status_t ib_port_path(const ib_port_t *port, const void *address,
                          size_t length, struct ibv_ah_attr *ah,
                          enum ibv_mtu *mtu_p);

#endif
