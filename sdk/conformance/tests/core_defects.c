/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Defects of a core that the conformance kit (ucx-plugin-check) must find. This
 * library is loaded before the core (LD_PRELOAD) and replaces one of its
 * functions. KIT_CORE_DEFECT selects the defect.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <ucx/transport.h>

static int breaks(const char *defect)
{
    const char *selected = getenv("KIT_CORE_DEFECT");

    return (selected != NULL) && (strcmp(selected, defect) == 0);
}

/* The core exports uct_iface_open() under this name: programs that are linked
 * with the core call it. */
UCX_PLUGIN_EXPORT __typeof__(uct_iface_open) core_uct_iface_open;

ucs_status_t core_uct_iface_open(uct_md_h md, uct_worker_h worker,
                                 const uct_iface_params_t *params,
                                 const uct_iface_config_t *config,
                                 uct_iface_h *iface_p)
{
    static ucx_iface_ops_t unfilled;
    __typeof__(&uct_iface_open) next;
    ucs_status_t status;

    next   = (__typeof__(next))dlsym(RTLD_NEXT, "core_uct_iface_open");
    status = next(md, worker, params, config, iface_p);
    if ((status == UCS_OK) && breaks("core-leaves-slot")) {
        unfilled               = *(*iface_p)->ops;
        unfilled.set_am_tracer = NULL;
        (*iface_p)->ops        = &unfilled;
    }
    return status;
}
