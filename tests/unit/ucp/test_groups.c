/* SPDX-License-Identifier: BSD-3-Clause */
/* The groups in which the requests of an epoch complete, and the span between
 * two of their ends whose time counts (ucp/learn/groups.h). */
#include "suite.h"
#include "ucp/learn/groups.h"

/* Adds a group of `size` requests, which ends `time` after the last one. */
static void add(ucp_groups_t *groups, unsigned size, ucs_time_t time)
{
    ucp_group_end_t end = {.requests = 100};

    if (groups->count > 0) {
        end = groups->ends[(groups->count - 1) % UCP_GROUPS_MAX];
    }
    end.time += time;
    end.requests += size;
    end.size = size;
    ucp_groups_add(groups, &end);
}

/* Checks the number of requests in the span and their time; 0: no span. */
static void check(const ucp_groups_t *groups, unsigned requests,
                  ucs_time_t time)
{
    const ucp_group_end_t *first, *last;

    if (requests == 0) {
        ck_assert(!ucp_groups_span(groups, &first, &last));
        return;
    }
    ck_assert(ucp_groups_span(groups, &first, &last));
    ck_assert_uint_eq(last->requests - first->requests, requests);
    ck_assert_uint_eq(last->time - first->time, time);
}

/* Requests that complete one at a time, or in pairs: all count, except those of
 * the first group, whose begin is not known. */
START_TEST(small_groups)
{
    ucp_groups_t groups = {0};
    unsigned i;

    check(&groups, 0, 0);
    add(&groups, 1, 10);
    check(&groups, 0, 0);
    for (i = 0; i < 8; ++i) {
        add(&groups, 1, 10);
        add(&groups, 2, 15);
    }
    check(&groups, 24, 200);
}
END_TEST

/* Four requests one at a time, each in 10, then twelve together, in 60: 16 in
 * 100, wherever the epoch begins and ends. */
START_TEST(cycles_of_groups)
{
    ucp_groups_t groups;
    unsigned begin, i;

    for (begin = 0; begin < 5; ++begin) {
        groups.count = 0;
        for (i = begin; i < 11; ++i) {
            add(&groups, (i % 5 == 4) ? 12 : 1, (i % 5 == 4) ? 60 : 10);
        }
        check(&groups, 16, 100);
    }
}
END_TEST

/* With a single large group there is no such span. */
START_TEST(a_part_of_a_cycle)
{
    ucp_groups_t groups = {0};
    unsigned i;

    for (i = 0; i < 9; ++i) {
        add(&groups, (i == 4) ? 12 : 1, 10);
    }
    check(&groups, 0, 0);
}
END_TEST

/* Of very many groups the last ones are kept. */
START_TEST(many_groups)
{
    ucp_groups_t groups = {0};
    unsigned i;

    for (i = 0; i < 10 * UCP_GROUPS_MAX; ++i) {
        add(&groups, 1, i);
    }
    check(&groups, UCP_GROUPS_MAX - 1,
          (UCP_GROUPS_MAX - 1) * (10 * UCP_GROUPS_MAX - UCP_GROUPS_MAX / 2));
}
END_TEST

SUITE_MAIN("groups", small_groups, cycles_of_groups, a_part_of_a_cycle,
           many_groups)
