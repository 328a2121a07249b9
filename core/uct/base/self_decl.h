/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport "self", which is part of the core (uct/self): its declaration,
 * which other plugins have in a manifest, and its entry point. */
#ifndef UCT_BASE_SELF_DECL_H
#define UCT_BASE_SELF_DECL_H

#include <ucx/plugin.h>

#include "uct/base/component.h"

extern const uct_component_decl_t uct_self_decl;

ucs_status_t uct_self_plugin_entry(const ucx_plugin_args_t *args,
                                   const ucx_plugin_t **plugin_p);

#endif
