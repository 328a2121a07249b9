/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get over cma between two correct processes: every byte, whichever
 * process copies it, in every order of events. A put or get is split into parts
 * of at most CHUNK bytes. The peer (the target) copies some of the parts if it
 * calls progress (polls); then it is called a helper.
 */
#include "child.h"
#include "cma_side.h"
#include "cma_suite.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WINDOW (24ul << 20)

/* --- The other process ---------------------------------------------------- */

/* A request to the other process, which executes and answers it. `what`:
 *
 * - 'f': fill `length` bytes at `offset` of its memory with byte_of(seed);
 * - 'c': compare these bytes with byte_of(seed);
 * - 'e': return the sum of events that its calls of progress have returned;
 * - 'l' (look), 'a' (away): call progress, or block, until the next request;
 * - 'q': quit.
 */
typedef struct order {
    char what;
    uint64_t seed, offset, length;
} order_t;

/* The other process, as this process sees it. */
typedef struct other {
    const char *config;
    pid_t pid;
    int fd;
} other_t;

static uint8_t byte_of(uint64_t seed, size_t position)
{
    uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15ull + position * 0x2545f491ull;

    return (uint8_t)(x >> 29) ^ (uint8_t)position;
}

static void fill(uint8_t *data, uint64_t seed, size_t length)
{
    for (size_t i = 0; i < length; ++i) {
        data[i] = byte_of(seed, i);
    }
}

/* Returns the offset of the first byte that differs from byte_of(seed), or
 * -1. */
static long long first_bad(const uint8_t *data, uint64_t seed, size_t length)
{
    for (size_t i = 0; i < length; ++i) {
        if (data[i] != byte_of(seed, i)) {
            return (long long)i;
        }
    }
    return -1;
}

static void other_main(void *arg, int fd)
{
    const other_t *other = arg;
    int is_looking       = 1;
    cma_side_t side;
    cma_link_t link;
    long long bad;
    order_t order;

    cma_side_open(&side, WINDOW, other->config);
    cma_side_meet(&side, fd, &link);
    do {
        if (is_looking) {
            cma_side_serve(&side, fd, &order, sizeof(order));
        } else {
            cma_side_read(fd, &order, sizeof(order));
        }
        bad = -1;
        switch (order.what) {
        case 'f':
            fill(side.memory + order.offset, order.seed, order.length);
            break;
        case 'c':
            bad = first_bad(side.memory + order.offset, order.seed,
                            order.length);
            break;
        case 'e':
            bad = side.events;
            break;
        case 'l':
            is_looking = 1;
            break;
        case 'a':
            is_looking = 0;
            break;
        }
        cma_side_write(fd, &bad, sizeof(bad));
    } while (order.what != 'q');

    EXPECT_EQ(side.failures, 0);
    cma_side_part(&link);
    cma_side_close(&side);
}

/* Sends a request and returns the answer: 'c': the result of first_bad(); 'e':
 * the number of events; others: -1. */
static long long tell(const other_t *other, char what, uint64_t seed,
                      uint64_t offset, uint64_t length)
{
    order_t order = {what, seed, offset, length};
    long long bad;

    cma_side_write(other->fd, &order, sizeof(order));
    cma_side_read(other->fd, &bad, sizeof(bad));
    return bad;
}

static void begin(other_t *other, cma_side_t *side, cma_link_t *link,
                  const char *config)
{
    other->config = config;
    other->pid    = child_start(other_main, other, &other->fd);
    cma_side_open(side, WINDOW + 4096, config);
    cma_side_meet(side, other->fd, link);
}

static void end(other_t *other, cma_side_t *side, cma_link_t *link)
{
    EXPECT_EQ(side->failures, 0);
    tell(other, 'q', 0, 0, 0);
    cma_side_part(link);
    cma_side_close(side);
    EXPECT_TRUE(cma_side_join(other->pid));
    close(other->fd);
}

/* --- Every byte ---------------------------------------------------------- */

