/* SPDX-License-Identifier: BSD-3-Clause */
/* See fd_client.h. */
#include "fd_client.h"

#include <check.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

void forbid_duplicates(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_getfd, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {4, filter};

    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    ck_assert_int_eq(syscall(SYS_pidfd_getfd, -1, 0, 0), -1);
    ck_assert_int_eq(errno, EPERM);
}

int connect_to(const char *packed_key)
{
    const unsigned char *key = (const unsigned char *)packed_key;
    const unsigned number    = ((key[3] & 0xfu) << 16) | (key[7] << 8) | key[6];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd                     = socket(AF_UNIX, SOCK_DGRAM, 0);

    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)),
                     0);
    snprintf(address.sun_path + 1, 6, "%05x", number);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address,
                             offsetof(struct sockaddr_un, sun_path) + 6),
                     0);
    return fd;
}

void send_key(int fd, const char *packed_key, uid_t user)
{
    const size_t length = 112;
    pid_t pid           = fork();
    int status;

    if (pid == 0) {
        _exit(!(((user == 0) || (setuid(user) == 0)) &&
                (send(fd, packed_key, length, 0) == (ssize_t)length)));
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}
