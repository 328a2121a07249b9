/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments (segment.h): bytes, locks, wake-ups and attachments, for every way
 * in which a segment is passed between processes (SEG_*, seg_side.h); and the
 * use of memory. The process that creates a segment is called its maker.
 */
#include "seg_suite.h"

#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LENGTH (8u << 20)

static void make(shm_space_t *space, unsigned flags, shm_seg_t *seg,
                 char **mapped_p)
{
    EXPECT_EQ(shm_seg_make(space, LENGTH, 4, flags, seg), UCS_OK);
    *mapped_p = shm_seg_map(seg, 0, LENGTH);
    EXPECT_TRUE(*mapped_p != NULL);
}

static void tell(const shm_seg_t *seg, int fd)
{
    uint8_t address[SHM_ADDRESS_LENGTH];

    EXPECT_EQ(shm_seg_address_length(seg->space), SHM_ADDRESS_LENGTH);
    shm_seg_address(seg, address);
    seg_write(fd, address, sizeof(address));
}

static void attach(shm_space_t *space, int fd, shm_seg_t *seg)
{
    uint8_t address[SHM_ADDRESS_LENGTH];
    char reason[256] = "";
    ucs_status_t status;

    seg_read(fd, address, sizeof(address));
    status = shm_seg_attach(space, address, sizeof(address), seg, reason,
                            sizeof(reason));
    if (status != UCS_OK) {
        fprintf(stderr, "not attached: %s\n", reason);
    }
    EXPECT_EQ(status, UCS_OK);
}

/* --- Bytes ---------------------------------------------------------------- */

static void answer_bytes(void *arg, int fd)
{
    shm_space_t space;
    shm_seg_t seg;
    char *mapped;

    seg_space_open(&space, *(int *)arg, NULL);
    attach(&space, fd, &seg);
    EXPECT_EQ(seg.length, LENGTH);
    mapped = shm_seg_map(&seg, LENGTH / 2, LENGTH / 2);
    EXPECT_TRUE(mapped != NULL);
    EXPECT_EQ(strcmp(mapped, "from the maker"), 0);
    strcpy(mapped + 100, "from the other");
    seg_signal(fd);
    seg_await(fd);
    shm_seg_unmap(&seg, mapped, LENGTH / 2);
    shm_seg_close(&seg);
    shm_space_close(&space);
}

START_TEST(both_processes_see_the_same_bytes)
{
    int fd, way = _i, fds = seg_count_fds();
    shm_space_t space;
    shm_seg_t seg;
    char *mapped;
    pid_t pid;

    seg_space_open(&space, way, NULL);
    pid = seg_fork(answer_bytes, &way, 0, &fd);
    make(&space, 0, &seg, &mapped);
    ck_assert_int_eq(shm_seg_commit(&seg, mapped + LENGTH / 2, LENGTH / 2, 200),
                     UCS_OK);
    strcpy(mapped + LENGTH / 2, "from the maker");
    tell(&seg, fd);
    seg_await(fd);
    ck_assert_str_eq(mapped + LENGTH / 2 + 100, "from the other");
    seg_signal(fd);
    ck_assert(seg_join(pid, NULL));
    shm_seg_unmap(&seg, mapped, LENGTH);
    shm_seg_close(&seg);
    shm_space_close(&space);
    close(fd);
    ck_assert_int_eq(seg_count_fds(), fds);
    ck_assert_int_eq(seg_count_names(seg_dir()), 0);
}
END_TEST

