/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer that implements the protocol directly, so that it can violate it. */
#ifndef TCP_TEST_RAW_H
#define TCP_TEST_RAW_H

#include "../src/wire.h"
#include "side.h"

/* Returns a socket that is bound to a free port of the address, on this host.
 * While the socket is open, connections to the port are refused, and no other
 * process can listen there. */
int raw_hold_port(const side_addr_t *addr, uint16_t *port_p);
/* Returns a connected socket, or -1. */
int raw_connect(const side_addr_t *addr);
void raw_send(int fd, const void *data, size_t length);
void raw_hello(int fd, const side_addr_t *addr, uint64_t my_id);
/* As raw_hello(), of the peer's attempt with this number; the first is 1. */
void raw_hello_again(int fd, const side_addr_t *addr, uint64_t my_id,
                     uint32_t epoch);
/* Progresses `side` until a complete ACK has arrived. */
void raw_wait_ack(side_t *side, int fd);
/* Progresses `side` until it closes the connection; exits with an error if it
 * does not within SIDE_TIMEOUT. */
void raw_wait_closed(side_t *side, int fd);
/* Connects to `side` as a peer with the id `my_id`, exchanges HELLO and ACK,
 * and returns the socket. */
int raw_peer(side_t *side, uint64_t my_id);
uint64_t raw_id_of(const side_addr_t *addr);

#endif