/* Puts from one buffer, gets the data back into `pieces` buffers with gaps,
 * compares on both sides, and checks the bytes next to the data. */
static void round_trip(other_t *other, cma_link_t *link, size_t length,
                       unsigned pieces)
{
    static uint64_t seed;
    uint8_t *buffer = link->side->memory;
    size_t offset   = 64 + (seed * 37) % 4099;
    unsigned shift  = (unsigned)(seed * 11) % 61;
    size_t spread   = length + (pieces - 1) * 7;
    size_t done     = 0, part;

    ++seed;
    EXPECT_EQ(tell(other, 'f', 7, offset - 8, length + 16), -1);
    fill(buffer + shift, seed, length);
    EXPECT_EQ(cma_side_copy(link, 1, buffer + shift, offset, length, 1),
              UCS_OK);
    EXPECT_EQ(tell(other, 'c', seed, offset, length), -1);
    EXPECT_EQ(tell(other, 'c', 7, offset - 8, 8), -1);

    memset(buffer, 0x3c, spread + 128);
    EXPECT_EQ(cma_side_copy(link, 0, buffer + shift, offset, length, pieces),
              UCS_OK);
    for (unsigned i = 0; i < pieces; ++i) {
        part = (i + 1 == pieces) ? length - done : (length - done) / 3;
        for (size_t j = 0; j < part; ++j) {
            EXPECT_EQ(buffer[shift + done + i * 7 + j],
                      byte_of(seed, done + j));
        }
        done += part;
        EXPECT_EQ(buffer[shift + done + i * 7], 0x3c);
    }
}

static void all_sizes(const char *config, char looking)
{
    static const size_t lengths[] = {
        1,      7,      8,       4095,    4096,    4097,    16384,    32767,
        32768,  32769,  65536,   65537,   99999,   262143,  262144,   262145,
        524288, 524289, 1048576, 1234567, 4194304, 4194305, 16777217,
    };
    cma_side_t side;
    cma_link_t link;
    other_t other;

    begin(&other, &side, &link, config);
    tell(&other, looking, 0, 0, 0);
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); ++i) {
        round_trip(&other, &link, lengths[i], 1);
        if (lengths[i] > 8) {
            round_trip(&other, &link, lengths[i], 3);
        }
    }
    round_trip(&other, &link, 3000000, 16);
    end(&other, &side, &link);
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
    other_t other;

    begin(&other, &side, &link, "CHUNK=16k");
    for (unsigned i = 0; i < COPIES; ++i) {
        int is_put   = i % 2;
        double until = cma_side_now() + 60;
        ucs_status_t status;
        long long events;
        cma_wait_t wait;

        if (is_put) {
            fill(side.memory, i, LENGTH);
        } else {
            EXPECT_EQ(tell(&other, 'f', i, 0, LENGTH), -1);
        }
        events = tell(&other, 'e', 0, 0, 0);
        status = cma_side_start(&link, is_put, side.memory, 0, LENGTH, 1,
                                &wait);
        EXPECT_EQ(status, UCS_INPROGRESS);
        while (tell(&other, 'e', 0, 0, 0) < events + PARTS - 1) {
            EXPECT_TRUE(cma_side_now() < until);
        }
        EXPECT_EQ(wait.done, 0);
        EXPECT_EQ(cma_side_finish(&side, status, &wait), UCS_OK);
        EXPECT_EQ(is_put ? tell(&other, 'c', i, 0, LENGTH) :
                           first_bad(side.memory, i, LENGTH),
                  -1);
    }
    end(&other, &side, &link);
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
    other_t other;
    long long events;
    double until;

    begin(&other, &side, &link, NULL);
    EXPECT_EQ(tell(&other, 'f', 1, 0, COPIES * LENGTH), -1);
    events = tell(&other, 'e', 0, 0, 0);
    for (unsigned i = 0; i < COPIES; ++i) {
        status[i] = cma_side_start(&link, 0, side.memory + i * LENGTH,
                                   i * LENGTH, LENGTH, 1, &waits[i]);
        EXPECT_EQ(status[i], UCS_INPROGRESS);
    }
    /* EVENTS: the first message to the helper, and for each operation a message
     * and one part that the helper copies */
    until = cma_side_now() + 60;
    while (tell(&other, 'e', 0, 0, 0) < events + EVENTS) {
        EXPECT_TRUE(cma_side_now() < until);
    }
    for (unsigned i = 0; i < 3; ++i) {
        EXPECT_EQ(tell(&other, 'e', 0, 0, 0), events + EVENTS);
    }
    for (unsigned i = 0; i < COPIES; ++i) {
        EXPECT_EQ(waits[i].done, 0);
        EXPECT_EQ(cma_side_finish(&side, status[i], &waits[i]), UCS_OK);
    }
    EXPECT_EQ(first_bad(side.memory, 1, COPIES * LENGTH), -1);
    end(&other, &side, &link);
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
    fill(side.memory, 1, MANY * length);
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
    EXPECT_EQ(first_bad(side.memory + MANY * length, 1, MANY * length), -1);
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
    other_t other;

    begin(&other, &side, &link, NULL);
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
    end(&other, &side, &link);
}
END_TEST

