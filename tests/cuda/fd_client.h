/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that may not duplicate descriptors, and requests to the socket of an
 * exporter that the plugin would not send. */
#ifndef TEST_CUDA_FD_CLIENT_H
#define TEST_CUDA_FD_CLIENT_H

#include <sys/types.h>

/* The kernel rejects pidfd_getfd in this process from now on, as it does with
 * kernel.yama.ptrace_scope=1. */
void forbid_duplicates(void);

/* Returns a socket that is connected to that of the key. */
int connect_to(const char *packed_key);

/* Sends the key, by a process of another user if `user` is not 0. */
void send_key(int fd, const char *packed_key, uid_t user);

#endif
