/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends eager messages in fragments (multi.h), for tagged and active messages,
 * by zero-copy or buffered copy. If the rest of a message cannot be sent,
 * notifies the receiver.
 */
#include "ucp/multi/multi.h"

#include "ucp/dt/dt.h"
#include "ucp/order/queue.h"
#include "ucp/proto/fragment.h"
#include "ucp/rndv/rndv.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

/* Maximum length in bytes of the header of a fragment by zero-copy: the header
 * is built on the stack. */
enum { MAX_ZCOPY_HEADER = 256 };

/* Assumed part of the messages that arrive before their receive is posted. The
 * receiver copies the data of these messages a second time. The sender cannot
 * know the part; programs that send large messages usually post the receives
 * early. UNEXPECTED_MEASURED: if a measured bandwidth (proto/measure.h) shows
 * that the peer runs at the same time. */
#define UNEXPECTED          0.25
#define UNEXPECTED_MEASURED 0.1

/* Maximum bytes of a message in fragments if the user sets no threshold: an
 * unexpected one needs as much memory at the receiver. */
enum { MAX_LENGTH = 256 * 1024 };

unsigned ucp_multi_query(const ucp_proto_query_t *query, size_t max_single,
                         ucp_proto_range_t *range)
{
    const size_t header     = sizeof(ucp_multi_fragment_t);
    const ucp_lane_am_t *am = ucp_ep_config_am(query->config);
    int zcopy = ucp_fragment_is_zcopy(query->config, query->dt_class, header);
    const ucp_lane_cost_t *cost = zcopy ? &am->cost_zcopy : &am->cost_bcopy;
    double fragment = (double)ucp_fragment_size(query->config, query->dt_class,
                                                header);
    double unexpected = (query->config->measured != 0) ? UNEXPECTED_MEASURED :
                                                         UNEXPECTED;
    size_t better, end;

    if (query->rndv_thresh == 0) {
        return 0;
    }

    /* Without the last term, a rendezvous in fragments could never cost
     * less. */
    range->time.c = UCP_PROTO_REQUEST_TIME + cost->pre + cost->post +
                    cost->latency + cost->recv +
                    ucp_lane_am_first(am, fragment);
    range->time.m = ucp_lane_am_stream(am) +
                    (cost->pre + cost->post + cost->recv) / fragment +
                    unexpected / UCP_PROTO_MEMCPY_BANDWIDTH;
    range->min = max_single + 1;
    if (query->rndv_thresh != UCP_PROTO_THRESH_NEVER) {
        better     = ucp_rndv_first_better(query, range->time, range->min);
        end        = (query->rndv_thresh == SIZE_MAX) ?
                         ucs_min(better, (size_t)MAX_LENGTH + 1) :
                         query->rndv_thresh;
        range->max = end - 1;
    }
    return range->min <= range->max;
}

/* Called when all fragments are posted and the transport has released the
 * buffer. The endpoint may already be freed. */
static void released(uct_completion_t *comp)
{
    ucp_request_t *req = ucs_container_of(comp, ucp_request_t, send.comp);

    ucp_send_multi(req)->class->end(req, comp->status);
}

static void posted(ucp_request_t *req, ucs_status_t status)
{
    ucp_send_multi(req)->posted = 1;
    ucp_request_posted(req, status);
}

ucs_status_t ucp_multi_send_init(ucp_request_t *req,
                                 const ucp_multi_class_t *class, uint32_t attr)
{
    ucp_multi_send_t *multi = ucp_send_multi(req);
    ucs_status_t status     = ucp_wireup_introduce(req->send.ep);

    req->send.comp.func   = released;
    /* One count for the send itself: ucp_request_posted() subtracts it when all
     * fragments are posted. */
    req->send.comp.count  = 1;
    req->send.comp.status = UCS_OK;
    multi->class          = class;
    multi->message        = ucp_ep_multi(req->send.ep)->next_message++;
    multi->begun          = 0;
    multi->posted         = 0;
    multi->copy           = !!(attr & UCP_PROTO_ATTR_SOON);
    return status;
}

