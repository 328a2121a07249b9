/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous, sender's side: sends the announcement and handles the replies:
 * an acknowledgement after a get of the receiver (ATS), or a request to send
 * the data by put or messages (RTR).
 */
#include "ucp/rndv/rndv.h"

#include "ucp/dt/dt.h"
#include "ucp/order/queue.h"
#include "ucp/stats/stats.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

/* --------------------------------------------------------- announcement -- */

/* Selects the protocol for the data by the costs in `costs`. Data in memory
 * that no lane of the peer can access is sent by messages. */
static const ucp_proto_t *select_data(const ucp_ep_config_t *costs,
                                      const ucp_dt_iter_t *dt,
                                      const ucp_rails_t *rails)
{
    unsigned dt_class = ucp_rndv_dt_class(dt, ucp_ep_config_rndv(costs));

    if ((dt_class == UCP_DT_CLASS_STAGED) &&
        !ucp_rndv_is_device(costs, rails)) {
        return &ucp_proto_rndv_am;
    }
    return ucp_rndv_select(costs, dt_class, dt->length);
}

/* Returns the protocol for the data (get, put or messages) that has one of
 * these UCP_PROTO_FLAG_*. */
static const ucp_proto_t *data_with(uint16_t flags)
{
    return (flags & ucp_proto_rndv_get.flags) ? &ucp_proto_rndv_get :
           (flags & ucp_proto_rndv_put.flags) ? &ucp_proto_rndv_put :
                                                &ucp_proto_rndv_am;
}

/* Returns non-zero if the data can be put to memory of devices at the receiver,
 * and the user has not requested another protocol. */
static int can_put_to_device(const ucp_request_t *req)
{
    const ucp_ep_config_t *config = req->send.ep->config;
    const ucp_lane_config_t *lane;
    unsigned dt_class;

    if ((config->device_lane == UCP_NULL_LANE) ||
        ((config->rndv_prefer != 0) &&
         !(config->rndv_prefer & ucp_proto_rndv_put.flags))) {
        return 0;
    }
    lane     = &config->lanes[config->device_lane];
    dt_class = ucp_rndv_dt_class(&req->dt, lane);
    return (dt_class != UCP_DT_CLASS_STAGED) &&
           (dt_class != UCP_DT_CLASS_GENERIC) && (lane->put.max_zcopy > 0) &&
           !(lane->md_flags & UCT_MD_FLAG_NEED_MEMH);
}

ucs_status_t ucp_rndv_send_init(ucp_request_t *req, uint32_t attr)
{
    ucp_rndv_send_t *rndv         = ucp_send_rndv(req);
    ucp_ep_h ep                   = req->send.ep;
    const ucp_ep_config_t *config = ep->config;
    const ucp_ep_config_t *costs  = ucp_ep_config_for(ep->worker, config, attr);
    const ucp_proto_t *data;
    ucs_status_t status;

    rndv->num_keys  = 0;
    rndv->posted    = 0;
    rndv->detached  = 0;
    rndv->retries   = 0;
    rndv->retrying  = 0;
    rndv->step      = 0;
    rndv->withdrawn = 0;
    rndv->rails     = ucp_rndv_rails_to(config, &req->dt, 1);
    data            = (req->data_flags != 0) ? data_with(req->data_flags) :
                                               select_data(costs, &req->dt, rndv->rails);
    rndv->rts_flags = (data->flags & UCP_PROTO_FLAG_MESSAGES) ?
                          UCP_RNDV_RTS_NO_PUT :
                          0;
    ucp_memhs_init(&rndv->memhs);
    if (data->flags & UCP_PROTO_FLAG_GET) {
        /* If the registration fails, the announcement has no keys, and the
         * receiver selects another protocol */
        ucp_rndv_reg_remote(ep, rndv->rails, &req->dt, req->dt.length,
                            UCT_MD_MEM_ACCESS_REMOTE_GET, &rndv->memhs);
    }
    status = ucp_wireup_expect_reply(req);
    if (status != UCS_OK) {
        ucp_rndv_send_cleanup(req);
    }
    return status;
}

