/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous, receiver's side: checks announcements, selects how the data of a
 * matched receive is transferred (get, or a reply that requests a put or
 * messages), and completes receives.
 */
#include "ucp/rndv/rndv.h"

#include "ucp/dt/dt.h"
#include "ucp/order/queue.h"
#include "ucp/stage/stage.h"
#include "ucp/stats/stats.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

#include <stdlib.h>

size_t ucp_rndv_rts_take(ucp_rndv_taken_t *taken, const void *data,
                         size_t length)
{
    size_t keys_size;

    if (length < sizeof(taken->rts)) {
        return 0;
    }

    ucp_wire_take(&taken->rts, data, sizeof(taken->rts));
    keys_size = ucp_le16_get(taken->rts.keys_size);
    if ((keys_size > length - sizeof(taken->rts)) ||
        (keys_size > sizeof(taken->keys))) {
        return 0;
    }

    ucp_wire_take(taken->keys, (const char *)data + sizeof(taken->rts),
                  keys_size);
    return sizeof(taken->rts) + keys_size;
}

/* Data for a generic datatype is received into a buffer and unpacked as a
 * whole. This allows zero-copy, and some datatypes (MPICH's) cannot unpack a
 * fragment that ends inside an element. */
typedef struct ucp_rndv_gather {
    ucp_dt_iter_t dt; /* The user's datatype */
    char data[];
} ucp_rndv_gather_t;

/* Allocates the buffer of a ucp_rndv_gather_t and makes the receive store its
 * data there. If memory is short, the datatype unpacks fragments in order of
 * arrival. */
static void gather_begin(ucp_request_t *req)
{
    size_t length = req->recv.info.length;
    ucp_rndv_gather_t *gather;

    gather = malloc(sizeof(*gather) + length);
    if (gather != NULL) {
        gather->dt                 = req->dt;
        ucp_recv_rndv(req)->gather = gather;
        ucp_dt_iter_init_contig(&req->dt, gather->data, length);
    }
}

static ucs_status_t gather_end(ucp_request_t *req, ucs_status_t status)
{
    ucp_rndv_gather_t *gather = ucp_recv_rndv(req)->gather;

    req->dt                    = gather->dt;
    ucp_recv_rndv(req)->gather = NULL;
    if (status == UCS_OK) {
        status = ucp_dt_iter_unpack(&req->dt, 0, gather->data,
                                    req->recv.info.length);
    }
    free(gather);
    return status;
}

void ucp_rndv_recv_end(ucp_request_t *req, ucs_status_t status)
{
    ucp_rndv_recv_t *rndv = ucp_recv_rndv(req);

    if (ucs_unlikely(rndv->copying > 0)) {
        ucp_stage_forget(req->worker->stage, req);
    }
    ucp_memhs_dereg(req->worker, &rndv->memhs);
    if (ucs_unlikely(rndv->gather != NULL)) {
        status = gather_end(req, status);
    }
    ucp_dt_iter_finish(&req->dt);
    ucp_request_id_del(req);
    ucp_request_ep_del(req);
    if (ucs_likely(status == UCS_OK)) {
        req->worker->received += req->recv.info.length;
    }
    rndv->complete(req, status);
}

/* Returns non-zero if the sender accepts an address for put over these lanes,
 * according to the flags of its announcement. */
static int may_put(const ucp_ep_config_t *config, const ucp_rails_t *rails,
                   unsigned rts_flags)
{
    return !(rts_flags & UCP_RNDV_RTS_NO_PUT) ||
           ((rts_flags & UCP_RNDV_RTS_PUT_TO_DEVICE) &&
            ucp_rndv_is_device(config, rails));
}

/* Registers the receive buffer for put by the sender. Returns zero if that is
 * not possible. */
static int reg_place(ucp_request_t *req, ucp_ep_h ep, unsigned rts_flags,
                     const ucp_rails_t *rails)
{
    size_t length = req->recv.info.length;
    const ucp_lane_config_t *lane;

    if ((rails->num == 0) || !may_put(ep->config, rails, rts_flags)) {
        return 0;
    }
    lane = &ep->config->lanes[rails->rail[0].lane];
    return ucp_dt_iter_is_flat(&req->dt) &&
           ((req->dt.dt_class == UCP_DT_CLASS_CONTIG) ||
            ucp_lane_reaches_remote(lane, req->dt.mem_type)) &&
           (length >= lane->put.min_zcopy) && ucp_rndv_keys_fit(lane) &&
           ucp_rndv_reg_remote(ep, rails, &req->dt, length,
                               UCT_MD_MEM_ACCESS_REMOTE_PUT,
                               &ucp_recv_rndv(req)->memhs);
}

