/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In streams in both directions one process, the leader, selects the method for
 * both (lead.h). These functions tell the search of the other process which
 * method has been announced.
 */
#ifndef UCP_LEARN_FOLLOW_H
#define UCP_LEARN_FOLLOW_H

#include "ucp/learn/stream.h"

/** Numbers of transfers without another announcement */
enum {
    /** After so many, the process searches itself */
    UCP_LEARN_STREAM_SILENT = 256,
    /** After so many, a method that the leader only tries is not used any more,
     *  if fewer transfers are in flight */
    UCP_LEARN_STREAM_FOLLOW = 16,
};

/** Called when the leader of a stream in both directions has announced a method:
 *  any number, because a peer has sent it. It is used here, too, and no epoch
 *  starts during the next UCP_LEARN_STREAM_SILENT transfers. */
void ucp_learn_stream_announced(ucp_learn_stream_t *stream, unsigned method);

/** The same for a method that the leader only tries: it is used for the next
 *  UCP_LEARN_STREAM_FOLLOW transfers, or for as many as are in flight if these
 *  are more, unless there is another announcement. Then the previous method is
 *  used again. */
void ucp_learn_stream_announced_trial(ucp_learn_stream_t *stream,
                                      unsigned method, unsigned in_flight);

/** Called when an epoch may begin. If the method of a trial of the leader is
 *  used, uses the previous one again, as if it had been announced, and returns
 *  non-zero. */
int ucp_learn_stream_leave_trial(ucp_learn_stream_t *stream);

#endif
