/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known when a search begins: see expect.h. */
#include "ucp/learn/expect.h"

#include "ucp/rndv/rndv.h"
#include "ucs/sys/math.h"

#include <string.h>

/* How many smaller and larger classes of sizes are searched for earlier
 * results. Each class has half the size of the next one: 4 classes are sizes
 * from a sixteenth to 16 times */
enum { NEAR_CLASSES = 4 };

/* A stream begins with a put or get if it is expected to take less than this
 * many times as long as messages: as a rendezvous in fragments, or as eager
 * messages, which are estimated as single ones. */
#define SIMILAR       1.25
#define SIMILAR_EAGER 1.5

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

/* Returns the results of a class; NULL if there is no such class, or if fewer
 * than two methods were timed and the peer has not selected one. */
static const ucp_learn_t *results_of(const ucp_learn_entry_t *entry,
                                     ucp_learn_load_t load, unsigned class)
{
    const ucp_learn_t *learn = (class < UCP_LEARN_CLASSES) ?
                                   entry->of[load][class] :
                                   NULL;

    return ((learn != NULL) &&
            (ucp_learn_reason(learn) != UCP_LEARN_ESTIMATED)) ?
               learn :
               NULL;
}

/* Returns the results of the nearest class that has any, of two equally near
 * ones the smaller; NULL if there are none. */
static const ucp_learn_t *nearest(const ucp_learn_entry_t *entry,
                                  ucp_learn_load_t load, unsigned class)
{
    const ucp_learn_t *found = NULL;
    unsigned distance;

    for (distance = 1; (found == NULL) && (distance <= NEAR_CLASSES);
         ++distance) {
        if (distance <= class) {
            found = results_of(entry, load, class - distance);
        }
        if (found == NULL) {
            found = results_of(entry, load, class + distance);
        }
    }
    return found;
}

/* Begins as the search for another class of sizes: with the method that is
 * selected there, if it is possible here, and with the times there instead of the
 * estimates. Estimates of methods that were not timed there remain in the same
 * relation to the selected one. */
static void expect_as(const ucp_learn_t *other, ucp_learn_expected_t *expected)
{
    unsigned methods = expected->methods;
    unsigned best    = ((other->best == UCP_LEARN_EAGER) &&
                     !(methods & UCS_BIT(UCP_LEARN_EAGER))) ?
                           UCP_LEARN_AM :
                           other->best;
    double selected  = ucp_learn_time(other, other->best);
    double estimate  = expected->time[best];
    double scale     = (estimate > 0) ? selected / estimate : 0;
    double time;
    unsigned i;

    if (methods & UCS_BIT(best)) {
        expected->first = best;
    }
    /* if the peer has selected the method, it may have no time */
    for (i = 0; (selected > 0) && (i < UCP_LEARN_METHODS); ++i) {
        time              = ucp_learn_time(other, i);
        expected->time[i] = (time > 0) ? time : expected->time[i] * scale;
    }
}

static unsigned methods_of(const ucp_learn_entry_t *entry, unsigned possible)
{
    return (entry->op == UCP_OP_PUT) ?
               UCS_BIT(UCP_LEARN_PUT) | UCS_BIT(UCP_LEARN_AM) :
           (entry->op == UCP_OP_GET) ?
               UCS_BIT(UCP_LEARN_GET) | UCS_BIT(UCP_LEARN_AM) :
               possible;
}

/* Returns the method with which the search of a stream or exchange begins, if
 * the costs select expected->first. Messages occupy both processors with
 * copies, a put or get only one. In streams in both directions, or to several
 * peers, each processor has other copies to make meanwhile. So of methods with
 * similar costs the one that copies once is first. If both processes begin with
 * messages, neither gains by changing its own method. */
static unsigned first_of_stream(const ucp_learn_entry_t *entry, unsigned class,
                                const ucp_learn_expected_t *expected)
{
    const size_t length     = (size_t)1 << (class + UCP_LEARN_MIN_LOG);
    ucp_proto_query_t query = {
        .op           = entry->op,
        .dt_class     = UCP_DT_CLASS_CONTIG,
        .config       = entry->config,
        .zcopy_thresh = SIZE_MAX,
        .rndv_thresh  = SIZE_MAX,
    };
    unsigned first = expected->first;
    unsigned once  = (expected->methods & UCS_BIT(UCP_LEARN_GET)) ?
                         UCP_LEARN_GET :
                         UCP_LEARN_PUT;
    double limit;

    if (ucp_learn_is_rma(entry->op) || (first == UCP_LEARN_GET) ||
        (first == UCP_LEARN_PUT) || !(expected->methods & UCS_BIT(once))) {
        return first;
    }
    limit = (first == UCP_LEARN_EAGER) ?
                SIMILAR_EAGER *
                    ucs_linear_func_apply(ucp_proto_cost(&query, length),
                                          (double)length) :
                SIMILAR * expected->time[first] * (double)length;
    return (expected->time[once] * (double)length < limit) ? once : first;
}

ucp_learn_expected_t ucp_learn_expect(const ucp_learn_entry_t *entry,
                                      ucp_learn_load_t load, unsigned class,
                                      unsigned first)
{
    const ucp_learn_t *near       = nearest(entry, load, class);
    ucp_learn_expected_t expected = {.first = first};

    expected.methods = methods_of(entry, possible_methods(entry, class,
                                                          expected.time)) |
                       UCS_BIT(first);
    if (near != NULL) {
        expect_as(near, &expected);
    } else if (load != UCP_LEARN_ALONE) {
        expected.first = first_of_stream(entry, class, &expected);
    }
    return expected;
}
