/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IPC over an emulated driver (tests/emulated) with memory that a process opens
 * by a file descriptor (with CUDA: virtual memory and memory of pools; with
 * Level Zero: all device memory). The test process
 * gets the descriptor of the owner process with pidfd_getfd(). If the kernel
 * forbids that, the owner sends the descriptor over a socket. fd_client.h,
 * ipc_owner.h and ipc_user.h describe the helpers.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fd_client.h"
#include "ipc_user.h"

#include <ipc_memory.h>

/* Number of times that this process has opened memory by a descriptor so
 * far. */
static unsigned long imported(void)
{
    return emulated_calls(DEVICE_IMPORT);
}

START_TEST(memory_is_exported_and_opened_once)
{
    answer_t memory      = allocate(BY_FD, 0, 1);
    unsigned long before = imported();
    answer_t again;
    char byte;
    int i;

    ck_ok(memory.status);
    ck_assert_uint_eq(memory.exports, 1);
    for (i = 0; i < 5; ++i) {
        again = tell(REGISTER, memory.address);
        byte  = (char)(10 + i);
        copy(1, &again, LENGTH - 1, &byte, 1);
        ck_assert_int_eq(tell(READ, memory.address).value, 10 + i);
    }
    ck_assert_int_eq(last_byte(&again), 14);
    ck_assert_uint_eq(again.exports, 1);
    ck_assert_uint_eq(imported() - before, 1);
    tell(RELEASE, memory.address);
}
END_TEST

START_TEST(other_memory_at_the_same_address_is_opened_again)
{
    answer_t first = allocate(BY_FD, 0, 1);
    answer_t second;

    ck_assert_int_eq(last_byte(&first), 1);
    second = allocate(BY_FD, first.address, 2);
    ck_assert_uint_eq(second.address, first.address);
    ck_assert_uint_eq(second.exports, 2);
    ck_assert_int_eq(last_byte(&second), 2);
    tell(RELEASE, second.address);
}
END_TEST

START_TEST(descriptors_come_by_a_socket_where_duplicates_are_forbidden)
{
    unsigned long before = imported();
    answer_t memory, other;
    char byte = 7;

    forbid_duplicates();
    memory = allocate(BY_FD, 0, 1);
    ck_assert_int_eq(last_byte(&memory), 1);
    copy(1, &memory, LENGTH - 1, &byte, 1);
    ck_assert_int_eq(tell(READ, memory.address).value, 7);
    ck_assert_uint_eq(imported() - before, 1);
    other = allocate(BY_FD, memory.address, 2);
    ck_assert_int_eq(last_byte(&other), 2);
    ck_assert_uint_eq(imported() - before, 2);
    tell(RELEASE, other.address);
}
END_TEST

START_TEST(another_worker_of_the_owner_serves_the_socket)
{
    answer_t memory, other;

    forbid_duplicates();
    memory = allocate(BY_FD, 0, 1);
    other  = allocate(BY_FD, 0, 2);
    ck_assert_int_eq(last_byte(&memory), 1);
    tell(REPLACE_IFACE, 0);
    ck_assert_int_eq(last_byte(&other), 2);
    tell(RELEASE, memory.address);
    tell(RELEASE, other.address);
}
END_TEST

/* Returns whether the memory's key can be unpacked. */
static int is_accepted(const answer_t *memory)
{
    uct_rkey_bundle_t key;
    ucs_status_t status = uct_rkey_unpack(component, memory->key, &key);

    if (status == UCS_OK) {
        ck_ok(uct_rkey_release(component, &key));
    }
    return status == UCS_OK;
}

/* Offset of the random number in the packed key, and its bytes;
 * sdk/accel/src/key.h describes the layout, in which the number is `id`. The
 * owner sends no descriptor for a key with a wrong number. */
enum { SECRET_AT = 40, SECRET_SIZE = 8 };

START_TEST(a_changed_key_gets_no_descriptor)
{
    answer_t memory, changed;

    forbid_duplicates();
    memory  = allocate(BY_FD, 0, 1);
    changed = memory;
    changed.key[SECRET_AT] ^= 1;
    ck_assert(!is_accepted(&changed));
    ck_assert(!is_accepted(&changed));
    ck_assert(is_accepted(&memory));
    ck_assert_int_eq(last_byte(&memory), 1);
    tell(RELEASE, memory.address);
}
END_TEST

