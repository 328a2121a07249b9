/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA devices of this machine, and their ports by name ("mlx5_0:1"). */
#ifndef IB_DEVICE_H
#define IB_DEVICE_H

#include "plugin.h"

#include <infiniband/verbs.h>

/* Stores one memory domain for each RDMA device; the domain has the device's
 * name. If the devices cannot be listed, stores none and returns UCS_OK. The
 * caller frees *mds_p. */
ucs_status_t ib_md_resources(const ucx_component_t *component,
                             uct_md_resource_desc_t **mds_p, unsigned *num_p);

/* Opens the device of this name. */
ucs_status_t ib_device_open(const ucx_host_t *host, const char *name,
                            struct ibv_context **context_p);

/* Returns the port number in `name`, whose form is "DEVICE:PORT". Returns 0 if
 * DEVICE is not the name of this device, or PORT is not a number from 1 to
 * 255. */
uint8_t ib_device_port(struct ibv_context *context, const char *name);

#endif
