/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure over shared memory: one of three processes is killed at a random
 * moment, including its start, while the others exchange messages of random
 * sizes with it. In every other round the survivors sleep instead of polling.
 * Both survivors are notified, every operation ends, and they continue with
 * each other; no resources are left.
 *
 * Members 0 and 1 survive, 2 is the victim; --rounds N.
 */
#include "common/data.h"
#include "common/side.h"
#include "common/usage.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SURVIVORS = 2, VICTIM = 2, WINDOW = 8, LARGEST = 1 << 20, CHATS = 10 };

static const ucp_tag_t ALL       = ~(ucp_tag_t)0;
static const double LONGEST_LIFE = 0.03; /* seconds */

struct round {
    uint64_t random;
    bool sleeps;
};

struct talk {
    struct side side;
    struct side_ep *ep;
    struct side_op sends[WINDOW], receives[WINDOW];
    bool used[WINDOW];
    char *out, *in;
    struct random random;
};

/* Returns a random length on a logarithmic scale. */
static size_t any_length(struct random *random)
{
    return random_below(random, (size_t)1 << random_below(random, 21));
}

static void talk_step(struct talk *talk, ucp_tag_t tag)
{
    int i;

    for (i = 0; i < WINDOW; ++i) {
        if (!talk->used[i] || talk->sends[i].done) {
            side_send(talk->ep, &talk->sends[i], talk->out,
                      any_length(&talk->random), tag);
        }
        if (!talk->used[i] || talk->receives[i].done) {
            side_recv(&talk->side, &talk->receives[i],
                      talk->in + (size_t)i * LARGEST, LARGEST, 0xb0 + VICTIM,
                      ALL);
        }
        talk->used[i] = true;
    }
    side_progress(&talk->side);
}

static void talk_open(struct talk *talk, uint64_t seed)
{
    *talk     = (struct talk){.random = {seed | 1}};
    talk->out = calloc(1, LARGEST);
    talk->in  = malloc((size_t)WINDOW * LARGEST);
    EXPECT((talk->out != NULL) && (talk->in != NULL));
    side_open(&talk->side, UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP);
}

static void talk_close(struct talk *talk)
{
    side_close(&talk->side);
    free(talk->out);
    free(talk->in);
}

/* Sends to both survivors and receives until it is killed. */
static void victim_main(struct team *team, const struct round *round)
{
    struct side_ep *eps[SURVIVORS];
    struct talk talk;
    int i;

    talk_open(&talk, round->random * 3);
    for (i = 0; i < SURVIVORS; ++i) {
        eps[i] = side_meet(&talk.side, team, i);
    }
    for (i = 0;; i = (i + 1) % SURVIVORS) {
        talk.ep = eps[i];
        talk_step(&talk, 0xb0 + VICTIM);
    }
}

/* Receives bytes from the victim over the team's channel; returns false if the
 * victim was killed before it sent them. */
static bool get_from_victim(struct team *team, void *data, size_t length)
{
    return recv(team->channels[VICTIM], data, length, MSG_WAITALL) ==
           (ssize_t)length;
}

static struct side_ep *meet_victim(struct talk *talk, struct team *team)
{
    struct side_ep *ep = NULL;
    size_t length, own_length;
    void *own     = side_address(&talk->side, &own_length);
    void *address = NULL;
    int channel   = team->channels[VICTIM];

    if ((send(channel, &own_length, sizeof(own_length), MSG_NOSIGNAL) > 0) &&
        (send(channel, own, own_length, MSG_NOSIGNAL) > 0) &&
        get_from_victim(team, &length, sizeof(length))) {
        EXPECT_INT(length, <=, 65536);
        address = malloc(length);
        EXPECT(address != NULL);
        if (get_from_victim(team, address, length)) {
            ep = side_try_connect(&talk->side, address);
        }
    }
    free(address);
    free(own);
    return ep;
}

/* Sleeps until the worker has an event. If a wake-up is lost, the test fails
 * after 10 seconds. */
static void sleep_once(struct talk *talk)
{
    struct pollfd event = {.events = POLLIN};
    ucs_status_t status = ucp_worker_arm(talk->side.worker);

    if (status == UCS_ERR_BUSY) {
        return;
    }
    EXPECT_OK(status);
    EXPECT_OK(ucp_worker_get_efd(talk->side.worker, &event.fd));
    EXPECT_INT(poll(&event, 1, (int)(test_seconds(10) * 1e3)), ==, 1);
}

