/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp_learn_entry_t: what is learnt for the endpoints of one configuration and
 * one operation, by class of sizes (entry.h). Finds out which methods are
 * possible, and how fast they are expected to be. */
#include "ucp/learn/entry.h"

#include "ucp/learn/exchange.h"
#include "ucp/learn/live.h"
#include "ucp/learn/stream.h"
#include "ucp/rndv/rndv.h"
#include "ucs/sys/math.h"

#include <stdlib.h>
#include <string.h>

/* How many smaller and larger classes of sizes are searched for earlier
 * results. Each class has half the size of the next one: 4 classes are sizes
 * from a sixteenth to 16 times */
enum { NEAR_CLASSES = 4 };

/* Bytes of the transfers in the warm-up of messages: the default of
 * UCX_POSIX_RING_SIZE, the largest buffer of a transport between two processes.
 * MAX_WARM: limit of their number. */
#define WARM_BYTES (2ul << 20)
enum { MAX_WARM = 32 };

/* Eager messages and fragments of a rendezvous are alike (ucp_learn_t). */
enum { ALIKE = UCS_BIT(UCP_LEARN_EAGER) | UCS_BIT(UCP_LEARN_AM) };

/* A stream begins with a put or get if it is expected to take less than this
 * many times as long as messages: as a rendezvous in fragments, or as eager
 * messages, which are estimated as single ones. */
#define SIMILAR       1.25
#define SIMILAR_EAGER 1.5

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

