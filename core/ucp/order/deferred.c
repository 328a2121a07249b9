/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion of deferred sends. A send is deferred if am_short has returned
 * UCS_INPROGRESS: the transport has copied the data, and sends it in its next
 * progress.
 */
#include "ucp/order/queue.h"

void ucp_worker_complete_deferred(ucp_worker_h worker, ucs_queue_head_t *queue)
{
    ucs_queue_elem_t *elem;

    while ((elem = ucs_queue_pull(queue)) != NULL) {
        ucp_request_complete_send(ucs_container_of(elem, ucp_request_t,
                                                   send.queue),
                                  UCS_OK);
    }
}

static void move_those_of(ucp_ep_h ep, ucs_queue_head_t *from,
                          ucs_queue_head_t *to)
{
    ucs_queue_iter_t iter = ucs_queue_iter_begin(from);
    ucp_request_t *req;

    while (!ucs_queue_iter_end(from, iter)) {
        req = ucs_container_of(*iter, ucp_request_t, send.queue);
        if (req->send.ep == ep) {
            ucs_queue_del_iter(from, iter);
            ucs_queue_push(to, &req->send.queue);
        } else {
            iter = ucs_queue_iter_next(iter);
        }
    }
}

void ucp_worker_complete_deferred_of(ucp_worker_h worker, ucp_ep_h ep)
{
    ucs_queue_head_t queue;

    ucs_queue_head_init(&queue);
    move_those_of(ep, &worker->leaving, &queue);
    move_those_of(ep, &worker->deferred, &queue);
    ucp_worker_complete_deferred(worker, &queue);
}
