/* SPDX-License-Identifier: BSD-3-Clause */
/* The network devices of the host that can carry connections. */
#ifndef TCP_DEVICE_H
#define TCP_DEVICE_H

#include "plugin.h"

#include <net/if.h>

typedef struct tcp_device {
    char             name[IFNAMSIZ];
    unsigned         index;       /* The kernel's */
    int              is_loopback;
    unsigned         prefix;      /* Bits of the address that name the net */
    tcp_sockaddr_t   addr;        /* Port 0 */
    ucs_sys_device_t sys_dev;     /* Set by whoever knows the host */
    double           bandwidth;   /* Bytes per second; 0: not asked yet */
    unsigned         mtu;         /* Bytes of a packet; 0: not asked yet */
} tcp_device_t;

/* Families in the order of preference; AF_UNSPEC ends the list. */
typedef struct tcp_af_prio {
    int family[3];
} tcp_af_prio_t;

/* Lists devices that are up and have an address that reaches further than one
 * link, with the best of their addresses, by the kernel's order. From malloc();
 * none is UCS_OK. */
ucs_status_t tcp_device_list(const tcp_af_prio_t *prio, tcp_device_t **list_p,
                             unsigned *num_p);

/* The device that has this very address, by name; an empty name if none has. */
void tcp_device_by_addr(const tcp_sockaddr_t *addr, char *name, size_t size);

/* Asks for bandwidth and packet size. A device that does not tell its speed, as
 * virtual ones do, gets a modest one. */
void tcp_device_ask_speed(tcp_device_t *device);

/* True if the address is in the device's own network. */
int tcp_device_on_link(const tcp_device_t *device, const tcp_sockaddr_t *addr);

#endif
