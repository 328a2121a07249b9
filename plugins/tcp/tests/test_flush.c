/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flush of endpoints and interfaces, zero-copy sends in progress, and the
 * addresses of interfaces, as the specification of UCT describes them.
 */
#include "side.h"
#include "suite.h"

#include <pthread.h>
#include <string.h>

#define ID     1
#define LENGTH 200000 /* Longer than messages that are copied */
#define MAX    300    /* Maximum number of messages in each round */
#define ROUNDS 20

static volatile unsigned received;
static pthread_t progress_thread;

/* Checks a message: the header is its number, and the first and last byte of
 * data are the low byte of the number. */
static ucs_status_t on_am(void *arg, void *data, size_t length, unsigned flags)
{
    const uint8_t *bytes = data;
    uint64_t number;

    memcpy(&number, data, sizeof(number));
    EXPECT_EQ(number, received);
    EXPECT_EQ(length, sizeof(number) + LENGTH);
    EXPECT_EQ(bytes[sizeof(number)], (uint8_t)number);
    EXPECT_EQ(bytes[length - 1], (uint8_t)number);
    EXPECT_TRUE(pthread_equal(pthread_self(), progress_thread));
    ++received;
    return UCS_OK;
}

/* --- A peer that receives later ------------------------------------------ */

static unsigned num_outstanding;
static volatile unsigned num_called;

static void on_sent(uct_completion_t *comp)
{
    EXPECT_EQ(comp->status, UCS_OK);
    EXPECT_EQ(comp->count, 0);
    --num_outstanding;
    free(comp);
}

static void on_flushed(uct_completion_t *comp)
{
    EXPECT_EQ(num_outstanding, 0);
    ++num_called;
}

/* Sends a message. Its header is changed as soon as the call has returned: the
 * transport must have copied it. */
static ucs_status_t send_message(uct_ep_h ep, uint64_t number, uint8_t *buffer)
{
    uct_completion_t *comp = malloc(sizeof(*comp));
    uct_iov_t iov          = {buffer, LENGTH, NULL, 0, 1};
    uint64_t header        = number;
    ucs_status_t status;

    memset(buffer, (int)number, LENGTH);
    *comp  = (uct_completion_t){on_sent, 1, UCS_OK};
    status = uct_ep_am_zcopy(ep, ID, &header, sizeof(header), &iov, 1, 0, comp);
    header = ~header;
    if (status == UCS_INPROGRESS) {
        ++num_outstanding;
    } else {
        free(comp);
    }
    return status;
}

/* Sends messages from number `first` on until there are no send resources, each
 * from a buffer of its own. Returns the number of the next message. */
static unsigned send_until_busy(uct_ep_h ep, uint8_t *buffers, unsigned first)
{
    ucs_status_t status;
    unsigned i;

    for (i = 0; i < MAX; ++i) {
        status = send_message(ep, first + i, buffers + (size_t)i * LENGTH);
        if (status == UCS_ERR_NO_RESOURCE) {
            break;
        }
        EXPECT_TRUE((status == UCS_OK) || (status == UCS_INPROGRESS));
    }
    return first + i;
}

/* Sends the messages of one round, of which the first has the number `first`,
 * and checks flushes of them. Returns the number of the next round's first
 * message. The peer receives the first message at once, but makes no progress
 * for the others until this side has written that number to `fd`. */
static uint32_t flush_round(side_t *side, uct_ep_h ep, int fd, uint32_t first,
                            uint8_t *buffers)
{
    uct_completion_t comp = {on_flushed, 3, UCS_OK};
    ucs_status_t status;
    uint32_t next;

    while (send_message(ep, first, buffers) == UCS_ERR_NO_RESOURCE) {
        side_progress(side);
    }
    side_read_later(side, fd, &next, sizeof(next));
    EXPECT_EQ(next, first + 1);
    next = send_until_busy(ep, buffers, next);
    EXPECT_TRUE(num_outstanding > 0);
    /* Without a completion, flush returns the state and starts nothing */
    EXPECT_TRUE(uct_ep_flush(ep, 0, NULL) != UCS_OK);
    EXPECT_EQ(uct_iface_flush(side->iface, 0, NULL), UCS_INPROGRESS);
    side_write(fd, &next, sizeof(next));
    while ((status = uct_ep_flush(ep, 0, &comp)) == UCS_ERR_NO_RESOURCE) {
        side_progress(side);
    }

    /* A flush that completes decreases comp.count by one, and calls the
     * callback only at zero. First wait until nothing is outstanding */
    while (uct_ep_flush(ep, 0, NULL) != UCS_OK) {
        side_progress(side);
    }
    EXPECT_EQ(num_outstanding, 0);
    EXPECT_EQ(num_called, 0);
    EXPECT_EQ(comp.count, (status == UCS_INPROGRESS) ? 2 : 3);
    EXPECT_EQ(uct_iface_flush(side->iface, 0, NULL), UCS_OK);
    return next;
}

static void flushes(void *arg, int fd)
{
    uint8_t *buffers = malloc((size_t)MAX * LENGTH);
    uint32_t next    = 0;
    uct_ep_h ep;
    side_t side;
    int i;

    side_open(&side, NULL);
    ep = side_meet(&side, fd, NULL);
    EXPECT_EQ(uct_ep_flush(ep, 0, NULL), UCS_OK);
    EXPECT_EQ(uct_iface_flush(side.iface, 0, NULL), UCS_OK);
    for (i = 0; i < ROUNDS; ++i) {
        next = flush_round(&side, ep, fd, next, buffers);
    }
    side_barrier(&side, fd);
    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    side_close(&side);
    free(buffers);
}

static void receives_later(void *arg, int fd)
{
    uint32_t next = 0;
    uct_ep_h ep;
    side_t side;
    int i;

    side_open(&side, NULL);
    progress_thread = pthread_self();
    EXPECT_EQ(uct_iface_set_am_handler(side.iface, ID, on_am, NULL, 0), UCS_OK);
    ep = side_meet(&side, fd, NULL);
    for (i = 0; i < ROUNDS; ++i) {
        side_wait(&side, &received, ++next, "the first message");
        side_write(fd, &next, sizeof(next));
        side_read(fd, &next, sizeof(next)); /* Blocks without progress */
        side_wait(&side, &received, next, "messages");
    }
    side_barrier(&side, fd);
    EXPECT_EQ(received, next);
    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    side_close(&side);
}

PAIR_TEST(flush_tells_the_state_and_counts_once, flushes, receives_later)

/* --- Addresses ----------------------------------------------------------- */

static void opens_two(void *arg, int unused)
{
    side_addr_t addr;
    uct_iface_h other;
    side_t side;

    side_open(&side, NULL);
    other = side_open_iface(&side, NULL, &addr);
    EXPECT_EQ(memcmp(addr.dev, side.addr.dev, side.attr.device_addr_len), 0);
    EXPECT_TRUE(memcmp(addr.iface, side.addr.iface, side.attr.iface_addr_len) !=
                0);
    uct_iface_close(other);
    side_close(&side);
}

static void does_nothing(void *arg, int fd)
{
}

PAIR_TEST(interfaces_of_one_device_have_its_address, opens_two, does_nothing)

SUITE_RUN("flush", flush_tells_the_state_and_counts_once,
          interfaces_of_one_device_have_its_address)
