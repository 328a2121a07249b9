/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration variables of ports and of libibverbs: which ports reach each
 * other, when packets have a global header, which variables of a transport
 * override those of the domain, which P_Key and which GID are selected, whether
 * ibv_fork_init() is called. */
#include "../src/device.h"
#include "../src/md.h"
#include "../src/port.h"
#include "suite.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

static int log_level = -1;
static int fork_error;         /* Result of ibv_fork_init() */
static unsigned num_fork_init; /* Number of calls of ibv_fork_init() */

int ibv_fork_init(void)
{
    ++num_fork_init;
    return fork_error;
}

struct ibv_device **ibv_get_device_list(int *num)
{
    errno = ENOSYS;
    return NULL;
}

/* The P_Key table of the port, and its link layer */
static uint16_t pkeys[3];
static uint8_t link_layer;

#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t number,
                   struct _compat_ibv_port_attr *compat)
{
    struct ibv_port_attr *attr = (struct ibv_port_attr *)compat;

    attr->state        = IBV_PORT_ACTIVE;
    attr->link_layer   = link_layer;
    attr->active_mtu   = IBV_MTU_4096;
    attr->pkey_tbl_len = sizeof(pkeys) / sizeof(pkeys[0]);
    attr->gid_tbl_len  = 2;
    return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t number,
                      uint32_t index, struct ibv_gid_entry *entry,
                      uint32_t flags, size_t size)
{
    memset(entry, 0, size);
    entry->gid_index = index;
    return 0;
}

/* The GID table of the port: a link-local GID, and an IPv4 address (the better
 * one) at this index */
static uint32_t ipv4_index;

ssize_t _ibv_query_gid_table(struct ibv_context *context,
                             struct ibv_gid_entry *entries, size_t max_entries,
                             uint32_t flags, size_t entry_size)
{
    static const uint8_t ipv4[16] = {[10] = 0xff, 0xff, 10, 7, 0, 1};

    ck_assert_uint_ge(max_entries, 2);
    memset(entries, 0, 2 * sizeof(*entries));
    for (int i = 0; i < 2; ++i) {
        entries[i].port_num = 1;
        entries[i].gid_type = IBV_GID_TYPE_ROCE_V2;
    }
    entries[0].gid_index  = 1;
    entries[0].gid.raw[0] = 0xfe;
    entries[0].gid.raw[1] = 0x80;
    entries[1].gid_index  = ipv4_index;
    memcpy(entries[1].gid.raw, ipv4, sizeof(ipv4));
    return 2;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    attr->phys_port_cnt = 1;
    return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t number, int index,
                   __be16 *pkey)
{
    *pkey = htobe16(pkeys[index]);
    return 0;
}

static const ucx_host_t host = {.size = sizeof(host), .log_level = &log_level};

/* Returns a port of this kind of link whose GID begins with `subnet`. */
static ib_port_t port_of(uint8_t kind, uint8_t subnet)
{
    ib_port_t port = {
        .number = 1,
        .kind   = kind,
        .mtu    = IBV_MTU_4096,
        .lid    = 7,
        .prefix = 64,
    };

    port.gid.raw[0]  = subnet;
    port.gid.raw[15] = 1;
    return port;
}

static int reaches(const ib_port_t *port, const ib_port_t *peer)
{
    ib_wire_device_t wire;
    ucx_reachable_args_t args = {
        .size            = sizeof(args),
        .dev_addr        = (const uct_device_addr_t *)&wire,
        .dev_addr_length = sizeof(wire),
    };

    ib_port_address(peer, &wire);
    return ib_port_reaches(port, &args);
}

static int is_global(const ib_port_t *port, const ib_port_t *peer)
{
    struct ibv_ah_attr ah;
    ib_wire_device_t wire;
    enum ibv_mtu mtu;

    ib_port_address(peer, &wire);
    ck_assert_int_eq(ib_port_path(port, &wire, sizeof(wire), &ah, &mtu),
                     UCS_OK);
    ck_assert_int_eq(ah.dlid, 7);
    return ah.is_global;
}

START_TEST(subnets_of_roce_are_routed_unless_the_user_forbids_it)
{
    ib_port_t port = port_of(IB_LINK_ROCE_V2_IPV4, 1);
    ib_port_t near = port_of(IB_LINK_ROCE_V2_IPV4, 1);
    ib_port_t far  = port_of(IB_LINK_ROCE_V2_IPV4, 2);
    ib_port_t old  = port_of(IB_LINK_ROCE_V1, 1);

    ck_assert_int_gt(reaches(&port, &near), reaches(&port, &far));
    ck_assert_int_ne(reaches(&port, &far), 0);
    ck_assert_int_eq(reaches(&port, &old), 0);
    port.local_subnet = 1;
    ck_assert_int_ne(reaches(&port, &near), 0);
    ck_assert_int_eq(reaches(&port, &far), 0);

    port              = port_of(IB_LINK_IB, 1);
    far               = port_of(IB_LINK_IB, 2);
    port.local_subnet = 1; /* Has no effect on InfiniBand */
    ck_assert_int_ne(reaches(&port, &far), 0);
}
END_TEST