void ucp_multi_send_abort(ucp_request_t *req, ucs_status_t status)
{
    if (ucp_send_multi(req)->posted) {
        uct_completion_update_status(&req->send.comp, status);
    } else {
        posted(req, status);
    }
}

/* Returns the number of bytes before the payload in the next fragment. */
static size_t header_size(const ucp_request_t *req)
{
    return sizeof(ucp_multi_fragment_t) +
           (ucp_send_multi(req)->begun ?
                0 :
                ucp_send_multi(req)->class->header_size(req));
}

static void pack_header(const ucp_request_t *req, void *dest)
{
    ucp_multi_send_t *multi        = ucp_send_multi(req);
    ucp_multi_fragment_t *fragment = dest;

    *fragment = (ucp_multi_fragment_t){
        .sender   = ucp_ep_wire_end(req->send.ep),
        .message  = ucp_le32(multi->message),
        .kind     = UCP_MULTI_NEXT,
        .position = ucp_le64(req->dt.offset),
    };
    if (!multi->begun) {
        fragment->kind     = multi->class->kind;
        fragment->position = ucp_le64(req->dt.length);
        multi->class->pack_header(req, fragment + 1);
    }
}

/* Returns the maximum payload of the next fragment in bytes. */
static size_t payload_max(const ucp_request_t *req, int zcopy)
{
    return ucp_fragment_limit(req->send.ep->config, zcopy, header_size(req));
}

static size_t pack(void *dest, void *arg)
{
    ucp_request_t *req = arg;
    size_t max         = payload_max(req, 0);
    size_t header      = header_size(req);

    pack_header(req, dest);
    return header + ucp_dt_iter_pack_all(&req->dt, (char *)dest + header, max);
}

static ucs_status_t zcopy_fragment(ucp_request_t *req)
{
    char header[MAX_ZCOPY_HEADER];

    pack_header(req, header);
    return ucp_fragment_zcopy(req, UCP_AM_ID_EAGER_FRAGMENT, header,
                              header_size(req), payload_max(req, 1));
}

static int is_zcopy(const ucp_request_t *req)
{
    size_t header = header_size(req);

    return !ucp_send_multi(req)->copy && (header <= MAX_ZCOPY_HEADER) &&
           ucp_fragment_is_zcopy(req->send.ep->config, req->dt.dt_class,
                                 header);
}

/* Completes a send with an error. If the first fragment was sent, the receiver
 * waits for the rest: also sends a fragment without payload, which ends the
 * receive. */
static void fail(ucp_request_t *req, ucs_status_t status)
{
    ucp_ep_h ep                  = req->send.ep;
    int begun                    = ucp_send_multi(req)->begun;
    ucp_multi_fragment_t failure = {
        .sender  = ucp_ep_wire_end(ep),
        .message = ucp_le32(ucp_send_multi(req)->message),
        .kind    = UCP_MULTI_NEXT,
    };

    posted(req, status); /* This may free the request */
    if (begun && (ucp_ep_send_control(ep, UCP_AM_ID_EAGER_FRAGMENT, &failure,
                                      sizeof(failure)) != UCS_OK)) {
        ucs_debug("ep %p: cannot notify the peer of a failed send", ep);
    }
}

ucs_status_t ucp_multi_send_progress(ucp_request_t *req)
{
    size_t before = req->dt.offset;
    ucs_status_t status;

    status = is_zcopy(req) ? zcopy_fragment(req) :
                             ucp_fragment_copy(req, UCP_AM_ID_EAGER_FRAGMENT,
                                               pack, payload_max(req, 0));
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    if (status == UCS_OK) {
        ucp_send_multi(req)->begun = 1;
    }
    status = ucp_fragment_check(req, before, status);
    if (status != UCS_OK) {
        fail(req, status);
        return UCS_OK;
    }
    if (req->dt.offset < req->dt.length) {
        return UCS_INPROGRESS;
    }
    posted(req, UCS_OK);
    return UCS_OK;
}
