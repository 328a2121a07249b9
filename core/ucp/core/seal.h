/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The header of what users carry from process to process by their own means,
 * without a length: addresses and keys. It tells whether the bytes are what they
 * should be, how many there are, and whether one of them has changed.
 *
 *   | guard 1 | length 1 | checksum 2 | body                       up to 127
 *   | guard 1 | 0x80 + length / 256 | length % 256 | guard 1 | checksum 2 | body
 *
 * `length` counts everything. The guard depends on the kind, which includes the
 * version of the format, and on the length: no more than four bytes are read
 * before it is known that the length can be trusted. Guard (the low byte first)
 * and checksum are CRC-16 (polynomial 0x1021).
 */
#ifndef UCP_SEAL_H
#define UCP_SEAL_H

#include <stddef.h>
#include <stdint.h>

/** Kinds; a format that earlier readers cannot read gets a new number. */
enum {
    UCP_SEAL_RKEY     = 0x51,
    UCP_SEAL_EXPORTED = 0x71,
    UCP_SEAL_ADDRESS  = 0x91
};

enum { UCP_SEAL_MAX_LENGTH = 0x7fff, UCP_SEAL_MAX_HEADER = 6 };

/** Bytes of the header in front of a body of that length. */
static inline size_t ucp_seal_header(size_t body_length)
{
    return (body_length + 4 < 0x80) ? 4 : 6;
}

/** Writes the header of `length` bytes, of which all others are in place. */
void ucp_seal_close(void *bytes, size_t length, uint8_t kind);

/** How long the bytes say that they are, or 0: they are not of this kind. At
 *  least four bytes must be readable. */
size_t ucp_seal_length(const void *bytes, uint8_t kind);

/**
 * Checks foreign bytes, of which `readable` can be read. Returns the body and its
 * length; or NULL, and in *reason_p what is wrong.
 */
const uint8_t *ucp_seal_open(const void *bytes, size_t readable, uint8_t kind,
                             size_t *body_length_p, const char **reason_p);

#endif
