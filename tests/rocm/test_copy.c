/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the copier of plugins/rocm over the emulated HIP runtime, through the
 * public UCT API. The copier is the plugin's transport that copies between host
 * and device memory. The tests cover behavior that the conformance kit does not
 * test.
 */
#include <stdlib.h>
#include <string.h>

#include "../cuda/copier.h"
#include "../cuda/suite.h"

enum { LENGTH = 8192, LARGE = 1024 * 1024 + 4099 };

/* Returns the memory type that the plugin detects at this address. */
static ucs_memory_type_t type_of(const void *address)
{
    uct_md_mem_attr_t attr = {.field_mask = UCT_MD_MEM_ATTR_FIELD_MEM_TYPE};

    return (uct_md_mem_query(md, (void *)address, 1, &attr) == UCS_OK) ?
               attr.mem_type :
               UCS_MEMORY_TYPE_HOST;
}

/* Copies a text to the memory and back, first with zcopy operations, then with
 * short ones. */
static void there_and_back(void *address)
{
    char out[] = "there and back", back[sizeof(out)];

    copy(1, (uintptr_t)address, out, sizeof(out));
    ck_assert_mem_eq(emulated_view(address, sizeof(out)), out, sizeof(out));
    copy(0, (uintptr_t)address, back, sizeof(out));
    ck_assert_str_eq(back, out);
    memset(back, 0, sizeof(back));
    ck_ok(uct_ep_put_short(ep, out, sizeof(out), (uintptr_t)address + 100,
                           UCT_INVALID_RKEY));
    ck_ok(uct_ep_get_short(ep, back, sizeof(out), (uintptr_t)address + 100,
                           UCT_INVALID_RKEY));
    ck_assert_str_eq(back, out);
}

/* --------------------------------------------------------------- memory -- */

START_TEST(memory_of_every_type_is_told_and_copied)
{
    char pageable[LENGTH];
    void *device = device_allocate(LENGTH);
    void *pinned, *managed, *pooled;

    ck_hip(hipHostMalloc(&pinned, LENGTH, 0));
    ck_hip(hipMallocManaged(&managed, LENGTH, hipMemAttachGlobal));
    ck_hip(hipMallocAsync(&pooled, LENGTH, NULL));
    ck_assert_int_eq(type_of(device), UCS_MEMORY_TYPE_ROCM);
    ck_assert_int_eq(type_of((char *)device + LENGTH - 1),
                     UCS_MEMORY_TYPE_ROCM);
    ck_assert_int_eq(type_of(pooled), UCS_MEMORY_TYPE_ROCM);
    ck_assert_int_eq(type_of(managed), UCS_MEMORY_TYPE_ROCM_MANAGED);
    ck_assert_int_eq(type_of(pinned), UCS_MEMORY_TYPE_HOST);
    ck_assert_int_eq(type_of(pageable), UCS_MEMORY_TYPE_HOST);

    there_and_back(device);
    there_and_back(managed);
    there_and_back(pooled);
    strcpy(pinned, "in host memory");
    copy(1, (uintptr_t)managed, pinned, LENGTH);
    copy(1, (uintptr_t)device, managed, LENGTH);
    copy(1, (uintptr_t)pooled, device, LENGTH);
    ck_assert_str_eq(emulated_view(pooled, LENGTH), pinned);

    ck_hip(hipHostFree(pinned));
    ck_hip(hipFree(managed));
    ck_hip(hipFree(pooled));
    device_free(device);
}
END_TEST

