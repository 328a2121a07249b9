/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cuda_ipc between two processes over the emulated driver, through the public
 * UCT API: which memory is opened, for how long, and when it is not used any
 * more. The child owns memory, the parent puts and gets.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fd_client.h"
#include "ipc_owner.h"
#include "polled.h"

enum { KEPT = 2 };   /* UCX_CUDA_IPC_MAX_MAPPINGS of the interface */

typedef struct {
    uct_completion_t comp;
    int              calls;
} done_t;

static uct_ep_h ep;

/* --------------------------------------------------------------- fixture -- */

static void setup(void)
{
    addresses_t own_addresses, peer;
    uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                      UCT_EP_PARAM_FIELD_IFACE_ADDR,
        .dev_addr   = (const uct_device_addr_t *)peer.device,
        .iface_addr = (const uct_iface_addr_t *)peer.iface
    };

    fork_owner();
    open_iface(&own_addresses);
    owner_addresses(&peer);
    ck_assert_int_ne(uct_iface_is_reachable(iface, params.dev_addr,
                                            params.iface_addr), 0);
    params.iface = iface;
    ck_ok(uct_ep_create(&params, &ep));
}

static void teardown(void)
{
    emulated_release();
    if (ep != NULL) {
        uct_ep_destroy(ep);
        ep = NULL;
    }
    close_iface();
    end_owner();
    ck_assert_uint_eq(emulated_mistakes(), 0);
}

/* --------------------------------------------------------------- helpers -- */

static void count_call(uct_completion_t *comp)
{
    ++((done_t *)comp)->calls;
}

static ucs_status_t start(done_t *done, int is_put, const answer_t *memory,
                          size_t offset, void *data, size_t length)
{
    const uct_iov_t iov = {.buffer = data, .length = length, .count = 1};
    uint64_t address    = memory->address + offset;
    uct_rkey_bundle_t key;
    ucs_status_t status;

    *done = (done_t){.comp = {.func = count_call, .count = 1}};
    ck_ok(uct_rkey_unpack(component, memory->key, &key));
    status = is_put ? uct_ep_put_zcopy(ep, &iov, 1, address, key.rkey,
                                       &done->comp) :
                      uct_ep_get_zcopy(ep, &iov, 1, address, key.rkey,
                                       &done->comp);
    ck_ok(uct_rkey_release(component, &key));
    return status;
}

static ucs_status_t finish(done_t *done)
{
    while (done->calls == 0) {
        uct_iface_progress(iface);
    }
    ck_assert_int_eq(done->calls, 1);
    return done->comp.status;
}

static void copy(int is_put, const answer_t *memory, size_t offset, void *data,
                 size_t length)
{
    done_t done;

    ck_assert_int_eq(start(&done, is_put, memory, offset, data, length),
                     UCS_INPROGRESS);
    ck_ok(finish(&done));
}

/* Gets the last byte. */
static char last_byte(const answer_t *memory)
{
    char byte = 0;

    copy(0, memory, LENGTH - 1, &byte, 1);
    return byte;
}

static unsigned long opened(void)
{
    return emulated_calls("cuIpcOpenMemHandle_v2");
}

static unsigned long closed(void)
{
    return emulated_calls("cuIpcCloseMemHandle");
}

/* ----------------------------------------------------------------- tests -- */

START_TEST(memory_is_opened_once_and_copied_directly)
{
    answer_t memory      = tell(ALLOCATE, 0, 1);
    char *data           = malloc(LENGTH);
    unsigned long before = opened();
    CUcontext context;
    CUdeviceptr own;
    int i;

    ck_cuda(cuCtxCreate_v2(&context, 0, 0));
    ck_cuda(cuMemAlloc_v2(&own, LENGTH));
    for (i = 0; i < 10; ++i) {
        ck_cuda(cuMemsetD8_v2(own, (unsigned char)(10 + i), LENGTH));
        copy(1, &memory, 0, (void *)(uintptr_t)own, LENGTH);
        ck_assert_int_eq(tell(READ, memory.address, 0).value, 10 + i);
    }
    memset(data, 0, LENGTH);
    copy(0, &memory, 5, data, LENGTH - 5);
    ck_assert_int_eq(data[LENGTH - 6], 19);
    ck_assert_int_eq(data[LENGTH - 5], 0);
    memset(data, 50, LENGTH);
    copy(1, &memory, 0, data, LENGTH);
    ck_assert_int_eq(tell(READ, memory.address, 0).value, 50);
    ck_assert_uint_eq(opened() - before, 1);
    ck_cuda(cuCtxDestroy_v2(context));
    free(data);
}
END_TEST

