/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments (segment.h) under faults: no memory, limits, creators that are
 * killed, invalid addresses and heads (the structure at the start of a
 * segment), clients of the creator's socket that send nothing, and peers that
 * resize the memory.
 */
#include "seg_suite.h"
#include "kind.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define LENGTH ((size_t)4 << 20)

/* --- Limits --------------------------------------------------------------- */

/* Body of a process in a mount namespace of its own: mounts a file system of
 * 1 MiB on the folder of the test, and fills it. */
static void fill_folder(void *arg, int fd)
{
    shm_space_t space;
    shm_seg_t seg, more;
    char *mapped;

    EXPECT_EQ(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
    EXPECT_EQ(mount("tmpfs", seg_dir(), "tmpfs", 0, "size=1m"), 0);
    seg_space_open(&space, SEG_NAMED, NULL);
    EXPECT_EQ(shm_seg_make(&space, LENGTH, 1, 0, &seg), UCS_OK);
    mapped = shm_seg_map(&seg, 0, LENGTH);
    EXPECT_TRUE(mapped != NULL);
    EXPECT_EQ(shm_seg_commit(&seg, mapped, 0, 500 << 10), UCS_OK);
    memset(mapped, 1, 500 << 10);

    EXPECT_EQ(seg_host_errors(), 0);
    EXPECT_EQ(shm_seg_commit(&seg, mapped + (1 << 20), 1 << 20, 1 << 20),
              UCS_ERR_NO_MEMORY);
    EXPECT_EQ(seg_host_errors(), 1);
    EXPECT_TRUE(strstr(seg_host_last_error(), "UCX_POSIX_DIR") != NULL);
    EXPECT_EQ(mapped[0], 1);
    EXPECT_EQ(shm_seg_commit(&seg, mapped + (1 << 20), 1 << 20, 1 << 20),
              UCS_ERR_NO_MEMORY);
    EXPECT_EQ(seg_host_errors(), 1); /* The lack of memory is reported once */

    /* The failed requests have used nothing: the remaining space is
     * available */
    EXPECT_EQ(shm_seg_commit(&seg, mapped + (1 << 20), 1 << 20, 400 << 10),
              UCS_OK);
    memset(mapped + (1 << 20), 2, 400 << 10);
    EXPECT_EQ(shm_seg_commit(&seg, mapped + (2 << 20), 2 << 20, 300 << 10),
              UCS_ERR_NO_MEMORY);
    shm_seg_decommit(&seg, mapped, 0, 500 << 10);
    EXPECT_EQ(shm_seg_commit(&seg, mapped + (2 << 20), 2 << 20, 300 << 10),
              UCS_OK);
    memset(mapped + (2 << 20), 3, 300 << 10);

    /* Fill the file system, so that there is not even space for the head of
     * another segment */
    for (size_t at = 3 << 20; at < LENGTH; at += 4096) {
        if (shm_seg_commit(&seg, mapped + at, at, 4096) != UCS_OK) {
            break;
        }
    }
    EXPECT_EQ(shm_seg_make(&space, LENGTH, 1, 0, &more), UCS_ERR_NO_MEMORY);
    EXPECT_EQ(seg_count_names(seg_dir()), 1);
    shm_seg_unmap(&seg, mapped, LENGTH);
    shm_seg_close(&seg);
    EXPECT_EQ(seg_count_names(seg_dir()), 0);
    EXPECT_EQ(shm_seg_make(&space, LENGTH, 1, 0, &more), UCS_OK);
    shm_seg_close(&more);
    shm_space_close(&space);
}

START_TEST(a_full_file_system_is_an_error_and_no_signal)
{
    int fd, skipped;
    pid_t pid = seg_fork(fill_folder, NULL, CLONE_NEWNS, &fd);

    ck_assert(seg_join(pid, &skipped));
    close(fd);
    if (skipped) {
        printf("skipped: no mount namespace\n");
    }
}
END_TEST

static void exceed_file_size(void *arg, int fd)
{
    const struct rlimit limit = {1 << 20, 1 << 20};
    shm_space_t space;
    shm_seg_t seg;

    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (int way = SEG_MEMFD; way <= SEG_NAMED; ++way) {
        seg_space_open(&space, way, NULL);
        EXPECT_EQ(shm_seg_make(&space, LENGTH, 1, 0, &seg), UCS_ERR_NO_MEMORY);
        EXPECT_TRUE(strstr(seg_host_last_error(), "ulimit -f") != NULL);
        EXPECT_EQ(shm_seg_make(&space, LENGTH / 8, 1, 0, &seg), UCS_OK);
        shm_seg_close(&seg);
        shm_space_close(&space);
    }
    EXPECT_EQ(seg_count_names(seg_dir()), 0);
}
SEG_TEST(the_limit_of_file_sizes_is_an_error_and_no_signal, exceed_file_size)

static void exceed_descriptors(void *arg, int fd)
{
    struct rlimit limit;
    shm_space_t space;
    shm_seg_t seg;
    int before = seg_count_fds();

    for (int way = 0; way < SEG_NUM_WAYS; ++way) {
        seg_space_open(&space, way, NULL);
        EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
        for (rlim_t n = 3; n < 16; ++n) {
            ucs_status_t status;

            limit.rlim_cur = n;
            EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
            status = shm_seg_make(&space, LENGTH, 1, SHM_SEG_EVENT, &seg);
            limit.rlim_cur = limit.rlim_max;
            EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
            if (status == UCS_OK) {
                shm_seg_close(&seg);
            }
        }
        shm_space_close(&space);
    }
    EXPECT_EQ(seg_count_fds(), before);
    EXPECT_EQ(seg_count_names(seg_dir()), 0);
    EXPECT_GE(seg_host_errors(), 1);
}
SEG_TEST(the_limit_of_descriptors_loses_nothing, exceed_descriptors)

static void exceed_address_space(void *arg, int fd)
{
    struct rlimit limit = {0, RLIM_INFINITY};
    FILE *file          = fopen("/proc/self/statm", "r");
    unsigned long pages;
    shm_space_t space;
    shm_seg_t seg;
    void *mapped;

    EXPECT_TRUE((file != NULL) && (fscanf(file, "%lu", &pages) == 1));
    fclose(file);
    limit.rlim_cur = (rlim_t)pages * sysconf(_SC_PAGESIZE) +
                     ((rlim_t)256 << 20);
    EXPECT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    for (int way = 0; way < SEG_NUM_WAYS; ++way) {
        seg_space_open(&space, way, NULL);
        EXPECT_EQ(shm_seg_make_mapped(&space, (size_t)1 << 30, NULL, 0, 0, &seg,
                                      &mapped),
                  UCS_ERR_NO_MEMORY);
        EXPECT_EQ(shm_seg_make_mapped(&space, LENGTH, NULL, 0, 0, &seg,
                                      &mapped),
                  UCS_OK);
        shm_seg_unmap(&seg, mapped, seg.length);
        shm_seg_close(&seg);
        shm_space_close(&space);
    }
    EXPECT_EQ(seg_count_names(seg_dir()), 0);
}
SEG_TEST(the_limit_of_address_space_is_an_error, exceed_address_space)

/* shmget() is forbidden, as in some containers. */
static void make_forbidden(void *arg, int fd)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_shmget, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {
        .len    = sizeof(filter) / sizeof(filter[0]),
        .filter = filter,
    };
    shm_space_t space;
    shm_seg_t seg;

    EXPECT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    EXPECT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    seg_space_open(&space, SEG_SYSV, NULL);
    EXPECT_EQ(shm_seg_make(&space, LENGTH, 1, 0, &seg), UCS_ERR_NO_MEMORY);
    EXPECT_TRUE(strstr(seg_host_last_error(), "forbid") != NULL);
    EXPECT_TRUE(strstr(seg_host_last_error(), "limit") == NULL);
    shm_space_close(&space);
}
SEG_TEST(memory_that_is_forbidden_is_not_called_a_limit, make_forbidden)

