/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the emulated driver for Level Zero through the real loader and its
 * validation layer: the results of calls, when copies are executed, and the
 * reports of mistakes.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <level_zero/ze_api.h>

#include "../emulated.h"

#define ck_ze(_call)            ck_assert_int_eq((_call), ZE_RESULT_SUCCESS)
#define ck_fails(_call, _error) ck_assert_int_eq((_call), (_error))

enum { LENGTH = 8192, MAX_HANDLES = 8 };

static ze_driver_handle_t driver;
static ze_device_handle_t devices[MAX_HANDLES];
static uint32_t num_devices;
static ze_context_handle_t context;
static ze_command_list_handle_t list;
static ze_event_pool_handle_t pool;
static ze_event_handle_t events[2];
static char *host, *device;
static int inherited; /* In a child process that a test has started: a
                       * descriptor of the parent's device memory */

static const ze_device_mem_alloc_desc_t device_desc = {
    .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
};
static const ze_host_mem_alloc_desc_t host_desc = {
    .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
};
static const ze_command_queue_desc_t queue_desc = {
    .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
    .mode  = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
};

/* --------------------------------------------------------------- fixture -- */

static void create_events(void)
{
    const ze_event_pool_desc_t pool_desc = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
        .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
        .count = 2,
    };
    ze_event_desc_t desc = {
        .stype  = ZE_STRUCTURE_TYPE_EVENT_DESC,
        .signal = ZE_EVENT_SCOPE_FLAG_HOST,
    };

    ck_ze(zeEventPoolCreate(context, &pool_desc, 1, devices, &pool));
    for (desc.index = 0; desc.index < 2; ++desc.index) {
        ck_ze(zeEventCreate(pool, &desc, &events[desc.index]));
    }
}

static void setup(void)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    uint32_t count               = 1;

    ck_ze(zeInit(0));
    ck_ze(zeDriverGet(&count, &driver));
    num_devices = MAX_HANDLES;
    ck_ze(zeDeviceGet(driver, &num_devices, devices));
    ck_ze(zeContextCreate(driver, &desc, &context));
    ck_ze(
        zeCommandListCreateImmediate(context, devices[0], &queue_desc, &list));
    create_events();
    ck_ze(zeMemAllocHost(context, &host_desc, LENGTH, 0, (void **)&host));
    ck_ze(zeMemAllocDevice(context, &device_desc, LENGTH, 0, devices[0],
                           (void **)&device));
}

static void teardown(void)
{
    emulated_release();
    ck_ze(zeMemFree(context, host));
    ck_ze(zeMemFree(context, device));
    ck_ze(zeEventDestroy(events[0]));
    ck_ze(zeEventDestroy(events[1]));
    ck_ze(zeEventPoolDestroy(pool));
    ck_ze(zeCommandListDestroy(list));
    ck_ze(zeContextDestroy(context));
    ck_assert_uint_eq(emulated_mistakes(), 0);
}

static void expect_mistakes(unsigned count)
{
    ck_assert_uint_eq(emulated_mistakes(), count);
    emulated_forgive();
}

/* Copies, and waits for the copy. */
static void copy(void *to, const void *from, size_t length)
{
    ck_ze(zeCommandListAppendMemoryCopy(list, to, from, length, events[0], 0,
                                        NULL));
    ck_ze(zeEventHostSynchronize(events[0], UINT64_MAX));
    ck_ze(zeEventHostReset(events[0]));
}

/* ----------------------------------------------------------------- tests -- */

START_TEST(devices_have_sub_devices_at_their_address)
{
    ze_device_handle_t subs[MAX_HANDLES];
    ze_device_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES,
    };
    ze_pci_ext_properties_t pci[2] = {
        {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES},
        {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES},
    };
    uint32_t count = 0;

    ck_assert_uint_eq(num_devices, 2);
    ck_ze(zeDeviceGetSubDevices(devices[1], &count, NULL));
    ck_assert_uint_eq(count, 2);
    ck_ze(zeDeviceGetSubDevices(devices[1], &count, subs));
    ck_ze(zeDeviceGetProperties(subs[1], &properties));
    ck_assert(properties.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE);
    ck_assert_uint_eq(properties.subdeviceId, 1);
    ck_ze(zeDevicePciGetPropertiesExt(devices[1], &pci[0]));
    ck_ze(zeDevicePciGetPropertiesExt(subs[1], &pci[1]));
    ck_assert_mem_eq(&pci[0].address, &pci[1].address, sizeof(pci[0].address));
}
END_TEST

static void expect_memory(const void *address, ze_memory_type_t type,
                          ze_device_handle_t owner)
{
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES,
    };
    ze_device_handle_t found;

    ck_ze(zeMemGetAllocProperties(context, address, &properties, &found));
    ck_assert_int_eq(properties.type, type);
    ck_assert_ptr_eq(found, owner);
}

