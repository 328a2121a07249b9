/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shortage: one allocation of memory or of a descriptor fails in one of two
 * processes; then the next one, in a new pair of processes, and so on until all
 * calls have failed once. Each time, all calls return and all requests end
 * within a time limit on both sides, with success or an error; nothing is
 * leaked; and the same two processes can repeat everything without an error.
 *
 * --descriptors, --members N (1 or 2), --from N, --every N, --burst N
 * (consecutive failures), --only N, --member N (the one whose calls fail),
 * --show.
 */
#include "play.h"
#include "scarce.h"

#include "common/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct plan {
    enum scarce what;
    int members;
    int only_member; /* -1: one after the other */
    uint64_t from, every, burst, only;
    bool show;
};

/* The result of a process of a pair, for the parent. */
struct outcome {
    uint64_t calls;
    bool failed; /* A call has failed */
    ucs_status_t status;
};

struct trial {
    const struct plan *plan;
    int member;   /* The member whose call fails */
    uint64_t nth; /* 0: no failure */
    struct outcome *outcomes;
};

/* Resources that are in use after everything was closed. */
struct holdings {
    int64_t blocks;
    unsigned fds;
    unsigned shared;
};

static struct holdings holdings_now(void)
{
    return (struct holdings){scarce_blocks(), usage_fds(), usage_shared()};
}

static void expect_no_more(const struct holdings *before,
                           const struct holdings *after, const char *when)
{
    if ((after->blocks > before->blocks) || (after->fds > before->fds) ||
        (after->shared > before->shared)) {
        scarce_show();
        usage_show_fds();
        usage_show_shared();
        FAIL("%s: %lld blocks, %u descriptors and %u shared mappings are held,"
             " %lld, %u and %u are usual",
             when, (long long)after->blocks, after->fds, after->shared,
             (long long)before->blocks, before->fds, before->shared);
    }
}

/* The first run loads libraries and fills caches, which stay. After it, a
 * member with a failure uses no more resources than one without. */
static void member(struct team *team, void *arg)
{
    static struct play play;
    const struct trial *trial = arg;
    struct outcome *outcome   = &trial->outcomes[team->rank];
    bool starved              = (trial->member == team->rank);
    struct holdings before, after;

    scarce_begin(trial->plan->what, starved ? trial->nth : 0,
                 trial->plan->burst);
    outcome->status = play_run(&play, team);
    outcome->calls  = scarce_end();
    outcome->failed = scarce_has_failed();
    if (trial->plan->show && starved) {
        fprintf(stderr, "%s: %s\n", play.step,
                ucs_status_string(outcome->status));
        scarce_show();
    }

    EXPECT_OK(play_run(&play, team));
    before = holdings_now();
    EXPECT_OK(play_run(&play, team));
    after = holdings_now();
    expect_no_more(&before, &after, "once more");
}

/* Runs a pair of processes in which a call fails. Returns the exit status. */
static int try(const struct plan *plan, int whose, uint64_t nth,
               struct outcome *outcomes)
{
    struct team team   = {.limit = 50};
    struct trial trial = {plan, whose, nth, outcomes};
    int result;

    memset(outcomes, 0, plan->members * sizeof(*outcomes));
    result = team_run(&team, plan->members, member, &trial);
    if (result != 0) {
        fprintf(stderr, "it was: --member %d --only %llu%s\n", whose,
                (unsigned long long)nth,
                (plan->what == SCARCE_DESCRIPTORS) ? " --descriptors" : "");
    }
    return result;
}

/* Repeats with the next call until none fails; returns the number of bad
 * results. */
static int try_all(const struct plan *plan, int whose, struct outcome *outcomes)
{
    uint64_t nth = plan->from, tried = 0, errors = 0;
    int bad = 0, result;

    do {
        result = try(plan, whose, nth, outcomes);
        bad += (result != 0);
        if ((result == 0) && !outcomes[whose].failed) {
            break; /* the process makes fewer calls */
        }
        ++tried;
        errors += (outcomes[whose].status != UCS_OK);
        nth += plan->every;
    } while (bad < 60);
    printf("member %d: %llu calls, %llu of them failed, %llu with an error for"
           " the user; %d went wrong\n",
           whose, (unsigned long long)outcomes[whose].calls,
           (unsigned long long)tried, (unsigned long long)errors, bad);
    return bad;
}

static uint64_t number_of(int argc, char **argv, const char *word,
                          uint64_t otherwise)
{
    int i;

    for (i = 1; i + 1 < argc; ++i) {
        if (strcmp(argv[i], word) == 0) {
            return strtoull(argv[i + 1], NULL, 10);
        }
    }
    return otherwise;
}

int main(int argc, char **argv)
{
    struct plan plan = {
        .what = team_asked(argc, argv, "--descriptors") ? SCARCE_DESCRIPTORS :
                                                          SCARCE_MEMORY,
        .members     = (int)number_of(argc, argv, "--members", 2),
        .only_member = (int)number_of(argc, argv, "--member", (uint64_t)-1),
        .from        = number_of(argc, argv, "--from", 1),
        .every       = number_of(argc, argv, "--every", 1),
        .burst       = number_of(argc, argv, "--burst", 1),
        .only        = number_of(argc, argv, "--only", 0),
        .show        = team_asked(argc, argv, "--show"),
    };
    struct outcome *outcomes;
    int whose, bad = 0;

    outcomes = mmap(NULL, TEAM_MAX * sizeof(*outcomes), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(outcomes != MAP_FAILED);
    if (plan.only > 0) {
        return try(&plan, plan.only_member, plan.only, outcomes);
    }
    for (whose = 0; whose < plan.members; ++whose) {
        if ((plan.only_member < 0) || (plan.only_member == whose)) {
            bad += try_all(&plan, whose, outcomes);
        }
    }
    return bad != 0;
}
