/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ways to a peer. A route says that packets would leave, not that they
 * arrive: networks of the same addresses need not be one. An interface's
 * address therefore tells the listeners of its worker's other interfaces, too,
 * and whoever cannot reach the first tries those. Whichever is reached, it is
 * the same worker: messages, keys and what waits are as good there.
 *
 * A connection has the identity of the interface that it leads to, so that it
 * changes with the way; endpoints look for a connection by all their ways.
 */
#ifndef TCP_WAYS_H
#define TCP_WAYS_H

#include "conn.h"

typedef struct tcp_way {
    tcp_sockaddr_t addr;
    uint64_t       id;   /* Whose listener it is */
} tcp_way_t;

struct tcp_ways {
    unsigned  num;       /* At least 2: one alone needs no list */
    tcp_way_t way[];     /* The peer's own interface first */
};

/* What others an address of this interface can tell, and its length then; for
 * the opening. */
void tcp_ways_reserve(tcp_iface_t *iface);
size_t tcp_ways_length(const tcp_iface_t *iface);
/* Writes that part of the address. */
void tcp_ways_pack(tcp_iface_t *iface, void *buffer);
/* Reads it. UCS_OK with NULL: there is but one way. */
ucs_status_t tcp_ways_unpack(const tcp_way_t *first, const void *buffer,
                             size_t length, tcp_ways_t **ways_p);
/* A copy for another owner, or NULL. */
tcp_ways_t *tcp_ways_copy(const tcp_ways_t *ways);

/* Forgets which ways failed: a new attempt begins. */
void tcp_ways_begin(tcp_conn_t *conn);
/* The way that was tried has failed for good. */
void tcp_ways_give_up(tcp_conn_t *conn);
/* Turns to the next way that has not failed; 0: there is no other. */
int tcp_ways_turn(tcp_conn_t *conn);
/* Is there a next way that could be turned to? */
int tcp_ways_has_other(const tcp_conn_t *conn);
/* Seconds for this way before another one has its turn; without another one,
 * forever. */
double tcp_ways_patience(const tcp_conn_t *conn);

#endif
