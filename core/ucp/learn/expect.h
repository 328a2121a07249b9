/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known when a search begins (entry.h): which methods are possible, how
 * fast they are expected to be, by the estimates or by the results for another
 * class of sizes, and with which one the search begins.
 */
#ifndef UCP_LEARN_EXPECT_H
#define UCP_LEARN_EXPECT_H

#include "ucp/learn/entry.h"

typedef struct ucp_learn_expected {
    unsigned methods; /**< Bit map of the possible methods */
    unsigned first;   /**< The method with which the search begins */
    double time[UCP_LEARN_METHODS]; /**< In seconds per byte; 0: unknown */
} ucp_learn_expected_t;

/** Returns what is known of a class of sizes. `first`: the method that has the
 *  lowest cost. */
ucp_learn_expected_t ucp_learn_expect(const ucp_learn_entry_t *entry,
                                      ucp_learn_load_t load, unsigned class,
                                      unsigned first);

#endif
