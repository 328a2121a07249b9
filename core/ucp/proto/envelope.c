/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The selection by cost: for each size, the candidate with the lowest cost. The
 * result, the lower envelope of the candidates' cost functions, is written as
 * rows of a table.
 */
#include "ucp/proto/proto.h"

#include "ucs/datastruct/piecewise_func.h"
#include "ucs/debug/assert.h"

#include <stdlib.h>

/* Copies the entries of the envelope to the table. Adjacent entries with the
 * same protocol share a row. The last row is for the last entry. An entry that
 * does not fit is covered by the row of a later entry. */
static void fill_table(const ucp_proto_candidate_t *list, unsigned num,
                       const ucs_envelope_entry_t *entries, unsigned count,
                       ucp_proto_table_t *table)
{
    const ucp_proto_t *proto;
    unsigned rows = 0;
    unsigned i;

    for (i = 0; i < count; ++i) {
        proto = (entries[i].index < num) ? list[entries[i].index].proto : NULL;
        if ((rows > 0) && (table->steps[rows - 1].proto == proto)) {
            table->steps[rows - 1].max = entries[i].end;
            continue;
        }
        if ((rows == UCP_PROTO_MAX_STEPS - 1) && (i < count - 1)) {
            continue;
        }
        table->steps[rows].max   = entries[i].end;
        table->steps[rows].proto = proto;
        ++rows;
    }
}

ucs_status_t ucp_proto_envelope(const ucp_proto_candidate_t *list,
                                unsigned count, ucp_proto_table_t *table)
{
    const ucs_piecewise_func_t *funcs[UCP_PROTO_MAX_CANDIDATES] = {NULL};
    ucs_piecewise_func_t costs[UCP_PROTO_MAX_CANDIDATES];
    size_t ranges[UCP_PROTO_MAX_CANDIDATES][2];
    ucs_envelope_entry_t *entries;
    ucs_status_t status = UCS_OK;
    unsigned i, num_entries;

    ucs_assert_always(count <= UCP_PROTO_MAX_CANDIDATES);
    for (i = 0; (i < count) && (status == UCS_OK); ++i) {
        if (list[i].max < list[i].min) {
            continue;
        }
        status = ucs_piecewise_func_init(&costs[i]);
        if (status == UCS_OK) {
            funcs[i]     = &costs[i];
            ranges[i][0] = list[i].min;
            ranges[i][1] = list[i].max;
            status       = ucs_piecewise_func_add_range(&costs[i], 0, SIZE_MAX,
                                                        list[i].time);
        }
    }

    if (status == UCS_OK) {
        status = ucs_piecewise_envelope(funcs, ranges, count, &entries,
                                        &num_entries);
    }
    if (status == UCS_OK) {
        fill_table(list, count, entries, num_entries, table);
        free(entries);
    }
    for (i = 0; i < count; ++i) {
        if (funcs[i] != NULL) {
            ucs_piecewise_func_cleanup(&costs[i]);
        }
    }
    return status;
}
