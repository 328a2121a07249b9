/* SPDX-License-Identifier: BSD-3-Clause */
/* A plain TCP connection over which two programs exchange a few bytes (worker
 * addresses) before they can communicate through UCP. All other data goes
 * through UCP. A function that fails prints an error to stderr, except that
 * exchange_accept() is silent when a signal interrupts it. */
#ifndef EXAMPLES_EXCHANGE_H
#define EXAMPLES_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

/* Listens on host (NULL: only the loopback). *port is set to the port in use;
 * if it was 0, any free port is selected. Returns a descriptor, or -1. */
int exchange_listen(const char *host, uint16_t *port);

/* Waits for the next client. Returns a descriptor, or -1. */
int exchange_accept(int listener);

/* Connects to host (NULL: the loopback). Returns a descriptor, or -1. */
int exchange_connect(const char *host, uint16_t port);

/* Sends a length and that many bytes. Returns 0, or -1. */
int exchange_send(int fd, const void *data, uint32_t length);

/* Receives the bytes that exchange_send sent, at most max bytes. The caller
 * frees *data_p. Returns 0, or -1. */
int exchange_recv(int fd, void **data_p, uint32_t *length_p, uint32_t max);

/* Sends our bytes and receives those of the peer, which also calls this
 * function. The caller frees *theirs_p. Returns 0, or -1. */
int exchange_swap(int fd, const void *ours, uint32_t ours_length,
                  void **theirs_p, uint32_t *theirs_length_p, uint32_t max);

#endif
