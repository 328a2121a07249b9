/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process holds: descriptors, memory, processor time, sockets. */
#ifndef INTEGRATION_USAGE_H
#define INTEGRATION_USAGE_H

#include <stddef.h>
#include <stdint.h>

unsigned usage_fds(void);

/* Bytes of the heap that are in use; 0 under a sanitizer, which has a heap of
 * its own and reports leaks by itself. */
size_t usage_heap(void);

/* Seconds of processor time so far, user and system. */
double usage_cpu(void);

/* The TCP ports that this process listens on; returns how many. */
unsigned usage_listening_ports(uint16_t *ports, unsigned max);

#endif