/* --- Order --------------------------------------------------------------- */

/* A put after a fence does not change what an earlier get reads. */
START_TEST(fence_orders_gets_before_puts)
{
    const size_t length = 3000000;
    cma_wait_t get_wait, put_wait;
    ucs_status_t get_status, put_status;
    cma_side_t side;
    cma_link_t link;
    other_t other;

    begin(&other, &side, &link, NULL);
    fill(side.memory + length, 5, length);
    for (unsigned i = 0; i < 20; ++i) {
        size_t put_length = (i % 2) ? length : 4000;

        tell(&other, 'f', i, 0, length);
        get_status = cma_side_start(&link, 0, side.memory, 0, length, 1,
                                    &get_wait);
        EXPECT_EQ(uct_ep_fence(link.ep, 0), UCS_OK);
        put_status = cma_side_start(&link, 1, side.memory + length, 0,
                                    put_length, 1, &put_wait);
        EXPECT_EQ(cma_side_finish(&side, put_status, &put_wait), UCS_OK);
        EXPECT_EQ(cma_side_finish(&side, get_status, &get_wait), UCS_OK);
        EXPECT_EQ(first_bad(side.memory, i, length), -1);
        EXPECT_EQ(tell(&other, 'c', 5, 0, put_length), -1);
    }
    end(&other, &side, &link);
}
END_TEST

/* Short operations that are posted later do not overtake those that wait: the
 * latter would wait as long as others are posted. One of 64 KiB is copied in its
 * call; further ones are queued, and four at a time are copied in one system
 * call. */
START_TEST(short_gets_complete_in_order)
{
    enum { FIRST = 16, COPIES = 24, LENGTH = 65536 };
    static cma_wait_t waits[COPIES];
    ucs_status_t status[COPIES];
    unsigned posted = 0, complete = 0;
    cma_side_t side;
    cma_link_t link;
    other_t other;

    begin(&other, &side, &link, "SHARE=n");
    while (complete < COPIES) {
        while (posted < ((complete == 0) ? FIRST : COPIES)) {
            status[posted] = cma_side_start(&link, 0,
                                            side.memory + posted * LENGTH,
                                            posted * LENGTH, LENGTH, 1,
                                            &waits[posted]);
            EXPECT_EQ(status[posted], (posted < 1) ? UCS_OK : UCS_INPROGRESS);
            ++posted;
        }
        uct_worker_progress(side.worker);
        while ((complete < posted) &&
               ((status[complete] == UCS_OK) || waits[complete].done)) {
            ++complete;
        }
        for (unsigned i = complete; i < posted; ++i) {
            EXPECT_TRUE(!waits[i].done);
        }
    }
    end(&other, &side, &link);
}
END_TEST

