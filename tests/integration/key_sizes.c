/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sizes of packed remote keys and worker addresses. Users send them in
 * fields of a fixed size (libfabric's provider: keys of at most 64 bytes).
 *
 * usage: key_sizes KEY [ADDRESS] [--networks]
 *   KEY: most bytes of a packed key, with the memory domains of UCX_TLS.
 *   ADDRESS: most bytes of a worker address, with two network devices besides
 *     the loopback; each further device adds DEVICE_BYTES.
 *   --networks: runs in a network namespace with two devices.
 */
#include "common/check.h"
#include "common/net.h"
#include "common/side.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

enum {
    DEVICES      = 2,
    /* Bytes that each device beyond DEVICES adds to the limit */
    DEVICE_BYTES = 20,
};

struct limits {
    size_t key, address; /* Most bytes; address 0: not checked */
    bool networks;
};

static size_t key_length(struct side *side, void *address, size_t length)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .address = address,
        .length  = length,
        .flags   = (address == NULL) ?
                       UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_NONBLOCK :
                       0,
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

/* Returns the number of IPv4 addresses of devices that are up, without the
 * loopback. */
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
    return count;
}

static void check_address(struct side *side, size_t limit)
{
    unsigned devices = num_devices();
    size_t length;

    free(side_address(side, &length));
    limit += (devices > DEVICES) ? DEVICE_BYTES * (devices - DEVICES) : 0;
    printf("worker address of %zu bytes, of at most %zu; %u devices\n", length,
           limit, devices);
    EXPECT_INT(length, <=, limit);
}

static void check(struct team *team, void *arg)
{
    static const size_t lengths[] = {1,        4096,          100001,   1 << 20,
                                     12345678, (1 << 24) + 1, 300000001};
    const struct limits *limits   = arg;
    size_t own, allocated, i;
    struct side side;
    void *memory;

    if (limits->networks) {
        net_enter(team);
        net_join_again(team);
        EXPECT_INT(num_devices(), ==, 2);
    }
    side_open(&side, UCP_FEATURE_RMA | UCP_FEATURE_AMO64);
    for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); ++i) {
        memory    = malloc(lengths[i]);
        own       = key_length(&side, memory, lengths[i]);
        allocated = key_length(&side, NULL, lengths[i]);
        free(memory);
        printf("%zu bytes: key of %zu, allocated: of %zu\n", lengths[i], own,
               allocated);
        EXPECT_INT(own, <=, limits->key);
        EXPECT_INT(allocated, <=, limits->key);
    }
    if (limits->address > 0) {
        check_address(&side, limits->address);
    }
    side_close(&side);
}

int main(int argc, char **argv)
{
    struct limits limits = {
        .key      = (argc > 1) ? (size_t)atoi(argv[1]) : 0,
        .address  = (argc > 2) ? (size_t)atoi(argv[2]) : 0,
        .networks = team_asked(argc, argv, "--networks"),
    };
    struct team team = {.limit = 60, .silent = true};

    if (limits.networks) {
        net_prepare();
        team.place = TEAM_NAMESPACES;
    }
    return team_run(&team, limits.networks ? 2 : 1, check, &limits);
}
