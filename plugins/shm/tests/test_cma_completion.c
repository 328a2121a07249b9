/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How puts and gets over cma between two correct processes complete: their
 * order, flush, cancellation, the close of their endpoint or interface, and
 * errors of keys and memory. A helper is a peer that calls progress and copies
 * parts of an operation.
 */
#include "cma_other.h"
#include "cma_side.h"
#include "suite.h"

#include <string.h>
#include <sys/mman.h>
#include <ucx/component.h>

/* --- Order --------------------------------------------------------------- */

/* A put after a fence does not change what an earlier get reads. */
START_TEST(fence_orders_gets_before_puts)
{
    const size_t length = 3000000;
    cma_wait_t get_wait, put_wait;
    ucs_status_t get_status, put_status;
    cma_side_t side;
    cma_link_t link;
    cma_other_t other;

    cma_other_begin(&other, &side, &link, NULL);
    cma_fill(side.memory + length, 5, length);
    for (unsigned i = 0; i < 20; ++i) {
        size_t put_length = (i % 2) ? length : 4000;

        cma_other_tell(&other, 'f', i, 0, length);
        get_status = cma_side_start(&link, 0, side.memory, 0, length, 1,
                                    &get_wait);
        EXPECT_EQ(uct_ep_fence(link.ep, 0), UCS_OK);
        put_status = cma_side_start(&link, 1, side.memory + length, 0,
                                    put_length, 1, &put_wait);
        EXPECT_EQ(cma_side_finish(&side, put_status, &put_wait), UCS_OK);
        EXPECT_EQ(cma_side_finish(&side, get_status, &get_wait), UCS_OK);
        EXPECT_EQ(cma_first_bad(side.memory, i, length), -1);
        EXPECT_EQ(cma_other_tell(&other, 'c', 5, 0, put_length), -1);
    }
    cma_other_end(&other, &side, &link);
}
END_TEST

/* Short operations that are posted later do not overtake those that wait: the
 * latter would wait as long as others are posted. One of 64 KiB is copied in
 * its call; further ones are queued, and four at a time are copied in one
 * system call. */
START_TEST(short_gets_complete_in_order)
{
    enum { FIRST = 16, COPIES = 24, LENGTH = 65536 };
    static cma_wait_t waits[COPIES];
    ucs_status_t status[COPIES];
    unsigned posted = 0, complete = 0;
    cma_side_t side;
    cma_link_t link;
    cma_other_t other;

    cma_other_begin(&other, &side, &link, "SHARE=n");
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
    cma_other_end(&other, &side, &link);
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
    cma_other_t other;

    cma_other_begin(&other, &side, &link, NULL);
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
    cma_other_end(&other, &side, &link);
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
    cma_other_t other;

    cma_other_begin(&other, &side, &link, NULL);
    cma_other_tell(&other, 'f', 3, 0, WINDOW);
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
    cma_other_end(&other, &side, &link);
}
END_TEST

START_TEST(an_endpoint_may_go_before_its_operations)
{
    cma_wait_t waits[6];
    ucs_status_t status[6];
    cma_side_t side;
    cma_link_t link;
    cma_other_t other;

    cma_other_begin(&other, &side, &link, NULL);
    cma_other_tell(&other, 'f', 4, 0, 4000000);
    for (unsigned round = 0; round < 20; ++round) {
        memset(side.memory, 0, WINDOW);
        for (unsigned i = 0; i < 6; ++i) {
            status[i] = cma_side_start(&link, 0, side.memory + i * 4000000, 0,
                                       4000000, 1, &waits[i]);
        }
        uct_ep_destroy(link.ep);
        for (unsigned i = 0; i < 6; ++i) {
            EXPECT_EQ(cma_side_finish(&side, status[i], &waits[i]), UCS_OK);
            EXPECT_EQ(cma_first_bad(side.memory + i * 4000000, 4, 4000000), -1);
        }
        EXPECT_EQ(uct_rkey_release(side.component, &link.key), UCS_OK);
        cma_side_connect(&side, &link.card, &link);
    }
    cma_other_end(&other, &side, &link);
}
END_TEST

/* The endpoint, the interface and the domain are closed while gets are in
 * flight. */
START_TEST(an_interface_may_close_before_its_operations)
{
    static cma_wait_t waits[6];
    cma_side_t side, again;
    cma_link_t link, link_again;
    cma_other_t other;

    cma_other_begin(&other, &side, &link, NULL);
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
    cma_other_end(&other, &side, &link);
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
    cma_other_t other;
    uct_iov_t iov;

    cma_other_begin(&other, &side, &link, NULL);
    cma_other_tell(&other, 'f', 1, 0, WINDOW);
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

    EXPECT_EQ(cma_other_tell(&other, 'c', 1, 0, WINDOW), -1);
    cma_other_end(&other, &side, &link);
}
END_TEST

/* Unpacks a process key. `size`: its bytes; another number is an error. */
static ucs_status_t unpack_process_key(const cma_side_t *side, const void *key,
                                       size_t size, uct_rkey_t *rkey_p)
{
    const ucx_component_t *component = side->md->component;
    void *handle;

    return component->rkey_unpack(component, key, size,
                                  UCS_SYS_DEVICE_ID_UNKNOWN, rkey_p, &handle);
}

/* A process key has the token that is also in the keys of registered memory. It
 * gives access to all memory of its process, and of no other one. */
