/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries the kernel's routing tables for the device by which an address is
 * reached. Sends no packet. Answers are cached for a few seconds.
 */
#ifndef TCP_ROUTE_H
#define TCP_ROUTE_H

#include "plugin.h"

#include <pthread.h>

#define TCP_ROUTE_SLOTS 64 /* Cached answers; a power of two */

typedef enum tcp_route_kind {
    TCP_ROUTE_NONE,   /* No route */
    TCP_ROUTE_LOCAL,  /* An address of this host */
    TCP_ROUTE_DEVICE, /* Through the device `ifindex` */
} tcp_route_kind_t;

typedef struct tcp_route {
    tcp_route_kind_t kind;
    unsigned ifindex;
} tcp_route_t;

typedef struct tcp_route_slot {
    tcp_sockaddr_t dst, src; /* src: family AF_UNSPEC if the query had none */
    double expires;          /* Host time */
    tcp_route_t route;
} tcp_route_slot_t;

typedef struct tcp_routes {
    const ucx_host_t *host;
    pthread_mutex_t lock;
    tcp_route_slot_t slots[TCP_ROUTE_SLOTS];
} tcp_routes_t;

void tcp_routes_init(tcp_routes_t *routes, const ucx_host_t *host);
void tcp_routes_cleanup(tcp_routes_t *routes);

/* Finds the route to `dst` from the source address `src`, or from any address
 * if `src` is NULL. Any thread may call this. An error means that the kernel
 * could not be queried; if it has no route, the kind is TCP_ROUTE_NONE. */
ucs_status_t tcp_route_find(tcp_routes_t *routes, const tcp_sockaddr_t *dst,
                            const tcp_sockaddr_t *src, tcp_route_t *route_p);

/* Returns the index of the device of a family's default route; 0 if there is
 * none. */
unsigned tcp_route_default(tcp_routes_t *routes, int family);

#endif
