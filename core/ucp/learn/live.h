/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shows other processes what learn.h has learnt: the times that it has
 * measured and the method that it has selected. With UCX_STATS=y, each class
 * of sizes has a record among the counters, which `ucx_info --live` prints.
 */
#ifndef UCP_LEARN_LIVE_H
#define UCP_LEARN_LIVE_H

#include "ucp/learn/entry.h"

/** Creates the record of a class of sizes, if the worker counts. */
void ucp_learn_live_open(ucp_learn_t *learn, ucp_worker_h worker, ucp_op_t op,
                         ucp_learn_load_t load, size_t length);

/** Writes the current times and the selected method to the record. Called by
 *  the worker's thread after a result. */
void ucp_learn_live_update(const ucp_learn_t *learn);

void ucp_learn_live_close(ucp_learn_t *learn);

#endif
