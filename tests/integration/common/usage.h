/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process holds: descriptors, memory, processor time, sockets. */
#ifndef INTEGRATION_USAGE_H
#define INTEGRATION_USAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

unsigned usage_fds(void);

/* Shows on stderr what each open descriptor is. */
void usage_show_fds(void);

/* Bytes of the heap that are in use; 0 under a sanitizer, which has a heap of
 * its own and reports leaks by itself. */
size_t usage_heap(void);

/* Mappings of memory (0 under a sanitizer, which makes some of its own), and of
 * memory that is shared with other processes. */
unsigned usage_mappings(void);
unsigned usage_shared(void);

/* Shows the latter on stderr. */
void usage_show_shared(void);

/* Seconds of processor time so far, user and system. */
double usage_cpu(void);

/* Where this process can be reached by TCP: addresses of its listening sockets,
 * the loopback for those that listen everywhere. Returns how many. */
unsigned usage_listeners(struct sockaddr_storage *addresses, unsigned max);

#endif
