/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of interfaces and endpoints for UCP and the core's tools, beyond
 * the public API.
 *
 * The message path needs no function: ep->ops (see <ucx/transport.h>) is the
 * completed table without NULL slots; UCP may copy pointers from it.
 */
#ifndef UCT_BASE_IFACE_H
#define UCT_BASE_IFACE_H

#include <uct/api/uct.h>
#include <ucx/transport.h>

/* Returns the interface's attributes. They are queried once, when the interface
 * is opened, and are valid until it is closed. */
const ucx_iface_attr_t *uct_iface_attr(uct_iface_h iface);

/* Estimates the cost of an operation. The caller sets the size and the query
 * members. The result is computed from the attributes, then refined by the
 * transport. */
ucs_status_t uct_iface_estimate(uct_iface_h iface, ucx_perf_t *perf);

/* Returns the current number of endpoints. Only the worker's thread may call
 * it. */
unsigned uct_iface_num_eps(uct_iface_h iface);

/* Returns whether the progress of an interface may be disabled and called only
 * now and then, without a loss of events. This holds if its progress_enable
 * slot is the default, which only adds the progress function to the worker. */
int uct_iface_can_idle(uct_iface_h iface);

/*
 * As uct_iface_is_reachable, for addresses from a peer with known lengths. If
 * the peer is not reachable and `reason` is not NULL, `reason` receives a
 * sentence of at most reason_size bytes.
 */
int uct_iface_is_reachable_sized(uct_iface_h iface,
                                 const uct_device_addr_t *dev_addr,
                                 size_t dev_addr_length,
                                 const uct_iface_addr_t *iface_addr,
                                 size_t iface_addr_length, char *reason,
                                 size_t reason_size);

/* As uct_ep_connect_to_ep, for addresses from a peer with known lengths. */
ucs_status_t uct_ep_connect_to_ep_sized(uct_ep_h ep,
                                        const uct_device_addr_t *dev_addr,
                                        size_t dev_addr_length,
                                        const uct_ep_addr_t *ep_addr,
                                        size_t ep_addr_length);

/* Non-zero if the endpoint is connected to the peer with these addresses. */
int uct_ep_is_connected(uct_ep_h ep, const uct_device_addr_t *dev_addr,
                        const uct_iface_addr_t *iface_addr,
                        const uct_ep_addr_t *ep_addr);

/* Makes the endpoint fail as if its peer were lost; the error handler of the
 * interface is called. */
ucs_status_t uct_ep_invalidate(uct_ep_h ep, unsigned flags);

/* Returns the local and the remote address of the connection. Either pointer
 * may be NULL. */
ucs_status_t uct_ep_query_sockaddrs(uct_ep_h ep, struct sockaddr_storage *local,
                                    struct sockaddr_storage *remote);

#endif
