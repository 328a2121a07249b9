/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure: an endpoint with UCP_ERR_HANDLING_MODE_PEER that sends nothing
 * detects that its peer was killed: before the endpoint was created, right
 * after, or later. --frugal: an endpoint without error handling opens no
 * connection before its first use.
 *
 * Member 0 survives, 1 is the victim, which creates no endpoint.
 */
#include "common/side.h"
#include "common/usage.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    SURVIVOR  = 0,
    VICTIM    = 1,
    MANY      = 64, /* Number of endpoints to the victim */
    /* Descriptors of the thread that runs the keepalive timer */
    TIMER_FDS = 3,
};

enum scene {
    BEFORE_CREATE,
    AFTER_CREATE, /* Without a call of progress in between */
    AFTER_WHILE,
    SCENES,
};

static const char *const scene_names[SCENES] = {
    "killed before the endpoint was created",
    "killed after that",
    "killed later",
};

static void victim_main(struct team *team)
{
    struct side side;

    side_open(&side, UCP_FEATURE_TAG);
    side_put_address(&side, team, SURVIVOR);
    for (;;) {
        side_progress(&side);
    }
}

/* Kills the victim. Returns when its process has ended: then its end of the
 * channel is closed. */
static void kill_victim(struct team *team)
{
    EXPECT(kill(team->pids[VICTIM], SIGKILL) == 0);
    while (!team_ready(team, VICTIM)) {
        usleep(100);
    }
}

/* Creates MANY endpoints. A transport that detects at once that the peer has
 * ended creates none. Returns the number of endpoints. */
static unsigned connect_all(struct side *side, const void *address,
                            struct side_ep **eps)
{
    unsigned count = 0;

    while (count < MANY) {
        eps[count] = side_try_connect(side, address);
        if (eps[count] == NULL) {
            break;
        }
        ++count;
    }
    return count;
}

static void survivor_main(struct team *team, enum scene scene)
{
    struct side_ep *eps[MANY];
    struct side side;
    void *address;
    unsigned count, i, fds;
    double died;

    side_open(&side, UCP_FEATURE_TAG);
    address = side_get_address(team, VICTIM);
    fds     = usage_fds();
    if (scene == BEFORE_CREATE) {
        kill_victim(team);
    }
    count = connect_all(&side, address, eps);
    if (scene != BEFORE_CREATE) {
        EXPECT_INT(count, ==, MANY);
    }
    if (scene == AFTER_WHILE) {
        side_linger(&side, 0.2);
        for (i = 0; i < count; ++i) {
            EXPECT_INT(eps[i]->failures, ==, 0);
        }
    }
    if (scene != BEFORE_CREATE) {
        kill_victim(team);
    }

    died = test_now();
    for (i = 0; i < count; ++i) {
        side_wait_failure(eps[i], 10);
    }
    printf("%s: %u endpoints were told after %.0f ms\n", scene_names[scene],
           count, (test_now() - died) * 1e3);
    for (i = 0; i < count; ++i) {
        EXPECT_INT(eps[i]->failures, ==, 1);
        side_close_ep(eps[i], UCP_EP_CLOSE_FLAG_FORCE);
    }
    /* Wait until the connections are closed. The thread of the keepalive timer
     * may still run, because the timer stops only when it next expires and
     * finds no endpoint. */
    side_wait_fds(&side, fds + TIMER_FDS);
    free(address);
    side_close(&side);
}

/* An endpoint without error handling opens no connection until its first
 * use. */
static void frugal_main(struct team *team)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    struct side side;
    void *address;
    unsigned fds;
    ucp_ep_h ep;

    side_open(&side, UCP_FEATURE_TAG);
    address        = side_get_address(team, VICTIM);
    params.address = address;
    fds            = usage_fds();
    EXPECT_OK(ucp_ep_create(side.worker, &params, &ep));
    side_linger(&side, 0.02);
    EXPECT_INT(usage_fds(), <=, fds);
    EXPECT_OK(side_wait(&side, ucp_ep_close_nbx(ep, &(ucp_request_param_t){0}),
                        "closing"));
    free(address);
    kill_victim(team);
    side_close(&side);
}

static void member(struct team *team, void *arg)
{
    const enum scene *scene = arg;

    if (team->rank == VICTIM) {
        victim_main(team);
    } else if (*scene == SCENES) {
        frugal_main(team);
    } else {
        survivor_main(team, *scene);
    }
}

int main(int argc, char **argv)
{
    bool frugal      = team_asked(argc, argv, "--frugal");
    enum scene first = frugal ? SCENES : 0, last = frugal ? SCENES : SCENES - 1;
    enum scene scene;
    int status = 0;

    for (scene = first; (scene <= last) && (status == 0); ++scene) {
        struct team team = {
            .limit   = 60,
            .may_die = {[VICTIM] = true},
            .silent  = true,
        };

        status = team_run(&team, 2, member, &scene);
        if (status != 0) {
            fprintf(stderr, "scene: %s\n",
                    (scene < SCENES) ? scene_names[scene] :
                                       "no error handling");
        }
    }
    return status;
}
