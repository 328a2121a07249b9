/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the fastest of a few methods for exchanges: a process sends to a peer
 * and receives about as much, one transfer in each direction at a time, as in
 * an all-to-all or between the neighbours of a grid. Terms: learn.h.
 *
 * The time of one transfer does not show what its method costs an exchange: an
 * eager message takes time of the receiver's processor, which its own transfer
 * in the other direction then lacks. So a sample is the time from the begin of
 * a transfer to the begin of the next one to the same peer. The processes try
 * the same methods at about the same time, because they count the same
 * transfers.
 *
 * If there are several peers, the transfers to one of them are counted, the
 * leader, and those to the others use the same method.
 *
 * This code uses neither endpoints nor clocks.
 */
#ifndef UCP_EXCHANGE_H
#define UCP_EXCHANGE_H

#include "ucp/learn/learn.h"

#include <stddef.h>

typedef struct ucp_learn_exchange {
    ucp_learn_t learn; /**< The samples and the selected method */
    /** Identifies the leader; NULL: the next transfer selects it */
    const void *leader;
    uint64_t begin; /**< When the leader's last transfer began, nanoseconds */
    size_t length;  /**< Bytes of that transfer */
    uint8_t method; /**< Its method */
    uint8_t timed;  /**< 1: its time is a sample, when the next one begins */
    /** Transfers to other peers since then; with too many of them the leader
     *  changes */
    uint16_t others;
} ucp_learn_exchange_t;

/** Initializes the search; the parameters are those of ucp_learn_init(). */
void ucp_learn_exchange_init(ucp_learn_exchange_t *exchange, unsigned methods,
                             unsigned first, const double *expected,
                             int is_long);

/** Returns the method of the next transfer, to the peer that `peer` identifies.
 *  `length`: its bytes. `now`: the time in nanoseconds. */
unsigned ucp_learn_exchange_next(ucp_learn_exchange_t *exchange,
                                 const void *peer, size_t length, uint64_t now);

/** Called if the next transfer to this peer does not belong to an exchange, or
 *  if there will be none: the last one has no valid time. */
void ucp_learn_exchange_stop(ucp_learn_exchange_t *exchange, const void *peer);

#endif
