/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution of requests in the peer; used by peer*.c only. */
#ifndef CONFORMANCE_PEER_SERVE_H
#define CONFORMANCE_PEER_SERVE_H

#include "peer.h"

/* Executes one request on `party` and overwrites it with the answer. */
void peer_execute(party_t *party, peer_message_t *message);

/* Executes the part of a request that must wait until the answer is sent.
 * Returns 0 if the peer must not call progress until the next request. */
int peer_execute_later(party_t *party, const peer_message_t *message);

/* Serves requests until the other end of `fd` is closed, then closes the party
 * and ends the process. */
void peer_serve(party_t *party, int fd) __attribute__((noreturn));

#endif
