/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the copier of plugins/ze over the emulated driver of Level Zero,
 * through the public UCT API. The copier is the plugin's transport that copies
 * between host and device memory. The tests cover behavior that the conformance
 * kit does not test.
 */
#include <stdlib.h>
#include <string.h>

#include "../cuda/copier.h"

/* SECOND_DEVICE: index of the second device in `device_handles`, which comes
 * after the first device and its two sub-devices. */
enum { LENGTH = 4096, LARGE = 1024 * 1024 + 4099, SECOND_DEVICE = 3 };

/* Creates a context of the program, from which the tests allocate memory, and
 * opens an interface of the copier. The copier has a context of its own. */
static void open_both(void)
{
    device_open();
    setup();
}

static void close_both(void)
{
    teardown();
    device_close();
}

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

/* ----------------------------------------------------------------- tests -- */

START_TEST(memory_of_every_type_is_told_and_copied)
{
    const ze_device_mem_alloc_desc_t device_desc = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
    };
    const ze_host_mem_alloc_desc_t host_desc = {
        .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
    };
    char pageable[LENGTH];
    void *device = device_allocate(LENGTH);
    void *host, *shared, *homeless;

    ck_ze(zeMemAllocHost(device_context, &host_desc, LENGTH, 0, &host));
    ck_ze(zeMemAllocShared(device_context, &device_desc, &host_desc, LENGTH, 0,
                           device_handles[1], &shared));
    ck_ze(zeMemAllocShared(device_context, &device_desc, &host_desc, LENGTH, 0,
                           NULL, &homeless));
    ck_assert_int_eq(type_of(device), UCS_MEMORY_TYPE_ZE_DEVICE);
    ck_assert_int_eq(type_of(host), UCS_MEMORY_TYPE_ZE_HOST);
    ck_assert_int_eq(type_of(shared), UCS_MEMORY_TYPE_ZE_MANAGED);
    ck_assert_int_eq(type_of(homeless), UCS_MEMORY_TYPE_ZE_MANAGED);
    ck_assert_int_eq(type_of(pageable), UCS_MEMORY_TYPE_HOST);

    there_and_back(device);
    there_and_back(shared);
    there_and_back(homeless);
    strcpy(host, "in host memory");
    copy(1, (uintptr_t)homeless, host, LENGTH);
    copy(1, (uintptr_t)device, homeless, LENGTH);
    copy(1, (uintptr_t)shared, device, LENGTH);
    ck_assert_str_eq(shared, host);

    ck_ze(zeMemFree(device_context, host));
    ck_ze(zeMemFree(device_context, shared));
    ck_ze(zeMemFree(device_context, homeless));
    device_free(device);
}
END_TEST

START_TEST(sub_devices_are_devices)
{
    uct_md_mem_attr_t attr = {
        .field_mask = UCT_MD_MEM_ATTR_FIELD_MEM_TYPE |
                      UCT_MD_MEM_ATTR_FIELD_SYS_DEV |
                      UCT_MD_MEM_ATTR_FIELD_BASE_ADDRESS |
                      UCT_MD_MEM_ATTR_FIELD_ALLOC_LENGTH,
    };
    ucs_sys_device_t sys_devs[2 * SECOND_DEVICE];
    void *memory[2 * SECOND_DEVICE];
    int i;

    for (i = 0; i < 2 * SECOND_DEVICE; ++i) {
        memory[i] = device_allocate_on(i, LENGTH);
        there_and_back(memory[i]);
        ck_ok(uct_md_mem_query(md, (char *)memory[i] + 1000, 10, &attr));
        ck_assert_ptr_eq(attr.base_address, memory[i]);
        ck_assert_uint_eq(attr.alloc_length, LENGTH);
        sys_devs[i] = attr.sys_dev;
    }
    /* a sub-device has the PCI address of its device, and therefore the same
     * system device (number in UCX's list of PCI devices) */
    ck_assert_uint_ne(sys_devs[0], UCS_SYS_DEVICE_ID_UNKNOWN);
    ck_assert_uint_eq(sys_devs[0], sys_devs[1]);
    ck_assert_uint_ne(sys_devs[0], sys_devs[SECOND_DEVICE]);
    for (i = 1; i < 2 * SECOND_DEVICE; ++i) {
        memset(emulated_view(memory[i - 1], LENGTH), i, LENGTH);
        copy(1, (uintptr_t)memory[i], memory[i - 1], LENGTH);
        ck_assert_mem_eq(emulated_view(memory[i], LENGTH),
                         emulated_view(memory[i - 1], LENGTH), LENGTH);
    }
    for (i = 0; i < 2 * SECOND_DEVICE; ++i) {
        device_free(memory[i]);
    }
}
END_TEST

START_TEST(a_range_of_device_memory_is_exported_as_a_dmabuf)
{
    char *memory = device_allocate(12 * 1024);

    check_dmabuf(memory);
    device_free(memory);
}
END_TEST