static void outlive(struct talk *talk, const struct round *round, pid_t victim,
                    double when, int rank)
{
    double end  = when + test_seconds(10);
    bool killed = (rank != 0);
    int i;

    while (talk->ep->failures == 0) {
        if (!killed && (test_now() >= when)) {
            EXPECT(kill(victim, SIGKILL) == 0);
            killed = true;
        }
        talk_step(talk, 0xb0 + VICTIM);
        if (killed && round->sleeps && (talk->ep->failures == 0)) {
            if (ucp_worker_progress(talk->side.worker) == 0) {
                sleep_once(talk);
            }
        }
        if (test_now() > end) {
            FAIL("nobody noticed the end of the victim");
        }
    }
    for (i = 0; i < WINDOW; ++i) {
        if (!talk->receives[i].done) {
            ucp_request_cancel(talk->side.worker, talk->receives[i].request);
        }
        side_finish(&talk->side, &talk->sends[i], 10, "a send to the dead");
        side_finish(&talk->side, &talk->receives[i], 10, "a receive");
    }
    EXPECT_INT(talk->ep->failures, ==, 1);
    side_close_ep(talk->ep, UCP_EP_CLOSE_FLAG_FORCE);
}

static void chat(struct talk *talk, struct side_ep *other, int rank)
{
    struct side_op send, receive;
    size_t length = 1;
    int i;

    for (i = 0; i < CHATS; ++i, length *= 4) {
        data_fill(talk->out, length, (uint64_t)i);
        side_recv(&talk->side, &receive, talk->in, LARGEST,
                  (ucp_tag_t)(0xc0 + 1 - rank), ALL);
        side_send(other, &send, talk->out, length, 0xc0 + (ucp_tag_t)rank);
        side_complete(&talk->side, &send, "send to the other survivor");
        side_complete(&talk->side, &receive, "receive from the other");
        EXPECT_INT(receive.info.length, ==, length);
        data_verify(talk->in, length, (uint64_t)i);
    }
}

static void survivor_main(struct team *team, const struct round *round)
{
    struct random random = {round->random | 1};
    double when          = test_now() + (random_below(&random, 1000) * 1e-3) *
                                   test_seconds(LONGEST_LIFE);
    struct side_ep *other;
    struct talk talk;
    unsigned fds;
    int efd;

    talk_open(&talk, round->random + (uint64_t)team->rank);
    other = side_meet(&talk.side, team, 1 - team->rank);
    chat(&talk, other, team->rank);
    EXPECT_OK(ucp_worker_get_efd(talk.side.worker, &efd));
    fds     = usage_fds();
    talk.ep = meet_victim(&talk, team);
    if (talk.ep != NULL) {
        outlive(&talk, round, team->pids[VICTIM], when, team->rank);
    } else if (team->rank == 0) {
        kill(team->pids[VICTIM], SIGKILL);
    }
    chat(&talk, other, team->rank);
    side_close_ep(other, 0);
    /* one more descriptor may be open: a sleeping survivor opens it to wake the
     * other one */
    side_wait_fds(&talk.side, fds + 1);
    talk_close(&talk);
}

static void member(struct team *team, void *arg)
{
    if (team->rank == VICTIM) {
        victim_main(team, arg);
    } else {
        survivor_main(team, arg);
    }
}

/* Uses a separate folder for named shared memory, because other programs create
 * files in the default one. */
static const char *make_folder(void)
{
    static char folder[] = "/dev/shm/shm-kills-XXXXXX";

    EXPECT(mkdtemp(folder) != NULL);
    setenv("UCX_POSIX_DIR", folder, 1);
    return folder;
}

int main(int argc, char **argv)
{
    struct random random = {random_seed(argc, argv)};
    const char *folder   = make_folder();
    int rounds = 80, status = 0, i;

    if ((argc > 2) && (strcmp(argv[1], "--rounds") == 0)) {
        rounds = atoi(argv[2]);
    }
    /* no warnings: some transports read only some of these variables */
    setenv("UCX_WARN_UNUSED_ENV_VARS", "n", 1);
    setenv("UCX_POSIX_KEEPALIVE", "10ms", 1);
    setenv("UCX_SYSV_KEEPALIVE", "10ms", 1);
    setenv("UCX_CMA_KEEPALIVE", "10ms", 1);
    /* With a fixed bandwidth UCP selects the same transport for large data in
     * all rounds, and its resources are open before descriptors are counted. */
    setenv("UCX_POSIX_BW", "12GBps", 1);
    setenv("UCX_SYSV_BW", "12GBps", 1);
    for (i = 0; (i < rounds) && (status == 0); ++i) {
        struct team team   = {.limit = 40, .may_die = {[VICTIM] = true}};
        struct round round = {random_next(&random), (i % 2) == 1};

        status = team_run(&team, 3, member, &round);
    }
    if (rmdir(folder) != 0) {
        fprintf(stderr, "%s: %s\n", folder, strerror(errno));
        status = 1; /* the rounds have left files in the folder */
    }
    return status;
}
