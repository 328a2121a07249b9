/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completing a plugin's tables: whatever the plugin's table lacks, because the
 * plugin is older or does not offer it, is filled with a function of the right
 * type, so that a caller never asks whether a slot is there. What a newer
 * plugin has beyond our table is passed over.
 */
#ifndef UCT_BASE_TABLES_H
#define UCT_BASE_TABLES_H

#include <ucx/plugin.h>

/* `from` may be NULL: then every slot gets its default. */
void uct_md_ops_complete(ucx_md_ops_t *to, const ucx_md_ops_t *from);
void uct_iface_ops_complete(ucx_iface_ops_t *to, const ucx_iface_ops_t *from);
void uct_ep_ops_complete(ucx_ep_ops_t *to, const ucx_ep_ops_t *from);

/* `to->ep_ops` is left NULL: the caller completes that table too. */
void uct_cm_ops_complete(ucx_cm_ops_t *to, const ucx_cm_ops_t *from);

/* Descriptors are tables as well; what is missing in them is zero. */
void uct_component_desc_complete(ucx_component_t *to,
                                 const ucx_component_t *from);
void uct_transport_desc_complete(ucx_transport_t *to,
                                 const ucx_transport_t *from);

/* The first slot that a transport must have and these have not, or NULL. To be
 * asked before the tables are completed. */
const char *uct_transport_missing_slot(const ucx_transport_t *transport);

#endif