/* Offers the receive buffer to the sender for put: registers the buffer, which
 * must be one block, if it is not registered yet, and packs its keys. Returns
 * the length of the list of keys; 0 means that the data is sent by active
 * messages. */
static size_t offer_place(ucp_request_t *req, ucp_ep_h ep, unsigned rts_flags,
                          const ucp_rails_t *rails, void *keys)
{
    size_t size;

    if ((ucp_recv_rndv(req)->memhs.num == 0) &&
        !reg_place(req, ep, rts_flags, rails)) {
        return 0;
    }

    size = ucp_rndv_keys_pack(ep, rails, &ucp_recv_rndv(req)->memhs, keys);
    if (size == 0) {
        ucp_memhs_dereg(req->worker, &ucp_recv_rndv(req)->memhs);
    }
    return size;
}

void ucp_rndv_recv_send_rtr(ucp_request_t *req, ucp_ep_h ep, ucp_le32_t request,
                            ucp_le32_t secret, unsigned rts_flags)
{
    ucp_rndv_recv_t *rndv = ucp_recv_rndv(req);
    char message[sizeof(ucp_rndv_rtr_t) + UCP_RNDV_MAX_KEYS];
    ucp_rndv_rtr_t *rtr      = (ucp_rndv_rtr_t *)message;
    size_t length            = req->recv.info.length;
    int fits                 = (length <= req->dt.length);
    const ucp_rails_t *rails = ucp_rndv_rails_to(ep->config, &req->dt, 0);
    size_t keys_size         = 0;
    ucs_status_t status;

    req->recv.ep    = ep;
    req->recv.abort = ucp_rndv_recv_end;
    ucp_request_ep_add(req, ep);
    do {
        status = ucp_request_id_add(req);
    } while ((status == UCS_ERR_NO_MEMORY) && ucp_reserve_spend(req->worker));
    if (status != UCS_OK) {
        ucp_ep_fail_later(ep, status); /* No reply can be sent, and the peer
                                        * would wait for it for ever */
        ucp_rndv_recv_end(req, status);
        return;
    }

    if (fits && (length > 0)) {
        keys_size = offer_place(req, ep, rts_flags, rails, rtr + 1);
    }
    rndv->offered = (keys_size > 0);
    rndv->proto   = rndv->offered ? &ucp_proto_rndv_put : &ucp_proto_rndv_am;
    rndv->iface   = ep->config
                      ->lanes[rndv->offered ? rails->rail[0].lane : UCP_AM_LANE]
                      .iface_index;
    rtr->send_request = request;
    rtr->secret       = secret;
    rtr->recv_request = ucp_le32(req->id);
    rtr->length       = ucp_le64(fits ? length : 0);
    rtr->address      = ucp_le64(
             (keys_size > 0) ? (uintptr_t)req->dt.u.contig.buffer : 0);

    status = ucp_ep_send_control(ep, UCP_AM_ID_RNDV_RTR, message,
                                 sizeof(*rtr) + keys_size);
    if (ep->flags & UCP_EP_FLAG_FAILED) {
        return; /* the request is already complete */
    }
    if (status != UCS_OK) {
        ucp_rndv_recv_end(req, status);
    } else if (!fits) {
        ucp_rndv_recv_end(req, UCS_ERR_MESSAGE_TRUNCATED);
    } else if (length == 0) {
        ucp_rndv_recv_end(req, UCS_OK);
    }
}

/* Returns non-zero if the receive buffer is memory that only a device can
 * access, and the sender shall put into it. The put takes one copy; a get over
 * another lane takes two, to host memory and from there. A get is used if the
 * sender has sent a key for the lane of device memory: its data is then in
 * memory of a device, too. */