START_TEST(a_place_that_is_taken_is_refused)
{
    shm_space_t space;
    shm_seg_t seg;
    void *mapped, *place;

    seg_space_open(&space, _i, NULL);
    place = mmap(NULL, 4 * LENGTH, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                 0);
    ck_assert_ptr_ne(place, MAP_FAILED);
    place = (char *)place + LENGTH;
    ck_assert_int_eq(shm_seg_make_mapped(&space, LENGTH, place, SHM_SEG_FIXED,
                                         0, &seg, &mapped),
                     UCS_ERR_INVALID_ADDR);
    /* Without SHM_SEG_FIXED the address is only a preference */
    ck_assert_int_eq(shm_seg_make_mapped(&space, LENGTH, place, 0, 0, &seg,
                                         &mapped),
                     UCS_OK);
    ck_assert_ptr_ne(mapped, place);
    shm_seg_unmap(&seg, mapped, seg.length);
    shm_seg_close(&seg);

    munmap((char *)place - LENGTH, 4 * LENGTH);
    ck_assert_int_eq(shm_seg_make_mapped(&space, LENGTH, place, SHM_SEG_FIXED,
                                         0, &seg, &mapped),
                     UCS_OK);
    ck_assert_ptr_eq(mapped, place);
    shm_seg_unmap(&seg, mapped, seg.length);
    shm_seg_close(&seg);
    shm_space_close(&space);
}
END_TEST

