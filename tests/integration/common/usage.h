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

/* Bytes of the heap in use; 0 with a sanitizer, which has its own heap and
 * reports leaks itself. */
size_t usage_heap(void);

/* Number of memory mappings (0 with a sanitizer, which creates its own), and of
 * mappings that are shared with other processes. */
unsigned usage_mappings(void);
unsigned usage_shared(void);

/* Prints the shared mappings to stderr. */
void usage_show_shared(void);

/* Seconds of processor time, user and system. */
double usage_cpu(void);

/* TCP addresses of this process: those of its listening sockets, with the
 * loopback instead of the wildcard address. Returns their number. */
unsigned usage_listeners(struct sockaddr_storage *addresses, unsigned max);

#endif
