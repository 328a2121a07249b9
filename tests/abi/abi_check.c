/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the public headers with the C ABI of UCX 1.20 on 64-bit Linux:
 * sizes, offsets, constants and function types. This file is only compiled,
 * never run: a failing static assertion names the difference.
 */
#include <pthread.h>
#include <stddef.h>
#include <ucp/api/ucp.h>
#include <uct/api/uct.h>
#include <ucm/api/ucm.h>
#include <ucs/async/async_fwd.h>
#include <ucs/sys/event_set.h>

#define SIZE(t, n) _Static_assert(sizeof(t) == (n), "sizeof " #t)
#define OFFSET(t, f, o, s) \
    _Static_assert(offsetof(t, f) == (o) && sizeof(((t *)0)->f) == (s), \
                   #t "." #f)
#define VALUE(c, v) _Static_assert((long long)(c) == (v), #c)
#define FUNC(f, ...) \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&f), \
                                                __typeof__((__VA_ARGS__)0)), \
                   #f)

SIZE(ucs_memory_type_t, 4);
SIZE(ucs_status_t, 1);
SIZE(ucs_status_ptr_t, 8);
SIZE(ucs_log_level_t, 4);
SIZE(ucs_async_mode_t, 4);
SIZE(ucs_ternary_auto_value_t, 4);
SIZE(ucs_on_off_auto_value_t, 4);
SIZE(ucs_handle_error_t, 4);
SIZE(ucs_config_print_flags_t, 4);
SIZE(ucs_config_names_array_t, 16);
SIZE(ucs_config_allow_list_mode_t, 4);
SIZE(ucs_config_allow_list_t, 24);
SIZE(struct ucs_sock_addr, 16);
SIZE(ucs_sock_addr_t, 16);
SIZE(struct ucs_log_component_config, 32);
SIZE(ucs_log_component_config_t, 32);
SIZE(ucp_tag_recv_info_t, 16);
SIZE(ucp_am_recv_param_t, 16);
SIZE(ucp_context_h, 8);
SIZE(ucp_ep_h, 8);
SIZE(ucp_conn_request_h, 8);
SIZE(ucp_err_handling_mode_t, 4);
SIZE(ucp_rkey_h, 8);
SIZE(ucp_mem_h, 8);
SIZE(ucp_listener_h, 8);
SIZE(struct ucp_mem_attr, 32);
SIZE(ucp_mem_attr_t, 32);
SIZE(ucp_worker_h, 8);
SIZE(ucp_tag_t, 8);
SIZE(ucp_tag_message_h, 8);
SIZE(ucp_datatype_t, 8);
SIZE(ucp_request_init_callback_t, 8);
SIZE(ucp_request_cleanup_callback_t, 8);
SIZE(ucp_send_callback_t, 8);
SIZE(ucp_send_nbx_callback_t, 8);
SIZE(ucp_err_handler_cb_t, 8);
SIZE(struct ucp_err_handler, 16);
SIZE(ucp_err_handler_t, 16);
SIZE(ucp_listener_accept_callback_t, 8);
SIZE(ucp_listener_conn_callback_t, 8);
SIZE(struct ucp_listener_conn_handler, 16);
SIZE(ucp_listener_conn_handler_t, 16);
SIZE(ucp_stream_recv_callback_t, 8);
SIZE(ucp_stream_recv_nbx_callback_t, 8);
SIZE(ucp_tag_recv_callback_t, 8);
SIZE(ucp_tag_recv_nbx_callback_t, 8);
SIZE(ucp_am_recv_data_nbx_callback_t, 8);
SIZE(ucp_wakeup_event_t, 4);
SIZE(ucp_am_callback_t, 8);
SIZE(ucp_am_recv_callback_t, 8);
SIZE(struct ucp_ep_params, 104);
SIZE(ucp_ep_params_t, 104);
SIZE(ucp_transport_entry_t, 16);
SIZE(ucp_transports_t, 24);
SIZE(ucp_device_mem_list_handle_h, 8);
SIZE(struct ucp_listener_accept_handler, 16);
SIZE(ucp_listener_accept_handler_t, 16);
SIZE(ucp_atomic_post_op_t, 4);
SIZE(ucp_atomic_fetch_op_t, 4);
SIZE(ucs_thread_mode_t, 4);
SIZE(ucs_cpu_mask_t, 8);
SIZE(ucs_cpu_set_t, 128);
SIZE(ucp_worker_flags_t, 4);
SIZE(ucp_worker_address_flags_t, 4);
SIZE(ucp_ep_close_flags_t, 4);
SIZE(ucp_ep_perf_param_field_t, 4);
SIZE(ucp_ep_perf_attr_field_t, 4);
SIZE(ucp_atomic_op_t, 4);
SIZE(ucp_stream_recv_flags_t, 4);
SIZE(ucp_op_attr_t, 4);
SIZE(ucp_req_attr_field, 4);
SIZE(ucp_am_recv_attr_t, 4);
SIZE(struct ucp_dt_iov, 16);
SIZE(ucp_dt_iov_t, 16);
SIZE(struct ucp_generic_dt_ops, 48);
SIZE(ucp_generic_dt_ops_t, 48);
SIZE(struct ucp_datatype_attr, 32);
SIZE(ucp_datatype_attr_t, 32);
SIZE(struct ucp_params, 88);
SIZE(ucp_params_t, 88);
SIZE(struct ucp_lib_attr, 16);
SIZE(ucp_lib_attr_t, 16);
SIZE(struct ucp_context_attr, 72);
SIZE(ucp_context_attr_t, 72);
SIZE(struct ucp_worker_attr, 80);
SIZE(ucp_worker_attr_t, 80);
SIZE(struct ucp_rkey_compare_params, 8);
SIZE(ucp_rkey_compare_params_t, 8);
SIZE(struct ucp_worker_params, 200);
SIZE(ucp_worker_params_t, 200);
SIZE(struct ucp_worker_address_attr, 16);
SIZE(ucp_worker_address_attr_t, 16);
SIZE(ucp_ep_evaluate_perf_param_t, 16);
SIZE(ucp_ep_evaluate_perf_attr_t, 16);
SIZE(struct ucp_listener_attr, 136);
SIZE(ucp_listener_attr_t, 136);
SIZE(struct ucp_conn_request_attr, 144);
SIZE(ucp_conn_request_attr_t, 144);
SIZE(struct ucp_listener_params, 56);
SIZE(ucp_listener_params_t, 56);
SIZE(struct ucp_stream_poll_ep, 40);
SIZE(ucp_stream_poll_ep_t, 40);
SIZE(struct ucp_mem_map_params, 48);
SIZE(ucp_mem_map_params_t, 48);
SIZE(struct ucp_tag_recv_info, 16);
SIZE(ucp_request_param_t, 72);
SIZE(ucp_request_attr_t, 32);
SIZE(struct ucp_am_handler_param, 32);
SIZE(ucp_am_handler_param_t, 32);
SIZE(struct ucp_am_recv_param, 16);
SIZE(ucp_mem_advice_t, 4);
SIZE(struct ucp_mem_advise_params, 32);
SIZE(ucp_mem_advise_params_t, 32);
SIZE(struct ucp_memh_pack_params, 16);
SIZE(ucp_memh_pack_params_t, 16);
SIZE(struct ucp_memh_buffer_release_params, 8);
SIZE(ucp_memh_buffer_release_params_t, 8);
SIZE(struct ucp_ep_attr, 328);
SIZE(ucp_ep_attr_t, 328);
SIZE(uct_component_h, 8);
SIZE(uct_iface_h, 8);
SIZE(uct_ep_h, 8);
SIZE(uct_mem_h, 8);
SIZE(uct_rkey_t, 8);
SIZE(uct_md_h, 8);
SIZE(uct_rkey_ctx_h, 8);
SIZE(uct_iface_attr_t, 536);
SIZE(uct_iface_params_t, 304);
SIZE(uct_md_attr_t, 224);
SIZE(uct_completion_t, 16);
SIZE(uct_pending_req_t, 48);
SIZE(uct_worker_h, 8);
SIZE(uct_am_trace_type_t, 4);
SIZE(uct_ep_params_t, 160);
SIZE(uct_ep_connect_params_t, 24);
SIZE(uct_cm_attr_t, 16);
SIZE(uct_cm_h, 8);
SIZE(uct_listener_attr_t, 136);
SIZE(uct_listener_h, 8);
SIZE(uct_listener_params_t, 32);
SIZE(uct_tag_context_t, 56);
SIZE(uct_tag_t, 8);
SIZE(uct_worker_cb_id_t, 4);
SIZE(uct_conn_request_h, 8);
SIZE(uct_device_ep_h, 8);
SIZE(struct uct_iov, 40);
SIZE(uct_iov_t, 40);
SIZE(struct uct_cm_ep_priv_data_pack_args, 40);
SIZE(uct_cm_ep_priv_data_pack_args_t, 40);
SIZE(struct uct_cm_ep_resolve_args, 48);
SIZE(uct_cm_ep_resolve_args_t, 48);
SIZE(struct uct_cm_remote_data, 40);
SIZE(uct_cm_remote_data_t, 40);
SIZE(struct uct_cm_listener_conn_request_args, 72);
SIZE(uct_cm_listener_conn_request_args_t, 72);
SIZE(struct uct_cm_ep_client_connect_args, 24);
SIZE(uct_cm_ep_client_connect_args_t, 24);
SIZE(struct uct_cm_ep_server_conn_notify_args, 16);
SIZE(uct_cm_ep_server_conn_notify_args_t, 16);
SIZE(uct_am_callback_t, 8);
SIZE(uct_am_tracer_t, 8);
SIZE(uct_completion_callback_t, 8);
SIZE(uct_pending_callback_t, 8);
SIZE(uct_error_handler_t, 8);
SIZE(uct_pending_purge_callback_t, 8);
SIZE(uct_pack_callback_t, 8);
SIZE(uct_unpack_callback_t, 8);
SIZE(uct_sockaddr_conn_request_callback_t, 8);
SIZE(uct_cm_listener_conn_request_callback_t, 8);
SIZE(uct_cm_ep_server_conn_notify_callback_t, 8);
SIZE(uct_cm_ep_client_connect_callback_t, 8);
SIZE(uct_ep_disconnect_cb_t, 8);
SIZE(uct_cm_ep_priv_data_pack_callback_t, 8);
SIZE(uct_cm_ep_resolve_callback_t, 8);
SIZE(uct_tag_unexp_eager_cb_t, 8);
SIZE(uct_tag_unexp_rndv_cb_t, 8);
SIZE(uct_async_event_cb_t, 8);
SIZE(ucs_event_set_types_t, 1);
SIZE(ucs_event_set_handler_t, 8);
SIZE(ucs_event_set_type_t, 4);
SIZE(ucs_async_event_cb_t, 8);
SIZE(ucs_linear_func_t, 16);
SIZE(struct uct_md_resource_desc, 16);
SIZE(uct_md_resource_desc_t, 16);
SIZE(struct uct_component_attr, 48);
SIZE(uct_component_attr_t, 48);
SIZE(uct_device_type_t, 4);
SIZE(struct uct_tl_resource_desc, 52);
SIZE(uct_tl_resource_desc_t, 52);
SIZE(uct_atomic_op_t, 4);
SIZE(uct_alloc_method_t, 4);
SIZE(uct_sockaddr_accessibility_t, 4);
SIZE(uct_mem_advice_t, 4);
SIZE(struct uct_ppn_bandwidth, 16);
SIZE(uct_ppn_bandwidth_t, 16);
SIZE(struct uct_iface_attr, 536);
SIZE(struct uct_iface_params, 304);
SIZE(struct uct_ep_params, 160);
SIZE(struct uct_ep_connect_params, 24);
SIZE(struct uct_cm_attr, 16);
SIZE(struct uct_listener_attr, 136);
SIZE(struct uct_listener_params, 32);
SIZE(struct uct_md_attr, 224);
SIZE(uct_md_mem_attr_field_t, 4);
SIZE(struct uct_md_mem_attr, 48);
SIZE(uct_md_mem_attr_t, 48);
SIZE(struct uct_allocated_memory, 48);
SIZE(uct_allocated_memory_t, 48);
SIZE(struct uct_rkey_bundle, 24);
SIZE(uct_rkey_bundle_t, 24);
SIZE(struct uct_completion, 16);
SIZE(struct uct_pending_req, 48);
SIZE(struct uct_tag_context, 56);
SIZE(uct_mem_alloc_params_field_t, 4);
SIZE(uct_mem_alloc_params_t, 64);
SIZE(ucm_event_type_t, 4);
SIZE(ucm_mmap_hook_mode_t, 4);
SIZE(ucm_module_unload_prevent_mode_t, 4);
SIZE(union ucm_event, 48);
SIZE(ucm_event_t, 48);
SIZE(struct ucm_global_config, 64);
SIZE(ucm_global_config_t, 64);
SIZE(ucm_event_callback_t, 8);
OFFSET(ucs_config_names_array_t, names, 0, 8);
OFFSET(ucs_config_names_array_t, count, 8, 4);
OFFSET(ucs_config_names_array_t, pad, 12, 4);
OFFSET(ucs_config_allow_list_t, array, 0, 16);
OFFSET(ucs_config_allow_list_t, array.names, 0, 8);
OFFSET(ucs_config_allow_list_t, array.count, 8, 4);
OFFSET(ucs_config_allow_list_t, array.pad, 12, 4);
OFFSET(ucs_config_allow_list_t, mode, 16, 4);
OFFSET(struct ucs_sock_addr, addr, 0, 8);
OFFSET(struct ucs_sock_addr, addrlen, 8, 4);
OFFSET(ucs_sock_addr_t, addr, 0, 8);
OFFSET(ucs_sock_addr_t, addrlen, 8, 4);
OFFSET(struct ucs_log_component_config, log_level, 0, 4);
OFFSET(struct ucs_log_component_config, name, 4, 16);
OFFSET(struct ucs_log_component_config, file_filter, 24, 8);
OFFSET(ucs_log_component_config_t, log_level, 0, 4);
OFFSET(ucs_log_component_config_t, name, 4, 16);
OFFSET(ucs_log_component_config_t, file_filter, 24, 8);
OFFSET(ucp_tag_recv_info_t, sender_tag, 0, 8);
OFFSET(ucp_tag_recv_info_t, length, 8, 8);
OFFSET(ucp_am_recv_param_t, recv_attr, 0, 8);
OFFSET(ucp_am_recv_param_t, reply_ep, 8, 8);
OFFSET(struct ucp_mem_attr, field_mask, 0, 8);
OFFSET(struct ucp_mem_attr, address, 8, 8);
OFFSET(struct ucp_mem_attr, length, 16, 8);
OFFSET(struct ucp_mem_attr, mem_type, 24, 4);
OFFSET(ucp_mem_attr_t, field_mask, 0, 8);
OFFSET(ucp_mem_attr_t, address, 8, 8);
OFFSET(ucp_mem_attr_t, length, 16, 8);
OFFSET(ucp_mem_attr_t, mem_type, 24, 4);
OFFSET(struct ucp_err_handler, cb, 0, 8);
OFFSET(struct ucp_err_handler, arg, 8, 8);
OFFSET(ucp_err_handler_t, cb, 0, 8);
OFFSET(ucp_err_handler_t, arg, 8, 8);
OFFSET(struct ucp_listener_conn_handler, cb, 0, 8);
OFFSET(struct ucp_listener_conn_handler, arg, 8, 8);
OFFSET(ucp_listener_conn_handler_t, cb, 0, 8);
OFFSET(ucp_listener_conn_handler_t, arg, 8, 8);
OFFSET(struct ucp_ep_params, field_mask, 0, 8);
OFFSET(struct ucp_ep_params, address, 8, 8);
OFFSET(struct ucp_ep_params, err_mode, 16, 4);
OFFSET(struct ucp_ep_params, err_handler, 24, 16);
OFFSET(struct ucp_ep_params, user_data, 40, 8);
OFFSET(struct ucp_ep_params, flags, 48, 4);
OFFSET(struct ucp_ep_params, sockaddr, 56, 16);
OFFSET(struct ucp_ep_params, conn_request, 72, 8);
OFFSET(struct ucp_ep_params, name, 80, 8);
OFFSET(struct ucp_ep_params, local_sockaddr, 88, 16);
OFFSET(ucp_ep_params_t, field_mask, 0, 8);
OFFSET(ucp_ep_params_t, address, 8, 8);
OFFSET(ucp_ep_params_t, err_mode, 16, 4);
OFFSET(ucp_ep_params_t, err_handler, 24, 16);
OFFSET(ucp_ep_params_t, user_data, 40, 8);
OFFSET(ucp_ep_params_t, flags, 48, 4);
OFFSET(ucp_ep_params_t, sockaddr, 56, 16);
OFFSET(ucp_ep_params_t, conn_request, 72, 8);
OFFSET(ucp_ep_params_t, name, 80, 8);
OFFSET(ucp_ep_params_t, local_sockaddr, 88, 16);
OFFSET(ucp_transport_entry_t, transport_name, 0, 8);
OFFSET(ucp_transport_entry_t, device_name, 8, 8);
OFFSET(ucp_transports_t, entries, 0, 8);
OFFSET(ucp_transports_t, num_entries, 8, 4);
OFFSET(ucp_transports_t, entry_size, 16, 8);
OFFSET(struct ucp_listener_accept_handler, cb, 0, 8);
OFFSET(struct ucp_listener_accept_handler, arg, 8, 8);
OFFSET(ucp_listener_accept_handler_t, cb, 0, 8);
OFFSET(ucp_listener_accept_handler_t, arg, 8, 8);
OFFSET(ucs_cpu_set_t, ucs_bits, 0, 128);
OFFSET(struct ucp_dt_iov, buffer, 0, 8);
OFFSET(struct ucp_dt_iov, length, 8, 8);
OFFSET(ucp_dt_iov_t, buffer, 0, 8);
OFFSET(ucp_dt_iov_t, length, 8, 8);
OFFSET(struct ucp_generic_dt_ops, start_pack, 0, 8);
OFFSET(struct ucp_generic_dt_ops, start_unpack, 8, 8);
OFFSET(struct ucp_generic_dt_ops, packed_size, 16, 8);
OFFSET(struct ucp_generic_dt_ops, pack, 24, 8);
OFFSET(struct ucp_generic_dt_ops, unpack, 32, 8);
OFFSET(struct ucp_generic_dt_ops, finish, 40, 8);
OFFSET(ucp_generic_dt_ops_t, start_pack, 0, 8);
OFFSET(ucp_generic_dt_ops_t, start_unpack, 8, 8);
OFFSET(ucp_generic_dt_ops_t, packed_size, 16, 8);
OFFSET(ucp_generic_dt_ops_t, pack, 24, 8);
OFFSET(ucp_generic_dt_ops_t, unpack, 32, 8);
OFFSET(ucp_generic_dt_ops_t, finish, 40, 8);
OFFSET(struct ucp_datatype_attr, field_mask, 0, 8);
OFFSET(struct ucp_datatype_attr, packed_size, 8, 8);
OFFSET(struct ucp_datatype_attr, buffer, 16, 8);
OFFSET(struct ucp_datatype_attr, count, 24, 8);
OFFSET(ucp_datatype_attr_t, field_mask, 0, 8);
OFFSET(ucp_datatype_attr_t, packed_size, 8, 8);
OFFSET(ucp_datatype_attr_t, buffer, 16, 8);
OFFSET(ucp_datatype_attr_t, count, 24, 8);
OFFSET(struct ucp_params, field_mask, 0, 8);
OFFSET(struct ucp_params, features, 8, 8);
OFFSET(struct ucp_params, request_size, 16, 8);
OFFSET(struct ucp_params, request_init, 24, 8);
OFFSET(struct ucp_params, request_cleanup, 32, 8);
OFFSET(struct ucp_params, tag_sender_mask, 40, 8);
OFFSET(struct ucp_params, mt_workers_shared, 48, 4);
OFFSET(struct ucp_params, estimated_num_eps, 56, 8);
OFFSET(struct ucp_params, estimated_num_ppn, 64, 8);
OFFSET(struct ucp_params, name, 72, 8);
OFFSET(struct ucp_params, node_local_id, 80, 8);
OFFSET(ucp_params_t, field_mask, 0, 8);
OFFSET(ucp_params_t, features, 8, 8);
OFFSET(ucp_params_t, request_size, 16, 8);
OFFSET(ucp_params_t, request_init, 24, 8);
OFFSET(ucp_params_t, request_cleanup, 32, 8);
OFFSET(ucp_params_t, tag_sender_mask, 40, 8);
OFFSET(ucp_params_t, mt_workers_shared, 48, 4);
OFFSET(ucp_params_t, estimated_num_eps, 56, 8);
OFFSET(ucp_params_t, estimated_num_ppn, 64, 8);
OFFSET(ucp_params_t, name, 72, 8);
OFFSET(ucp_params_t, node_local_id, 80, 8);
OFFSET(struct ucp_lib_attr, field_mask, 0, 8);
OFFSET(struct ucp_lib_attr, max_thread_level, 8, 4);
OFFSET(ucp_lib_attr_t, field_mask, 0, 8);
OFFSET(ucp_lib_attr_t, max_thread_level, 8, 4);
OFFSET(struct ucp_context_attr, field_mask, 0, 8);
OFFSET(struct ucp_context_attr, request_size, 8, 8);
OFFSET(struct ucp_context_attr, thread_mode, 16, 4);
OFFSET(struct ucp_context_attr, memory_types, 24, 8);
OFFSET(struct ucp_context_attr, name, 32, 32);
OFFSET(struct ucp_context_attr, device_counter_size, 64, 8);
OFFSET(ucp_context_attr_t, field_mask, 0, 8);
OFFSET(ucp_context_attr_t, request_size, 8, 8);
OFFSET(ucp_context_attr_t, thread_mode, 16, 4);
OFFSET(ucp_context_attr_t, memory_types, 24, 8);
OFFSET(ucp_context_attr_t, name, 32, 32);
OFFSET(ucp_context_attr_t, device_counter_size, 64, 8);
OFFSET(struct ucp_worker_attr, field_mask, 0, 8);
OFFSET(struct ucp_worker_attr, thread_mode, 8, 4);
OFFSET(struct ucp_worker_attr, address_flags, 12, 4);
OFFSET(struct ucp_worker_attr, address, 16, 8);
OFFSET(struct ucp_worker_attr, address_length, 24, 8);
OFFSET(struct ucp_worker_attr, max_am_header, 32, 8);
OFFSET(struct ucp_worker_attr, name, 40, 32);
OFFSET(struct ucp_worker_attr, max_debug_string, 72, 8);
OFFSET(ucp_worker_attr_t, field_mask, 0, 8);
OFFSET(ucp_worker_attr_t, thread_mode, 8, 4);
OFFSET(ucp_worker_attr_t, address_flags, 12, 4);
OFFSET(ucp_worker_attr_t, address, 16, 8);
OFFSET(ucp_worker_attr_t, address_length, 24, 8);
OFFSET(ucp_worker_attr_t, max_am_header, 32, 8);
OFFSET(ucp_worker_attr_t, name, 40, 32);
OFFSET(ucp_worker_attr_t, max_debug_string, 72, 8);
OFFSET(struct ucp_rkey_compare_params, field_mask, 0, 8);
OFFSET(ucp_rkey_compare_params_t, field_mask, 0, 8);
OFFSET(struct ucp_worker_params, field_mask, 0, 8);
OFFSET(struct ucp_worker_params, thread_mode, 8, 4);
OFFSET(struct ucp_worker_params, cpu_mask, 16, 128);
OFFSET(struct ucp_worker_params, cpu_mask.ucs_bits, 16, 128);
OFFSET(struct ucp_worker_params, events, 144, 4);
OFFSET(struct ucp_worker_params, user_data, 152, 8);
OFFSET(struct ucp_worker_params, event_fd, 160, 4);
OFFSET(struct ucp_worker_params, flags, 168, 8);
OFFSET(struct ucp_worker_params, name, 176, 8);
OFFSET(struct ucp_worker_params, am_alignment, 184, 8);
OFFSET(struct ucp_worker_params, client_id, 192, 8);
OFFSET(ucp_worker_params_t, field_mask, 0, 8);
OFFSET(ucp_worker_params_t, thread_mode, 8, 4);
OFFSET(ucp_worker_params_t, cpu_mask, 16, 128);
OFFSET(ucp_worker_params_t, cpu_mask.ucs_bits, 16, 128);
OFFSET(ucp_worker_params_t, events, 144, 4);
OFFSET(ucp_worker_params_t, user_data, 152, 8);
OFFSET(ucp_worker_params_t, event_fd, 160, 4);
OFFSET(ucp_worker_params_t, flags, 168, 8);
OFFSET(ucp_worker_params_t, name, 176, 8);
OFFSET(ucp_worker_params_t, am_alignment, 184, 8);
OFFSET(ucp_worker_params_t, client_id, 192, 8);
OFFSET(struct ucp_worker_address_attr, field_mask, 0, 8);
OFFSET(struct ucp_worker_address_attr, worker_uid, 8, 8);
OFFSET(ucp_worker_address_attr_t, field_mask, 0, 8);
OFFSET(ucp_worker_address_attr_t, worker_uid, 8, 8);
OFFSET(ucp_ep_evaluate_perf_param_t, field_mask, 0, 8);
OFFSET(ucp_ep_evaluate_perf_param_t, message_size, 8, 8);
OFFSET(ucp_ep_evaluate_perf_attr_t, field_mask, 0, 8);
OFFSET(ucp_ep_evaluate_perf_attr_t, estimated_time, 8, 8);
OFFSET(struct ucp_listener_attr, field_mask, 0, 8);
OFFSET(struct ucp_listener_attr, sockaddr, 8, 128);
OFFSET(ucp_listener_attr_t, field_mask, 0, 8);
OFFSET(ucp_listener_attr_t, sockaddr, 8, 128);
OFFSET(struct ucp_conn_request_attr, field_mask, 0, 8);
OFFSET(struct ucp_conn_request_attr, client_address, 8, 128);
OFFSET(struct ucp_conn_request_attr, client_id, 136, 8);
OFFSET(ucp_conn_request_attr_t, field_mask, 0, 8);
OFFSET(ucp_conn_request_attr_t, client_address, 8, 128);
OFFSET(ucp_conn_request_attr_t, client_id, 136, 8);
OFFSET(struct ucp_listener_params, field_mask, 0, 8);
OFFSET(struct ucp_listener_params, sockaddr, 8, 16);
OFFSET(struct ucp_listener_params, accept_handler, 24, 16);
OFFSET(struct ucp_listener_params, conn_handler, 40, 16);
OFFSET(ucp_listener_params_t, field_mask, 0, 8);
OFFSET(ucp_listener_params_t, sockaddr, 8, 16);
OFFSET(ucp_listener_params_t, accept_handler, 24, 16);
OFFSET(ucp_listener_params_t, conn_handler, 40, 16);
OFFSET(struct ucp_stream_poll_ep, ep, 0, 8);
OFFSET(struct ucp_stream_poll_ep, user_data, 8, 8);
OFFSET(struct ucp_stream_poll_ep, flags, 16, 4);
OFFSET(struct ucp_stream_poll_ep, reserved, 20, 16);
OFFSET(ucp_stream_poll_ep_t, ep, 0, 8);
OFFSET(ucp_stream_poll_ep_t, user_data, 8, 8);
OFFSET(ucp_stream_poll_ep_t, flags, 16, 4);
OFFSET(ucp_stream_poll_ep_t, reserved, 20, 16);
OFFSET(struct ucp_mem_map_params, field_mask, 0, 8);
OFFSET(struct ucp_mem_map_params, address, 8, 8);
OFFSET(struct ucp_mem_map_params, length, 16, 8);
OFFSET(struct ucp_mem_map_params, flags, 24, 4);
OFFSET(struct ucp_mem_map_params, prot, 28, 4);
OFFSET(struct ucp_mem_map_params, memory_type, 32, 4);
OFFSET(struct ucp_mem_map_params, exported_memh_buffer, 40, 8);
OFFSET(ucp_mem_map_params_t, field_mask, 0, 8);
OFFSET(ucp_mem_map_params_t, address, 8, 8);
OFFSET(ucp_mem_map_params_t, length, 16, 8);
OFFSET(ucp_mem_map_params_t, flags, 24, 4);
OFFSET(ucp_mem_map_params_t, prot, 28, 4);
OFFSET(ucp_mem_map_params_t, memory_type, 32, 4);
OFFSET(ucp_mem_map_params_t, exported_memh_buffer, 40, 8);
OFFSET(struct ucp_tag_recv_info, sender_tag, 0, 8);
OFFSET(struct ucp_tag_recv_info, length, 8, 8);
OFFSET(ucp_request_param_t, op_attr_mask, 0, 4);
OFFSET(ucp_request_param_t, flags, 4, 4);
OFFSET(ucp_request_param_t, request, 8, 8);
OFFSET(ucp_request_param_t, cb, 16, 8);
OFFSET(ucp_request_param_t, cb.send, 16, 8);
OFFSET(ucp_request_param_t, cb.recv, 16, 8);
OFFSET(ucp_request_param_t, cb.recv_stream, 16, 8);
OFFSET(ucp_request_param_t, cb.recv_am, 16, 8);
OFFSET(ucp_request_param_t, datatype, 24, 8);
OFFSET(ucp_request_param_t, user_data, 32, 8);
OFFSET(ucp_request_param_t, reply_buffer, 40, 8);
OFFSET(ucp_request_param_t, memory_type, 48, 4);
OFFSET(ucp_request_param_t, recv_info, 56, 8);
OFFSET(ucp_request_param_t, recv_info.length, 56, 8);
OFFSET(ucp_request_param_t, recv_info.tag_info, 56, 8);
OFFSET(ucp_request_param_t, memh, 64, 8);
OFFSET(ucp_request_attr_t, field_mask, 0, 8);
OFFSET(ucp_request_attr_t, debug_string, 8, 8);
OFFSET(ucp_request_attr_t, debug_string_size, 16, 8);
OFFSET(ucp_request_attr_t, status, 24, 1);
OFFSET(ucp_request_attr_t, mem_type, 28, 4);
OFFSET(struct ucp_am_handler_param, field_mask, 0, 8);
OFFSET(struct ucp_am_handler_param, id, 8, 4);
OFFSET(struct ucp_am_handler_param, flags, 12, 4);
OFFSET(struct ucp_am_handler_param, cb, 16, 8);
OFFSET(struct ucp_am_handler_param, arg, 24, 8);
OFFSET(ucp_am_handler_param_t, field_mask, 0, 8);
OFFSET(ucp_am_handler_param_t, id, 8, 4);
OFFSET(ucp_am_handler_param_t, flags, 12, 4);
OFFSET(ucp_am_handler_param_t, cb, 16, 8);
OFFSET(ucp_am_handler_param_t, arg, 24, 8);
OFFSET(struct ucp_am_recv_param, recv_attr, 0, 8);
OFFSET(struct ucp_am_recv_param, reply_ep, 8, 8);
OFFSET(struct ucp_mem_advise_params, field_mask, 0, 8);
OFFSET(struct ucp_mem_advise_params, address, 8, 8);
OFFSET(struct ucp_mem_advise_params, length, 16, 8);
OFFSET(struct ucp_mem_advise_params, advice, 24, 4);
OFFSET(ucp_mem_advise_params_t, field_mask, 0, 8);
OFFSET(ucp_mem_advise_params_t, address, 8, 8);
OFFSET(ucp_mem_advise_params_t, length, 16, 8);
OFFSET(ucp_mem_advise_params_t, advice, 24, 4);
OFFSET(struct ucp_memh_pack_params, field_mask, 0, 8);
OFFSET(struct ucp_memh_pack_params, flags, 8, 8);
OFFSET(ucp_memh_pack_params_t, field_mask, 0, 8);
OFFSET(ucp_memh_pack_params_t, flags, 8, 8);
OFFSET(struct ucp_memh_buffer_release_params, field_mask, 0, 8);
OFFSET(ucp_memh_buffer_release_params_t, field_mask, 0, 8);
OFFSET(struct ucp_ep_attr, field_mask, 0, 8);
OFFSET(struct ucp_ep_attr, name, 8, 32);
OFFSET(struct ucp_ep_attr, local_sockaddr, 40, 128);
OFFSET(struct ucp_ep_attr, remote_sockaddr, 168, 128);
OFFSET(struct ucp_ep_attr, transports, 296, 24);
OFFSET(struct ucp_ep_attr, transports.entries, 296, 8);
OFFSET(struct ucp_ep_attr, transports.num_entries, 304, 4);
OFFSET(struct ucp_ep_attr, transports.entry_size, 312, 8);
OFFSET(struct ucp_ep_attr, user_data, 320, 8);
OFFSET(ucp_ep_attr_t, field_mask, 0, 8);
OFFSET(ucp_ep_attr_t, name, 8, 32);
OFFSET(ucp_ep_attr_t, local_sockaddr, 40, 128);
OFFSET(ucp_ep_attr_t, remote_sockaddr, 168, 128);
OFFSET(ucp_ep_attr_t, transports, 296, 24);
OFFSET(ucp_ep_attr_t, transports.entries, 296, 8);
OFFSET(ucp_ep_attr_t, transports.num_entries, 304, 4);
OFFSET(ucp_ep_attr_t, transports.entry_size, 312, 8);
OFFSET(ucp_ep_attr_t, user_data, 320, 8);
OFFSET(uct_iface_attr_t, cap, 0, 312);
OFFSET(uct_iface_attr_t, cap.put, 0, 56);
OFFSET(uct_iface_attr_t, cap.put.max_short, 0, 8);
OFFSET(uct_iface_attr_t, cap.put.max_bcopy, 8, 8);
OFFSET(uct_iface_attr_t, cap.put.min_zcopy, 16, 8);
OFFSET(uct_iface_attr_t, cap.put.max_zcopy, 24, 8);
OFFSET(uct_iface_attr_t, cap.put.opt_zcopy_align, 32, 8);
OFFSET(uct_iface_attr_t, cap.put.align_mtu, 40, 8);
OFFSET(uct_iface_attr_t, cap.put.max_iov, 48, 8);
OFFSET(uct_iface_attr_t, cap.get, 56, 56);
OFFSET(uct_iface_attr_t, cap.get.max_short, 56, 8);
OFFSET(uct_iface_attr_t, cap.get.max_bcopy, 64, 8);
OFFSET(uct_iface_attr_t, cap.get.min_zcopy, 72, 8);
OFFSET(uct_iface_attr_t, cap.get.max_zcopy, 80, 8);
OFFSET(uct_iface_attr_t, cap.get.opt_zcopy_align, 88, 8);
OFFSET(uct_iface_attr_t, cap.get.align_mtu, 96, 8);
OFFSET(uct_iface_attr_t, cap.get.max_iov, 104, 8);
OFFSET(uct_iface_attr_t, cap.am, 112, 64);
OFFSET(uct_iface_attr_t, cap.am.max_short, 112, 8);
OFFSET(uct_iface_attr_t, cap.am.max_bcopy, 120, 8);
OFFSET(uct_iface_attr_t, cap.am.min_zcopy, 128, 8);
OFFSET(uct_iface_attr_t, cap.am.max_zcopy, 136, 8);
OFFSET(uct_iface_attr_t, cap.am.opt_zcopy_align, 144, 8);
OFFSET(uct_iface_attr_t, cap.am.align_mtu, 152, 8);
OFFSET(uct_iface_attr_t, cap.am.max_hdr, 160, 8);
OFFSET(uct_iface_attr_t, cap.am.max_iov, 168, 8);
OFFSET(uct_iface_attr_t, cap.tag, 176, 88);
OFFSET(uct_iface_attr_t, cap.tag.recv, 176, 32);
OFFSET(uct_iface_attr_t, cap.tag.recv.min_recv, 176, 8);
OFFSET(uct_iface_attr_t, cap.tag.recv.max_zcopy, 184, 8);
OFFSET(uct_iface_attr_t, cap.tag.recv.max_iov, 192, 8);
OFFSET(uct_iface_attr_t, cap.tag.recv.max_outstanding, 200, 8);
OFFSET(uct_iface_attr_t, cap.tag.eager, 208, 32);
OFFSET(uct_iface_attr_t, cap.tag.eager.max_short, 208, 8);
OFFSET(uct_iface_attr_t, cap.tag.eager.max_bcopy, 216, 8);
OFFSET(uct_iface_attr_t, cap.tag.eager.max_zcopy, 224, 8);
OFFSET(uct_iface_attr_t, cap.tag.eager.max_iov, 232, 8);
OFFSET(uct_iface_attr_t, cap.tag.rndv, 240, 24);
OFFSET(uct_iface_attr_t, cap.tag.rndv.max_zcopy, 240, 8);
OFFSET(uct_iface_attr_t, cap.tag.rndv.max_hdr, 248, 8);
OFFSET(uct_iface_attr_t, cap.tag.rndv.max_iov, 256, 8);
OFFSET(uct_iface_attr_t, cap.atomic32, 264, 16);
OFFSET(uct_iface_attr_t, cap.atomic32.op_flags, 264, 8);
OFFSET(uct_iface_attr_t, cap.atomic32.fop_flags, 272, 8);
OFFSET(uct_iface_attr_t, cap.atomic64, 280, 16);
OFFSET(uct_iface_attr_t, cap.atomic64.op_flags, 280, 8);
OFFSET(uct_iface_attr_t, cap.atomic64.fop_flags, 288, 8);
OFFSET(uct_iface_attr_t, cap.flags, 296, 8);
OFFSET(uct_iface_attr_t, cap.event_flags, 304, 8);
OFFSET(uct_iface_attr_t, device_addr_len, 312, 8);
OFFSET(uct_iface_attr_t, iface_addr_len, 320, 8);
OFFSET(uct_iface_attr_t, ep_addr_len, 328, 8);
OFFSET(uct_iface_attr_t, max_conn_priv, 336, 8);
OFFSET(uct_iface_attr_t, listen_sockaddr, 344, 128);
OFFSET(uct_iface_attr_t, overhead, 472, 8);
OFFSET(uct_iface_attr_t, bandwidth, 480, 16);
OFFSET(uct_iface_attr_t, latency, 496, 16);
OFFSET(uct_iface_attr_t, latency.c, 496, 8);
OFFSET(uct_iface_attr_t, latency.m, 504, 8);
OFFSET(uct_iface_attr_t, priority, 512, 1);
OFFSET(uct_iface_attr_t, max_num_eps, 520, 8);
OFFSET(uct_iface_attr_t, dev_num_paths, 528, 4);
OFFSET(uct_iface_params_t, field_mask, 0, 8);
OFFSET(uct_iface_params_t, cpu_mask, 8, 128);
OFFSET(uct_iface_params_t, cpu_mask.ucs_bits, 8, 128);
OFFSET(uct_iface_params_t, open_mode, 136, 8);
OFFSET(uct_iface_params_t, mode, 144, 40);
OFFSET(uct_iface_params_t, mode.device, 144, 16);
OFFSET(uct_iface_params_t, mode.device.tl_name, 144, 8);
OFFSET(uct_iface_params_t, mode.device.dev_name, 152, 8);
OFFSET(uct_iface_params_t, mode.sockaddr, 144, 40);
OFFSET(uct_iface_params_t, mode.sockaddr.listen_sockaddr, 144, 16);
OFFSET(uct_iface_params_t, mode.sockaddr.conn_request_arg, 160, 8);
OFFSET(uct_iface_params_t, mode.sockaddr.conn_request_cb, 168, 8);
OFFSET(uct_iface_params_t, mode.sockaddr.cb_flags, 176, 4);
OFFSET(uct_iface_params_t, stats_root, 184, 8);
OFFSET(uct_iface_params_t, rx_headroom, 192, 8);
OFFSET(uct_iface_params_t, err_handler_arg, 200, 8);
OFFSET(uct_iface_params_t, err_handler, 208, 8);
OFFSET(uct_iface_params_t, err_handler_flags, 216, 4);
OFFSET(uct_iface_params_t, eager_arg, 224, 8);
OFFSET(uct_iface_params_t, eager_cb, 232, 8);
OFFSET(uct_iface_params_t, rndv_arg, 240, 8);
OFFSET(uct_iface_params_t, rndv_cb, 248, 8);
OFFSET(uct_iface_params_t, async_event_arg, 256, 8);
OFFSET(uct_iface_params_t, async_event_cb, 264, 8);
OFFSET(uct_iface_params_t, keepalive_interval, 272, 8);
OFFSET(uct_iface_params_t, am_alignment, 280, 8);
OFFSET(uct_iface_params_t, am_align_offset, 288, 8);
OFFSET(uct_iface_params_t, features, 296, 8);
OFFSET(uct_md_attr_t, cap, 0, 56);
OFFSET(uct_md_attr_t, cap.max_alloc, 0, 8);
OFFSET(uct_md_attr_t, cap.max_reg, 8, 8);
OFFSET(uct_md_attr_t, cap.flags, 16, 8);
OFFSET(uct_md_attr_t, cap.reg_mem_types, 24, 8);
OFFSET(uct_md_attr_t, cap.detect_mem_types, 32, 8);
OFFSET(uct_md_attr_t, cap.alloc_mem_types, 40, 8);
OFFSET(uct_md_attr_t, cap.access_mem_types, 48, 8);
OFFSET(uct_md_attr_t, reg_cost, 56, 16);
OFFSET(uct_md_attr_t, reg_cost.c, 56, 8);
OFFSET(uct_md_attr_t, reg_cost.m, 64, 8);
OFFSET(uct_md_attr_t, component_name, 72, 16);
OFFSET(uct_md_attr_t, rkey_packed_size, 88, 8);
OFFSET(uct_md_attr_t, local_cpus, 96, 128);
OFFSET(uct_md_attr_t, local_cpus.ucs_bits, 96, 128);
OFFSET(uct_completion_t, func, 0, 8);
OFFSET(uct_completion_t, count, 8, 4);
OFFSET(uct_completion_t, status, 12, 1);
OFFSET(uct_pending_req_t, func, 0, 8);
OFFSET(uct_pending_req_t, priv, 8, 40);
OFFSET(uct_ep_params_t, field_mask, 0, 8);
OFFSET(uct_ep_params_t, iface, 8, 8);
OFFSET(uct_ep_params_t, user_data, 16, 8);
OFFSET(uct_ep_params_t, dev_addr, 24, 8);
OFFSET(uct_ep_params_t, iface_addr, 32, 8);
OFFSET(uct_ep_params_t, sockaddr, 40, 8);
OFFSET(uct_ep_params_t, sockaddr_cb_flags, 48, 4);
OFFSET(uct_ep_params_t, sockaddr_pack_cb, 56, 8);
OFFSET(uct_ep_params_t, cm, 64, 8);
OFFSET(uct_ep_params_t, conn_request, 72, 8);
OFFSET(uct_ep_params_t, sockaddr_cb_client, 80, 8);
OFFSET(uct_ep_params_t, sockaddr_cb_server, 88, 8);
OFFSET(uct_ep_params_t, disconnect_cb, 96, 8);
OFFSET(uct_ep_params_t, path_index, 104, 4);
OFFSET(uct_ep_params_t, cm_resolve_cb, 112, 8);
OFFSET(uct_ep_params_t, private_data, 120, 8);
OFFSET(uct_ep_params_t, private_data_length, 128, 8);
OFFSET(uct_ep_params_t, local_sockaddr, 136, 8);
OFFSET(uct_ep_params_t, dev_addr_length, 144, 8);
OFFSET(uct_ep_params_t, iface_addr_length, 152, 8);
OFFSET(uct_ep_connect_params_t, field_mask, 0, 8);
OFFSET(uct_ep_connect_params_t, private_data, 8, 8);
OFFSET(uct_ep_connect_params_t, private_data_length, 16, 8);
OFFSET(uct_cm_attr_t, field_mask, 0, 8);
OFFSET(uct_cm_attr_t, max_conn_priv, 8, 8);
OFFSET(uct_listener_attr_t, field_mask, 0, 8);
OFFSET(uct_listener_attr_t, sockaddr, 8, 128);
OFFSET(uct_listener_params_t, field_mask, 0, 8);
OFFSET(uct_listener_params_t, backlog, 8, 4);
OFFSET(uct_listener_params_t, conn_request_cb, 16, 8);
OFFSET(uct_listener_params_t, user_data, 24, 8);
OFFSET(uct_tag_context_t, tag_consumed_cb, 0, 8);
OFFSET(uct_tag_context_t, completed_cb, 8, 8);
OFFSET(uct_tag_context_t, rndv_cb, 16, 8);
OFFSET(uct_tag_context_t, priv, 24, 32);
OFFSET(struct uct_iov, buffer, 0, 8);
OFFSET(struct uct_iov, length, 8, 8);
OFFSET(struct uct_iov, memh, 16, 8);
OFFSET(struct uct_iov, stride, 24, 8);
OFFSET(struct uct_iov, count, 32, 4);
OFFSET(uct_iov_t, buffer, 0, 8);
OFFSET(uct_iov_t, length, 8, 8);
OFFSET(uct_iov_t, memh, 16, 8);
OFFSET(uct_iov_t, stride, 24, 8);
OFFSET(uct_iov_t, count, 32, 4);
OFFSET(struct uct_cm_ep_priv_data_pack_args, field_mask, 0, 8);
OFFSET(struct uct_cm_ep_priv_data_pack_args, dev_name, 8, 32);
OFFSET(uct_cm_ep_priv_data_pack_args_t, field_mask, 0, 8);
OFFSET(uct_cm_ep_priv_data_pack_args_t, dev_name, 8, 32);
OFFSET(struct uct_cm_ep_resolve_args, field_mask, 0, 8);
OFFSET(struct uct_cm_ep_resolve_args, dev_name, 8, 32);
OFFSET(struct uct_cm_ep_resolve_args, status, 40, 1);
OFFSET(uct_cm_ep_resolve_args_t, field_mask, 0, 8);
OFFSET(uct_cm_ep_resolve_args_t, dev_name, 8, 32);
OFFSET(uct_cm_ep_resolve_args_t, status, 40, 1);
OFFSET(struct uct_cm_remote_data, field_mask, 0, 8);
OFFSET(struct uct_cm_remote_data, dev_addr, 8, 8);
OFFSET(struct uct_cm_remote_data, dev_addr_length, 16, 8);
OFFSET(struct uct_cm_remote_data, conn_priv_data, 24, 8);
OFFSET(struct uct_cm_remote_data, conn_priv_data_length, 32, 8);
OFFSET(uct_cm_remote_data_t, field_mask, 0, 8);
OFFSET(uct_cm_remote_data_t, dev_addr, 8, 8);
OFFSET(uct_cm_remote_data_t, dev_addr_length, 16, 8);
OFFSET(uct_cm_remote_data_t, conn_priv_data, 24, 8);
OFFSET(uct_cm_remote_data_t, conn_priv_data_length, 32, 8);
OFFSET(struct uct_cm_listener_conn_request_args, field_mask, 0, 8);
OFFSET(struct uct_cm_listener_conn_request_args, dev_name, 8, 32);
OFFSET(struct uct_cm_listener_conn_request_args, conn_request, 40, 8);
OFFSET(struct uct_cm_listener_conn_request_args, remote_data, 48, 8);
OFFSET(struct uct_cm_listener_conn_request_args, client_address, 56, 16);
OFFSET(uct_cm_listener_conn_request_args_t, field_mask, 0, 8);
OFFSET(uct_cm_listener_conn_request_args_t, dev_name, 8, 32);
OFFSET(uct_cm_listener_conn_request_args_t, conn_request, 40, 8);
OFFSET(uct_cm_listener_conn_request_args_t, remote_data, 48, 8);
OFFSET(uct_cm_listener_conn_request_args_t, client_address, 56, 16);
OFFSET(struct uct_cm_ep_client_connect_args, field_mask, 0, 8);
OFFSET(struct uct_cm_ep_client_connect_args, remote_data, 8, 8);
OFFSET(struct uct_cm_ep_client_connect_args, status, 16, 1);
OFFSET(uct_cm_ep_client_connect_args_t, field_mask, 0, 8);
OFFSET(uct_cm_ep_client_connect_args_t, remote_data, 8, 8);
OFFSET(uct_cm_ep_client_connect_args_t, status, 16, 1);
OFFSET(struct uct_cm_ep_server_conn_notify_args, field_mask, 0, 8);
OFFSET(struct uct_cm_ep_server_conn_notify_args, status, 8, 1);
OFFSET(uct_cm_ep_server_conn_notify_args_t, field_mask, 0, 8);
OFFSET(uct_cm_ep_server_conn_notify_args_t, status, 8, 1);
OFFSET(ucs_linear_func_t, c, 0, 8);
OFFSET(ucs_linear_func_t, m, 8, 8);
OFFSET(struct uct_md_resource_desc, md_name, 0, 16);
OFFSET(uct_md_resource_desc_t, md_name, 0, 16);
OFFSET(struct uct_component_attr, field_mask, 0, 8);
OFFSET(struct uct_component_attr, name, 8, 16);
OFFSET(struct uct_component_attr, md_resource_count, 24, 4);
OFFSET(struct uct_component_attr, md_resources, 32, 8);
OFFSET(struct uct_component_attr, flags, 40, 8);
OFFSET(uct_component_attr_t, field_mask, 0, 8);
OFFSET(uct_component_attr_t, name, 8, 16);
OFFSET(uct_component_attr_t, md_resource_count, 24, 4);
OFFSET(uct_component_attr_t, md_resources, 32, 8);
OFFSET(uct_component_attr_t, flags, 40, 8);
OFFSET(struct uct_tl_resource_desc, tl_name, 0, 10);
OFFSET(struct uct_tl_resource_desc, dev_name, 10, 32);
OFFSET(struct uct_tl_resource_desc, dev_type, 44, 4);
OFFSET(struct uct_tl_resource_desc, sys_device, 48, 1);
OFFSET(uct_tl_resource_desc_t, tl_name, 0, 10);
OFFSET(uct_tl_resource_desc_t, dev_name, 10, 32);
OFFSET(uct_tl_resource_desc_t, dev_type, 44, 4);
OFFSET(uct_tl_resource_desc_t, sys_device, 48, 1);
OFFSET(struct uct_ppn_bandwidth, dedicated, 0, 8);
OFFSET(struct uct_ppn_bandwidth, shared, 8, 8);
OFFSET(uct_ppn_bandwidth_t, dedicated, 0, 8);
OFFSET(uct_ppn_bandwidth_t, shared, 8, 8);
OFFSET(struct uct_iface_attr, cap, 0, 312);
OFFSET(struct uct_iface_attr, cap.put, 0, 56);
OFFSET(struct uct_iface_attr, cap.put.max_short, 0, 8);
OFFSET(struct uct_iface_attr, cap.put.max_bcopy, 8, 8);
OFFSET(struct uct_iface_attr, cap.put.min_zcopy, 16, 8);
OFFSET(struct uct_iface_attr, cap.put.max_zcopy, 24, 8);
OFFSET(struct uct_iface_attr, cap.put.opt_zcopy_align, 32, 8);
OFFSET(struct uct_iface_attr, cap.put.align_mtu, 40, 8);
OFFSET(struct uct_iface_attr, cap.put.max_iov, 48, 8);
OFFSET(struct uct_iface_attr, cap.get, 56, 56);
OFFSET(struct uct_iface_attr, cap.get.max_short, 56, 8);
OFFSET(struct uct_iface_attr, cap.get.max_bcopy, 64, 8);
OFFSET(struct uct_iface_attr, cap.get.min_zcopy, 72, 8);
OFFSET(struct uct_iface_attr, cap.get.max_zcopy, 80, 8);
OFFSET(struct uct_iface_attr, cap.get.opt_zcopy_align, 88, 8);
OFFSET(struct uct_iface_attr, cap.get.align_mtu, 96, 8);
OFFSET(struct uct_iface_attr, cap.get.max_iov, 104, 8);
OFFSET(struct uct_iface_attr, cap.am, 112, 64);
OFFSET(struct uct_iface_attr, cap.am.max_short, 112, 8);
OFFSET(struct uct_iface_attr, cap.am.max_bcopy, 120, 8);
OFFSET(struct uct_iface_attr, cap.am.min_zcopy, 128, 8);
OFFSET(struct uct_iface_attr, cap.am.max_zcopy, 136, 8);
OFFSET(struct uct_iface_attr, cap.am.opt_zcopy_align, 144, 8);
OFFSET(struct uct_iface_attr, cap.am.align_mtu, 152, 8);
OFFSET(struct uct_iface_attr, cap.am.max_hdr, 160, 8);
OFFSET(struct uct_iface_attr, cap.am.max_iov, 168, 8);
OFFSET(struct uct_iface_attr, cap.tag, 176, 88);
OFFSET(struct uct_iface_attr, cap.tag.recv, 176, 32);
OFFSET(struct uct_iface_attr, cap.tag.recv.min_recv, 176, 8);
OFFSET(struct uct_iface_attr, cap.tag.recv.max_zcopy, 184, 8);
OFFSET(struct uct_iface_attr, cap.tag.recv.max_iov, 192, 8);
OFFSET(struct uct_iface_attr, cap.tag.recv.max_outstanding, 200, 8);
OFFSET(struct uct_iface_attr, cap.tag.eager, 208, 32);
OFFSET(struct uct_iface_attr, cap.tag.eager.max_short, 208, 8);
OFFSET(struct uct_iface_attr, cap.tag.eager.max_bcopy, 216, 8);
OFFSET(struct uct_iface_attr, cap.tag.eager.max_zcopy, 224, 8);
OFFSET(struct uct_iface_attr, cap.tag.eager.max_iov, 232, 8);
OFFSET(struct uct_iface_attr, cap.tag.rndv, 240, 24);
OFFSET(struct uct_iface_attr, cap.tag.rndv.max_zcopy, 240, 8);
OFFSET(struct uct_iface_attr, cap.tag.rndv.max_hdr, 248, 8);
OFFSET(struct uct_iface_attr, cap.tag.rndv.max_iov, 256, 8);
OFFSET(struct uct_iface_attr, cap.atomic32, 264, 16);
OFFSET(struct uct_iface_attr, cap.atomic32.op_flags, 264, 8);
OFFSET(struct uct_iface_attr, cap.atomic32.fop_flags, 272, 8);
OFFSET(struct uct_iface_attr, cap.atomic64, 280, 16);
OFFSET(struct uct_iface_attr, cap.atomic64.op_flags, 280, 8);
OFFSET(struct uct_iface_attr, cap.atomic64.fop_flags, 288, 8);
OFFSET(struct uct_iface_attr, cap.flags, 296, 8);
OFFSET(struct uct_iface_attr, cap.event_flags, 304, 8);
OFFSET(struct uct_iface_attr, device_addr_len, 312, 8);
OFFSET(struct uct_iface_attr, iface_addr_len, 320, 8);
OFFSET(struct uct_iface_attr, ep_addr_len, 328, 8);
OFFSET(struct uct_iface_attr, max_conn_priv, 336, 8);
OFFSET(struct uct_iface_attr, listen_sockaddr, 344, 128);
OFFSET(struct uct_iface_attr, overhead, 472, 8);
OFFSET(struct uct_iface_attr, bandwidth, 480, 16);
OFFSET(struct uct_iface_attr, latency, 496, 16);
OFFSET(struct uct_iface_attr, latency.c, 496, 8);
OFFSET(struct uct_iface_attr, latency.m, 504, 8);
OFFSET(struct uct_iface_attr, priority, 512, 1);
OFFSET(struct uct_iface_attr, max_num_eps, 520, 8);
OFFSET(struct uct_iface_attr, dev_num_paths, 528, 4);
OFFSET(struct uct_iface_params, field_mask, 0, 8);
OFFSET(struct uct_iface_params, cpu_mask, 8, 128);
OFFSET(struct uct_iface_params, cpu_mask.ucs_bits, 8, 128);
OFFSET(struct uct_iface_params, open_mode, 136, 8);
OFFSET(struct uct_iface_params, mode, 144, 40);
OFFSET(struct uct_iface_params, mode.device, 144, 16);
OFFSET(struct uct_iface_params, mode.device.tl_name, 144, 8);
OFFSET(struct uct_iface_params, mode.device.dev_name, 152, 8);
OFFSET(struct uct_iface_params, mode.sockaddr, 144, 40);
OFFSET(struct uct_iface_params, mode.sockaddr.listen_sockaddr, 144, 16);
OFFSET(struct uct_iface_params, mode.sockaddr.conn_request_arg, 160, 8);
OFFSET(struct uct_iface_params, mode.sockaddr.conn_request_cb, 168, 8);
OFFSET(struct uct_iface_params, mode.sockaddr.cb_flags, 176, 4);
OFFSET(struct uct_iface_params, stats_root, 184, 8);
OFFSET(struct uct_iface_params, rx_headroom, 192, 8);
OFFSET(struct uct_iface_params, err_handler_arg, 200, 8);
OFFSET(struct uct_iface_params, err_handler, 208, 8);
OFFSET(struct uct_iface_params, err_handler_flags, 216, 4);
OFFSET(struct uct_iface_params, eager_arg, 224, 8);
OFFSET(struct uct_iface_params, eager_cb, 232, 8);
OFFSET(struct uct_iface_params, rndv_arg, 240, 8);
OFFSET(struct uct_iface_params, rndv_cb, 248, 8);
OFFSET(struct uct_iface_params, async_event_arg, 256, 8);
OFFSET(struct uct_iface_params, async_event_cb, 264, 8);
OFFSET(struct uct_iface_params, keepalive_interval, 272, 8);
OFFSET(struct uct_iface_params, am_alignment, 280, 8);
OFFSET(struct uct_iface_params, am_align_offset, 288, 8);
OFFSET(struct uct_iface_params, features, 296, 8);
OFFSET(struct uct_ep_params, field_mask, 0, 8);
OFFSET(struct uct_ep_params, iface, 8, 8);
OFFSET(struct uct_ep_params, user_data, 16, 8);
OFFSET(struct uct_ep_params, dev_addr, 24, 8);
OFFSET(struct uct_ep_params, iface_addr, 32, 8);
OFFSET(struct uct_ep_params, sockaddr, 40, 8);
OFFSET(struct uct_ep_params, sockaddr_cb_flags, 48, 4);
OFFSET(struct uct_ep_params, sockaddr_pack_cb, 56, 8);
OFFSET(struct uct_ep_params, cm, 64, 8);
OFFSET(struct uct_ep_params, conn_request, 72, 8);
OFFSET(struct uct_ep_params, sockaddr_cb_client, 80, 8);
OFFSET(struct uct_ep_params, sockaddr_cb_server, 88, 8);
OFFSET(struct uct_ep_params, disconnect_cb, 96, 8);
OFFSET(struct uct_ep_params, path_index, 104, 4);
OFFSET(struct uct_ep_params, cm_resolve_cb, 112, 8);
OFFSET(struct uct_ep_params, private_data, 120, 8);
OFFSET(struct uct_ep_params, private_data_length, 128, 8);
OFFSET(struct uct_ep_params, local_sockaddr, 136, 8);
OFFSET(struct uct_ep_params, dev_addr_length, 144, 8);
OFFSET(struct uct_ep_params, iface_addr_length, 152, 8);
OFFSET(struct uct_ep_connect_params, field_mask, 0, 8);
OFFSET(struct uct_ep_connect_params, private_data, 8, 8);
OFFSET(struct uct_ep_connect_params, private_data_length, 16, 8);
OFFSET(struct uct_cm_attr, field_mask, 0, 8);
OFFSET(struct uct_cm_attr, max_conn_priv, 8, 8);
OFFSET(struct uct_listener_attr, field_mask, 0, 8);
OFFSET(struct uct_listener_attr, sockaddr, 8, 128);
OFFSET(struct uct_listener_params, field_mask, 0, 8);
OFFSET(struct uct_listener_params, backlog, 8, 4);
OFFSET(struct uct_listener_params, conn_request_cb, 16, 8);
OFFSET(struct uct_listener_params, user_data, 24, 8);
OFFSET(struct uct_md_attr, cap, 0, 56);
OFFSET(struct uct_md_attr, cap.max_alloc, 0, 8);
OFFSET(struct uct_md_attr, cap.max_reg, 8, 8);
OFFSET(struct uct_md_attr, cap.flags, 16, 8);
OFFSET(struct uct_md_attr, cap.reg_mem_types, 24, 8);
OFFSET(struct uct_md_attr, cap.detect_mem_types, 32, 8);
OFFSET(struct uct_md_attr, cap.alloc_mem_types, 40, 8);
OFFSET(struct uct_md_attr, cap.access_mem_types, 48, 8);
OFFSET(struct uct_md_attr, reg_cost, 56, 16);
OFFSET(struct uct_md_attr, reg_cost.c, 56, 8);
OFFSET(struct uct_md_attr, reg_cost.m, 64, 8);
OFFSET(struct uct_md_attr, component_name, 72, 16);
OFFSET(struct uct_md_attr, rkey_packed_size, 88, 8);
OFFSET(struct uct_md_attr, local_cpus, 96, 128);
OFFSET(struct uct_md_attr, local_cpus.ucs_bits, 96, 128);
OFFSET(struct uct_md_mem_attr, field_mask, 0, 8);
OFFSET(struct uct_md_mem_attr, mem_type, 8, 4);
OFFSET(struct uct_md_mem_attr, sys_dev, 12, 1);
OFFSET(struct uct_md_mem_attr, base_address, 16, 8);
OFFSET(struct uct_md_mem_attr, alloc_length, 24, 8);
OFFSET(struct uct_md_mem_attr, dmabuf_fd, 32, 4);
OFFSET(struct uct_md_mem_attr, dmabuf_offset, 40, 8);
OFFSET(uct_md_mem_attr_t, field_mask, 0, 8);
OFFSET(uct_md_mem_attr_t, mem_type, 8, 4);
OFFSET(uct_md_mem_attr_t, sys_dev, 12, 1);
OFFSET(uct_md_mem_attr_t, base_address, 16, 8);
OFFSET(uct_md_mem_attr_t, alloc_length, 24, 8);
OFFSET(uct_md_mem_attr_t, dmabuf_fd, 32, 4);
OFFSET(uct_md_mem_attr_t, dmabuf_offset, 40, 8);
OFFSET(struct uct_allocated_memory, address, 0, 8);
OFFSET(struct uct_allocated_memory, length, 8, 8);
OFFSET(struct uct_allocated_memory, method, 16, 4);
OFFSET(struct uct_allocated_memory, mem_type, 20, 4);
OFFSET(struct uct_allocated_memory, md, 24, 8);
OFFSET(struct uct_allocated_memory, memh, 32, 8);
OFFSET(struct uct_allocated_memory, sys_device, 40, 1);
OFFSET(uct_allocated_memory_t, address, 0, 8);
OFFSET(uct_allocated_memory_t, length, 8, 8);
OFFSET(uct_allocated_memory_t, method, 16, 4);
OFFSET(uct_allocated_memory_t, mem_type, 20, 4);
OFFSET(uct_allocated_memory_t, md, 24, 8);
OFFSET(uct_allocated_memory_t, memh, 32, 8);
OFFSET(uct_allocated_memory_t, sys_device, 40, 1);
OFFSET(struct uct_rkey_bundle, rkey, 0, 8);
OFFSET(struct uct_rkey_bundle, handle, 8, 8);
OFFSET(struct uct_rkey_bundle, type, 16, 8);
OFFSET(uct_rkey_bundle_t, rkey, 0, 8);
OFFSET(uct_rkey_bundle_t, handle, 8, 8);
OFFSET(uct_rkey_bundle_t, type, 16, 8);
OFFSET(struct uct_completion, func, 0, 8);
OFFSET(struct uct_completion, count, 8, 4);
OFFSET(struct uct_completion, status, 12, 1);
OFFSET(struct uct_pending_req, func, 0, 8);
OFFSET(struct uct_pending_req, priv, 8, 40);
OFFSET(struct uct_tag_context, tag_consumed_cb, 0, 8);
OFFSET(struct uct_tag_context, completed_cb, 8, 8);
OFFSET(struct uct_tag_context, rndv_cb, 16, 8);
OFFSET(struct uct_tag_context, priv, 24, 32);
OFFSET(uct_mem_alloc_params_t, field_mask, 0, 8);
OFFSET(uct_mem_alloc_params_t, flags, 8, 4);
OFFSET(uct_mem_alloc_params_t, address, 16, 8);
OFFSET(uct_mem_alloc_params_t, mem_type, 24, 4);
OFFSET(uct_mem_alloc_params_t, mds, 32, 16);
OFFSET(uct_mem_alloc_params_t, mds.mds, 32, 8);
OFFSET(uct_mem_alloc_params_t, mds.count, 40, 4);
OFFSET(uct_mem_alloc_params_t, name, 48, 8);
OFFSET(uct_mem_alloc_params_t, sys_device, 56, 1);
OFFSET(union ucm_event, mmap, 0, 48);
OFFSET(union ucm_event, mmap.result, 0, 8);
OFFSET(union ucm_event, mmap.address, 8, 8);
OFFSET(union ucm_event, mmap.size, 16, 8);
OFFSET(union ucm_event, mmap.prot, 24, 4);
OFFSET(union ucm_event, mmap.flags, 28, 4);
OFFSET(union ucm_event, mmap.fd, 32, 4);
OFFSET(union ucm_event, mmap.offset, 40, 8);
OFFSET(union ucm_event, munmap, 0, 24);
OFFSET(union ucm_event, munmap.result, 0, 4);
OFFSET(union ucm_event, munmap.address, 8, 8);
OFFSET(union ucm_event, munmap.size, 16, 8);
OFFSET(union ucm_event, mremap, 0, 48);
OFFSET(union ucm_event, mremap.result, 0, 8);
OFFSET(union ucm_event, mremap.address, 8, 8);
OFFSET(union ucm_event, mremap.old_size, 16, 8);
OFFSET(union ucm_event, mremap.new_size, 24, 8);
OFFSET(union ucm_event, mremap.flags, 32, 4);
OFFSET(union ucm_event, mremap.new_address, 40, 8);
OFFSET(union ucm_event, shmat, 0, 32);
OFFSET(union ucm_event, shmat.result, 0, 8);
OFFSET(union ucm_event, shmat.shmid, 8, 4);
OFFSET(union ucm_event, shmat.shmaddr, 16, 8);
OFFSET(union ucm_event, shmat.shmflg, 24, 4);
OFFSET(union ucm_event, shmdt, 0, 16);
OFFSET(union ucm_event, shmdt.result, 0, 4);
OFFSET(union ucm_event, shmdt.shmaddr, 8, 8);
OFFSET(union ucm_event, sbrk, 0, 16);
OFFSET(union ucm_event, sbrk.result, 0, 8);
OFFSET(union ucm_event, sbrk.increment, 8, 8);
OFFSET(union ucm_event, madvise, 0, 32);
OFFSET(union ucm_event, madvise.result, 0, 4);
OFFSET(union ucm_event, madvise.addr, 8, 8);
OFFSET(union ucm_event, madvise.length, 16, 8);
OFFSET(union ucm_event, madvise.advice, 24, 4);
OFFSET(union ucm_event, brk, 0, 16);
OFFSET(union ucm_event, brk.result, 0, 4);
OFFSET(union ucm_event, brk.addr, 8, 8);
OFFSET(union ucm_event, vm_mapped, 0, 16);
OFFSET(union ucm_event, vm_mapped.address, 0, 8);
OFFSET(union ucm_event, vm_mapped.size, 8, 8);
OFFSET(union ucm_event, vm_unmapped, 0, 16);
OFFSET(union ucm_event, vm_unmapped.address, 0, 8);
OFFSET(union ucm_event, vm_unmapped.size, 8, 8);
OFFSET(union ucm_event, mem_type, 0, 24);
OFFSET(union ucm_event, mem_type.address, 0, 8);
OFFSET(union ucm_event, mem_type.size, 8, 8);
OFFSET(union ucm_event, mem_type.mem_type, 16, 4);
OFFSET(ucm_event_t, mmap, 0, 48);
OFFSET(ucm_event_t, mmap.result, 0, 8);
OFFSET(ucm_event_t, mmap.address, 8, 8);
OFFSET(ucm_event_t, mmap.size, 16, 8);
OFFSET(ucm_event_t, mmap.prot, 24, 4);
OFFSET(ucm_event_t, mmap.flags, 28, 4);
OFFSET(ucm_event_t, mmap.fd, 32, 4);
OFFSET(ucm_event_t, mmap.offset, 40, 8);
OFFSET(ucm_event_t, munmap, 0, 24);
OFFSET(ucm_event_t, munmap.result, 0, 4);
OFFSET(ucm_event_t, munmap.address, 8, 8);
OFFSET(ucm_event_t, munmap.size, 16, 8);
OFFSET(ucm_event_t, mremap, 0, 48);
OFFSET(ucm_event_t, mremap.result, 0, 8);
OFFSET(ucm_event_t, mremap.address, 8, 8);
OFFSET(ucm_event_t, mremap.old_size, 16, 8);
OFFSET(ucm_event_t, mremap.new_size, 24, 8);
OFFSET(ucm_event_t, mremap.flags, 32, 4);
OFFSET(ucm_event_t, mremap.new_address, 40, 8);
OFFSET(ucm_event_t, shmat, 0, 32);
OFFSET(ucm_event_t, shmat.result, 0, 8);
OFFSET(ucm_event_t, shmat.shmid, 8, 4);
OFFSET(ucm_event_t, shmat.shmaddr, 16, 8);
OFFSET(ucm_event_t, shmat.shmflg, 24, 4);
OFFSET(ucm_event_t, shmdt, 0, 16);
OFFSET(ucm_event_t, shmdt.result, 0, 4);
OFFSET(ucm_event_t, shmdt.shmaddr, 8, 8);
OFFSET(ucm_event_t, sbrk, 0, 16);
OFFSET(ucm_event_t, sbrk.result, 0, 8);
OFFSET(ucm_event_t, sbrk.increment, 8, 8);
OFFSET(ucm_event_t, madvise, 0, 32);
OFFSET(ucm_event_t, madvise.result, 0, 4);
OFFSET(ucm_event_t, madvise.addr, 8, 8);
OFFSET(ucm_event_t, madvise.length, 16, 8);
OFFSET(ucm_event_t, madvise.advice, 24, 4);
OFFSET(ucm_event_t, brk, 0, 16);
OFFSET(ucm_event_t, brk.result, 0, 4);
OFFSET(ucm_event_t, brk.addr, 8, 8);
OFFSET(ucm_event_t, vm_mapped, 0, 16);
OFFSET(ucm_event_t, vm_mapped.address, 0, 8);
OFFSET(ucm_event_t, vm_mapped.size, 8, 8);
OFFSET(ucm_event_t, vm_unmapped, 0, 16);
OFFSET(ucm_event_t, vm_unmapped.address, 0, 8);
OFFSET(ucm_event_t, vm_unmapped.size, 8, 8);
OFFSET(ucm_event_t, mem_type, 0, 24);
OFFSET(ucm_event_t, mem_type.address, 0, 8);
OFFSET(ucm_event_t, mem_type.size, 8, 8);
OFFSET(ucm_event_t, mem_type.mem_type, 16, 4);
OFFSET(struct ucm_global_config, log_level, 0, 4);
OFFSET(struct ucm_global_config, enable_events, 4, 4);
OFFSET(struct ucm_global_config, mmap_hook_mode, 8, 4);
OFFSET(struct ucm_global_config, enable_malloc_hooks, 12, 4);
OFFSET(struct ucm_global_config, enable_malloc_reloc, 16, 4);
OFFSET(struct ucm_global_config, cuda_hook_modes, 24, 8);
OFFSET(struct ucm_global_config, enable_dynamic_mmap_thresh, 32, 4);
OFFSET(struct ucm_global_config, alloc_alignment, 40, 8);
OFFSET(struct ucm_global_config, dlopen_process_rpath, 48, 4);
OFFSET(struct ucm_global_config, module_unload_prevent_mode, 52, 4);
OFFSET(struct ucm_global_config, bistro_force_far_jump, 56, 4);
OFFSET(ucm_global_config_t, log_level, 0, 4);
OFFSET(ucm_global_config_t, enable_events, 4, 4);
OFFSET(ucm_global_config_t, mmap_hook_mode, 8, 4);
OFFSET(ucm_global_config_t, enable_malloc_hooks, 12, 4);
OFFSET(ucm_global_config_t, enable_malloc_reloc, 16, 4);
OFFSET(ucm_global_config_t, cuda_hook_modes, 24, 8);
OFFSET(ucm_global_config_t, enable_dynamic_mmap_thresh, 32, 4);
OFFSET(ucm_global_config_t, alloc_alignment, 40, 8);
OFFSET(ucm_global_config_t, dlopen_process_rpath, 48, 4);
OFFSET(ucm_global_config_t, module_unload_prevent_mode, 52, 4);
OFFSET(ucm_global_config_t, bistro_force_far_jump, 56, 4);
VALUE(UCS_MEMORY_TYPE_HOST, 0LL);
VALUE(UCS_MEMORY_TYPE_CUDA, 1LL);
VALUE(UCS_MEMORY_TYPE_CUDA_MANAGED, 2LL);
VALUE(UCS_MEMORY_TYPE_ROCM, 3LL);
VALUE(UCS_MEMORY_TYPE_ROCM_MANAGED, 4LL);
VALUE(UCS_MEMORY_TYPE_RDMA, 5LL);
VALUE(UCS_MEMORY_TYPE_ZE_HOST, 6LL);
VALUE(UCS_MEMORY_TYPE_ZE_DEVICE, 7LL);
VALUE(UCS_MEMORY_TYPE_ZE_MANAGED, 8LL);
VALUE(UCS_MEMORY_TYPE_LAST, 9LL);
VALUE(UCS_MEMORY_TYPE_UNKNOWN, 9LL);
VALUE(UCS_OK, 0LL);
VALUE(UCS_INPROGRESS, 1LL);
VALUE(UCS_ERR_NO_MESSAGE, -1LL);
VALUE(UCS_ERR_NO_RESOURCE, -2LL);
VALUE(UCS_ERR_IO_ERROR, -3LL);
VALUE(UCS_ERR_NO_MEMORY, -4LL);
VALUE(UCS_ERR_INVALID_PARAM, -5LL);
VALUE(UCS_ERR_UNREACHABLE, -6LL);
VALUE(UCS_ERR_INVALID_ADDR, -7LL);
VALUE(UCS_ERR_NOT_IMPLEMENTED, -8LL);
VALUE(UCS_ERR_MESSAGE_TRUNCATED, -9LL);
VALUE(UCS_ERR_NO_PROGRESS, -10LL);
VALUE(UCS_ERR_BUFFER_TOO_SMALL, -11LL);
VALUE(UCS_ERR_NO_ELEM, -12LL);
VALUE(UCS_ERR_SOME_CONNECTS_FAILED, -13LL);
VALUE(UCS_ERR_NO_DEVICE, -14LL);
VALUE(UCS_ERR_BUSY, -15LL);
VALUE(UCS_ERR_CANCELED, -16LL);
VALUE(UCS_ERR_SHMEM_SEGMENT, -17LL);
VALUE(UCS_ERR_ALREADY_EXISTS, -18LL);
VALUE(UCS_ERR_OUT_OF_RANGE, -19LL);
VALUE(UCS_ERR_TIMED_OUT, -20LL);
VALUE(UCS_ERR_EXCEEDS_LIMIT, -21LL);
VALUE(UCS_ERR_UNSUPPORTED, -22LL);
VALUE(UCS_ERR_REJECTED, -23LL);
VALUE(UCS_ERR_NOT_CONNECTED, -24LL);
VALUE(UCS_ERR_CONNECTION_RESET, -25LL);
VALUE(UCS_ERR_FIRST_LINK_FAILURE, -40LL);
VALUE(UCS_ERR_LAST_LINK_FAILURE, -59LL);
VALUE(UCS_ERR_FIRST_ENDPOINT_FAILURE, -60LL);
VALUE(UCS_ERR_ENDPOINT_TIMEOUT, -80LL);
VALUE(UCS_ERR_LAST_ENDPOINT_FAILURE, -89LL);
VALUE(UCS_ERR_LAST, -100LL);
VALUE(UCS_LOG_LEVEL_FATAL, 0LL);
VALUE(UCS_LOG_LEVEL_ERROR, 1LL);
VALUE(UCS_LOG_LEVEL_WARN, 2LL);
VALUE(UCS_LOG_LEVEL_DIAG, 3LL);
VALUE(UCS_LOG_LEVEL_INFO, 4LL);
VALUE(UCS_LOG_LEVEL_DEBUG, 5LL);
VALUE(UCS_LOG_LEVEL_TRACE, 6LL);
VALUE(UCS_LOG_LEVEL_TRACE_REQ, 7LL);
VALUE(UCS_LOG_LEVEL_TRACE_DATA, 8LL);
VALUE(UCS_LOG_LEVEL_TRACE_ASYNC, 9LL);
VALUE(UCS_LOG_LEVEL_TRACE_FUNC, 10LL);
VALUE(UCS_LOG_LEVEL_TRACE_POLL, 11LL);
VALUE(UCS_LOG_LEVEL_LAST, 12LL);
VALUE(UCS_LOG_LEVEL_PRINT, 13LL);
VALUE(UCS_ASYNC_MODE_SIGNAL, 0LL);
VALUE(UCS_ASYNC_MODE_THREAD, 1LL);
VALUE(UCS_ASYNC_MODE_THREAD_SPINLOCK, 1LL);
VALUE(UCS_ASYNC_MODE_THREAD_MUTEX, 2LL);
VALUE(UCS_ASYNC_MODE_POLL, 3LL);
VALUE(UCS_ASYNC_MODE_LAST, 4LL);
VALUE(UCS_NO, 0LL);
VALUE(UCS_YES, 1LL);
VALUE(UCS_TRY, 2LL);
VALUE(UCS_AUTO, 3LL);
VALUE(UCS_TERNARY_LAST, 4LL);
VALUE(UCS_CONFIG_OFF, 0LL);
VALUE(UCS_CONFIG_ON, 1LL);
VALUE(UCS_CONFIG_AUTO, 2LL);
VALUE(UCS_CONFIG_ON_OFF_LAST, 3LL);
VALUE(UCS_HANDLE_ERROR_BACKTRACE, 0LL);
VALUE(UCS_HANDLE_ERROR_FREEZE, 1LL);
VALUE(UCS_HANDLE_ERROR_DEBUG, 2LL);
VALUE(UCS_HANDLE_ERROR_NONE, 3LL);
VALUE(UCS_HANDLE_ERROR_LAST, 4LL);
VALUE(UCS_CONFIG_PRINT_CONFIG, 1LL);
VALUE(UCS_CONFIG_PRINT_HEADER, 2LL);
VALUE(UCS_CONFIG_PRINT_DOC, 4LL);
VALUE(UCS_CONFIG_PRINT_HIDDEN, 8LL);
VALUE(UCS_CONFIG_PRINT_COMMENT_DEFAULT, 16LL);
VALUE(UCS_CONFIG_ALLOW_LIST_ALLOW_ALL, 0LL);
VALUE(UCS_CONFIG_ALLOW_LIST_ALLOW, 1LL);
VALUE(UCS_CONFIG_ALLOW_LIST_NEGATE, 2LL);
VALUE(UCP_ERR_HANDLING_MODE_NONE, 0LL);
VALUE(UCP_ERR_HANDLING_MODE_PEER, 1LL);
VALUE(UCP_MEM_ATTR_FIELD_ADDRESS, 1LL);
VALUE(UCP_MEM_ATTR_FIELD_LENGTH, 2LL);
VALUE(UCP_MEM_ATTR_FIELD_MEM_TYPE, 4LL);
VALUE(UCP_WAKEUP_RMA, 1LL);
VALUE(UCP_WAKEUP_AMO, 2LL);
VALUE(UCP_WAKEUP_TAG_SEND, 4LL);
VALUE(UCP_WAKEUP_TAG_RECV, 8LL);
VALUE(UCP_WAKEUP_TX, 1024LL);
VALUE(UCP_WAKEUP_RX, 2048LL);
VALUE(UCP_WAKEUP_EDGE, 65536LL);
VALUE(UCP_ATOMIC_POST_OP_ADD, 0LL);
VALUE(UCP_ATOMIC_POST_OP_AND, 1LL);
VALUE(UCP_ATOMIC_POST_OP_OR, 2LL);
VALUE(UCP_ATOMIC_POST_OP_XOR, 3LL);
VALUE(UCP_ATOMIC_POST_OP_LAST, 4LL);
VALUE(UCP_ATOMIC_FETCH_OP_FADD, 0LL);
VALUE(UCP_ATOMIC_FETCH_OP_SWAP, 1LL);
VALUE(UCP_ATOMIC_FETCH_OP_CSWAP, 2LL);
VALUE(UCP_ATOMIC_FETCH_OP_FAND, 3LL);
VALUE(UCP_ATOMIC_FETCH_OP_FOR, 4LL);
VALUE(UCP_ATOMIC_FETCH_OP_FXOR, 5LL);
VALUE(UCP_ATOMIC_FETCH_OP_LAST, 6LL);
VALUE(UCP_EP_CLOSE_MODE_FORCE, 0LL);
VALUE(UCP_EP_CLOSE_MODE_FLUSH, 1LL);
VALUE(UCS_THREAD_MODE_SINGLE, 0LL);
VALUE(UCS_THREAD_MODE_SERIALIZED, 1LL);
VALUE(UCS_THREAD_MODE_MULTI, 2LL);
VALUE(UCS_THREAD_MODE_LAST, 3LL);
VALUE(UCP_PARAM_FIELD_FEATURES, 1LL);
VALUE(UCP_PARAM_FIELD_REQUEST_SIZE, 2LL);
VALUE(UCP_PARAM_FIELD_REQUEST_INIT, 4LL);
VALUE(UCP_PARAM_FIELD_REQUEST_CLEANUP, 8LL);
VALUE(UCP_PARAM_FIELD_TAG_SENDER_MASK, 16LL);
VALUE(UCP_PARAM_FIELD_MT_WORKERS_SHARED, 32LL);
VALUE(UCP_PARAM_FIELD_ESTIMATED_NUM_EPS, 64LL);
VALUE(UCP_PARAM_FIELD_ESTIMATED_NUM_PPN, 128LL);
VALUE(UCP_PARAM_FIELD_NAME, 256LL);
VALUE(UCP_PARAM_FIELD_NODE_LOCAL_ID, 512LL);
VALUE(UCP_FEATURE_TAG, 1LL);
VALUE(UCP_FEATURE_RMA, 2LL);
VALUE(UCP_FEATURE_AMO32, 4LL);
VALUE(UCP_FEATURE_AMO64, 8LL);
VALUE(UCP_FEATURE_WAKEUP, 16LL);
VALUE(UCP_FEATURE_STREAM, 32LL);
VALUE(UCP_FEATURE_AM, 64LL);
VALUE(UCP_FEATURE_EXPORTED_MEMH, 128LL);
VALUE(UCP_FEATURE_DEVICE, 256LL);
VALUE(UCP_WORKER_PARAM_FIELD_THREAD_MODE, 1LL);
VALUE(UCP_WORKER_PARAM_FIELD_CPU_MASK, 2LL);
VALUE(UCP_WORKER_PARAM_FIELD_EVENTS, 4LL);
VALUE(UCP_WORKER_PARAM_FIELD_USER_DATA, 8LL);
VALUE(UCP_WORKER_PARAM_FIELD_EVENT_FD, 16LL);
VALUE(UCP_WORKER_PARAM_FIELD_FLAGS, 32LL);
VALUE(UCP_WORKER_PARAM_FIELD_NAME, 64LL);
VALUE(UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT, 128LL);
VALUE(UCP_WORKER_PARAM_FIELD_CLIENT_ID, 256LL);
VALUE(UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK, 1LL);
VALUE(UCP_LISTENER_PARAM_FIELD_SOCK_ADDR, 1LL);
VALUE(UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER, 2LL);
VALUE(UCP_LISTENER_PARAM_FIELD_CONN_HANDLER, 4LL);
VALUE(UCP_WORKER_ADDRESS_FLAG_NET_ONLY, 1LL);
VALUE(UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, 1LL);
VALUE(UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE, 2LL);
VALUE(UCP_EP_PARAM_FIELD_ERR_HANDLER, 4LL);
VALUE(UCP_EP_PARAM_FIELD_USER_DATA, 8LL);
VALUE(UCP_EP_PARAM_FIELD_SOCK_ADDR, 16LL);
VALUE(UCP_EP_PARAM_FIELD_FLAGS, 32LL);
VALUE(UCP_EP_PARAM_FIELD_CONN_REQUEST, 64LL);
VALUE(UCP_EP_PARAM_FIELD_NAME, 128LL);
VALUE(UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR, 256LL);
VALUE(UCP_EP_PARAMS_FLAGS_CLIENT_SERVER, 1LL);
VALUE(UCP_EP_PARAMS_FLAGS_NO_LOOPBACK, 2LL);
VALUE(UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID, 4LL);
VALUE(UCP_EP_CLOSE_FLAG_FORCE, 1LL);
VALUE(UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE, 1LL);
VALUE(UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME, 1LL);
VALUE(UCP_MEM_MAP_PARAM_FIELD_ADDRESS, 1LL);
VALUE(UCP_MEM_MAP_PARAM_FIELD_LENGTH, 2LL);
VALUE(UCP_MEM_MAP_PARAM_FIELD_FLAGS, 4LL);
VALUE(UCP_MEM_MAP_PARAM_FIELD_PROT, 8LL);
VALUE(UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE, 16LL);
VALUE(UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER, 32LL);
VALUE(UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS, 1LL);
VALUE(UCP_MEM_ADVISE_PARAM_FIELD_LENGTH, 2LL);
VALUE(UCP_MEM_ADVISE_PARAM_FIELD_ADVICE, 4LL);
VALUE(UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL, 1LL);
VALUE(UCP_ATTR_FIELD_REQUEST_SIZE, 1LL);
VALUE(UCP_ATTR_FIELD_THREAD_MODE, 2LL);
VALUE(UCP_ATTR_FIELD_MEMORY_TYPES, 4LL);
VALUE(UCP_ATTR_FIELD_NAME, 8LL);
VALUE(UCP_ATTR_FIELD_DEVICE_COUNTER_SIZE, 16LL);
VALUE(UCP_WORKER_ATTR_FIELD_THREAD_MODE, 1LL);
VALUE(UCP_WORKER_ATTR_FIELD_ADDRESS, 2LL);
VALUE(UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS, 4LL);
VALUE(UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER, 8LL);
VALUE(UCP_WORKER_ATTR_FIELD_NAME, 16LL);
VALUE(UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING, 32LL);
VALUE(UCP_WORKER_ADDRESS_ATTR_FIELD_UID, 1LL);
VALUE(UCP_LISTENER_ATTR_FIELD_SOCKADDR, 1LL);
VALUE(UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR, 1LL);
VALUE(UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID, 2LL);
VALUE(UCP_DATATYPE_CONTIG, 0LL);
VALUE(UCP_DATATYPE_STRIDED, 1LL);
VALUE(UCP_DATATYPE_IOV, 2LL);
VALUE(UCP_DATATYPE_GENERIC, 7LL);
VALUE(UCP_DATATYPE_SHIFT, 3LL);
VALUE(UCP_DATATYPE_CLASS_MASK, 7LL);
VALUE(UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE, 1LL);
VALUE(UCP_DATATYPE_ATTR_FIELD_BUFFER, 2LL);
VALUE(UCP_DATATYPE_ATTR_FIELD_COUNT, 4LL);
VALUE(UCP_MEM_MAP_NONBLOCK, 1LL);
VALUE(UCP_MEM_MAP_ALLOCATE, 2LL);
VALUE(UCP_MEM_MAP_FIXED, 4LL);
VALUE(UCP_MEM_MAP_SYMMETRIC_RKEY, 8LL);
VALUE(UCP_MEM_MAP_LOCK, 16LL);
VALUE(UCP_MEM_MAP_PROT_LOCAL_READ, 1LL);
VALUE(UCP_MEM_MAP_PROT_LOCAL_WRITE, 2LL);
VALUE(UCP_MEM_MAP_PROT_REMOTE_READ, 256LL);
VALUE(UCP_MEM_MAP_PROT_REMOTE_WRITE, 512LL);
VALUE(UCP_AM_FLAG_WHOLE_MSG, 1LL);
VALUE(UCP_AM_FLAG_PERSISTENT_DATA, 2LL);
VALUE(UCP_AM_SEND_FLAG_REPLY, 1LL);
VALUE(UCP_AM_SEND_FLAG_EAGER, 2LL);
VALUE(UCP_AM_SEND_FLAG_RNDV, 4LL);
VALUE(UCP_AM_SEND_FLAG_COPY_HEADER, 8LL);
VALUE(UCP_AM_SEND_REPLY, 1LL);
VALUE(UCP_CB_PARAM_FLAG_DATA, 1LL);
VALUE(UCP_ATOMIC_OP_ADD, 0LL);
VALUE(UCP_ATOMIC_OP_SWAP, 1LL);
VALUE(UCP_ATOMIC_OP_CSWAP, 2LL);
VALUE(UCP_ATOMIC_OP_AND, 3LL);
VALUE(UCP_ATOMIC_OP_OR, 4LL);
VALUE(UCP_ATOMIC_OP_XOR, 5LL);
VALUE(UCP_ATOMIC_OP_LAST, 6LL);
VALUE(UCP_STREAM_RECV_FLAG_WAITALL, 1LL);
VALUE(UCP_OP_ATTR_FIELD_REQUEST, 1LL);
VALUE(UCP_OP_ATTR_FIELD_CALLBACK, 2LL);
VALUE(UCP_OP_ATTR_FIELD_USER_DATA, 4LL);
VALUE(UCP_OP_ATTR_FIELD_DATATYPE, 8LL);
VALUE(UCP_OP_ATTR_FIELD_FLAGS, 16LL);
VALUE(UCP_OP_ATTR_FIELD_REPLY_BUFFER, 32LL);
VALUE(UCP_OP_ATTR_FIELD_MEMORY_TYPE, 64LL);
VALUE(UCP_OP_ATTR_FIELD_RECV_INFO, 128LL);
VALUE(UCP_OP_ATTR_FIELD_MEMH, 256LL);
VALUE(UCP_OP_ATTR_FLAG_NO_IMM_CMPL, 65536LL);
VALUE(UCP_OP_ATTR_FLAG_FAST_CMPL, 131072LL);
VALUE(UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL, 262144LL);
VALUE(UCP_OP_ATTR_FLAG_MULTI_SEND, 524288LL);
VALUE(UCP_REQUEST_ATTR_FIELD_INFO_STRING, 1LL);
VALUE(UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE, 2LL);
VALUE(UCP_REQUEST_ATTR_FIELD_STATUS, 4LL);
VALUE(UCP_REQUEST_ATTR_FIELD_MEM_TYPE, 8LL);
VALUE(UCP_AM_RECV_ATTR_FIELD_REPLY_EP, 1LL);
VALUE(UCP_AM_RECV_ATTR_FLAG_DATA, 65536LL);
VALUE(UCP_AM_RECV_ATTR_FLAG_RNDV, 131072LL);
VALUE(UCP_AM_HANDLER_PARAM_FIELD_ID, 1LL);
VALUE(UCP_AM_HANDLER_PARAM_FIELD_FLAGS, 2LL);
VALUE(UCP_AM_HANDLER_PARAM_FIELD_CB, 4LL);
VALUE(UCP_AM_HANDLER_PARAM_FIELD_ARG, 8LL);
VALUE(UCP_MADV_NORMAL, 0LL);
VALUE(UCP_MADV_WILLNEED, 1LL);
VALUE(UCP_MEMH_PACK_PARAM_FIELD_FLAGS, 1LL);
VALUE(UCP_MEMH_PACK_FLAG_EXPORT, 1LL);
VALUE(UCP_EP_ATTR_FIELD_NAME, 1LL);
VALUE(UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR, 2LL);
VALUE(UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR, 4LL);
VALUE(UCP_EP_ATTR_FIELD_TRANSPORTS, 8LL);
VALUE(UCP_EP_ATTR_FIELD_USER_DATA, 16LL);
VALUE(UCT_AM_TRACE_TYPE_SEND, 0LL);
VALUE(UCT_AM_TRACE_TYPE_RECV, 1LL);
VALUE(UCT_AM_TRACE_TYPE_SEND_DROP, 2LL);
VALUE(UCT_AM_TRACE_TYPE_RECV_DROP, 3LL);
VALUE(UCT_AM_TRACE_TYPE_LAST, 4LL);
VALUE(UCT_CB_PARAM_FLAG_DESC, 1LL);
VALUE(UCT_CB_PARAM_FLAG_FIRST, 2LL);
VALUE(UCT_CB_PARAM_FLAG_MORE, 4LL);
VALUE(UCT_CM_EP_PRIV_DATA_PACK_ARGS_FIELD_DEVICE_NAME, 1LL);
VALUE(UCT_CM_EP_RESOLVE_ARGS_FIELD_DEV_NAME, 1LL);
VALUE(UCT_CM_EP_RESOLVE_ARGS_FIELD_STATUS, 2LL);
VALUE(UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR, 1LL);
VALUE(UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR_LENGTH, 2LL);
VALUE(UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA, 4LL);
VALUE(UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA_LENGTH, 8LL);
VALUE(UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_DEV_NAME, 1LL);
VALUE(UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CONN_REQUEST, 2LL);
VALUE(UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_REMOTE_DATA, 4LL);
VALUE(UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CLIENT_ADDR, 8LL);
VALUE(UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_REMOTE_DATA, 1LL);
VALUE(UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_STATUS, 2LL);
VALUE(UCT_CM_EP_SERVER_CONN_NOTIFY_ARGS_FIELD_STATUS, 1LL);
VALUE(UCS_EVENT_SET_EVREAD, 1LL);
VALUE(UCS_EVENT_SET_EVWRITE, 2LL);
VALUE(UCS_EVENT_SET_EVERR, 4LL);
VALUE(UCS_EVENT_SET_EDGE_TRIGGERED, 8LL);
VALUE(UCS_CALLBACKQ_FLAG_FAST, 1LL);
VALUE(UCS_CALLBACKQ_FLAG_ONESHOT, 2LL);
VALUE(UCT_COMPONENT_ATTR_FIELD_NAME, 1LL);
VALUE(UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT, 2LL);
VALUE(UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES, 4LL);
VALUE(UCT_COMPONENT_ATTR_FIELD_FLAGS, 8LL);
VALUE(UCT_COMPONENT_FLAG_CM, 1LL);
VALUE(UCT_COMPONENT_FLAG_RKEY_PTR, 2LL);
VALUE(UCT_DEVICE_TYPE_NET, 0LL);
VALUE(UCT_DEVICE_TYPE_SHM, 1LL);
VALUE(UCT_DEVICE_TYPE_ACC, 2LL);
VALUE(UCT_DEVICE_TYPE_SELF, 3LL);
VALUE(UCT_DEVICE_TYPE_LAST, 4LL);
VALUE(UCT_ATOMIC_OP_ADD, 0LL);
VALUE(UCT_ATOMIC_OP_AND, 1LL);
VALUE(UCT_ATOMIC_OP_OR, 2LL);
VALUE(UCT_ATOMIC_OP_XOR, 3LL);
VALUE(UCT_ATOMIC_OP_SWAP, 4LL);
VALUE(UCT_ATOMIC_OP_CSWAP, 5LL);
VALUE(UCT_ATOMIC_OP_LAST, 6LL);
VALUE(UCT_ALLOC_METHOD_THP, 0LL);
VALUE(UCT_ALLOC_METHOD_MD, 1LL);
VALUE(UCT_ALLOC_METHOD_HEAP, 2LL);
VALUE(UCT_ALLOC_METHOD_MMAP, 3LL);
VALUE(UCT_ALLOC_METHOD_HUGE, 4LL);
VALUE(UCT_ALLOC_METHOD_LAST, 5LL);
VALUE(UCT_ALLOC_METHOD_DEFAULT, 5LL);
VALUE(UCT_EVENT_SEND_COMP, 1LL);
VALUE(UCT_EVENT_RECV, 2LL);
VALUE(UCT_EVENT_RECV_SIG, 4LL);
VALUE(UCT_FLUSH_FLAG_LOCAL, 0LL);
VALUE(UCT_FLUSH_FLAG_CANCEL, 1LL);
VALUE(UCT_FLUSH_FLAG_REMOTE, 2LL);
VALUE(UCT_PROGRESS_SEND, 1LL);
VALUE(UCT_PROGRESS_RECV, 2LL);
VALUE(UCT_PROGRESS_THREAD_SAFE, 128LL);
VALUE(UCT_SEND_FLAG_SIGNALED, 1LL);
VALUE(UCT_SEND_FLAG_PEER_CHECK, 2LL);
VALUE(UCT_CB_FLAG_RESERVED, 2LL);
VALUE(UCT_CB_FLAG_ASYNC, 4LL);
VALUE(UCT_IFACE_OPEN_MODE_DEVICE, 1LL);
VALUE(UCT_IFACE_OPEN_MODE_SOCKADDR_SERVER, 2LL);
VALUE(UCT_IFACE_OPEN_MODE_SOCKADDR_CLIENT, 4LL);
VALUE(UCT_IFACE_PARAM_FIELD_CPU_MASK, 1LL);
VALUE(UCT_IFACE_PARAM_FIELD_OPEN_MODE, 2LL);
VALUE(UCT_IFACE_PARAM_FIELD_DEVICE, 4LL);
VALUE(UCT_IFACE_PARAM_FIELD_SOCKADDR, 8LL);
VALUE(UCT_IFACE_PARAM_FIELD_STATS_ROOT, 16LL);
VALUE(UCT_IFACE_PARAM_FIELD_RX_HEADROOM, 32LL);
VALUE(UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG, 64LL);
VALUE(UCT_IFACE_PARAM_FIELD_ERR_HANDLER, 128LL);
VALUE(UCT_IFACE_PARAM_FIELD_ERR_HANDLER_FLAGS, 256LL);
VALUE(UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_ARG, 512LL);
VALUE(UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB, 1024LL);
VALUE(UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_ARG, 2048LL);
VALUE(UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_CB, 4096LL);
VALUE(UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_ARG, 8192LL);
VALUE(UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_CB, 16384LL);
VALUE(UCT_IFACE_PARAM_FIELD_KEEPALIVE_INTERVAL, 32768LL);
VALUE(UCT_IFACE_PARAM_FIELD_AM_ALIGNMENT, 65536LL);
VALUE(UCT_IFACE_PARAM_FIELD_AM_ALIGN_OFFSET, 131072LL);
VALUE(UCT_IFACE_PARAM_FIELD_FEATURES, 262144LL);
VALUE(UCT_SOCKADDR_ACC_LOCAL, 0LL);
VALUE(UCT_SOCKADDR_ACC_REMOTE, 1LL);
VALUE(UCT_MD_FLAG_ALLOC, 1LL);
VALUE(UCT_MD_FLAG_REG, 2LL);
VALUE(UCT_MD_FLAG_NEED_MEMH, 4LL);
VALUE(UCT_MD_FLAG_NEED_RKEY, 8LL);
VALUE(UCT_MD_FLAG_ADVISE, 16LL);
VALUE(UCT_MD_FLAG_FIXED, 32LL);
VALUE(UCT_MD_FLAG_RKEY_PTR, 64LL);
VALUE(UCT_MD_FLAG_SOCKADDR, 128LL);
VALUE(UCT_MD_FLAG_INVALIDATE, 256LL);
VALUE(UCT_MD_FLAG_EXPORTED_MKEY, 512LL);
VALUE(UCT_MD_FLAG_REG_DMABUF, 1024LL);
VALUE(UCT_MD_FLAG_LAST, 2048LL);
VALUE(UCT_MD_MEM_FLAG_NONBLOCK, 1LL);
VALUE(UCT_MD_MEM_FLAG_FIXED, 2LL);
VALUE(UCT_MD_MEM_FLAG_LOCK, 4LL);
VALUE(UCT_MD_MEM_FLAG_HIDE_ERRORS, 8LL);
VALUE(UCT_MD_MEM_ACCESS_REMOTE_PUT, 32LL);
VALUE(UCT_MD_MEM_ACCESS_REMOTE_GET, 64LL);
VALUE(UCT_MD_MEM_ACCESS_REMOTE_ATOMIC, 128LL);
VALUE(UCT_MD_MEM_ACCESS_LOCAL_READ, 256LL);
VALUE(UCT_MD_MEM_ACCESS_LOCAL_WRITE, 512LL);
VALUE(UCT_MD_MEM_SYMMETRIC_RKEY, 1024LL);
VALUE(UCT_MD_MEM_GVA, 2048LL);
VALUE(UCT_MD_MEM_ACCESS_ALL, 992LL);
VALUE(UCT_MD_MEM_ACCESS_RMA, 864LL);
VALUE(UCT_MADV_NORMAL, 0LL);
VALUE(UCT_MADV_WILLNEED, 1LL);
VALUE(UCT_CM_ATTR_FIELD_MAX_CONN_PRIV, 1LL);
VALUE(UCT_LISTENER_ATTR_FIELD_SOCKADDR, 1LL);
VALUE(UCT_LISTENER_PARAM_FIELD_BACKLOG, 1LL);
VALUE(UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB, 2LL);
VALUE(UCT_LISTENER_PARAM_FIELD_USER_DATA, 4LL);
VALUE(UCT_EP_PARAM_FIELD_IFACE, 1LL);
VALUE(UCT_EP_PARAM_FIELD_USER_DATA, 2LL);
VALUE(UCT_EP_PARAM_FIELD_DEV_ADDR, 4LL);
VALUE(UCT_EP_PARAM_FIELD_IFACE_ADDR, 8LL);
VALUE(UCT_EP_PARAM_FIELD_SOCKADDR, 16LL);
VALUE(UCT_EP_PARAM_FIELD_SOCKADDR_CB_FLAGS, 32LL);
VALUE(UCT_EP_PARAM_FIELD_SOCKADDR_PACK_CB, 64LL);
VALUE(UCT_EP_PARAM_FIELD_CM, 128LL);
VALUE(UCT_EP_PARAM_FIELD_CONN_REQUEST, 256LL);
VALUE(UCT_EP_PARAM_FIELD_SOCKADDR_CONNECT_CB_CLIENT, 512LL);
VALUE(UCT_EP_PARAM_FIELD_SOCKADDR_NOTIFY_CB_SERVER, 1024LL);
VALUE(UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB, 2048LL);
VALUE(UCT_EP_PARAM_FIELD_PATH_INDEX, 4096LL);
VALUE(UCT_EP_PARAM_FIELD_CM_RESOLVE_CB, 8192LL);
VALUE(UCT_EP_PARAM_FIELD_PRIV_DATA, 16384LL);
VALUE(UCT_EP_PARAM_FIELD_PRIV_DATA_LENGTH, 32768LL);
VALUE(UCT_EP_PARAM_FIELD_LOCAL_SOCKADDR, 65536LL);
VALUE(UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH, 131072LL);
VALUE(UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH, 262144LL);
VALUE(UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA, 1LL);
VALUE(UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA_LENGTH, 2LL);
VALUE(UCT_IFACE_FEATURE_AM, 1LL);
VALUE(UCT_IFACE_FEATURE_PUT, 2LL);
VALUE(UCT_IFACE_FEATURE_GET, 4LL);
VALUE(UCT_IFACE_FEATURE_AMO32, 8LL);
VALUE(UCT_IFACE_FEATURE_AMO64, 16LL);
VALUE(UCT_IFACE_FEATURE_TAG, 32LL);
VALUE(UCT_IFACE_FEATURE_FLUSH_REMOTE, 64LL);
VALUE(UCT_IFACE_FEATURE_LAST, 128LL);
VALUE(UCT_MD_MEM_ATTR_FIELD_MEM_TYPE, 1LL);
VALUE(UCT_MD_MEM_ATTR_FIELD_SYS_DEV, 2LL);
VALUE(UCT_MD_MEM_ATTR_FIELD_BASE_ADDRESS, 4LL);
VALUE(UCT_MD_MEM_ATTR_FIELD_ALLOC_LENGTH, 8LL);
VALUE(UCT_MD_MEM_ATTR_FIELD_DMABUF_FD, 16LL);
VALUE(UCT_MD_MEM_ATTR_FIELD_DMABUF_OFFSET, 32LL);
VALUE(UCT_TAG_RECV_CB_INLINE_DATA, 1LL);
VALUE(UCT_MEM_ALLOC_PARAM_FIELD_FLAGS, 1LL);
VALUE(UCT_MEM_ALLOC_PARAM_FIELD_ADDRESS, 2LL);
VALUE(UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE, 4LL);
VALUE(UCT_MEM_ALLOC_PARAM_FIELD_MDS, 8LL);
VALUE(UCT_MEM_ALLOC_PARAM_FIELD_NAME, 16LL);
VALUE(UCT_MEM_ALLOC_PARAM_FIELD_SYS_DEVICE, 32LL);
VALUE(UCM_EVENT_NONE, 0LL);
VALUE(UCM_EVENT_MMAP, 1LL);
VALUE(UCM_EVENT_MUNMAP, 2LL);
VALUE(UCM_EVENT_MREMAP, 4LL);
VALUE(UCM_EVENT_SHMAT, 8LL);
VALUE(UCM_EVENT_SHMDT, 16LL);
VALUE(UCM_EVENT_SBRK, 32LL);
VALUE(UCM_EVENT_MADVISE, 64LL);
VALUE(UCM_EVENT_BRK, 128LL);
VALUE(UCM_EVENT_VM_MAPPED, 65536LL);
VALUE(UCM_EVENT_VM_UNMAPPED, 131072LL);
VALUE(UCM_EVENT_MEM_TYPE_ALLOC, 1048576LL);
VALUE(UCM_EVENT_MEM_TYPE_FREE, 2097152LL);
VALUE(UCM_EVENT_FLAG_NO_INSTALL, 16777216LL);
VALUE(UCM_EVENT_FLAG_EXISTING_ALLOC, 33554432LL);
VALUE(UCM_MMAP_HOOK_NONE, 0LL);
VALUE(UCM_MMAP_HOOK_RELOC, 1LL);
VALUE(UCM_MMAP_HOOK_BISTRO, 2LL);
VALUE(UCM_MMAP_HOOK_LAST, 3LL);
VALUE(UCM_UNLOAD_PREVENT_MODE_LAZY, 0LL);
VALUE(UCM_UNLOAD_PREVENT_MODE_NOW, 1LL);
VALUE(UCM_UNLOAD_PREVENT_MODE_NONE, 2LL);
VALUE(UCM_UNLOAD_PREVENT_MODE_LAST, 3LL);
VALUE(UCP_API_MAJOR, 1LL);
VALUE(UCP_API_MINOR, 20LL);
VALUE(UCP_API_VERSION, 18087936LL);
VALUE(UCP_ENTITY_NAME_MAX, 32LL);
VALUE(UCP_VERSION_MAJOR_SHIFT, 24LL);
VALUE(UCP_VERSION_MINOR_SHIFT, 16LL);
VALUE(UCS_ASYNC_PTHREAD_ID_NULL, -1LL);
VALUE(UCS_CPU_SETSIZE, 1024LL);
VALUE(UCS_MEMORY_TYPES_CPU_ACCESSIBLE, 337LL);
VALUE(UCS_NCPUBITS, 64LL);
VALUE(UCT_AM_ID_BITS, 5LL);
VALUE(UCT_AM_ID_MAX, 32LL);
VALUE(UCT_COMPONENT_NAME_MAX, 16LL);
VALUE(UCT_DEVICE_NAME_MAX, 32LL);
VALUE(UCT_DMABUF_FD_INVALID, -1LL);
VALUE(UCT_IFACE_FLAG_AM_BCOPY, 2LL);
VALUE(UCT_IFACE_FLAG_AM_DUP, 8796093022208LL);
VALUE(UCT_IFACE_FLAG_AM_SHORT, 1LL);
VALUE(UCT_IFACE_FLAG_AM_ZCOPY, 4LL);
VALUE(UCT_IFACE_FLAG_ATOMIC_CPU, 1073741824LL);
VALUE(UCT_IFACE_FLAG_ATOMIC_DEVICE, 2147483648LL);
VALUE(UCT_IFACE_FLAG_CB_ASYNC, 35184372088832LL);
VALUE(UCT_IFACE_FLAG_CB_SYNC, 17592186044416LL);
VALUE(UCT_IFACE_FLAG_CONNECT_TO_EP, 2199023255552LL);
VALUE(UCT_IFACE_FLAG_CONNECT_TO_IFACE, 1099511627776LL);
VALUE(UCT_IFACE_FLAG_CONNECT_TO_SOCKADDR, 4398046511104LL);
VALUE(UCT_IFACE_FLAG_DEVICE_EP, 36028797018963968LL);
VALUE(UCT_IFACE_FLAG_EP_CHECK, 549755813888LL);
VALUE(UCT_IFACE_FLAG_EP_KEEPALIVE, 70368744177664LL);
VALUE(UCT_IFACE_FLAG_ERRHANDLE_AM_ID, 34359738368LL);
VALUE(UCT_IFACE_FLAG_ERRHANDLE_BCOPY_BUF, 8589934592LL);
VALUE(UCT_IFACE_FLAG_ERRHANDLE_BCOPY_LEN, 137438953472LL);
VALUE(UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE, 274877906944LL);
VALUE(UCT_IFACE_FLAG_ERRHANDLE_REMOTE_MEM, 68719476736LL);
VALUE(UCT_IFACE_FLAG_ERRHANDLE_SHORT_BUF, 4294967296LL);
VALUE(UCT_IFACE_FLAG_ERRHANDLE_ZCOPY_BUF, 17179869184LL);
VALUE(UCT_IFACE_FLAG_EVENT_ASYNC_CB, 16LL);
VALUE(UCT_IFACE_FLAG_EVENT_FD, 8LL);
VALUE(UCT_IFACE_FLAG_EVENT_RECV, 2LL);
VALUE(UCT_IFACE_FLAG_EVENT_RECV_SIG, 4LL);
VALUE(UCT_IFACE_FLAG_EVENT_SEND_COMP, 1LL);
VALUE(UCT_IFACE_FLAG_GET_BCOPY, 512LL);
VALUE(UCT_IFACE_FLAG_GET_SHORT, 256LL);
VALUE(UCT_IFACE_FLAG_GET_ZCOPY, 1024LL);
VALUE(UCT_IFACE_FLAG_INTER_NODE, 18014398509481984LL);
VALUE(UCT_IFACE_FLAG_PENDING, 8LL);
VALUE(UCT_IFACE_FLAG_PUT_BCOPY, 32LL);
VALUE(UCT_IFACE_FLAG_PUT_SHORT, 16LL);
VALUE(UCT_IFACE_FLAG_PUT_ZCOPY, 64LL);
VALUE(UCT_IFACE_FLAG_TAG_EAGER_BCOPY, 2251799813685248LL);
VALUE(UCT_IFACE_FLAG_TAG_EAGER_SHORT, 1125899906842624LL);
VALUE(UCT_IFACE_FLAG_TAG_EAGER_ZCOPY, 4503599627370496LL);
VALUE(UCT_IFACE_FLAG_TAG_RNDV_ZCOPY, 9007199254740992LL);
VALUE(UCT_INVALID_RKEY, -1LL);
VALUE(UCT_MD_GLOBAL_ID_MAX, 256LL);
VALUE(UCT_MD_NAME_MAX, 16LL);
VALUE(UCT_MEM_HANDLE_NULL, 0LL);
VALUE(UCT_PENDING_REQ_PRIV_LEN, 40LL);
VALUE(UCT_TAG_PRIV_LEN, 32LL);
VALUE(UCT_TL_NAME_MAX, 10LL);
FUNC(ucs_status_string, const char *(*)(ucs_status_t));
FUNC(ucs_ternary_auto_value_is_yes_or_try, int (*)(ucs_ternary_auto_value_t));
FUNC(ucs_ternary_auto_value_is_yes_or_no, int (*)(ucs_ternary_auto_value_t));
FUNC(ucp_request_is_completed, int (*)(void *));
FUNC(ucp_request_release, void (*)(void *));
FUNC(ucp_ep_destroy, void (*)(ucp_ep_h));
FUNC(ucp_disconnect_nb, ucs_status_ptr_t (*)(ucp_ep_h));
FUNC(ucp_request_alloc, void *(*)(ucp_worker_h));
FUNC(ucp_request_test, ucs_status_t (*)(void *, ucp_tag_recv_info_t *));
FUNC(ucp_rkey_pack,
     ucs_status_t (*)(ucp_context_h, ucp_mem_h, void **, size_t *));
