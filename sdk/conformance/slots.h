/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of the plugin's slots (function pointers in its tables of operations)
 * with parameters that the public UCT API does not have: lengths of data from a
 * peer, and all attributes of a domain. The tables are copies in which the core
 * has filled missing slots, so that none is NULL.
 */
#ifndef CONFORMANCE_SLOTS_H
#define CONFORMANCE_SLOTS_H

#include <ucx/component.h>
#include <ucx/transport.h>

/* Returns the domain's attributes; all are 0 if its query fails. */
ucx_md_attr_t slots_md_attr(uct_md_h md);

/* Returns UCX_IFACE_FLAG_* of the interface; 0 if its query fails. */
uint64_t slots_iface_flags(uct_iface_h iface);

/* Returns non-zero if the peer is reachable. Otherwise `reason`, if it is not
 * NULL, receives a text, which may be empty. */
int slots_is_reachable(uct_iface_h iface, const void *dev_addr,
                       size_t dev_addr_length, const void *iface_addr,
                       size_t iface_addr_length, char *reason,
                       size_t reason_size);

ucs_status_t slots_connect_to_ep(uct_ep_h ep, const void *dev_addr,
                                 size_t dev_addr_length, const void *ep_addr,
                                 size_t ep_addr_length);

/* Unpacks a key of the domain's component; uct_rkey_release() releases it. */
ucs_status_t slots_rkey_unpack(uct_component_h component, uct_md_h md,
                               const void *bytes, size_t length,
                               uct_rkey_bundle_t *key);

/* Stores in *perf the costs of an operation from host memory to host memory.
 * Costs that the transport's estimate does not set are those of `attr`. */
ucs_status_t slots_estimate(uct_iface_h iface, const uct_iface_attr_t *attr,
                            ucx_op_t op, ucx_perf_t *perf);

#endif
