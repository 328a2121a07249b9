/* SPDX-License-Identifier: BSD-3-Clause */
/* See entry.h. */
#include "ucp/learn/entry.h"

#include "ucp/rndv/rndv.h"
#include "ucs/sys/math.h"

#include <stdlib.h>

static int is_rma(ucp_op_t op)
{
    return (op == UCP_OP_PUT) || (op == UCP_OP_GET);
}

const char *ucp_learn_method_name(ucp_op_t op, unsigned method)
{
    static const char *const names[UCP_LEARN_METHODS] = {
        "eager",
        "rndv/get",
        "rndv/put",
        "rndv/am",
    };

    return !is_rma(op)              ? names[method] :
           (method == UCP_LEARN_AM) ? "messages" :
                                      "zcopy";
}

const uint16_t ucp_learn_method_flags[UCP_LEARN_METHODS] = {
    [UCP_LEARN_GET] = UCP_PROTO_FLAG_GET,
    [UCP_LEARN_PUT] = UCP_PROTO_FLAG_PUT,
    [UCP_LEARN_AM]  = UCP_PROTO_FLAG_MESSAGES,
};

unsigned ucp_learn_method_of(const ucp_proto_t *data)
{
    return (data->flags & UCP_PROTO_FLAG_GET) ? UCP_LEARN_GET :
           (data->flags & UCP_PROTO_FLAG_PUT) ? UCP_LEARN_PUT :
                                                UCP_LEARN_AM;
}

ucp_learn_entry_t *ucp_learn_entry_get(ucp_learn_entry_t **list,
                                       const ucp_ep_config_t *config,
                                       ucp_op_t op, const void *lanes)
{
    ucp_learn_entry_t **link = list;
    ucp_learn_entry_t *entry;

    while (((entry = *link) != NULL) &&
           ((entry->config != config) || (entry->op != op) ||
            (entry->lanes != lanes))) {
        link = &entry->next;
    }
    if (entry != NULL) {
        *link = entry->next;
    } else {
        entry = calloc(1, sizeof(*entry));
        if (entry == NULL) {
            return NULL;
        }
        entry->config = config;
        entry->op     = op;
        entry->lanes  = lanes;
    }
    entry->next = *list;
    *list       = entry;
    return entry;
}

unsigned ucp_learn_size_class(size_t length)
{
    unsigned log = ucs_ilog2(length);

    return (log >= UCP_LEARN_MIN_LOG + UCP_LEARN_CLASSES) ?
               UCP_LEARN_CLASSES - 1 :
               log - UCP_LEARN_MIN_LOG;
}

/* Returns the methods that are possible for all sizes of a class. */
static unsigned possible_methods(const ucp_learn_entry_t *entry, unsigned class)
{
    const size_t first      = (size_t)1 << (class + UCP_LEARN_MIN_LOG);
    const size_t last       = 2 * first - 1;
    ucp_proto_query_t query = {
        .op       = UCP_OP_RNDV,
        .dt_class = UCP_DT_CLASS_CONTIG,
        .config   = entry->config,
    };
    ucp_proto_candidate_t list[UCP_PROTO_MAX_CANDIDATES];
    unsigned count    = ucp_proto_list(&query, list);
    unsigned methods  = ((entry->op == UCP_OP_TAG_SEND) &&
                        (class < UCP_LEARN_EAGER_END)) ?
                            UCS_BIT(UCP_LEARN_EAGER) :
                            0;
    unsigned at_first = 0, at_last = 0;
    unsigned i;

    for (i = 0; i < count; ++i) {
        unsigned method = UCS_BIT(ucp_learn_method_of(list[i].proto));

        at_first |= ((list[i].min <= first) && (list[i].max >= first)) ?
                        method :
                        0;
        at_last |= ((list[i].min <= last) && (list[i].max >= last)) ? method :
                                                                      0;
    }
    return methods | (at_first & at_last);
}

ucp_learn_t *ucp_learn_entry_of(ucp_learn_entry_t *entry, ucp_learn_load_t load,
                                size_t length, unsigned first)
{
    unsigned class        = ucp_learn_size_class(length);
    ucp_learn_t **learn_p = &entry->of[load][class];
    unsigned methods;

    if (*learn_p == NULL) {
        *learn_p = malloc(sizeof(**learn_p));
        if (*learn_p == NULL) {
            return NULL;
        }
        methods = (entry->op == UCP_OP_PUT) ?
                      UCS_BIT(UCP_LEARN_PUT) | UCS_BIT(UCP_LEARN_AM) :
                  (entry->op == UCP_OP_GET) ?
                      UCS_BIT(UCP_LEARN_GET) | UCS_BIT(UCP_LEARN_AM) :
                      possible_methods(entry, class) | UCS_BIT(first);
        ucp_learn_init(*learn_p,
                       (load == UCP_LEARN_STREAM) ? &ucp_learn_plan_series :
                                                    &ucp_learn_plan_alone,
                       methods, first);
    }
    return *learn_p;
}

static void print_learn(const ucp_learn_t *learn, ucp_op_t op,
                        ucp_learn_load_t load, unsigned class, FILE *stream)
{
    unsigned i;

    fprintf(stream, "# learnt: %-14s %7zu KiB%s: %s", ucp_proto_op_name(op),
            (size_t)1 << (class + UCP_LEARN_MIN_LOG - 10),
            (load == UCP_LEARN_STREAM) ? " in streams" : "",
            ucp_learn_method_name(op, learn->best));
    for (i = 0; i < UCP_LEARN_METHODS; ++i) {
        if (learn->method[i].count > 0) {
            fprintf(stream, ", %s %.2f GB/s", ucp_learn_method_name(op, i),
                    1e-9 / ucp_learn_time(learn, i));
        }
    }
    fprintf(stream, "; %u %s\n", learn->count,
            (load == UCP_LEARN_STREAM) ? "series" : "messages");
}

void ucp_learn_entry_print(const ucp_learn_entry_t *entry, FILE *stream)
{
    unsigned load, class;

    for (load = 0; load < UCP_LEARN_LOADS; ++load) {
        for (class = 0; class < UCP_LEARN_CLASSES; ++class) {
            if (entry->of[load][class] != NULL) {
                print_learn(entry->of[load][class], entry->op,
                            (ucp_learn_load_t)load, class, stream);
            }
        }
    }
}

void ucp_learn_entry_free(ucp_learn_entry_t *entry)
{
    unsigned load, class;

    for (load = 0; load < UCP_LEARN_LOADS; ++load) {
        for (class = 0; class < UCP_LEARN_CLASSES; ++class) {
            free(entry->of[load][class]);
        }
    }
    free(entry);
}
