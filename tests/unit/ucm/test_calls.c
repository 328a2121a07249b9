/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions by which UCM offers memory calls to code that intercepts them
 * by other means: ucm_mmap() and others perform the call and cause events,
 * ucm_orig_mmap() and others perform it without events, and ucm_vm_mmap() and
 * ucm_vm_munmap() only report an event. These tests intercept no function.
 */
#include "heard.h"

#include <errno.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

static heard_t heard;

static void setup(void)
{
    ck_ok(ucm_set_event_handler(VM_EVENTS | CALL_EVENTS |
                                    UCM_EVENT_FLAG_NO_INSTALL,
                                0, heard_cb, &heard));
}

static void teardown(void)
{
    ucm_unset_event_handler(VM_EVENTS | CALL_EVENTS, heard_cb, &heard);
}

#define MAP_ARGS PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0

START_TEST(mapping_with_events)
{
    char *address = ucm_mmap(NULL, 4 * PAGE, MAP_ARGS);

    ck_mapped(&heard, address, 4 * PAGE);
    ck_assert_ptr_eq(heard.events[0].event.mmap.result, address);
    ck_assert_uint_eq(heard.events[0].event.mmap.size, 4 * PAGE);
    ck_assert_int_eq(heard.events[0].event.mmap.prot, PROT_READ | PROT_WRITE);
    ck_assert_int_eq(heard.events[0].event.mmap.flags,
                     MAP_PRIVATE | MAP_ANONYMOUS);
    ck_assert_int_eq(heard.events[0].event.mmap.fd, -1);
    ck_assert_int_eq(heard.events[0].event.mmap.offset, 0);

    heard_clear(&heard);
    memset(address, 5, PAGE);
    ck_assert_int_eq(ucm_madvise(address, PAGE, MADV_DONTNEED), 0);
    ck_assert_int_eq(address[0], 0);
    ck_unmapped(&heard, address, PAGE);

    heard_clear(&heard);
    ck_assert_ptr_eq(ucm_mremap(address, 4 * PAGE, 2 * PAGE, 0), address);
    ck_unmapped(&heard, address, 4 * PAGE);
    ck_mapped(&heard, address, 2 * PAGE);

    heard_clear(&heard);
    ck_assert_int_eq(ucm_munmap(address, 2 * PAGE), 0);
    ck_unmapped(&heard, address, 2 * PAGE);
    /* the page is not mapped any more */
    ck_assert_int_eq(madvise(address, PAGE, MADV_NORMAL), -1);
}
END_TEST

START_TEST(mremap_to_a_place_takes_the_fifth_argument)
{
    char *address = ucm_orig_mmap(NULL, PAGE, MAP_ARGS);
    char *place   = ucm_orig_mmap(NULL, PAGE, MAP_ARGS);

    ck_assert_ptr_eq(ucm_mremap(address, PAGE, PAGE,
                                MREMAP_MAYMOVE | MREMAP_FIXED, place),
                     place);
    ck_assert_ptr_eq(heard.events[0].event.vm_unmapped.address, address);
    ck_unmapped(&heard, place, PAGE);
    ucm_orig_munmap(place, PAGE);
}
END_TEST

START_TEST(segment_with_events)
{
    int id = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | S_IRUSR | S_IWUSR);
    void *address;

    ck_assert_int_ge(id, 0);
    address = ucm_shmat(id, NULL, 0);
    shmctl(id, IPC_RMID, NULL);
    ck_assert_ptr_ne(address, (void *)-1);
    ck_mapped(&heard, address, PAGE);
    heard_clear(&heard);
    ck_assert_int_eq(ucm_shmdt(address), 0);
    ck_unmapped(&heard, address, PAGE);
}
END_TEST

/* A shared memory segment that does not exist stands for one whose size cannot
 * be queried. */
START_TEST(segment_of_unknown_size_with_events)
{
    char *place = ucm_orig_mmap(NULL, PAGE, MAP_ARGS);

    ck_assert_ptr_eq(ucm_shmat(-1, place, SHM_REMAP), (void *)-1);
    ck_assert_int_eq(errno, EINVAL);
    ck_unmapped(&heard, place, PAGE);
    ucm_orig_munmap(place, PAGE);
}
END_TEST

START_TEST(data_segment_with_events)
{
    char *end = ucm_sbrk(PAGE);

    ck_mapped(&heard, end, PAGE);
    heard_clear(&heard);
    ck_assert_int_eq(ucm_brk(end), 0);
    ck_unmapped(&heard, end, PAGE);
    /* the C library reports the same end of the heap */
    ck_assert_ptr_eq(sbrk(0), end);
}
END_TEST

START_TEST(calls_without_events)
{
    int id = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | S_IRUSR | S_IWUSR);
    char *address, *end;

    address = ucm_orig_mmap(NULL, 2 * PAGE, MAP_ARGS);
    ck_assert_ptr_ne(address, MAP_FAILED);
    memset(address, 5, PAGE);
    ck_assert_int_eq(ucm_orig_madvise(address, PAGE, MADV_DONTNEED), 0);
    ck_assert_int_eq(address[0], 0);
    ck_assert_ptr_eq(ucm_orig_mremap(address, 2 * PAGE, PAGE, 0, NULL),
                     address);
    ck_assert_int_eq(ucm_orig_munmap(address, PAGE), 0);
    ck_assert_int_eq(madvise(address, PAGE, MADV_NORMAL), -1);

    address = ucm_orig_shmat(id, NULL, 0);
    shmctl(id, IPC_RMID, NULL);
    ck_assert_ptr_ne(address, (void *)-1);
    ck_assert_int_eq(ucm_orig_shmdt(address), 0);
    errno = 0;
    ck_assert_int_eq(ucm_orig_shmdt(address), -1);
    ck_assert_int_eq(errno, EINVAL);

    end = ucm_orig_sbrk(PAGE);
    ck_assert_ptr_eq(sbrk(0), end + PAGE);
    ck_assert_int_eq(ucm_orig_brk(end), 0);
    ck_assert_ptr_eq(ucm_orig_sbrk(0), end);
    ck_assert_uint_eq(heard_count(&heard), 0);
}
END_TEST

START_TEST(reports_are_passed_on)
{
    ucm_vm_mmap((void *)(3 * PAGE), 1);
    ck_mapped(&heard, (void *)(3 * PAGE), PAGE);
    ucm_vm_munmap((void *)(5 * PAGE), 2 * PAGE);
    ck_unmapped(&heard, (void *)(5 * PAGE), 2 * PAGE);
    ck_assert_uint_eq(heard_count(&heard), 2);

    /* an empty range is ignored; a range that exceeds the address space is
     * cut */
    ucm_vm_munmap((void *)(5 * PAGE), 0);
    ck_assert_uint_eq(heard_count(&heard), 2);
    ucm_vm_munmap((void *)PAGE, SIZE_MAX);
    ck_unmapped(&heard, (void *)(UINTPTR_MAX - (4 * PAGE)), PAGE);
}
END_TEST

int main(void)
{
    Suite *suite    = suite_create("calls");
    TCase *tcase    = tcase_create("calls");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, mapping_with_events);
    tcase_add_test(tcase, mremap_to_a_place_takes_the_fifth_argument);
    tcase_add_test(tcase, segment_with_events);
    tcase_add_test(tcase, segment_of_unknown_size_with_events);
    tcase_add_test(tcase, data_segment_with_events);
    tcase_add_test(tcase, calls_without_events);
    tcase_add_test(tcase, reports_are_passed_on);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? 0 : 1;
}
