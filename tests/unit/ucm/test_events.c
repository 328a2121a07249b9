/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events: what each call reports, with each mode of interception, and with
 * other heaps than the C library's. Also reports of existing mappings, and the
 * test of interception.
 */
#include "heard.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

static heard_t heard;

static void setup(void)
{
    ck_ok(ucm_set_event_handler(VM_EVENTS | CALL_EVENTS, 0, heard_cb, &heard));
    heard_clear(&heard);
}

static void teardown(void)
{
    ucm_unset_event_handler(VM_EVENTS | CALL_EVENTS, heard_cb, &heard);
}

static void *map(size_t length)
{
    void *address = mmap(NULL, length, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(address, MAP_FAILED);
    return address;
}

START_TEST(mmap_and_munmap_are_told)
{
    void *address = map(3 * PAGE);

    ck_mapped(&heard, address, 3 * PAGE);
    ck_assert_uint_ge(heard_type(&heard, UCM_EVENT_MMAP), 1);
    ck_assert_uint_eq(heard_type(&heard, UCM_EVENT_MUNMAP), 0);
    heard_clear(&heard);
    ck_assert_int_eq(munmap(address, 3 * PAGE), 0);
    ck_unmapped(&heard, address, 3 * PAGE);
    ck_assert_uint_ge(heard_type(&heard, UCM_EVENT_MUNMAP), 1);
}
END_TEST

START_TEST(length_is_told_in_whole_pages)
{
    char *address = map(2 * PAGE);

    ck_assert_int_eq(munmap(address, PAGE + 1), 0);
    ck_unmapped(&heard, address, 2 * PAGE);
}
END_TEST

START_TEST(mapping_at_a_fixed_place_unmaps_what_was_there)
{
    char *address = map(4 * PAGE);

    heard_clear(&heard);
    ck_assert_ptr_eq(mmap(address + PAGE, PAGE, PROT_READ,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                     address + PAGE);
    ck_unmapped(&heard, address + PAGE, PAGE);
    ck_mapped(&heard, address + PAGE, PAGE);
    ck_assert(!heard_range(&heard, UCM_EVENT_VM_UNMAPPED, address, 1));
    munmap(address, 4 * PAGE);
}
END_TEST

START_TEST(mremap_unmaps_the_old_and_maps_the_new)
{
    char *address = map(2 * PAGE), *place = map(8 * PAGE), *moved;

    heard_clear(&heard);
    moved = mremap(address, 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
                   place);
    ck_assert_ptr_eq(moved, place);
    ck_unmapped(&heard, address, 2 * PAGE);
    ck_unmapped(&heard, place, 4 * PAGE);
    ck_mapped(&heard, place, 4 * PAGE);
    ck_assert_uint_ge(heard_type(&heard, UCM_EVENT_MREMAP), 1);
    munmap(place, 8 * PAGE);
}
END_TEST

START_TEST(madvise_that_drops_pages_unmaps)
{
    char *address = map(2 * PAGE);

    heard_clear(&heard);
    ck_assert_int_eq(madvise(address, 2 * PAGE, MADV_WILLNEED), 0);
    ck_assert_uint_ge(heard_type(&heard, UCM_EVENT_MADVISE), 1);
    ck_assert_uint_eq(heard_type(&heard, UCM_EVENT_VM_UNMAPPED), 0);
    ck_assert_int_eq(madvise(address + PAGE, PAGE, MADV_DONTNEED), 0);
    ck_unmapped(&heard, address + PAGE, PAGE);
    ck_assert(!heard_range(&heard, UCM_EVENT_VM_UNMAPPED, address, 1));
    munmap(address, 2 * PAGE);
}
END_TEST

START_TEST(segments_are_told_with_their_size)
{
    int id = shmget(IPC_PRIVATE, 5 * PAGE, IPC_CREAT | S_IRUSR | S_IWUSR);
    char *address, *place = map(8 * PAGE);

    ck_assert_int_ge(id, 0);
    heard_clear(&heard);
    address = shmat(id, NULL, 0);
    ck_assert_ptr_ne(address, (void *)-1);
    ck_mapped(&heard, address, 5 * PAGE);
    ck_assert_uint_eq(heard_type(&heard, UCM_EVENT_SHMAT), 1);

    /* shmdt() detaches and reports the whole segment, even if a part of it has
     * other access rights. */
    ck_assert_int_eq(mprotect(address + PAGE, PAGE, PROT_READ), 0);
    ck_assert_int_eq(shmdt(address), 0);
    ck_unmapped(&heard, address, 5 * PAGE);
    ck_assert_uint_eq(heard_type(&heard, UCM_EVENT_SHMDT), 1);

    heard_clear(&heard);
    ck_assert_ptr_eq(shmat(id, place, SHM_REMAP), place);
    ck_unmapped(&heard, place, 5 * PAGE);
    shmdt(place);
    munmap(place, 8 * PAGE);
    shmctl(id, IPC_RMID, NULL);
}
END_TEST

START_TEST(data_segment_is_told)
{
    char *end;

    end = sbrk(2 * PAGE);
    ck_assert_ptr_ne(end, (void *)-1);
    ck_mapped(&heard, end, 2 * PAGE);
    ck_assert_uint_ge(heard_type(&heard, UCM_EVENT_SBRK), 1);
    ck_assert_ptr_eq(sbrk(0), end + 2 * PAGE);

    heard_clear(&heard);
    ck_assert_ptr_eq(sbrk(-(intptr_t)PAGE), end + 2 * PAGE);
    ck_unmapped(&heard, end + PAGE, PAGE);

    heard_clear(&heard);
    ck_assert_int_eq(brk(end + 4 * PAGE), 0);
    ck_mapped(&heard, end + PAGE, 3 * PAGE);
    ck_assert_uint_ge(heard_type(&heard, UCM_EVENT_BRK), 1);
    ck_assert_ptr_eq(sbrk(0), end + 4 * PAGE);

    heard_clear(&heard);
    ck_assert_int_eq(brk(end), 0);
    ck_unmapped(&heard, end, 4 * PAGE);
    ck_assert_ptr_eq(sbrk(0), end);
}
END_TEST

/* If free() returns a large block to the system, an event reports this,
 * whatever heap is used (the C library's heap returns large blocks at once).
 * mincore() tells whether the block was returned. */
START_TEST(heap_tells_when_it_gives_a_block_back)
{
    const size_t length = 64ul << 20;
    char *block         = malloc(length);
    unsigned char resident;
    char *page;

    ck_assert_ptr_nonnull(block);
    memset(block, 1, length);
    page = (char *)(((uintptr_t)block + PAGE) & ~(PAGE - 1));
    heard_clear(&heard);
    free(block);
#ifdef __SANITIZE_THREAD__
    /* the sanitizer's heap calls the system directly, which UCM cannot
     * intercept */
    return;
#endif
    if ((mincore(page, PAGE, &resident) != 0) || !(resident & 1)) {
        ck_unmapped(&heard, page, PAGE);
    }
}
END_TEST

START_TEST(errors_are_those_of_the_call)
{
    errno = 0;
    ck_assert_int_eq(munmap((void *)1, PAGE), -1);
    ck_assert_int_eq(errno, EINVAL);
    ck_assert_ptr_eq(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                          0),
                     MAP_FAILED);
    ck_assert_int_eq(errno, EINVAL);
    ck_assert_ptr_eq(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, -1, 0),
                     MAP_FAILED);
    ck_assert_int_eq(errno, EBADF);
    ck_assert_ptr_eq(mremap((void *)1, PAGE, PAGE, 0), MAP_FAILED);
    ck_assert_int_eq(errno, EINVAL);
    ck_assert_int_eq(madvise((void *)1, PAGE, MADV_DONTNEED), -1);
    ck_assert_int_eq(errno, EINVAL);
    ck_assert_ptr_eq(shmat(-1, NULL, 0), (void *)-1);
    ck_assert_int_eq(errno, EINVAL);
    ck_assert_int_eq(shmdt((void *)8), -1);
    ck_assert_int_eq(errno, EINVAL);
    ck_assert_ptr_eq(sbrk((intptr_t)1 << 60), (void *)-1);
    ck_assert_int_eq(errno, ENOMEM);
    ck_assert_int_eq(brk((void *)UINTPTR_MAX), -1);
    ck_assert_int_eq(errno, ENOMEM);
    errno = 77;
    ck_assert_int_eq(munmap(map(PAGE), PAGE), 0);
    ck_assert_int_eq(errno, 77);
}
END_TEST

