/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sizes of packed remote keys and worker addresses. Users send them in
 * fields of a fixed size (libfabric's provider: keys of at most 64 bytes).
 *
 * usage: key_sizes BYTES [BYTES]: limits of a key of memory with any domains of
 * UCX_TLS, and of the address of a worker on a machine with one network device
 * in addition to the loopback.
 */
#include "common/check.h"
#include "common/side.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Additional bytes for each further network device. */
enum { DEVICE_BYTES = 30 };

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

/* Number of addresses of network devices without the loopback; at least one. */
static unsigned num_devices(void)
{
    struct ifaddrs *all, *one;
    unsigned count = 0;

    EXPECT_INT(getifaddrs(&all), ==, 0);
    for (one = all; one != NULL; one = one->ifa_next) {
        count += (one->ifa_addr != NULL) &&
                 (one->ifa_addr->sa_family == AF_INET) &&
                 (one->ifa_flags & IFF_UP) && !(one->ifa_flags & IFF_LOOPBACK);
    }
    freeifaddrs(all);
    return (count > 0) ? count : 1;
}

static void check_address(struct side *side, size_t limit)
{
    size_t length;

    free(side_address(side, &length));
    limit += DEVICE_BYTES * (num_devices() - 1);
    printf("worker address of %zu bytes, of at most %zu\n", length, limit);
    EXPECT_INT(length, <=, limit);
}

int main(int argc, char **argv)
{
    static const size_t lengths[] = {1, 4096, 100001, 1 << 20, 12345678,
                                     (1 << 24) + 1, 300000001};
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
    if (argc > 2) {
        check_address(&side, (size_t)atoi(argv[2]));
    }
    side_close(&side);
    return 0;
}
