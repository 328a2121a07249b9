/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An inbox and a sender when a resource is short: descriptors, address space,
 * file size, space in the file system, memory for a new sender. A failure at
 * any point returns an error, and afterwards there are as many descriptors and
 * files as before. If the receiver has no memory for a new sender, the sender's
 * messages arrive later.
 */
#include "inbox.h"
#include "outbox.h"
#include "seg_side.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SKIPPED = 77, MAX_LENGTH = 8256 };

typedef struct limit {
    const char *name;
    int resource;     /* RLIMIT_* */
    int way;          /* SEG_* (seg_side.h) */
    long first, step; /* The first limit, and the increment of each step: bytes,
                       * or descriptors */
    unsigned steps;   /* Number of limits that are tried */
    int relative;     /* The limits are added to the current use */
} limit_t;

static unsigned delivered; /* Number of messages received in all inboxes */

static ucs_status_t deliver(void *arg, unsigned slot, uint8_t id, void *data,
                            uint32_t length)
{
    ++delivered;
    return UCS_OK;
}

static const shm_inbox_params_t params = {
    .num_slots  = 64,
    .num_cells  = 32,
    .ring_max   = 256 << 10,
    .max_length = MAX_LENGTH,
    .seg_flags  = SHM_SEG_EVENT,
    .deliver    = deliver,
};

/* Sends one message through the ring. Does not retry. */
static ucs_status_t send_long(shm_outbox_t *outbox, uint32_t length)
{
    shm_cell_t *cell;
    ucs_status_t status;
    void *bytes = NULL;

    status = shm_outbox_reserve(outbox, length, length, &cell, &bytes);
    if (status == UCS_OK) {
        memset(bytes, 'x', length);
        shm_outbox_commit(outbox, cell, 1, length);
    }
    return status;
}

/* Opens an inbox and an outbox, sends a short and a long message, and closes
 * everything. Returns UCS_OK, or the status of the first step that failed. */
static ucs_status_t whole_life(int way)
{
    uint8_t address[SHM_ADDRESS_LENGTH];
    unsigned before = delivered;
    shm_space_t space;
    shm_inbox_t inbox;
    shm_outbox_t outbox;
    ucs_status_t status;

    seg_space_open(&space, way, NULL);
    status = shm_inbox_open(&inbox, &space, &params);
    if (status != UCS_OK) {
        goto out;
    }
    shm_seg_address(&inbox.seg, address);
    status = shm_outbox_open(&outbox, &space, address, sizeof(address), NULL,
                             0);
    if (status != UCS_OK) {
        goto out_inbox;
    }
    status = shm_outbox_send(&outbox, 1, "hello", 5);
    if (status == UCS_OK) {
        shm_inbox_progress(&inbox, deliver);
        status = (delivered == before + 1) ? UCS_OK : UCS_ERR_NO_MEMORY;
    }
    if (status == UCS_OK) {
        status = send_long(&outbox, MAX_LENGTH);
        shm_inbox_progress(&inbox, deliver);
    }
    shm_outbox_close(&outbox);
    shm_inbox_progress(&inbox, deliver);
out_inbox:
    shm_inbox_close(&inbox);
out:
    shm_space_close(&space);
    return status;
}

