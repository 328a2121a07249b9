/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages behind one that is delayed or lost. The delayed message is a
 * rendezvous of ofi_rxm: the receiver reads it from the sender, which does not
 * answer until its progress is called. */
#include "node.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    LARGE = 900,  /* Bytes of a message that ofi_rxm sends by rendezvous */
    MANY  = 40000 /* More messages than half of the range of their numbers */
};

static time_t skipped; /* Seconds that the tests have skipped */

/* Replaces the function of the C library in all libraries of the process. */
int clock_gettime(clockid_t clock, struct timespec *ts)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, ts);

    ts->tv_sec += skipped;
    return rc;
}

static size_t pack(void *to, void *arg)
{
    memset(to, 2, LARGE);
    return LARGE;
}

/* Opens two nodes, and sends a message of `a` that `b` does not receive before
 * `a` makes progress. */
static void open_and_delay(pair_t *pair, uct_ep_h *talk)
{
    static char memory[64];

    setenv("FI_OFI_RXM_BUFFER_SIZE", "512", 1);
    setenv("FI_OFI_RXM_SAR_LIMIT", "1", 1);
    setenv("UCX_UGNI_SEG_SIZE", "1024", 1);
    pair_open(pair, memory, sizeof(memory));
    ASSERT_OK(node_connect(&pair->a, NODE_SMSG, &pair->b, talk));
    node_say(&pair->a, *talk, &pair->b, 1);
    ck_assert_int_eq(uct_ep_am_bcopy(*talk, NODE_AM_ID, pack, NULL, 0), LARGE);
}

START_TEST(messages_behind_a_delayed_one_arrive)
{
    ucs_status_t status;
    uct_ep_h talk;
    pair_t pair;

    open_and_delay(&pair, &talk);
    for (uint64_t i = 1; i <= MANY; ++i) {
        while ((status = uct_ep_am_short(talk, NODE_AM_ID, i, NULL, 0)) ==
               UCS_ERR_NO_RESOURCE) {
            uct_worker_progress(pair.a.worker);
            uct_worker_progress(pair.b.worker);
        }
        ASSERT_OK(status);
        uct_worker_progress(pair.b.worker);
    }
    NODE_WAIT(&pair.a, &pair.b, pair.b.received == 2 + MANY);
    ck_assert_uint_eq(pair.b.last, MANY);
    uct_ep_destroy(talk);
    pair_close(&pair);
}
END_TEST

START_TEST(each_missing_message_has_the_whole_timeout)
{
    uct_ep_h talk, reply;
    unsigned arrived = 0;
    pair_t pair;

    setenv("STRICT_LOSE", "3", 1);
    setenv("UCX_UGNI_TIMEOUT", "10s", 1);
    open_and_delay(&pair, &talk);
    ASSERT_OK(node_connect(&pair.b, NODE_SMSG, &pair.a, &reply));
    ASSERT_OK(uct_ep_am_short(talk, NODE_AM_ID, 3, NULL, 0));
    ASSERT_OK(uct_ep_am_short(talk, NODE_AM_ID, 4, NULL, 0));
    while (arrived < 2) { /* The lost message arrives empty */
        arrived += uct_worker_progress(pair.b.worker);
    }
    ck_assert_uint_eq(pair.b.received, 1);
    skipped += 8;
    NODE_WAIT(&pair.a, &pair.b, pair.b.received == 2);
    skipped += 8;
    for (unsigned i = 0; i < 100; ++i) {
        uct_worker_progress(pair.b.worker);
    }
    ck_assert_uint_eq(pair.b.failures, 0);
    skipped += 8;
    NODE_WAIT(&pair.b, &pair.b, pair.b.failures == 1);
    ck_assert_uint_eq(pair.b.received, 2);
    uct_ep_destroy(talk);
    uct_ep_destroy(reply);
    pair_close(&pair);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("order");

    tcase_add_test(tcase, messages_behind_a_delayed_one_arrive);
    tcase_add_test(tcase, each_missing_message_has_the_whole_timeout);
    return node_run(tcase);
}
