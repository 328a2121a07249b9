/* SPDX-License-Identifier: BSD-3-Clause */
/* Child processes of a test. The kernel kills them when their parent exits. */
#ifndef SHM_TEST_CHILD_H
#define SHM_TEST_CHILD_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static inline void child_need(int condition, const char *what)
{
    if (!condition) {
        perror(what);
        abort();
    }
}

/* Like fork(), but aborts on failure, and the child is killed when the parent
 * exits. */
static inline pid_t child_fork(void)
{
    pid_t parent = getpid(), pid;

    fflush(NULL);
    pid = fork();
    child_need(pid >= 0, "fork");
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1); /* The parent exited before prctl() */
        }
    }
    return pid;
}

/* Runs body(arg, fd) in a child process, which exits when body() returns. `fd`
 * and *fd_p are the two ends of a socket pair: *fd_p is for the parent. Returns
 * the child's PID. */
static inline pid_t child_start(void (*body)(void *arg, int fd), void *arg,
                                int *fd_p)
{
    int fds[2];
    pid_t pid;

    child_need(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0,
               "socketpair");
    pid = child_fork();
    if (pid == 0) {
        close(fds[0]);
        body(arg, fds[1]);
        exit(0);
    }
    close(fds[1]);
    *fd_p = fds[0];
    return pid;
}

#endif