START_TEST(memory_has_a_type_a_device_and_a_range)
{
    void *shared, *base;
    size_t length;

    ck_ze(zeMemAllocShared(context, &device_desc, &host_desc, 100, 64,
                           devices[1], &shared));
    memset(shared, 1, 100);
    expect_memory(host + 1, ZE_MEMORY_TYPE_HOST, NULL);
    expect_memory(device + 1, ZE_MEMORY_TYPE_DEVICE, devices[0]);
    expect_memory(shared, ZE_MEMORY_TYPE_SHARED, devices[1]);
    expect_memory(&length, ZE_MEMORY_TYPE_UNKNOWN, NULL);
    ck_ze(zeMemGetAddressRange(context, device + 99, &base, &length));
    ck_assert_ptr_eq(base, device);
    ck_assert_uint_eq(length, LENGTH);
    ck_ze(zeMemFree(context, shared));
}
END_TEST

START_TEST(commands_are_carried_out_late_and_in_any_order)
{
    emulated_hold();
    memset(host, 5, LENGTH);
    ck_ze(zeCommandListAppendMemoryCopy(list, device, host, LENGTH, events[0],
                                        0, NULL));
    ck_fails(zeEventQueryStatus(events[0]), ZE_RESULT_NOT_READY);
    ck_fails(zeEventHostSynchronize(events[0], 1000), ZE_RESULT_NOT_READY);
    /* The copy to the host waits for events[0], which the copy to the device
     * signals. The barrier waits for both copies. */
    ck_ze(zeCommandListAppendMemoryCopy(list, host + 1, device, 1, NULL, 1,
                                        events));
    ck_ze(zeCommandListAppendBarrier(list, events[1], 0, NULL));
    emulated_release();
    ck_ze(zeEventHostSynchronize(events[1], UINT64_MAX));
    ck_ze(zeEventQueryStatus(events[0]));
    ck_assert_mem_eq(emulated_view(device, LENGTH), host, LENGTH);
}
END_TEST

START_TEST(a_regular_list_is_executed_by_a_queue_again_and_again)
{
    const ze_command_list_desc_t list_desc = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
    };
    const ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_command_list_handle_t regular;
    ze_command_queue_handle_t queue;
    ze_fence_handle_t fence;
    int i;

    ck_ze(zeCommandListCreate(context, devices[0], &list_desc, &regular));
    ck_ze(zeCommandQueueCreate(context, devices[0], &queue_desc, &queue));
    ck_ze(zeFenceCreate(queue, &fence_desc, &fence));
    ck_ze(zeCommandListAppendMemoryCopy(regular, device, host, 100, NULL, 0,
                                        NULL));
    ck_ze(zeCommandListAppendBarrier(regular, NULL, 0, NULL));
    ck_ze(zeCommandListAppendMemoryFill(regular, device, "ab", 2, 4, NULL, 0,
                                        NULL));
    ck_ze(zeCommandListClose(regular));
    for (i = 1; i < 3; ++i) {
        memset(host, i, 100);
        ck_ze(zeCommandQueueExecuteCommandLists(queue, 1, &regular, fence));
        ck_ze(zeFenceHostSynchronize(fence, UINT64_MAX));
        ck_ze(zeFenceReset(fence));
        ck_assert_mem_eq(emulated_view(device, 4), "abab", 4);
        ck_assert_mem_eq((char *)emulated_view(device, 100) + 4, host + 4, 96);
    }
    ck_ze(zeFenceDestroy(fence));
    ck_ze(zeCommandQueueDestroy(queue));
    ck_ze(zeCommandListDestroy(regular));
}
END_TEST

/* Shares memory with a child process. The child executes this program again
 * with the number of a descriptor as an argument, and runs the test
 * inherited_memory_is_opened, which opens the memory by that descriptor. */
