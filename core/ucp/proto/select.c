/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fills the tables of an endpoint configuration: for messages and for the data
 * of rendezvous, and for each class of data and each size, the protocol with
 * the lowest cost within the user's thresholds.
 */
#include "ucp/proto/proto.h"

#include "ucp/base/class.h"
#include "ucp/base/config.h"
#include "ucp/base/worker.h"
#include "ucs/debug/assert.h"
#include "ucs/sys/math.h"

/* Asks a protocol for the sizes that it supports. Returns the number of
 * ranges. */
static unsigned query_ranges(const ucp_proto_t *proto,
                             const ucp_proto_query_t *query,
                             ucp_proto_range_t ranges[UCP_PROTO_MAX_RANGES])
{
    unsigned i;

    for (i = 0; i < UCP_PROTO_MAX_RANGES; ++i) {
        ranges[i] = (ucp_proto_range_t){.max = SIZE_MAX};
    }
    return proto->query(query, ranges);
}

/* Adds the ranges of a protocol to the list of candidates. Returns their
 * number. */
static unsigned query_proto(const ucp_proto_t *proto,
                            const ucp_proto_query_t *query,
                            ucp_proto_candidate_t *list)
{
    ucp_proto_range_t ranges[UCP_PROTO_MAX_RANGES];
    unsigned num = query_ranges(proto, query, ranges);
    unsigned i;

    for (i = 0; i < num; ++i) {
        list[i] = (ucp_proto_candidate_t){proto, ranges[i].min, ranges[i].max,
                                          ranges[i].time};
    }
    return num;
}

unsigned ucp_proto_list(const ucp_proto_query_t *query,
                        ucp_proto_candidate_t list[UCP_PROTO_MAX_CANDIDATES])
{
    const ucp_class_t *const *class;
    const ucp_proto_t *proto;
    unsigned count = 0;
    unsigned i;

    for (class = ucp_classes; *class != NULL; ++class) {
        for (i = 0; i < (*class)->num_protos; ++i) {
            proto = (*class)->protos[i];
            if (!(proto->ops & UCS_BIT(query->op)) ||
                (proto->flags & query->without)) {
                continue;
            }
            ucs_assert_always(count + UCP_PROTO_MAX_RANGES <=
                              UCP_PROTO_MAX_CANDIDATES);
            count += query_proto(proto, query, &list[count]);
        }
    }
    return count;
}

/* Preferred protocols get a cost of zero, so that they are selected for all
 * sizes that they support. A table of messages has a protocol for every size,
 * because rendezvous or eager fragments support any size. */
ucs_status_t ucp_proto_fill(const ucp_proto_query_t *query,
                            ucp_proto_table_t *table)
{
    ucp_proto_candidate_t list[UCP_PROTO_MAX_CANDIDATES];
    unsigned count = ucp_proto_list(query, list);
    unsigned i;

    for (i = 0; i < count; ++i) {
        if (list[i].proto->flags & query->prefer) {
            list[i].time = UCS_LINEAR_FUNC_ZERO;
        }
    }
    return ucp_proto_envelope(list, count, table);
}

ucs_linear_func_t ucp_proto_cost(const ucp_proto_query_t *query, size_t length)
{
    const ucp_proto_table_t *table =
        &query->config->tables[query->op][query->dt_class];
    ucp_proto_range_t ranges[UCP_PROTO_MAX_RANGES];
    unsigned num = query_ranges(ucp_proto_find(table, length), query, ranges);
    unsigned i;

    for (i = 0; (i + 1 < num) && (ranges[i].max < length); ++i) {
    }
    return ranges[i].time;
}

static int is_better(const ucp_proto_query_t *query, ucs_linear_func_t other,
                     size_t length)
{
    return ucs_linear_func_apply(ucp_proto_cost(query, length),
                                 (double)length) <=
           ucs_linear_func_apply(other, (double)length);
}

size_t ucp_proto_first_better(const ucp_proto_query_t *query,
                              ucs_linear_func_t other, size_t from)
{
    const size_t last = SIZE_MAX / 2;
    size_t worse      = from;
    size_t middle, better;

    if (is_better(query, other, from)) {
        return from;
    }
    for (better = 2 * from; !is_better(query, other, better); better *= 2) {
        if (better > last / 2) {
            return last;
        }
        worse = better;
    }
    while (better - worse > 1) {
        middle = worse + (better - worse) / 2;
        if (is_better(query, other, middle)) {
            better = middle;
        } else {
            worse = middle;
        }
    }
    return better;
}

