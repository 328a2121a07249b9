/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments (segment.h) between processes of different namespaces, as in
 * containers: the attachment succeeds where the kernel permits it, and fails
 * with a reason otherwise. The maker is the process that creates the segment.
 */
#include "seg_suite.h"

#include <poll.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#define LENGTH ((size_t)1 << 20)

#define PID_NS      (CLONE_NEWPID | CLONE_NEWNS)
#define ALL_BUT_NET (PID_NS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWUSER)

/* Parameters of one case. */
typedef struct meeting {
    int way;             /* SEG_* (seg_side.h) */
    int settings;        /* USE_* */
    int namespaces;      /* CLONE_NEW* flags: new namespaces of the process
                          * inside, see meet() */
    int reachable;       /* Whether the attachment must succeed */
    int maker_is_inside; /* Whether the process inside is the maker */
    char dir[64];        /* Folder for the names of both processes */
} meeting_t;

/* USE_AUTO: the member use_socket of the space is UCS_AUTO, which is its
 * default, instead of the value of the way. */
enum { USE_AUTO = 1 << 0 };

static void space_open(shm_space_t *space, const meeting_t *meeting)
{
    seg_space_open(space, meeting->way, meeting->dir);
    if (meeting->settings & USE_AUTO) {
        space->use_socket = UCS_AUTO;
    }
}

static void side_make(const meeting_t *meeting, int fd)
{
    uint8_t address[SHM_ADDRESS_LENGTH];
    struct pollfd pfd;
    shm_space_t space;
    shm_seg_t seg;
    char *mapped;

    space_open(&space, meeting);
    EXPECT_EQ(shm_seg_make(&space, LENGTH, 2, SHM_SEG_EVENT, &seg), UCS_OK);
    mapped = shm_seg_map(&seg, 0, LENGTH);
    EXPECT_TRUE(mapped != NULL);
    strcpy(mapped, "made here");
    shm_seg_address(&seg, address);
    seg_write(fd, address, sizeof(address));
    seg_await(fd);
    if (meeting->reachable) {
        EXPECT_EQ(strcmp(mapped, "seen there"), 0);
        EXPECT_TRUE(shm_seg_is_locked(&seg, 1));
        pfd = (struct pollfd){.fd = seg.event_rd, .events = POLLIN};
        EXPECT_EQ(poll(&pfd, 1, 0), 1);
    }
    seg_signal(fd);
    seg_await(fd);
    EXPECT_TRUE(!shm_seg_is_locked(&seg, 1));
    shm_seg_unmap(&seg, mapped, LENGTH);
    shm_seg_close(&seg);
    shm_space_close(&space);
}

static void side_attach(const meeting_t *meeting, int fd)
{
    uint8_t address[SHM_ADDRESS_LENGTH];
    char reason[256] = "";
    ucs_status_t status;
    shm_space_t space;
    shm_seg_t seg;
    char *mapped = NULL;

    space_open(&space, meeting);
    seg_read(fd, address, sizeof(address));
    status = shm_seg_attach(&space, address, sizeof(address), &seg, reason,
                            sizeof(reason));
    if (!meeting->reachable) {
        EXPECT_EQ(status, UCS_ERR_UNREACHABLE);
        EXPECT_GE(strlen(reason), 20);
        EXPECT_EQ(seg_host_errors(), 0);
    } else {
        if (status != UCS_OK) {
            fprintf(stderr, "not attached: %s\n", reason);
        }
        EXPECT_EQ(status, UCS_OK);
        mapped = shm_seg_map(&seg, 0, LENGTH);
        EXPECT_TRUE(mapped != NULL);
        EXPECT_EQ(strcmp(mapped, "made here"), 0);
        strcpy(mapped, "seen there");
        EXPECT_TRUE(shm_seg_is_locked(&seg, 0));
        EXPECT_TRUE(shm_seg_lock(&seg, 1));
        shm_seg_wake(&seg);
    }
    seg_signal(fd);
    seg_await(fd);
    if (meeting->reachable) {
        shm_seg_unmap(&seg, mapped, LENGTH);
        shm_seg_close(&seg);
    }
    seg_signal(fd);
    shm_space_close(&space);
}

static void inside(void *arg, int fd)
{
    const meeting_t *meeting = arg;

    if (meeting->maker_is_inside) {
        side_make(meeting, fd);
    } else {
        side_attach(meeting, fd);
    }
}

/* Argument of the process outside. */
typedef struct outside {
    meeting_t *meeting;
    int fd; /* Socket to the process inside */
} outside_t;

static void outside(void *arg, int fd)
{
    outside_t *out = arg;

    close(fd);
    if (out->meeting->maker_is_inside) {
        side_attach(out->meeting, out->fd);
    } else {
        side_make(out->meeting, out->fd);
    }
}

/* Runs a maker and a process that attaches its segment: one inside the new
 * namespaces of `meeting`, the other outside, in those of the test; then the
 * other way around. */
