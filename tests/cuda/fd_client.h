/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers for tests in which one process opens memory of another process by a
 * file descriptor. The UCX plugin of the device (plugins/cuda or ze) duplicates
 * the descriptor with pidfd_getfd() if the kernel permits that. Otherwise it
 * sends the memory's packed key to a socket of the process that exports the
 * memory; that process answers with the descriptor. The helpers forbid
 * pidfd_getfd(), and send keys in ways in which the plugin does not. */
#ifndef TEST_CUDA_FD_CLIENT_H
#define TEST_CUDA_FD_CLIENT_H

#include <sys/types.h>

/* From now on the kernel rejects pidfd_getfd() in this process, as it does with
 * kernel.yama.ptrace_scope=1. */
void forbid_duplicates(void);

/* Returns a new socket that is connected to the socket of the exporting
 * process. The packed key contains the name of that socket. */
int connect_to(const char *packed_key);

/* Sends the packed key over the socket, from a child process. `user`: the user
 * that the child becomes before; 0: it remains the user of this process. */
void send_key(int fd, const char *packed_key, uid_t user);

#endif