static void flush_all(cma_side_t *side, cma_link_t *link, int whole)
{
    cma_wait_t wait;
    ucs_status_t status;

    cma_wait_init(&wait);
    status = whole ? uct_iface_flush(side->iface, 0, &wait.comp) :
                     uct_ep_flush(link->ep, UCT_FLUSH_FLAG_REMOTE, &wait.comp);
    EXPECT_EQ(cma_side_finish(side, status, &wait), UCS_OK);
}

START_TEST(flush_ends_after_what_came_before)
{
    static cma_wait_t waits[20];
    ucs_status_t status[20];
    cma_side_t side;
    cma_link_t link;
    other_t other;

    begin(&other, &side, &link, NULL);
    flush_all(&side, &link, 0);
    flush_all(&side, &link, 1);
    for (unsigned round = 0; round < 10; ++round) {
        for (unsigned i = 0; i < 20; ++i) {
            status[i] = cma_side_start(&link, i % 2, side.memory, i * 100000,
                                       1000000, 1 + i % 3, &waits[i]);
        }
        EXPECT_EQ(uct_iface_event_arm(side.iface, UCT_EVENT_SEND_COMP),
                  UCS_ERR_BUSY);
        flush_all(&side, &link, round % 2);
        for (unsigned i = 0; i < 20; ++i) {
            EXPECT_EQ(waits[i].done, (status[i] == UCS_INPROGRESS));
            EXPECT_EQ(waits[i].comp.status, UCS_OK);
        }
        EXPECT_EQ(uct_iface_event_arm(side.iface, UCT_EVENT_SEND_COMP), UCS_OK);
    }
    end(&other, &side, &link);
}
END_TEST

/* --- Cancellation and close ----------------------------------------------- */

/* Gets write nothing after the flush with UCT_FLUSH_FLAG_CANCEL is complete. */
START_TEST(cancelled_gets_write_no_more)
{
    cma_card_t card;
    static cma_wait_t waits[8];
    ucs_status_t status[8];
    cma_side_t side;
    cma_link_t link;
    cma_wait_t wait;
    other_t other;

    begin(&other, &side, &link, NULL);
    tell(&other, 'f', 3, 0, WINDOW);
    for (unsigned round = 0; round < 50; ++round) {
        for (unsigned i = 0; i < 8; ++i) {
            status[i] = cma_side_start(&link, 0, side.memory + i * 2000000, 0,
                                       2000000, 1, &waits[i]);
        }
        for (unsigned i = 0; i < round % 8; ++i) {
            uct_worker_progress(side.worker);
        }
        cma_wait_init(&wait);
        EXPECT_EQ(cma_side_finish(&side,
                                  uct_ep_flush(link.ep, UCT_FLUSH_FLAG_CANCEL,
                                               &wait.comp),
                                  &wait),
                  UCS_OK);
        memset(side.memory, 0x77, WINDOW);
        for (unsigned i = 0; i < 8; ++i) {
            EXPECT_EQ(waits[i].done, (status[i] == UCS_INPROGRESS));
            EXPECT_TRUE((waits[i].comp.status == UCS_OK) ||
                        (waits[i].comp.status == UCS_ERR_CANCELED));
        }
        for (size_t i = 0; i < WINDOW; i += 512) {
            EXPECT_EQ(side.memory[i], 0x77);
        }
        /* A cancelled endpoint accepts no operation */
        EXPECT_EQ(cma_side_start(&link, 0, side.memory, 0, 64, 1, &waits[0]),
                  UCS_ERR_CANCELED);
        card = link.card;
        cma_side_part(&link);
        cma_side_connect(&side, &card, &link);
    }
    end(&other, &side, &link);
}
END_TEST