static void meet(const char *name, meeting_t meeting)
{
    outside_t out = {.meeting = &meeting};
    int fd, good, skipped;
    pid_t in_pid, out_pid;

    snprintf(meeting.dir, sizeof(meeting.dir), "%s", seg_dir());
    for (meeting.maker_is_inside = 0; meeting.maker_is_inside < 2;
         ++meeting.maker_is_inside) {
        in_pid  = seg_fork(inside, &meeting, meeting.namespaces, &out.fd);
        out_pid = seg_fork(outside, &out, 0, &fd);
        close(out.fd);
        good = seg_join(in_pid, &skipped);
        if (skipped || !good) {
            seg_kill(out_pid);
        } else {
            good = seg_join(out_pid, NULL);
        }
        close(fd);
        if (skipped) {
            printf("skipped: %s: no such namespaces here\n", name);
            return;
        }
        ck_assert_msg(good, "%s, maker %s: it said why above", name,
                      meeting.maker_is_inside ? "inside" : "outside");
    }
    ck_assert_int_eq(seg_count_names(seg_dir()), 0);
}

START_TEST(posix_reaches_into_pid_namespaces_by_socket)
{
    meet("PID", (meeting_t){SEG_SOCKET, 0, PID_NS, 1});
    meet("PID, IPC, UTS, user", (meeting_t){SEG_SOCKET, 0, ALL_BUT_NET, 1});
}
END_TEST

START_TEST(posix_reaches_into_other_namespaces_by_proc)
{
    meet("IPC", (meeting_t){SEG_MEMFD, 0, CLONE_NEWIPC, 1});
    meet("network", (meeting_t){SEG_MEMFD, 0, CLONE_NEWNET, 1});
    meet("UTS and mount",
         (meeting_t){SEG_MEMFD, 0, CLONE_NEWUTS | CLONE_NEWNS, 1});
}
END_TEST

START_TEST(posix_reaches_anywhere_with_a_folder_in_common)
{
    meet("PID and network, files",
         (meeting_t){SEG_NAMED, 0, PID_NS | CLONE_NEWNET, 1});
    meet("PID and network, files without /proc",
         (meeting_t){SEG_NAME_ONLY, 0, PID_NS | CLONE_NEWNET, 1});
}
END_TEST

START_TEST(posix_says_why_it_cannot)
{
    meet("PID and network",
         (meeting_t){SEG_MEMFD, USE_AUTO, PID_NS | CLONE_NEWNET, 0});
}
END_TEST

START_TEST(sysv_says_why_it_cannot)
{
    meet("IPC", (meeting_t){SEG_SYSV, 0, CLONE_NEWIPC, 0});
    meet("PID", (meeting_t){SEG_SYSV, 0, PID_NS, 0});
    meet("network", (meeting_t){SEG_SYSV, 0, CLONE_NEWNET, 1});
}
END_TEST

/* --- Two independent containers ------------------------------------------- */

static void both_inside(void *arg, int fd)
{
    meeting_t *meeting = arg;
    int other;
    pid_t pid;

    /* This process is in a new PID namespace; its child is in another one
     * within that */
    pid                      = seg_fork(inside, meeting, PID_NS, &other);
    meeting->maker_is_inside = !meeting->maker_is_inside;
    inside(meeting, other);
    EXPECT_TRUE(seg_join(pid, NULL));
}

START_TEST(the_socket_is_there_by_default_in_pid_namespaces)
{
    meeting_t meeting = {SEG_MEMFD, USE_AUTO, 0, 1};
    int fd, skipped;
    pid_t pid;

    snprintf(meeting.dir, sizeof(meeting.dir), "%s", seg_dir());
    for (int i = 0; i < 2; ++i) {
        meeting.maker_is_inside = i;
        pid                     = seg_fork(both_inside, &meeting, PID_NS, &fd);
        ck_assert(seg_join(pid, &skipped));
        close(fd);
        if (skipped) {
            printf("skipped: no PID namespaces here\n");
        }
    }
}
END_TEST

/* --- Descriptors that are used -------------------------------------------- */

static void count_cost(void *arg, int fd)
{
    shm_space_t space;
    shm_seg_t seg;
    int fds = seg_count_fds();

    seg_space_open(&space, SEG_MEMFD, NULL);
    space.use_socket = UCS_AUTO;
    EXPECT_EQ(shm_seg_make(&space, LENGTH, 2, 0, &seg), UCS_OK);
    if (space.pid_ns == 0xeffffffcu) {
        EXPECT_EQ(seg_count_fds(), fds + 1); /* In the initial PID namespace:
                                              * only the memory, no socket */
    }
    shm_seg_close(&seg);
    shm_space_close(&space);
    EXPECT_EQ(seg_count_fds(), fds);
}
SEG_TEST(there_is_no_socket_where_none_is_needed, count_cost)

SEG_SUITE_RUN("segment namespaces", posix_reaches_into_pid_namespaces_by_socket,
              posix_reaches_into_other_namespaces_by_proc,
              posix_reaches_anywhere_with_a_folder_in_common,
              posix_says_why_it_cannot, sysv_says_why_it_cannot,
              the_socket_is_there_by_default_in_pid_namespaces,
              there_is_no_socket_where_none_is_needed)