FUNC(ucp_rkey_buffer_release, void (*)(void *));
FUNC(ucp_ep_flush, ucs_status_t (*)(ucp_ep_h));
FUNC(ucp_worker_flush, ucs_status_t (*)(ucp_worker_h));
FUNC(ucp_put,
     ucs_status_t (*)(ucp_ep_h, const void *, size_t, uint64_t, ucp_rkey_h));
FUNC(ucp_get, ucs_status_t (*)(ucp_ep_h, void *, size_t, uint64_t, ucp_rkey_h));
FUNC(ucp_atomic_add32,
     ucs_status_t (*)(ucp_ep_h, uint32_t, uint64_t, ucp_rkey_h));
FUNC(ucp_atomic_add64,
     ucs_status_t (*)(ucp_ep_h, uint64_t, uint64_t, ucp_rkey_h));
FUNC(ucp_atomic_fadd32,
     ucs_status_t (*)(ucp_ep_h, uint32_t, uint64_t, ucp_rkey_h, uint32_t *));
FUNC(ucp_atomic_fadd64,
     ucs_status_t (*)(ucp_ep_h, uint64_t, uint64_t, ucp_rkey_h, uint64_t *));
FUNC(ucp_atomic_swap32,
     ucs_status_t (*)(ucp_ep_h, uint32_t, uint64_t, ucp_rkey_h, uint32_t *));
