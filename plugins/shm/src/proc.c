/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries /proc, and opens files through it; and commits memory without the
 * risk of a signal.
 */
#include "kind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Compares the PID in /proc/self with our own: /proc may belong to another PID
 * namespace, where our PIDs identify other processes. */
void shm_proc_probe(shm_space_t *space)
{
    char link[32];
    ssize_t n = readlink("/proc/self", link, sizeof(link) - 1);

    if (n > 0) {
        link[n]         = '\0';
        space->has_proc = (strtol(link, NULL, 10) == (long)getpid());
    }
}

int shm_reopen(int fd, int flags)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, flags | O_CLOEXEC);
}

int shm_proc_open(uint32_t pid, int fd, mode_t type, uint64_t inode,
                  uint64_t mask, int flags)
{
    struct stat st;
    char path[48];
    int handle, own;

    if ((pid == 0) || (pid > INT32_MAX) || (fd < 0)) {
        return -1;
    }

    /* O_PATH does not open the file itself. `handle` refers to the same file
     * from now on, even if the other process reuses its descriptor number, so
     * the checks below are valid for the file that is opened then */
    snprintf(path, sizeof(path), "/proc/%u/fd/%d", pid, fd);
    handle = open(path, O_PATH | O_CLOEXEC);
    if (handle < 0) {
        return -1;
    }

    own = -1;
    if ((fstat(handle, &st) == 0) && ((st.st_mode & S_IFMT) == type) &&
        ((st.st_ino & mask) == (inode & mask))) {
        own = shm_reopen(handle, flags);
    }
    close(handle);
    return own;
}

/* Commits pages on kernels without MADV_POPULATE_WRITE: write() to a pipe reads
 * one byte of each page, and fails with EFAULT where a load would raise a
 * signal. */
static int touch_by_pipe(const char *address, size_t length, size_t page)
{
    char buffer[4096];
    int fds[2], good = 1;
    size_t pending = 0;

    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0) {
        return -1;
    }
    for (size_t at = 0; good && (at < length); at += page) {
        good = (write(fds[1], address + at, 1) == 1);
        if (good && (++pending == sizeof(buffer))) {
            good    = (read(fds[0], buffer, pending) == (ssize_t)pending);
            pending = 0;
        }
    }
    close(fds[0]);
    close(fds[1]);
    return good ? 0 : -1;
}

int shm_populate(void *address, size_t length, size_t page)
{
    int ret;

    do {
        ret = madvise(address, length, MADV_POPULATE_WRITE);
    } while ((ret != 0) && (errno == EINTR));
    if ((ret == 0) || (errno != EINVAL)) {
        return ret;
    }
    return touch_by_pipe(address, length, page);
}
