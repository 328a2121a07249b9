/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that may not duplicate another process's descriptors, and requests
 * that the plugin would not send, to the socket of a process that exports
 * memory. */
#ifndef TEST_CUDA_FD_CLIENT_H
#define TEST_CUDA_FD_CLIENT_H

#include <sys/types.h>

/* From now on the kernel rejects pidfd_getfd() in this process, as it does with
 * kernel.yama.ptrace_scope=1. */
void forbid_duplicates(void);

/* Returns a socket that is connected to the exporter's socket, which the key
 * names. */
int connect_to(const char *packed_key);

/* Sends the key over the socket; if `user` is not 0, from a process of that
 * user. */
void send_key(int fd, const char *packed_key, uid_t user);

#endif
