/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completes a plugin's tables of functions. A slot is missing if the plugin was
 * built for an older ABI version, or does not support the operation. It gets a
 * default function, so that callers need not test whether a slot is NULL. Slots
 * of a newer ABI version, which the core's table does not have, are ignored.
 */
#ifndef UCT_BASE_TABLES_H
#define UCT_BASE_TABLES_H

#include <ucx/plugin.h>

/* Each of these functions fills the table `to` from the plugin's table `from`.
 * If `from` is NULL, all slots are set to their defaults. */
void uct_md_ops_complete(ucx_md_ops_t *to, const ucx_md_ops_t *from);
void uct_iface_ops_complete(ucx_iface_ops_t *to, const ucx_iface_ops_t *from);
void uct_ep_ops_complete(ucx_ep_ops_t *to, const ucx_ep_ops_t *from);

/* As above, but leaves `to->ep_ops` NULL: the caller completes that table. */
void uct_cm_ops_complete(ucx_cm_ops_t *to, const ucx_cm_ops_t *from);

/* Copies a descriptor. Members that `from` does not have are set to zero. */
void uct_component_desc_complete(ucx_component_t *to,
                                 const ucx_component_t *from);
void uct_transport_desc_complete(ucx_transport_t *to,
                                 const ucx_transport_t *from);

/* Returns the name of the first required slot that a plugin's transport does
 * not have, or NULL. `transport`: the plugin's descriptor, before its tables
 * are completed. */
const char *uct_transport_missing_slot(const ucx_transport_t *transport);

#endif
