/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completes a plugin's tables: slots that are missing, because the plugin is
 * older or does not support the operation, get a default function, so that
 * callers never test a slot. Slots of a newer plugin beyond our table are
 * ignored.
 */
#ifndef UCT_BASE_TABLES_H
#define UCT_BASE_TABLES_H

#include <ucx/plugin.h>

/* `from` NULL: all slots get their defaults. */
void uct_md_ops_complete(ucx_md_ops_t *to, const ucx_md_ops_t *from);
void uct_iface_ops_complete(ucx_iface_ops_t *to, const ucx_iface_ops_t *from);
void uct_ep_ops_complete(ucx_ep_ops_t *to, const ucx_ep_ops_t *from);

/* Leaves `to->ep_ops` NULL: the caller completes that table. */
void uct_cm_ops_complete(ucx_cm_ops_t *to, const ucx_cm_ops_t *from);

/* Descriptors are tables, too; missing members are zero. */
void uct_component_desc_complete(ucx_component_t *to,
                                 const ucx_component_t *from);
void uct_transport_desc_complete(ucx_transport_t *to,
                                 const ucx_transport_t *from);

/* The first required slot that is missing, or NULL. Call it before the tables
 * are completed. */
const char *uct_transport_missing_slot(const ucx_transport_t *transport);

#endif
