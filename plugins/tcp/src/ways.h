/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of a peer's addresses: its own and the alternative ones. A route
 * does not guarantee that packets arrive: distinct networks may have the same
 * addresses. Therefore an interface's address includes the listeners of its
 * worker's other interfaces, and a peer that cannot reach the first address
 * tries these. All addresses lead to the same worker: messages, keys and
 * outstanding operations are valid at each of them.
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
    unsigned num;    /* Entries of `way`; at least 2, because a single address
                      * needs no list */
    tcp_way_t way[]; /* way[0]: the interface to whose address the endpoint was
                      * created; the others: interfaces of the same worker */
};

/* Reserves space in this interface's address for the addresses of other
 * interfaces: sets num_others. Called when the interface is opened, because the
 * length of its address must not change later. */
void tcp_ways_reserve(tcp_iface_t *iface);
/* Returns the size in bytes of the part that tcp_ways_pack() writes. */
size_t tcp_ways_length(const tcp_iface_t *iface);
/* Writes the part of this interface's address that contains the addresses of
 * the worker's other interfaces. */
void tcp_ways_pack(tcp_iface_t *iface, void *buffer);
/* Parses the part of an interface address that tcp_ways_pack() wrote, and
 * allocates a list with `first` before the addresses found in it. UCS_OK with
 * *ways_p NULL: `first` is the only address. */
ucs_status_t tcp_ways_unpack(const tcp_way_t *first, const void *buffer,
                             size_t length, tcp_ways_t **ways_p);
/* Returns a copy of the list from malloc(); NULL if `ways` is NULL or memory
 * has run out. */
tcp_ways_t *tcp_ways_copy(const tcp_ways_t *ways);

/* Clears the record of failed addresses when the connection begins to
 * connect. */
void tcp_ways_begin(tcp_conn_t *conn);
/* Records that the connection's current address has failed, so that
 * tcp_ways_turn() skips it. */
void tcp_ways_give_up(tcp_conn_t *conn);
/* Switches the connection to the next address in the list. Skips addresses that
 * have failed, and those to which another connection exists. Returns 0 if there
 * is none. */
int tcp_ways_turn(tcp_conn_t *conn);
/* Returns whether tcp_ways_turn() would find another address. */
int tcp_ways_has_other(const tcp_conn_t *conn);
/* Returns the timeout in seconds of an attempt at the current address, after
 * which the next address is tried; HUGE_VAL if tcp_ways_has_other() returns
 * 0. */
double tcp_ways_patience(const tcp_conn_t *conn);

#endif