FUNC(ucp_atomic_swap64,
     ucs_status_t (*)(ucp_ep_h, uint64_t, uint64_t, ucp_rkey_h, uint64_t *));
FUNC(ucp_atomic_cswap32, ucs_status_t (*)(ucp_ep_h, uint32_t, uint32_t,
                                          uint64_t, ucp_rkey_h, uint32_t *));
FUNC(ucp_atomic_cswap64, ucs_status_t (*)(ucp_ep_h, uint64_t, uint64_t,
                                          uint64_t, ucp_rkey_h, uint64_t *));
FUNC(ucp_ep_modify_nb, ucs_status_ptr_t (*)(ucp_ep_h, const ucp_ep_params_t *));
FUNC(ucp_worker_get_address,
     ucs_status_t (*)(ucp_worker_h, ucp_address_t **, size_t *));
FUNC(ucp_ep_close_nb, ucs_status_ptr_t (*)(ucp_ep_h, unsigned int));
FUNC(ucp_ep_flush_nb,
     ucs_status_ptr_t (*)(ucp_ep_h, unsigned int, ucp_send_callback_t));
FUNC(ucp_worker_set_am_handler,
     ucs_status_t (*)(ucp_worker_h, uint16_t, ucp_am_callback_t, void *,
                      uint32_t));
