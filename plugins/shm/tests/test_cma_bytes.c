/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get over cma between two correct processes: every byte, whichever
 * process copies it, for one operation and for many at once. A put or get is
 * split into parts of at most CHUNK bytes. The peer (the target) copies some of
 * the parts if it calls progress (polls); then it is called a helper.
 */
#include "child.h"
#include "cma_other.h"
#include "cma_side.h"
#include "suite.h"

#include <string.h>
#include <unistd.h>

/* --- Every byte ---------------------------------------------------------- */

static void all_sizes(const char *config, char looking)
{
    static const size_t lengths[] = {
        1,      7,      8,       4095,    4096,    4097,    16384,    32767,
        32768,  32769,  65536,   65537,   99999,   262143,  262144,   262145,
        524288, 524289, 1048576, 1234567, 4194304, 4194305, 16777217,
    };
    cma_side_t side;
    cma_link_t link;
    cma_other_t other;

    cma_other_begin(&other, &side, &link, config);
    cma_other_tell(&other, looking, 0, 0, 0);
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); ++i) {
        cma_other_round_trip(&other, &link, lengths[i], 1);
        if (lengths[i] > 8) {
            cma_other_round_trip(&other, &link, lengths[i], 3);
        }
    }
    cma_other_round_trip(&other, &link, 3000000, 16);
    cma_other_end(&other, &side, &link);
}

START_TEST(sizes_with_a_helper)
{
    all_sizes(NULL, 'l');
}
END_TEST

/* An operation completes although the target does not poll. */
START_TEST(sizes_with_a_target_that_does_not_poll)
{
    all_sizes(NULL, 'a');
}
END_TEST

START_TEST(sizes_without_sharing)
{
    all_sizes("SHARE=n", 'l');
}
END_TEST

/* Many parts, so that both sides copy parts and often finish at the same
 * time. */
START_TEST(sizes_in_small_chunks)
{
    all_sizes("CHUNK=4k,SHARE_THRESH=4k", 'l');
}
END_TEST

/* While this process does not progress, the helper copies all parts but the
 * first two. It counts one event for each part that it copies, and one for each
 * message that it receives. Between two answers it progresses at least 256
 * times, so that nothing depends on the scheduler. */
START_TEST(a_target_that_polls_copies_its_part)
{
    enum { COPIES = 4, PARTS = 128, LENGTH = PARTS * 16384 };
    cma_side_t side;
    cma_link_t link;
    cma_other_t other;

    cma_other_begin(&other, &side, &link, "CHUNK=16k");
    for (unsigned i = 0; i < COPIES; ++i) {
        int is_put   = i % 2;
        double until = cma_side_now() + 60;
        ucs_status_t status;
        long long events;
        cma_wait_t wait;

        if (is_put) {
            cma_fill(side.memory, i, LENGTH);
        } else {
            EXPECT_EQ(cma_other_tell(&other, 'f', i, 0, LENGTH), -1);
        }
        events = cma_other_tell(&other, 'e', 0, 0, 0);
        status = cma_side_start(&link, is_put, side.memory, 0, LENGTH, 1,
                                &wait);
        EXPECT_EQ(status, UCS_INPROGRESS);
        while (cma_other_tell(&other, 'e', 0, 0, 0) < events + PARTS - 1) {
            EXPECT_TRUE(cma_side_now() < until);
        }
        EXPECT_EQ(wait.done, 0);
        EXPECT_EQ(cma_side_finish(&side, status, &wait), UCS_OK);
        EXPECT_EQ(is_put ? cma_other_tell(&other, 'c', i, 0, LENGTH) :
                           cma_first_bad(side.memory, i, LENGTH),
                  -1);
    }
    cma_other_end(&other, &side, &link);
}
END_TEST

/* After many copies without help, one in 64 is offered to the target, also if
 * many are posted before the first one ends. The target receives the offers when
 * it polls again; each is an event, and so is its first message, HELLO. */