/* The addresses 10.7.1.1 and 10.7.0.1: they are in the same subnet with a
 * prefix of 23 bits, and in different subnets with 24 bits. */
START_TEST(subnets_of_ip_addresses_have_any_length)
{
    ib_port_t port = {.kind = IB_LINK_ROCE_V2_IPV4, .mtu = IBV_MTU_4096};
    ib_port_t peer;

    memcpy(port.gid.raw + 10, (uint8_t[]){0xff, 0xff, 10, 7, 1, 1}, 6);
    peer              = port;
    peer.gid.raw[14]  = 0;
    port.local_subnet = 1;
    port.prefix       = 96 + 23;
    ck_assert_int_ne(reaches(&port, &peer), 0);
    port.prefix = 96 + 24;
    ck_assert_int_eq(reaches(&port, &peer), 0);
    port.prefix = 128;
    ck_assert_int_ne(reaches(&port, &port), 0);
}
END_TEST

START_TEST(a_global_header_is_used_where_it_is_needed_or_wanted)
{
    ib_port_t port = port_of(IB_LINK_IB, 1), far = port_of(IB_LINK_IB, 2);
    ib_port_t roce = port_of(IB_LINK_ROCE_V2_IPV4, 1);

    ck_assert_int_eq(is_global(&port, &port), 0);
    ck_assert_int_eq(is_global(&port, &far), 1);
    ck_assert_int_eq(is_global(&roce, &roce), 1);
    port.is_global = 1;
    ck_assert_int_eq(is_global(&port, &port), 1);
}
END_TEST

/* A variable that the user has set for a transport takes precedence over the
 * variable of the same name of the memory domain. */
START_TEST(variables_of_a_transport_count_more)
{
    const ib_md_config_t domain = {
        .sl            = 1,
        .traffic_class = 2,
        .hop_limit     = 3,
        .pkey          = 4,
        .path_mtu      = 5,
        .is_global     = 1,
        .gid_index     = 6,
    };
    const ib_path_config_t unset = {
        .sl            = UINT_MAX,
        .traffic_class = UINT_MAX,
        .hop_limit     = UINT_MAX,
        .is_global     = UCS_AUTO,
        .local_subnet  = UCS_AUTO,
    };
    ib_path_config_t path = unset;
    ib_md_config_t config;

    ck_assert_int_eq(ib_port_config(&host, &domain, &unset, &config), UCS_OK);
    ck_assert_mem_eq(&config, &domain, sizeof(config));

    path = (ib_path_config_t){.sl            = 15,
                              .traffic_class = 0,
                              .hop_limit     = 255,
                              .pkey          = 7,
                              .path_mtu      = 2,
                              .is_global     = UCS_NO,
                              .local_subnet  = UCS_YES};
    ck_assert_int_eq(ib_port_config(&host, &domain, &path, &config), UCS_OK);
    ck_assert_uint_eq(config.sl, 15);
    ck_assert_uint_eq(config.traffic_class, 0);
    ck_assert_uint_eq(config.hop_limit, 255);
    ck_assert_uint_eq(config.pkey, 7);
    ck_assert_uint_eq(config.path_mtu, 2);
    ck_assert_int_eq(config.is_global, 0);
    ck_assert_int_eq(config.local_subnet, 1);
    ck_assert_uint_eq(config.gid_index, 6);

    for (int i = 0; i < 3; ++i) {
        path                          = unset;
        *((i == 0) ? &path.sl :
          (i == 1) ? &path.traffic_class :
                     &path.hop_limit) = (i == 0) ? 16 : 256;
        ck_assert_int_eq(ib_port_config(&host, &domain, &path, &config),
                         UCS_ERR_INVALID_PARAM);
    }
}
END_TEST

/* The tables of both transports begin with the variables of ib_path_config_t,
 * in the order of its members. */
START_TEST(both_transports_have_the_variables)
{
    static const char *const names[] = {
        "SL",       "TRAFFIC_CLASS", "HOP_LIMIT",         "PKEY",
        "PATH_MTU", "IS_GLOBAL",     "ROCE_LOCAL_SUBNET",
    };
    const ucx_config_table_t *tables[] = {&ib_rc_config_table,
                                          &ib_ud_config_table};
    const size_t start[]               = {offsetof(ib_rc_config_t, path),
                                          offsetof(ib_ud_config_t, path)};

    for (int i = 0; i < 2; ++i) {
        for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); ++n) {
            ck_assert_str_eq(tables[i]->fields[n].name, names[n]);
            ck_assert_uint_eq(tables[i]->fields[n].offset - start[i],
                              n * sizeof(int));
        }
    }
}
END_TEST