START_TEST(the_worker_polls_the_interface_while_copies_are_outstanding)
{
    answer_t memory = tell(ALLOCATE, 0, 1);
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
    answer_t first             = tell(ALLOCATE, 0, 1);
    unsigned long open_before  = opened();
    unsigned long close_before = closed();
    answer_t second;

    ck_assert_int_eq(last_byte(&first), 1);
    ck_ok(tell(RELEASE, first.address, 0).status);
    second = tell(ALLOCATE, 0, 2);
    ck_assert_uint_eq(second.address, first.address);
    ck_assert_int_eq(last_byte(&second), 2);
    ck_assert_uint_eq(opened() - open_before, 2);
    ck_assert_uint_eq(closed() - close_before, 1);
}
END_TEST

START_TEST(a_mapping_in_use_is_closed_after_its_copies)
{
    answer_t first             = tell(ALLOCATE, 0, 1);
    unsigned long close_before = closed();
    answer_t second;
    done_t done[2];
    char bytes[2];

    ck_assert_int_eq(last_byte(&first), 1);
    emulated_hold();
    ck_assert_int_eq(start(&done[0], 0, &first, 0, &bytes[0], 1),
                     UCS_INPROGRESS);
    ck_ok(tell(RELEASE, first.address, 0).status);
    second = tell(ALLOCATE, 0, 2);
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
        memory[i] = tell(ALLOCATE, 0, (char)i);
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
    answer_t memory            = tell(ALLOCATE, 0, 1);
    unsigned long close_before = closed();

    ck_assert_int_eq(last_byte(&memory), 1);
    uct_ep_destroy(ep);
    ep = NULL;
    ck_assert_uint_eq(closed() - close_before, 1);
}
END_TEST

static unsigned long imported(void)
{
    return emulated_calls("cuMemImportFromShareableHandle");
}

START_TEST(virtual_memory_is_exported_and_opened_once)
{
    answer_t memory      = tell(ALLOCATE_VIRTUAL, 0, 1);
    unsigned long before = imported();
    answer_t again;
    char byte;
    int i;

    ck_ok(memory.status);
    ck_assert_uint_eq(memory.exports, 1);
    for (i = 0; i < 5; ++i) {
        again = tell(REGISTER, memory.address, 0);
        byte  = (char)(10 + i);
        copy(1, &again, LENGTH - 1, &byte, 1);
        ck_assert_int_eq(tell(READ, memory.address, 0).value, 10 + i);
    }
    ck_assert_int_eq(last_byte(&again), 14);
    ck_assert_uint_eq(again.exports, 1);
    ck_assert_uint_eq(imported() - before, 1);
    tell(RELEASE_VIRTUAL, memory.address, 0);
}
END_TEST

START_TEST(other_virtual_memory_at_the_same_address_is_opened_again)
{
    answer_t first = tell(ALLOCATE_VIRTUAL, 0, 1);
    answer_t second;

    ck_assert_int_eq(last_byte(&first), 1);
    second = tell(ALLOCATE_VIRTUAL, first.address, 2);
    ck_assert_uint_eq(second.address, first.address);
    ck_assert_uint_eq(second.exports, 2);
    ck_assert_int_eq(last_byte(&second), 2);
    tell(RELEASE_VIRTUAL, second.address, 0);
}
END_TEST

START_TEST(memory_of_a_pool_is_closed_before_its_owner_frees_it)
{
    answer_t memory = tell(ALLOCATE_SHARED, 0, 1);
    char byte       = 5;

    ck_ok(memory.status);
    ck_assert_int_eq(last_byte(&memory), 1);
    ck_assert_uint_eq(emulated_calls("cuMemFreeAsync"), 1);
    copy(1, &memory, LENGTH - 1, &byte, 1);
    ck_assert_uint_eq(emulated_calls("cuMemFreeAsync"), 2);
    ck_assert_uint_eq(emulated_calls("cuMemPoolDestroy"), 2);
    ck_assert_int_eq(tell(READ, memory.address, 0).value, 5);
    tell(RELEASE_SHARED, memory.address, 0);
}
END_TEST

