/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is compiled to an object whose debugging information contains the whole
 * plugin ABI. A tool reads a dump of the ABI from that information, to detect
 * changes. The code is never run.
 *
 * The dump contains the types of the parameters of exported functions, and the
 * lengths of arrays. Therefore each type is a parameter of a function here, and
 * each constant that belongs to no named enumeration is the length of an array.
 */
#include <ucx/am.h>
#include <ucx/pending.h>
#include <ucx/plugin.h>

#define ABI_TYPE(_type) \
    UCX_PLUGIN_EXPORT void abi_##_type(const _type *value); \
\
    void abi_##_type(const _type *value) \
    { \
        (void)value; \
    }

/* An array that represents a constant. Its length is the value plus one,
 * because an array cannot have the length 0. */
#define ABI_CONSTANT(_name) char _name##_is[(_name) + 1]
/* The same for constants with one bit set, whose arrays would be too long: the
 * array here represents the number of the bit. */
#define ABI_BIT(_name) char _name##_bit[__builtin_ctzll(_name) + 1]

/* <ucx/plugin.h> */
ABI_TYPE(ucx_plugin_t)
ABI_TYPE(ucx_plugin_args_t)
ABI_TYPE(ucx_plugin_entry_t)

/* <ucx/config.h> */
ABI_TYPE(ucx_config_type_t)
ABI_TYPE(ucx_config_flags_t)
ABI_TYPE(ucx_config_field_t)
ABI_TYPE(ucx_config_table_t)

/* <ucx/host.h> */
ABI_TYPE(ucx_host_t)
ABI_TYPE(ucx_async_id_t)
ABI_TYPE(ucx_async_fd_cb_t)
ABI_TYPE(ucx_async_timer_cb_t)
ABI_TYPE(ucx_progress_cb_t)
ABI_TYPE(ucx_oneshot_cb_t)
ABI_TYPE(ucx_mpool_elem_t)
ABI_TYPE(ucx_mpool_t)
ABI_TYPE(ucx_mpool_params_t)
ABI_TYPE(ucx_rcache_region_t)
ABI_TYPE(ucx_rcache_params_t)
ABI_TYPE(ucx_mem_event_t)
ABI_TYPE(ucx_mem_event_cb_t)
ABI_TYPE(ucx_pci_address_t)
ABI_TYPE(ucx_sys_distance_t)
ABI_TYPE(ucx_mem_info_t)
ABI_TYPE(ucx_counters_params_t)

/* <ucx/component.h> */
ABI_TYPE(uct_md_t)
ABI_TYPE(ucx_md_open_args_t)
ABI_TYPE(ucx_md_attr_t)
ABI_TYPE(ucx_mem_alloc_params_t)
ABI_TYPE(ucx_mem_reg_params_t)
ABI_TYPE(ucx_mem_dereg_params_t)
ABI_TYPE(ucx_mem_attr_t)
ABI_TYPE(ucx_md_ops_t)
ABI_TYPE(ucx_component_t)

/* <ucx/transport.h> */
ABI_TYPE(ucx_am_slot_t)
ABI_TYPE(uct_iface_t)
ABI_TYPE(uct_ep_t)
ABI_TYPE(ucx_device_desc_t)
ABI_TYPE(ucx_iface_open_args_t)
ABI_TYPE(ucx_iface_attr_t)
ABI_TYPE(ucx_op_t)
ABI_TYPE(ucx_perf_t)
ABI_TYPE(ucx_reachable_args_t)
ABI_TYPE(ucx_transport_t)
ABI_TYPE(ucx_iface_ops_t)
ABI_TYPE(ucx_ep_ops_t)

/* <ucx/cm.h> */
ABI_TYPE(uct_cm_t)
ABI_TYPE(uct_listener_t)
ABI_TYPE(ucx_cm_open_args_t)
ABI_TYPE(ucx_cm_ops_t)

/* <ucx/am.h>: the core reads the pointer to this type that a plugin stores
 * before a received message. */
ABI_TYPE(ucx_recv_desc_owner_t)

/* <ucx/pending.h> contains only inline functions. This type belongs to the ABI
 * because a queue links requests by their private members, and requests are
 * arguments of slots. */
ABI_TYPE(ucx_pending_queue_t)

/* Types of the public headers that are arguments of slots, or that such
 * arguments point to. */
ABI_TYPE(uct_md_resource_desc_t)
ABI_TYPE(uct_iface_attr_t)
ABI_TYPE(uct_iface_params_t)
ABI_TYPE(uct_ep_params_t)
ABI_TYPE(uct_ep_connect_params_t)
ABI_TYPE(uct_listener_params_t)
ABI_TYPE(uct_listener_attr_t)
ABI_TYPE(uct_cm_attr_t)
ABI_TYPE(uct_cm_remote_data_t)
ABI_TYPE(uct_cm_listener_conn_request_args_t)
ABI_TYPE(uct_cm_ep_client_connect_args_t)
ABI_TYPE(uct_cm_ep_server_conn_notify_args_t)
ABI_TYPE(uct_cm_ep_resolve_args_t)
ABI_TYPE(uct_cm_ep_priv_data_pack_args_t)
ABI_TYPE(uct_tag_context_t)
ABI_TYPE(uct_allocated_memory_t)
ABI_TYPE(uct_pending_req_t)
ABI_TYPE(uct_completion_t)
ABI_TYPE(uct_iov_t)
ABI_TYPE(ucs_status_t)
ABI_TYPE(ucs_memory_type_t)
ABI_TYPE(ucs_sys_device_t)

