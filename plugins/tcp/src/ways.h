/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alternative addresses of a peer. A route does not guarantee that packets
 * arrive: distinct networks may have the same addresses. Therefore an
 * interface's address includes the listeners of its worker's other interfaces,
 * and a peer that cannot reach the first address tries these. All addresses
 * lead to the same worker: messages, keys and outstanding operations are valid
 * at each of them.
 *
 * The id of a connection is that of the interface to which it leads. It changes
 * when the connection switches to another address, so endpoints look up a
 * connection by the ids of all their addresses.
 */
#ifndef TCP_WAYS_H
#define TCP_WAYS_H

#include "conn.h"

typedef struct tcp_way {
    tcp_sockaddr_t addr;
    uint64_t id; /* Id of the listening interface */
} tcp_way_t;

struct tcp_ways {
    unsigned num;    /* At least 2: a single address needs no list */
    tcp_way_t way[]; /* The peer's own interface first */
};

/* Reserves space in this interface's address for the addresses of other
 * interfaces. This fixes the address's length, so it is called when the
 * interface is opened. */
void tcp_ways_reserve(tcp_iface_t *iface);
size_t tcp_ways_length(const tcp_iface_t *iface);
/* Writes the part of this interface's address that contains the addresses of
 * the worker's other interfaces. */
void tcp_ways_pack(tcp_iface_t *iface, void *buffer);
/* Parses the other interfaces' part of an address. UCS_OK with NULL: there is
 * only one address. */
ucs_status_t tcp_ways_unpack(const tcp_way_t *first, const void *buffer,
                             size_t length, tcp_ways_t **ways_p);
/* Returns a copy of the list from malloc(); NULL if `ways` is NULL or memory
 * has run out. */
tcp_ways_t *tcp_ways_copy(const tcp_ways_t *ways);

/* Clears the record of failed addresses for a new attempt. */
void tcp_ways_begin(tcp_conn_t *conn);
/* Records that the current address has failed permanently. */
void tcp_ways_give_up(tcp_conn_t *conn);
/* Switches to the next address that has not failed; returns 0 if there is
 * none. */
int tcp_ways_turn(tcp_conn_t *conn);
/* Returns whether tcp_ways_turn() would find another address. */
int tcp_ways_has_other(const tcp_conn_t *conn);
/* Returns the timeout in seconds of this address, after which the next address
 * is tried; infinite if there is no other address. */
double tcp_ways_patience(const tcp_conn_t *conn);

#endif
