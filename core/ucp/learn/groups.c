/* SPDX-License-Identifier: BSD-3-Clause */
/* The groups in which the requests of an epoch complete: see groups.h. */
#include "ucp/learn/groups.h"

#include "ucs/sys/math.h"

/* If the largest group has more than this part of the requests, a part of a
 * cycle of groups would make a difference. */
#define LARGE 0.25

void ucp_groups_add(ucp_groups_t *groups, const ucp_group_end_t *end)
{
    groups->ends[groups->count++ % UCP_GROUPS_MAX] = *end;
}

/* Returns the number of the oldest end that is kept. */
static unsigned oldest(const ucp_groups_t *groups)
{
    return groups->count - ucs_min(groups->count, (unsigned)UCP_GROUPS_MAX);
}

static const ucp_group_end_t *get(const ucp_groups_t *groups, unsigned number)
{
    return &groups->ends[number % UCP_GROUPS_MAX];
}

/* Returns the size of the smallest groups whose ends can be used. */
static unsigned least_size(const ucp_groups_t *groups)
{
    unsigned first   = oldest(groups);
    unsigned largest = 0;
    unsigned i, requests;

    for (i = first; i < groups->count; ++i) {
        largest = ucs_max(largest, get(groups, i)->size);
    }
    requests = get(groups, groups->count - 1)->requests -
               get(groups, first)->requests;
    return (largest > LARGE * requests) ? (largest + 1) / 2 : 0;
}

int ucp_groups_span(const ucp_groups_t *groups, const ucp_group_end_t **first_p,
                    const ucp_group_end_t **last_p)
{
    unsigned found = 0;
    const ucp_group_end_t *end;
    unsigned i, least;

    if (groups->count < 2) {
        return 0;
    }
    least = least_size(groups);
    for (i = oldest(groups); i < groups->count; ++i) {
        end = get(groups, i);
        if (end->size < least) {
            continue;
        }
        if (found++ == 0) {
            *first_p = end;
        }
        *last_p = end;
    }
    return found >= 2;
}
