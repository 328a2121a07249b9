/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA devices of this machine, and their ports by name ("mlx5_0:1"). */
#ifndef IB_DEVICE_H
#define IB_DEVICE_H

#include "plugin.h"

#include <infiniband/verbs.h>

/* Lists the devices; each has one memory domain. */
ucs_status_t ib_md_resources(const ucx_component_t *component,
                             uct_md_resource_desc_t **mds_p, unsigned *num_p);

/* Opens the device of this name. */
ucs_status_t ib_device_open(const ucx_host_t *host, const char *name,
                            struct ibv_context **context_p);

/* Returns the number in "DEVICE:PORT", or 0 if this device has no such port. */
uint8_t ib_device_port(struct ibv_context *context, const char *name);

#endif