START_TEST(an_endpoint_may_go_before_its_operations)
{
    cma_wait_t waits[6];
    ucs_status_t status[6];
    cma_side_t side;
    cma_link_t link;
    other_t other;

    begin(&other, &side, &link, NULL);
    tell(&other, 'f', 4, 0, 4000000);
    for (unsigned round = 0; round < 20; ++round) {
        memset(side.memory, 0, WINDOW);
        for (unsigned i = 0; i < 6; ++i) {
            status[i] = cma_side_start(&link, 0, side.memory + i * 4000000, 0,
                                       4000000, 1, &waits[i]);
        }
        uct_ep_destroy(link.ep);
        for (unsigned i = 0; i < 6; ++i) {
            EXPECT_EQ(cma_side_finish(&side, status[i], &waits[i]), UCS_OK);
            EXPECT_EQ(first_bad(side.memory + i * 4000000, 4, 4000000), -1);
        }
        EXPECT_EQ(uct_rkey_release(side.component, &link.key), UCS_OK);
        cma_side_connect(&side, &link.card, &link);
    }
    end(&other, &side, &link);
}
END_TEST

/* The endpoint, the interface and the domain are closed while gets are in
 * flight. */
START_TEST(an_interface_may_close_before_its_operations)
{
    static cma_wait_t waits[6];
    cma_side_t side, again;
    cma_link_t link, link_again;
    other_t other;

    begin(&other, &side, &link, NULL);
    for (unsigned round = 0; round < 20; ++round) {
        cma_side_open(&again, WINDOW, NULL);
        cma_side_connect(&again, &link.card, &link_again);
        for (unsigned i = 0; i < 6; ++i) {
            (void)cma_side_start(&link_again, 0, again.memory + i * 3000000, 0,
                                 3000000, 1, &waits[i]);
        }
        cma_side_part(&link_again);
        cma_side_close(&again);
    }
    end(&other, &side, &link);
}
END_TEST

/* --- The own process ------------------------------------------------------ */

START_TEST(a_process_reaches_itself)
{
    cma_side_t side;
    cma_link_t link;

    cma_side_open(&side, 4000000, NULL);
    cma_side_connect(&side, &side.card, &link);
    fill(side.memory, 9, 2000000);
    EXPECT_EQ(cma_side_copy(&link, 1, side.memory, 2000000, 2000000, 1),
              UCS_OK);
    EXPECT_EQ(first_bad(side.memory + 2000000, 9, 2000000), -1);
    cma_side_part(&link);
    cma_side_close(&side);
}
END_TEST

/* --- Errors -------------------------------------------------------------- */

START_TEST(a_key_gives_access_only_to_its_memory)
{
    cma_side_t side, third;
    cma_link_t link;
    cma_card_t card;
    uct_rkey_bundle_t key;
    uint8_t packed[64];
    other_t other;
    uct_iov_t iov;

    begin(&other, &side, &link, NULL);
    tell(&other, 'f', 1, 0, WINDOW);
    iov = (uct_iov_t){side.memory, 100, NULL, 0, 1};

    /* Ranges before the memory, across its end, and across the end of the
     * address space */
    card = link.card;
    EXPECT_EQ(uct_ep_put_zcopy(link.ep, &iov, 1, card.memory - 1, link.key.rkey,
                               NULL),
              UCS_ERR_INVALID_ADDR);
    EXPECT_EQ(uct_ep_put_zcopy(link.ep, &iov, 1, card.memory + WINDOW - 99,
                               link.key.rkey, NULL),
              UCS_ERR_INVALID_ADDR);
    EXPECT_EQ(uct_ep_put_zcopy(link.ep, &iov, 1, UINT64_MAX - 50, link.key.rkey,
                               NULL),
              UCS_ERR_INVALID_ADDR);

    /* A key that is not of the endpoint's peer: it is of this process */
    cma_side_open(&third, 4096, NULL);
    EXPECT_EQ(uct_rkey_unpack(side.component, third.card.key, &key), UCS_OK);
    EXPECT_EQ(uct_ep_put_zcopy(link.ep, &iov, 1, third.card.memory, key.rkey,
                               NULL),
              UCS_ERR_INVALID_PARAM);
    EXPECT_EQ(uct_rkey_release(side.component, &key), UCS_OK);
    cma_side_close(&third);

    memset(packed, 0, sizeof(packed));
    EXPECT_EQ(uct_rkey_unpack(side.component, packed, &key),
              UCS_ERR_INVALID_PARAM);
    memset(packed, 0xff, sizeof(packed));
    EXPECT_EQ(uct_rkey_unpack(side.component, packed, &key),
              UCS_ERR_INVALID_PARAM);

    EXPECT_EQ(tell(&other, 'c', 1, 0, WINDOW), -1);
    end(&other, &side, &link);
}
END_TEST