FUNC(ucp_am_send_nb,
     ucs_status_ptr_t (*)(ucp_ep_h, uint16_t, const void *, size_t,
                          ucp_datatype_t, ucp_send_callback_t, unsigned int));
FUNC(ucp_stream_send_nb,
     ucs_status_ptr_t (*)(ucp_ep_h, const void *, size_t, ucp_datatype_t,
                          ucp_send_callback_t, unsigned int));
FUNC(ucp_stream_recv_nb,
     ucs_status_ptr_t (*)(ucp_ep_h, void *, size_t, ucp_datatype_t,
                          ucp_stream_recv_callback_t, size_t *, unsigned int));
FUNC(ucp_tag_send_nb,
     ucs_status_ptr_t (*)(ucp_ep_h, const void *, size_t, ucp_datatype_t,
                          ucp_tag_t, ucp_send_callback_t));
FUNC(ucp_tag_send_nbr, ucs_status_t (*)(ucp_ep_h, const void *, size_t,
                                        ucp_datatype_t, ucp_tag_t, void *));
FUNC(ucp_tag_send_sync_nb,
     ucs_status_ptr_t (*)(ucp_ep_h, const void *, size_t, ucp_datatype_t,
                          ucp_tag_t, ucp_send_callback_t));
FUNC(ucp_tag_recv_nb,
     ucs_status_ptr_t (*)(ucp_worker_h, void *, size_t, ucp_datatype_t,
                          ucp_tag_t, ucp_tag_t, ucp_tag_recv_callback_t));
