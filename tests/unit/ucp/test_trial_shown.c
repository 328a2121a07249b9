/* SPDX-License-Identifier: BSD-3-Clause */
/* For large messages, UCP selects one of several methods. The printed form
 * of an endpoint and its counters show the selected method and the reason
 * for it. */
#include "sim_machines.h"

#include "ucs/stats/view.h"

#include <stdio.h>

#define SINGLE "tag_send of 1024 KiB"
#define STREAM "tag_send of 128 KiB in streams"

/* Sends `messages` single messages and checks that the printed form of the
 * endpoint contains `words`. */
static void check_printed(unsigned messages, const char *words)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    local_t local;

    open_machine(&local, &machines[2], "y");
    transfer(&local, messages);
    ucp_ep_print_info(local.ep, stream);
    fclose(stream);
    ck_assert_msg(strstr(text, words) != NULL, "%s", text);
    free(text);
    local_close(&local);
}

START_TEST(what_is_learnt_is_shown)
{
    check_printed(40, "1024 KiB: rndv/put");
    check_printed(40, "messages; the fastest\n");
}
END_TEST

/* By the cost estimate a get is the fastest method. No message is timed yet. */
START_TEST(the_estimate_is_the_first_reason)
{
    check_printed(1, "1024 KiB: rndv/get; 1 messages; by estimate");
}
END_TEST

/* Returns the value of a counter in the record that is named `name`. */
static uint64_t value_of(const ucs_stats_view_t *view, const char *name,
                         const char *counter)
{
    const ucs_stats_view_type_t *type;
    unsigned i, k;

    for (i = 0; i < view->num_records; ++i) {
        type = &view->types[view->records[i].type];
        if ((strcmp(type->name, "learnt") != 0) ||
            (strcmp(view->records[i].name, name) != 0)) {
            continue;
        }
        for (k = 0; k < type->num_counters; ++k) {
            if (strcmp(view->counters[type->first_counter + k].name, counter) ==
                0) {
                return view->records[i].values[k];
            }
        }
    }
    ck_abort_msg("no %s of %s", counter, name);
}

/* Reads the counters as another process does (ucx_info --live). */
START_TEST(other_processes_can_see_it)
{
    ucs_stats_view_t *view;
    local_t local;

    ck_assert_int_eq(setenv("UCX_STATS", "y", 1), 0);
    open_machine(&local, &machines[2], "y");
    transfer(&local, 40);
    stream(&local, 100);
    ck_assert_int_eq(ucs_stats_view_self(&view), UCS_OK);
    ck_assert_uint_eq(value_of(view, SINGLE, "selected/put"), 1);
    ck_assert_uint_eq(value_of(view, SINGLE, "selected/get"), 0);
    ck_assert_uint_eq(value_of(view, SINGLE, "reason/fastest"), 1);
    ck_assert_uint_ge(value_of(view, SINGLE, "units"), 10);
    ck_assert_uint_gt(value_of(view, SINGLE, "mb_per_s/put"),
                      value_of(view, SINGLE, "mb_per_s/get"));
    ck_assert_uint_gt(value_of(view, SINGLE, "mb_per_s/get"), 0);
    ck_assert_uint_eq(value_of(view, STREAM, "selected/get"), 1);
    ucs_stats_view_free(view);
    local_close(&local);
    ck_assert_int_eq(unsetenv("UCX_STATS"), 0);
}
END_TEST

SUITE_MAIN("trial_shown", what_is_learnt_is_shown,
           the_estimate_is_the_first_reason, other_processes_can_see_it)