/* --- Killed creators ------------------------------------------------------ */

typedef struct made {
    uint8_t address[SHM_ADDRESS_LENGTH];
    int sysv_id;
} made_t;

static void make_and_wait(void *arg, int fd)
{
    made_t made = {.sysv_id = -1};
    shm_space_t space;
    shm_seg_t seg;

    seg_space_open(&space, *(int *)arg, NULL);
    EXPECT_EQ(shm_seg_make(&space, LENGTH, 1, SHM_SEG_EVENT, &seg), UCS_OK);
    shm_seg_address(&seg, made.address);
    made.sysv_id = seg.sysv_id;
    seg_write(fd, &made, sizeof(made));
    pause();
}

/* Body of a creator that is killed before it marks the segment for removal. */
static void make_no_mark(void *arg, int fd)
{
    int id = shm_sysv_get(LENGTH, 0600);

    EXPECT_GE(id, 0);
    seg_write(fd, &id, sizeof(id));
    pause();
}

START_TEST(a_segment_without_mark_goes_with_the_next_process)
{
    struct shmid_ds ds;
    shm_space_t space;
    shm_seg_t seg;
    int fd, id;
    pid_t pid = seg_fork(make_no_mark, NULL, 0, &fd);

    seg_read(fd, &id, sizeof(id));
    shm_sysv_remove_stale();
    ck_assert_int_eq(shmctl(id, IPC_STAT, &ds), 0); /* It still exists, because
                                                     * its creator is alive */
    seg_kill(pid);
    close(fd);
    ck_assert_int_eq(shmctl(id, IPC_STAT, &ds), 0);

    seg_space_open(&space, SEG_SYSV, NULL);
    ck_assert_int_eq(shm_seg_make(&space, LENGTH, 1, 0, &seg), UCS_OK);
    ck_assert_int_ne(shmctl(id, IPC_STAT, &ds), 0);
    shm_seg_close(&seg);
    shm_space_close(&space);
}
END_TEST

START_TEST(resources_of_a_killed_creator_are_removed)
{
    int fd, way = _i;
    shm_space_t space, later;
    shm_seg_t seg;
    made_t made;
    pid_t pid;

    /* The creator has a peer (this process), which detects that it has exited
     * and removes the files */
    seg_space_open(&space, way, NULL);
    pid = seg_fork(make_and_wait, &way, 0, &fd);
    seg_read(fd, &made, sizeof(made));
    ck_assert_int_eq(shm_seg_attach(&space, made.address, sizeof(made.address),
                                    &seg, NULL, 0),
                     UCS_OK);
    ck_assert(shm_seg_is_locked(&seg, 0));
    seg_kill(pid);
    close(fd);
    ck_assert(!shm_seg_is_locked(&seg, 0));
    ck_assert_int_eq(seg_count_names(seg_dir()), 0);
    shm_seg_close(&seg);
    ck_assert(!seg_sysv_exists(made.sysv_id));
    ck_assert_int_eq(shm_seg_attach(&space, made.address, sizeof(made.address),
                                    &seg, NULL, 0),
                     UCS_ERR_UNREACHABLE);

    /* The creator has no peer: the next process that creates a segment removes
     * the files */
    pid = seg_fork(make_and_wait, &way, 0, &fd);
    seg_read(fd, &made, sizeof(made));
    seg_kill(pid);
    close(fd);
    seg_space_open(&later, way, NULL);
    ck_assert_int_eq(shm_seg_make(&later, LENGTH, 1, 0, &seg), UCS_OK);
    shm_seg_close(&seg);
    ck_assert_int_eq(seg_count_names(seg_dir()), 0);
    ck_assert(!seg_sysv_exists(made.sysv_id));
    shm_space_close(&later);
    shm_space_close(&space);
}
END_TEST