size_t ucp_rndv_rts_pack(const ucp_request_t *req, void *dest)
{
    ucp_rndv_send_t *rndv = ucp_send_rndv(req);
    ucp_rndv_rts_t *rts   = dest;
    size_t keys_size      = ucp_rndv_keys_pack(req->send.ep, rndv->rails,
                                               &rndv->memhs, rts + 1);

    rts->length  = ucp_le64(req->dt.length);
    rts->sender  = ucp_ep_wire_end(req->send.ep);
    rts->request = ucp_le32(req->id);
    rts->flags   = rndv->rts_flags;
    rts->flags |= can_put_to_device(req) ? UCP_RNDV_RTS_PUT_TO_DEVICE : 0;
    rts->lead      = (uint8_t)req->lead;
    rts->keys_size = ucp_le16((uint16_t)keys_size);
    rts->address   = ucp_le64(
          (keys_size > 0) ? (uintptr_t)req->dt.u.contig.buffer : 0);
    return sizeof(*rts) + keys_size;
}

ucs_status_t ucp_rndv_announce(ucp_request_t *req, uint8_t am_id,
                               uct_pack_callback_t pack, unsigned counter)
{
    uct_ep_h am = req->send.ep->am;
    ssize_t packed;

    packed = am->ops->am_bcopy(am, am_id, pack, req, UCX_SEND_FLAG_MORE);
    if (packed == UCS_ERR_NO_RESOURCE) {
        return UCS_ERR_NO_RESOURCE;
    }
    if (packed < 0) {
        ucp_rndv_send_end(req, (ucs_status_t)packed);
        return UCS_OK;
    }
    req->flags |= UCP_REQUEST_FLAG_ANNOUNCED;
    ucp_stats_sent(req->send.ep, counter, req->dt.length);
    return UCS_OK;
}

/* ----------------------------------------------------------- completion -- */

/* Removes the request from its endpoint's list and releases its id. After this
 * the request does not access the endpoint, which may be freed. */
static void detach(ucp_request_t *req)
{
    ucp_send_rndv(req)->detached = 1;
    req->flags &= ~UCP_REQUEST_FLAG_ANNOUNCED;
    ucp_request_id_del(req);
    ucp_request_ep_del(req);
}

void ucp_rndv_send_cleanup(ucp_request_t *req)
{
    ucp_rndv_rkeys_release(req);
    ucp_memhs_dereg(req->worker, &ucp_send_rndv(req)->memhs);
}

void ucp_rndv_send_end(ucp_request_t *req, ucs_status_t status)
{
    ucp_rndv_send_cleanup(req);
    ucp_dt_iter_finish(&req->dt);
    detach(req);
    ucp_request_complete_send(req, status);
}

void ucp_rndv_send_posted(ucp_request_t *req, ucs_status_t status)
{
    ucp_send_rndv(req)->posted = 1;
    ucp_request_posted(req, status);
}

void ucp_rndv_send_failure(ucp_ep_h ep, uint32_t recv_request,
                           ucs_status_t status)
{
    ucp_rndv_done_t done = {ucp_le32(recv_request), (int8_t)status};

    if (ucp_ep_send_control(ep, UCP_AM_ID_RNDV_DONE, &done, sizeof(done)) !=
        UCS_OK) {
        ucs_debug("ep %p: cannot notify the peer of a failed transfer", ep);
    }
}

void ucp_rndv_data_abort(ucp_request_t *req, ucs_status_t status)
{
    /* The transport may still use the buffer: the request completes when the
     * transport has completed its operations, possibly after the endpoint is
     * freed. */
    detach(req);
    ucp_rndv_retry_cancel(req);
    if (req->send.comp.func == NULL) {
        ucp_rndv_send_end(req, status); /* nothing was posted */
    } else if (ucp_send_rndv(req)->posted) {
        uct_completion_update_status(&req->send.comp, status);
    } else {
        ucp_rndv_send_posted(req, status);
    }
}

/* --------------------------------------------------------------- replies -- */

/* Returns the send that a peer's reply belongs to, or NULL. */
static ucp_request_t *replied_to(ucp_worker_h worker, ucp_le32_t request,
                                 ucp_le32_t secret, const char *reply)
{
    ucp_request_t *req = ucp_request_by_id(worker, ucp_le32_get(request));

    if ((req != NULL) && (req->flags & UCP_REQUEST_FLAG_ANNOUNCED) &&
        (req->send.ep->secret == ucp_le32_get(secret))) {
        return req;
    }
    ucs_debug("dropped %s: no such send", reply);
    return NULL;
}

/* Returns the lanes that can put the data to the memory of the receiver's keys,
 * or NULL. */
