/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Header of addresses and keys, which users pass between processes by means of
 * their own and without a length. It identifies the kind of the bytes and their
 * number, and detects changes.
 *
 *  | guard 1 | length 1 | checksum 2 | body                       up to 127
 *  | guard 1 | 0x80 + length / 256 | length % 256 | guard 1 | checksum 2 | body
 *
 * `length` counts all bytes. The guard depends on the kind, which includes the
 * version of the format, and on the length: at most four bytes are read before
 * the length is verified. Guard (low byte first) and checksum are CRC-16
 * (polynomial 0x1021).
 */
#ifndef UCP_SEAL_H
#define UCP_SEAL_H

#include <stddef.h>
#include <stdint.h>

/** Kinds; a format that is incompatible with earlier readers has a new
 *  number. */
enum {
    UCP_SEAL_RKEY     = 0x52,
    UCP_SEAL_EXPORTED = 0x72,
    UCP_SEAL_ADDRESS  = 0x91,
};

enum { UCP_SEAL_MAX_LENGTH = 0x7fff, UCP_SEAL_MAX_HEADER = 6 };

/** Returns the size of the header for a body of that length. */
static inline size_t ucp_seal_header(size_t body_length)
{
    return (body_length + 4 < 0x80) ? 4 : 6;
}

/** Writes the header of `length` bytes; all other bytes are already set. */
void ucp_seal_close(void *bytes, size_t length, uint8_t kind);

/** Returns the length from the header, or 0 if the bytes are not of this kind.
 *  At least four bytes must be readable. */
size_t ucp_seal_length(const void *bytes, uint8_t kind);

/**
 * Checks bytes from a peer, of which `readable` can be read. Returns the body
 * and its length; or NULL, with the reason in *reason_p.
 */
const uint8_t *ucp_seal_open(const void *bytes, size_t readable, uint8_t kind,
                             size_t *body_length_p, const char **reason_p);

#endif
