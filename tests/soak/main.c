/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The soak test: processes exchange random operations of every class, in
 * rounds. After each round they check that all messages have arrived and all
 * sums are right. Between rounds they close and reopen endpoints, workers or
 * everything.
 *
 * Options: --minutes N or --seconds N, --threads N, --members N, --seed N;
 * --awake: never sleep, for transports without wake-up.
 */
#include "soak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MEMBERS    = 4,
    OPERATIONS = 400,     /* Per thread and round */
    MAX_OPS    = 32,      /* With more outstanding operations a thread waits */
    MAX_BYTES  = 8 << 20, /* Likewise with more bytes of them */
    REPORTS    = 10,      /* Lines of progress per run */
};

/* Seconds after which a thread starts no more operations in a round */
static const double ROUND_LIMIT = 2;

struct options {
    uint64_t seed;
    double seconds;
    int threads;
    bool awake;
};

/* --- a round ------------------------------------------------------------- */

/* The operations; one with a larger weight is started more often. */
static const struct {
    void (*start)(struct actor *actor);
    unsigned weight;
} deeds[] = {
    {tag_send, 34}, {am_send, 26},    {rma_put, 12},     {rma_get, 8},
    {amo_add, 10},  {amo_fetch, 4},   {stream_send, 10}, {rma_flush, 2},
    {rma_check, 1}, {tag_in_vain, 2},
};

static void do_something(struct actor *actor)
{
    unsigned i, sum = 0;
    uint64_t drawn;

    for (i = 0; i < sizeof(deeds) / sizeof(deeds[0]); ++i) {
        sum += deeds[i].weight;
    }
    drawn = random_below(&actor->random, sum);
    for (i = 0; drawn >= deeds[i].weight; ++i) {
        drawn -= deeds[i].weight;
    }
    if ((deeds[i].start != stream_send) || (actor->index == 0)) {
        deeds[i].start(actor);
    }
}

/* Starts the operations of a round, and waits until those of this thread are
 * complete. */
static void work(struct actor *actor)
{
    double end = test_now() + ROUND_LIMIT, deadline;
    int i;

    for (i = 0; (i < OPERATIONS) && (test_now() < end); ++i) {
        do_something(actor);
        deadline = actor_deadline();
        do {
            actor_step(actor);
            actor_late(actor, deadline, "making room");
        } while ((actor->num_ops > MAX_OPS) || (actor->bytes > MAX_BYTES));
    }
    deadline = actor_deadline();
    while (actor->num_ops > 0) {
        actor_step(actor);
        actor_late(actor, deadline, "operations");
    }
    rma_round_over(actor);
}

static void *helper_main(void *arg)
{
    struct actor *actor = arg;
    struct soak *soak   = actor->soak;

    work(actor);
    atomic_fetch_add(&soak->drained, 1);
    while (!atomic_load(&soak->round_over)) {
        actor_step(actor);
    }
    tag_round_over(actor);
    return NULL;
}

/* --- accounts ------------------------------------------------------------ */

/* What a process has sent to a peer: messages by class since the test began,
 * and sums of atomic adds since the context was opened (struct peer). The peer
 * compares it with what it has received. */
struct account {
    uint64_t count[NUM_CLASSES], sum[NUM_CLASSES];
    uint64_t added[2 * LOANS];
};

static struct account account_of(struct peer *peer)
{
    struct account account;
    int i;

    for (i = 0; i < NUM_CLASSES; ++i) {
        account.count[i] = atomic_load(&peer->sent[i].count);
        account.sum[i]   = atomic_load(&peer->sent[i].sum);
    }
    for (i = 0; i < 2 * LOANS; ++i) {
        account.added[i] = atomic_load(&peer->added[i]);
    }
    return account;
}

static bool has_come(struct peer *peer, const struct account *account)
{
    int i;

    for (i = 0; i < NUM_CLASSES; ++i) {
        if (atomic_load(&peer->received[i].count) < account->count[i]) {
            return false;
        }
    }
    return true;
}

static void check_account(struct peer *peer, const struct account *account)
{
    int i;

    for (i = 0; i < NUM_CLASSES; ++i) {
        if ((atomic_load(&peer->received[i].count) != account->count[i]) ||
            (atomic_load(&peer->received[i].sum) != account->sum[i])) {
            FAIL("class %d: %llu messages came from %d, which sent %llu", i,
                 (unsigned long long)peer->received[i].count, peer->rank,
                 (unsigned long long)account->count[i]);
        }
    }
}

static void step(void *arg)
{
    actor_step(arg);
}

