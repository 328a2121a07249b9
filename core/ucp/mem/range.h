/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Address and length of memory in few bytes, for packed keys (packed.h). The
 * two are one little-endian number: the low bits contain the address, as many
 * as its form has, and the bits above them contain the length. The byte `sizes`
 * describes this number, and is stored apart:
 *
 *   sizes   bits 0-2: bytes in addition to those that the address needs
 *           bits 3-5: the form of the address
 *           bit 6: the length is in units of 4096 bytes
 *           bit 7: not used here
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
 * Small distances to 2^47 or 2^48 are frequent, because systems map memory
 * below the end of their address space, which is 2^47 on x86-64 and 2^48 on
 * aarch64. Heaps align memory to 16 bytes.
 */
#ifndef UCP_MEM_RANGE_H
#define UCP_MEM_RANGE_H

#include <stddef.h>
#include <stdint.h>

enum {
    UCP_RANGE_MAX   = 16,   /**< Maximum number of bytes of a packed range */
    UCP_RANGE_SIZES = 0x7f, /**< The bits of `sizes` that are used: 0 to 6 */
};

/** Packs address and length into `bytes`, which has space for UCP_RANGE_MAX
 *  bytes. Sets *sizes_p. Returns the number of bytes. */
size_t ucp_range_pack(uint64_t address, uint64_t length, uint8_t *bytes,
                      uint8_t *sizes_p);

/** Returns the number of bytes of a packed range with these `sizes`. Any value
 *  is allowed, because it may come from a peer. */
size_t ucp_range_size(uint8_t sizes);

/** Unpacks the ucp_range_size() bytes at `bytes`, which are from a peer.
 *  Returns zero if the end of the range would exceed 2^64 - 1. */
int ucp_range_unpack(uint8_t sizes, const uint8_t *bytes, uint64_t *address_p,
                     uint64_t *length_p);

#endif
