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

#include "ucp/learn/timing.h"

/** Returns the load of the transfer of `length` bytes that begins now, and adds
 *  it to the window. `expects`: non-zero if receives are posted that wait for
 *  messages. */
ucp_learn_load_t ucp_load_of(struct ucp_trials *trials,
                             const ucp_learn_entry_t *entry, ucp_ep_h ep,
                             size_t length, ucs_time_t now, int expects);

#endif