static void exchange_accounts(struct actor *actor, struct account *accounts)
{
    struct soak *soak = actor->soak;
    struct account mine;
    int rank;

    for (rank = 0; rank < soak->team->size; ++rank) {
        mine = account_of(&soak->peers[rank]);
        if (rank == soak->team->rank) {
            accounts[rank] = mine;
        } else {
            team_put(soak->team, rank, &mine, sizeof(mine));
        }
    }
    for (rank = 0; rank < soak->team->size; ++rank) {
        if (rank != soak->team->rank) {
            team_get_progressing(soak->team, rank, &accounts[rank],
                                 sizeof(accounts[rank]), step, actor);
        }
    }
}

static void wait_for_rest(struct actor *actor, const struct account *accounts)
{
    struct soak *soak = actor->soak;
    double deadline   = actor_deadline();
    int rank;

    for (rank = 0; rank < soak->team->size; ++rank) {
        while (!has_come(&soak->peers[rank], &accounts[rank])) {
            actor_step(actor);
            if (test_now() > deadline) {
                check_account(&soak->peers[rank], &accounts[rank]);
            }
        }
    }
    while (atomic_load(&soak->answered) < atomic_load(&soak->answers_due)) {
        actor_step(actor);
        actor_late(actor, deadline, "answers");
    }
}

/* Called when nothing is outstanding in any process: checks that everything has
 * arrived. */
static void settle(struct actor *actor, const struct account *accounts)
{
    struct soak *soak         = actor->soak;
    uint64_t added[2 * LOANS] = {0};
    int rank, i;

    for (rank = 0; rank < soak->team->size; ++rank) {
        check_account(&soak->peers[rank], &accounts[rank]);
        for (i = 0; i < 2 * LOANS; ++i) {
            added[i] += accounts[rank].added[i];
        }
        /* Receives by exact tag were cancelled at the end of the round: the
         * next round posts them again. */
        EXPECT_INT(soak->peers[rank].posted_exact, ==, 0);
        soak->peers[rank].next_exact =
            soak->peers[rank].received[TAG_EXACT].count;
    }
    EXPECT_INT(soak->answered, ==, soak->answers_due);
    amo_check(soak, added);
}

static void run_round(struct soak *soak, struct actor *actors)
{
    struct account accounts[TEAM_MAX];
    struct actor *first = &actors[0];
    double deadline;
    int i;

    atomic_store(&soak->drained, 1);
    atomic_store(&soak->round_over, 0);
    for (i = 0; i < soak->threads; ++i) {
        actors[i].stopping = false;
    }
    for (i = 1; i < soak->threads; ++i) {
        EXPECT(pthread_create(&actors[i].thread, NULL, helper_main,
                              &actors[i]) == 0);
    }

    work(first);
    deadline = actor_deadline();
    while (atomic_load(&soak->drained) < soak->threads) {
        actor_step(first);
        actor_late(first, deadline, "other threads");
    }
    exchange_accounts(first, accounts);
    wait_for_rest(first, accounts);
    world_barrier(first);

    atomic_store(&soak->round_over, 1);
    tag_round_over(first);
    for (i = 1; i < soak->threads; ++i) {
        EXPECT(pthread_join(actors[i].thread, NULL) == 0);
    }
    settle(first, accounts);
    world_barrier(first);
}

/* --- between rounds ------------------------------------------------------ */

static void open_all(struct soak *soak, struct actor *actors)
{
    int rank, i;

    world_open(soak);
    for (i = 0; i < soak->threads; ++i) {
        rma_open(&actors[i]);
    }
    for (rank = 0; rank < soak->team->size; ++rank) {
        for (i = 0; i < 2 * LOANS; ++i) {
            soak->peers[rank].added[i] = 0;
        }
        if (rank != soak->team->rank) {
            world_tell(soak, rank);
        }
    }
    for (rank = 0; rank < soak->team->size; ++rank) {
        world_connect(soak, rank);
    }
    world_barrier(&actors[0]);
}

static void close_all(struct soak *soak, struct actor *actors)
{
    int rank, i;

    for (rank = 0; rank < soak->team->size; ++rank) {
        soak->peers[rank].closing = true;
    }
    world_barrier(&actors[0]);
    world_close(soak, &actors[0]);
    for (i = 0; i < soak->threads; ++i) {
        rma_close(&actors[i]);
    }
    world_is_clean(soak);
    team_barrier(soak->team, NULL, NULL);
}

/* Pairs of processes that are chosen at random close and reopen the endpoints
 * between them. */