FUNC(ucp_tag_recv_nbr,
     ucs_status_t (*)(ucp_worker_h, void *, size_t, ucp_datatype_t, ucp_tag_t,
                      ucp_tag_t, void *));
FUNC(ucp_tag_msg_recv_nb,
     ucs_status_ptr_t (*)(ucp_worker_h, void *, size_t, ucp_datatype_t,
                          ucp_tag_message_h, ucp_tag_recv_callback_t));
FUNC(ucp_put_nbi,
     ucs_status_t (*)(ucp_ep_h, const void *, size_t, uint64_t, ucp_rkey_h));
FUNC(ucp_put_nb, ucs_status_ptr_t (*)(ucp_ep_h, const void *, size_t, uint64_t,
                                      ucp_rkey_h, ucp_send_callback_t));
FUNC(ucp_get_nbi,
     ucs_status_t (*)(ucp_ep_h, void *, size_t, uint64_t, ucp_rkey_h));
FUNC(ucp_get_nb, ucs_status_ptr_t (*)(ucp_ep_h, void *, size_t, uint64_t,
                                      ucp_rkey_h, ucp_send_callback_t));
FUNC(ucp_atomic_post, ucs_status_t (*)(ucp_ep_h, ucp_atomic_post_op_t, uint64_t,
                                       size_t, uint64_t, ucp_rkey_h));
