/* SPDX-License-Identifier: BSD-3-Clause */
/* The checksum of a transfer: XXH64 with seed 0, so that `xxhsum -H1` on either
 * side shows the same digits. It detects damage, not deliberate changes. */
#ifndef UCX_CP_HASH_H
#define UCX_CP_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash {
    uint64_t lane[4];
    uint64_t total;   /* Number of bytes that were added */
    uint8_t tail[32]; /* The bytes after the last complete 32 bytes */
    size_t tail_length;
};

void hash_begin(struct hash *hash);
void hash_add(struct hash *hash, const void *data, size_t length);
uint64_t hash_value(const struct hash *hash);

#endif