START_TEST(offers_are_skipped_while_many_are_in_flight)
{
    enum { SINGLE = 64, ROUNDS = 24, FLIGHT = 24, LENGTH = 65536 };
    /* Fewer than 10 of the single copies are offered. These costs are set so that
     * the copies do not count as short on any machine */
    enum { LEAST = 1 + ROUNDS * FLIGHT / 64, MOST = 4 * LEAST };
    static cma_wait_t waits[FLIGHT];
    ucs_status_t status[FLIGHT];
    cma_side_t side;
    cma_link_t link;
    cma_other_t other;
    long long events;

    cma_other_begin(&other, &side, &link, "BW=20000MBps,OVERHEAD=0.1us");
    events = cma_other_tell(&other, 'e', 0, 0, 0);
    EXPECT_EQ(cma_other_tell(&other, 'a', 0, 0, 0), -1);
    for (unsigned i = 0; i < SINGLE; ++i) {
        EXPECT_EQ(cma_side_copy(&link, 0, side.memory, 0, LENGTH, 1), UCS_OK);
    }
    for (unsigned i = 0; i < ROUNDS; ++i) {
        for (unsigned k = 0; k < FLIGHT; ++k) {
            status[k] = cma_side_start(&link, 0, side.memory, 0, LENGTH, 1,
                                       &waits[k]);
        }
        for (unsigned k = 0; k < FLIGHT; ++k) {
            EXPECT_EQ(cma_side_finish(&side, status[k], &waits[k]), UCS_OK);
        }
    }
    EXPECT_EQ(cma_other_tell(&other, 'l', 0, 0, 0), -1);
    events = cma_other_tell(&other, 'e', 0, 0, 0) - events;
    EXPECT_TRUE(events >= LEAST);
    EXPECT_TRUE(events <= MOST);
    cma_other_end(&other, &side, &link);
}
END_TEST

/* Makes copies of `length` bytes, at most `in_flight` of them at once. Returns
 * how many events that caused at the target, which polls: each offer is one, and
 * the part that the target copies is another. */
static long long events_of(cma_side_t *side, cma_link_t *link,
                           cma_other_t *other, size_t length,
                           unsigned in_flight)
{
    enum { COPIES = 64 };
    static cma_wait_t waits[COPIES];
    ucs_status_t status[COPIES];
    long long events = cma_other_tell(other, 'e', 0, 0, 0);

    for (unsigned i = 0; i < COPIES; i += in_flight) {
        for (unsigned k = i; k < i + in_flight; ++k) {
            status[k] = cma_side_start(link, 0, side->memory, 0, length, 1,
                                       &waits[k]);
        }
        for (unsigned k = i; k < i + in_flight; ++k) {
            EXPECT_EQ(cma_side_finish(side, status[k], &waits[k]), UCS_OK);
        }
    }
    return cma_other_tell(other, 'e', 0, 0, 0) - events;
}

/* Of copies that follow each other, only the first three are offered if they are
 * shorter than twice the bytes that the kernel copies during two calls, here
 * 80000. Longer ones are, and so are those that do not follow each other, except
 * those that the target has not helped with. HELLO is an event, too. */
START_TEST(short_copies_in_a_row_are_not_shared)
{
    enum { MOST = 1 + 2 * 3, MANY = 32 };
    double until = cma_side_now() + 60;
    cma_side_t side;
    cma_link_t link;
    cma_other_t other;

    cma_other_begin(&other, &side, &link, "BW=20000MBps,OVERHEAD=1us");
    EXPECT_TRUE(events_of(&side, &link, &other, 65536, 16) <= MOST);
    EXPECT_TRUE(events_of(&side, &link, &other, 65536, 16) <= MOST);
    while (events_of(&side, &link, &other, 98304, 16) < MANY) {
        EXPECT_TRUE(cma_side_now() < until);
    }
    while (events_of(&side, &link, &other, 65536, 1) < MANY) {
        EXPECT_TRUE(cma_side_now() < until);
    }
    cma_other_end(&other, &side, &link);
}
END_TEST

/* A copy that this process makes alone is in parts. If the same memory is
 * copied again, the parts are in the opposite order (cma_direction.c). */
enum { AGAIN_COPIES = 5, AGAIN_LENGTH = 1536 * 1024 };

/* Gets the same memory several times, and compares it. `started`, if not NULL,
 * is called after the call that starts a copy, which copies the first part. */
