/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of the segment tests: see seg_side.h. */
#include "child.h"
#include "seg_side.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUT_MS 30000
#define SKIPPED    77

/* --- Folders -------------------------------------------------------------- */

static char test_dir[] = "/dev/shm/ucx-test-XXXXXX";
static pid_t test_dir_owner;

static void remove_dir(void)
{
    if (getpid() == test_dir_owner) {
        rmdir(test_dir);
    }
}

const char *seg_dir(void)
{
    if (test_dir_owner == 0) {
        EXPECT_TRUE(mkdtemp(test_dir) != NULL);
        test_dir_owner = getpid();
        atexit(remove_dir);
    }
    return test_dir;
}

void seg_die(const char *file, int line, const char *what, long long a,
             long long b)
{
    fprintf(stderr, "%s:%d: expected %s: %lld and %lld (process %d)\n", file,
            line, what, a, b, (int)getpid());
    fflush(stderr);
    remove_dir();
    _exit(1);
}

/* --- The host ------------------------------------------------------------- */

static int log_level = UCS_LOG_LEVEL_ERROR;
static unsigned errors;
static char last_error[512];

static void __attribute__((format(printf, 4, 5)))
host_log(int level, const char *file, int line, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(last_error, sizeof(last_error), format, ap);
    va_end(ap);
    ++errors;
    if (getenv("SHM_TEST_LOG") != NULL) {
        fprintf(stderr, "%s:%d %s\n", file, line, last_error);
    }
}

double seg_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static uint64_t host_guid(void)
{
    return 4711;
}

const ucx_host_t *seg_host(void)
{
    static const ucx_host_t host = {
        .size         = sizeof(host),
        .abi          = UCX_PLUGIN_ABI_VERSION,
        .log_level    = &log_level,
        .log          = host_log,
        .machine_guid = host_guid,
        .time         = seg_now,
    };

    return &host;
}

unsigned seg_host_errors(void)
{
    return errors;
}

const char *seg_host_last_error(void)
{
    return last_error;
}

/* --- Spaces --------------------------------------------------------------- */

const seg_way_t seg_ways[SEG_NUM_WAYS] = {
    [SEG_MEMFD]     = {"memfd by /proc", &shm_kind_posix, UCS_NO, 1, UCS_NO},
    [SEG_SOCKET]    = {"memfd by socket", &shm_kind_posix, UCS_NO, 0, UCS_YES},
    [SEG_NAMED]     = {"file by /proc", &shm_kind_posix, UCS_YES, 1, UCS_NO},
    [SEG_NAME_ONLY] = {"file by name", &shm_kind_posix, UCS_YES, 0, UCS_NO},
    [SEG_SYSV]      = {"System V", &shm_kind_sysv, UCS_NO, 1, UCS_NO},
};

void seg_space_open(shm_space_t *space, int way, const char *dir)
{
    const seg_way_t *settings = &seg_ways[way];

    EXPECT_EQ(shm_space_open(space, seg_host(), settings->kind), UCS_OK);
    space->use_names  = settings->use_names;
    space->use_proc   = settings->use_proc;
    space->use_socket = settings->use_socket;
    space->dir        = (dir != NULL) ? dir : seg_dir();
}

/* --- Processes ------------------------------------------------------------ */

static void write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    EXPECT_GE(fd, 0);
    EXPECT_EQ(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

/* Maps root in the new user namespace to the present user. */
static void map_user(unsigned uid, unsigned gid)
{
    char text[64];

    snprintf(text, sizeof(text), "0 %u 1", uid);
    write_text("/proc/self/uid_map", text);
    write_text("/proc/self/setgroups", "deny");
    snprintf(text, sizeof(text), "0 %u 1", gid);
    write_text("/proc/self/gid_map", text);
}

static void mount_proc(void)
{
    EXPECT_EQ(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
    if (mount("proc", "/proc", "proc", 0, NULL) != 0) {
        _exit(SKIPPED);
    }
}

static void enter(int namespaces)
{
    unsigned uid = geteuid(), gid = getegid();
    int status;
    pid_t pid;

    if (unshare(namespaces) != 0) {
        _exit(SKIPPED);
    }
    if (namespaces & CLONE_NEWUSER) {
        map_user(uid, gid);
    }
    if (!(namespaces & CLONE_NEWPID)) {
        return;
    }

    /* unshare() puts only later children into the new PID namespace: the first
     * of them runs the body, and this process waits for it */
    pid = fork();
    EXPECT_GE(pid, 0);
    if (pid > 0) {
        EXPECT_EQ(waitpid(pid, &status, 0), pid);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (namespaces & CLONE_NEWNS) {
        mount_proc();
    }
}

pid_t seg_fork(void (*body)(void *arg, int fd), void *arg, int namespaces,
               int *fd_p)
{
    int fds[2];
    pid_t pid;

    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    pid = child_fork();
    if (pid == 0) {
        close(fds[0]);
        if (namespaces != 0) {
            enter(namespaces);
        }
        body(arg, fds[1]);
        exit(0);
    }
    close(fds[1]);
    *fd_p = fds[0];
    return pid;
}

int seg_join(pid_t pid, int *skipped_p)
{
    int status, skipped;

    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    skipped = WIFEXITED(status) && (WEXITSTATUS(status) == SKIPPED);
    if (skipped_p != NULL) {
        *skipped_p = skipped;
    }
    return skipped || (WIFEXITED(status) && (WEXITSTATUS(status) == 0));
}

void seg_kill(pid_t pid)
{
    EXPECT_EQ(kill(pid, SIGKILL), 0);
    EXPECT_EQ(waitpid(pid, NULL, 0), pid);
}

void seg_write(int fd, const void *data, size_t length)
{
    EXPECT_EQ(send(fd, data, length, MSG_NOSIGNAL), length);
}

void seg_read(int fd, void *data, size_t length)
{
    struct pollfd pfd = {.fd = fd, .events = POLLIN};

    EXPECT_EQ(poll(&pfd, 1, TIMEOUT_MS), 1);
    EXPECT_EQ(recv(fd, data, length, MSG_WAITALL), length);
}

void seg_signal(int fd)
{
    seg_write(fd, "s", 1);
}

void seg_await(int fd)
{
    char byte;

    seg_read(fd, &byte, 1);
}

/* --- Counting ------------------------------------------------------------- */

static int count_entries(const char *path, const char *prefix)
{
    DIR *dir  = opendir(path);
    int count = 0;
    struct dirent *entry;

    EXPECT_TRUE(dir != NULL);
    while ((entry = readdir(dir)) != NULL) {
        count += (strncmp(entry->d_name, prefix, strlen(prefix)) == 0);
    }
    closedir(dir);
    return count;
}

int seg_count_fds(void)
{
    return count_entries("/proc/self/fd", "");
}

int seg_await_fds(int count)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    double end                  = seg_now() + TIMEOUT_MS * 1e-3;
    int now;

    while (((now = seg_count_fds()) != count) && (seg_now() < end)) {
        nanosleep(&pause, NULL);
    }
    return now;
}

int seg_count_names(const char *dir)
{
    return count_entries(dir, "ucx-shm-");
}

int seg_sysv_exists(int id)
{
    struct shmid_ds ds;

    return shmctl(id, IPC_STAT, &ds) == 0;
}

long long seg_memory(const shm_seg_t *seg)
{
    struct stat st;

    EXPECT_EQ(fstat(seg->fd, &st), 0);
    return (long long)st.st_blocks * 512;
}