START_TEST(another_process_opens_memory_by_its_descriptor)
{
    ze_ipc_mem_handle_t handle;
    char number[16];
    int status, fd;
    pid_t child;

    memset(host, 7, LENGTH);
    copy(device, host, LENGTH);
    ck_fails(zeMemGetIpcHandle(context, host, &handle),
             ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ck_ze(zeMemGetIpcHandle(context, device, &handle));
    memcpy(&fd, &handle, sizeof(fd));
    fd = fcntl(fd, F_DUPFD, 100);
    memcpy(&handle, &fd, sizeof(fd));
    snprintf(number, sizeof(number), "%d", fd);
    child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "test", number, NULL);
        _exit(1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    close(fd);
    ck_assert_int_eq(*(char *)emulated_view(device, 1), 8);
}
END_TEST

/* The test that the child process runs. It adds one to the first byte of the
 * parent's memory. */
START_TEST(inherited_memory_is_opened)
{
    ze_ipc_mem_handle_t handle;
    void *address;

    ck_ze(zeMemGetIpcHandle(context, device, &handle));
    memcpy(&handle, &inherited, sizeof(inherited));
    ck_ze(zeMemOpenIpcHandle(context, devices[0], handle, 0, &address));
    close(inherited);
    copy(host, address, LENGTH);
    ck_assert_int_eq(host[LENGTH - 1], 7);
    ++*host;
    copy(address, host, 1);
    ck_ze(zeMemCloseIpcHandle(context, address));
}
END_TEST

START_TEST(mistakes_are_noticed)
{
    char pageable[8] = "";
    void *other;

    ck_fails(zeCommandListAppendMemoryCopy(list, device, pageable, 8, NULL, 0,
                                           NULL),
             ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_mistakes(1);
    ck_fails(zeCommandListAppendMemoryCopy(list, device + 1, host, LENGTH, NULL,
                                           0, NULL),
             ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_mistakes(1);

    ck_ze(zeMemAllocDevice(context, &device_desc, 8, 0, devices[0], &other));
    emulated_hold();
    ck_ze(zeCommandListAppendMemoryCopy(list, host, other, 8, events[0], 0,
                                        NULL));
    ck_ze(zeMemFree(context, other));
    expect_mistakes(1);
    ck_ze(zeEventHostReset(events[0]));
    expect_mistakes(1);
    emulated_release();
    ck_ze(zeEventHostSynchronize(events[0], UINT64_MAX));
    ck_fails(zeCommandListAppendMemoryCopy(list, host, other, 8, NULL, 0, NULL),
             ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_mistakes(1);
    ck_fails(zeMemFree(context, device + 1), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_mistakes(1);
}
END_TEST

START_TEST(a_lost_device_fails_commands_and_no_others)
{
    ze_command_list_handle_t other;

    emulated_hold();
    ck_ze(zeCommandListAppendMemoryCopy(list, device, host, 8, events[0], 0,
                                        NULL));
    emulated_lose(0, ZE_RESULT_ERROR_DEVICE_LOST);
    emulated_release();
    ck_fails(zeEventQueryStatus(events[0]), ZE_RESULT_ERROR_DEVICE_LOST);
    ck_fails(zeCommandListAppendBarrier(list, NULL, 0, NULL),
             ZE_RESULT_ERROR_DEVICE_LOST);
    ck_fails(zeCommandListCreateImmediate(context, devices[0], &queue_desc,
                                          &other),
             ZE_RESULT_ERROR_DEVICE_LOST);
    ck_ze(
        zeCommandListCreateImmediate(context, devices[1], &queue_desc, &other));
    ck_ze(zeCommandListAppendBarrier(other, events[1], 0, NULL));
    ck_ze(zeEventHostSynchronize(events[1], UINT64_MAX));
    ck_ze(zeCommandListDestroy(other));
    emulated_lose(0, 0);
}
END_TEST

/* The loader's validation layer returns the error before the driver is
 * called. */
START_TEST(the_validation_layer_watches)
{
    unsigned long before = emulated_calls(NULL);
    void *address;

    ck_fails(zeMemAllocHost(context, NULL, 1, 0, &address),
             ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    ck_assert_uint_eq(emulated_calls(NULL), before);
}
END_TEST

/* Creates a context and does not destroy it: when the process exits, the driver
 * must report the leak. */
static int leak(void)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    uint32_t count               = 1;

    return (zeInit(0) != ZE_RESULT_SUCCESS) ||
           (zeDriverGet(&count, &driver) != ZE_RESULT_SUCCESS) ||
           (zeContextCreate(driver, &desc, &context) != ZE_RESULT_SUCCESS);
}

int main(int argc, char **argv)
{
    Suite *suite;
    TCase *tcase;
    SRunner *runner;
    int failed;

    if ((argc == 2) && (strcmp(argv[1], "leak") == 0)) {
        return leak();
    }
    suite = suite_create("ze face");
    tcase = tcase_create("ze face");
    tcase_add_checked_fixture(tcase, setup, teardown);
    if (argc == 2) {
        inherited = atoi(argv[1]);
        tcase_add_test(tcase, inherited_memory_is_opened);
    } else {
        tcase_add_test(tcase, devices_have_sub_devices_at_their_address);
        tcase_add_test(tcase, memory_has_a_type_a_device_and_a_range);
        tcase_add_test(tcase, commands_are_carried_out_late_and_in_any_order);
        tcase_add_test(tcase,
                       a_regular_list_is_executed_by_a_queue_again_and_again);
        tcase_add_test(tcase, another_process_opens_memory_by_its_descriptor);
        tcase_add_test(tcase, mistakes_are_noticed);
        tcase_add_test(tcase, a_lost_device_fails_commands_and_no_others);
        tcase_add_test(tcase, the_validation_layer_watches);
    }
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