const char *ucp_learn_load_name(ucp_learn_load_t load)
{
    static const char *const names[UCP_LEARN_LOADS] = {
        [UCP_LEARN_ALONE]    = "",
        [UCP_LEARN_STREAM]   = " in streams",
        [UCP_LEARN_BOTH]     = " in streams both ways",
        [UCP_LEARN_EXCHANGE] = " in exchanges",
    };

    return names[load];
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

/* If the protocol of the candidate supports all sizes from `first` to `last`
 * bytes, adds its method to *methods_p and its estimated time for `first` bytes
 * to `times`, in seconds per byte. */
static void add_candidate(const ucp_proto_candidate_t *candidate, size_t first,
                          size_t last, unsigned *methods_p, double *times)
{
    unsigned method = ucp_learn_method_of(candidate->proto);

    if ((candidate->min <= first) && (candidate->max >= last)) {
        *methods_p |= UCS_BIT(method);
        times[method] = ucs_linear_func_apply(candidate->time, (double)first) /
                        (double)first;
    }
}

/* Returns the methods by which the data of a rendezvous can be moved for all
 * sizes of a class (bits by UCP_LEARN_*). Sets `times` to their estimated times
 * for the smallest size of the class, in seconds per byte, 0 if a method is not
 * possible; for UCP_LEARN_EAGER the time of UCP_LEARN_AM. The caller also uses
 * these times for put and get, which move data in the same ways. */
static unsigned possible_methods(const ucp_learn_entry_t *entry, unsigned class,
                                 double times[UCP_LEARN_METHODS])
{
    const size_t first      = (size_t)1 << (class + UCP_LEARN_MIN_LOG);
    /* The last class contains all longer transfers. */
    const size_t last       = (class + 1 < UCP_LEARN_CLASSES) ? 2 * first - 1 :
                                                                SIZE_MAX;
    ucp_proto_query_t query = {
        .op       = UCP_OP_RNDV,
        .dt_class = UCP_DT_CLASS_CONTIG,
        .config   = entry->config,
    };
    ucp_proto_candidate_t list[UCP_PROTO_MAX_CANDIDATES];
    unsigned count   = ucp_proto_list(&query, list);
    unsigned methods = 0;
    unsigned i;

    memset(times, 0, UCP_LEARN_METHODS * sizeof(*times));
    for (i = 0; i < count; ++i) {
        add_candidate(&list[i], first, last, &methods, times);
    }
    times[UCP_LEARN_EAGER] = times[UCP_LEARN_AM];
    if ((entry->op == UCP_OP_TAG_SEND) && (class < UCP_LEARN_EAGER_END)) {
        methods |= UCS_BIT(UCP_LEARN_EAGER);
    }
    return methods;
}

/* Returns the results of a class for transfers that are alone; NULL if there is
 * no such class, or if fewer than two methods were timed. */
static const ucp_learn_t *results_of(const ucp_learn_entry_t *entry,
                                     unsigned class)
{
    const ucp_learn_t *learn = (class < UCP_LEARN_CLASSES) ?
                                   entry->of[UCP_LEARN_ALONE][class] :
                                   NULL;

    return ((learn != NULL) &&
            (ucp_learn_reason(learn) != UCP_LEARN_ESTIMATED)) ?
               learn :
               NULL;
}

/* Returns the results of the nearest class that has any, of two equally near
 * ones the smaller; NULL if there are none. */
static const ucp_learn_t *nearest(const ucp_learn_entry_t *entry,
                                  unsigned class)
{
    const ucp_learn_t *found = NULL;
    unsigned distance;

    for (distance = 1; (found == NULL) && (distance <= NEAR_CLASSES);
         ++distance) {
        if (distance <= class) {
            found = results_of(entry, class - distance);
        }
        if (found == NULL) {
            found = results_of(entry, class + distance);
        }
    }
    return found;
}

/* Replaces the estimates by the results for another class of sizes, in seconds
 * per byte. Estimates of methods that were not timed there remain in the same
 * relation to the selected one. Returns the method that is selected there, or
 * `first` if it is not possible here. */
static unsigned expect_as(const ucp_learn_t *other, unsigned methods,
                          unsigned first, double *expected)
{
    unsigned best = ((other->best == UCP_LEARN_EAGER) &&
                     !(methods & UCS_BIT(UCP_LEARN_EAGER))) ?
                        UCP_LEARN_AM :
                        other->best;
    double time, scale;
    unsigned i;

    time  = ucp_learn_time(other, other->best);
    scale = (expected[best] > 0) ? time / expected[best] : 0;
    for (i = 0; i < UCP_LEARN_METHODS; ++i) {
        time        = ucp_learn_time(other, i);
        expected[i] = (time > 0) ? time : expected[i] * scale;
    }
    return (methods & UCS_BIT(best)) ? best : first;
}

static unsigned methods_of(const ucp_learn_entry_t *entry, unsigned possible)
{
    return (entry->op == UCP_OP_PUT) ?
               UCS_BIT(UCP_LEARN_PUT) | UCS_BIT(UCP_LEARN_AM) :
           (entry->op == UCP_OP_GET) ?
               UCS_BIT(UCP_LEARN_GET) | UCS_BIT(UCP_LEARN_AM) :
               possible;
}

/* Returns the entry with results for the same operation, load and class of
 * sizes, of the variant of the configuration that was used last: an endpoint's
 * configuration is replaced by a variant of it when, for example, a measured
 * bandwidth changes. Returns NULL if there is none. `entry`: the head of the
 * list, which is in the order of use. */
static const ucp_learn_entry_t *previous(const ucp_learn_entry_t *entry,
                                         ucp_learn_load_t load, unsigned class)
{
    const ucp_learn_entry_t *other;

    for (other = entry->next; other != NULL; other = other->next) {
        if ((other->op == entry->op) && (other->lanes == entry->lanes) &&
            (other->config->whole == entry->config->whole) &&
            (other->of[load][class] != NULL)) {
            return other;
        }
    }
    return NULL;
}

/* Returns whether the search of a new configuration begins with the results of
 * `before`, of the entry `other`: if the configuration of the endpoint was
 * replaced and several methods were timed. Measured bandwidths change by noise,
 * too; if the processes have migrated, the times of the transfers show it. */
static int is_continued(const ucp_learn_entry_t *other,
                        const ucp_learn_t *before, const ucp_ep_h ep)
{
    return (other->last_ep == ep) &&
           (ucp_learn_reason(before) != UCP_LEARN_ESTIMATED);
}

/* Begins a search with the results of the configuration that the endpoint had
 * before. */
static void take_over(ucp_learn_t *learn, const ucp_learn_entry_t *entry,
                      const ucp_ep_h ep, ucp_learn_load_t load, unsigned class)
{
    const ucp_learn_entry_t *other = previous(entry, load, class);

    if ((other != NULL) && is_continued(other, other->of[load][class], ep)) {
        ucp_learn_continue(learn, other->of[load][class]);
    }
}

/* Lengthens the warm-up of eager messages and of fragments: before the transport
 * has used all of its buffers once, their lines are not in the caches. These
 * bytes may take twice as long; by that and a tenth, the first transfer of a
 * trial may be slower, if transfers are long. */
static void set_warm_up(ucp_learn_t *learn, unsigned class)
{
    size_t count = WARM_BYTES >> (class + UCP_LEARN_MIN_LOG);
    uint8_t warm = (uint8_t)ucs_min(count, (size_t)MAX_WARM);
    size_t length;

    learn->alike                 = ALIKE;
    learn->warm[UCP_LEARN_EAGER] = ucs_max(warm, learn->warm[UCP_LEARN_EAGER]);
    learn->warm[UCP_LEARN_AM]    = ucs_max(warm, learn->warm[UCP_LEARN_AM]);
    if (learn->is_long) {
        length             = (size_t)1 << (class + UCP_LEARN_MIN_LOG);
        learn->first_limit = (float)(1.1 + (double)WARM_BYTES / (double)length);
    }
}

static ucp_learn_t *new_alone(const ucp_learn_entry_t *entry, const ucp_ep_h ep,
                              unsigned class, unsigned methods, unsigned first,
                              double *expected)
{
    const ucp_learn_t *near = nearest(entry, class);
    ucp_learn_t *learn      = malloc(sizeof(*learn));

    if (learn == NULL) {
        return NULL;
    }
    if (near != NULL) {
        first = expect_as(near, methods, first, expected);
    }
    ucp_learn_init(learn, methods, first, expected, class >= UCP_LEARN_LONG);
    set_warm_up(learn, class);
    take_over(learn, entry, ep, UCP_LEARN_ALONE, class);
    return learn;
}

/* Returns the method with which the search of a stream or exchange begins, if
 * the costs select `first`. Messages occupy both processors with copies, a put
 * or get only one. In streams in both directions, or to several peers, each processor
 * has other copies to make meanwhile. So of methods with similar costs the one
 * that copies once is first. If both processes begin with messages, neither
 * gains by changing its own method. */
static unsigned first_of_stream(const ucp_learn_entry_t *entry, unsigned class,
                                unsigned methods, unsigned first,
                                const double *expected)
{
    const size_t length     = (size_t)1 << (class + UCP_LEARN_MIN_LOG);
    ucp_proto_query_t query = {
        .op           = entry->op,
        .dt_class     = UCP_DT_CLASS_CONTIG,
        .config       = entry->config,
        .zcopy_thresh = SIZE_MAX,
        .rndv_thresh  = SIZE_MAX,
    };
    unsigned once = (methods & UCS_BIT(UCP_LEARN_GET)) ? UCP_LEARN_GET :
                                                         UCP_LEARN_PUT;
    double limit;

    if (is_rma(entry->op) || (first == UCP_LEARN_GET) ||
        (first == UCP_LEARN_PUT) || !(methods & UCS_BIT(once))) {
        return first;
    }
    limit = (first == UCP_LEARN_EAGER) ?
                SIMILAR_EAGER *
                    ucs_linear_func_apply(ucp_proto_cost(&query, length),
                                          (double)length) :
                SIMILAR * expected[first] * (double)length;
    return (expected[once] * (double)length < limit) ? once : first;
}

/* Returns the methods whose requests complete when the data is transferred
 * (bits). */
static unsigned exact_methods(ucp_op_t op)
{
    unsigned methods = 0;
    unsigned i;

    for (i = 0; i < UCP_LEARN_METHODS; ++i) {
        methods |= ucp_learn_ends_with_request(op, i) ? UCS_BIT(i) : 0;
    }
    return methods;
}

/* At least the credit of the replaced configuration is taken over. Otherwise
 * each change of the configuration would permit the first trials to overdraw
 * the credit again. */
static ucp_learn_t *new_stream(const ucp_learn_entry_t *entry,
                               const ucp_ep_h ep, ucp_learn_load_t load,
                               unsigned class, unsigned methods, unsigned first,
                               const double *expected)
{
    const ucp_learn_entry_t *other = previous(entry, load, class);
    ucp_learn_stream_t *stream     = malloc(sizeof(*stream));
    ucp_learn_stream_t *before;

    if (stream == NULL) {
        return NULL;
    }
    first = first_of_stream(entry, class, methods, first, expected);
    ucp_learn_stream_init(stream, methods, first, expected);
    stream->exact       = (uint8_t)exact_methods(entry->op);
    stream->learn.alike = ALIKE;
    if (other != NULL) {
        before = ucp_learn_stream_of(other->of[load][class]);
        if (is_continued(other, &before->learn, ep)) {
            ucp_learn_stream_continue(stream, before);
        } else {
            stream->credit = before->credit;
        }
    }
    return &stream->learn;
}

static ucp_learn_t *new_exchange(const ucp_learn_entry_t *entry,
                                 const ucp_ep_h ep, unsigned class,
                                 unsigned methods, unsigned first,
                                 const double *expected)
{
    ucp_learn_exchange_t *exchange = malloc(sizeof(*exchange));

    if (exchange == NULL) {
        return NULL;
    }
    first = first_of_stream(entry, class, methods, first, expected);
    ucp_learn_exchange_init(exchange, methods, first, expected,
                            class >= UCP_LEARN_LONG);
    set_warm_up(&exchange->learn, class);
    take_over(&exchange->learn, entry, ep, UCP_LEARN_EXCHANGE, class);
    return &exchange->learn;
}

ucp_learn_t *ucp_learn_entry_of(ucp_learn_entry_t *entry, const ucp_ep_h ep,
                                ucp_learn_load_t load, size_t length,
                                unsigned first)
{
    unsigned class        = ucp_learn_size_class(length);
    ucp_learn_t **learn_p = &entry->of[load][class];
    double expected[UCP_LEARN_METHODS];
    unsigned methods;

    if (*learn_p == NULL) {
        methods = methods_of(entry, possible_methods(entry, class, expected)) |
                  UCS_BIT(first);
        *learn_p = ucp_learn_is_stream(load) ?
                       new_stream(entry, ep, load, class, methods, first,
                                  expected) :
                   (load == UCP_LEARN_EXCHANGE) ?
                       new_exchange(entry, ep, class, methods, first,
                                    expected) :
                       new_alone(entry, ep, class, methods, first, expected);
    }
    return *learn_p;
}

static void print_learn(const ucp_learn_t *learn, ucp_op_t op,
                        ucp_learn_load_t load, unsigned class, FILE *stream)
{
    static const char *const reasons[UCP_LEARN_REASONS] = {
        [UCP_LEARN_ESTIMATED]    = "by estimate, no other one is timed yet",
        [UCP_LEARN_FASTEST]      = "the fastest",
        [UCP_LEARN_WITHIN_NOISE] = "others are faster by noise only",
        [UCP_LEARN_LED]          = "selected by the peer",
    };
    unsigned i;

    fprintf(stream, "# learnt: %-14s %7zu KiB%s: %s", ucp_proto_op_name(op),
            (size_t)1 << (class + UCP_LEARN_MIN_LOG - 10),
            ucp_learn_load_name(load), ucp_learn_method_name(op, learn->best));
    for (i = 0; i < UCP_LEARN_METHODS; ++i) {
        if (learn->method[i].count > 0) {
            fprintf(stream, ", %s %.2f GB/s", ucp_learn_method_name(op, i),
                    1e-9 / ucp_learn_time(learn, i));
        }
    }
    fprintf(stream, "; %u messages; %s\n", learn->count,
            reasons[ucp_learn_reason(learn)]);
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
            if (entry->of[load][class] != NULL) {
                ucp_learn_live_close(entry->of[load][class]);
                /* This also frees a ucp_learn_stream_t or ucp_learn_exchange_t:
                 * `learn` is the first member */
                free(entry->of[load][class]);
            }
        }
    }
    free(entry);
}