START_TEST(a_sweep_keeps_segments_in_use)
{
    int fd, way = SEG_NAMED;
    shm_space_t space;
    shm_seg_t seg, other;
    made_t made;
    pid_t pid;

    pid = seg_fork(make_and_wait, &way, 0, &fd);
    seg_read(fd, &made, sizeof(made));
    seg_space_open(&space, way, NULL);
    ck_assert_int_eq(shm_seg_make(&space, LENGTH, 1, 0, &seg), UCS_OK);
    ck_assert_int_eq(seg_count_names(seg_dir()), 3); /* Two segments, and a FIFO
                                                      * for the event of the
                                                      * first */
    ck_assert_int_eq(shm_seg_attach(&space, made.address, sizeof(made.address),
                                    &other, NULL, 0),
                     UCS_OK);
    shm_seg_close(&other);
    shm_seg_close(&seg);
    shm_space_close(&space);
    seg_kill(pid);
    close(fd);
}
END_TEST

/* --- Invalid data --------------------------------------------------------- */

static uint64_t random_state = 88172645463325252ull;

static uint32_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 16);
}

START_TEST(forged_addresses_are_refused)
{
    uint8_t good[SHM_ADDRESS_LENGTH], address[SHM_ADDRESS_LENGTH + 8];
    unsigned attached = 0, refused = 0;
    shm_space_t space;
    shm_seg_t seg, other;
    char reason[64];
    int fds;

    seg_space_open(&space, _i, NULL);
    ck_assert_int_eq(shm_seg_make(&space, LENGTH, 2, SHM_SEG_EVENT, &seg),
                     UCS_OK);
    shm_seg_address(&seg, good);
    fds = seg_count_fds();
    for (int i = 0; i < 3000; ++i) {
        size_t length = sizeof(good);

        memcpy(address, good, sizeof(good));
        for (unsigned n = next_random() % 4; n > 0; --n) {
            address[next_random() % sizeof(good)] = (uint8_t)next_random();
        }
        if (next_random() % 8 == 0) {
            length = next_random() % (sizeof(good) + 1);
        }
        memset(reason, 'x', sizeof(reason));
        if (shm_seg_attach(&space, address, length, &other, reason,
                           sizeof(reason)) == UCS_OK) {
            ck_assert_int_eq(memcmp(other.token, seg.token, SHM_TOKEN_LENGTH),
                             0);
            shm_seg_close(&other);
            ++attached;
        } else {
            ck_assert_int_lt(strnlen(reason, sizeof(reason)), sizeof(reason));
            ++refused;
        }
    }
    ck_assert_int_gt(attached, 100);
    ck_assert_int_gt(refused, 1000);
    ck_assert_int_eq(seg_await_fds(fds), fds);
    shm_seg_close(&seg);
    shm_space_close(&space);
}
END_TEST

/* Returns a connection to the creator's socket. */
static int connect_to_maker(const shm_seg_t *seg)
{
    int sock                = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    char *at                = name.sun_path + 1;

    at += sprintf(at, "ucx-shm-");
    for (int i = 0; i < 4; ++i) {
        at += sprintf(at, "%02x", seg->token[i]);
    }
    ck_assert_int_ge(sock, 0);
    ck_assert_int_eq(connect(sock, (struct sockaddr *)&name,
                             (socklen_t)(at - (char *)&name)),
                     0);
    return sock;
}

static volatile sig_atomic_t num_alarms;

static void on_alarm(int signo)
{
    ++num_alarms;
}

