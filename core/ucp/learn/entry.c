/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp_learn_entry_t: what is learnt for the endpoints of one configuration and
 * one operation, by class of sizes (entry.h). */
#include "ucp/learn/entry.h"

#include "ucp/learn/exchange.h"
#include "ucp/learn/expect.h"
#include "ucp/learn/live.h"
#include "ucp/learn/stream.h"
#include "ucp/rndv/rndv.h"
#include "ucs/sys/math.h"

#include <stdlib.h>

/* Bytes of the transfers in the warm-up of messages: the default of
 * UCX_POSIX_RING_SIZE, the largest buffer of a transport between two processes.
 * MAX_WARM: limit of their number. */
#define WARM_BYTES (2ul << 20)
enum { MAX_WARM = 32 };

/* From this class on (512 KiB) a sample shows whether a method is slow: what
 * interrupts a transfer takes little time in comparison. */
enum { STEADY = 5 };

/* If a method takes more than this many times as long as the selected one, one
 * sample suffices (STEADY). */
#define SLOW 1.4f

/* Eager messages and fragments of a rendezvous are alike (ucp_learn_t). */
enum { ALIKE = UCS_BIT(UCP_LEARN_EAGER) | UCS_BIT(UCP_LEARN_AM) };

const char *ucp_learn_method_name(ucp_op_t op, unsigned method)
{
    static const char *const names[UCP_LEARN_METHODS] = {
        "eager",
        "rndv/get",
        "rndv/put",
        "rndv/am",
    };

    return !ucp_learn_is_rma(op)    ? names[method] :
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

/* Sets how long trials are. The warm-up of eager messages and of fragments is
 * longer: before the transport has used all of its buffers once, their lines are
 * not in the caches. These bytes may take twice as long; by that and a tenth, the
 * first transfer of a trial may be slower, if transfers are long. */
static void set_trials(ucp_learn_t *learn, unsigned class)
{
    size_t count = WARM_BYTES >> (class + UCP_LEARN_MIN_LOG);
    uint8_t warm = (uint8_t)ucs_min(count, (size_t)MAX_WARM);
    size_t length;

    learn->alike                 = ALIKE;
    learn->slow_limit            = (class >= STEADY) ? SLOW : 0;
    learn->warm[UCP_LEARN_EAGER] = ucs_max(warm, learn->warm[UCP_LEARN_EAGER]);
    learn->warm[UCP_LEARN_AM]    = ucs_max(warm, learn->warm[UCP_LEARN_AM]);
    if (learn->is_long) {
        length             = (size_t)1 << (class + UCP_LEARN_MIN_LOG);
        learn->first_limit = (float)(1.1 + (double)WARM_BYTES / (double)length);
    }
}

static ucp_learn_t *new_alone(const ucp_learn_entry_t *entry, const ucp_ep_h ep,
                              unsigned class,
                              const ucp_learn_expected_t *expected)
{
    ucp_learn_t *learn = malloc(sizeof(*learn));

    if (learn == NULL) {
        return NULL;
    }
    ucp_learn_init(learn, expected->methods, expected->first, expected->time,
                   class >= UCP_LEARN_LONG);
    set_trials(learn, class);
    take_over(learn, entry, ep, UCP_LEARN_ALONE, class);
    return learn;
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
                               unsigned class,
                               const ucp_learn_expected_t *expected)
{
    const ucp_learn_entry_t *other = previous(entry, load, class);
    ucp_learn_stream_t *stream     = malloc(sizeof(*stream));
    ucp_learn_stream_t *before;

    if (stream == NULL) {
        return NULL;
    }
    ucp_learn_stream_init(stream, expected->methods, expected->first,
                          expected->time);
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
                                 const ucp_learn_expected_t *expected)
{
    ucp_learn_exchange_t *exchange = malloc(sizeof(*exchange));

    if (exchange == NULL) {
        return NULL;
    }
    ucp_learn_exchange_init(exchange, expected->methods, expected->first,
                            expected->time, class >= UCP_LEARN_LONG);
    set_trials(&exchange->learn, class);
    take_over(&exchange->learn, entry, ep, UCP_LEARN_EXCHANGE, class);
    return &exchange->learn;
}

ucp_learn_t *ucp_learn_entry_of(ucp_learn_entry_t *entry, const ucp_ep_h ep,
                                ucp_learn_load_t load, size_t length,
                                unsigned first)
{
    unsigned class        = ucp_learn_size_class(length);
    ucp_learn_t **learn_p = &entry->of[load][class];
    ucp_learn_expected_t expected;

    if (*learn_p == NULL) {
        expected = ucp_learn_expect(entry, load, class, first);
        *learn_p = ucp_learn_is_stream(load) ?
                       new_stream(entry, ep, load, class, &expected) :
                   (load == UCP_LEARN_EXCHANGE) ?
                       new_exchange(entry, ep, class, &expected) :
                       new_alone(entry, ep, class, &expected);
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
