/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry point. */
#include "procvm.h"

static ucx_instances_t instances = UCX_INSTANCES_INIT;

static void fini(void)
{
    ucx_instances_close(&instances, NULL);
}

ucs_status_t ucx_plugin_entry(const ucx_plugin_args_t *args,
                              const ucx_plugin_t **plugin_p)
{
    return ucx_simple_open(&instances, args, &procvm_component, PROCVM_VERSION,
                           fini, plugin_p);
}
