/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the files of the opaque plugin. It simulates a device:
 * it allocates "opaque" memory, which the processor cannot access at the user's
 * address, and copies from and to it.
 */
#ifndef OPAQUE_H
#define OPAQUE_H

#include <ucx/simple.h>

#define OPAQUE_NAME "opaque"

/* UCX has no memory type of this plugin, so it uses that of another device. */
#define OPAQUE_MEMORY_TYPE UCS_MEMORY_TYPE_ROCM

extern const ucx_transport_t opaque_transport;
extern const ucx_md_ops_t opaque_md_ops;

/* Returns an address at which the processor can access the `length` bytes at
 * `address`: for opaque memory, an address in a second mapping of the same
 * pages; for other memory, `address` itself. Returns NULL if the range extends
 * beyond the end of an allocation of opaque memory. */
void *opaque_touchable(const void *address, size_t length);

#endif
