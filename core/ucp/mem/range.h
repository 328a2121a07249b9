/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Address and length of memory in few bytes, for packed keys. The address comes
 * first, in as many bits as its form has; the length is in the bits above it.
 * Both are one little-endian number.
 *
 *   sizes   bits 0-2: bytes in addition to those that the form's address
 *           needs; 3-5: the form; 6: the length is in units of 4096 bytes;
 *           7: not used here
 *
 *   form    bits of the address, and what they contain
 *   0       64   the address
 *   1       47   the address
 *   2       43   the address / 16
 *   3       41   2^47 - address
 *   4       37   (2^47 - address) / 16
 *   5       41   2^48 - address
 *   6       37   (2^48 - address) / 16
 *   7       64   the address; followed by 8 bytes of length
 *
 * Systems map memory below the end of their address space, 2^47 on x86-64 and
 * 2^48 on aarch64, and heaps align memory to 16 bytes.
 */
#ifndef UCP_MEM_RANGE_H
#define UCP_MEM_RANGE_H

#include <stddef.h>
#include <stdint.h>

enum {
    UCP_RANGE_MAX   = 16,   /**< Maximum number of bytes of a packed range */
    UCP_RANGE_SIZES = 0x7f, /**< The bits of `sizes` that are used */
};

/** Packs into `bytes`, which holds UCP_RANGE_MAX bytes. Sets *sizes_p; returns
 *  the number of bytes. */
size_t ucp_range_pack(uint64_t address, uint64_t length, uint8_t *bytes,
                      uint8_t *sizes_p);

/** Returns the number of bytes of a packed range. Any value is allowed. */
size_t ucp_range_size(uint8_t sizes);

/** Reads ucp_range_size() bytes from a peer. Returns zero if they are
 *  malformed. The end of the range is at most 2^64 - 1. */
int ucp_range_unpack(uint8_t sizes, const uint8_t *bytes, uint64_t *address_p,
                     uint64_t *length_p);

#endif
