/* SPDX-License-Identifier: BSD-3-Clause */
/* Direct calls of the plugin's slots: see slots.h. */
#include "slots.h"

#include <string.h>

ucx_md_attr_t slots_md_attr(uct_md_h md)
{
    ucx_md_attr_t attr = {.size = sizeof(attr)};

    memset(&attr.local_cpus, 0xff, sizeof(attr.local_cpus));
    if (md->ops->query(md, &attr) != UCS_OK) {
        memset(&attr, 0, sizeof(attr));
    }
    return attr;
}

uint64_t slots_iface_flags(uct_iface_h iface)
{
    ucx_iface_attr_t attr = {.size = sizeof(attr)};

    return (iface->ops->query(iface, &attr) == UCS_OK) ? attr.flags : 0;
}

int slots_is_reachable(uct_iface_h iface, const void *dev_addr,
                       size_t dev_addr_length, const void *iface_addr,
                       size_t iface_addr_length, char *reason,
                       size_t reason_size)
{
    const ucx_reachable_args_t args = {
        .size              = sizeof(args),
        .dev_addr          = dev_addr,
        .dev_addr_length   = (dev_addr == NULL) ? 0 : dev_addr_length,
        .iface_addr        = iface_addr,
        .iface_addr_length = (iface_addr == NULL) ? 0 : iface_addr_length,
        .reason            = reason,
        .reason_size       = reason_size,
    };

    return iface->ops->is_reachable(iface, &args);
}

ucs_status_t slots_connect_to_ep(uct_ep_h ep, const void *dev_addr,
                                 size_t dev_addr_length, const void *ep_addr,
                                 size_t ep_addr_length)
{
    return ep->ops->connect_to_ep(ep, dev_addr, dev_addr_length, ep_addr,
                                  ep_addr_length);
}

ucs_status_t slots_rkey_unpack(uct_component_h component, uct_md_h md,
                               const void *bytes, size_t length,
                               uct_rkey_bundle_t *key)
{
    const ucx_component_t *plugin = md->component;

    memset(key, 0, sizeof(*key));
    key->type = component; /* uct_rkey_release() uses it */
    if (!UCX_TABLE_HAS(plugin, rkey_unpack) || (plugin->rkey_unpack == NULL)) {
        return UCS_OK; /* The keys of this component are empty */
    }
    return plugin->rkey_unpack(plugin, bytes, length, UCS_SYS_DEVICE_ID_UNKNOWN,
                               &key->rkey, &key->handle);
}

ucs_status_t slots_estimate(uct_iface_h iface, const uct_iface_attr_t *attr,
                            ucx_op_t op, ucx_perf_t *perf)
{
    *perf = (ucx_perf_t){
        .size              = sizeof(*perf),
        .op                = op,
        .local_mem_type    = UCS_MEMORY_TYPE_HOST,
        .remote_mem_type   = UCS_MEMORY_TYPE_HOST,
        .local_sys_dev     = UCS_SYS_DEVICE_ID_UNKNOWN,
        .remote_sys_dev    = UCS_SYS_DEVICE_ID_UNKNOWN,
        .send_pre_overhead = attr->overhead,
        .recv_overhead     = attr->overhead,
        .bandwidth         = attr->bandwidth,
        .latency           = attr->latency,
    };
    return iface->ops->estimate(iface, perf);
}
