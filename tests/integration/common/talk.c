/* SPDX-License-Identifier: BSD-3-Clause */
/* See talk.h. */
#include "talk.h"

#include <stdio.h>

void talk_agree(struct talk *talk)
{
    team_barrier(talk->team, side_progress, &talk->side);
}

ucs_status_t talk_finish(struct talk *talk, ucs_status_ptr_t request)
{
    double end = test_now() + test_seconds(30);
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_RAW_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        if (ucp_worker_progress(talk->side.worker) == 0) {
            EXPECT_OK(ucp_worker_wait(talk->side.worker));
        }
        if (test_now() > end) {
            FAIL("an operation is not over after 30 s");
        }
    }
    ucp_request_free(request);
    return status;
}

void talk_open(struct talk *talk, struct team *team, uint64_t features,
               size_t size)
{
    int kind;

    *talk = (struct talk){.team = team};
    side_open(&talk->side, features);
    talk->ep = side_meet(&talk->side, team, 1 - team->rank);
    for (kind = 0; kind < memory_kinds(); ++kind) {
        memory_make(&talk->side, &talk->memory[kind], size, kind);
    }
    talk_agree(talk);
}

void talk_drop(struct talk *talk)
{
    int kind;

    for (kind = 0; kind < memory_kinds(); ++kind) {
        memory_drop(&talk->side, &talk->memory[kind]);
    }
    side_close_ep(talk->ep, UCP_EP_CLOSE_FLAG_FORCE);
    side_close(&talk->side);
}

void talk_close(struct talk *talk)
{
    talk_agree(talk);
    talk_drop(talk);
}

void talk_pairs(struct talk *talk, const char *name,
                void (*run)(struct talk *talk, int from, int to))
{
    int from, to;

    for (from = 0; from < memory_kinds(); ++from) {
        for (to = 0; to < memory_kinds(); ++to) {
            if (talk->team->rank == DRIVER) {
                printf("%s: %s to %s\n", name, memory_kind_name(from),
                       memory_kind_name(to));
                fflush(stdout);
            }
            talk_agree(talk);
            run(talk, from, to);
        }
    }
}
