/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous, sender's side, by put of the data into the receive buffer.
 *
 * The message DONE follows the data. If all data goes over lane 0, which also
 * carries DONE, a fence orders them. Otherwise the data must be complete at the
 * peer before DONE is sent:
 *
 *   only lane 0:  PUT ...  fence, DONE   wait for the puts
 *   otherwise:    PUT ...  FLUSH ...     wait for puts and flushes  DONE
 */
#include "ucp/rndv/rndv.h"

#include "ucp/dt/dt.h"
#include "ucp/order/queue.h"
#include "ucp/proto/zcopy.h"
#include "ucp/wireup/failover.h"

/* Values of ucp_rndv_send_t::step. The flush of rail number i is STEP_FLUSH +
 * i */
enum { STEP_PUT, STEP_DONE, STEP_FLUSH };

static int is_same_lane(const ucp_request_t *req)
{
    return (ucp_send_rndv(req)->rails->num == 1) &&
           (ucp_send_rndv(req)->rails->rail[0].lane == UCP_AM_LANE);
}

static void put_completed(uct_completion_t *comp)
{
    ucp_request_t *req = ucs_container_of(comp, ucp_request_t, send.comp);

    if (!ucp_send_rndv(req)->detached && !is_same_lane(req) &&
        (ucp_send_rndv(req)->step != STEP_DONE)) {
        if (ucs_unlikely(comp->status != UCS_OK) && ucp_rndv_retry(req)) {
            ucp_send_rndv(req)->step = STEP_PUT;
            return;
        }
        if (ucs_unlikely(comp->status != UCS_OK) &&
            ucp_rndv_retry_by_messages(req)) {
            return;
        }
        /* All data is at the peer, or the transfer has failed: send DONE, which
         * contains the status. */
        ucp_send_rndv(req)->step   = STEP_DONE;
        ucp_send_rndv(req)->posted = 0;
        req->send.comp.count       = 1;
        ucp_request_start(req);
        return;
    }
    ucp_rndv_send_end(req, comp->status);
}

static size_t done_pack(void *dest, void *arg)
{
    ucp_request_t *req    = arg;
    ucp_rndv_done_t *done = dest;

    done->recv_request = ucp_le32(ucp_send_rndv(req)->remote_id);
    done->status       = (int8_t)req->send.comp.status;
    return sizeof(*done);
}

static ucs_status_t send_done(ucp_request_t *req)
{
    uct_ep_h am = req->send.ep->am;
    ssize_t packed;

    req->lane = UCP_AM_LANE;
    if (is_same_lane(req) && (am->ops->fence(am, 0) == UCS_ERR_NO_RESOURCE)) {
        return UCS_ERR_NO_RESOURCE;
    }
    packed = am->ops->am_bcopy(am, UCP_AM_ID_RNDV_DONE, done_pack, req, 0);
    if (packed == UCS_ERR_NO_RESOURCE) {
        return UCS_ERR_NO_RESOURCE;
    }
    ucp_rndv_send_posted(req, (packed < 0) ? (ucs_status_t)packed : UCS_OK);
    return UCS_OK;
}

/* Flushes the lanes one after another, from the lane of the current step. */
static ucs_status_t flush_data(ucp_request_t *req)
{
    ucp_rndv_send_t *rndv    = ucp_send_rndv(req);
    const ucp_rails_t *rails = rndv->rails;
    ucp_ep_h ep              = req->send.ep;
    ucs_status_t status;
    uct_ep_h uct;

    for (; rndv->step < STEP_FLUSH + rails->num; ++rndv->step) {
        req->lane = rails->rail[rndv->step - STEP_FLUSH].lane;
        uct       = ucp_ep_lane(ep, req->lane);
        ++req->send.comp.count;
        status = uct->ops->flush(uct, UCT_FLUSH_FLAG_REMOTE, &req->send.comp);
        if (status != UCS_INPROGRESS) {
            --req->send.comp.count;
            if (status == UCS_ERR_NO_RESOURCE) {
                return status;
            }
            /* A transport that does not support flush completes a put only
             * when the data is at the peer. */
            if (status != UCS_ERR_UNSUPPORTED) {
                uct_completion_update_status(&req->send.comp, status);
            }
        }
    }
    if (ucs_unlikely(ep->config->lost != rndv->lost)) {
        /* Data that the lost lane accepted may not have arrived. */
        uct_completion_update_status(&req->send.comp, UCS_ERR_CONNECTION_RESET);
    }
    ucp_rndv_send_posted(req, UCS_OK);
    return UCS_OK;
}

/* Ends the put with an error: skips the rest of the data. If only lane 0 is
 * used, DONE follows with the error. Otherwise the transfer restarts when the
 * posted fragments are complete; if that is not possible, DONE follows. */
static ucs_status_t fail(ucp_request_t *req, ucs_status_t status)
{
    uct_completion_update_status(&req->send.comp, status);
    req->dt.offset = req->dt.length;
    return UCS_INPROGRESS;
}

static ucs_status_t put_chunk(ucp_request_t *req)
{
    ucp_rndv_send_t *rndv   = ucp_send_rndv(req);
    ucp_rails_chunk_t chunk = ucp_rails_next(rndv->rails, req->dt.length,
                                             req->dt.offset,
                                             ucp_failover_avoid(req->send.ep));
    ucs_status_t status;

    if (ucs_unlikely(chunk.rail == NULL)) {
        return fail(req, UCS_ERR_UNREACHABLE);
    }

    status = ucp_zcopy_post(req, rndv->rails, &chunk,
                            rndv->address + req->dt.offset,
                            rndv->rkeys[chunk.rail->slot].rkey, &rndv->memhs);
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    return ((status == UCS_OK) ||
            ucp_rndv_chunk_rejected(req, chunk.rail->lane, status)) ?
               UCS_INPROGRESS :
               fail(req, status);
}

/* Registers the local buffer if the lanes need it. */
static void begin(ucp_request_t *req)
{
    ucp_rndv_send_t *rndv = ucp_send_rndv(req);
    ucp_ep_h ep           = req->send.ep;

    req->send.comp.func = put_completed;
    rndv->lost          = ep->config->lost;
    if (!ucp_zcopy_register(ep, rndv->rails, &req->dt, req->dt.length,
                            &rndv->memhs)) {
        fail(req, UCS_ERR_IO_ERROR);
    }
}

static ucs_status_t put_progress(ucp_request_t *req)
{
    if (req->send.comp.func != put_completed) {
        begin(req);
    }
    if (ucp_send_rndv(req)->step == STEP_DONE) {
        return send_done(req);
    }
    if (req->dt.offset < req->dt.length) {
        return put_chunk(req);
    }
    if (is_same_lane(req)) {
        return send_done(req);
    }
    if (ucp_send_rndv(req)->step == STEP_PUT) {
        ucp_send_rndv(req)->step = STEP_FLUSH;
    }
    return flush_data(req);
}

const ucp_proto_t ucp_proto_rndv_put = {
    .name     = "rndv/put",
    .ops      = UCS_BIT(UCP_OP_RNDV),
    .query    = ucp_rndv_query_put,
    .rails    = ucp_rndv_put_rails,
    .progress = put_progress,
    .abort    = ucp_rndv_data_abort,
    .flags    = UCP_PROTO_FLAG_PUT | UCP_PROTO_FLAG_BEGUN,
};