START_TEST(a_process_attaches_its_own_segment)
{
    shm_space_t space;
    shm_seg_t seg, again;
    char *mapped, *other;
    uint8_t address[SHM_ADDRESS_LENGTH];

    seg_space_open(&space, _i, NULL);
    make(&space, 0, &seg, &mapped);
    shm_seg_address(&seg, address);
    ck_assert_int_eq(shm_seg_attach(&space, address, sizeof(address), &again,
                                    NULL, 0),
                     UCS_OK);
    other = shm_seg_map(&again, 0, LENGTH);
    ck_assert_ptr_nonnull(other);
    strcpy(mapped, "one memory");
    ck_assert_str_eq(other, "one memory");
    ck_assert(shm_seg_is_locked(&again, 0));
    ck_assert(!shm_seg_lock(&again, 0));
    shm_seg_unmap(&again, other, LENGTH);
    shm_seg_close(&again);
    shm_seg_unmap(&seg, mapped, LENGTH);
    shm_seg_close(&seg);
    shm_space_close(&space);
}
END_TEST

/* --- Locks ---------------------------------------------------------------- */

static void hold_lock(void *arg, int fd)
{
    shm_space_t space;
    shm_seg_t seg;

    seg_space_open(&space, *(int *)arg, NULL);
    attach(&space, fd, &seg);
    EXPECT_TRUE(shm_seg_is_locked(&seg, 0));
    EXPECT_TRUE(!shm_seg_lock(&seg, 0));
    EXPECT_TRUE(!shm_seg_is_locked(&seg, 2));
    EXPECT_TRUE(shm_seg_lock(&seg, 2));
    EXPECT_TRUE(!shm_seg_lock(&seg, 4)); /* There is no lock with this number */
    seg_signal(fd);
    seg_await(fd);
    shm_seg_unlock(&seg, 2);
    seg_signal(fd);
    seg_await(fd);
    EXPECT_TRUE(shm_seg_lock(&seg, 2));
    seg_signal(fd);
    seg_await(fd); /* Does not return: the process is killed here */
}

START_TEST(a_lock_is_free_when_it_is_given_back_or_its_holder_is_killed)
{
    int fd, way = _i;
    shm_space_t space;
    shm_seg_t seg;
    char *mapped;
    pid_t pid;

    seg_space_open(&space, way, NULL);
    pid = seg_fork(hold_lock, &way, 0, &fd);
    make(&space, 0, &seg, &mapped);
    tell(&seg, fd);
    seg_await(fd);
    ck_assert(shm_seg_is_locked(&seg, 2));
    ck_assert(!shm_seg_is_locked(&seg, 1));
    ck_assert(!shm_seg_lock(&seg, 2));
    seg_signal(fd);
    seg_await(fd);
    ck_assert(!shm_seg_is_locked(&seg, 2));
    seg_signal(fd);
    seg_await(fd);
    ck_assert(shm_seg_is_locked(&seg, 2));
    seg_kill(pid);
    ck_assert(!shm_seg_is_locked(&seg, 2));
    ck_assert(shm_seg_lock(&seg, 2));
    shm_seg_unmap(&seg, mapped, LENGTH);
    shm_seg_close(&seg);
    shm_space_close(&space);
    close(fd);
}
END_TEST

/* Creates a segment, and a child process that lives longer than this
 * process. */
static void make_and_fork(void *arg, int fd)
{
    shm_space_t space;
    shm_seg_t seg;
    int pipe_fds[2];
    char *mapped;
    char byte;
    pid_t pid;

    seg_space_open(&space, *(int *)arg, NULL);
    make(&space, SHM_SEG_EVENT, &seg, &mapped);
    EXPECT_EQ(pipe(pipe_fds), 0);
    pid = fork();
    EXPECT_GE(pid, 0);
    if (pid == 0) {
        strcpy(mapped, "the child lives");
        EXPECT_EQ(write(pipe_fds[1], "c", 1), 1);
        seg_await(fd); /* Waits until the test has checked */
        shm_seg_close(&seg);
        _exit(0);
    }
    EXPECT_EQ(read(pipe_fds[0], &byte, 1), 1);
    tell(&seg, fd);
    pause();
}

