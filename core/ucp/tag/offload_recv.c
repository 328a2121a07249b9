/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tag offload, the receiver: posts receives to the interface that matches tags,
 * and handles the messages that it reports (offload.h).
 */
#include "ucp/tag/offload.h"

#include "ucp/base/life.h"
#include "ucp/dt/dt.h"
#include "ucp/mem/mem.h"
#include "ucp/stats/stats.h"
#include "ucp/tag/recv.h"
#include "ucp/tag/rndv.h"
#include "ucs/debug/log.h"
#include "uct/base/md.h"

#include <stdlib.h>
#include <string.h>

/* State of a receive that is posted to the interface. */
typedef struct {
    uct_tag_context_t ctx;
    uct_mem_h memh; /* Registration of the buffer, or UCT_MEM_HANDLE_NULL */
} posted_t;

UCP_AREA_ACCESSOR(posted_of, ucp_request_t, recv.data, posted_t)

static ucp_request_t *request_of(uct_tag_context_t *ctx)
{
    posted_t *posted = ucs_container_of(ctx, posted_t, ctx);

    return ucs_container_of((char *)posted, ucp_request_t, recv.data[0]);
}

/* ---------------------------------------------------- posted receives -- */

/* Called when the interface does not use a posted receive any more. */
static void release(ucp_tag_offload_t *offload, ucp_request_t *req)
{
    if (posted_of(req)->memh != UCT_MEM_HANDLE_NULL) {
        (void)uct_md_mem_dereg(offload->md, posted_of(req)->memh);
    }
    req->flags &= ~UCP_REQUEST_FLAG_OFFLOADED;
    ucs_list_del(&req->ep_link);
    --offload->count;
    offload->num_wild -= (ucp_recv_tag(req)->tag_mask != UCP_TAG_MASK_FULL);
}

void ucp_tag_offload_cancel(ucp_tag_offload_t *offload, ucp_request_t *req)
{
    ucs_status_t status = uct_iface_tag_recv_cancel(offload->iface,
                                                    &posted_of(req)->ctx, 1);

    if (ucs_unlikely(status != UCS_OK)) {
        ucs_error("a receive cannot be cancelled in the transport that matches"
                  " its tag: %s",
                  ucs_status_string(status));
    }
    release(offload, req);
}

/* Called when the interface has matched the receive: UCP must not match it with
 * another message. */
static void consumed(uct_tag_context_t *ctx)
{
    ucp_request_t *req  = request_of(ctx);
    ucp_tag_match_t *tm = ucp_worker_tag(req->worker);

    release(tm->offload, req);
    ucp_tag_expected_remove(tm, req);
}

/* Completes a receive whose data is in its buffer, or that has failed. */
static void finish(ucp_request_t *req, uct_tag_t stag, size_t length,
                   ucs_status_t status)
{
    req->recv.info.sender_tag = stag;
    req->recv.info.length     = length;
    ucp_dt_iter_finish(&req->dt);
    ucp_request_complete_recv(req, status);
}

static void completed(uct_tag_context_t *ctx, uct_tag_t stag, uint64_t imm,
                      size_t length, void *inline_data, ucs_status_t status)
{
    ucp_request_t *req = request_of(ctx);

    if (req->flags & UCP_REQUEST_FLAG_OFFLOADED) {
        consumed(ctx);
    }
    ucp_stats_received(req->worker, UCP_STATS_RECV_TAG_MSGS, length);
    if ((status == UCS_OK) && (inline_data != NULL)) {
        ucp_tag_recv_complete(req, stag, inline_data, length);
    } else {
        finish(req, stag, length, status);
    }
}

/* Called if the interface has matched a receive with a message that completes
 * no receive (ucp_tag_rts_matched()). From now on only UCP matches this
 * receive, at its place in the order of receives. All others are cancelled in
 * the interface: it could match a later one with a message that this one has to
 * receive. */
