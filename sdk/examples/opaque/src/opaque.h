/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of the opaque plugin.
 */
#ifndef OPAQUE_H
#define OPAQUE_H

#include <ucx/instance.h>

#define OPAQUE_NAME "opaque"

#define OPAQUE_MEMORY_TYPE UCS_MEMORY_TYPE_ROCM

extern const ucx_transport_t opaque_transport;
extern const ucx_md_ops_t    opaque_md_ops;

ucs_status_t opaque_query_mds(const ucx_component_t *component,
                              uct_md_resource_desc_t **mds_p, unsigned *num_p);
ucs_status_t opaque_md_open(const ucx_component_t *component,
                            const ucx_md_open_args_t *args, uct_md_h *md_p);

/* Where [address, +length) can be loaded and stored: in the second mapping of
 * opaque memory, otherwise at the address itself. NULL: it extends beyond the
 * end of an allocation. */
void *opaque_touchable(const void *address, size_t length);

#endif
