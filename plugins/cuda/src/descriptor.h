/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors of other processes: by pidfd_getfd where the kernel permits it,
 * else from the local socket of the exporter (fd_server.h).
 */
#ifndef CUDA_DESCRIPTOR_H
#define CUDA_DESCRIPTOR_H

#include "ipc_key.h"

/** Returns a duplicate of the key's descriptor, closed on exec, or -1. May wait for
 * an answer of the exporter, which its service thread gives at once. */
int cuda_descriptor_get(const cuda_ipc_key_t *key);

/** Non-zero if this process can get descriptors of the key's owner. The first call
 * for a socket may wait, as cuda_descriptor_get(). Any thread. */
int cuda_descriptor_is_available(const cuda_ipc_key_t *key);

#endif