FUNC(ucp_atomic_fetch_nb,
     ucs_status_ptr_t (*)(ucp_ep_h, ucp_atomic_fetch_op_t, uint64_t, void *,
                          size_t, uint64_t, ucp_rkey_h, ucp_send_callback_t));
FUNC(ucp_worker_flush_nb,
     ucs_status_ptr_t (*)(ucp_worker_h, unsigned int, ucp_send_callback_t));
FUNC(ucs_cpu_is_set, int (*)(int, const ucs_cpu_set_t *));
FUNC(ucp_lib_query, ucs_status_t (*)(ucp_lib_attr_t *));
FUNC(ucp_config_read,
     ucs_status_t (*)(const char *, const char *, ucp_config_t **));
FUNC(ucp_config_release, void (*)(ucp_config_t *));
FUNC(ucp_config_modify,
     ucs_status_t (*)(ucp_config_t *, const char *, const char *));
FUNC(ucp_config_print, void (*)(const ucp_config_t *, FILE *, const char *,
                                ucs_config_print_flags_t));
FUNC(ucp_get_version, void (*)(unsigned int *, unsigned int *, unsigned int *));
FUNC(ucp_get_version_string, const char *(*)(void));
FUNC(ucp_init_version,
     ucs_status_t (*)(unsigned int, unsigned int, const ucp_params_t *,
                      const ucp_config_t *, ucp_context_h *));
