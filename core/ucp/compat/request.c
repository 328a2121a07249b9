/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deprecated functions ucp_request_alloc, ucp_request_is_completed,
 * ucp_request_test and ucp_request_release.
 */
#include "ucp/base/request.h"
#include "ucp/base/worker.h"

/* Always returns NULL: only operations create requests. */
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

/* In contrast to ucp_request_free, the callback is still called: programs
 * release a request right after they have started its operation, and rely on
 * the callback. */
void ucp_request_release(void *request)
{
    ucp_request_release_user(ucp_request_of(request), 0);
}