static void same_memory_again(const char *config, char looking,
                              void (*started)(const uint8_t *data,
                                              const uint8_t *expected,
                                              int is_odd))
{
    uint8_t *expected = malloc(AGAIN_LENGTH);
    ucs_status_t status;
    cma_side_t side;
    cma_link_t link;
    cma_other_t other;
    cma_wait_t wait;

    cma_other_begin(&other, &side, &link, config);
    EXPECT_EQ(cma_other_tell(&other, looking, 0, 0, 0), -1);
    for (unsigned i = 0; i < AGAIN_COPIES; ++i) {
        cma_fill(expected, i, AGAIN_LENGTH);
        EXPECT_EQ(cma_other_tell(&other, 'f', i, 0, AGAIN_LENGTH), -1);
        memset(side.memory, 0, AGAIN_LENGTH);
        status = cma_side_start(&link, 0, side.memory, 0, AGAIN_LENGTH, 1,
                                &wait);
        EXPECT_EQ(status, UCS_INPROGRESS);
        if (started != NULL) {
            started(side.memory, expected, i % 2);
        }
        EXPECT_EQ(cma_side_finish(&side, status, &wait), UCS_OK);
        EXPECT_EQ(cma_first_bad(side.memory, i, AGAIN_LENGTH), -1);
    }
    /* other memory, with a vector of several entries */
    cma_other_round_trip(&other, &link, AGAIN_LENGTH, 3);
    cma_other_end(&other, &side, &link);
    free(expected);
}

static void check_first_part(const uint8_t *data, const uint8_t *expected,
                             int is_odd)
{
    enum { PROBE = 4096 };
    const size_t last = AGAIN_LENGTH - PROBE;
    int from_end      = is_odd &&
                   (AGAIN_LENGTH <= 4 * sysconf(_SC_LEVEL2_CACHE_SIZE));

    EXPECT_EQ(memcmp(data, expected, PROBE) == 0, !from_end);
    EXPECT_EQ(memcmp(data + last, expected + last, PROBE) == 0, from_end);
}

START_TEST(the_same_memory_again_is_copied_from_the_other_end)
{
    same_memory_again("SHARE=n", 'a', check_first_part);
}
END_TEST

/* Also if the target is asked to help, and does not. */
START_TEST(the_same_memory_again_with_a_target_that_does_not_poll)
{
    same_memory_again(NULL, 'a', NULL);
}
END_TEST

/* In operations of up to 1 MiB the helper copies no part of the front half,
 * even if this process has not begun to copy that. So each half of a buffer
 * that is used again stays in the caches of the same processor. */
START_TEST(each_side_copies_its_half_of_every_operation)
{
    enum { COPIES = 3, LENGTH = 65536, EVENTS = 1 + 2 * COPIES };
    cma_wait_t waits[COPIES];
    ucs_status_t status[COPIES];
    cma_side_t side;
    cma_link_t link;
    cma_other_t other;
    long long events;
    double until;

    cma_other_begin(&other, &side, &link, NULL);
    EXPECT_EQ(cma_other_tell(&other, 'f', 1, 0, COPIES * LENGTH), -1);
    events = cma_other_tell(&other, 'e', 0, 0, 0);
    for (unsigned i = 0; i < COPIES; ++i) {
        status[i] = cma_side_start(&link, 0, side.memory + i * LENGTH,
                                   i * LENGTH, LENGTH, 1, &waits[i]);
        EXPECT_EQ(status[i], UCS_INPROGRESS);
    }
    /* EVENTS: the first message to the helper, and for each operation a message
     * and one part that the helper copies */
    until = cma_side_now() + 60;
    while (cma_other_tell(&other, 'e', 0, 0, 0) < events + EVENTS) {
        EXPECT_TRUE(cma_side_now() < until);
    }
    for (unsigned i = 0; i < 3; ++i) {
        EXPECT_EQ(cma_other_tell(&other, 'e', 0, 0, 0), events + EVENTS);
    }
    for (unsigned i = 0; i < COPIES; ++i) {
        EXPECT_EQ(waits[i].done, 0);
        EXPECT_EQ(cma_side_finish(&side, status[i], &waits[i]), UCS_OK);
    }
    EXPECT_EQ(cma_first_bad(side.memory, 1, COPIES * LENGTH), -1);
    cma_other_end(&other, &side, &link);
}
END_TEST

/* --- Many operations at once ---------------------------------------------- */

enum { MANY = 300 };

/* Body of each of two processes: starts MANY gets from the other one at once.
 * Only four operations at a time can be shared with the helper; the others
 * wait. */
