/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IPC over an emulated driver (tests/emulated), through the public UCT API: a
 * process opens device memory of another process and copies it directly. The
 * tests check which memory the UCX plugin (plugins/cuda, rocm or ze) opens, and
 * when it closes the memory. The owner process allocates the memory
 * (ipc_owner.h); the test process puts and gets (ipc_user.h).
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "ipc_user.h"
#include "polled.h"

/* Maximum number of mappings that an interface keeps open. The same number is
 * in MAX_MAPPINGS, in open_one() of ipc_owner.c. */
enum { KEPT = 2 };

/* Number of times that this process has opened memory of the owner so far. */
static unsigned long opened(void)
{
    return emulated_calls(DEVICE_OPEN);
}

/* Number of times that this process has closed memory of the owner so far. */
static unsigned long closed(void)
{
    return emulated_calls(DEVICE_CLOSE);
}

START_TEST(memory_is_opened_once_and_copied_directly)
{
    answer_t memory      = allocate(PLAIN, 0, 1);
    char *data           = malloc(LENGTH);
    unsigned long before = opened();
    void *own;
    int i;

    device_open();
    own = device_allocate(LENGTH);
    for (i = 0; i < 10; ++i) {
        memset(emulated_view(own, LENGTH), 10 + i, LENGTH);
        copy(1, &memory, 0, own, LENGTH);
        ck_assert_int_eq(tell(READ, memory.address).value, 10 + i);
    }
    memset(data, 0, LENGTH);
    copy(0, &memory, 5, data, LENGTH - 5);
    ck_assert_int_eq(data[LENGTH - 6], 19);
    ck_assert_int_eq(data[LENGTH - 5], 0);
    memset(data, 50, LENGTH);
    copy(1, &memory, 0, data, LENGTH);
    ck_assert_int_eq(tell(READ, memory.address).value, 50);
    ck_assert_uint_eq(opened() - before, 1);
    device_free(own);
    device_close();
    free(data);
}
END_TEST