START_TEST(a_forked_child_keeps_no_lock_of_its_parent)
{
    int fd, way = _i;
    shm_space_t space;
    shm_seg_t seg;
    char *mapped;
    pid_t pid;

    seg_space_open(&space, way, NULL);
    pid = seg_fork(make_and_fork, &way, 0, &fd);
    attach(&space, fd, &seg);
    mapped = shm_seg_map(&seg, 0, LENGTH);
    ck_assert(shm_seg_is_locked(&seg, 0));
    seg_kill(pid);
    ck_assert(!shm_seg_is_locked(&seg, 0));
    ck_assert_str_eq(mapped, "the child lives");
    seg_signal(fd);
    shm_seg_unmap(&seg, mapped, LENGTH);
    shm_seg_close(&seg);
    shm_space_close(&space);
    close(fd);
}
END_TEST

/* --- Wake-ups ------------------------------------------------------------- */

static void wake(void *arg, int fd)
{
    shm_space_t space;
    shm_seg_t seg;

    seg_space_open(&space, *(int *)arg, NULL);
    attach(&space, fd, &seg);
    shm_seg_wake(&seg);
    seg_signal(fd);
    seg_await(fd);
    for (int i = 0; i < 100000; ++i) {
        shm_seg_wake(&seg); /* More wake-ups than a pipe holds */
    }
    seg_signal(fd);
    seg_await(fd);
    shm_seg_close(&seg);
    shm_space_close(&space);
}

static int is_readable(int fd)
{
    struct pollfd pfd = {.fd = fd, .events = POLLIN};

    return poll(&pfd, 1, 0) == 1;
}

START_TEST(a_peer_wakes_the_maker)
{
    int fd, way = _i;
    shm_space_t space;
    shm_seg_t seg;
    char *mapped;
    pid_t pid;

    seg_space_open(&space, way, NULL);
    pid = seg_fork(wake, &way, 0, &fd);
    make(&space, SHM_SEG_EVENT, &seg, &mapped);
    ck_assert(!is_readable(seg.event_rd));
    tell(&seg, fd);
    seg_await(fd);
    ck_assert(is_readable(seg.event_rd));
    shm_seg_event_clear(&seg);
    ck_assert(!is_readable(seg.event_rd));
    seg_signal(fd);
    seg_await(fd);
    ck_assert(is_readable(seg.event_rd));
    shm_seg_event_clear(&seg);
    ck_assert(!is_readable(seg.event_rd));
    seg_signal(fd);
    ck_assert(seg_join(pid, NULL));
    ck_assert(!is_readable(seg.event_rd)); /* The exit of a peer is not an
                                            * event */
    shm_seg_unmap(&seg, mapped, LENGTH);
    shm_seg_close(&seg);
    shm_space_close(&space);
    close(fd);
}
END_TEST

static void make_and_wait(void *arg, int fd)
{
    shm_space_t space;
    shm_seg_t seg;
    char *mapped;

    seg_space_open(&space, *(int *)arg, NULL);
    make(&space, SHM_SEG_EVENT, &seg, &mapped);
    tell(&seg, fd);
    pause();
}

START_TEST(waking_a_dead_maker_costs_no_signal)
{
    int fd, way = _i;
    shm_space_t space;
    shm_seg_t woken, other;
    uint8_t address[SHM_ADDRESS_LENGTH];
    pid_t pid;

    seg_space_open(&space, way, NULL);
    pid = seg_fork(make_and_wait, &way, 0, &fd);
    seg_read(fd, address, sizeof(address));
    ck_assert_int_eq(shm_seg_attach(&space, address, sizeof(address), &woken,
                                    NULL, 0),
                     UCS_OK);
    ck_assert_int_eq(shm_seg_attach(&space, address, sizeof(address), &other,
                                    NULL, 0),
                     UCS_OK);
    shm_seg_wake(&woken);
    seg_kill(pid);
    shm_seg_wake(&woken);
    shm_seg_wake(&other); /* `other` was never used to wake before, so it has
                           * not opened the maker's event */
    ck_assert(!shm_seg_is_locked(&woken, 0));
    shm_seg_close(&other);
    shm_seg_close(&woken);
    shm_space_close(&space);
    close(fd);
    ck_assert_int_eq(seg_count_names(seg_dir()), 0);
}
END_TEST

