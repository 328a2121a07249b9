/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is inaccessible to the processor (memory.h): copies that fail,
 * and a peer that is killed while its memory is copied.
 */
#include "common/talk.h"

#include <signal.h>

enum { MOST = 4 * 1024 * 1024 };

static const uint64_t features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP;

/* Returns the status that a message must have. `failing` is the side whose
 * message uses device memory; `is_failing`: it is this side. Without a direct
 * path, copies of that side fail. With one (memory_is_direct()), direct copies
 * of its peer fail, and the data is sent by messages instead. */
static ucs_status_t status_after_failure(int failing, int is_failing)
{
    if (memory_is_direct()) {
        return UCS_OK;
    }
    /* if the sender's copies fail, the receiver is notified with an error */
    return (is_failing || (failing == DRIVER)) ? UCS_ERR_IO_ERROR : UCS_OK;
}

/* Sends four messages. For the first and the third, one side's memory is
 * inaccessible and copies fail, so that the operation ends with
 * status_after_failure(). The others use ordinary memory and succeed. */
static void fail(struct team *team, void *arg)
{
    const int *failing        = arg;
    int fails                 = (team->rank == *failing);
    ucp_request_param_t param = {0};
    struct memory *memory;
    ucs_status_t status;
    struct talk talk;
    int round;

    if (fails != memory_is_direct()) {
        memory_fail();
    }
    talk_open(&talk, team, features, MOST + MEMORY_GUARD);
    for (round = 0; round < 4; ++round) {
        memory = &talk.memory[fails && (round % 2 == 0)];
        status = talk_finish(&talk,
                             (team->rank == DRIVER) ?
                                 ucp_tag_send_nbx(talk.ep->ep, memory->address,
                                                  MOST, 1, &param) :
                                 ucp_tag_recv_nbx(talk.side.worker,
                                                  memory->address, MOST, 1,
                                                  UINT64_MAX, &param));
        EXPECT_STATUS(status, (round % 2 != 0) ?
                                  UCS_OK :
                                  status_after_failure(*failing, fails));
        talk_agree(&talk);
    }
    talk_close(&talk);
}

/* The peer is killed while memory of both sides is copied, sent and received:
 * all operations of the remaining side end within a time limit. */
static void die(struct team *team, void *arg)
{
    const int *rounds         = arg;
    ucp_request_param_t param = {0};
    ucs_status_ptr_t requests[2];
    struct talk talk;
    int i;

    memory_delay("20");
    talk_open(&talk, team, features, MOST + MEMORY_GUARD);
    requests[0] = ucp_tag_recv_nbx(talk.side.worker, talk.memory[1].address,
                                   MOST / 2, 1, UINT64_MAX, &param);
    requests[1] = ucp_tag_send_nbx(talk.ep->ep,
                                   talk.memory[1].address + MOST / 2, MOST / 2,
                                   1, &param);
    if (team->rank == PEER) {
        for (i = 0; i < *rounds; ++i) {
            ucp_worker_progress(talk.side.worker);
        }
        raise(SIGKILL);
    }

    side_wait_failure(talk.ep, 20);
    for (i = 0; i < 2; ++i) {
        if (ucp_request_check_status(requests[i]) == UCS_INPROGRESS) {
            /* a receive whose message has not arrived does not end with the
             * endpoint */
            ucp_request_cancel(talk.side.worker, requests[i]);
        }
        (void)talk_finish(&talk, requests[i]);
    }
    talk_drop(&talk);
}

int main(void)
{
    struct team failing = {.limit = 60, .silent = true};
    struct team dying   = {
          .limit   = 60,
          .may_die = {[PEER] = true},
          .silent  = true,
    };
    int status = 0;
    int who, rounds;

    for (rounds = 0; (rounds <= 200) && (status == 0);
         rounds = 2 * rounds + 3) {
        status = team_run(&dying, 2, die, &rounds);
    }
    for (who = DRIVER; (who <= PEER) && (status == 0); ++who) {
        status = team_run(&failing, 2, fail, &who);
    }
    return status;
}