START_TEST(descriptors_come_by_a_socket_where_duplicates_are_forbidden)
{
    unsigned long before = imported();
    answer_t memory, other;
    char byte = 7;

    forbid_duplicates();
    memory = tell(ALLOCATE_VIRTUAL, 0, 1);
    ck_assert_int_eq(last_byte(&memory), 1);
    copy(1, &memory, LENGTH - 1, &byte, 1);
    ck_assert_int_eq(tell(READ, memory.address, 0).value, 7);
    ck_assert_uint_eq(imported() - before, 1);
    other = tell(ALLOCATE_VIRTUAL, memory.address, 2);
    ck_assert_int_eq(last_byte(&other), 2);
    ck_assert_uint_eq(imported() - before, 2);
    tell(RELEASE_VIRTUAL, other.address, 0);
    other = tell(ALLOCATE_SHARED, 0, 3);
    ck_assert_int_eq(last_byte(&other), 3);
    tell(RELEASE_SHARED, other.address, 0);
}
END_TEST

START_TEST(another_worker_of_the_owner_serves_the_socket)
{
    answer_t memory, other;

    forbid_duplicates();
    memory = tell(ALLOCATE_VIRTUAL, 0, 1);
    other  = tell(ALLOCATE_VIRTUAL, 0, 2);
    ck_assert_int_eq(last_byte(&memory), 1);
    tell(REPLACE_IFACE, 0, 0);
    ck_assert_int_eq(last_byte(&other), 2);
    tell(RELEASE_VIRTUAL, memory.address, 0);
    tell(RELEASE_VIRTUAL, other.address, 0);
}
END_TEST

static int is_accepted(const answer_t *memory)
{
    uct_rkey_bundle_t key;
    ucs_status_t status = uct_rkey_unpack(component, memory->key, &key);

    if (status == UCS_OK) {
        ck_ok(uct_rkey_release(component, &key));
    }
    return status == UCS_OK;
}

START_TEST(a_changed_key_gets_no_descriptor)
{
    const size_t random_at = 48; /* see ipc_key.h */
    answer_t memory, changed;

    forbid_duplicates();
    memory  = tell(ALLOCATE_VIRTUAL, 0, 1);
    changed = memory;
    changed.key[random_at] ^= 1;
    ck_assert(!is_accepted(&changed));
    ck_assert(is_accepted(&memory));
    ck_assert_int_eq(last_byte(&memory), 1);
    tell(RELEASE_VIRTUAL, memory.address, 0);
}
END_TEST

/* Requests are answered in their order. */
START_TEST(a_process_of_another_user_gets_no_answer)
{
    const uid_t nobody = 65534;
    answer_t memory;
    int stranger, own;
    char byte = 0;

    if (getuid() != 0) {
        printf("skipped: only root can become another user\n");
        return;
    }
    memory   = tell(ALLOCATE_VIRTUAL, 0, 1);
    stranger = connect_to(memory.key);
    own      = connect_to(memory.key);
    send_key(stranger, memory.key, nobody);
    send_key(own, memory.key, 0);
    ck_assert_int_eq(recv(own, &byte, 1, 0), 1);
    ck_assert_int_eq(byte, 1);
    ck_assert_int_eq(recv(stranger, &byte, 1, MSG_DONTWAIT), -1);
    ck_assert_int_eq(errno, EAGAIN);
    close(stranger);
    close(own);
    tell(RELEASE_VIRTUAL, memory.address, 0);
}
END_TEST

START_TEST(memory_that_cannot_be_exported_is_not_registered)
{
    answer_t memory = tell(ALLOCATE_POOLED, 0, 1);

    ck_assert_int_eq(memory.status, UCS_ERR_UNSUPPORTED);
}
END_TEST