/* Two requests for the descriptor are sent to the owner: the first from a
 * process of another user, the second from a process of this user. The owner
 * handles requests in order. When the second request is answered, the first one
 * has been handled too, and must not have an answer. */
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
    memory   = allocate(BY_FD, 0, 1);
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
    tell(RELEASE, memory.address);
}
END_TEST

#ifdef DEVICE_POOLS
/* Returns whether the owner's answer to a request with this key has a
 * descriptor. */
static int has_descriptor(const answer_t *memory)
{
    int sock  = connect_to(memory->key);
    char byte = 0;

    send_key(sock, memory->key, 0);
    ck_assert_int_eq(recv(sock, &byte, 1, 0), 1);
    close(sock);
    return byte;
}

START_TEST(a_changed_key_of_a_pool_gets_no_descriptor)
{
    answer_t memory = allocate(SHARED, 0, 1);
    answer_t changed;

    for (int i = 0; i < SECRET_SIZE; ++i) {
        changed = memory;
        changed.key[SECRET_AT + i] ^= 1;
        ck_assert(!has_descriptor(&changed));
    }
    ck_assert(has_descriptor(&memory));
    /* The high bytes of a number that counts allocations would be zero. */
    memset(changed.key, 0, sizeof(changed.key));
    ck_assert_mem_ne(memory.key + SECRET_AT + SECRET_SIZE / 2, changed.key,
                     SECRET_SIZE / 2);
    tell(RELEASE, memory.address);
}
END_TEST

START_TEST(memory_of_a_pool_is_closed_before_its_owner_frees_it)
{
    answer_t memory = allocate(SHARED, 0, 1);
    char byte       = 5;

    ck_ok(memory.status);
    ck_assert_int_eq(last_byte(&memory), 1);
    ck_assert_uint_eq(emulated_calls("cuMemFreeAsync"), 1);
    copy(1, &memory, LENGTH - 1, &byte, 1);
    ck_assert_uint_eq(emulated_calls("cuMemFreeAsync"), 2);
    ck_assert_uint_eq(emulated_calls("cuMemPoolDestroy"), 2);
    ck_assert_int_eq(tell(READ, memory.address).value, 5);
    tell(RELEASE, memory.address);
}
END_TEST

/* The program's work in the default stream does not end before the test
 * ends. */
START_TEST(memory_of_a_pool_is_closed_while_the_program_computes)
{
    answer_t memory = allocate(SHARED, 0, 1);
    CUcontext context;
    CUdeviceptr word;
    uint32_t *view;

    ck_cuda(cuDevicePrimaryCtxRetain(&context, 0));
    ck_cuda(cuCtxPushCurrent_v2(context));
    word  = (uintptr_t)device_allocate(sizeof(uint32_t));
    view  = emulated_view((void *)(uintptr_t)word, sizeof(uint32_t));
    *view = 0;
    ck_cuda(cuStreamWaitValue32_v2(NULL, word, 1, CU_STREAM_WAIT_VALUE_EQ));
    ck_assert_int_eq(last_byte(&memory), 1);
    ck_assert_uint_eq(emulated_calls("cuMemPoolDestroy"), 1);
    ck_assert_int_eq(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    __atomic_store_n(view, 1, __ATOMIC_RELEASE);
    ck_cuda(cuStreamSynchronize(NULL));
    device_free((void *)(uintptr_t)word);
    ck_cuda(cuCtxPopCurrent_v2(&context));
    ck_cuda(cuDevicePrimaryCtxRelease_v2(0));
    tell(RELEASE, memory.address);
}
END_TEST

START_TEST(a_descriptor_of_a_pool_comes_by_a_socket)
{
    answer_t memory;

    forbid_duplicates();
    memory = allocate(SHARED, 0, 3);
    ck_assert_int_eq(last_byte(&memory), 3);
    tell(RELEASE, memory.address);
}
END_TEST
#endif

int main(void)
{
    const TTest *const tests[] = {
        memory_is_exported_and_opened_once,
        other_memory_at_the_same_address_is_opened_again,
        descriptors_come_by_a_socket_where_duplicates_are_forbidden,
        another_worker_of_the_owner_serves_the_socket,
        a_changed_key_gets_no_descriptor,
        a_process_of_another_user_gets_no_answer,
#ifdef DEVICE_POOLS
        a_changed_key_of_a_pool_gets_no_descriptor,
        memory_of_a_pool_is_closed_before_its_owner_frees_it,
        memory_of_a_pool_is_closed_while_the_program_computes,
        a_descriptor_of_a_pool_comes_by_a_socket,
#endif
    };

    return run_all_alone(tests, sizeof(tests) / sizeof(tests[0]));
}
