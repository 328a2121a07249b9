/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shortage: tests UCP with a failed allocation of memory or of a descriptor.
 *
 * A trial is a pair of processes, the members 0 and 1, which communicate over
 * UCP. In one member the first allocation fails. The next trial is a new pair
 * in which the second allocation fails, and so on until every allocation of the
 * member has failed once. In each trial all calls of UCP must return and all
 * requests must end within a time limit in both members, with success or an
 * error. Afterwards the same two processes must be able to repeat everything
 * without an error. Neither a run with a failed call nor one without may leave
 * resources in use.
 *
 * Options:
 *   --descriptors  allocations of descriptors fail; otherwise those of memory
 *   --members N    processes of a trial: 1 or 2
 *   --member N     calls fail only in this member; otherwise in each in turn
 *   --from N       number of the call that fails in the first trial
 *   --every N      step from the number of one trial to that of the next
 *   --burst N      number of consecutive calls that fail in a trial
 *   --only N       one trial only, in which call N of --member fails
 *   --show         print where the call has failed, and the resulting status
 */
#include "play.h"
#include "scarce.h"

#include "common/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The options. */
struct plan {
    enum scarce what;
    int members;
    int only_member;                   /* --member; -1: each member in turn */
    uint64_t from, every, burst, only; /* only: 0: all trials */
    bool show;
};

/* The result of one member of a trial. It is in shared memory, where the parent
 * reads it. */
struct outcome {
    uint64_t calls;      /* Counted allocations */
    bool failed;         /* At least one call has failed */
    ucs_status_t status; /* First error that UCP has returned; UCS_OK: none */
};

struct trial {
    const struct plan *plan;
    int member;               /* The member whose calls fail */
    uint64_t nth;             /* Number of the first call that fails */
    struct outcome *outcomes; /* One for each member */
};

/* Resources of a process that are in use after everything was closed. */
struct holdings {
    int64_t blocks;  /* Blocks of memory; scarce_blocks() */
    unsigned fds;    /* Descriptors */
    unsigned shared; /* Mappings of shared memory */
};

static struct holdings holdings_now(void)
{
    return (struct holdings){scarce_blocks(), usage_fds(), usage_shared()};
}

/* Fails the test if more resources are in use than `before`. */
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

/* A run in which the calls of the trial fail. */
static void run_starved(struct play *play, struct team *team,
                        const struct trial *trial, struct outcome *outcome)
{
    bool starved = (trial->member == team->rank);

    scarce_begin(trial->plan->what, starved ? trial->nth : 0,
                 trial->plan->burst);
    outcome->status = play_run(play, team);
    outcome->calls  = scarce_end();
    outcome->failed = scarce_has_failed();
    if (trial->plan->show && starved) {
        fprintf(stderr, "%s: %s\n", play->step,
                ucs_status_string(outcome->status));
        scarce_show();
    }
}

/* One member of a trial. It runs four times; calls fail in the first and in the
 * third run. The first two runs load libraries and fill caches, which stay in
 * use. After the fourth run no more resources may be in use than after the
 * second. So what the first run leaves is not found, but the third run makes
 * all calls except those that are made once in a process. */
static void member(struct team *team, void *arg)
{
    static struct play play;
    const struct trial *trial = arg;
    struct outcome again;
    struct holdings before, after;

    run_starved(&play, team, trial, &trial->outcomes[team->rank]);
    EXPECT_OK(play_run(&play, team));
    before = holdings_now();
    run_starved(&play, team, trial, &again);
    EXPECT_OK(play_run(&play, team));
    after = holdings_now();
    expect_no_more(&before, &after, "once more");
}

/* Runs one trial in which call number `nth` of the member `whose` fails.
 * Returns 0, or the exit status of a member that has failed. */
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

/* Runs trials for one member until the number of the call that is to fail
 * exceeds the member's number of calls. Returns the number of trials that have
 * failed; stops at 60 of them. */
static int try_all(const struct plan *plan, int whose, struct outcome *outcomes)
{
    uint64_t nth = plan->from, tried = 0, errors = 0;
    int bad = 0, result;

    do {
        result = try(plan, whose, nth, outcomes);
        bad += (result != 0);
        if ((result == 0) && !outcomes[whose].failed) {
            break; /* the member makes fewer than `nth` calls */
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

/* Returns the number after the option `word`, or `otherwise` without it. */
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
