/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lower envelope of the protocols' costs.
 */
#include "ucp/proto/proto.h"

#include "ucp/base/class.h"
#include "ucp/base/worker.h"
#include "ucs/datastruct/piecewise_func.h"
#include "ucs/debug/assert.h"

#include <stdlib.h>

/* More protocols than all classes have. */
enum { MAX_PROTOS = 24 };

/* Writes the protocols of all classes and returns their number. */
static unsigned list_protos(const ucp_proto_t *protos[MAX_PROTOS])
{
    const ucp_class_t *const *class;
    unsigned count = 0;
    unsigned i;

    for (class = ucp_classes; *class != NULL; ++class) {
        ucs_assert_always(count + (*class)->num_protos <= MAX_PROTOS);
        for (i = 0; i < (*class)->num_protos; ++i) {
            protos[count++] = (*class)->protos[i];
        }
    }
    return count;
}

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

_Static_assert(sizeof(ops) / sizeof(ops[0]) == UCP_OP_LAST, "all of them");

const char *ucp_proto_op_name(ucp_op_t op)
{
    return ops[op].name;
}

uint64_t ucp_proto_op_feature(ucp_op_t op)
{
    return ops[op].feature;
}

/* Copies the envelope into the table. The last row covers the entries that
 * exceed the table. */
static void fill_table(const ucp_proto_t *const *protos,
                       const ucs_envelope_entry_t *entries, unsigned count,
                       ucp_proto_table_t *table)
{
    unsigned rows = 0;
    unsigned i;

    for (i = 0; i < count; ++i) {
        /* Rendezvous or eager fragments serve any size. */
        ucs_assert_always(entries[i].index < MAX_PROTOS);
        if ((rows == UCP_PROTO_MAX_STEPS - 1) && (i < count - 1)) {
            continue;
        }
        table->steps[rows].proto = protos[entries[i].index];
        table->steps[rows].max   = entries[i].end;
        ++rows;
    }
}

static ucs_status_t
select_table(const ucp_proto_query_t *query, ucp_proto_table_t *table)
{
    const ucs_piecewise_func_t *funcs[MAX_PROTOS] = {NULL};
    const ucp_proto_t *protos[MAX_PROTOS];
    unsigned num_protos = list_protos(protos);
    ucs_piecewise_func_t costs[MAX_PROTOS];
    size_t ranges[MAX_PROTOS][2];
    ucs_envelope_entry_t *entries;
    ucp_proto_range_t range;
    ucs_status_t status = UCS_OK;
    unsigned i, count;

    for (i = 0; (i < num_protos) && (status == UCS_OK); ++i) {
        range.min = 0;
        range.max = SIZE_MAX;
        if (!protos[i]->query(query, &range)) {
            continue;
        }
        status = ucs_piecewise_func_init(&costs[i]);
        if (status == UCS_OK) {
            funcs[i]     = &costs[i];
            ranges[i][0] = range.min;
            ranges[i][1] = range.max;
            status = ucs_piecewise_func_add_range(&costs[i], 0, SIZE_MAX,
                                                  range.time);
        }
    }

    if (status == UCS_OK) {
        status = ucs_piecewise_envelope(funcs, ranges, num_protos, &entries,
                                        &count);
    }
    if (status == UCS_OK) {
        fill_table(protos, entries, count, table);
        free(entries);
    }
    for (i = 0; i < num_protos; ++i) {
        if (funcs[i] != NULL) {
            ucs_piecewise_func_cleanup(&costs[i]);
        }
    }
    return status;
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
    ucs_status_t status;
    unsigned op, dt_class;

    for (op = 0; op < UCP_OP_LAST; ++op) {
        for (dt_class = 0; dt_class < UCP_DT_CLASS_LAST; ++dt_class) {
            query.op       = (ucp_op_t)op;
            query.dt_class = (ucp_dt_class_t)dt_class;
            status = select_table(&query, &config->tables[op][dt_class]);
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
    static const char *const classes[] = {"contig", "iov", "generic",
                                          "staged"};
    unsigned num_classes = config->staged ? UCP_DT_CLASS_LAST :
                                            UCP_DT_CLASS_STAGED;
    unsigned op, dt_class;

    for (op = 0; op < UCP_OP_LAST; ++op) {
        for (dt_class = 0; dt_class < num_classes; ++dt_class) {
            const ucp_proto_step_t *step = config->tables[op][dt_class].steps;
            size_t start                 = 0;

            for (;; ++step) {
                if (step->max == SIZE_MAX) {
                    fprintf(stream, "%-14s %-8s %10zu..inf        %-16s %s\n",
                            ops[op].name, classes[dt_class], start,
                            step->proto->name, lane);
                    break;
                }
                fprintf(stream, "%-14s %-8s %10zu..%-10zu %-16s %s\n",
                        ops[op].name, classes[dt_class], start, step->max, step->proto->name,
                        lane);
                start = step->max + 1;
            }
        }
    }
    for (dt_class = 0; dt_class < num_classes; ++dt_class) {
        ucp_classes_print(config, dt_class, classes[dt_class], lane, stream);
    }
}

void ucp_proto_describe(const char *name, ucp_worker_h worker, unsigned iface,
                        const char *range, char *text, size_t max)
{
    const ucp_resource_t *resource = ucp_worker_iface_resource(worker, iface);

    snprintf(text, max, " by %s over %s/%s%s", name, resource->tl_name,
             resource->dev_name, range);
}