/* Opens a port whose P_Key table has these entries. Returns the index of the
 * selected entry, or an error. */
static int select_pkey(unsigned wanted, uint16_t a, uint16_t b, uint16_t c)
{
    static struct ibv_device device   = {.transport_type = IBV_TRANSPORT_IB};
    static struct ibv_context context = {.device = &device};
    const ib_md_config_t config       = {.pkey = wanted};
    ucs_status_t status;
    ib_port_t port;

    pkeys[0] = a;
    pkeys[1] = b;
    pkeys[2] = c;
    status   = ib_port_open(&host, &context, 1, &config, &port);
    return (status == UCS_OK) ? port.pkey_index : status;
}

START_TEST(full_membership_of_a_partition_is_preferred)
{
    link_layer = IBV_LINK_LAYER_INFINIBAND;
    ck_assert_int_eq(select_pkey(0, 0x7fff, 0x8001, 0xffff), 1);
    ck_assert_int_eq(select_pkey(0, 0, 0x7fff, 0x0001), 1);
    ck_assert_int_eq(select_pkey(0, 0, 0x8000, 0), UCS_ERR_NO_DEVICE);
    ck_assert_int_eq(select_pkey(1, 0xffff, 0x0001, 0x8001), 2);
    ck_assert_int_eq(select_pkey(0x8001, 0xffff, 0x0001, 0), 1);
    ck_assert_int_eq(select_pkey(2, 0xffff, 0x0001, 0x8001),
                     UCS_ERR_INVALID_PARAM);
}
END_TEST

START_TEST(ethernet_has_no_partitions)
{
    link_layer = IBV_LINK_LAYER_ETHERNET;
    ck_assert_int_eq(select_pkey(2, 0xffff, 0, 0), 0);
}
END_TEST

/* Opens a port with this value of UCX_IB_GID_INDEX. Returns the index of the
 * selected GID, or an error. */
static int select_gid(unsigned index)
{
    static struct ibv_device device   = {.transport_type = IBV_TRANSPORT_IB};
    static struct ibv_context context = {.device = &device};
    const ib_md_config_t config       = {.gid_index = index};
    ucs_status_t status;
    ib_port_t port;

    link_layer = IBV_LINK_LAYER_ETHERNET;
    status     = ib_port_open(&host, &context, 1, &config, &port);
    return (status == UCS_OK) ? port.gid_index : status;
}

/* The index has 8 bits in an address handle. */
START_TEST(gids_above_255_are_not_used)
{
    ck_assert_int_eq(select_gid(255), 255);
    ck_assert_int_eq(select_gid(256), UCS_ERR_INVALID_PARAM);
    ipv4_index = 255;
    ck_assert_int_eq(select_gid(UINT_MAX), 255);
    ipv4_index = 256;
    ck_assert_int_eq(select_gid(UINT_MAX), 1);
}
END_TEST

/* Tries to open a memory domain with this value of UCX_IB_FORK_INIT. Opening
 * always fails, because there is no device, but the status shows at which
 * step. */
static ucs_status_t open_with(int fork_init)
{
    ib_instance_t instance  = {.super.host = &host};
    ib_md_config_t config   = {.fork_init = fork_init};
    ucx_md_open_args_t args = {
        .size   = sizeof(args),
        .name   = "test0",
        .config = &config,
    };
    uct_md_h md;

    num_fork_init = 0;
    return ib_md_open(&instance.component, &args, &md);
}

START_TEST(libibverbs_is_prepared_for_fork_unless_the_user_forbids_it)
{
    fork_error = 0;
    ck_assert_int_eq(open_with(UCS_TRY), UCS_ERR_NO_DEVICE);
    ck_assert_uint_eq(num_fork_init, 1);
    ck_assert_int_eq(open_with(UCS_NO), UCS_ERR_NO_DEVICE);
    ck_assert_uint_eq(num_fork_init, 0);
    fork_error = ENOSYS;
    ck_assert_int_eq(open_with(UCS_TRY), UCS_ERR_NO_DEVICE);
    ck_assert_int_eq(open_with(UCS_YES), UCS_ERR_UNSUPPORTED);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        subnets_of_roce_are_routed_unless_the_user_forbids_it,
        subnets_of_ip_addresses_have_any_length,
        a_global_header_is_used_where_it_is_needed_or_wanted,
        variables_of_a_transport_count_more,
        both_transports_have_the_variables,
        full_membership_of_a_partition_is_preferred,
        ethernet_has_no_partitions,
        gids_above_255_are_not_used,
        libibverbs_is_prepared_for_fork_unless_the_user_forbids_it,
    };

    return suite_run("port", tests, sizeof(tests) / sizeof(tests[0]), 30);
}
