/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deprecated functions ucp_request_alloc, ucp_request_is_completed,
 * ucp_request_test and ucp_request_release.
 */
#include "ucp/base/request.h"
#include "ucp/base/worker.h"

/* Always NULL: a program cannot create a request, only operations do. */
void *ucp_request_alloc(ucp_worker_h worker)
{
    return NULL;
}

int ucp_request_is_completed(void *request)
{
    return ucp_request_check_status(request) != UCS_INPROGRESS;
}

ucs_status_t ucp_request_test(void *request, ucp_tag_recv_info_t *info)
{
    return ucp_tag_recv_request_test(request, info);
}

/* Unlike ucp_request_free, does not cancel the callback: programs release a
 * request right after they have started it, and rely on its callback. */
void ucp_request_release(void *request)
{
    ucp_request_release_user(ucp_request_of(request), 0);
}
