/* SPDX-License-Identifier: BSD-3-Clause */
/* The network devices of the host that can carry connections. */
#ifndef TCP_DEVICE_H
#define TCP_DEVICE_H

#include "plugin.h"

#include <net/if.h>

typedef struct tcp_device {
    char name[IFNAMSIZ];
    unsigned index; /* The kernel's interface index */
    int is_loopback;
    unsigned prefix;          /* Prefix length of the network, in bits */
    tcp_sockaddr_t addr;      /* Address of the device, with port 0 */
    ucs_sys_device_t sys_dev; /* Set by the caller of tcp_device_list(), because
                               * a service of the core finds the value */
    double bandwidth;         /* Bytes per second; 0: not queried yet */
    unsigned mtu;             /* Bytes per packet; 0: not queried yet */
} tcp_device_t;

/* Address families in order of preference, terminated by AF_UNSPEC. */
typedef struct tcp_af_prio {
    int family[3];
} tcp_af_prio_t;

/* Lists devices that are up, are not part of a bond, and have an address of a
 * family in `prio` that is not IPv6 link-local, in the kernel's order. Each has
 * the first of its addresses in the most preferred family. The caller frees the
 * list with free(). An empty list is no error. */
ucs_status_t tcp_device_list(const tcp_af_prio_t *prio, tcp_device_t **list_p,
                             unsigned *num_p);

/* Writes the name of the device that has this address, or an empty string. */
void tcp_device_by_addr(const tcp_sockaddr_t *addr, char *name, size_t size);

/* Sets `bandwidth` and `mtu`. A device for which the kernel states no speed,
 * such as a virtual one, gets a default. */
void tcp_device_ask_speed(tcp_device_t *device);

/* Returns whether the address is in the device's own network. */
int tcp_device_on_link(const tcp_device_t *device, const tcp_sockaddr_t *addr);

#endif
