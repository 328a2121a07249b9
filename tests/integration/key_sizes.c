/* SPDX-License-Identifier: BSD-3-Clause */
/* How long packed remote keys are. Users send them in fields of a
 * fixed size (libfabric's provider: 64 bytes).
 *
 * usage: key_sizes BYTES: no key of memory may be longer, by whatever domains of
 * UCX_TLS know it. */
#include "common/check.h"
#include "common/side.h"

#include <stdio.h>
#include <stdlib.h>

static size_t key_length(struct side *side, void *address, size_t length)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .address    = address,
        .length     = length,
        .flags      = (address == NULL) ? UCP_MEM_MAP_ALLOCATE |
                                          UCP_MEM_MAP_NONBLOCK : 0
    };
    ucp_mem_h memh;
    size_t size;
    void *key;

    EXPECT_OK(ucp_mem_map(side->context, &params, &memh));
    EXPECT_OK(ucp_memh_pack(memh, NULL, &key, &size));
    ucp_memh_buffer_release(key, NULL);
    EXPECT_OK(ucp_mem_unmap(side->context, memh));
    return size;
}

int main(int argc, char **argv)
{
    static const size_t lengths[] = {1, 4096, 100001, 1 << 20, 12345678};
    size_t limit = (argc > 1) ? (size_t)atoi(argv[1]) : 0, own, allocated, i;
    struct side side;
    void *memory;

    side_open(&side, UCP_FEATURE_RMA | UCP_FEATURE_AMO64);
    for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); ++i) {
        memory    = malloc(lengths[i]);
        own       = key_length(&side, memory, lengths[i]);
        allocated = key_length(&side, NULL, lengths[i]);
        free(memory);
        printf("%zu bytes: key of %zu, allocated: of %zu\n", lengths[i], own,
               allocated);
        EXPECT_INT(own, <=, limit);
        EXPECT_INT(allocated, <=, limit);
    }
    side_close(&side);
    return 0;
}