static void reconnect(struct soak *soak, struct actor *actor)
{
    uint64_t pairs = random_next(&soak->random);
    bool force     = random_below(&soak->random, 2) &&
                 (soak->err_mode != UCP_ERR_HANDLING_MODE_NONE);
    bool chosen[TEAM_MAX];
    int rank, mine = soak->team->rank, low, high;

    for (rank = 0; rank < soak->team->size; ++rank) {
        low          = (rank < mine) ? rank : mine;
        high         = (rank < mine) ? mine : rank;
        chosen[rank] = (pairs >> ((low * TEAM_MAX) + high)) & 1;
        if (chosen[rank]) {
            soak->peers[rank].closing = true;
        }
    }
    world_barrier(actor);
    for (rank = 0; rank < soak->team->size; ++rank) {
        if (chosen[rank]) {
            world_disconnect(soak, actor, rank, force);
        }
    }
    world_barrier(actor);
    for (rank = 0; rank < soak->team->size; ++rank) {
        if (chosen[rank] && (rank != mine)) {
            world_tell(soak, rank);
        }
    }
    for (rank = 0; rank < soak->team->size; ++rank) {
        if (chosen[rank]) {
            world_connect(soak, rank);
        }
    }
    world_barrier(actor);
}

static void between_rounds(struct soak *soak, struct actor *actors)
{
    switch (random_below(&soak->random, 8)) {
    case 0:
        close_all(soak, actors);
        open_all(soak, actors);
        break;
    case 1:
    case 2:
        reconnect(soak, &actors[0]);
        break;
    default:
        break;
    }
}

/* --- a process ----------------------------------------------------------- */

static void report(const struct soak *soak, double since)
{
    static const char *const names[NUM_DONE] = {
        "tagged by mask", "by tag", "by probe", "active messages",
        "stream records", "puts",   "gets",     "atomics",
    };
    int i;

    printf("%.0f s, %llu rounds, closed %u times; member %d has done:",
           test_now() - since, (unsigned long long)soak->round, soak->closings,
           soak->team->rank);
    for (i = 0; i < NUM_DONE; ++i) {
        printf("%s %llu %s", i ? "," : "", (unsigned long long)soak->done[i],
               names[i]);
    }
    printf("\n");
    fflush(stdout);
}

/* Member 0 decides by its clock whether there is another round, and tells the
 * others. Returns the decision. */
static bool goes_on(struct soak *soak, double end)
{
    char on = test_now() < end;
    int rank;

    if (soak->team->rank != 0) {
        team_get(soak->team, 0, &on, 1);
        return on;
    }
    for (rank = 1; rank < soak->team->size; ++rank) {
        team_put(soak->team, rank, &on, 1);
    }
    return on;
}

static void member(struct team *team, void *arg)
{
    const struct options *options    = arg;
    struct actor actors[MAX_THREADS] = {{NULL}};
    struct soak *soak                = calloc(1, sizeof(*soak));
    double start = test_now(), reported = start;
    int i;

    EXPECT(soak != NULL);
    soak->team    = team;
    soak->seed    = options->seed;
    soak->threads = options->threads;
    soak->awake   = options->awake;
    soak->random  = (struct random){options->seed};
    EXPECT(pthread_mutex_init(&soak->lock, NULL) == 0);
    for (i = 0; i < team->size; ++i) {
        soak->peers[i].soak = soak;
        soak->peers[i].rank = i;
    }
    for (i = 0; i < soak->threads; ++i) {
        actors[i].soak     = soak;
        actors[i].index    = i;
        actors[i].stopping = true;
        actors[i].random   = (struct random){
              mix(options->seed, 1 + i + (MAX_THREADS * (uint64_t)team->rank))};
    }

    open_all(soak, actors);
    while (goes_on(soak, start + options->seconds)) {
        run_round(soak, actors);
        ++soak->round;
        if ((team->rank == 0) &&
            (test_now() > reported + (options->seconds / REPORTS))) {
            reported = test_now();
            report(soak, start);
        }
        between_rounds(soak, actors);
    }
    close_all(soak, actors);
    if (team->rank == 0) {
        report(soak, start);
    }
    pthread_mutex_destroy(&soak->lock);
    free(soak);
}

static double number_after(int argc, char **argv, const char *word,
                           double value)
{
    int i;

    for (i = 1; i + 1 < argc; ++i) {
        if (strcmp(argv[i], word) == 0) {
            value = atof(argv[i + 1]);
        }
    }
    return value;
}

int main(int argc, char **argv)
{
    struct options options = {
        .seed    = random_seed(argc, argv),
        .seconds = number_after(argc, argv, "--seconds", 20),
        .threads = (int)number_after(argc, argv, "--threads", 1),
        .awake   = team_asked(argc, argv, "--awake"),
    };
    int members      = (int)number_after(argc, argv, "--members", MEMBERS);
    struct team team = {.limit = 0};

    options.seconds = 60 * number_after(argc, argv, "--minutes",
                                        options.seconds / 60);
    if ((members < 1) || (members > TEAM_MAX) || (options.threads < 1) ||
        (options.threads > MAX_THREADS) || (options.seconds <= 0)) {
        fprintf(stderr,
                "soak: 1 to %d members, 1 to %d threads, a time above "
                "0\n",
                TEAM_MAX, MAX_THREADS);
        return 2;
    }
    team.limit = options.seconds + 90;
    return team_run(&team, members, member, &options);
}