static void exchange(void *arg, int fd)
{
    static cma_wait_t waits[MANY];
    const size_t length = 70001;
    ucs_status_t status[MANY];
    cma_side_t side;
    cma_link_t link;
    char byte = 'x';

    cma_side_open(&side, 2 * MANY * length + 4096, "CHUNK=8k");
    cma_fill(side.memory, 1, MANY * length);
    cma_side_meet(&side, fd, &link);
    cma_side_write(fd, &byte, 1);
    cma_side_read(fd, &byte, 1);
    for (unsigned i = 0; i < MANY; ++i) {
        status[i] = cma_side_start(&link, 0, side.memory + (MANY + i) * length,
                                   i * length, length, 1, &waits[i]);
    }
    for (unsigned i = 0; i < MANY; ++i) {
        EXPECT_EQ(cma_side_finish(&side, status[i], &waits[i]), UCS_OK);
    }
    EXPECT_EQ(cma_first_bad(side.memory + MANY * length, 1, MANY * length), -1);
    cma_side_write(fd, &byte, 1);
    cma_side_serve(&side, fd, &byte, 1);
    cma_side_part(&link);
    cma_side_close(&side);
}

static void exchange_there(void *arg, int fd)
{
    exchange(NULL, *(int *)arg);
}

START_TEST(many_at_once_both_ways)
{
    pid_t pid[2];
    int fd, fd2;

    pid[0] = child_start(exchange, NULL, &fd);
    pid[1] = child_start(exchange_there, &fd, &fd2);
    close(fd);
    ck_assert(cma_side_join(pid[0]));
    ck_assert(cma_side_join(pid[1]));
    close(fd2);
}
END_TEST

/* There are always UNDER_WAY operations in flight, of which only four at a time
 * can be shared with the helper. Those that wait must not keep others from
 * completing. */
START_TEST(many_concurrent_gets_without_pause)
{
    enum { UNDER_WAY = 24, COPIES = 4000 };
    static cma_wait_t waits[UNDER_WAY];
    ucs_status_t status[UNDER_WAY];
    cma_side_t side;
    cma_link_t link;
    cma_other_t other;

    cma_other_begin(&other, &side, &link, NULL);
    for (unsigned i = 0; i < COPIES + UNDER_WAY; ++i) {
        unsigned k = i % UNDER_WAY;

        if (i >= UNDER_WAY) {
            EXPECT_EQ(cma_side_finish(&side, status[k], &waits[k]), UCS_OK);
        }
        cma_wait_init(&waits[k]);
        status[k] = (i >= COPIES) ?
                        UCS_OK :
                        cma_side_start(&link, (i / 1000) % 2,
                                       side.memory + k * 400000, k * 400000,
                                       33000 + (i * 7919) % 360000, 1,
                                       &waits[k]);
    }
    cma_other_end(&other, &side, &link);
}
END_TEST

/* --- The own process ------------------------------------------------------ */

START_TEST(a_process_reaches_itself)
{
    cma_side_t side;
    cma_link_t link;

    cma_side_open(&side, 4000000, NULL);
    cma_side_connect(&side, &side.card, &link);
    cma_fill(side.memory, 9, 2000000);
    EXPECT_EQ(cma_side_copy(&link, 1, side.memory, 2000000, 2000000, 1),
              UCS_OK);
    EXPECT_EQ(cma_first_bad(side.memory + 2000000, 9, 2000000), -1);
    cma_side_part(&link);
    cma_side_close(&side);
}
END_TEST

/* ------------------------------------------------------------------------- */

int main(void)
{
    const TTest *const tests[] = {
        sizes_with_a_helper,
        sizes_with_a_target_that_does_not_poll,
        sizes_without_sharing,
        sizes_in_small_chunks,
        a_target_that_polls_copies_its_part,
        offers_are_skipped_while_many_are_in_flight,
        short_copies_in_a_row_are_not_shared,
        the_same_memory_again_is_copied_from_the_other_end,
        the_same_memory_again_with_a_target_that_does_not_poll,
        each_side_copies_its_half_of_every_operation,
        many_at_once_both_ways,
        many_concurrent_gets_without_pause,
        a_process_reaches_itself,
    };

    return suite_run("cma bytes", tests, sizeof(tests) / sizeof(tests[0]),
                     CK_FORK);
}
