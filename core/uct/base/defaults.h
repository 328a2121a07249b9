/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of default functions, which tables.c stores in the slots that a plugin
 * does not fill. */
#ifndef UCT_BASE_DEFAULTS_H
#define UCT_BASE_DEFAULTS_H

#include <ucx/plugin.h>

extern const ucx_md_ops_t uct_default_md_ops;
extern const ucx_iface_ops_t uct_default_iface_ops;
extern const ucx_ep_ops_t uct_default_ep_ops;
extern const ucx_cm_ops_t uct_default_cm_ops;

#endif