FUNC(ucp_init, ucs_status_t (*)(const ucp_params_t *, const ucp_config_t *,
                                ucp_context_h *));
FUNC(ucp_cleanup, void (*)(ucp_context_h));
FUNC(ucp_context_query, ucs_status_t (*)(ucp_context_h, ucp_context_attr_t *));
FUNC(ucp_rkey_compare,
     ucs_status_t (*)(ucp_worker_h, ucp_rkey_h, ucp_rkey_h,
                      const ucp_rkey_compare_params_t *, int *));
FUNC(ucp_context_print_info, void (*)(const ucp_context_h, FILE *));
FUNC(ucp_worker_create,
     ucs_status_t (*)(ucp_context_h, const ucp_worker_params_t *,
                      ucp_worker_h *));
FUNC(ucp_worker_destroy, void (*)(ucp_worker_h));
FUNC(ucp_worker_query, ucs_status_t (*)(ucp_worker_h, ucp_worker_attr_t *));
FUNC(ucp_worker_print_info, void (*)(ucp_worker_h, FILE *));
FUNC(ucp_worker_release_address, void (*)(ucp_worker_h, ucp_address_t *));
FUNC(ucp_worker_address_query,
     ucs_status_t (*)(ucp_address_t *, ucp_worker_address_attr_t *));
FUNC(ucp_worker_progress, unsigned int (*)(ucp_worker_h));
FUNC(ucp_stream_worker_poll,
     ssize_t (*)(ucp_worker_h, ucp_stream_poll_ep_t *, size_t, unsigned int));
FUNC(ucp_worker_get_efd, ucs_status_t (*)(ucp_worker_h, int *));
FUNC(ucp_worker_wait, ucs_status_t (*)(ucp_worker_h));
FUNC(ucp_worker_wait_mem, void (*)(ucp_worker_h, void *));
FUNC(ucp_worker_arm, ucs_status_t (*)(ucp_worker_h));
FUNC(ucp_worker_signal, ucs_status_t (*)(ucp_worker_h));
FUNC(ucp_listener_create,
     ucs_status_t (*)(ucp_worker_h, const ucp_listener_params_t *,
                      ucp_listener_h *));
FUNC(ucp_listener_destroy, void (*)(ucp_listener_h));
FUNC(ucp_listener_query,
     ucs_status_t (*)(ucp_listener_h, ucp_listener_attr_t *));
FUNC(ucp_conn_request_query,
     ucs_status_t (*)(ucp_conn_request_h, ucp_conn_request_attr_t *));
FUNC(ucp_request_query, ucs_status_t (*)(void *, ucp_request_attr_t *));
FUNC(ucp_ep_create,
     ucs_status_t (*)(ucp_worker_h, const ucp_ep_params_t *, ucp_ep_h *));
FUNC(ucp_ep_close_nbx,
     ucs_status_ptr_t (*)(ucp_ep_h, const ucp_request_param_t *));
FUNC(ucp_listener_reject, ucs_status_t (*)(ucp_listener_h, ucp_conn_request_h));
FUNC(ucp_ep_print_info, void (*)(ucp_ep_h, FILE *));
FUNC(ucp_ep_flush_nbx,
     ucs_status_ptr_t (*)(ucp_ep_h, const ucp_request_param_t *));
FUNC(ucp_ep_evaluate_perf,
     ucs_status_t (*)(ucp_ep_h, const ucp_ep_evaluate_perf_param_t *,
                      ucp_ep_evaluate_perf_attr_t *));
FUNC(ucp_mem_map, ucs_status_t (*)(ucp_context_h, const ucp_mem_map_params_t *,
                                   ucp_mem_h *));
FUNC(ucp_mem_unmap, ucs_status_t (*)(ucp_context_h, ucp_mem_h));
FUNC(ucp_mem_query, ucs_status_t (*)(const ucp_mem_h, ucp_mem_attr_t *));
FUNC(ucp_mem_print_info, void (*)(const char *, ucp_context_h, FILE *));
FUNC(ucp_mem_advise,
     ucs_status_t (*)(ucp_context_h, ucp_mem_h, ucp_mem_advise_params_t *));
FUNC(ucp_memh_pack, ucs_status_t (*)(ucp_mem_h, const ucp_memh_pack_params_t *,
                                     void **, size_t *));
FUNC(ucp_memh_buffer_release,
     void (*)(void *, const ucp_memh_buffer_release_params_t *));
FUNC(ucp_ep_rkey_unpack,
     ucs_status_t (*)(ucp_ep_h, const void *, ucp_rkey_h *));
FUNC(ucp_rkey_ptr, ucs_status_t (*)(ucp_rkey_h, uint64_t, void **));
FUNC(ucp_rkey_destroy, void (*)(ucp_rkey_h));
FUNC(ucp_worker_set_am_recv_handler,
     ucs_status_t (*)(ucp_worker_h, const ucp_am_handler_param_t *));
FUNC(ucp_am_send_nbx,
     ucs_status_ptr_t (*)(ucp_ep_h, unsigned int, const void *, size_t,
                          const void *, size_t, const ucp_request_param_t *));
FUNC(ucp_am_recv_data_nbx,
     ucs_status_ptr_t (*)(ucp_worker_h, void *, void *, size_t,
                          const ucp_request_param_t *));
FUNC(ucp_am_data_release, void (*)(ucp_worker_h, void *));
FUNC(ucp_stream_send_nbx, ucs_status_ptr_t (*)(ucp_ep_h, const void *, size_t,
                                               const ucp_request_param_t *));
FUNC(ucp_tag_send_nbx,
     ucs_status_ptr_t (*)(ucp_ep_h, const void *, size_t, ucp_tag_t,
                          const ucp_request_param_t *));
FUNC(ucp_tag_send_sync_nbx,
     ucs_status_ptr_t (*)(ucp_ep_h, const void *, size_t, ucp_tag_t,
                          const ucp_request_param_t *));
FUNC(ucp_stream_recv_nbx,
     ucs_status_ptr_t (*)(ucp_ep_h, void *, size_t, size_t *,
                          const ucp_request_param_t *));
