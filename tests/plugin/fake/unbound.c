/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin that calls an undefined function. It is linked for lazy binding, so
 * that the missing symbol would only be detected when the function is called.
 */
#include <ucx/plugin.h>

void fake_function_of_nobody(void);

ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    fake_function_of_nobody();
    return UCS_ERR_IO_ERROR;
}
