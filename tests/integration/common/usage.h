/* SPDX-License-Identifier: BSD-3-Clause */
/* Resources of this process: descriptors, memory, processor time, sockets. */
#ifndef INTEGRATION_USAGE_H
#define INTEGRATION_USAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

unsigned usage_fds(void);

/* Prints the target of each open descriptor to stderr. */
void usage_show_fds(void);

/* Returns the bytes of the heap in use; 0 with a sanitizer, which has its own
 * heap and reports leaks itself. */
size_t usage_heap(void);

/* Return the number of memory mappings (0 with a sanitizer, which creates its
 * own), and of mappings of shared memory as transports use it. */
unsigned usage_mappings(void);
unsigned usage_shared(void);

/* Prints the shared mappings to stderr. */
void usage_show_shared(void);

/* Returns the processor time of this process in seconds, user and system. */
double usage_cpu(void);

/* Stores the addresses of this process's listening sockets (IPv4 and IPv6), at
 * most `max`, with the loopback instead of the wildcard address, so that a test
 * can connect to them. Returns their number. */
unsigned usage_listeners(struct sockaddr_storage *addresses, unsigned max);

#endif