static rlim_t in_use(int resource)
{
    unsigned long pages = 0;
    FILE *file;

    if (resource == RLIMIT_NOFILE) {
        return (rlim_t)seg_count_fds() - 3; /* Without the descriptor of the
                                             * listing, "." and ".." */
    }
    file = fopen("/proc/self/statm", "r");
    EXPECT_TRUE(file != NULL);
    EXPECT_EQ(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void climb(void *arg, int fd)
{
    const limit_t *limit = arg;
    unsigned i, good = 0, bad = 0, errors;
    struct rlimit before, now;
    ucs_status_t status;
    int fds;

    EXPECT_EQ(whole_life(limit->way), UCS_OK);
    fds = seg_count_fds();
    EXPECT_EQ(getrlimit((unsigned)limit->resource, &before), 0);
    for (i = 0; i < limit->steps; ++i) {
        now          = before;
        now.rlim_cur = (limit->relative ? in_use(limit->resource) : 0) +
                       (rlim_t)(limit->first + (long)i * limit->step);
        errors = seg_host_errors();
        EXPECT_EQ(setrlimit((unsigned)limit->resource, &now), 0);
        status = whole_life(limit->way);
        EXPECT_EQ(setrlimit((unsigned)limit->resource, &before), 0);
        EXPECT_EQ(seg_count_fds(), fds);
        if (status == UCS_OK) {
            ++good;
            continue;
        }
        ++bad;
        /* Each failure is logged, except that shm_outbox_open() passes the
         * reason of UCS_ERR_UNREACHABLE to its caller instead */
        EXPECT_TRUE((status == UCS_ERR_UNREACHABLE) ||
                    (seg_host_errors() > errors));
    }
    printf("%s: %u times too little, %u times enough\n", limit->name, bad,
           good);
    EXPECT_GE(bad, 1);
    EXPECT_GE(good, 1);
}

/* Mounts a file system of 100 KiB: enough for some senders, and for some of the
 * rings that long messages need. */
static void full_folder(void *arg, int fd)
{
    const char *dir = seg_dir();
    shm_space_t space;
    shm_inbox_t inbox;
    shm_outbox_t outboxes[32];
    uint8_t address[SHM_ADDRESS_LENGTH];
    unsigned num, i, before, fits = 0;
    ucs_status_t status;

    if ((mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) ||
        (mount("full", dir, "tmpfs", 0, "size=100k") != 0)) {
        _exit(SKIPPED);
    }
    seg_space_open(&space, SEG_NAMED, dir);
    EXPECT_EQ(shm_inbox_open(&inbox, &space, &params), UCS_OK);
    shm_seg_address(&inbox.seg, address);
    for (num = 0; num < 32; ++num) {
        EXPECT_EQ(shm_outbox_open(&outboxes[num], &space, address,
                                  sizeof(address), NULL, 0),
                  UCS_OK);
        status = shm_outbox_send(&outboxes[num], 1, "hello", 5);
        if (status != UCS_OK) {
            EXPECT_EQ(status, UCS_ERR_NO_MEMORY);
            shm_outbox_close(&outboxes[num]);
            break;
        }
    }
    EXPECT_GE(num, 2);
    EXPECT_GE(31, num);
    EXPECT_GE(seg_host_errors(), 1);
    before = delivered;
    shm_inbox_progress(&inbox, deliver);
    EXPECT_EQ(delivered, before + num);

    /* Joined senders can still send messages that fit a cell. A longer message
     * may fail, but not with NO_RESOURCE, because space will never be
     * available. */
    shm_outbox_close(&outboxes[--num]);
    shm_inbox_progress(&inbox, deliver);
    for (i = 0; i < 200; ++i) {
        before = delivered;
        status = send_long(&outboxes[i % num], 100 + (i * 41) % 8000);
        if (status == UCS_OK) {
            ++fits;
        } else {
            EXPECT_EQ(status, UCS_ERR_NO_MEMORY);
        }
        EXPECT_EQ(shm_outbox_send(&outboxes[i % num], 1, "short", 5), UCS_OK);
        shm_inbox_progress(&inbox, deliver);
        EXPECT_EQ(delivered, before + 1 + (status == UCS_OK));
    }
    printf("full folder: %u senders, %u of 200 long messages\n", num, fits);

    for (i = 0; i < num; ++i) {
        shm_outbox_close(&outboxes[i]);
    }
    shm_inbox_close(&inbox);
    shm_space_close(&space);
    EXPECT_EQ(seg_count_names(dir), 0);
}

static int no_memory; /* Makes calloc() fail; see --wrap in meson.build */

void *__real_calloc(size_t number, size_t size);
void *__wrap_calloc(size_t number, size_t size);

void *__wrap_calloc(size_t number, size_t size)
{
    return no_memory ? NULL : __real_calloc(number, size);
}

/* A new sender notifies the receiver only once. If the receiver has no memory
 * for the sender at that time, the receiver must not sleep, and must receive
 * the message as soon as there is memory. */
static void join_late(void *arg, int fd)
{
    uint8_t address[SHM_ADDRESS_LENGTH];
    shm_space_t space;
    shm_inbox_t inbox;
    shm_outbox_t outbox;
    unsigned i;

    seg_space_open(&space, SEG_MEMFD, NULL);
    EXPECT_EQ(shm_inbox_open(&inbox, &space, &params), UCS_OK);
    shm_seg_address(&inbox.seg, address);
    EXPECT_EQ(shm_outbox_open(&outbox, &space, address, sizeof(address), NULL,
                              0),
              UCS_OK);
    EXPECT_EQ(shm_outbox_send(&outbox, 1, "hello", 5), UCS_OK);

    delivered = 0;
    no_memory = 1;
    for (i = 0; i < 3; ++i) {
        EXPECT_EQ(shm_inbox_progress(&inbox, deliver), 0);
        EXPECT_EQ(shm_inbox_arm(&inbox), UCS_ERR_BUSY);
        shm_inbox_disarm(&inbox);
    }
    no_memory = 0;
    for (i = 0; (i < 3) && (delivered == 0); ++i) {
        shm_inbox_progress(&inbox, deliver);
    }
    EXPECT_EQ(delivered, 1);

    shm_outbox_close(&outbox);
    shm_inbox_close(&inbox);
    shm_space_close(&space);
}

static void run(void (*body)(void *arg, int fd), const void *arg, int spaces,
                const char *name)
{
    int fd, skipped;
    pid_t pid = seg_fork(body, (void *)arg, spaces, &fd);

    if (!seg_join(pid, &skipped)) {
        exit(1);
    }
    if (skipped) {
        printf("%s: not here, the system refuses what the test needs\n", name);
    }
    close(fd);
}

int main(void)
{
    static const limit_t limits[] = {
        {"descriptors, posix", RLIMIT_NOFILE, SEG_MEMFD, -3, 1, 15, 1},
        {"descriptors, files", RLIMIT_NOFILE, SEG_NAMED, -3, 1, 15, 1},
        {"descriptors, sysv", RLIMIT_NOFILE, SEG_SYSV, -3, 1, 12, 1},
#if !defined(__SANITIZE_ADDRESS__)
        {"address space, posix", RLIMIT_AS, SEG_MEMFD, 0, 16384, 400, 1},
        {"address space, sysv", RLIMIT_AS, SEG_SYSV, 0, 512 << 10, 100, 1},
#endif
        {"file size, posix", RLIMIT_FSIZE, SEG_MEMFD, 0, 4 << 20, 12, 0},
        {"file size, files", RLIMIT_FSIZE, SEG_NAMED, 0, 4 << 20, 12, 0},
    };
    unsigned i;

    (void)seg_dir();
    for (i = 0; i < sizeof(limits) / sizeof(limits[0]); ++i) {
        run(climb, &limits[i], 0, limits[i].name);
    }
    run(full_folder, NULL, CLONE_NEWNS, "full folder");
    run(join_late, NULL, 0, "memory for a sender");
    return 0;
}