static void give_back(ucp_request_t *req)
{
    ucp_tag_match_t *tm        = ucp_worker_tag(req->worker);
    ucp_tag_offload_t *offload = tm->offload;

    while (!ucs_list_is_empty(&offload->posted)) {
        ucp_tag_offload_cancel(offload, ucs_list_head(&offload->posted,
                                                      ucp_request_t, ep_link));
    }
    ucp_tag_expected_restore(tm, req);
}

/* Called when the interface has matched the receive with the announcement of a
 * rendezvous. */
static void announced(uct_tag_context_t *ctx, uct_tag_t stag,
                      const void *header, unsigned header_length,
                      ucs_status_t status, unsigned flags)
{
    ucp_request_t *req = request_of(ctx);

    if (req->flags & UCP_REQUEST_FLAG_OFFLOADED) {
        consumed(ctx);
    }
    if (status != UCS_OK) {
        finish(req, stag, 0, status);
    } else if (!ucp_tag_rts_matched(req, header, header_length)) {
        give_back(req);
    }
}

/* Returns non-zero if there may be an earlier receive that is not posted to the
 * interface and can match the same message as this one. */
static int is_overtaking(const ucp_tag_match_t *tm, const ucp_request_t *req)
{
    const ucp_tag_offload_t *offload = tm->offload;
    const ucp_tag_receives_t *exact  = &tm->expected.by_key[0];
    ucp_tag_t tag                    = ucp_recv_tag(req)->tag;
    ucs_queue_head_t *bucket;
    ucs_queue_iter_t iter;
    ucp_request_t *other;

    if (tm->expected.num_wild > offload->num_wild) {
        return 1;
    }
    if (ucp_recv_tag(req)->tag_mask != UCP_TAG_MASK_FULL) {
        return exact->count > offload->count - offload->num_wild;
    }
    bucket = &exact->buckets[ucp_tag_bucket(tag, exact->shift)];
    for (iter = ucs_queue_iter_begin(bucket); !ucs_queue_iter_end(bucket, iter);
         iter = ucs_queue_iter_next(iter)) {
        other = ucs_container_of(*iter, ucp_request_t, recv.queue);
        if ((ucp_recv_tag(other)->tag == tag) &&
            !(other->flags & UCP_REQUEST_FLAG_OFFLOADED)) {
            return 1;
        }
    }
    return 0;
}

/* Registers the buffer if the interface needs that. */
static ucs_status_t register_buffer(const ucp_tag_offload_t *offload,
                                    const ucp_request_t *req, uct_mem_h *memh_p)
{
    *memh_p = UCT_MEM_HANDLE_NULL;
    return (!offload->needs_memh || (req->dt.length == 0)) ?
               UCS_OK :
               ucp_md_register(offload->worker->context, offload->md_index,
                               req->dt.u.contig.buffer, req->dt.length,
                               UCS_MEMORY_TYPE_HOST,
                               UCT_MD_MEM_ACCESS_LOCAL_WRITE, 0, memh_p);
}

void ucp_tag_offload_post(ucp_tag_match_t *tm, ucp_request_t *req)
{
    ucp_tag_offload_t *offload = tm->offload;
    posted_t *posted           = posted_of(req);
    uct_iov_t iov;

    if (!offload->is_used || (req->dt.dt_class != UCP_DT_CLASS_CONTIG) ||
        (req->dt.length < offload->min_length) || is_overtaking(tm, req) ||
        (register_buffer(offload, req, &posted->memh) != UCS_OK)) {
        return;
    }
    posted->ctx.tag_consumed_cb = consumed;
    posted->ctx.completed_cb    = completed;
    posted->ctx.rndv_cb         = announced;

    iov = (uct_iov_t){
        .buffer = req->dt.u.contig.buffer,
        .length = req->dt.length,
        .memh   = posted->memh,
        .count  = 1,
    };
    req->flags |= UCP_REQUEST_FLAG_OFFLOADED;
    ucs_list_add_tail(&offload->posted, &req->ep_link);
    ++offload->count;
    offload->num_wild += (ucp_recv_tag(req)->tag_mask != UCP_TAG_MASK_FULL);
    if (uct_iface_tag_recv_zcopy(offload->iface, ucp_recv_tag(req)->tag,
                                 ucp_recv_tag(req)->tag_mask, &iov, 1,
                                 &posted->ctx) != UCS_OK) {
        release(offload, req);
    }
}

