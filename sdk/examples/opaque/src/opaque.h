/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of the opaque plugin.
 */
#ifndef OPAQUE_H
#define OPAQUE_H

#include <ucx/simple.h>

#define OPAQUE_NAME "opaque"

#define OPAQUE_MEMORY_TYPE UCS_MEMORY_TYPE_ROCM

extern const ucx_transport_t opaque_transport;
extern const ucx_md_ops_t opaque_md_ops;

/* Returns an address at which the processor can access [address, +length).
 * Opaque memory is not accessible at the user's address, but at a second
 * mapping of the same pages; for other memory the result is `address` itself.
 * NULL: the range extends beyond the end of an allocation. */
void *opaque_touchable(const void *address, size_t length);

#endif
