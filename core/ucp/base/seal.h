/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Header of worker addresses and packed keys. Users pass these between
 * processes by their own means and without a length, so the header contains the
 * kind and the length of the bytes, and detects damage. Two forms, with sizes
 * in bytes in parentheses:
 *
 *  up to 127 bytes in all:
 *    | guard (1) | length (1) | checksum (2) | body |
 *  longer:
 *    | guard (1) | 0x80 + length / 256 (1) | length % 256 (1) | guard (1) |
 *    | checksum (2) | body |
 *
 * `length` counts all bytes, those of the header included. The guard is a CRC
 * of the kind and the length: at most four bytes are read before the guard
 * confirms the length. Guard and checksum are CRC-16 (polynomial 0x1021), low
 * byte first; the short form contains only the low byte of the guard.
 */
#ifndef UCP_SEAL_H
#define UCP_SEAL_H

#include <stddef.h>
#include <stdint.h>

/** Kinds. If a format changes so that earlier versions cannot read it, its kind
 *  gets a new number. */
enum {
    UCP_SEAL_RKEY     = 0x52,
    UCP_SEAL_EXPORTED = 0x72,
    UCP_SEAL_ADDRESS  = 0x91,
};

enum { UCP_SEAL_MAX_LENGTH = 0x7fff, UCP_SEAL_MAX_HEADER = 6 };

/** Returns the size of the header for a body of `body_length` bytes. */
static inline size_t ucp_seal_header(size_t body_length)
{
    return (body_length + 4 < 0x80) ? 4 : 6;
}

/** Writes the header. `length` is the size of header and body; the body is
 *  already in place. */
void ucp_seal_close(void *bytes, size_t length, uint8_t kind);

/** Returns the length of header and body from the header, or 0 if the bytes are
 *  not of this kind. At least four bytes must be readable. */
size_t ucp_seal_length(const void *bytes, uint8_t kind);

/**
 * Checks bytes from a peer, of which `readable` can be read. Returns the body
 * and its length; or NULL, with the reason in *reason_p.
 */
const uint8_t *ucp_seal_open(const void *bytes, size_t readable, uint8_t kind,
                             size_t *body_length_p, const char **reason_p);

#endif
