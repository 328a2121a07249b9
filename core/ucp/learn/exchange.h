/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the fastest of a few methods for exchanges: a process sends to a peer
 * and receives about as much, one transfer in each direction at a time, as in
 * an all-to-all or between the neighbours of a grid, or a message and its
 * answer. Terms: learn.h.
 *
 * The time of one transfer does not show what its method costs an exchange: an
 * eager message takes time of the receiver's processor, which its own transfer
 * in the other direction then lacks. So a sample is the time from the begin of
 * a transfer to the begin of the next one to the same peer.
 *
 * Both processes must use the same method (lead.h). So of two processes only
 * the leader searches. Each of its transfers announces the method to the peer,
 * which uses it for its next transfer. If a process has received no announcement
 * during its last UCP_LEARN_SILENT transfers, it searches itself.
 *
 *   leader                       follower
 *     put, announces put ----------> any
 *     put, announces put ----------> put
 *
 * If there are several peers, the transfers to one of them are counted, and
 * those to the others use the same method. It is the one with the lowest UUID,
 * so that in an all-to-all all processes follow the same leader.
 *
 * This code uses neither endpoints nor clocks.
 */
#ifndef UCP_EXCHANGE_H
#define UCP_EXCHANGE_H

#include "ucp/learn/learn.h"

#include <stddef.h>

/** Number of transfers without an announcement of the leader after which the
 *  peer searches itself. */
enum { UCP_LEARN_SILENT = 32 };

/** A peer in an exchange. */
typedef struct ucp_learn_peer {
    const void *ep; /**< Identifies the peer; only compared */
    uint64_t uuid;  /**< UUID of its worker */
    int leads;      /**< Non-zero if it is lower than that of this worker */
} ucp_learn_peer_t;

typedef struct ucp_learn_exchange {
    ucp_learn_t learn; /**< The samples and the selected method */
    /** The peer whose transfers are counted; NULL: the next transfer selects
     *  it */
    const void *counted;
    uint64_t uuid;     /**< UUID of the peer that is counted, or was last */
    uint64_t begin;    /**< When its last transfer began, nanoseconds */
    size_t length;     /**< Bytes of that transfer */
    uint8_t method;    /**< Its method */
    uint8_t timed;     /**< 1: its time is a sample, when the next one begins */
    uint8_t announced; /**< The method that the counted peer has announced, or
                        *   UCP_LEARN_NONE */
    uint8_t silent;    /**< Transfers to that peer since the announcement, at
                        *   most UCP_LEARN_SILENT */
    /** Transfers to other peers since the last one to the counted peer; with
     *  too many of them another peer is counted */
    uint16_t others;
} ucp_learn_exchange_t;

/** Initializes the search; the parameters are those of ucp_learn_init(). */
void ucp_learn_exchange_init(ucp_learn_exchange_t *exchange, unsigned methods,
                             unsigned first, const double *expected,
                             int is_long);

/** Returns the method of the next transfer, to this peer. `length`: its bytes.
 *  `now`: the time in nanoseconds; may be 0 if `timed` is 0. If this call has
 *  then set it, ucp_learn_exchange_begin() must follow. */
unsigned ucp_learn_exchange_next(ucp_learn_exchange_t *exchange,
                                 const ucp_learn_peer_t *peer, size_t length,
                                 uint64_t now);

/** Returns for how many of the next transfers, at most `limit`,
 *  ucp_learn_exchange_repeat() may be called instead of
 *  ucp_learn_exchange_next(). */
unsigned ucp_learn_exchange_quiet(const ucp_learn_exchange_t *exchange,
                                  unsigned limit);

/** Counts a transfer by the method of the last one. Returns 0 if
 *  ucp_learn_exchange_next() must be called instead: the peer is not the counted
 *  one, or has announced another method. `ep`, `leads`: as in
 *  ucp_learn_peer_t. */
int ucp_learn_exchange_repeat(ucp_learn_exchange_t *exchange, const void *ep,
                              int leads);

/** Reports the time at which the transfer begins. */
static inline void ucp_learn_exchange_begin(ucp_learn_exchange_t *exchange,
                                            uint64_t now)
{
    exchange->begin = now;
}

/** Called when the worker `uuid` has announced a method: any number, because a
 *  peer has sent it. */
void ucp_learn_exchange_announced(ucp_learn_exchange_t *exchange, uint64_t uuid,
                                  unsigned method);

/** Called if the next transfer to this peer does not belong to an exchange, or
 *  if there will be none: the last one has no valid time. `ep`: as in
 *  ucp_learn_peer_t. */
void ucp_learn_exchange_stop(ucp_learn_exchange_t *exchange, const void *ep);

#endif