/* --- Memory --------------------------------------------------------------- */

START_TEST(a_segment_uses_memory_for_what_is_committed)
{
    const size_t length = (size_t)64 << 30;
    shm_space_t space;
    shm_seg_t seg;
    char *mapped;

    seg_space_open(&space, SEG_MEMFD, NULL);
    ck_assert_int_eq(shm_seg_make(&space, length, 1, 0, &seg), UCS_OK);
    mapped = shm_seg_map(&seg, 0, length);
    ck_assert_ptr_nonnull(mapped);
    ck_assert_int_le(seg_memory(&seg), 4096);

    ck_assert_int_eq(shm_seg_commit(&seg, mapped + 5000, 5000, 1 << 20),
                     UCS_OK);
    ck_assert_int_le(seg_memory(&seg), (1 << 20) + 3 * 4096);
    ck_assert_int_ge(seg_memory(&seg), 1 << 20);
    memset(mapped + 4096, 1, 1 << 20);
    shm_seg_decommit(&seg, mapped + 5000, 5000, 1 << 20);
    ck_assert_int_le(seg_memory(&seg), 4 * 4096);
    ck_assert_int_eq(mapped[4096], 1); /* The range begins at 5000, inside this
                                        * page, so the page keeps its memory */
    ck_assert_int_eq(mapped[2 * 4096], 0);

    /* Beyond the end of the segment */
    ck_assert_int_ne(shm_seg_commit(&seg, mapped, length, 1), UCS_OK);
    ck_assert_ptr_null(shm_seg_map(&seg, length, 4096));
    ck_assert_ptr_null(shm_seg_map(&seg, 0, length + 4096));
    ck_assert_ptr_null(shm_seg_map(&seg, 1, 4096));
    shm_seg_unmap(&seg, mapped, length);
    shm_seg_close(&seg);
    shm_space_close(&space);
}
END_TEST

START_TEST(system_v_memory_is_given_back)
{
    shm_space_t space;
    shm_seg_t seg;
    char *mapped;
    int id;

    seg_space_open(&space, SEG_SYSV, NULL);
    make(&space, 0, &seg, &mapped);
    ck_assert_int_eq(shm_seg_commit(&seg, mapped, 0, LENGTH), UCS_OK);
    memset(mapped, 1, LENGTH);
    shm_seg_decommit(&seg, mapped + 4096, 4096, LENGTH - 4096);
    ck_assert_int_eq(mapped[0], 1);
    ck_assert_int_eq(mapped[4096], 0);
    id = seg.sysv_id;
    ck_assert(seg_sysv_exists(id));
    shm_seg_close(&seg);
    shm_space_close(&space);
    ck_assert(!seg_sysv_exists(id));
}
END_TEST

/* Few systems have free huge pages: with UCS_TRY small pages are accepted,
 * with UCS_YES the creation may fail. Bit 0 of the loop variable _i selects
 * System V, bit 1 selects UCS_YES. */
START_TEST(huge_pages_are_taken_where_there_are_some)
{
    shm_space_t space;
    shm_seg_t seg;
    void *mapped;
    int way = (_i & 1) ? SEG_SYSV : SEG_MEMFD;

    seg_space_open(&space, way, NULL);
    space.hugetlb = (_i & 2) ? UCS_YES : UCS_TRY;
    if (shm_seg_make_mapped(&space, LENGTH / 2 + 1, NULL, SHM_SEG_QUIET, 0,
                            &seg, &mapped) == UCS_OK) {
        ck_assert((seg.page == SHM_HUGE_PAGE) || (space.hugetlb == UCS_TRY));
        ck_assert_uint_eq((uintptr_t)mapped % seg.page, 0);
        ck_assert_uint_eq(seg.length % seg.page, 0);
        ck_assert_int_eq(shm_seg_commit(&seg, mapped, 0, seg.length), UCS_OK);
        memset(mapped, 1, seg.length);
        shm_seg_unmap(&seg, mapped, seg.length);
        shm_seg_close(&seg);
    } else {
        ck_assert_int_eq(space.hugetlb, UCS_YES);
    }
    shm_space_close(&space);
}
END_TEST

