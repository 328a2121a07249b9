/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iWARP devices: RDMA over TCP. Their addresses are IP addresses, and only
 * librdmacm can connect their queue pairs. They support neither datagrams nor
 * atomics. The completion of a write does not show that the data has arrived:
 * only a later read over the same connection shows this.
 */
#ifndef IB_IWARP_H
#define IB_IWARP_H

#include "plugin.h"

#include <infiniband/verbs.h>

static inline int ib_is_iwarp(const struct ibv_context *context)
{
    return context->device->transport_type == IBV_TRANSPORT_IWARP;
}

/* Stores the IP address of the port in *gid, an IPv4 address as ::ffff:a.b.c.d.
 * UCS_ERR_NO_DEVICE: the port has no address, or the plugin is built without
 * librdmacm. */
ucs_status_t ib_iwarp_address(const ucx_host_t *host,
                              struct ibv_context *context, uint8_t port,
                              union ibv_gid *gid);

#endif
