/* SPDX-License-Identifier: BSD-3-Clause */
/* The framework's access to the built-in loopback: declaration and entry
 * point. */
#ifndef UCT_SELF_PROMISE_H
#define UCT_SELF_PROMISE_H

#include <ucx/plugin.h>

#include "uct/base/component.h"

extern const uct_component_promise_t uct_self_promise;

ucs_status_t
uct_self_plugin_entry(const ucx_plugin_args_t *args,
                      const ucx_plugin_t **plugin_p);

#endif
