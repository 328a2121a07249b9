/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts the rendezvous of an unexpected message into memory of the library
 * (fetch.h). The message is a ucp_tag_multi_t, like an unexpected message in
 * fragments.
 */
#include "ucp/tag/fetch.h"

#include "ucp/dt/dt.h"
#include "ucp/stats/stats.h"
#include "ucp/tag/multi.h"

#include <stdlib.h>
#include <string.h>

/* Called when the rendezvous has ended: completes the internal receive `req`,
 * and frees the message if no receive or descriptor refers to it. */
static void fetched(ucp_request_t *req, ucs_status_t status)
{
    ucp_tag_multi_t *multi = req->user_data;

    ucp_request_complete_recv(req, status);
    if ((multi->req == NULL) && (multi->desc == NULL)) {
        ucp_tag_multi_free(multi);
    } else {
        ucp_tag_multi_ended(multi, status);
    }
}

/* Returns a message with memory for `length` bytes, or NULL. The peer supplies
 * the length. malloc() only reserves addresses for a large one: memory is used
 * as data arrives. */
static ucp_tag_multi_t *message_new(ucp_worker_h worker, size_t length)
{
    ucp_tag_multi_t *multi = calloc(1, sizeof(*multi));

    if (multi == NULL) {
        return NULL;
    }
    multi->bytes = malloc(length);
    if (multi->bytes == NULL) {
        free(multi);
        return NULL;
    }
    multi->worker         = worker;
    multi->is_fetched     = 1;
    multi->capacity       = length;
    multi->super.length   = length;
    multi->super.received = length;
    return multi;
}

int ucp_tag_fetch(ucp_worker_h worker, const ucp_tag_rts_t *rts)
{
    const size_t length    = ucp_rndv_rts_length(&rts->rndv);
    ucp_tag_multi_t *multi = message_new(worker, length);
    ucp_request_t *req     = ucp_request_get_internal(worker);

    if ((multi == NULL) || (req == NULL)) {
        goto err;
    }
    multi->desc = ucp_tag_unexpected_add(ucp_worker_tag(worker),
                                         UCP_RECV_DESC_MULTI,
                                         ucp_le64_get(rts->tag), length, &multi,
                                         sizeof(multi), 0);
    if (multi->desc == NULL) {
        goto err;
    }
    req->flags |= UCP_REQUEST_FLAG_RECV;
    req->user_data = multi;
    ucp_dt_iter_init_contig(&req->dt, multi->bytes, length);
    ucp_rndv_recv_start(req, &rts->rndv, fetched);
    return 1;

err:
    ucp_tag_multi_free(multi);
    if (req != NULL) {
        ucp_request_put(req);
    }
    return 0;
}
