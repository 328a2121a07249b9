/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathered copies: small copies that are posted while other copies are in
 * flight. The UCX plugin under test (plugins/cuda, rocm or ze) collects them,
 * and submits them to its driver, an emulated one (tests/emulated), together:
 * when the other copies are complete, or before a copy that is not gathered.
 */
#include <stdlib.h>
#include <string.h>

#include "copier.h"
#include "suite.h"

enum { COPIES = 10, LENGTH = 100 };

static char *memory; /* Device memory with a part of LENGTH for each copy */

static void open_all(void)
{
    setup();
    device_open();
    memory = device_allocate(COPIES * LENGTH);
}

static void close_all(void)
{
    device_free(memory);
    device_close();
    teardown();
}

/* Returns the number of submissions of copies to the driver so far. With a
 * driver without DEVICE_BATCH, each submission of one or more copies ends with
 * one DEVICE_SIGNAL, so that call is counted. */
static unsigned long count_submissions(void)
{
#ifdef DEVICE_BATCH
    return emulated_calls(DEVICE_COPY) + emulated_calls(DEVICE_BATCH);
#else
    return emulated_calls(DEVICE_SIGNAL);
#endif
}

/* Posts a put to part number `at` of the memory. */
static void put(done_t *done, int at, char *data)
{
    ck_assert_int_eq(start(done, 1, (uintptr_t)memory + (size_t)at * LENGTH,
                           data, LENGTH),
                     UCS_INPROGRESS);
}

/* Holds the emulated engine, so that no copy becomes complete, and posts a put
 * of different data to each part of the memory. */
static void put_all(done_t done[COPIES], char data[COPIES][LENGTH])
{
    int i;

    emulated_hold();
    for (i = 0; i < COPIES; ++i) {
        memset(data[i], i + 1, LENGTH);
        put(&done[i], i, data[i]);
    }
}

static void check_all(const char data[COPIES][LENGTH])
{
    ck_assert_mem_eq(emulated_view(memory, COPIES * LENGTH), data,
                     COPIES * LENGTH);
}

START_TEST(copies_behind_the_first_are_submitted_together)
{
    unsigned long before = count_submissions();
    char data[COPIES][LENGTH];
    done_t done[COPIES];
    int i;

    put_all(done, data);
    for (i = 0; i < COPIES; ++i) {
        ck_assert_int_eq(uct_iface_progress(iface), 0);
    }
    ck_assert_uint_eq(count_submissions() - before, 1);
    emulated_release();
    for (i = 0; i < COPIES; ++i) {
        ck_ok(finish(&done[i]));
    }
    check_all(data);
    ck_assert_uint_eq(count_submissions() - before, 2);
}
END_TEST

START_TEST(a_short_copy_is_behind_the_gathered_ones)
{
    char data[COPIES][LENGTH], back[LENGTH];
    done_t done[COPIES];
    int i;

    put_all(done, data);
    emulated_release();
    ck_ok(uct_ep_get_short(ep, back, LENGTH,
                           (uintptr_t)memory + (COPIES - 1) * LENGTH,
                           UCT_INVALID_RKEY));
    ck_assert_mem_eq(back, data[COPIES - 1], LENGTH);
    for (i = 0; i < COPIES; ++i) {
        ck_ok(finish(&done[i]));
    }
}
END_TEST

/* Four copies in a row go to the same part of the memory. They must be executed
 * in the order of the posts. The driver executes the copies of one batch in any
 * order, so such copies must not be in one batch. */
START_TEST(copies_of_the_same_memory_keep_their_order)
{
    char data[COPIES][LENGTH], back[LENGTH];
    done_t done[COPIES], got;
    int i;

    emulated_hold();
    for (i = 0; i < COPIES; ++i) {
        memset(data[i], i + 1, LENGTH);
        put(&done[i], i / 4, data[i]);
    }
    ck_assert_int_eq(start(&got, 0, (uintptr_t)memory, back, LENGTH),
                     UCS_INPROGRESS);
    emulated_release();
    for (i = 0; i < COPIES; ++i) {
        ck_ok(finish(&done[i]));
    }
    ck_ok(finish(&got));
    ck_assert_mem_eq(back, data[3], LENGTH);
    ck_assert_mem_eq(emulated_view(memory, LENGTH), data[3], LENGTH);
    ck_assert_mem_eq(emulated_view(memory + LENGTH, LENGTH), data[7], LENGTH);
}
END_TEST

START_TEST(a_cancelled_flush_ends_gathered_copies)
{
    uct_completion_t comp = {.func = NULL, .count = 2};
    char data[COPIES][LENGTH];
    done_t done[COPIES];
    int i;

    put_all(done, data);
    ck_assert_int_eq(uct_ep_flush(ep, UCT_FLUSH_FLAG_CANCEL, &comp),
                     UCS_INPROGRESS);
    emulated_release();
    for (i = 0; i < COPIES; ++i) {
        ck_assert_int_eq(finish(&done[i]), UCS_ERR_CANCELED);
    }
    while (comp.count == 2) {
        uct_iface_progress(iface);
    }
}
END_TEST

#ifdef DEVICE_BATCH
/* The driver rejects the batch of gathered copies. The plugin then submits each
 * copy of the batch separately, and the driver rejects the third of these. Only
 * that copy may fail. */
START_TEST(a_rejected_copy_fails_alone)
{
    char data[COPIES][LENGTH];
    done_t done[COPIES];
    int i, failed = 0;
    ucs_status_t status;

    put_all(done, data);
    emulated_fail(DEVICE_BATCH, 1, DEVICE_LOST);
    emulated_fail(DEVICE_COPY, 3, DEVICE_LOST);
    emulated_release();
    for (i = 0; i < COPIES; ++i) {
        status = finish(&done[i]);
        if (status != UCS_OK) {
            ck_assert_int_eq(i, 3);
            ++failed;
        }
    }
    ck_assert_int_eq(failed, 1);
}
END_TEST

/* The program resets the device while copies are gathered. The driver waits for
 * the first copy, which is already issued, so that copy may succeed or fail.
 * The gathered copies are not issued yet, and fail. The memory belongs to a
 * context of the program, which the reset does not destroy: it can be copied
 * afterwards. */
START_TEST(a_reset_ends_gathered_copies)
{
    char data[COPIES][LENGTH];
    done_t done[COPIES];
    int i;

    put_all(done, data);
    emulated_release();
    DEVICE_RESET();
    (void)finish(&done[0]);
    for (i = 1; i < COPIES; ++i) {
        ck_assert_int_eq(finish(&done[i]), UCS_ERR_IO_ERROR);
    }
    put_all(done, data);
    emulated_release();
    for (i = 0; i < COPIES; ++i) {
        ck_ok(finish(&done[i]));
    }
    check_all(data);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create(DEVICE_SUITE " gathered copies");
    TCase *tcase = tcase_create(DEVICE_SUITE " gathered copies");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, open_all, close_all);
    tcase_add_test(tcase, copies_behind_the_first_are_submitted_together);
    tcase_add_test(tcase, a_short_copy_is_behind_the_gathered_ones);
    tcase_add_test(tcase, copies_of_the_same_memory_keep_their_order);
    tcase_add_test(tcase, a_cancelled_flush_ends_gathered_copies);
#ifdef DEVICE_BATCH
    tcase_add_test(tcase, a_rejected_copy_fails_alone);
    tcase_add_test(tcase, a_reset_ends_gathered_copies);
#endif
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
