/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wire format of keys (accel_key_t). The number after each name is the
 * length in bytes. Multi-byte values are little-endian.
 *
 *   | kind 1 | bus 1 | part (3 bits) and slot (5 bits) 1 |
 *   | socket, bits 16 to 23 1 | PCI domain 2 | socket, bits 0 to 15 2 |
 *   | process id 4 | descriptor 4 | token of the process 8 |
 *   | start 8 | length 8 | id 8 | handle 64 |
 */
#ifndef ACCEL_KEY_H
#define ACCEL_KEY_H

#include <ucx/accel.h>

/** Writes the packed key, ACCEL_KEY_SIZE bytes, to `buffer`. */
void accel_key_pack(const accel_key_t *key, void *buffer);

/** Reads and checks a packed key from a peer, which is untrusted input.
 *  UCS_ERR_INVALID_PARAM: the bytes are not a valid key. */
ucs_status_t accel_key_unpack(const void *buffer, size_t length,
                              accel_key_t *key);

#endif