START_TEST(each_device_copies_its_memory_and_the_current_one_stays)
{
    uct_md_mem_attr_t attr = {
        .field_mask = UCT_MD_MEM_ATTR_FIELD_SYS_DEV |
                      UCT_MD_MEM_ATTR_FIELD_BASE_ADDRESS |
                      UCT_MD_MEM_ATTR_FIELD_ALLOC_LENGTH,
    };
    ucs_sys_device_t sys_devs[2];
    void *memory[2];
    int current, i;

    for (i = 0; i < 2; ++i) {
        memory[i] = device_allocate_on(i, LENGTH);
        there_and_back(memory[i]);
        ck_ok(uct_md_mem_query(md, (char *)memory[i] + 1000, 10, &attr));
        ck_assert_ptr_eq(attr.base_address, memory[i]);
        ck_assert_uint_eq(attr.alloc_length, LENGTH);
        sys_devs[i] = attr.sys_dev;
    }
    ck_assert_uint_ne(sys_devs[0], UCS_SYS_DEVICE_ID_UNKNOWN);
    ck_assert_uint_ne(sys_devs[0], sys_devs[1]);
    memset(emulated_view(memory[0], LENGTH), 5, LENGTH);
    copy(1, (uintptr_t)memory[1], memory[0], LENGTH);
    ck_assert_mem_eq(emulated_view(memory[1], LENGTH),
                     emulated_view(memory[0], LENGTH), LENGTH);
    ck_hip(hipGetDevice(&current));
    ck_assert_int_eq(current, 0);
    for (i = 0; i < 2; ++i) {
        device_free(memory[i]);
    }
}
END_TEST

START_TEST(host_memory_costs_one_call_and_leaves_no_error)
{
    char out[] = "host memory", back[sizeof(out)];
    unsigned long before;

    ck_assert_int_eq(type_of(out), UCS_MEMORY_TYPE_HOST);
    before = emulated_calls("hipDrvPointerGetAttributes");
    ck_assert_int_eq(type_of(back), UCS_MEMORY_TYPE_HOST);
    ck_assert_uint_le(emulated_calls("hipDrvPointerGetAttributes") - before, 1);
    ck_ok(uct_ep_put_short(ep, out, sizeof(out), (uintptr_t)back,
                           UCT_INVALID_RKEY));
    ck_assert_str_eq(back, out);
    ck_hip(hipPeekAtLastError());
}
END_TEST

START_TEST(host_memory_is_pinned_while_it_is_registered)
{
    char *data = malloc(LENGTH);
    uint32_t id;
    uct_mem_h memh;

    ck_ok(uct_md_mem_reg(md, data, LENGTH, UCT_MD_MEM_ACCESS_ALL, &memh));
    ck_hip(hipPointerGetAttribute(&id, HIP_POINTER_ATTRIBUTE_BUFFER_ID, data));
    ck_ok(uct_md_mem_dereg(md, memh));
    ck_assert_int_eq(hipPointerGetAttribute(&id,
                                            HIP_POINTER_ATTRIBUTE_BUFFER_ID,
                                            data),
                     hipErrorInvalidValue);
    (void)hipGetLastError();
    free(data);
}
END_TEST

START_TEST(a_range_of_device_memory_is_exported_as_a_dmabuf)
{
    char *memory = device_allocate(12 * 1024);

    check_dmabuf(memory);
    device_free(memory);
}
END_TEST

START_TEST(no_post_waits)
{
    char *memory = device_allocate(2 * LARGE);
    char *out    = malloc(LARGE);
    char *back   = calloc(1, LARGE);
    done_t put, get;
    int i;

    for (i = 0; i < LARGE; ++i) {
        out[i] = (char)(i * 7 + i / 255);
    }
    copy(1, (uintptr_t)memory + LARGE, out, LARGE);
    emulated_hold();
    ck_assert_int_eq(start(&put, 1, (uintptr_t)memory, out, LARGE),
                     UCS_INPROGRESS);
    ck_assert_int_eq(start(&get, 0, (uintptr_t)memory + LARGE, back, LARGE),
                     UCS_INPROGRESS);
    for (i = 0; i < 5000; ++i) {
        uct_iface_progress(iface);
    }
    ck_assert_int_eq(put.calls + get.calls, 0);
    ck_hip(hipPeekAtLastError());
    emulated_release();
    ck_ok(finish(&put));
    ck_ok(finish(&get));
    ck_assert_int_eq(memcmp(out, back, LARGE), 0);
    ck_assert_int_eq(memcmp(emulated_view(memory, LARGE), out, LARGE), 0);
    device_free(memory);
    free(out);
    free(back);
}
END_TEST

