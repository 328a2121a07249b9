/* SPDX-License-Identifier: BSD-3-Clause */
/* How many transfers an epoch has, and how many trials may add: see epoch.h. */
#include "ucp/learn/epoch.h"

#include "ucp/learn/due.h"
#include "ucs/sys/math.h"

/* Number of transfers in an epoch that count (count_for()): MIN_BYTES in total,
 * but from MIN_COUNT to MAX_COUNT transfers, and at least as many as are in
 * flight, up to WARM. LARGE_COUNT if each has LARGE bytes or more. */
enum {
    MIN_BYTES   = 524288,
    MIN_COUNT   = 8,
    MAX_COUNT   = 32,
    LARGE       = 2 << 20,
    LARGE_COUNT = 8,
};

/* Number of transfers in a warm-up: at least WARM, if they have less than LARGE
 * bytes in total, because until then, the data is in the caches where the other
 * method has put it. At most WARM for methods whose requests complete when the
 * data is transferred: then the caller knows when those of the selected method
 * have completed that were in flight before. */
enum { WARM = 16 };

/* Rates of epochs FULL with fewer bytes are not exact: much of the data may be
 * in the buffers of a transport when the epoch ends. */
enum { SMALL = 1 << 20 };

/* Minimum number of transfers in flight of a stream. */
enum { MIN_IN_FLIGHT = 2 };

static unsigned count_for(const ucp_learn_stream_t *stream, unsigned warm,
                          size_t length)
{
    size_t count = ucs_min(MIN_BYTES / length, (size_t)MAX_COUNT);

    count = ucs_max(count, (size_t)ucs_min(warm, (unsigned)WARM));
    count = ucs_max(count, (size_t)MIN_COUNT);
    if (length >= LARGE) {
        count = LARGE_COUNT;
    }
    return (unsigned)count << stream->scale;
}

/* Returns the number of transfers in the warm-up of the present stage, which
 * usually are `usual`. BEFORE follows transfers by the same method, so that few
 * are sufficient, but not at the beginning of a stream: its first transfers are
 * slow, and fewer are in flight than later. When AFTER begins, only transfers by
 * its method are in flight, unless ucp_learn_stream::is_ahead. But the data is
 * still in the caches where the other method has put it, after a long epoch FULL
 * for longer. */
static unsigned warm_up(const ucp_learn_stream_t *stream, unsigned usual,
                        size_t length)
{
    const ucp_learn_t *learn = &stream->learn;
    unsigned least           = ucs_min(usual, (unsigned)WARM);

    if (stream->stage == UCP_LEARN_BEFORE) {
        return (learn->method[learn->best].count > 0) ? MIN_IN_FLIGHT :
               (length < LARGE)                       ? WARM :
                                                        least;
    }
    if (stream->stage != UCP_LEARN_AFTER) {
        return usual;
    }
    if (ucp_learn_is_close(stream, learn->trial)) {
        least <<= UCP_LEARN_LONG_LOG;
    }
    return stream->is_ahead ? ucs_max(usual, least) : least;
}

/* Returns the epoch BEFORE, FULL or AFTER. */
static ucp_learn_epoch_t epoch_of(ucp_learn_stream_t *stream,
                                  unsigned in_flight, size_t length)
{
    const ucp_learn_t *learn = &stream->learn;
    unsigned warm = ucs_min(in_flight, (unsigned)UCP_LEARN_STREAM_WARM);
    ucp_learn_epoch_t epoch = {.method = learn->best};

    if ((learn->trial != UCP_LEARN_NONE) &&
        (stream->exact & UCS_BIT(learn->trial)) &&
        !((stream->stage == UCP_LEARN_AFTER) && stream->is_ahead)) {
        warm = ucs_min(warm, (unsigned)WARM);
    }
    warm            = ucs_max(warm, (unsigned)MIN_IN_FLIGHT);
    stream->counted = (uint16_t)count_for(stream, warm, length);
    if (length < LARGE / WARM) {
        warm = ucs_max(warm, (unsigned)WARM);
    }
    stream->warm = (uint16_t)warm;
    epoch.warm   = (uint16_t)warm_up(stream, warm, length);
    epoch.count  = stream->counted;
    if (stream->stage == UCP_LEARN_FULL) {
        epoch.method = learn->trial;
        if (ucp_learn_is_close(stream, learn->trial)) {
            epoch.count = (uint16_t)(epoch.count << UCP_LEARN_LONG_LOG);
        }
        stream->is_small = ((epoch.warm + epoch.count) * length < SMALL);
    }
    return epoch;
}

/* Describes the round of the epochs FIRST. */
static void round_of_firsts(const ucp_learn_stream_t *stream,
                            ucp_learn_round_t *round)
{
    unsigned methods = ucp_learn_find_firsts(stream);
    unsigned i;

    round->num_epochs = 0;
    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        if (methods & UCS_BIT(i)) {
            round->epochs[round->num_epochs++] = (ucp_learn_epoch_t){
                .method = (uint8_t)i,
                .warm   = 1,
                .count  = UCP_LEARN_STREAM_FIRST - 1,
            };
        }
    }
}

void ucp_learn_epoch_round(ucp_learn_stream_t *stream, unsigned in_flight,
                           size_t length, ucp_learn_round_t *round)
{
    if (stream->stage == UCP_LEARN_FIRST) {
        round_of_firsts(stream, round);
    } else {
        round->num_epochs = 1;
        round->epochs[0]  = epoch_of(stream, in_flight, length);
    }
}

/* Returns the number of transfers of `length` bytes in so many MiB. */
static size_t in_mib(size_t mib, size_t length)
{
    return (mib << 20) / length;
}

uint8_t ucp_learn_epoch_advance(const ucp_learn_stream_t *stream,
                                unsigned in_flight, size_t length)
{
    int is_new    = (stream->learn.count < LARGE_COUNT);
    size_t window = ucs_min((size_t)in_flight,
                            in_mib(UCP_LEARN_ADVANCE_WINDOW_MIB, length));
    size_t most   = ucs_max(in_mib(UCP_LEARN_ADVANCE_MAX_MIB, length), window);
    size_t least  = is_new ? 1 : UCP_LEARN_ADVANCE_LARGE;
    size_t wanted = in_mib(UCP_LEARN_ADVANCE_MIN_MIB, length);

    wanted = ucs_max(wanted, (size_t)UCP_LEARN_ADVANCE * in_flight);
    wanted = ucs_max(wanted, (size_t)UCP_LEARN_ADVANCE_MIN);
    wanted = ucs_min(wanted, ucs_max(most, least));
    return (uint8_t)ucs_min(wanted, (size_t)UINT8_MAX);
}
