/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a transfer is alone, follows others, in one or in both directions, or
 * belongs to an exchange (ucp_learn_load_t): what is learnt of these is kept
 * separately. A single transfer does not show whether the peer sends as much:
 * that is decided from the last transfers of the worker
 * (ucp_learn_window_t).
 */
#ifndef UCP_LEARN_LOAD_H
#define UCP_LEARN_LOAD_H

#include "ucp/learn/entry.h"
#include "ucs/time/time.h"

struct ucp_trials;

/** The last transfers of a worker that may be timed, by which exchanges and
 *  streams in both directions are recognized. Transfers of an epoch of the
 *  latter are not counted: by another method they may begin long before the
 *  peer's transfers arrive. */
typedef struct ucp_learn_window {
    uint8_t count;     /**< Number of these transfers */
    uint8_t following; /**< Of these, transfers that followed others */
    uint8_t failed;    /**< Windows in a row that showed another kind */
    /** What the transfers belong to: UCP_LEARN_EXCHANGE, UCP_LEARN_BOTH, or
     *  UCP_LEARN_ALONE for anything else */
    uint8_t kind;
    ucs_time_t begin; /**< Time when the first one began */
    /** Values of ucp_trials::sent and ucp_worker::received at that time */
    uint64_t sent, received;
} ucp_learn_window_t;

/** The current time, read when it is needed first: the clock takes as long as
 *  some of the decisions for which it is not needed. */
typedef struct ucp_learn_now {
    ucs_time_t time; /**< 0: not read yet */
} ucp_learn_now_t;

static inline ucs_time_t ucp_learn_now(ucp_learn_now_t *now)
{
    if (now->time == 0) {
        now->time = ucs_get_time();
    }
    return now->time;
}

/** True if transfers to the peer are in flight; those from it do not count. */
int ucp_learn_has_sends(ucp_ep_h ep);

/** Returns the load of the transfer of `length` bytes that begins now, and adds
 *  it to the window. */
ucp_learn_load_t ucp_learn_load_of(struct ucp_trials *trials,
                                   const ucp_learn_entry_t *entry, ucp_ep_h ep,
                                   size_t length, ucp_learn_now_t *now);

#endif