/* --------------------------------------------------------------- faults -- */

START_TEST(a_lost_device_fails_its_copies_only)
{
    void *lost        = device_allocate(LENGTH);
    void *other       = device_allocate_on(1, LENGTH);
    char data[LENGTH] = "data";
    ucs_status_t status;
    done_t done;

    there_and_back(lost);
    there_and_back(other);
    emulated_hold();
    ck_assert_int_eq(start(&done, 1, (uintptr_t)lost, data, LENGTH),
                     UCS_INPROGRESS);
    emulated_lose(0, hipErrorLaunchFailure);
    emulated_release();
    ck_assert_int_eq(finish(&done), UCS_ERR_IO_ERROR);
    status = start(&done, 1, (uintptr_t)lost, data, LENGTH);
    ck_assert_int_eq((status == UCS_INPROGRESS) ? finish(&done) : status,
                     UCS_ERR_IO_ERROR);
    ck_assert_int_eq(uct_ep_put_short(ep, data, LENGTH, (uintptr_t)lost,
                                      UCT_INVALID_RKEY),
                     UCS_ERR_IO_ERROR);
    there_and_back(other);
    device_free(lost);
    device_free(other);
    /* code 0 and a reset: the device works again for the next test */
    emulated_lose(0, 0);
    ck_hip(hipDeviceReset());
}
END_TEST

START_TEST(after_a_reset_of_the_device_new_memory_is_copied)
{
    void *memory      = device_allocate(LENGTH);
    char data[LENGTH] = "data";
    done_t done;

    there_and_back(memory);
    ck_hip(hipDeviceReset()); /* frees the memory */
    memory = device_allocate(LENGTH);
    if (start(&done, 1, (uintptr_t)memory, data, LENGTH) == UCS_INPROGRESS) {
        (void)finish(&done);
    }
    there_and_back(memory);
    device_free(memory);
}
END_TEST

START_TEST(a_reset_of_the_device_ends_its_copies)
{
    uct_allocated_memory_t memory = allocate(LENGTH, UCS_MEMORY_TYPE_ROCM);
    uint64_t address              = (uintptr_t)memory.address;
    char data[LENGTH]             = "data";
    done_t done;

    copy(1, address, data, LENGTH);
    ck_assert_int_eq(start(&done, 1, address, data, LENGTH), UCS_INPROGRESS);
    /* the reset returns after the copy is complete. The write of the flag by
     * which the copier detects this may be lost in the reset: the copier then
     * ends the copy with an error, which is permitted here */
    ck_hip(hipDeviceReset());
    (void)finish(&done);
    /* the reset has freed the memory: the plugin must not free it again, which
     * the runtime would count as a mistake */
    ck_ok(uct_mem_free(&memory));
}
END_TEST

/* Calls of the runtime by which the plugin creates the stream and the bounce
 * buffers (pinned host memory for data on the way) of a device, before the
 * first copy. A test lets each of them fail. */
static const char *const opening[] = {
    "hipHostRegister",
    "hipHostGetDevicePointer",
    "hipStreamCreateWithFlags",
};

START_TEST(without_bounce_buffers_nothing_is_copied_and_nothing_leaks)
{
    void *memory      = device_allocate(LENGTH);
    char data[LENGTH] = "data";
    done_t done;

    emulated_fail(opening[_i], 1, hipErrorOutOfMemory);
    ck_assert_int_eq(start(&done, 1, (uintptr_t)memory, data, LENGTH),
                     UCS_ERR_NO_MEMORY);
    there_and_back(memory);
    device_free(memory);
}
END_TEST