static void set_alarms(suseconds_t usec)
{
    const struct itimerval timer   = {{0, usec}, {0, usec}};
    const struct sigaction counted = {
        .sa_handler = on_alarm,
        .sa_flags   = SA_RESTART,
    };

    ck_assert_int_eq(sigaction(SIGALRM, &counted, NULL), 0);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

/* Opens more connections to the creator than it serves at once, and sends no
 * request over them. The creator still serves others. If the loop variable _i
 * is 1, this thread also receives a signal every 20 ms. */
START_TEST(silent_clients_delay_no_other_client)
{
    uint8_t address[SHM_ADDRESS_LENGTH];
    shm_space_t space;
    shm_seg_t seg, other;
    int silent[12], fds;

    seg_space_open(&space, SEG_SOCKET, NULL);
    ck_assert_int_eq(shm_seg_make(&space, LENGTH, 2, 0, &seg), UCS_OK);
    shm_seg_address(&seg, address);
    fds = seg_count_fds();
    for (int i = 0; i < 12; ++i) {
        silent[i] = connect_to_maker(&seg);
    }
    num_alarms = 0;
    set_alarms(_i * 20000);
    for (int i = 0; i < 20; ++i) {
        ck_assert_int_eq(shm_seg_attach(&space, address, sizeof(address),
                                        &other, NULL, 0),
                         UCS_OK);
        shm_seg_close(&other);
    }
    set_alarms(0);
    ck_assert_int_eq(num_alarms > 0, _i);
    for (int i = 0; i < 12; ++i) {
        close(silent[i]);
    }
    ck_assert_int_eq(seg_await_fds(fds), fds);
    shm_seg_close(&seg);
    shm_space_close(&space);
}
END_TEST

static uint8_t *put_number(uint8_t *at, uint32_t value)
{
    for (; value >= 0x80; value >>= 7) {
        *at++ = (uint8_t)(value | 0x80);
    }
    *at++ = (uint8_t)value;
    return at;
}

/* Makes an address (kind.h) of a posix segment of this process name another
 * descriptor of this process. */
static void name_descriptor(uint8_t *address, int fd)
{
    struct stat st;

    ck_assert_int_eq(fstat(fd, &st), 0);
    for (int i = 0; i < 4; ++i) {
        address[1 + i] = (uint8_t)(st.st_ino >> (8 * i));
    }
    memset(address + 5, 0, 10);
    put_number(put_number(address + 5, (uint32_t)getpid()), (uint32_t)fd);
}

/* The address names a FIFO of this process instead of the segment. It must not
 * be opened: this would be visible at the other end of the FIFO. */
START_TEST(an_address_opens_nothing_but_segments)
{
    uint8_t address[SHM_ADDRESS_LENGTH], good[SHM_ADDRESS_LENGTH];
    shm_space_t space;
    shm_seg_t seg, other;
    struct pollfd pfd;
    char path[128];
    int fifo;

    seg_space_open(&space, SEG_MEMFD, NULL);
    ck_assert_int_eq(shm_seg_make(&space, LENGTH, 2, 0, &seg), UCS_OK);
    shm_seg_address(&seg, good);

    snprintf(path, sizeof(path), "%s/fifo", seg_dir());
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    fifo = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ck_assert_int_ge(fifo, 0);
    memcpy(address, good, sizeof(address));
    name_descriptor(address, fifo);
    ck_assert_int_eq(shm_seg_attach(&space, address, sizeof(address), &other,
                                    NULL, 0),
                     UCS_ERR_UNREACHABLE);
    pfd = (struct pollfd){.fd = fifo, .events = POLLIN};
    ck_assert_int_eq(poll(&pfd, 1, 0), 0); /* Otherwise a writer has opened and
                                            * closed the FIFO */

    /* name_descriptor() knows the layout of addresses: it restores this one */
    name_descriptor(address, seg.fd);
    ck_assert_mem_eq(address, good, sizeof(address));
    close(fifo);
    unlink(path);
    shm_seg_close(&seg);
    shm_space_close(&space);
}
END_TEST

/* Changes one member of a segment's head to an invalid value, and attaches the
 * segment. */
START_TEST(segments_with_forged_heads_are_rejected)
{
    shm_space_t space;
    shm_seg_t seg, other;
    uint8_t address[SHM_ADDRESS_LENGTH];
    shm_seg_head_t *head, good;
    uint64_t lengths[] = {0,          1,
                          4096,       LENGTH - 4096,
                          LENGTH + 1, LENGTH + 4096,
                          UINT64_MAX, UINT64_MAX - 4095,
                          1ull << 63};
    uint64_t pages[]   = {0, 1, 2048, 4097, 8192, 1ull << 40, UINT64_MAX};
    uint32_t locks[]   = {0, UINT32_MAX, 1u << 21};

    seg_space_open(&space, _i, NULL);
    ck_assert_int_eq(shm_seg_make(&space, LENGTH, 2, 0, &seg), UCS_OK);
    shm_seg_address(&seg, address);
    head = seg.head;
    if (head == NULL) {
        head = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, seg.fd, 0);
        ck_assert_ptr_ne(head, MAP_FAILED);
    }
    good = *head;

#define REFUSED(_member, _value) \
    do { \
        head->_member = (_value); \
        ck_assert_int_eq(shm_seg_attach(&space, address, sizeof(address), \
                                        &other, NULL, 0), \
                         UCS_ERR_UNREACHABLE); \
        head->_member = good._member; \
    } while (0)

    for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); ++i) {
        REFUSED(length, lengths[i]);
    }
    for (unsigned i = 0; i < sizeof(pages) / sizeof(pages[0]); ++i) {
        REFUSED(page, pages[i]);
    }
    for (unsigned i = 0; i < sizeof(locks) / sizeof(locks[0]); ++i) {
        REFUSED(num_locks, locks[i]);
    }
    REFUSED(magic, 0);
    REFUSED(version, 2);
    REFUSED(token[11], (uint8_t)(good.token[11] + 1));

    ck_assert_int_eq(shm_seg_attach(&space, address, sizeof(address), &other,
                                    NULL, 0),
                     UCS_OK);
    shm_seg_close(&other);
    if (head != seg.head) {
        munmap(head, 4096);
    }
    shm_seg_close(&seg);
    shm_space_close(&space);
}
END_TEST