/* The event of a System V segment is only found by /proc. */
START_TEST(a_wake_up_that_is_impossible_is_reported_once)
{
    uint8_t address[SHM_ADDRESS_LENGTH];
    shm_space_t space;
    shm_seg_t seg, other;
    unsigned errors;
    char *mapped;

    seg_space_open(&space, SEG_SYSV, NULL);
    ck_assert(shm_seg_can_wake(&space));
    space.has_proc = 0;
    ck_assert(!shm_seg_can_wake(&space));
    make(&space, SHM_SEG_EVENT, &seg, &mapped);
    shm_seg_address(&seg, address);
    ck_assert_int_eq(shm_seg_attach(&space, address, sizeof(address), &other,
                                    NULL, 0),
                     UCS_OK);
    errors = seg_host_errors();
    shm_seg_wake(&other);
    shm_seg_wake(&other);
    ck_assert_uint_eq(seg_host_errors(), errors + 1);
    ck_assert_ptr_nonnull(strstr(seg_host_last_error(), "no /proc"));
    ck_assert(!is_readable(seg.event_rd));
    shm_seg_close(&other);
    shm_seg_unmap(&seg, mapped, LENGTH);
    shm_seg_close(&seg);
    shm_space_close(&space);
}
END_TEST

START_TEST(many_attachments_leave_no_descriptor)
{
    shm_space_t space;
    shm_seg_t seg, other;
    char *mapped;
    uint8_t address[SHM_ADDRESS_LENGTH];
    int fds;

    seg_space_open(&space, _i, NULL);
    make(&space, SHM_SEG_EVENT, &seg, &mapped);
    shm_seg_address(&seg, address);
    fds = seg_count_fds();
    for (int i = 0; i < 300; ++i) {
        ck_assert_int_eq(shm_seg_attach(&space, address, sizeof(address),
                                        &other, NULL, 0),
                         UCS_OK);
        shm_seg_wake(&other);
        shm_seg_close(&other);
    }
    ck_assert_int_eq(seg_await_fds(fds), fds);
    shm_seg_unmap(&seg, mapped, LENGTH);
    shm_seg_close(&seg);
    shm_space_close(&space);
}
END_TEST

int main(void)
{
    Suite *suite    = suite_create("segment");
    TCase *ways     = tcase_create("by every way");
    TCase *memory   = tcase_create("memory");
    SRunner *runner = srunner_create(suite);
    int failed;

    (void)seg_dir();
    tcase_add_loop_test(ways, both_processes_see_the_same_bytes, 0,
                        SEG_NUM_WAYS);
    tcase_add_loop_test(ways, a_process_attaches_its_own_segment, 0,
                        SEG_NUM_WAYS);
    tcase_add_loop_test(
        ways, a_lock_is_free_when_it_is_given_back_or_its_holder_is_killed, 0,
        SEG_NUM_WAYS);
    tcase_add_loop_test(ways, a_forked_child_keeps_no_lock_of_its_parent, 0,
                        SEG_NUM_WAYS);
    tcase_add_loop_test(ways, a_peer_wakes_the_maker, 0, SEG_NUM_WAYS);
    tcase_add_loop_test(ways, waking_a_dead_maker_costs_no_signal, 0,
                        SEG_NUM_WAYS);
    tcase_add_test(ways, a_wake_up_that_is_impossible_is_reported_once);
    tcase_add_loop_test(ways, many_attachments_leave_no_descriptor, 0,
                        SEG_NUM_WAYS);
    tcase_add_test(memory, a_segment_uses_memory_for_what_is_committed);
    tcase_add_loop_test(memory, huge_pages_are_taken_where_there_are_some, 0,
                        4);
    tcase_add_test(memory, system_v_memory_is_given_back);
    suite_add_tcase(suite, ways);
    suite_add_tcase(suite, memory);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
