/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: worker addresses. Each input is unpacked as it is, and again
 * with its length and checksum set right, so that the fields behind them are
 * reached.
 */
#include "ucp/wireup/address.h"
#include "ucs/datastruct/hash.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 12, LENGTH_AT = 4, CHECKSUM_AT = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t head[4] = {0x43, 0x55, 1, 0};
    ucp_address_info_t *info     = malloc(sizeof(*info));
    uint8_t *copy                = malloc(size + 1);
    ucp_le16_t length[2];
    ucp_le32_t field;

    /* exactly as large as it says: a read beyond is seen */
    memcpy(copy, data, size);
    copy = realloc(copy, size + (size == 0));
    ucp_address_unpack(copy, size, info);

    if (size >= HEADER) {
        memcpy(copy, head, sizeof(head));
        length[0] = ucp_le16((uint16_t)size);
        length[1] = ucp_le16((uint16_t)~size);
        memcpy(copy + LENGTH_AT, length, sizeof(length));
        field = ucp_le32((uint32_t)ucs_hash_bytes(
                copy + HEADER, size - HEADER,
                ucs_hash_bytes(copy, CHECKSUM_AT, 0)));
        memcpy(copy + CHECKSUM_AT, &field, sizeof(field));
        ucp_address_unpack(copy, size, info);
    }

    free(copy);
    free(info);
    return 0;
}