/* Constants that are compiled into both the core and the plugins. */
typedef struct constants {
    ABI_CONSTANT(UCX_PLUGIN_ABI_MAJOR);
    ABI_BIT(UCX_MEM_DEREG_INVALIDATE);
    ABI_BIT(UCX_MKEY_PACK_EXPORT);
    ABI_BIT(UCX_MKEY_PACK_INVALIDATE);
    ABI_BIT(UCX_IFACE_FLAG_TESTED_REACHABILITY);
    ABI_BIT(UCX_IFACE_FLAG_DETECTS_FAILURE);

    ABI_CONSTANT(UCT_TL_NAME_MAX);
    ABI_CONSTANT(UCT_COMPONENT_NAME_MAX);
    ABI_CONSTANT(UCT_MD_NAME_MAX);
    ABI_CONSTANT(UCT_DEVICE_NAME_MAX);
    ABI_CONSTANT(UCT_AM_ID_MAX);
    ABI_CONSTANT(UCT_PENDING_REQ_PRIV_LEN);
    ABI_CONSTANT(UCT_TAG_PRIV_LEN);
    ABI_BIT(UCT_COMPONENT_FLAG_CM);
    ABI_BIT(UCT_COMPONENT_FLAG_RKEY_PTR);
    ABI_BIT(UCT_MD_FLAG_ALLOC);
    ABI_BIT(UCT_MD_FLAG_REG);
    ABI_BIT(UCT_MD_FLAG_NEED_MEMH);
    ABI_BIT(UCT_MD_FLAG_NEED_RKEY);
    ABI_BIT(UCT_MD_FLAG_ADVISE);
    ABI_BIT(UCT_MD_FLAG_FIXED);
    ABI_BIT(UCT_MD_FLAG_SOCKADDR);
    ABI_BIT(UCT_MD_FLAG_INVALIDATE);
    ABI_BIT(UCT_MD_FLAG_EXPORTED_MKEY);
    ABI_BIT(UCT_MD_FLAG_REG_DMABUF);
    ABI_BIT(UCT_CB_PARAM_FLAG_DESC);
    ABI_BIT(UCT_CB_FLAG_ASYNC);

    ABI_BIT(UCT_IFACE_FLAG_AM_SHORT);
    ABI_BIT(UCT_IFACE_FLAG_AM_BCOPY);
    ABI_BIT(UCT_IFACE_FLAG_AM_ZCOPY);
    ABI_BIT(UCT_IFACE_FLAG_PENDING);
    ABI_BIT(UCT_IFACE_FLAG_PUT_SHORT);
    ABI_BIT(UCT_IFACE_FLAG_PUT_BCOPY);
    ABI_BIT(UCT_IFACE_FLAG_PUT_ZCOPY);
    ABI_BIT(UCT_IFACE_FLAG_GET_SHORT);
    ABI_BIT(UCT_IFACE_FLAG_GET_BCOPY);
    ABI_BIT(UCT_IFACE_FLAG_GET_ZCOPY);
    ABI_BIT(UCT_IFACE_FLAG_ATOMIC_CPU);
    ABI_BIT(UCT_IFACE_FLAG_ATOMIC_DEVICE);
    ABI_BIT(UCT_IFACE_FLAG_ERRHANDLE_SHORT_BUF);
    ABI_BIT(UCT_IFACE_FLAG_ERRHANDLE_BCOPY_BUF);
    ABI_BIT(UCT_IFACE_FLAG_ERRHANDLE_ZCOPY_BUF);
    ABI_BIT(UCT_IFACE_FLAG_ERRHANDLE_AM_ID);
    ABI_BIT(UCT_IFACE_FLAG_ERRHANDLE_REMOTE_MEM);
    ABI_BIT(UCT_IFACE_FLAG_ERRHANDLE_BCOPY_LEN);
    ABI_BIT(UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE);
    ABI_BIT(UCT_IFACE_FLAG_EP_CHECK);
    ABI_BIT(UCT_IFACE_FLAG_CONNECT_TO_IFACE);
    ABI_BIT(UCT_IFACE_FLAG_CONNECT_TO_EP);
    ABI_BIT(UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR);
    ABI_BIT(UCT_IFACE_FLAG_AM_DUP);
    ABI_BIT(UCT_IFACE_FLAG_CB_SYNC);
    ABI_BIT(UCT_IFACE_FLAG_CB_ASYNC);
    ABI_BIT(UCT_IFACE_FLAG_EP_KEEPALIVE);
    ABI_BIT(UCT_IFACE_FLAG_TAG_EAGER_SHORT);
    ABI_BIT(UCT_IFACE_FLAG_TAG_EAGER_BCOPY);
    ABI_BIT(UCT_IFACE_FLAG_TAG_EAGER_ZCOPY);
    ABI_BIT(UCT_IFACE_FLAG_TAG_RNDV_ZCOPY);
    ABI_BIT(UCT_IFACE_FLAG_INTER_NODE);
    ABI_BIT(UCT_IFACE_FLAG_DEVICE_EP);
    ABI_BIT(UCT_IFACE_FLAG_EVENT_SEND_COMP);
    ABI_BIT(UCT_IFACE_FLAG_EVENT_RECV);
    ABI_BIT(UCT_IFACE_FLAG_EVENT_RECV_SIG);
    ABI_BIT(UCT_IFACE_FLAG_EVENT_FD);
    ABI_BIT(UCT_IFACE_FLAG_EVENT_ASYNC_CB);
    ABI_BIT(UCX_MEM_WANT_DMABUF);
    ABI_BIT(UCX_IFACE_FLAG_ALIGNS_AM);
    ABI_BIT(UCX_IFACE_OPEN_POLLED);
    ABI_BIT(UCX_MKEY_PACK_PROCESS);
} constants;

ABI_TYPE(constants)