START_TEST(a_process_key_gives_access_to_its_process)
{
    cma_side_t side;
    cma_link_t link;
    uct_rkey_t theirs, own;
    uint8_t packed[sizeof(uint32_t)], none[sizeof(uint32_t)] = {0};
    const ucx_component_t *component;
    cma_other_t other;
    uct_iov_t iov;
    int result;

    cma_other_begin(&other, &side, &link, NULL);
    component = side.md->component;
    cma_other_tell(&other, 'f', 1, 0, WINDOW);
    iov = (uct_iov_t){side.memory, 100, NULL, 0, 1};

    EXPECT_EQ(unpack_process_key(&side, link.card.key, sizeof(packed), &theirs),
              UCS_OK);
    EXPECT_EQ(uct_ep_get_zcopy(link.ep, &iov, 1, link.card.memory, theirs,
                               NULL),
              UCS_OK);
    EXPECT_EQ(cma_first_bad(side.memory, 1, 100), -1);
    /* Nothing is mapped there */
    EXPECT_EQ(uct_ep_get_zcopy(link.ep, &iov, 1, 64, theirs, NULL),
              UCS_ERR_INVALID_ADDR);

    EXPECT_EQ(side.md->ops->mkey_pack(side.md, UCT_MEM_HANDLE_NULL, NULL, 0,
                                      UCX_MKEY_PACK_PROCESS, packed),
              UCS_OK);
    EXPECT_EQ(unpack_process_key(&side, packed, sizeof(packed), &own), UCS_OK);
    EXPECT_EQ(uct_ep_get_zcopy(link.ep, &iov, 1, (uintptr_t)side.memory, own,
                               NULL),
              UCS_ERR_INVALID_PARAM);
    EXPECT_EQ(component->rkey_compare(component, own, own, &result), UCS_OK);
    EXPECT_EQ(result, 0);
    EXPECT_EQ(component->rkey_compare(component, own, theirs, &result), UCS_OK);
    EXPECT_EQ(result == 0, 0);
    EXPECT_EQ(component->rkey_compare(component, own, link.key.rkey, &result),
              UCS_OK);
    EXPECT_EQ(result == 0, 0);
    EXPECT_EQ(component->rkey_release(component, own, NULL), UCS_OK);
    EXPECT_EQ(component->rkey_release(component, theirs, NULL), UCS_OK);

    EXPECT_EQ(unpack_process_key(&side, none, sizeof(none), &own),
              UCS_ERR_INVALID_PARAM);
    EXPECT_EQ(unpack_process_key(&side, packed, 3, &own),
              UCS_ERR_INVALID_PARAM);
    EXPECT_EQ(unpack_process_key(&side, link.card.key, 5, &own),
              UCS_ERR_INVALID_PARAM);

    cma_other_end(&other, &side, &link);
}
END_TEST

/* Local memory with an unmapped hole, with a helper and without: only that
 * operation fails. */
START_TEST(unmapped_memory_fails_the_operation)
{
    cma_side_t side;
    cma_link_t link;
    uint8_t *hole;
    cma_other_t other;

    for (unsigned turn = 0; turn < 2; ++turn) {
        cma_other_begin(&other, &side, &link, NULL);
        cma_other_tell(&other, turn ? 'l' : 'a', 0, 0, 0);
        hole = mmap(NULL, 8000000, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT_TRUE(hole != MAP_FAILED);
        munmap(hole + 4000000 / 4096 * 4096, 8192);
        for (unsigned i = 0; i < 10; ++i) {
            EXPECT_EQ(cma_side_copy(&link, i % 2, hole, 0, 8000000, 1),
                      UCS_ERR_INVALID_ADDR);
            EXPECT_EQ(cma_side_copy(&link, i % 2, hole + 3900000, 0, 200000, 1),
                      UCS_ERR_INVALID_ADDR);
            cma_other_round_trip(&other, &link, 1000000, 1);
        }
        munmap(hole, 8000000);
        cma_other_end(&other, &side, &link);
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
    cma_other_t other;

    cma_other_begin(&other, &side, &link, "SHARE=n");
    hole = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_TRUE(hole != MAP_FAILED);
    munmap(hole, LENGTH);
    for (int is_put = 0; is_put < 2; ++is_put) {
        for (unsigned i = 0; i < COPIES; ++i) {
            cma_other_tell(&other, 'f', i, i * LENGTH, LENGTH);
            cma_fill(side.memory + i * LENGTH, 50 + i, LENGTH);
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

            EXPECT_EQ(cma_other_tell(&other, 'c', seed, i * LENGTH, LENGTH),
                      -1);
            seed = (is_put || (i == BAD)) ? 50 + i : i;
            EXPECT_EQ(cma_first_bad(side.memory + i * LENGTH, seed, LENGTH),
                      -1);
        }
    }
    cma_other_end(&other, &side, &link);
}
END_TEST

/* ------------------------------------------------------------------------- */

int main(void)
{
    const TTest *const tests[] = {
        fence_orders_gets_before_puts,
        short_gets_complete_in_order,
        flush_ends_after_what_came_before,
        cancelled_gets_write_no_more,
        an_endpoint_may_go_before_its_operations,
        an_interface_may_close_before_its_operations,
        a_key_gives_access_only_to_its_memory,
        a_process_key_gives_access_to_its_process,
        unmapped_memory_fails_the_operation,
        one_of_several_short_operations_fails,
    };

    return suite_run("cma completion", tests, sizeof(tests) / sizeof(tests[0]),
                     CK_FORK);
}
