/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure: when a peer is killed with SIGKILL, idle, during small or large
 * sends to it or large sends from it, the endpoint's error handler is called
 * once, every operation on the endpoint ends within a time limit, a third
 * process is not affected, and no descriptor is left open.
 *
 * Member 0 survives, 1 is the third process, 2 is the victim.
 */
#include "common/data.h"
#include "common/side.h"
#include "common/usage.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    SURVIVOR  = 0,
    BYSTANDER = 1,
    VICTIM    = 2,
    WINDOW    = 16,
    LARGE     = 4 * 1024 * 1024,
    SMALL     = 100,
};

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

enum scene {
    /* Only a greeting was sent to the victim */
    IDLE,
    /* The survivor sends small messages at the highest rate */
    SMALL_SENDS,
    /* Large sends that the victim receives */
    LARGE_SENDS,
    /* Large sends that the victim never receives */
    LARGE_WAITING,
    /* The victim sends large messages to the survivor */
    RECEIVING,
    SCENES,
};

static const char *const scene_names[SCENES] = {
    "idle",      "small sends", "large sends", "large sends not received",
    "receiving",
};

struct survivor {
    struct team *team;
    struct side side;
    struct side_ep *victim, *bystander;
    enum scene scene;
    struct side_op ops[WINDOW];
    bool used[WINDOW];
    char *buffer;
    uint64_t chats;
};

/* Receives a large message, and replies to every word; a zero is the last. */
static void bystander_main(struct team *team)
{
    uint64_t word = 1;
    char *buffer  = malloc(LARGE);
    struct side_op large;
    struct side side;
    struct side_ep *ep;

    EXPECT(buffer != NULL);
    side_open(&side, UCP_FEATURE_TAG);
    ep = side_meet(&side, team, SURVIVOR);
    side_recv(&side, &large, buffer, LARGE, 0xc2, ALL);
    while (word != 0) {
        side_recv_wait(&side, &word, sizeof(word), 0xc0, ALL);
        side_send_wait(ep, &word, sizeof(word), 0xc1);
    }
    side_complete(&side, &large, "large message");
    side_close_ep(ep, 0);
    side_close(&side);
    free(buffer);
}

static void chat(struct survivor *survivor, uint64_t word)
{
    uint64_t answer = ~word;

    side_send_wait(survivor->bystander, &word, sizeof(word), 0xc0);
    side_recv_wait(&survivor->side, &answer, sizeof(answer), 0xc1, ALL);
    EXPECT_INT(answer, ==, word);
    ++survivor->chats;
}

/* Runs until it is killed. */
static void victim_main(struct team *team, enum scene scene)
{
    struct side_op ops[WINDOW];
    char *buffer = malloc(LARGE);
    char word    = 0;
    struct side side;
    struct side_ep *ep;
    int i;

    EXPECT(buffer != NULL);
    side_open(&side, UCP_FEATURE_TAG);
    ep = side_meet(&side, team, SURVIVOR);
    side_send_wait(ep, &word, 1, 0xa0);
    side_recv_wait(&side, &word, 1, 0xa1, ALL);
    for (i = 0; i < WINDOW; ++i) {
        if (scene == RECEIVING) {
            side_send(ep, &ops[i], buffer, LARGE, 0xb0);
        } else if (scene == LARGE_SENDS) {
            side_recv(&side, &ops[i], buffer, LARGE, 0xb0, ALL);
        } else {
            ops[i] = (struct side_op){.done = true};
        }
    }
    for (i = 0;; i = (i + 1) % WINDOW) {
        side_progress(&side);
        if (!ops[i].done) {
            continue;
        }
        if (scene == RECEIVING) {
            side_send(ep, &ops[i], buffer, LARGE, 0xb0);
        } else if (scene == LARGE_SENDS) {
            side_recv(&side, &ops[i], buffer, LARGE, 0xb0, ALL);
        } else if (scene == SMALL_SENDS) {
            side_recv(&side, &ops[i], buffer, SMALL, 0xb0, ALL);
        }
    }
}

