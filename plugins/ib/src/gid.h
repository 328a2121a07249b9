/* SPDX-License-Identifier: BSD-3-Clause */
/* Selection of the GID of a port. */
#ifndef IB_GID_H
#define IB_GID_H

#include "port.h"

/* Sets `kind`, `gid`, `gid_index` and `prefix` of a port whose `number` is set.
 * `attr`: the port's attributes. `index`: the index of the GID in the port's
 * table; UINT_MAX: the best GID, RoCE v2 over IPv4 if there is one.
 * UCS_ERR_NO_DEVICE: the port has no GID (on iWARP, no IP address).
 * UCS_ERR_INVALID_PARAM: the table has no such entry. */
ucs_status_t ib_gid_select(const ucx_host_t *host, struct ibv_context *context,
                           const struct ibv_port_attr *attr, unsigned index,
                           ib_port_t *port);

#endif
