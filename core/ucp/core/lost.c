/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loss of a message for lack of memory.
 */
#include "ucp/base/life.h"
#include "ucp/dt/dt.h"
#include "ucp/tag/match.h"
#include "ucs/debug/log.h"

void ucp_worker_lost(ucp_worker_h worker, const char *what, size_t length)
{
    ucs_queue_head_t posted;
    ucp_request_t *req;
    ucp_ep_h ep;

    ucs_error("worker %s: lost %s of %zu bytes: out of memory; its endpoints and"
              " tagged receives fail", worker->name, what, length);
    ucs_list_for_each(ep, &worker->eps, link) {
        ucp_ep_doom(ep, UCS_ERR_NO_MEMORY);
    }

    /* take all first: callbacks may post receives, which wait for later
     * messages */
    ucs_queue_head_init(&posted);
    while ((req = ucp_tag_expected_any(ucp_worker_tag(worker))) != NULL) {
        ucp_tag_expected_remove(ucp_worker_tag(worker), req);
        ucs_queue_push(&posted, &req->recv.queue);
    }
    while (!ucs_queue_is_empty(&posted)) {
        req = ucs_container_of(ucs_queue_pull(&posted), ucp_request_t,
                               recv.queue);
        ucp_dt_iter_finish(&req->dt);
        ucp_request_complete_recv(req, UCS_ERR_NO_MEMORY);
    }
}