/* Local memory with an unmapped hole, with a helper and without: only that
 * operation fails. */
START_TEST(unmapped_memory_fails_the_operation)
{
    cma_side_t side;
    cma_link_t link;
    uint8_t *hole;
    other_t other;

    for (unsigned turn = 0; turn < 2; ++turn) {
        begin(&other, &side, &link, NULL);
        tell(&other, turn ? 'l' : 'a', 0, 0, 0);
        hole = mmap(NULL, 8000000, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT_TRUE(hole != MAP_FAILED);
        munmap(hole + 4000000 / 4096 * 4096, 8192);
        for (unsigned i = 0; i < 10; ++i) {
            EXPECT_EQ(cma_side_copy(&link, i % 2, hole, 0, 8000000, 1),
                      UCS_ERR_INVALID_ADDR);
            EXPECT_EQ(cma_side_copy(&link, i % 2, hole + 3900000, 0, 200000, 1),
                      UCS_ERR_INVALID_ADDR);
            round_trip(&other, &link, 1000000, 1);
        }
        munmap(hole, 8000000);
        end(&other, &side, &link);
    }
}
END_TEST

/* Short operations that wait are copied together. One whose memory is unmapped
 * fails; the others are complete. */
START_TEST(one_of_several_short_operations_fails)
{
    enum { COPIES = 24, LENGTH = 40000, BAD = 13 };
    static cma_wait_t waits[COPIES];
    ucs_status_t status[COPIES];
    cma_side_t side;
    cma_link_t link;
    uint8_t *hole;
    other_t other;

    begin(&other, &side, &link, "SHARE=n");
    hole = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_TRUE(hole != MAP_FAILED);
    munmap(hole, LENGTH);
    for (int is_put = 0; is_put < 2; ++is_put) {
        for (unsigned i = 0; i < COPIES; ++i) {
            tell(&other, 'f', i, i * LENGTH, LENGTH);
            fill(side.memory + i * LENGTH, 50 + i, LENGTH);
        }
        for (unsigned i = 0; i < COPIES; ++i) {
            status[i] = cma_side_start(&link, is_put,
                                       (i == BAD) ? hole :
                                                    side.memory + i * LENGTH,
                                       i * LENGTH, LENGTH, 1, &waits[i]);
        }
        for (unsigned i = 0; i < COPIES; ++i) {
            EXPECT_EQ(cma_side_finish(&side, status[i], &waits[i]),
                      (i == BAD) ? UCS_ERR_INVALID_ADDR : UCS_OK);
        }
        for (unsigned i = 0; i < COPIES; ++i) {
            unsigned seed = (is_put && (i != BAD)) ? 50 + i : i;

            EXPECT_EQ(tell(&other, 'c', seed, i * LENGTH, LENGTH), -1);
            seed = (is_put || (i == BAD)) ? 50 + i : i;
            EXPECT_EQ(first_bad(side.memory + i * LENGTH, seed, LENGTH), -1);
        }
    }
    end(&other, &side, &link);
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
        each_side_copies_its_half_of_every_operation,
        many_at_once_both_ways,
        many_concurrent_gets_without_pause,
        fence_orders_gets_before_puts,
        short_gets_complete_in_order,
        flush_ends_after_what_came_before,
        cancelled_gets_write_no_more,
        an_endpoint_may_go_before_its_operations,
        an_interface_may_close_before_its_operations,
        a_process_reaches_itself,
        a_key_gives_access_only_to_its_memory,
        unmapped_memory_fails_the_operation,
        one_of_several_short_operations_fails,
    };

    return cma_suite_run("cma", tests, sizeof(tests) / sizeof(tests[0]));
}