static int prefers_put(ucp_request_t *req, ucp_ep_h ep,
                       const ucp_rndv_rts_t *rts)
{
    const ucp_ep_config_t *config = ep->config;
    const ucp_rails_t *rails      = ucp_rndv_rails_to(config, &req->dt, 0);

    return ucp_rndv_is_device(config, rails) &&
           !ucp_rndv_keys_have(rts + 1, ucp_le16_get(rts->keys_size),
                               config->lanes[config->device_lane].remote_md) &&
           (rts->flags & UCP_RNDV_RTS_PUT_TO_DEVICE) &&
           reg_place(req, ep, rts->flags, rails);
}

void ucp_rndv_recv_start(ucp_request_t *req, const ucp_rndv_rts_t *rts,
                         ucp_rndv_complete_t complete)
{
    ucp_rndv_recv_t *rndv = ucp_recv_rndv(req);
    size_t length         = ucp_rndv_rts_length(rts);
    ucp_ep_h ep;

    req->flags |= UCP_REQUEST_FLAG_BY_RNDV;
    rndv->proto           = NULL;
    rndv->complete        = complete;
    rndv->offered         = 0;
    req->recv.info.length = length;
    rndv->remaining       = length;
    rndv->copying         = 0;
    rndv->gather          = NULL;
    ucp_memhs_init(&rndv->memhs);

    ucp_stats_received(req->worker, UCP_STATS_RECV_RNDV_MSGS, length);
    /* The endpoint for replies existed when the announcement arrived, but may
     * have been freed since. */
    ep = ucp_wireup_reply_ep(req->worker, &rts->sender);
    if ((ep == NULL) || (ep->flags & UCP_EP_FLAG_FAILED)) {
        ucp_rndv_recv_end(req, UCS_ERR_CONNECTION_RESET);
        return;
    }

    if ((req->dt.dt_class == UCP_DT_CLASS_GENERIC) && (length > 0) &&
        (length <= req->dt.length)) {
        gather_begin(req);
    }
    if ((length == 0) || (length > req->dt.length) ||
        prefers_put(req, ep, rts) || !ucp_rndv_get_start(req, ep, rts)) {
        ucp_rndv_recv_send_rtr(req, ep, rts->request,
                               ucp_le32(ucp_wire_end_secret(&rts->sender)),
                               rts->flags);
    }
}

void ucp_rndv_reject(ucp_worker_h worker, const ucp_rndv_rts_t *rts,
                     ucs_status_t status)
{
    ucp_rndv_ats_t ats = {
        .request = rts->request,
        .secret  = ucp_le32(ucp_wire_end_secret(&rts->sender)),
        .status  = (int8_t)status,
    };
    ucp_ep_h ep = ucp_wireup_reply_ep(worker, &rts->sender);

    if ((ep == NULL) || (ucp_ep_send_control(ep, UCP_AM_ID_RNDV_ATS, &ats,
                                             sizeof(ats)) != UCS_OK)) {
        ucs_debug("cannot notify the sender of a rejected message: it is not"
                  " connected any more");
    }
}

ucs_status_t ucp_rndv_done_handler(void *arg, void *data, size_t length,
                                   unsigned flags)
{
    ucp_worker_h worker         = arg;
    const ucp_rndv_done_t *done = data;
    ucp_request_t *req          = NULL;

    if (length == sizeof(*done)) {
        req = ucp_request_by_id(worker, ucp_le32_get(done->recv_request));
    }
    if ((req == NULL) || !(req->flags & UCP_REQUEST_FLAG_RECV) ||
        ((done->status == UCS_OK) && !ucp_recv_rndv(req)->offered)) {
        ucs_debug("dropped the end of a transfer: no such receive");
        return UCS_OK;
    }

    ucp_rndv_recv_end(req,
                      (done->status == UCS_OK) ? UCS_OK : UCS_ERR_IO_ERROR);
    return UCS_OK;
}

UCS_F_COLD void ucp_rndv_describe(const ucp_request_t *req, char *text,
                                  size_t max)
{
    const ucp_rndv_recv_t *rndv = ucp_recv_rndv(req);

    if (rndv->proto != NULL) {
        ucp_proto_describe(rndv->proto->name, req->worker, rndv->iface, "",
                           text, max);
    }
}
