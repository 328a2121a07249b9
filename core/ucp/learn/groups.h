/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The groups in which the requests of an epoch complete (timing.h): because the
 * process does other work between two calls of progress, or because the peer
 * copies several in one system call. The time from one request to another may
 * include one group too many or too few; the time from the end of a group to
 * the end of another one does not.
 *
 * Often the groups repeat, for example four requests one at a time, and then
 * twelve together, at different rates. So if there are large groups, the time
 * counts from the end of one of them to the end of another one.
 */
#ifndef UCP_GROUPS_H
#define UCP_GROUPS_H

#include "ucs/time/time.h"

#include <stddef.h>
#include <stdint.h>

/** Number of groups whose ends are kept, the last ones. */
enum { UCP_GROUPS_MAX = 64 };

/** The end of a group. The numbers are those of all requests of the epoch that
 *  are complete then. */
typedef struct ucp_group_end {
    ucs_time_t time;
    uint64_t received; /**< Value of ucp_worker::received */
    size_t bytes;
    unsigned requests;
    unsigned size; /**< Requests of this group */
} ucp_group_end_t;

typedef struct ucp_groups {
    unsigned count; /**< Number of groups that have ended; not more are kept
                     *   than UCP_GROUPS_MAX */
    ucp_group_end_t ends[UCP_GROUPS_MAX]; /**< A ring buffer */
} ucp_groups_t;

/** Adds the end of a group. */
void ucp_groups_add(ucp_groups_t *groups, const ucp_group_end_t *end);

/** Finds the two ends between which the time counts. Returns zero if there are
 *  too few. */
int ucp_groups_span(const ucp_groups_t *groups, const ucp_group_end_t **first_p,
                    const ucp_group_end_t **last_p);

#endif