START_TEST(a_signal_that_fails_is_repeated)
{
    void *memory      = device_allocate(LENGTH);
    char data[LENGTH] = "data";
    done_t done;

    there_and_back(memory);
    emulated_fail("hipStreamWriteValue32", 1, hipErrorOutOfMemory);
    ck_assert_int_eq(start(&done, 1, (uintptr_t)memory, data, LENGTH),
                     UCS_INPROGRESS);
    ck_assert_int_eq(finish(&done), UCS_ERR_NO_MEMORY);
    there_and_back(memory);
    device_free(memory);
}
END_TEST

/* ------------------------------------------------------------ large BAR -- */

/* With a "large BAR" the processor can access all memory of the device. After
 * the processor has written to device memory, a write to the device's flush
 * register makes the data visible to the device.
 *
 * Returns the address of the emulated flush register of device 0. */
static uint32_t *flush_register(void)
{
    uint32_t *address;

    ck_hip(hipDeviceGetAttribute((int *)&address,
                                 hipDeviceAttributeHdpMemFlushCntl, 0));
    return address;
}

/* With a large BAR (EMULATED_LARGE_BAR is set) the plugin copies short data
 * with the processor, and writes 1 to the flush register after a put. Without a
 * large BAR, and for longer data, the runtime copies. */
START_TEST(with_a_large_bar_short_data_needs_no_copy_call)
{
    char *memory         = device_allocate(LENGTH);
    char out[LENGTH]     = "short", back[LENGTH];
    unsigned long before = emulated_calls("hipMemcpyAsync");
    const int is_large   = (getenv("EMULATED_LARGE_BAR") != NULL);

    *flush_register() = 0;
    ck_ok(uct_ep_get_short(ep, back, 100, (uintptr_t)memory, UCT_INVALID_RKEY));
    ck_assert_uint_eq(*flush_register(), 0);
    ck_ok(uct_ep_put_short(ep, out, 100, (uintptr_t)memory, UCT_INVALID_RKEY));
    ck_assert_uint_eq(*flush_register(), is_large);
    ck_assert_uint_eq(emulated_calls("hipMemcpyAsync") - before,
                      is_large ? 0 : 2);
    ck_assert_str_eq(emulated_view(memory, LENGTH), out);

    before = emulated_calls("hipMemcpyAsync");
    ck_ok(
        uct_ep_put_short(ep, out, LENGTH, (uintptr_t)memory, UCT_INVALID_RKEY));
    ck_ok(uct_ep_get_short(ep, back, LENGTH, (uintptr_t)memory,
                           UCT_INVALID_RKEY));
    ck_assert_uint_eq(emulated_calls("hipMemcpyAsync") - before, 2);
    ck_assert_mem_eq(back, out, LENGTH);
    device_free(memory);
}
END_TEST

/* -------------------------------------------------------------- running -- */

int main(void)
{
    const int num_opening = sizeof(opening) / sizeof(opening[0]);
    Suite *suite          = suite_create("rocm_copy");
    TCase *tcase          = tcase_create("rocm_copy");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, memory_of_every_type_is_told_and_copied);
    tcase_add_test(tcase,
                   each_device_copies_its_memory_and_the_current_one_stays);
    tcase_add_test(tcase, host_memory_costs_one_call_and_leaves_no_error);
    tcase_add_test(tcase, host_memory_is_pinned_while_it_is_registered);
    tcase_add_test(tcase, a_range_of_device_memory_is_exported_as_a_dmabuf);
    tcase_add_test(tcase, no_post_waits);
    tcase_add_test(tcase, a_lost_device_fails_its_copies_only);
    tcase_add_test(tcase, after_a_reset_of_the_device_new_memory_is_copied);
    tcase_add_test(tcase, a_reset_of_the_device_ends_its_copies);
    tcase_add_loop_test(
        tcase, without_bounce_buffers_nothing_is_copied_and_nothing_leaks, 0,
        num_opening);
    tcase_add_test(tcase, a_signal_that_fails_is_repeated);
    tcase_add_test(tcase, with_a_large_bar_short_data_needs_no_copy_call);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