static const ucp_rails_t *put_rails(ucp_request_t *req, const void *keys,
                                    size_t size)
{
    ucp_ep_h ep = req->send.ep;
    const ucp_rails_t *rails;

    if (req->dt.dt_class == UCP_DT_CLASS_GENERIC) {
        return NULL;
    }

    rails = ucp_rndv_keys_accept(req, keys, size, 0);
    if ((rails != NULL) &&
        (ucp_rndv_dt_class(&req->dt, &ep->config->lanes[rails->rail[0].lane]) ==
         UCP_DT_CLASS_STAGED)) {
        ucp_rndv_rkeys_release(req);
        return NULL;
    }
    return rails;
}

static void start_transfer(ucp_request_t *req, const void *keys, size_t size)
{
    ucp_rndv_send_t *rndv = ucp_send_rndv(req);

    /* The registration for a get is no longer needed. */
    ucp_memhs_dereg(req->worker, &rndv->memhs);

    rndv->rails = put_rails(req, keys, size);
    if (rndv->rails != NULL) {
        req->send.proto = &ucp_proto_rndv_put;
    } else {
        rndv->address   = 0;
        req->send.proto = ucp_rndv_is_staged(req) ? &ucp_proto_rndv_staged :
                                                    &ucp_proto_rndv_am;
    }
    req->send.comp.func   = NULL;
    /* one count for the request itself, dropped when all is posted */
    req->send.comp.count  = 1;
    req->send.comp.status = UCS_OK;
    req->flags &= ~UCP_REQUEST_FLAG_ANNOUNCED;
    ucp_request_id_del(req);
    ucp_stats_sent(req->send.ep,
                   (rndv->rails != NULL) ? UCP_STATS_RNDV_PUT :
                                           UCP_STATS_RNDV_AM,
                   req->dt.length);
    ucp_request_start(req);
}

ucs_status_t ucp_rndv_rtr_handler(void *arg, void *data, size_t length,
                                  unsigned flags)
{
    struct {
        ucp_rndv_rtr_t rtr;
        char keys[UCP_RNDV_MAX_TAKEN];
    } taken;
    const ucp_rndv_rtr_t *rtr = &taken.rtr;
    ucp_request_t *req;
    uint64_t wanted;
    ucp_ep_h ep;

    if ((length < sizeof(*rtr)) || (length > sizeof(taken))) {
        ucs_diag("dropped a request for data of %zu bytes: wrong size", length);
        return UCS_OK;
    }

    ucp_wire_take(&taken, data, length);
    req = replied_to(arg, rtr->send_request, rtr->secret, "a request for data");
    if (req == NULL) {
        return UCS_OK;
    }

    wanted = ucp_le64_get(rtr->length);
    if (wanted == 0) {
        ucp_rndv_send_end(req, UCS_OK);
        return UCS_OK;
    }

    ucp_send_rndv(req)->remote_id = ucp_le32_get(rtr->recv_request);
    if (wanted != req->dt.length) {
        ep = req->send.ep;
        ucs_diag("ep %p: the peer requests %lu bytes of a message of %zu", ep,
                 wanted, req->dt.length);
        ucp_rndv_send_end(req, UCS_ERR_IO_ERROR);
        ucp_rndv_send_failure(ep, ucp_le32_get(rtr->recv_request),
                              UCS_ERR_IO_ERROR);
        return UCS_OK;
    }

    ucp_send_rndv(req)->address = ucp_le64_get(rtr->address);
    start_transfer(req, taken.keys, length - sizeof(*rtr));
    return UCS_OK;
}

/* The status of an ATS message is valid if it is UCS_OK or an error of this
 * API; a receiver may reject with any of them. */
static int is_status(int8_t status)
{
    return (status <= UCS_OK) && (status > UCS_ERR_LAST);
}

ucs_status_t ucp_rndv_ats_handler(void *arg, void *data, size_t length,
                                  unsigned flags)
{
    const ucp_rndv_ats_t *ats = data;
    ucp_request_t *req;

    if (length != sizeof(*ats)) {
        ucs_diag("dropped an acknowledgement of %zu bytes: wrong size", length);
        return UCS_OK;
    }

    req = replied_to(arg, ats->request, ats->secret, "an acknowledgement");
    if (req != NULL) {
        if (ats->status == UCS_OK) {
            ucp_stats_sent(req->send.ep, UCP_STATS_RNDV_GET, req->dt.length);
        }
        ucp_rndv_send_end(req, is_status(ats->status) ?
                                   (ucs_status_t)ats->status :
                                   UCS_ERR_IO_ERROR);
    }
    return UCS_OK;
}