START_TEST(an_access_outside_the_memory_is_rejected)
{
    answer_t memory = tell(ALLOCATE, 0, 1);
    char bytes[2]   = {0};
    done_t done;

    ck_assert_int_eq(start(&done, 0, &memory, LENGTH - 1, bytes, 2),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(start(&done, 1, &memory, (size_t)-1, bytes, 1),
                     UCS_ERR_INVALID_ADDR);
    /* the length in the key is a lie: see ipc_key.h */
    memory.key[32 + 3] = 1;
    ck_assert_int_eq(start(&done, 0, &memory, LENGTH - 1, bytes, 2),
                     UCS_ERR_INVALID_ADDR);
    memory.key[32 + 3] = 0;
    ck_assert_int_eq(last_byte(&memory), 1);
}
END_TEST

START_TEST(freed_memory_is_not_opened)
{
    answer_t memory = tell(ALLOCATE, 0, 1);
    char byte;
    done_t done;

    ck_ok(tell(RELEASE, memory.address, 0).status);
    ck_assert_int_eq(start(&done, 0, &memory, 0, &byte, 1),
                     UCS_ERR_INVALID_ADDR);
}
END_TEST

START_TEST(copies_end_although_the_owner_is_killed)
{
    answer_t memory = tell(ALLOCATE, 0, 7);
    answer_t other  = tell(ALLOCATE, 0, 8);
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
    ck_assert_int_eq(start(&done, 0, &other, 0, &byte, 1),
                     UCS_ERR_INVALID_ADDR);
}
END_TEST

START_TEST(a_lost_device_ends_the_copies_of_its_mappings)
{
    answer_t memory = tell(ALLOCATE, 0, 7);
    answer_t shared = tell(ALLOCATE_VIRTUAL, 0, 8);
    char bytes[2]   = {0};
    ucs_status_t status;
    done_t done[2];

    ck_assert_int_eq(last_byte(&memory), 7);
    ck_assert_int_eq(last_byte(&shared), 8);
    emulated_hold();
    ck_assert_int_eq(start(&done[0], 0, &memory, 0, &bytes[0], 1),
                     UCS_INPROGRESS);
    ck_assert_int_eq(start(&done[1], 1, &shared, 0, &bytes[1], 1),
                     UCS_INPROGRESS);
    emulated_lose(0, CUDA_ERROR_DEVICE_UNAVAILABLE);
    emulated_release();
    ck_assert_int_eq(finish(&done[0]), UCS_ERR_NO_DEVICE);
    ck_assert_int_eq(finish(&done[1]), UCS_ERR_NO_DEVICE);
    status = start(&done[0], 0, &memory, 0, &bytes[0], 1);
    ck_assert_int_eq((status == UCS_INPROGRESS) ? finish(&done[0]) : status,
                     UCS_ERR_NO_DEVICE);
    ck_assert_int_eq(tell(READ, memory.address, 0).value, 7);
    tell(RELEASE_VIRTUAL, shared.address, 0);
}
END_TEST

START_TEST(memory_is_opened_again_after_a_reset_of_the_device)
{
    answer_t memory     = tell(ALLOCATE, 0, 3);
    answer_t virtual    = tell(ALLOCATE_VIRTUAL, 0, 4);
    unsigned long count = opened();
    done_t done;
    char byte = 0;

    ck_assert_int_eq(last_byte(&memory), 3);
    ck_assert_int_eq(last_byte(&virtual), 4);
    ck_cuda(cuDevicePrimaryCtxReset_v2(0));
    /* the first copy finds that its mapping is lost */
    ck_assert_int_eq(start(&done, 0, &memory, 0, &byte, 1), UCS_ERR_IO_ERROR);
    ck_assert_int_eq(last_byte(&memory), 3);
    ck_assert_int_eq(last_byte(&virtual), 4);
    ck_assert_uint_eq(opened() - count, 2);
    tell(RELEASE_VIRTUAL, virtual.address, 0);
}
END_TEST

/* The driver does not work in a child of a process that has started it: each
 * test runs in a process of its own, in which the driver is new. */
static int run_alone(const TTest *test)
{
    pid_t pid = fork();
    int status, failed;

    if (pid == 0) {
        Suite *suite = suite_create("cuda_ipc");
        TCase *tcase = tcase_create("cuda_ipc");
        SRunner *runner;

        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test);
        suite_add_tcase(suite, tcase);
        runner = srunner_create(suite);
        srunner_set_fork_status(runner, CK_NOFORK);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        exit((failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    return (waitpid(pid, &status, 0) == pid) && (status == 0);
}

int main(void)
{
    const TTest *const tests[] = {
        memory_is_opened_once_and_copied_directly,
        the_worker_polls_the_interface_while_copies_are_outstanding,
        other_memory_at_the_same_address_is_opened_again,
        a_mapping_in_use_is_closed_after_its_copies,
        no_more_than_the_limit_stay_open,
        the_last_endpoint_closes_the_mappings_of_its_peer,
        virtual_memory_is_exported_and_opened_once,
        other_virtual_memory_at_the_same_address_is_opened_again,
        memory_of_a_pool_is_closed_before_its_owner_frees_it,
        descriptors_come_by_a_socket_where_duplicates_are_forbidden,
        another_worker_of_the_owner_serves_the_socket,
        a_changed_key_gets_no_descriptor,
        a_process_of_another_user_gets_no_answer,
        memory_that_cannot_be_exported_is_not_registered,
        an_access_outside_the_memory_is_rejected,
        freed_memory_is_not_opened,
        copies_end_although_the_owner_is_killed,
        a_lost_device_ends_the_copies_of_its_mappings,
        memory_is_opened_again_after_a_reset_of_the_device
    };
    int good = 1;
    size_t i;

    for (i = 0; i < sizeof(tests) / sizeof(tests[0]); ++i) {
        good &= run_alone(tests[i]);
    }
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