/* A peer cannot change the size of memory without a name (memfd). */
START_TEST(a_peer_cannot_cut_the_memory_off)
{
    shm_space_t space;
    shm_seg_t seg, other;
    uint8_t address[SHM_ADDRESS_LENGTH];

    seg_space_open(&space, SEG_MEMFD, NULL);
    ck_assert_int_eq(shm_seg_make(&space, LENGTH, 2, 0, &seg), UCS_OK);
    shm_seg_address(&seg, address);
    ck_assert_int_eq(shm_seg_attach(&space, address, sizeof(address), &other,
                                    NULL, 0),
                     UCS_OK);
    ck_assert_int_eq(ftruncate(other.fd, 0), -1);
    ck_assert_int_eq(errno, EPERM);
    ck_assert_int_eq(ftruncate(other.fd, 16 * LENGTH), -1);
    shm_seg_close(&other);
    shm_seg_close(&seg);
    shm_space_close(&space);
}
END_TEST

int main(void)
{
    Suite *suite    = suite_create("segment faults");
    TCase *limits   = tcase_create("limits");
    TCase *lies     = tcase_create("lies");
    TCase *kills    = tcase_create("kills");
    SRunner *runner = srunner_create(suite);
    int failed;

    (void)seg_dir();
    tcase_add_test(limits, a_full_file_system_is_an_error_and_no_signal);
    tcase_add_test(limits, the_limit_of_file_sizes_is_an_error_and_no_signal);
    tcase_add_test(limits, the_limit_of_descriptors_loses_nothing);
    tcase_add_test(limits, the_limit_of_address_space_is_an_error);
    tcase_add_test(limits, memory_that_is_forbidden_is_not_called_a_limit);
    tcase_add_loop_test(limits, a_place_that_is_taken_is_refused, 0,
                        SEG_NUM_WAYS);
    tcase_add_loop_test(kills, resources_of_a_killed_creator_are_removed, 0,
                        SEG_NUM_WAYS);
    tcase_add_test(kills, a_segment_without_mark_goes_with_the_next_process);
    tcase_add_test(kills, a_sweep_keeps_segments_in_use);
    tcase_add_loop_test(lies, forged_addresses_are_refused, 0, SEG_NUM_WAYS);
    tcase_add_loop_test(lies, silent_clients_delay_no_other_client, 0, 2);
    tcase_add_test(lies, an_address_opens_nothing_but_segments);
    tcase_add_loop_test(lies, segments_with_forged_heads_are_rejected, 0,
                        SEG_NUM_WAYS);
    tcase_add_test(lies, a_peer_cannot_cut_the_memory_off);
    suite_add_tcase(suite, limits);
    suite_add_tcase(suite, kills);
    suite_add_tcase(suite, lies);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
