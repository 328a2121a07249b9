/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The declaration (uct_component_decl_t) of the loopback transport: what the
 * core must know about a component before it uses the component's code. Plugins
 * state this in a manifest; the loopback is built into the core and has none.
 * This is the only file of this folder that uses headers of the core.
 */
#include "self.h"
#include "uct/base/self_decl.h"

static const uct_tl_decl_t self_tl_decl = {
    .name      = SELF_NAME,
    .cap_flags = UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY |
                 UCT_IFACE_FLAG_AM_ZCOPY | UCT_IFACE_FLAG_PENDING |
                 UCT_IFACE_FLAG_PUT_SHORT | UCT_IFACE_FLAG_PUT_BCOPY |
                 UCT_IFACE_FLAG_PUT_ZCOPY | UCT_IFACE_FLAG_GET_SHORT |
                 UCT_IFACE_FLAG_GET_BCOPY | UCT_IFACE_FLAG_GET_ZCOPY |
                 UCT_IFACE_FLAG_ATOMIC_CPU |
                 UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE |
                 UCT_IFACE_FLAG_EP_CHECK | UCT_IFACE_FLAG_CONNECT_TO_IFACE |
                 UCT_IFACE_FLAG_CB_SYNC | UCT_IFACE_FLAG_EP_KEEPALIVE,
    .event_flags = UCT_IFACE_FLAG_EVENT_SEND_COMP | UCT_IFACE_FLAG_EVENT_RECV |
                   UCT_IFACE_FLAG_EVENT_FD,
    .features = UCT_IFACE_FEATURE_AM | UCT_IFACE_FEATURE_PUT |
                UCT_IFACE_FEATURE_GET | UCT_IFACE_FEATURE_AMO32 |
                UCT_IFACE_FEATURE_AMO64 | UCT_IFACE_FEATURE_FLUSH_REMOTE,
    .reach     = UCT_TL_REACH_SELF,
    .dev_type  = UCT_DEVICE_TYPE_SELF,
    .latency   = 50e-9,
    .bandwidth = SELF_BANDWIDTH,
};

const uct_component_decl_t uct_self_decl = {
    .name           = SELF_NAME,
    .plugin         = NULL,
    .flags          = UCT_COMPONENT_FLAG_RKEY_PTR,
    .md_flags       = UCT_MD_FLAG_REG | UCT_MD_FLAG_RKEY_PTR,
    .mem_types      = UCS_BIT(UCS_MEMORY_TYPE_HOST),
    .transports     = &self_tl_decl,
    .num_transports = 1,
};