START_TEST(test_of_events_reports_intercepted_calls)
{
    ck_ok(ucm_test_events(VM_EVENTS | CALL_EVENTS));
    ck_ok(ucm_test_external_events(VM_EVENTS));
}
END_TEST

START_TEST(existing_ranges_are_told_on_request)
{
    static heard_t all;
    void *address = map(PAGE);

    ck_ok(ucm_set_event_handler(UCM_EVENT_VM_MAPPED |
                                    UCM_EVENT_FLAG_EXISTING_ALLOC,
                                0, heard_cb, &all));
    ck_mapped(&all, address, PAGE);
    ck_mapped(&all, (char *)&all + sizeof(all) / 2, 1);
    ucm_unset_event_handler(UCM_EVENT_VM_MAPPED, heard_cb, &all);
    munmap(address, PAGE);
}
END_TEST

int main(void)
{
    Suite *suite    = suite_create("events");
    TCase *tcase    = tcase_create("events");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, mmap_and_munmap_are_told);
    tcase_add_test(tcase, length_is_told_in_whole_pages);
    tcase_add_test(tcase, mapping_at_a_fixed_place_unmaps_what_was_there);
    tcase_add_test(tcase, mremap_unmaps_the_old_and_maps_the_new);
    tcase_add_test(tcase, madvise_that_drops_pages_unmaps);
    tcase_add_test(tcase, segments_are_told_with_their_size);
    tcase_add_test(tcase, data_segment_is_told);
    tcase_add_test(tcase, heap_tells_when_it_gives_a_block_back);
    tcase_add_test(tcase, errors_are_those_of_the_call);
    tcase_add_test(tcase, test_of_events_reports_intercepted_calls);
    tcase_add_test(tcase, existing_ranges_are_told_on_request);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? 0 : 1;
}
