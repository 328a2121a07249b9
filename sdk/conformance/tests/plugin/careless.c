/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin that is linked incorrectly: it exports all symbols, calls functions
 * of the core directly, and is bound lazily.
 */
#include <ucx/plugin.h>

UCX_PLUGIN_EXPORT void careless_helper(void);

void careless_helper(void)
{
}

ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    return uct_config_get(NULL, "X", NULL, 0);
}