START_TEST(no_post_waits_and_no_order_is_assumed)
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

/* Loses the device or sub-device with this index of `device_handles`, while a
 * copy to its memory is in flight. That copy and later ones must fail. Copies
 * of another device must succeed. */
static void expect_lost(int number)
{
    void *lost        = device_allocate_on(number, LENGTH);
    void *other       = device_allocate_on(SECOND_DEVICE, LENGTH);
    char data[LENGTH] = "data";
    done_t done;

    there_and_back(lost);
    there_and_back(other);
    emulated_hold();
    ck_assert_int_eq(start(&done, 1, (uintptr_t)lost, data, LENGTH),
                     UCS_INPROGRESS);
    emulated_lose(number, ZE_RESULT_ERROR_DEVICE_LOST);
    emulated_release();
    ck_assert_int_eq(finish(&done), UCS_ERR_IO_ERROR);
    ck_assert_int_eq(start(&done, 1, (uintptr_t)lost, data, LENGTH),
                     UCS_ERR_IO_ERROR);
    ck_assert_int_eq(uct_ep_put_short(ep, data, 8, (uintptr_t)lost,
                                      UCT_INVALID_RKEY),
                     UCS_ERR_IO_ERROR);
    there_and_back(other);
    emulated_lose(number, 0);
    device_free(lost);
    device_free(other);
}

START_TEST(a_lost_device_fails_its_copies_only)
{
    expect_lost(0);
}
END_TEST

START_TEST(a_lost_sub_device_fails_its_copies_only)
{
    expect_lost(2);
}
END_TEST

START_TEST(without_bounce_buffers_nothing_is_copied_and_nothing_leaks)
{
    void *memory = device_allocate(LENGTH);
    char data[]  = "data";
    done_t done;

    emulated_fail("zeMemAllocHost", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    ck_assert_int_eq(start(&done, 1, (uintptr_t)memory, data, sizeof(data)),
                     UCS_ERR_NO_MEMORY);
    emulated_fail("zeEventCreate", 1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    ck_assert_int_eq(start(&done, 1, (uintptr_t)memory, data, sizeof(data)),
                     UCS_ERR_NO_MEMORY);
    emulated_fail("zeCommandListCreateImmediate", 1,
                  ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    ck_assert_int_eq(start(&done, 1, (uintptr_t)memory, data, sizeof(data)),
                     UCS_ERR_NO_MEMORY);
    there_and_back(memory);
    device_free(memory);
}
END_TEST

/* After the copy the plugin submits a barrier and a write of the flag by which
 * it detects the end of the copy. The driver rejects one of these two calls
 * once. The plugin must make the call again: otherwise the copy would never be
 * complete. The copy ends with the error of the first call. */
START_TEST(a_signal_that_fails_is_repeated)
{
    void *memory = device_allocate(LENGTH);
    char data[]  = "data";
    done_t done;
    int i;

    there_and_back(memory);
    for (i = 0; i < 2; ++i) {
        emulated_fail((i == 0) ? "zeCommandListAppendBarrier" :
                                 "zeCommandListAppendMemoryFill",
                      1, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
        ck_assert_int_eq(start(&done, 1, (uintptr_t)memory, data, sizeof(data)),
                         UCS_INPROGRESS);
        ck_assert_int_eq(finish(&done), UCS_ERR_NO_MEMORY);
    }
    there_and_back(memory);
    device_free(memory);
}
END_TEST

START_TEST(host_memory_costs_one_call_or_none)
{
    char out[] = "host memory", back[sizeof(out)];
    unsigned long before;

    ck_assert_int_eq(type_of(out), UCS_MEMORY_TYPE_HOST);
    before = emulated_calls(NULL);
    ck_assert_int_eq(type_of(back), UCS_MEMORY_TYPE_HOST);
    ck_assert_uint_le(emulated_calls(NULL) - before, 1);
    ck_ok(uct_ep_put_short(ep, out, sizeof(out), (uintptr_t)back,
                           UCT_INVALID_RKEY));
    ck_assert_str_eq(back, out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ze_copy");
    TCase *tcase = tcase_create("ze_copy");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(tcase, open_both, close_both);
    tcase_add_test(tcase, memory_of_every_type_is_told_and_copied);
    tcase_add_test(tcase, sub_devices_are_devices);
    tcase_add_test(tcase, a_range_of_device_memory_is_exported_as_a_dmabuf);
    tcase_add_test(tcase, no_post_waits_and_no_order_is_assumed);
    tcase_add_test(tcase, a_lost_device_fails_its_copies_only);
    tcase_add_test(tcase, a_lost_sub_device_fails_its_copies_only);
    tcase_add_test(tcase,
                   without_bounce_buffers_nothing_is_copied_and_nothing_leaks);
    tcase_add_test(tcase, a_signal_that_fails_is_repeated);
    tcase_add_test(tcase, host_memory_costs_one_call_or_none);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
