/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes what is learnt about the fastest method to records among the counters,
 * which other processes can read (live.h). */
#include "ucp/learn/live.h"

#include "ucp/stats/stats.h"

#include <stdio.h>

void ucp_learn_live_open(ucp_learn_t *learn, ucp_worker_h worker, ucp_op_t op,
                         ucp_learn_load_t load, size_t length)
{
    char name[UCS_STATS_NAME_MAX];

    if (worker->stats == NULL) {
        return;
    }
    snprintf(name, sizeof(name), "%s of %zu KiB%s", ucp_proto_op_name(op),
             (size_t)1 << (ucp_learn_size_class(length) + UCP_LEARN_MIN_LOG -
                           10),
             ucp_learn_load_name(load));
    learn->record = ucs_stats_create(UCP_STATS_LEARNT,
                                     ucp_stats_worker_record(worker->stats),
                                     name);
    ucp_learn_live_update(learn);
}

static void set(const ucp_learn_t *learn, unsigned counter, uint64_t value)
{
    __atomic_store_n(&learn->record->values[counter], value, __ATOMIC_RELAXED);
}

void ucp_learn_live_update(const ucp_learn_t *learn)
{
    unsigned reason, i;
    double time;

    if (learn->record == NULL) {
        return;
    }
    reason = ucp_learn_reason(learn);
    set(learn, UCP_STATS_LEARNT_UNITS, learn->count);
    for (i = 0; i < UCP_LEARN_METHODS; ++i) {
        time = ucp_learn_time(learn, i);
        set(learn, UCP_STATS_LEARNT_SELECTED + i, i == learn->best);
        set(learn, UCP_STATS_LEARNT_SPEED + i,
            (time > 0) ? (uint64_t)(1e-6 / time) : 0);
    }
    for (i = 0; i < UCP_LEARN_REASONS; ++i) {
        set(learn, UCP_STATS_LEARNT_REASON + i, i == reason);
    }
}

void ucp_learn_live_close(ucp_learn_t *learn)
{
    ucs_stats_end(learn->record, UCS_OK);
}
