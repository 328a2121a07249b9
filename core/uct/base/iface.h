/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of interfaces and endpoints for UCP and the core's tools, beyond
 * the public API.
 *
 * To send, UCP calls the slots in ep->ops (see <ucx/transport.h>) without a
 * function of UCT in between. No slot in that table is NULL, because UCT has
 * filled the missing ones (tables.h). UCP may copy pointers from it.
 */
#ifndef UCT_BASE_IFACE_H
#define UCT_BASE_IFACE_H

#include <uct/api/uct.h>
#include <ucx/transport.h>

/* Returns the interface's attributes. They are queried once, when the interface
 * is opened, and are valid until it is closed. */
const ucx_iface_attr_t *uct_iface_attr(uct_iface_h iface);

/* Estimates the cost of an operation. The caller sets the input members of
 * *perf (perf->size, perf->op and so on). The other members are computed from
 * the interface's attributes, then the transport may change them. */
ucs_status_t uct_iface_estimate(uct_iface_h iface, ucx_perf_t *perf);

/* Returns the number of endpoints of the interface. Only the worker's thread
 * may call this function. */
unsigned uct_iface_num_eps(uct_iface_h iface);

/* Returns whether the caller may disable the progress of an interface, and call
 * its progress function only now and then, without a loss of events. True if
 * the default progress_enable slot, which only adds that function to the
 * worker, has enabled the progress. */
int uct_iface_can_idle(uct_iface_h iface);

/*
 * As uct_iface_is_reachable(), for addresses that a peer has sent, with their
 * lengths, so that the transport does not read beyond their ends. If the peer
 * is not reachable and `reason` is not NULL, `reason` (of reason_size bytes)
 * receives the cause as a sentence, or "".
 */
int uct_iface_is_reachable_sized(uct_iface_h iface,
                                 const uct_device_addr_t *dev_addr,
                                 size_t dev_addr_length,
                                 const uct_iface_addr_t *iface_addr,
                                 size_t iface_addr_length, char *reason,
                                 size_t reason_size);

/* As uct_ep_connect_to_ep(), for addresses that a peer has sent, with their
 * lengths. */
ucs_status_t uct_ep_connect_to_ep_sized(uct_ep_h ep,
                                        const uct_device_addr_t *dev_addr,
                                        size_t dev_addr_length,
                                        const uct_ep_addr_t *ep_addr,
                                        size_t ep_addr_length);

/* Non-zero if the endpoint is connected to the peer with these addresses. */
int uct_ep_is_connected(uct_ep_h ep, const uct_device_addr_t *dev_addr,
                        const uct_iface_addr_t *iface_addr,
                        const uct_ep_addr_t *ep_addr);

/* Makes the endpoint fail as if its peer were lost; the interface's error
 * handler is called for it. */
ucs_status_t uct_ep_invalidate(uct_ep_h ep, unsigned flags);

/* Returns the local and the remote address of the connection. Either pointer
 * may be NULL. */
ucs_status_t uct_ep_query_sockaddrs(uct_ep_h ep, struct sockaddr_storage *local,
                                    struct sockaddr_storage *remote);

#endif