START_TEST(the_worker_polls_the_interface_while_copies_are_outstanding)
{
    answer_t memory = allocate(PLAIN, 0, 1);
    char byte       = 0;
    done_t done;

    uct_iface_progress_enable(iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    ck_assert_uint_eq(num_polled(iface), 0);
    ck_assert_int_eq(start(&done, 0, &memory, 0, &byte, 1), UCS_INPROGRESS);
    ck_assert_uint_eq(num_polled(iface), 1);
    while (done.calls == 0) {
        uct_worker_progress(iface->worker);
    }
    ck_ok(done.comp.status);
    ck_assert_int_eq(byte, 1);
    ck_assert_uint_eq(num_polled(iface), 0);
}
END_TEST

START_TEST(other_memory_at_the_same_address_is_opened_again)
{
    answer_t first             = allocate(PLAIN, 0, 1);
    unsigned long open_before  = opened();
    unsigned long close_before = closed();
    answer_t second;

    ck_assert_int_eq(last_byte(&first), 1);
    ck_ok(tell(RELEASE, first.address).status);
    second = allocate(PLAIN, 0, 2);
    ck_assert_uint_eq(second.address, first.address);
    ck_assert_int_eq(last_byte(&second), 2);
    ck_assert_uint_eq(opened() - open_before, 2);
    ck_assert_uint_eq(closed() - close_before, 1);
}
END_TEST

START_TEST(a_mapping_in_use_is_closed_after_its_copies)
{
    answer_t first             = allocate(PLAIN, 0, 1);
    unsigned long close_before = closed();
    answer_t second;
    done_t done[2];
    char bytes[2];

    ck_assert_int_eq(last_byte(&first), 1);
    emulated_hold();
    ck_assert_int_eq(start(&done[0], 0, &first, 0, &bytes[0], 1),
                     UCS_INPROGRESS);
    ck_ok(tell(RELEASE, first.address).status);
    second = allocate(PLAIN, 0, 2);
    ck_assert_uint_eq(second.address, first.address);
    ck_assert_int_eq(start(&done[1], 0, &second, 0, &bytes[1], 1),
                     UCS_INPROGRESS);
    ck_assert_uint_eq(closed(), close_before);
    emulated_release();
    ck_ok(finish(&done[0]));
    ck_ok(finish(&done[1]));
    ck_assert_uint_eq(closed() - close_before, 1);
    ck_assert_int_eq(bytes[0], 1);
    ck_assert_int_eq(bytes[1], 2);
}
END_TEST

START_TEST(no_more_than_the_limit_stay_open)
{
    unsigned long open_before  = opened();
    unsigned long close_before = closed();
    answer_t memory[KEPT + 1];
    int i;

    for (i = 0; i <= KEPT; ++i) {
        memory[i] = allocate(PLAIN, 0, (char)i);
        ck_assert_int_eq(last_byte(&memory[i]), i);
    }
    ck_assert_uint_eq(opened() - open_before, KEPT + 1);
    ck_assert_uint_eq(closed() - close_before, 1);
    ck_assert_int_eq(last_byte(&memory[KEPT]), KEPT);
    ck_assert_uint_eq(opened() - open_before, KEPT + 1);
    ck_assert_int_eq(last_byte(&memory[0]), 0);
    ck_assert_uint_eq(opened() - open_before, KEPT + 2);
    ck_assert_uint_eq(closed() - close_before, 2);
}
END_TEST

START_TEST(the_last_endpoint_closes_the_mappings_of_its_peer)
{
    answer_t memory            = allocate(PLAIN, 0, 1);
    unsigned long close_before = closed();

    ck_assert_int_eq(last_byte(&memory), 1);
    uct_ep_destroy(ep);
    ep = NULL;
    ck_assert_uint_eq(closed() - close_before, 1);
}
END_TEST

START_TEST(an_access_outside_the_memory_is_rejected)
{
    answer_t memory = allocate(PLAIN, 0, 1);
    char bytes[2]   = {0};
    done_t done;

    ck_assert_int_eq(start(&done, 0, &memory, LENGTH - 1, bytes, 2),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(start(&done, 1, &memory, (size_t)-1, bytes, 1),
                     UCS_ERR_INVALID_ADDR);
    /* changes the length of the memory in the packed key to a value above the
     * real length. The length is at offset 32 of the key, in little-endian
     * order; sdk/accel/src/key.h describes the layout */
    memory.key[32 + 3] = 1;
    ck_assert_int_eq(start(&done, 0, &memory, LENGTH - 1, bytes, 2),
                     UCS_ERR_INVALID_ADDR);
    memory.key[32 + 3] = 0;
    ck_assert_int_eq(last_byte(&memory), 1);
}
END_TEST

START_TEST(freed_memory_is_opened_only_where_a_descriptor_keeps_it)
{
    answer_t memory = allocate(PLAIN, 0, 1);
    char byte       = 0;
    done_t done;

    ck_ok(tell(RELEASE, memory.address).status);
#ifdef DEVICE_KEEPS_FREED
    ck_assert_int_eq(start(&done, 0, &memory, LENGTH - 1, &byte, 1),
                     UCS_INPROGRESS);
    ck_ok(finish(&done));
    ck_assert_int_eq(byte, 1);
#else
    ck_assert_int_eq(start(&done, 0, &memory, LENGTH - 1, &byte, 1),
                     UCS_ERR_INVALID_ADDR);
#endif
}
END_TEST

START_TEST(memory_that_cannot_be_exported_is_not_registered)
{
    answer_t memory = allocate(UNEXPORTABLE, 0, 1);

    ck_assert_int_eq(memory.status, UCS_ERR_UNSUPPORTED);
}
END_TEST

START_TEST(copies_end_although_the_owner_is_killed)
{
    answer_t memory = allocate(PLAIN, 0, 7);
    answer_t other  = allocate(PLAIN, 0, 8);
    done_t done;
    char byte = 0;
    int status;

    ck_assert_int_eq(last_byte(&memory), 7);
    emulated_hold();
    ck_assert_int_eq(start(&done, 0, &memory, 0, &byte, 1), UCS_INPROGRESS);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    child = 0;
    emulated_release();
    ck_ok(finish(&done));
    ck_assert_int_eq(byte, 7);
    ck_assert_int_eq(start(&done, 0, &other, 0, &byte, 1), DEVICE_GONE_STATUS);
}
END_TEST

START_TEST(a_lost_device_ends_the_copies_of_its_mappings)
{
    answer_t memory = allocate(PLAIN, 0, 7);
    answer_t other  = allocate(BY_FD, 0, 8);
    char bytes[2]   = {0};
    ucs_status_t status;
    done_t done[2];

    ck_assert_int_eq(last_byte(&memory), 7);
    ck_assert_int_eq(last_byte(&other), 8);
    emulated_hold();
    ck_assert_int_eq(start(&done[0], 0, &memory, 0, &bytes[0], 1),
                     UCS_INPROGRESS);
    ck_assert_int_eq(start(&done[1], 1, &other, 0, &bytes[1], 1),
                     UCS_INPROGRESS);
    emulated_lose(0, DEVICE_LOST);
    emulated_release();
    ck_assert_int_eq(finish(&done[0]), DEVICE_LOST_STATUS);
    ck_assert_int_eq(finish(&done[1]), DEVICE_LOST_STATUS);
    status = start(&done[0], 0, &memory, 0, &bytes[0], 1);
    ck_assert_int_eq((status == UCS_INPROGRESS) ? finish(&done[0]) : status,
                     DEVICE_LOST_STATUS);
    ck_assert_int_eq(tell(READ, memory.address).value, 7);
}
END_TEST

/* Gets one byte over each of two interfaces of this process, and closes the
 * first interface. With a driver that defines DEVICE_OPENS_ONCE, both
 * interfaces share one mapping, which stays open until the second interface no
 * longer needs it. With other drivers each interface opens the memory. */
START_TEST(two_interfaces_have_the_memory_open)
{
    answer_t memory       = allocate(PLAIN, 0, 1);
    unsigned long opening = opened(), closing = closed();
    uct_ep_h first_ep = ep;
#ifdef DEVICE_OPENS_ONCE
    const unsigned is_shared = 1;
#else
    const unsigned is_shared = 0;
#endif

    ck_assert_int_eq(last_byte(&memory), 1);
    (void)open_other_iface();
    connect_ep();
    ck_assert_int_eq(last_byte(&memory), 1);
    ck_assert_uint_eq(opened() - opening, 2 - is_shared);
    uct_ep_destroy(first_ep);
    close_first_iface();
    ck_assert_uint_eq(closed() - closing, 1 - is_shared);
    ck_assert_int_eq(last_byte(&memory), 1);
    uct_ep_destroy(ep);
    ep = NULL;
    ck_assert_uint_eq(opened() - opening, 2 - is_shared);
    ck_assert_uint_eq(closed() - closing, 2 - is_shared);
}
END_TEST

#ifdef DEVICE_RESET
/* Only the queue fails here; the context and the mappings in it stay. */
START_TEST(memory_is_closed_after_a_failure_of_a_queue)
{
    answer_t memory = allocate(PLAIN, 0, 3);
    unsigned long open_before, close_before;
    char byte = 0;
    done_t done;

    ck_assert_int_eq(last_byte(&memory), 3);
    open_before  = opened();
    close_before = closed();
    emulated_set_delay(100000);
    ck_assert_int_eq(start(&done, 0, &memory, 0, &byte, 1), UCS_INPROGRESS);
    emulated_fail(DEVICE_CHECK, 1, DEVICE_LOST);
    ck_assert_int_eq(finish(&done), DEVICE_LOST_STATUS);
    emulated_set_delay(0);
    ck_assert_uint_eq(closed() - close_before, 1);
    ck_assert_int_eq(last_byte(&memory), 3);
    ck_assert_uint_eq(opened() - open_before, 1);
}
END_TEST

START_TEST(memory_is_opened_again_after_a_reset_of_the_device)
{
    answer_t memory = allocate(PLAIN, 0, 3);
    answer_t other  = allocate(BY_FD, 0, 4);
    unsigned long count;
    done_t done;
    char byte = 0;

    ck_assert_int_eq(last_byte(&memory), 3);
    ck_assert_int_eq(last_byte(&other), 4);
    DEVICE_RESET();
    count = opened();
    /* the reset has destroyed the mapping of `memory`. The first copy after it
     * detects this and fails; the next one opens the memory again */
    ck_assert_int_eq(start(&done, 0, &memory, 0, &byte, 1), UCS_ERR_IO_ERROR);
    ck_assert_int_eq(last_byte(&memory), 3);
    ck_assert_uint_eq(opened() - count, 1);
    ck_assert_int_eq(last_byte(&other), 4);
}
END_TEST

/* The first copy of each interface after the reset detects the reset, and
 * fails. */
START_TEST(two_interfaces_open_the_memory_again_after_a_reset)
{
    answer_t memory   = allocate(PLAIN, 0, 5);
    uct_iface_h first = iface;
    uct_ep_h first_ep = ep;
    char byte         = 0;
    done_t done;

    ck_assert_int_eq(last_byte(&memory), 5);
    (void)open_other_iface();
    connect_ep();
    ck_assert_int_eq(last_byte(&memory), 5);
    DEVICE_RESET();
    ck_assert_int_eq(start(&done, 0, &memory, 0, &byte, 1), UCS_ERR_IO_ERROR);
    ck_assert_int_eq(last_byte(&memory), 5);
    uct_ep_destroy(ep);
    iface = first;
    ep    = first_ep;
    ck_assert_int_eq(start(&done, 0, &memory, 0, &byte, 1), UCS_ERR_IO_ERROR);
    ck_assert_int_eq(last_byte(&memory), 5);
}
END_TEST
#endif

int main(void)
{
    const TTest *const tests[] = {
        memory_is_opened_once_and_copied_directly,
        the_worker_polls_the_interface_while_copies_are_outstanding,
        other_memory_at_the_same_address_is_opened_again,
        a_mapping_in_use_is_closed_after_its_copies,
        no_more_than_the_limit_stay_open,
        the_last_endpoint_closes_the_mappings_of_its_peer,
        an_access_outside_the_memory_is_rejected,
        freed_memory_is_opened_only_where_a_descriptor_keeps_it,
        memory_that_cannot_be_exported_is_not_registered,
        copies_end_although_the_owner_is_killed,
        a_lost_device_ends_the_copies_of_its_mappings,
        two_interfaces_have_the_memory_open,
#ifdef DEVICE_RESET
        memory_is_closed_after_a_failure_of_a_queue,
        memory_is_opened_again_after_a_reset_of_the_device,
        two_interfaces_open_the_memory_again_after_a_reset,
#endif
    };

    return run_all_alone(tests, sizeof(tests) / sizeof(tests[0]));
}
