/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shows to other processes what was learnt (learn.h): the time of each method
 * and the selected one. With UCX_STATS=y, each class of sizes (entry.h) has a
 * record among the counters, which `ucx_info --live` prints.
 */
#ifndef UCP_LEARN_LIVE_H
#define UCP_LEARN_LIVE_H

#include "ucp/learn/entry.h"

/** Creates the record of a class of sizes, if the worker counts statistics.
 *  `length`: a length in this class. */
void ucp_learn_live_open(ucp_learn_t *learn, ucp_worker_h worker, ucp_op_t op,
                         ucp_learn_load_t load, size_t length);

/** Writes the times of the methods and the selected one to the record. No
 *  effect without a record. Called by the worker's thread after each result. */
void ucp_learn_live_update(const ucp_learn_t *learn);

void ucp_learn_live_close(ucp_learn_t *learn);

#endif