/* ------------------------------------------------ unexpected messages -- */

static ucs_status_t unexpected_eager(void *arg, void *data, size_t length,
                                     unsigned flags, uct_tag_t stag,
                                     uint64_t imm, void **context)
{
    ucp_worker_h worker = arg;

    if ((flags & UCT_CB_PARAM_FLAG_MORE) ||
        !(flags & UCT_CB_PARAM_FLAG_FIRST)) {
        ucs_error("a transport reports an unexpected tagged message in parts,"
                  " which transport.h does not permit");
        ucp_worker_lost(worker, "a tagged message", length);
        return UCS_OK;
    }
    ucp_stats_received(worker, UCP_STATS_RECV_TAG_MSGS, length);
    ucp_tag_eager_arrived(worker, stag, data, length);
    return UCS_OK;
}

static ucs_status_t unexpected_rndv(void *arg, unsigned flags, uint64_t stag,
                                    const void *header, unsigned header_length,
                                    uint64_t remote_addr, size_t length,
                                    const void *rkey_buf)
{
    return ucp_tag_rts_handler(arg, (void *)header, header_length, 0);
}

/* ----------------------------------------------------------- interfaces -- */

/* Sets the callbacks for each interface: whether it matches tags is known only
 * after it was opened. UCP_FEATURE_WAKEUP excludes tag offload (README.md). */
void ucp_tag_offload_layout(ucp_worker_h worker, uct_iface_params_t *params)
{
    if ((worker->context->features & UCP_FEATURE_WAKEUP) ||
        !(worker->context->features & UCP_FEATURE_TAG)) {
        return;
    }
    params->field_mask |= UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB |
                          UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_ARG |
                          UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_CB |
                          UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_ARG;
    params->eager_cb  = unexpected_eager;
    params->eager_arg = worker;
    params->rndv_cb   = unexpected_rndv;
    params->rndv_arg  = worker;
}

ucs_status_t ucp_tag_offload_iface_opened(ucp_worker_iface_t *wiface)
{
    ucp_worker_h worker  = wiface->worker;
    ucp_tag_match_t *tm  = ucp_worker_tag(worker);
    const size_t thresh  = worker->context->options.tm_thresh;
    const size_t minimum = wiface->attr->base.cap.tag.recv.min_recv;
    ucp_tag_offload_t *offload;
    ucs_status_t status;

    if ((wiface->lane.tag.max_bcopy == 0) || (tm->offload != NULL)) {
        return UCS_OK;
    }
    offload = calloc(1, sizeof(*offload));
    if (offload == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    offload->worker     = worker;
    offload->iface      = wiface->iface;
    offload->md_index   = wiface->lane.md_index;
    offload->md         = worker->context->mds[offload->md_index].md;
    offload->needs_memh = !!(wiface->lane.md_flags & UCT_MD_FLAG_NEED_MEMH);
    offload->min_length = ((thresh == SIZE_MAX) || (thresh < minimum)) ?
                              minimum :
                              thresh;
    ucs_list_head_init(&offload->posted);
    status = uct_iface_set_am_handler(wiface->iface, UCP_AM_ID_TAG_OFFLOAD,
                                      ucp_tag_offload_iface_handler, offload,
                                      0);
    if (status != UCS_OK) {
        /* The peers agree to tag offload by messages of this interface. It can
         * still be used for put and get. */
        ucs_debug("%s is not used for tag offload, because it does not receive"
                  " active messages: %s",
                  worker->context->resources[wiface->resource].tl_name,
                  ucs_status_string(status));
        memset(&wiface->lane.tag, 0, sizeof(wiface->lane.tag));
        free(offload);
        return UCS_OK;
    }
    tm->offload = offload;
    return UCS_OK;
}

void ucp_tag_offload_cleanup(ucp_worker_h worker)
{
    free(ucp_worker_tag(worker)->offload);
}
