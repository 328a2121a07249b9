/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Restarts of the gets and puts of a rendezvous over several lanes, after one
 * of the lanes has failed. The whole transfer is repeated over the lanes that
 * are left. It does no harm to read or put the same data twice, because the
 * receive buffer is not used before the receive is complete.
 *
 *   in flight --error, buffer released--> waits for progress --> in flight
 *       `------error, no restart possible--> another scheme
 *
 * If a get cannot restart, the receiver requests the data by another scheme
 * (RTR). A put then continues by messages, also if it used one lane, unless
 * that was lane 0.
 *
 * The restart waits for the next progress because a transport may report a
 * failed lane before or after it completes the lane's operations. In the next
 * progress it is known which lanes are left.
 */
#include "ucp/rndv/rndv.h"

#include "ucp/dt/dt.h"
#include "ucp/order/queue.h"
#include "ucp/stats/stats.h"
#include "ucp/wireup/failover.h"
#include "ucs/debug/log.h"

/* Maximum number of restarts of one transfer: each takes the time of the whole
 * transfer. */
enum { MAX_RETRIES = UCP_MAX_RAILS };

static void start_again(void *arg)
{
    ucp_request_t *req = arg;

    ucp_send_rndv(req)->retrying = 0;
    ucp_send_rndv(req)->lost     = req->send.ep->config->lost;
    ucp_dt_iter_rewind(&req->dt);
    ucp_request_start(req);
}

/* Restarts the transfer in the next progress. Returns zero if that is not
 * possible. */
static int start_later(ucp_request_t *req)
{
    ucp_rndv_send_t *rndv = ucp_send_rndv(req);

    if (rndv->detached || (req->send.ep->flags & UCP_EP_FLAG_FAILED) ||
        (uct_worker_oneshot_add(req->worker->uct, start_again, req) !=
         UCS_OK)) {
        return 0;
    }

    ucs_debug("ep %p: a transfer of %zu bytes failed (%s); it restarts",
              req->send.ep, req->dt.length,
              ucs_status_string(req->send.comp.status));
    ++rndv->retries;
    ucp_stats_retry(req->send.ep);
    rndv->retrying        = 1;
    rndv->posted          = 0;
    /* one count for the request itself, dropped when all is posted */
    req->send.comp.count  = 1;
    req->send.comp.status = UCS_OK;
    return 1;
}

int ucp_rndv_retry(ucp_request_t *req)
{
    ucp_rndv_send_t *rndv    = ucp_send_rndv(req);
    const ucp_rails_t *rails = rndv->rails;

    return (rails != NULL) && (rails->num > 1) &&
           (rndv->retries < MAX_RETRIES) && start_later(req);
}

int ucp_rndv_retry_by_messages(ucp_request_t *req)
{
    if (ucp_rndv_is_staged(req) || !start_later(req)) {
        return 0;
    }
    ucp_rndv_send_cleanup(req);
    ucp_send_rndv(req)->rails   = NULL;
    ucp_send_rndv(req)->address = 0;
    req->send.proto             = &ucp_proto_rndv_am;
    /* Protocols by messages use lane 0 and do not set req->lane */
    req->lane                   = UCP_AM_LANE;
    /* Means that nothing is posted: see ucp_rndv_data_abort() */
    req->send.comp.func         = NULL;
    return 1;
}

void ucp_rndv_retry_cancel(ucp_request_t *req)
{
    if (ucs_unlikely(ucp_send_rndv(req)->retrying)) {
        ucp_send_rndv(req)->retrying = 0;
        uct_worker_oneshot_cancel(req->worker->uct, start_again, req);
    }
}

int ucp_rndv_chunk_rejected(ucp_request_t *req, unsigned lane,
                            ucs_status_t status)
{
    return (ucp_send_rndv(req)->rails->num > 1) &&
           ucp_failover_suspect(req->send.ep, lane, status);
}
