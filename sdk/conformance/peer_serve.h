/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution of requests in the peer; used by peer*.c only. */
#ifndef CONFORMANCE_PEER_SERVE_H
#define CONFORMANCE_PEER_SERVE_H

#include "peer.h"

/* Executes one request on `party` and overwrites it with the answer. */
void peer_execute(party_t *party, peer_message_t *message);

/* Executes what must wait until the answer is sent; 0: stop progress. */
int peer_execute_later(party_t *party, const peer_message_t *message);

/* Serves requests until the other end is closed. */
void peer_serve(party_t *party, int fd) __attribute__((noreturn));

#endif
