/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous by get, into memory that neither the processor nor the lane can
 * access: fragments are read into host memory, and a copier (stage/stage.h)
 * copies them from there.
 *
 *   send buffer ==lane==> fragment ==copier==> user's memory
 *
 *   fragment:  in flight --> being copied --> the next get
 *                     `------------------`-> no data left, or failed: idle
 *
 * Each fragment has its own request, which waits for send resources like any
 * other request. The whole get ends with its last fragment.
 */
#include "ucp/rndv/rndv.h"

#include "ucp/dt/dt.h"
#include "ucp/order/queue.h"
#include "ucp/stage/stage.h"

enum { FRAGS_PER_GET = 4 };

static const ucp_lane_config_t *lane_of(const ucp_request_t *get)
{
    unsigned lane = ucp_send_rndv(get)->rails->rail[0].lane;

    return &get->send.ep->config->lanes[lane];
}

int ucp_rndv_staged_get_can(const ucp_request_t *recv,
                            const ucp_lane_config_t *lane)
{
    return ucp_rndv_is_staged(recv) && (lane->get.min_zcopy <= 1) &&
           !(lane->md_flags & UCT_MD_FLAG_NEED_MEMH);
}

static ucs_status_t next_chunk(ucp_request_t *get, ucp_stage_frag_t *frag);

/* Called when a fragment is free: starts the get of the next data into it, or,
 * if no data is left, ends the get after its last fragment. */
static void go_on(ucp_stage_frag_t *frag, ucs_status_t status)
{
    ucp_request_t *get = frag->req;

    uct_completion_update_status(&get->send.comp, status);
    if (next_chunk(get, frag) != UCS_OK) {
        ucp_stage_frag_put(frag);
        ucp_request_posted(get, UCS_OK);
    }
}

static void copied(ucp_stage_frag_t *frag)
{
    if (frag->status != UCS_OK) {
        ucp_send_rndv(frag->req)->step = UCP_RNDV_GET_NOT_COPIED;
    }
    go_on(frag, frag->status);
}

static void fetched(uct_completion_t *comp)
{
    ucp_request_t *chunk   = ucs_container_of(comp, ucp_request_t, send.comp);
    ucp_stage_frag_t *frag = chunk->user_data;
    ucs_status_t status    = comp->status;

    ucp_request_complete_send(chunk, status); /* frees the request */
    if ((status == UCS_OK) && (frag->req->send.comp.status == UCS_OK)) {
        ucp_stage_frag_start(frag, 1, copied);
    } else {
        go_on(frag, status);
    }
}

static void fetch_end(ucp_request_t *chunk, ucs_status_t status)
{
    chunk->send.comp.status = status;
    fetched(&chunk->send.comp);
}

static ucs_status_t fetch_progress(ucp_request_t *chunk)
{
    unsigned lane = ucp_send_rndv(chunk)->rails->rail[0].lane;
    uct_ep_h uct  = ucp_ep_lane(chunk->send.ep, lane);
    uct_iov_t iov;
    size_t length;
    ucs_status_t status;

    chunk->lane = (uint8_t)lane;
    ucp_dt_iter_iov(&chunk->dt, chunk->dt.length, &iov, 1, UCT_MEM_HANDLE_NULL,
                    &length);
    status = uct->ops->get_zcopy(uct, &iov, 1, ucp_send_rndv(chunk)->address,
                                 ucp_send_rndv(chunk)->rkeys[0].rkey,
                                 &chunk->send.comp);
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    if (status != UCS_INPROGRESS) {
        fetch_end(chunk, status);
    }
    return UCS_OK;
}

static const ucp_proto_t fetch_proto = {
    .name     = "rndv/get",
    .progress = fetch_progress,
    .abort    = fetch_end,
};

/* Starts the get of the next fragment. Returns UCS_ERR_NO_ELEM if no data is
 * left, or if the get has failed. */
static ucs_status_t next_chunk(ucp_request_t *get, ucp_stage_frag_t *frag)
{
    size_t left = get->dt.length - get->dt.offset;
    size_t max  = ucp_stage_frag_size(get->dt.u.iov.copier);
    ucp_request_t *chunk;

    if ((left == 0) || (get->send.comp.status != UCS_OK)) {
        return UCS_ERR_NO_ELEM;
    }
    chunk = ucp_request_get_internal(get->worker);
    if (chunk == NULL) {
        uct_completion_update_status(&get->send.comp, UCS_ERR_NO_MEMORY);
        return UCS_ERR_NO_MEMORY;
    }

    if (max > lane_of(get)->get.max_zcopy) {
        max = lane_of(get)->get.max_zcopy;
    }
    frag->req    = get;
    frag->length = (left < max) ? left : max;
    frag->place  = get->dt.place;
    frag->memory = (char *)get->dt.u.iov.memory + get->dt.offset;

    ucp_dt_iter_init_contig(&chunk->dt, frag->data, frag->length);
    chunk->user_data               = frag;
    chunk->send.ep                 = get->send.ep;
    chunk->send.proto              = &fetch_proto;
    chunk->send.comp.func          = fetched;
    chunk->send.comp.count         = 1;
    chunk->send.comp.status        = UCS_OK;
    ucp_send_rndv(chunk)->rails    = ucp_send_rndv(get)->rails;
    ucp_send_rndv(chunk)->rkeys[0] = ucp_send_rndv(get)->rkeys[0];
    ucp_send_rndv(chunk)->address  = ucp_send_rndv(get)->address +
                                    get->dt.offset;
    ucp_dt_iter_advance(&get->dt, frag->length);
    ucp_request_start(chunk);
    return UCS_OK;
}

ucs_status_t ucp_rndv_staged_get_progress(ucp_request_t *get)
{
    ucp_stage_frag_t *frag;
    int i;

    for (i = 0; i < FRAGS_PER_GET; ++i) {
        frag = ucp_stage_frag_get(get->dt.u.iov.copier);
        if (frag == NULL) {
            break;
        }
        ++get->send.comp.count;
        if (next_chunk(get, frag) != UCS_OK) {
            ucp_stage_frag_put(frag);
            --get->send.comp.count;
            break;
        }
    }
    if ((i == 0) && (get->dt.length > 0)) {
        /* No fragment or no request is available: the get fails, and the
         * receiver requests the data by another scheme (RTR). */
        uct_completion_update_status(&get->send.comp, UCS_ERR_NO_RESOURCE);
    }
    ucp_rndv_send_posted(get, UCS_OK);
    return UCS_OK;
}
