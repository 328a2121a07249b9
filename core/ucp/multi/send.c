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
#include "ucs/sys/cycles.h"
#include "ucs/sys/math.h"

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

/* Returns the time of a message whose fragments have `fragment` bytes. */
static ucs_linear_func_t multi_time(const ucp_proto_query_t *query, int zcopy,
                                    double fragment)
{
    const ucp_lane_am_t *am     = ucp_ep_config_am(query->config);
    const ucp_lane_cost_t *cost = zcopy ? &am->cost_zcopy : &am->cost_bcopy;
    double unexpected = (query->config->measured != 0) ? UNEXPECTED_MEASURED :
                                                         UNEXPECTED;

    /* Without the last term, a rendezvous in fragments could never cost
     * less. */
    return ucs_linear_func_make(UCP_PROTO_REQUEST_TIME + cost->pre +
                                    cost->post + cost->latency + cost->recv +
                                    ucp_lane_am_first(am, fragment),
                                ucp_lane_am_stream(am) +
                                    (cost->pre + cost->post + cost->recv +
                                     ucp_lane_am_fragment(am)) /
                                        fragment +
                                    unexpected / UCP_PROTO_MEMCPY_BANDWIDTH);
}

/* Returns the minimum length of messages in fragments. Where a message of the
 * transport by zero-copy is longer than one by buffered copy, fragments of the
 * smaller size compete with it, unless the user has set from which size on
 * messages are sent by zero-copy. */
static size_t first_length(const ucp_proto_query_t *query, size_t limit,
                           size_t max_single)
{
    size_t copied = ucp_ep_config_am(query->config)->max_bcopy;

    return ((copied < max_single) && (query->zcopy_thresh == SIZE_MAX) &&
            (ucp_fragment_best(query->config, limit, copied) <= copied)) ?
               copied + 1 :
               max_single + 1;
}

/* Ends a range at the user's threshold of rendezvous, or where a rendezvous
 * costs less. Returns zero if that is before the end of the range. */
static int limit(const ucp_proto_query_t *query, ucp_proto_range_t *range)
{
    size_t end = query->rndv_thresh;

    if (end == UCP_PROTO_THRESH_NEVER) {
        return 1;
    }
    if (end == SIZE_MAX) {
        end = ucs_min(ucp_rndv_first_better(query, range->time, range->min),
                      (size_t)MAX_LENGTH + 1);
    }
    if (end > range->max) {
        return 1;
    }
    range->max = end - 1;
    return 0;
}

unsigned ucp_multi_query(const ucp_proto_query_t *query, size_t max_single,
                         ucp_proto_range_t *ranges)
{
    const ucp_ep_config_t *config = query->config;
    const size_t header           = sizeof(ucp_multi_fragment_t);
    int zcopy   = ucp_fragment_is_zcopy(config, query->dt_class, header);
    size_t most = ucp_fragment_limit(config, zcopy, header);
    size_t from = first_length(query, most, max_single);
    ucp_proto_range_t *range = ranges;

    if (query->rndv_thresh == 0) {
        return 0;
    }
    for (;; ++range) {
        range->min  = from;
        range->max  = ucp_fragment_last(config, most, from);
        range->time = multi_time(query, zcopy,
                                 (double)ucp_fragment_best(config, most, from));
        if (!limit(query, range) || (range->max == SIZE_MAX)) {
            return (unsigned)(range - ranges) + (range->min <= range->max);
        }
        from = range->max + 1;
    }
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

/* The peer cannot have answered the last message if less than the time of 1.5
 * copies of this one has passed: a message takes the time of two copies, or
 * somewhat less in fragments. In a stream the time between two messages is that
 * of one. */
uint32_t ucp_multi_attr(const ucp_request_t *req, uint32_t attr)
{
    ucp_multi_ep_t *multi = ucp_ep_multi(req->send.ep);
    double stream         = ucp_ep_config_am(req->send.ep->config)->stream;
    uint64_t last         = multi->sent_at;

    if (stream <= 0) {
        return attr;
    }
    multi->sent_at = ucs_cycles();
    return ((double)(multi->sent_at - last) * stream <
            1.5 * (double)req->dt.length * ucs_cycles_per_sec()) ?
               (attr | UCP_OP_ATTR_FLAG_MULTI_SEND) :
               attr;
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
    multi->fragment       = (attr & UCP_OP_ATTR_FLAG_MULTI_SEND) ?
                                UINT32_MAX :
                                (uint32_t)ucp_fragment_best(req->send.ep->config,
                                                            UINT32_MAX,
                                                            req->dt.length);
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
        fragment->lead     = (uint8_t)req->lead;
        fragment->position = ucp_le64(req->dt.length);
        multi->class->pack_header(req, fragment + 1);
    }
}

/* Returns the maximum payload of the next fragment in bytes. */
static size_t payload_max(const ucp_request_t *req, int zcopy)
{
    return ucs_min(ucp_fragment_limit(req->send.ep->config, zcopy,
                                      header_size(req)),
                   ucp_send_multi(req)->fragment);
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