int ucp_proto_always(const ucp_request_t *req)
{
    return 1;
}

ucp_request_t *ucp_proto_replied(ucp_worker_h worker, ucp_le32_t request,
                                 uint8_t reply)
{
    ucp_request_t *req = ucp_request_by_id(worker, ucp_le32_get(request));

    return ((req == NULL) || (req->flags & UCP_REQUEST_FLAG_RECV) ||
            (req->send.proto == NULL) || (req->send.proto->reply != reply)) ?
               NULL :
               req;
}

/* Returns the smallest size that is not sent as one short message. */
static size_t short_end(const ucp_ep_config_t *config, ucp_op_t op)
{
    const ucp_proto_step_t *first =
        config->tables[op][UCP_DT_CLASS_CONTIG].steps;

    return (first->proto->flags & UCP_PROTO_FLAG_SHORT) ? first->max + 1 : 0;
}

/* Fills the tables of an operation for all classes of data (ucp_dt_class_t). */
static ucs_status_t fill_classes(ucp_ep_config_t *config,
                                 ucp_proto_query_t *query)
{
    ucs_status_t status = UCS_OK;
    unsigned dt_class;

    for (dt_class = 0; (dt_class < UCP_DT_CLASS_LAST) && (status == UCS_OK);
         ++dt_class) {
        query->dt_class = (ucp_dt_class_t)dt_class;
        status = ucp_proto_fill(query, &config->tables[query->op][dt_class]);
    }
    return status;
}

/* Fills all tables of the configuration. Those for the data of rendezvous come
 * first, because the cost of a message by rendezvous includes the transfer of
 * its data. */
static ucs_status_t fill_tables(ucp_ep_config_t *config, size_t zcopy_thresh,
                                size_t rndv_thresh)
{
    ucp_proto_query_t data = {
        .op     = UCP_OP_RNDV,
        .config = config,
        .prefer = config->rndv_prefer,
    };
    const unsigned other_path = (config->tag_path == UCP_TAG_PATH_SLOTS) ?
                                    UCP_PROTO_FLAG_TAG_AM :
                                    UCP_PROTO_FLAG_TAG_SLOT;
    ucp_proto_query_t query   = {
          .config       = config,
          .zcopy_thresh = zcopy_thresh,
          .rndv_thresh  = rndv_thresh,
          .without      = other_path,
    };
    ucp_proto_query_t copied = {
        .dt_class     = UCP_DT_CLASS_CONTIG,
        .config       = config,
        .zcopy_thresh = UCP_PROTO_THRESH_NEVER,
        .rndv_thresh  = UCP_PROTO_THRESH_NEVER,
        .without      = UCP_PROTO_FLAG_SHORT | other_path,
    };
    ucs_status_t status = fill_classes(config, &data);
    unsigned op;

    for (op = 0; (op < UCP_OP_MESSAGE_LAST) && (status == UCS_OK); ++op) {
        query.op  = (ucp_op_t)op;
        copied.op = (ucp_op_t)op;
        status    = fill_classes(config, &query);
        if (status == UCS_OK) {
            status = ucp_proto_fill(&copied, &config->copied[op]);
        }
    }
    if (status == UCS_OK) {
        query.op          = UCP_OP_TAG_SEND;
        query.dt_class    = UCP_DT_CLASS_CONTIG;
        query.rndv_thresh = UCP_PROTO_THRESH_NEVER;
        status            = ucp_proto_fill(&query, &config->eager);
    }
    return status;
}

/* The limit of the user's header, which other protocols check, is also that of
 * a short message with its header: so it needs no check. */
static size_t am_short_end(const ucp_ep_config_t *config)
{
    size_t end   = short_end(config, UCP_OP_AM_SEND);
    size_t limit = ucp_ep_config_am(config)->max_bcopy;

    limit = (limit > UCP_AM_HEADER_RESERVE) ? limit - UCP_AM_HEADER_RESERVE : 0;
    return ucs_min(end, limit + 1);
}

ucs_status_t ucp_proto_select(ucp_ep_config_t *config, size_t zcopy_thresh,
                              size_t rndv_thresh)
{
    ucs_status_t status = fill_tables(config, zcopy_thresh, rndv_thresh);

    if (status != UCS_OK) {
        return status;
    }
    config->tag_short_end    = short_end(config, UCP_OP_TAG_SEND);
    config->am_short_end     = am_short_end(config);
    config->stream_short_max = short_end(config, UCP_OP_STREAM_SEND);
    if (config->stream_short_max > 0) {
        --config->stream_short_max;
    }
    return UCS_OK;
}