FUNC(ucp_stream_recv_data_nb, ucs_status_ptr_t (*)(ucp_ep_h, size_t *));
FUNC(ucp_tag_recv_nbx,
     ucs_status_ptr_t (*)(ucp_worker_h, void *, size_t, ucp_tag_t, ucp_tag_t,
                          const ucp_request_param_t *));
FUNC(ucp_tag_probe_nb, ucp_tag_message_h (*)(ucp_worker_h, ucp_tag_t, ucp_tag_t,
                                             int, ucp_tag_recv_info_t *));
FUNC(ucp_tag_msg_recv_nbx,
     ucs_status_ptr_t (*)(ucp_worker_h, void *, size_t, ucp_tag_message_h,
                          const ucp_request_param_t *));
FUNC(ucp_put_nbx,
     ucs_status_ptr_t (*)(ucp_ep_h, const void *, size_t, uint64_t, ucp_rkey_h,
                          const ucp_request_param_t *));
FUNC(ucp_get_nbx,
     ucs_status_ptr_t (*)(ucp_ep_h, void *, size_t, uint64_t, ucp_rkey_h,
                          const ucp_request_param_t *));
FUNC(ucp_atomic_op_nbx,
     ucs_status_ptr_t (*)(ucp_ep_h, ucp_atomic_op_t, const void *, size_t,
                          uint64_t, ucp_rkey_h, const ucp_request_param_t *));
FUNC(ucp_request_check_status, ucs_status_t (*)(void *));
FUNC(ucp_tag_recv_request_test,
     ucs_status_t (*)(void *, ucp_tag_recv_info_t *));
FUNC(ucp_stream_recv_request_test, ucs_status_t (*)(void *, size_t *));
FUNC(ucp_request_cancel, void (*)(ucp_worker_h, void *));
FUNC(ucp_stream_data_release, void (*)(ucp_ep_h, void *));
FUNC(ucp_request_free, void (*)(void *));
FUNC(ucp_dt_create_generic,
     ucs_status_t (*)(const ucp_generic_dt_ops_t *, void *, ucp_datatype_t *));
FUNC(ucp_dt_destroy, void (*)(ucp_datatype_t));
FUNC(ucp_dt_query, ucs_status_t (*)(ucp_datatype_t, ucp_datatype_attr_t *));
FUNC(ucp_worker_fence, ucs_status_t (*)(ucp_worker_h));
FUNC(ucp_worker_flush_nbx,
     ucs_status_ptr_t (*)(ucp_worker_h, const ucp_request_param_t *));
FUNC(ucp_ep_query, ucs_status_t (*)(ucp_ep_h, ucp_ep_attr_t *));
FUNC(ucs_async_set_event_handler,
     ucs_status_t (*)(ucs_async_mode_t, int, ucs_event_set_types_t,
                      ucs_async_event_cb_t, void *, ucs_async_context_t *));
FUNC(ucs_async_add_timer,
     ucs_status_t (*)(ucs_async_mode_t, ucs_time_t, ucs_async_event_cb_t,
                      void *, ucs_async_context_t *, int *));
FUNC(ucs_async_remove_handler, ucs_status_t (*)(int, int));
FUNC(ucs_async_modify_handler, ucs_status_t (*)(int, ucs_event_set_types_t));
FUNC(ucs_async_context_create,
     ucs_status_t (*)(ucs_async_mode_t, ucs_async_context_t **));
FUNC(ucs_async_context_destroy, void (*)(ucs_async_context_t *));
FUNC(ucs_async_poll, void (*)(ucs_async_context_t *));
FUNC(uct_md_mem_query,
     ucs_status_t (*)(uct_md_h, const void *, size_t, uct_md_mem_attr_t *));
FUNC(uct_query_components,
     ucs_status_t (*)(uct_component_h **, unsigned int *));
FUNC(uct_release_component_list, void (*)(uct_component_h *));
FUNC(uct_component_query,
     ucs_status_t (*)(uct_component_h, uct_component_attr_t *));
FUNC(uct_md_open, ucs_status_t (*)(uct_component_h, const char *,
                                   const uct_md_config_t *, uct_md_h *));
FUNC(uct_md_close, void (*)(uct_md_h));
FUNC(uct_md_query_tl_resources,
     ucs_status_t (*)(uct_md_h, uct_tl_resource_desc_t **, unsigned int *));
FUNC(uct_release_tl_resource_list, void (*)(uct_tl_resource_desc_t *));
FUNC(uct_worker_create, ucs_status_t (*)(ucs_async_context_t *,
                                         ucs_thread_mode_t, uct_worker_h *));
FUNC(uct_worker_destroy, void (*)(uct_worker_h));
FUNC(uct_worker_progress_register_safe,
     void (*)(uct_worker_h, ucs_callback_t, void *, unsigned int,
              uct_worker_cb_id_t *));
FUNC(uct_worker_progress_unregister_safe,
     void (*)(uct_worker_h, uct_worker_cb_id_t *));
FUNC(uct_md_iface_config_read,
     ucs_status_t (*)(uct_md_h, const char *, const char *, const char *,
                      uct_iface_config_t **));
FUNC(uct_config_release, void (*)(void *));
FUNC(uct_config_get, ucs_status_t (*)(void *, const char *, char *, size_t));
FUNC(uct_config_modify, ucs_status_t (*)(void *, const char *, const char *));
FUNC(uct_iface_open,
     ucs_status_t (*)(uct_md_h, uct_worker_h, const uct_iface_params_t *,
                      const uct_iface_config_t *, uct_iface_h *));
FUNC(uct_iface_close, void (*)(uct_iface_h));
FUNC(uct_iface_query, ucs_status_t (*)(uct_iface_h, uct_iface_attr_t *));
FUNC(uct_iface_get_device_address,
     ucs_status_t (*)(uct_iface_h, uct_device_addr_t *));
FUNC(uct_iface_get_address, ucs_status_t (*)(uct_iface_h, uct_iface_addr_t *));
FUNC(uct_iface_is_reachable,
     int (*)(const uct_iface_h, const uct_device_addr_t *,
             const uct_iface_addr_t *));
FUNC(uct_ep_check,
     ucs_status_t (*)(const uct_ep_h, unsigned int, uct_completion_t *));
FUNC(uct_iface_event_fd_get, ucs_status_t (*)(uct_iface_h, int *));
FUNC(uct_iface_event_arm, ucs_status_t (*)(uct_iface_h, unsigned int));
FUNC(uct_iface_mem_alloc,
     ucs_status_t (*)(uct_iface_h, size_t, unsigned int, const char *,
                      uct_allocated_memory_t *));
FUNC(uct_iface_mem_free, void (*)(const uct_allocated_memory_t *));
FUNC(uct_iface_set_am_handler,
     ucs_status_t (*)(uct_iface_h, uint8_t, uct_am_callback_t, void *,
                      uint32_t));
FUNC(uct_iface_set_am_tracer,
     ucs_status_t (*)(uct_iface_h, uct_am_tracer_t, void *));
FUNC(uct_iface_accept, ucs_status_t (*)(uct_iface_h, uct_conn_request_h));
FUNC(uct_iface_reject, ucs_status_t (*)(uct_iface_h, uct_conn_request_h));
FUNC(uct_ep_create, ucs_status_t (*)(const uct_ep_params_t *, uct_ep_h *));
FUNC(uct_ep_connect,
     ucs_status_t (*)(uct_ep_h, const uct_ep_connect_params_t *));
FUNC(uct_ep_disconnect, ucs_status_t (*)(uct_ep_h, unsigned int));
FUNC(uct_ep_destroy, void (*)(uct_ep_h));
FUNC(uct_ep_get_address, ucs_status_t (*)(uct_ep_h, uct_ep_addr_t *));
FUNC(uct_ep_connect_to_ep, ucs_status_t (*)(uct_ep_h, const uct_device_addr_t *,
                                            const uct_ep_addr_t *));
FUNC(uct_md_query, ucs_status_t (*)(uct_md_h, uct_md_attr_t *));
FUNC(uct_md_mem_advise,
     ucs_status_t (*)(uct_md_h, uct_mem_h, void *, size_t, uct_mem_advice_t));
FUNC(uct_md_mem_reg,
     ucs_status_t (*)(uct_md_h, void *, size_t, unsigned int, uct_mem_h *));
FUNC(uct_md_mem_dereg, ucs_status_t (*)(uct_md_h, uct_mem_h));
FUNC(uct_md_detect_memory_type,
     ucs_status_t (*)(uct_md_h, const void *, size_t, ucs_memory_type_t *));
FUNC(uct_mem_alloc,
     ucs_status_t (*)(size_t, const uct_alloc_method_t *, unsigned int,
                      const uct_mem_alloc_params_t *,
                      uct_allocated_memory_t *));
FUNC(uct_mem_free, ucs_status_t (*)(const uct_allocated_memory_t *));
FUNC(uct_md_config_read, ucs_status_t (*)(uct_component_h, const char *,
                                          const char *, uct_md_config_t **));
FUNC(uct_md_is_sockaddr_accessible,
     int (*)(uct_md_h, const ucs_sock_addr_t *, uct_sockaddr_accessibility_t));
FUNC(uct_md_mkey_pack, ucs_status_t (*)(uct_md_h, uct_mem_h, void *));
FUNC(uct_rkey_unpack,
     ucs_status_t (*)(uct_component_h, const void *, uct_rkey_bundle_t *));
FUNC(uct_rkey_ptr,
     ucs_status_t (*)(uct_component_h, uct_rkey_bundle_t *, uint64_t, void **));
FUNC(uct_rkey_release,
     ucs_status_t (*)(uct_component_h, const uct_rkey_bundle_t *));
FUNC(uct_worker_progress, unsigned int (*)(uct_worker_h));
FUNC(uct_iface_flush,
     ucs_status_t (*)(uct_iface_h, unsigned int, uct_completion_t *));
FUNC(uct_iface_fence, ucs_status_t (*)(uct_iface_h, unsigned int));
FUNC(uct_iface_release_desc, void (*)(void *));
FUNC(uct_ep_put_short, ucs_status_t (*)(uct_ep_h, const void *, unsigned int,
                                        uint64_t, uct_rkey_t));
FUNC(uct_ep_put_bcopy,
     ssize_t (*)(uct_ep_h, uct_pack_callback_t, void *, uint64_t, uct_rkey_t));
FUNC(uct_ep_put_zcopy,
     ucs_status_t (*)(uct_ep_h, const uct_iov_t *, size_t, uint64_t, uct_rkey_t,
                      uct_completion_t *));
FUNC(uct_ep_get_short,
     ucs_status_t (*)(uct_ep_h, void *, unsigned int, uint64_t, uct_rkey_t));
FUNC(uct_ep_get_bcopy,
     ucs_status_t (*)(uct_ep_h, uct_unpack_callback_t, void *, size_t, uint64_t,
                      uct_rkey_t, uct_completion_t *));
FUNC(uct_ep_get_zcopy,
     ucs_status_t (*)(uct_ep_h, const uct_iov_t *, size_t, uint64_t, uct_rkey_t,
                      uct_completion_t *));
FUNC(uct_ep_am_short,
     ucs_status_t (*)(uct_ep_h, uint8_t, uint64_t, const void *, unsigned int));
FUNC(uct_ep_am_short_iov,
     ucs_status_t (*)(uct_ep_h, uint8_t, const uct_iov_t *, size_t));
FUNC(uct_ep_am_bcopy,
     ssize_t (*)(uct_ep_h, uint8_t, uct_pack_callback_t, void *, unsigned int));
FUNC(uct_ep_am_zcopy, ucs_status_t (*)(uct_ep_h, uint8_t, const void *,
                                       unsigned int, const uct_iov_t *, size_t,
                                       unsigned int, uct_completion_t *));
FUNC(uct_ep_atomic_cswap64,
     ucs_status_t (*)(uct_ep_h, uint64_t, uint64_t, uint64_t, uct_rkey_t,
                      uint64_t *, uct_completion_t *));
FUNC(uct_ep_atomic_cswap32,
     ucs_status_t (*)(uct_ep_h, uint32_t, uint32_t, uint64_t, uct_rkey_t,
                      uint32_t *, uct_completion_t *));
FUNC(uct_ep_atomic32_post, ucs_status_t (*)(uct_ep_h, uct_atomic_op_t, uint32_t,
                                            uint64_t, uct_rkey_t));
FUNC(uct_ep_atomic64_post, ucs_status_t (*)(uct_ep_h, uct_atomic_op_t, uint64_t,
                                            uint64_t, uct_rkey_t));
FUNC(uct_ep_atomic32_fetch,
     ucs_status_t (*)(uct_ep_h, uct_atomic_op_t, uint32_t, uint32_t *, uint64_t,
                      uct_rkey_t, uct_completion_t *));
FUNC(uct_ep_atomic64_fetch,
     ucs_status_t (*)(uct_ep_h, uct_atomic_op_t, uint64_t, uint64_t *, uint64_t,
                      uct_rkey_t, uct_completion_t *));
FUNC(uct_ep_pending_add,
     ucs_status_t (*)(uct_ep_h, uct_pending_req_t *, unsigned int));
FUNC(uct_ep_pending_purge,
     void (*)(uct_ep_h, uct_pending_purge_callback_t, void *));
FUNC(uct_ep_flush,
     ucs_status_t (*)(uct_ep_h, unsigned int, uct_completion_t *));
FUNC(uct_ep_fence, ucs_status_t (*)(uct_ep_h, unsigned int));
FUNC(uct_ep_tag_eager_short,
     ucs_status_t (*)(uct_ep_h, uct_tag_t, const void *, size_t));
FUNC(uct_ep_tag_eager_bcopy,
     ssize_t (*)(uct_ep_h, uct_tag_t, uint64_t, uct_pack_callback_t, void *,
                 unsigned int));
FUNC(uct_ep_tag_eager_zcopy,
     ucs_status_t (*)(uct_ep_h, uct_tag_t, uint64_t, const uct_iov_t *, size_t,
                      unsigned int, uct_completion_t *));
FUNC(uct_ep_tag_rndv_zcopy,
     ucs_status_ptr_t (*)(uct_ep_h, uct_tag_t, const void *, unsigned int,
                          const uct_iov_t *, size_t, unsigned int,
                          uct_completion_t *));
FUNC(uct_ep_tag_rndv_cancel, ucs_status_t (*)(uct_ep_h, void *));
FUNC(uct_ep_tag_rndv_request,
     ucs_status_t (*)(uct_ep_h, uct_tag_t, const void *, unsigned int,
                      unsigned int));
FUNC(uct_iface_tag_recv_zcopy,
     ucs_status_t (*)(uct_iface_h, uct_tag_t, uct_tag_t, const uct_iov_t *,
                      size_t, uct_tag_context_t *));
FUNC(uct_iface_tag_recv_cancel,
     ucs_status_t (*)(uct_iface_h, uct_tag_context_t *, int));
FUNC(uct_iface_progress_enable, void (*)(uct_iface_h, unsigned int));
FUNC(uct_iface_progress_disable, void (*)(uct_iface_h, unsigned int));
FUNC(uct_iface_progress, unsigned int (*)(uct_iface_h));
FUNC(uct_cm_open, ucs_status_t (*)(uct_component_h, uct_worker_h,
                                   const uct_cm_config_t *, uct_cm_h *));
FUNC(uct_cm_close, void (*)(uct_cm_h));
FUNC(uct_cm_query, ucs_status_t (*)(uct_cm_h, uct_cm_attr_t *));
FUNC(uct_cm_config_read, ucs_status_t (*)(uct_component_h, const char *,
                                          const char *, uct_cm_config_t **));
FUNC(uct_cm_client_ep_conn_notify, ucs_status_t (*)(uct_ep_h));
FUNC(uct_listener_create,
     ucs_status_t (*)(uct_cm_h, const struct sockaddr *, socklen_t,
                      const uct_listener_params_t *, uct_listener_h *));
FUNC(uct_listener_destroy, void (*)(uct_listener_h));
FUNC(uct_listener_reject, ucs_status_t (*)(uct_listener_h, uct_conn_request_h));
FUNC(uct_listener_query,
     ucs_status_t (*)(uct_listener_h, uct_listener_attr_t *));
FUNC(uct_completion_update_status, void (*)(uct_completion_t *, ucs_status_t));
FUNC(ucm_set_global_opts, void (*)(const ucm_global_config_t *));
FUNC(ucm_set_event_handler,
     ucs_status_t (*)(int, int, ucm_event_callback_t, void *));
FUNC(ucm_unset_event_handler, void (*)(int, ucm_event_callback_t, void *));
FUNC(ucm_set_external_event, void (*)(int));
FUNC(ucm_unset_external_event, void (*)(int));
FUNC(ucm_test_events, ucs_status_t (*)(int));
FUNC(ucm_test_external_events, ucs_status_t (*)(int));
FUNC(ucm_orig_mmap, void *(*)(void *, size_t, int, int, int, off_t));
FUNC(ucm_orig_munmap, int (*)(void *, size_t));
FUNC(ucm_orig_mremap, void *(*)(void *, size_t, size_t, int, void *));
FUNC(ucm_orig_shmat, void *(*)(int, const void *, int));
FUNC(ucm_orig_shmdt, int (*)(const void *));
FUNC(ucm_orig_sbrk, void *(*)(intptr_t));
FUNC(ucm_orig_brk, int (*)(void *));
FUNC(ucm_orig_madvise, int (*)(void *, size_t, int));
FUNC(ucm_mmap, void *(*)(void *, size_t, int, int, int, off_t));
FUNC(ucm_munmap, int (*)(void *, size_t));
FUNC(ucm_vm_mmap, void (*)(void *, size_t));
FUNC(ucm_vm_munmap, void (*)(void *, size_t));
FUNC(ucm_mremap, void *(*)(void *, size_t, size_t, int, ...));
FUNC(ucm_shmat, void *(*)(int, const void *, int));
FUNC(ucm_shmdt, int (*)(const void *));
FUNC(ucm_sbrk, void *(*)(intptr_t));
FUNC(ucm_brk, int (*)(void *));
FUNC(ucm_madvise, int (*)(void *, size_t, int));
FUNC(ucm_dlopen, void *(*)(const char *, int));

int abi_check_compiled;
