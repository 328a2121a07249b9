/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Duplicates file descriptors of other processes, which keys of exported memory
 * contain: by pidfd_getfd(2) where the kernel permits it, otherwise from the
 * local socket of the process that has exported the memory (fd_server.h).
 */
#ifndef ACCEL_DESCRIPTOR_H
#define ACCEL_DESCRIPTOR_H

#include "key.h"

/** Returns a duplicate of the key's descriptor, closed on exec, or -1. May wait
 * for an answer from the key's owner, whose service thread answers at once. */
int accel_descriptor_get(const accel_key_t *key);

/** Returns whether this process can get descriptors from the key's owner: the
 * kernel permits it, or a descriptor has arrived from the owner's socket. May
 * wait, as accel_descriptor_get(), until one has arrived. Any thread may call
 * this function. */
int accel_descriptor_is_available(const accel_key_t *key);

#endif
