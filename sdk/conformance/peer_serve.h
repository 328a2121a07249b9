/* SPDX-License-Identifier: BSD-3-Clause */
/* What the peer does when it is told; shared by peer*.c only. */
#ifndef CONFORMANCE_PEER_SERVE_H
#define CONFORMANCE_PEER_SERVE_H

#include "peer.h"

/* Carries out one request on `party`, and writes the answer over it. */
void peer_execute(party_t *party, peer_message_t *message);

/* What has to wait until the answer is on its way; 0: progress no more. */
int peer_execute_later(party_t *party, const peer_message_t *message);

/* Answers until the other end is closed. */
void peer_serve(party_t *party, int fd) __attribute__((noreturn));

#endif