static void start(struct survivor *survivor, int i)
{
    survivor->used[i] = true;
    switch (survivor->scene) {
    case SMALL_SENDS:
        side_send(survivor->victim, &survivor->ops[i], survivor->buffer, SMALL,
                  0xb0);
        break;
    case LARGE_SENDS:
    case LARGE_WAITING:
        side_send(survivor->victim, &survivor->ops[i], survivor->buffer, LARGE,
                  0xb0);
        break;
    case RECEIVING:
        side_recv(&survivor->side, &survivor->ops[i], survivor->buffer, LARGE,
                  0xb0, ALL);
        break;
    default:
        survivor->used[i] = false;
    }
}

/* Keeps WINDOW operations in flight (IDLE: none) for `seconds`, or until the
 * endpoint has failed. */
static void keep_busy(struct survivor *survivor, double seconds)
{
    double end = test_now() + seconds;
    int i;

    while ((test_now() < end) && (survivor->victim->failures == 0)) {
        for (i = 0; i < WINDOW; ++i) {
            if (!survivor->used[i] || survivor->ops[i].done) {
                start(survivor, i);
            }
        }
        side_progress(&survivor->side);
    }
}

/* Waits until every operation on the failed endpoint has ended. A receive
 * without a match belongs to no endpoint, so that it must be cancelled. */
static void end_operations(struct survivor *survivor)
{
    int i;

    for (i = 0; i < WINDOW; ++i) {
        if (!survivor->used[i]) {
            continue;
        }
        if ((survivor->scene == RECEIVING) && !survivor->ops[i].done) {
            ucp_request_cancel(survivor->side.worker, survivor->ops[i].request);
        }
        side_finish(&survivor->side, &survivor->ops[i], 10,
                    "an operation with a dead peer");
    }
}

static void greet_victim(struct survivor *survivor)
{
    char word = 0;

    survivor->victim = side_meet(&survivor->side, survivor->team, VICTIM);
    side_recv_wait(&survivor->side, &word, 1, 0xa0, ALL);
    side_send_wait(survivor->victim, &word, 1, 0xa1);
    EXPECT_OK(side_flush(survivor->victim));
}

static void survivor_main(struct team *team, enum scene scene)
{
    struct survivor survivor = {
        .team   = team,
        .scene  = scene,
        .buffer = calloc(1, LARGE),
    };
    unsigned fds;
    double died;

    EXPECT(survivor.buffer != NULL);
    side_open(&survivor.side, UCP_FEATURE_TAG);
    survivor.bystander = side_meet(&survivor.side, team, BYSTANDER);
    chat(&survivor, 1);
    /* The large send registers memory. A transport may open devices for that
     * and keep them, which must happen before descriptors are counted. */
    side_send_wait(survivor.bystander, survivor.buffer, LARGE, 0xc2);
    fds = usage_fds();

    greet_victim(&survivor);
    keep_busy(&survivor, 0.2);
    EXPECT_INT(survivor.victim->failures, ==, 0);
    EXPECT(kill(team->pids[VICTIM], SIGKILL) == 0);
    died = test_now();
    keep_busy(&survivor, test_seconds(10));
    side_wait_failure(survivor.victim, 10);
    printf("%s: noticed after %.0f ms\n", scene_names[scene],
           (test_now() - died) * 1e3);
    end_operations(&survivor);
    chat(&survivor, 2);
    EXPECT_INT(survivor.victim->failures, ==, 1);
    side_close_ep(survivor.victim, UCP_EP_CLOSE_FLAG_FORCE);
    side_wait_fds(&survivor.side, fds);

    EXPECT_INT(survivor.bystander->failures, ==, 0);
    chat(&survivor, 0);
    side_close_ep(survivor.bystander, 0);
    side_close(&survivor.side);
    free(survivor.buffer);
}

static void member(struct team *team, void *arg)
{
    enum scene scene = *(enum scene *)arg;

    switch (team->rank) {
    case SURVIVOR:
        survivor_main(team, scene);
        break;
    case BYSTANDER:
        bystander_main(team);
        break;
    default:
        victim_main(team, scene);
    }
}

int main(void)
{
    enum scene scene;
    int status = 0;

    for (scene = 0; (scene < SCENES) && (status == 0); ++scene) {
        struct team team = {.limit = 60, .may_die = {[VICTIM] = true}};

        status = team_run(&team, 3, member, &scene);
        if (status != 0) {
            fprintf(stderr, "scene: %s\n", scene_names[scene]);
        }
    }
    return status;
}
