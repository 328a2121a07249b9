/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text about protocols: the tables that show which protocol is selected for
 * each operation and size, and the description of the protocol that a request
 * uses.
 */
#include "ucp/proto/proto.h"

#include "ucp/base/worker.h"

/* The name of each operation in the output, and the feature that it needs. */
static const struct {
    const char *name;
    uint64_t feature;
    /* Number of characters at the start of the protocols' names that are
     * omitted in the output */
    size_t prefix;
} ops[] = {
    [UCP_OP_TAG_SEND]      = {"tag_send", UCP_FEATURE_TAG},
    [UCP_OP_TAG_SEND_SYNC] = {"tag_send_sync", UCP_FEATURE_TAG},
    [UCP_OP_AM_SEND]       = {"am_send", UCP_FEATURE_AM},
    [UCP_OP_AM_SEND_REPLY] = {"am_send_reply", UCP_FEATURE_AM},
    [UCP_OP_STREAM_SEND]   = {"stream_send", UCP_FEATURE_STREAM},
    [UCP_OP_RNDV]          = {"rndv data", 0, sizeof("rndv/") - 1},
    [UCP_OP_PUT]           = {"put", UCP_FEATURE_RMA},
    [UCP_OP_GET]           = {"get", UCP_FEATURE_RMA},
};

UCS_F_COLD const char *ucp_proto_op_name(ucp_op_t op)
{
    return ops[op].name;
}

uint64_t ucp_proto_op_feature(ucp_op_t op)
{
    return ops[op].feature;
}

static const char *class_name(unsigned dt_class)
{
    static const char *const names[] = {"contig", "iov", "generic", "staged"};

    return names[dt_class];
}

/* Writes the lanes among which the protocol divides the data, if there are
 * several. */
static void print_rails(const ucp_proto_t *proto, const ucp_ep_config_t *config,
                        unsigned dt_class, FILE *stream)
{
    const ucp_rails_t *rails = ((proto == NULL) || (proto->rails == NULL)) ?
                                   NULL :
                                   proto->rails(config, dt_class);
    char text[128];

    if ((rails != NULL) && (rails->num > 1)) {
        ucp_rails_describe(rails, text, sizeof(text));
        fprintf(stream, " %s", text);
    }
}

UCS_F_COLD void ucp_proto_print_table(const ucp_proto_table_t *table,
                                      ucp_op_t op, unsigned dt_class,
                                      const ucp_ep_config_t *config,
                                      const char *lanes, FILE *stream)
{
    const ucp_proto_step_t *step = table->steps;
    size_t start                 = 0;
    const char *name;
    char end[24];

    for (;; ++step) {
        name = (step->proto != NULL) ? step->proto->name + ops[op].prefix :
                                       "none";
        if (step->max == SIZE_MAX) {
            snprintf(end, sizeof(end), "inf");
        } else {
            snprintf(end, sizeof(end), "%zu", step->max);
        }
        if ((step->proto != NULL) || (step->max > 0)) {
            /* Operations without data need no protocol: omit their row. */
            fprintf(stream, "%-14s %-8s %10zu..%-10s %-*s%s", ops[op].name,
                    class_name(dt_class), start, end,
                    (lanes[0] == '\0') ? 0 : 17, name, lanes);
            print_rails(step->proto, config, dt_class, stream);
            fprintf(stream, "\n");
        }
        if (step->max == SIZE_MAX) {
            return;
        }
        start = step->max + 1;
    }
}

UCS_F_COLD void ucp_proto_print(const ucp_ep_config_t *config, const char *lane,
                                FILE *stream)
{
    unsigned num_classes = config->staged ? UCP_DT_CLASS_LAST :
                                            UCP_DT_CLASS_STAGED;
    unsigned op, dt_class;

    for (op = 0; op < UCP_OP_EP_LAST; ++op) {
        for (dt_class = 0; dt_class < num_classes; ++dt_class) {
            ucp_proto_print_table(&config->tables[op][dt_class], (ucp_op_t)op,
                                  dt_class, config, lane, stream);
        }
    }
}

UCS_F_COLD void ucp_proto_describe(const char *name, ucp_worker_h worker,
                                   unsigned iface, const char *range,
                                   char *text, size_t max)
{
    const ucp_resource_t *resource = ucp_worker_iface_resource(worker, iface);

    snprintf(text, max, " by %s over %s/%s%s", name, resource->tl_name,
             resource->dev_name, range);
}
