/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lower envelope of the protocols' costs.
 */
#include "ucp/proto/proto.h"

#include "ucs/debug/assert.h"

#include <math.h>

static const ucp_proto_t *const all_protos[] = {
    &ucp_proto_tag_eager_short,
    &ucp_proto_tag_eager_bcopy,
    &ucp_proto_tag_eager_zcopy,
    &ucp_proto_tag_rndv
};

enum { NUM_PROTOS = sizeof(all_protos) / sizeof(all_protos[0]) };

static double time_at(const ucp_proto_range_t *range, size_t length)
{
    return range->time.c + range->time.m * (double)length;
}

/* The cheapest at `length`; of two equal ones the one that grows slower. */
static int best_at(const ucp_proto_range_t *ranges, unsigned valid,
                   size_t length)
{
    int best = -1;
    int i;

    for (i = 0; i < NUM_PROTOS; ++i) {
        if (!(valid & (1u << i)) || (length < ranges[i].min) ||
            (length > ranges[i].max)) {
            continue;
        }
        if ((best < 0) ||
            (time_at(&ranges[i], length) < time_at(&ranges[best], length)) ||
            ((time_at(&ranges[i], length) ==
              time_at(&ranges[best], length)) &&
             (ranges[i].time.m < ranges[best].time.m))) {
            best = i;
        }
    }
    return best;
}

/* The largest length, from `length` on, at which the choice `best` cannot have
 * changed yet: its range ends, another's begins, or another gets cheaper. */
static size_t choice_end(const ucp_proto_range_t *ranges, unsigned valid,
                         int best, size_t length)
{
    size_t end = ranges[best].max;
    double slope, crossing;
    int i;

    for (i = 0; i < NUM_PROTOS; ++i) {
        if (!(valid & (1u << i)) || (i == best) || (ranges[i].max <= length)) {
            continue;
        }
        if (ranges[i].min > length) {
            end = (ranges[i].min - 1 < end) ? ranges[i].min - 1 : end;
            continue;
        }
        slope = ranges[best].time.m - ranges[i].time.m;
        if (slope <= 0) {
            continue;
        }
        crossing = floor((ranges[i].time.c - ranges[best].time.c) / slope);
        if (crossing < (double)end) {
            end = (crossing > (double)length) ? (size_t)crossing : length;
        }
    }
    return end;
}

static void select_table(const ucp_proto_query_t *query,
                         ucp_proto_table_t *table)
{
    ucp_proto_range_t ranges[NUM_PROTOS];
    unsigned valid = 0;
    unsigned count = 0;
    size_t length  = 0;
    int i, best;

    for (i = 0; i < NUM_PROTOS; ++i) {
        ranges[i].min = 0;
        ranges[i].max = SIZE_MAX;
        if (all_protos[i]->query(query, &ranges[i])) {
            valid |= 1u << i;
        }
    }

    /* Rendezvous over active messages carries any size and datatype, so that
     * there always is a choice; too many steps end in the last one's. */
    for (;;) {
        size_t end;

        best = best_at(ranges, valid, length);
        ucs_assert_always(best >= 0);
        end = choice_end(ranges, valid, best, length);
        if ((count > 0) && (table->steps[count - 1].proto == all_protos[best])) {
            --count;
        }
        if (count == UCP_PROTO_MAX_STEPS - 1) {
            /* the last row must hold for all sizes */
            best = best_at(ranges, valid, SIZE_MAX);
            end  = SIZE_MAX;
        }
        table->steps[count].proto = all_protos[best];
        table->steps[count].max   = end;
        ++count;
        if (end == SIZE_MAX) {
            break;
        }
        length = end + 1;
    }
}

void ucp_proto_select(ucp_ep_config_t *config, size_t zcopy_thresh,
                      size_t rndv_thresh)
{
    ucp_proto_query_t query = {
        .config       = config,
        .zcopy_thresh = zcopy_thresh,
        .rndv_thresh  = rndv_thresh
    };
    const ucp_proto_step_t *first;
    unsigned op, dt_class;

    for (op = 0; op < UCP_OP_LAST; ++op) {
        for (dt_class = 0; dt_class < UCP_DT_CLASS_LAST; ++dt_class) {
            query.op       = (ucp_op_t)op;
            query.dt_class = (ucp_dt_class_t)dt_class;
            select_table(&query, &config->tables[op][dt_class]);
        }
    }

    first = config->tables[UCP_OP_TAG_SEND][UCP_DT_CLASS_CONTIG].steps;
    config->tag_short_end = (first->proto == &ucp_proto_tag_eager_short) ?
                            first->max + 1 : 0;
}

void ucp_proto_print(const ucp_ep_config_t *config, const char *lane,
                     FILE *stream)
{
    static const char *const ops[]     = {"tag_send", "tag_send_sync"};
    static const char *const classes[] = {"contig", "iov", "generic"};
    unsigned op, dt_class;

    for (op = 0; op < UCP_OP_LAST; ++op) {
        for (dt_class = 0; dt_class < UCP_DT_CLASS_LAST; ++dt_class) {
            const ucp_proto_step_t *step = config->tables[op][dt_class].steps;
            size_t start                 = 0;

            for (;; ++step) {
                if (step->max == SIZE_MAX) {
                    fprintf(stream, "%-14s %-8s %10zu..inf        %-16s %s\n",
                            ops[op], classes[dt_class], start,
                            step->proto->name, lane);
                    break;
                }
                fprintf(stream, "%-14s %-8s %10zu..%-10zu %-16s %s\n", ops[op],
                        classes[dt_class], start, step->max, step->proto->name,
                        lane);
                start = step->max + 1;
            }
        }
    }
}
