/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many transfers the epochs of a stream have (stream.h), and how many
 * transfers trials may add to it.
 */
#ifndef UCP_LEARN_EPOCH_H
#define UCP_LEARN_EPOCH_H

#include "ucp/learn/stream.h"

/** Describes the round of the present stage in *round, and sets
 *  ucp_learn_stream::warm and `counted`. `in_flight`: number of transfers in
 *  flight. `length`: bytes of the first transfer. */
void ucp_learn_epoch_round(ucp_learn_stream_t *stream, unsigned in_flight,
                           size_t length, ucp_learn_round_t *round);

/** Returns by how many transfers of this length trials may overdraw the
 *  credit. */
uint8_t ucp_learn_epoch_advance(const ucp_learn_stream_t *stream,
                                unsigned in_flight, size_t length);

#endif
