/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: worker addresses. A packed address is a header with a checksum,
 * followed by a body, which is compressed. Each input is unpacked in three
 * forms: as a whole address, as a body after a valid header, and as the
 * uncompressed fields of a body. In the third form the target compresses the
 * input, and checks that it can be decompressed to the same bytes.
 */
#include "ucp/wireup/address.h"

#include <stdlib.h>
#include <string.h>

/* Number of zero bytes before the fields. Compression and decompression both
 * have them: repetitions of these bytes in the fields are compressed too. */
enum { ZEROS = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unpacks the body with a valid header before it. The memory has exactly the
 * size of the address, so that a sanitizer detects a read beyond its end. */
static void unpack(const uint8_t *body, size_t length, ucp_address_info_t *info)
{
    size_t header = ucp_seal_header(length);
    uint8_t *copy;

    if (header + length > UCP_SEAL_MAX_LENGTH) {
        return;
    }
    copy = malloc(header + length);
    memcpy(copy + header, body, length);
    ucp_seal_close(copy, header + length, UCP_SEAL_ADDRESS);
    ucp_address_unpack(copy, header + length, info);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t fields[UCP_SQUEEZE_MAX], again[UCP_SQUEEZE_MAX];
    ucp_address_info_t *info = malloc(sizeof(*info));
    uint8_t *copy            = malloc(size + (size == 0));
    uint8_t *squeezed;
    size_t length;

    memcpy(copy, data, size);
    ucp_address_unpack(copy, size, info);
    free(copy);
    unpack(data, size, info);

    if (size <= sizeof(fields) - ZEROS) {
        squeezed = malloc(ucp_squeeze_bound(size));
        memcpy(fields + ZEROS, data, size);
        length = ucp_squeeze(fields, ZEROS, ZEROS + size, squeezed);
        if ((length > ucp_squeeze_bound(size)) ||
            (ucp_unsqueeze(squeezed, length, again, ZEROS, sizeof(again)) !=
             ZEROS + size) ||
            (memcmp(again, fields, ZEROS + size) != 0)) {
            abort();
        }
        unpack(squeezed, length, info);
        free(squeezed);
    }
    free(info);
    return 0;
}
