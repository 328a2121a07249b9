/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream in both directions follows the method of its leader: see follow.h. */
#include "ucp/learn/follow.h"

#include "ucs/sys/math.h"

/* Uses the method that the leader has announced, for so many transfers.
 * `previous`: see ucp_learn_stream_t. */
static void follow(ucp_learn_stream_t *stream, unsigned method,
                   unsigned transfers, unsigned previous)
{
    ucp_learn_t *learn = &stream->learn;

    if ((method >= UCP_LEARN_MAX_METHODS) ||
        !(learn->methods & UCS_BIT(method))) {
        return;
    }
    if (learn->timing) {
        /* the epoch ends first, but no other one follows */
        stream->wake = learn->count + UCP_LEARN_STREAM_SILENT;
        return;
    }
    ucp_learn_stream_wait(stream, transfers);
    stream->previous = (uint8_t)previous;
    learn->is_led    = 1;
    if (learn->best != method) {
        learn->best    = (uint8_t)method;
        learn->num_odd = 0;
    }
}

void ucp_learn_stream_announced(ucp_learn_stream_t *stream, unsigned method)
{
    follow(stream, method, UCP_LEARN_STREAM_SILENT, UCP_LEARN_NONE);
}

void ucp_learn_stream_announced_trial(ucp_learn_stream_t *stream,
                                      unsigned method, unsigned in_flight)
{
    unsigned previous = (stream->previous == UCP_LEARN_NONE) ?
                            stream->learn.best :
                            stream->previous;

    follow(stream, method,
           ucs_max(in_flight, (unsigned)UCP_LEARN_STREAM_FOLLOW), previous);
}

int ucp_learn_stream_leave_trial(ucp_learn_stream_t *stream)
{
    if (stream->previous == UCP_LEARN_NONE) {
        return 0;
    }
    ucp_learn_stream_announced(stream, stream->previous);
    return 1;
}
