/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detects whether a process of this host still exists. A process id alone is
 * not sufficient, because the kernel reuses it for another process: compare the
 * start time as well.
 */
#ifndef UCX_PROCESS_H
#define UCX_PROCESS_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ucx/abi.h>

UCX_BEGIN_DECLS

/**
 * Returns the start time of a process, in clock ticks since the start of the
 * system; 0 if there is no such process, or if it has ended and its parent has
 * not waited for it. *known_p is 1. If /proc is not mounted, or if
 * /proc/<pid>/stat exists but cannot be read, *known_p and the result are 0.
 * `pid` is a process of the caller's PID namespace, to which /proc must belong.
 * Makes a few system calls. Thread-safe.
 */
static inline uint64_t ucx_process_start_time(uint32_t pid, int *known_p)
{
    char path[32], text[1024];
    unsigned long long start;
    const char *end;
    ssize_t length;
    char state;
    int fd;

    *known_p = 1;
    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        *known_p = (errno == ENOENT) && (access("/proc/self/stat", F_OK) == 0);
        return 0;
    }
    length = read(fd, text, sizeof(text) - 1);
    if (length <= 0) {
        *known_p = (length < 0) && (errno == ESRCH);
        close(fd);
        return 0;
    }
    close(fd);

    /* The name in parentheses may contain any character: search the last
     * parenthesis */
    text[length] = '\0';
    end          = strrchr(text, ')');
    *known_p     = 0;
    if ((end == NULL) ||
        (sscanf(end + 1,
                " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u "
                "%*d %*d %*d %*d %*d %*d %llu",
                &state, &start) != 2)) {
        return 0;
    }
    *known_p = 1;
    return ((state == 'Z') || (state == 'X')) ? 0 : start;
}

UCX_END_DECLS

#endif
