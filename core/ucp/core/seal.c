/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See seal.h.
 */
#include "ucp/core/seal.h"

enum { LONG_FORM = 0x80, SHORT_HEADER = 4 };

static uint16_t crc16(uint16_t crc, const uint8_t *bytes, size_t length)
{
    unsigned bit;

    for (; length > 0; --length, ++bytes) {
        crc ^= (uint16_t)(*bytes << 8);
        for (bit = 0; bit < 8; ++bit) {
            crc = (uint16_t)((crc << 1) ^ ((crc & 0x8000) ? 0x1021 : 0));
        }
    }
    return crc;
}

/* `size`: the one or two bytes of the length. */
static uint16_t guard(uint8_t kind, const uint8_t *size, size_t count)
{
    return crc16(crc16(0xffff, &kind, 1), size, count);
}

/* Of everything but the two bytes at `at`. */
static uint16_t checksum(const uint8_t *bytes, size_t length, size_t at)
{
    return crc16(crc16(0xffff, bytes, at), bytes + at + 2, length - at - 2);
}

void ucp_seal_close(void *buffer, size_t length, uint8_t kind)
{
    uint8_t *bytes = buffer;
    size_t header  = (length < LONG_FORM) ? SHORT_HEADER : UCP_SEAL_MAX_HEADER;
    uint16_t value;

    if (header == SHORT_HEADER) {
        bytes[1] = (uint8_t)length;
        bytes[0] = (uint8_t)guard(kind, bytes + 1, 1);
    } else {
        bytes[1] = (uint8_t)(LONG_FORM | (length >> 8));
        bytes[2] = (uint8_t)length;
        value    = guard(kind, bytes + 1, 2);
        bytes[0] = (uint8_t)value;
        bytes[3] = (uint8_t)(value >> 8);
    }
    value             = checksum(bytes, length, header - 2);
    bytes[header - 2] = (uint8_t)value;
    bytes[header - 1] = (uint8_t)(value >> 8);
}

size_t ucp_seal_length(const void *buffer, uint8_t kind)
{
    const uint8_t *bytes = buffer;
    size_t length        = bytes[1];
    uint16_t value;

    if (!(length & LONG_FORM)) {
        return ((bytes[0] == (uint8_t)guard(kind, bytes + 1, 1)) &&
                (length >= SHORT_HEADER)) ? length : 0;
    }
    value  = guard(kind, bytes + 1, 2);
    length = ((length & ~(size_t)LONG_FORM) << 8) | bytes[2];
    return ((bytes[0] == (uint8_t)value) && (bytes[3] == (value >> 8)) &&
            (length >= LONG_FORM)) ? length : 0;
}

const uint8_t *ucp_seal_open(const void *buffer, size_t readable, uint8_t kind,
                             size_t *body_length_p, const char **reason_p)
{
    const uint8_t *bytes = buffer;
    size_t length        = (readable >= SHORT_HEADER) ?
                           ucp_seal_length(bytes, kind) : 0;
    size_t header;

    if (length == 0) {
        *reason_p = "nothing of this kind";
        return NULL;
    }
    if (length > readable) {
        *reason_p = "cut short";
        return NULL;
    }
    header = (length < LONG_FORM) ? SHORT_HEADER : UCP_SEAL_MAX_HEADER;
    if (checksum(bytes, length, header - 2) !=
        (bytes[header - 2] | (bytes[header - 1] << 8))) {
        *reason_p = "damaged: the checksum does not fit";
        return NULL;
    }
    *body_length_p = length - header;
    return bytes + header;
}
