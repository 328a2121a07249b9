/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Duplicates file descriptors of other processes: by pidfd_getfd where the
 * kernel permits it, otherwise from the local socket of the exporter
 * (fd_server.h).
 */
#ifndef ACCEL_DESCRIPTOR_H
#define ACCEL_DESCRIPTOR_H

#include "key.h"

/** Returns a duplicate of the key's descriptor, closed on exec, or -1. May wait
 * for an answer from the exporter, whose service thread answers at once. */
int accel_descriptor_get(const accel_key_t *key);

/** Non-zero if this process can get descriptors of the key's owner. The first
 * call for a socket may wait, as accel_descriptor_get(). Any thread. */
int accel_descriptor_is_available(const accel_key_t *key);

#endif
