/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects the protocols of messages.
 */
#include "ucp/proto/proto.h"

#include "ucp/base/class.h"
#include "ucp/base/worker.h"
#include "ucs/debug/assert.h"

/* The names of operations in messages, and their features. */
static const struct {
    const char *name;
    uint64_t   feature;
} ops[] = {
    [UCP_OP_TAG_SEND]      = {"tag_send",      UCP_FEATURE_TAG},
    [UCP_OP_TAG_SEND_SYNC] = {"tag_send_sync", UCP_FEATURE_TAG},
    [UCP_OP_AM_SEND]       = {"am_send",       UCP_FEATURE_AM},
    [UCP_OP_AM_SEND_REPLY] = {"am_send_reply", UCP_FEATURE_AM},
    [UCP_OP_STREAM_SEND]   = {"stream_send",   UCP_FEATURE_STREAM}
};

_Static_assert(sizeof(ops) / sizeof(ops[0]) == UCP_OP_MESSAGE_LAST,
               "all of them");

const char *ucp_proto_op_name(ucp_op_t op)
{
    return ops[op].name;
}

uint64_t ucp_proto_op_feature(ucp_op_t op)
{
    return ops[op].feature;
}

/* Adds the candidates of a protocol to the list; returns their number. */
static unsigned
query_proto(const ucp_proto_t *proto, const ucp_proto_query_t *query,
            ucp_proto_candidate_t *list)
{
    ucp_proto_range_t ranges[UCP_PROTO_MAX_RANGES];
    unsigned i, num;

    for (i = 0; i < UCP_PROTO_MAX_RANGES; ++i) {
        ranges[i] = (ucp_proto_range_t){.max = SIZE_MAX};
    }
    num = proto->query(query, ranges);
    for (i = 0; i < num; ++i) {
        list[i] = (ucp_proto_candidate_t){proto, ranges[i].min, ranges[i].max,
                                          ranges[i].time};
    }
    return num;
}

unsigned
ucp_proto_list(const ucp_proto_query_t *query,
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

/* For messages, rendezvous or eager fragments serve any size, so that each size
 * has a protocol. */
ucs_status_t
ucp_proto_fill(const ucp_proto_query_t *query, ucp_proto_table_t *table)
{
    ucp_proto_candidate_t list[UCP_PROTO_MAX_CANDIDATES];
    unsigned count = ucp_proto_list(query, list);

    return ucp_proto_envelope(list, count, table);
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
           NULL : req;
}

/* The end of the sizes that are sent as one short message. */
static size_t short_end(const ucp_ep_config_t *config, ucp_op_t op)
{
    const ucp_proto_step_t *first =
            config->tables[op][UCP_DT_CLASS_CONTIG].steps;

    return (first->proto->flags & UCP_PROTO_FLAG_SHORT) ? first->max + 1 : 0;
}

ucs_status_t ucp_proto_select(ucp_ep_config_t *config, size_t zcopy_thresh,
                              size_t rndv_thresh)
{
    ucp_proto_query_t query = {
        .config       = config,
        .zcopy_thresh = zcopy_thresh,
        .rndv_thresh  = rndv_thresh
    };
    ucp_proto_query_t copied = {
        .dt_class     = UCP_DT_CLASS_CONTIG,
        .config       = config,
        .zcopy_thresh = UCP_PROTO_THRESH_NEVER,
        .rndv_thresh  = UCP_PROTO_THRESH_NEVER,
        .without      = UCP_PROTO_FLAG_SHORT
    };
    ucs_status_t status;
    unsigned op, dt_class;

    for (op = 0; op < UCP_OP_MESSAGE_LAST; ++op) {
        copied.op = (ucp_op_t)op;
        status    = ucp_proto_fill(&copied, &config->copied[op]);
        if (status != UCS_OK) {
            return status;
        }
        for (dt_class = 0; dt_class < UCP_DT_CLASS_LAST; ++dt_class) {
            query.op       = (ucp_op_t)op;
            query.dt_class = (ucp_dt_class_t)dt_class;
            status = ucp_proto_fill(&query, &config->tables[op][dt_class]);
            if (status != UCS_OK) {
                return status;
            }
        }
    }

    config->tag_short_end    = short_end(config, UCP_OP_TAG_SEND);
    config->am_short_end     = short_end(config, UCP_OP_AM_SEND);
    config->stream_short_max = short_end(config, UCP_OP_STREAM_SEND);
    if (config->stream_short_max > 0) {
        --config->stream_short_max;
    }
    return UCS_OK;
}

void ucp_proto_print(const ucp_ep_config_t *config, const char *lane,
                     FILE *stream)
{
    unsigned num_classes = config->staged ? UCP_DT_CLASS_LAST :
                                            UCP_DT_CLASS_STAGED;
    unsigned op, dt_class;

    for (op = 0; op < UCP_OP_MESSAGE_LAST; ++op) {
        for (dt_class = 0; dt_class < num_classes; ++dt_class) {
            ucp_proto_print_table(&config->tables[op][dt_class], ops[op].name,
                                  dt_class, lane, stream);
        }
    }
    for (dt_class = 0; dt_class < num_classes; ++dt_class) {
        ucp_classes_print(config, dt_class, ucp_proto_class_name(dt_class),
                          lane, stream);
    }
}

void ucp_proto_describe(const char *name, ucp_worker_h worker, unsigned iface,
                        const char *range, char *text, size_t max)
{
    const ucp_resource_t *resource = ucp_worker_iface_resource(worker, iface);

    snprintf(text, max, " by %s over %s/%s%s", name, resource->tl_name,
             resource->dev_name, range);
}
