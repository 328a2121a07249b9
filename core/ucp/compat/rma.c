/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deprecated functions for remote keys, put, get and flush, implemented by
 * the nbx functions.
 */
#include "ucp/compat/wait.h"

/* --------------------------------------------------------------- keys -- */

ucs_status_t ucp_rkey_pack(ucp_context_h context, ucp_mem_h memh,
                           void **rkey_buffer_p, size_t *size_p)
{
    return ucp_memh_pack(memh, NULL, rkey_buffer_p, size_p);
}

void ucp_rkey_buffer_release(void *rkey_buffer)
{
    ucp_memh_buffer_release(rkey_buffer, NULL);
}

/* -------------------------------------------------------- put and get -- */

ucs_status_t ucp_put(ucp_ep_h ep, const void *buffer, size_t length,
                     uint64_t remote_addr, ucp_rkey_h rkey)
{
    return ucp_compat_wait(ep->worker,
                           ucp_put_nbx(ep, buffer, length, remote_addr, rkey,
                                       &ucp_compat_no_param));
}

ucs_status_t ucp_put_nbi(ucp_ep_h ep, const void *buffer, size_t length,
                         uint64_t remote_addr, ucp_rkey_h rkey)
{
    return ucp_compat_forget(ucp_put_nbx(ep, buffer, length, remote_addr, rkey,
                                         &ucp_compat_no_param));
}

ucs_status_ptr_t ucp_put_nb(ucp_ep_h ep, const void *buffer, size_t length,
                            uint64_t remote_addr, ucp_rkey_h rkey,
                            ucp_send_callback_t cb)
{
    ucp_request_param_t param = ucp_compat_callback(cb);

    return ucp_put_nbx(ep, buffer, length, remote_addr, rkey, &param);
}

ucs_status_t ucp_get(ucp_ep_h ep, void *buffer, size_t length,
                     uint64_t remote_addr, ucp_rkey_h rkey)
{
    return ucp_compat_wait(ep->worker,
                           ucp_get_nbx(ep, buffer, length, remote_addr, rkey,
                                       &ucp_compat_no_param));
}

ucs_status_t ucp_get_nbi(ucp_ep_h ep, void *buffer, size_t length,
                         uint64_t remote_addr, ucp_rkey_h rkey)
{
    return ucp_compat_forget(ucp_get_nbx(ep, buffer, length, remote_addr, rkey,
                                         &ucp_compat_no_param));
}

ucs_status_ptr_t ucp_get_nb(ucp_ep_h ep, void *buffer, size_t length,
                            uint64_t remote_addr, ucp_rkey_h rkey,
                            ucp_send_callback_t cb)
{
    ucp_request_param_t param = ucp_compat_callback(cb);

    return ucp_get_nbx(ep, buffer, length, remote_addr, rkey, &param);
}

/* -------------------------------------------------------------- flush -- */

ucs_status_t ucp_ep_flush(ucp_ep_h ep)
{
    return ucp_compat_wait(ep->worker,
                           ucp_ep_flush_nbx(ep, &ucp_compat_no_param));
}

ucs_status_ptr_t ucp_ep_flush_nb(ucp_ep_h ep, unsigned flags,
                                 ucp_send_callback_t cb)
{
    ucp_request_param_t param = ucp_compat_callback(cb);

    return ucp_ep_flush_nbx(ep, &param);
}

ucs_status_t ucp_worker_flush(ucp_worker_h worker)
{
    return ucp_compat_wait(worker,
                           ucp_worker_flush_nbx(worker, &ucp_compat_no_param));
}

ucs_status_ptr_t ucp_worker_flush_nb(ucp_worker_h worker, unsigned flags,
                                     ucp_send_callback_t cb)
{
    ucp_request_param_t param = ucp_compat_callback(cb);

    return ucp_worker_flush_nbx(worker, &param);
}
