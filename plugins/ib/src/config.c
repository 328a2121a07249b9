/* SPDX-License-Identifier: BSD-3-Clause */
/* Names, defaults and help texts of the plugin's configuration variables. */
#include "config.h"

#define MD(_name, _type, _member, _dflt, _values, _min, _max, _help) \
    { \
        _name, UCX_CONFIG_##_type, offsetof(ib_md_config_t, _member), _dflt, \
            _help, _values, _min, _max \
    }
#define RC(_name, _type, _member, _dflt, _min, _max, _help) \
    { \
        _name, UCX_CONFIG_##_type, offsetof(ib_rc_config_t, _member), _dflt, \
            _help, NULL, _min, _max \
    }
#define UD(_name, _type, _member, _dflt, _min, _max, _help) \
    { \
        _name, UCX_CONFIG_##_type, offsetof(ib_ud_config_t, _member), _dflt, \
            _help, NULL, _min, _max \
    }
#define PATH(_config, _name, _type, _member, _dflt, _values, _max) \
    { \
        _name, UCX_CONFIG_##_type, offsetof(_config, path._member), _dflt, \
            "Overrides UCX_IB_" _name " for this transport, unless " _dflt \
            ".", \
            _values, 0, _max \
    }
/* The variables of ib_path_config_t. */
#define PATHS(_config) \
    PATH(_config, "SL", UINT, sl, "inf", NULL, 0), \
        PATH(_config, "TRAFFIC_CLASS", UINT, traffic_class, "inf", NULL, 0), \
        PATH(_config, "HOP_LIMIT", UINT, hop_limit, "inf", NULL, 0), \
        PATH(_config, "PKEY", UINT, pkey, "0", NULL, 65535), \
        PATH(_config, "PATH_MTU", ENUM, path_mtu, "default", ib_mtu_names, 0), \
        PATH(_config, "IS_GLOBAL", TERNARY, is_global, "auto", NULL, 0), \
        PATH(_config, "ROCE_LOCAL_SUBNET", TERNARY, local_subnet, "auto", \
             NULL, 0)
#define COUNT(_a) (sizeof(_a) / sizeof((_a)[0]))

const char *const ib_mtu_names[] = {
    "default", "256", "512", "1024", "2048", "4096", NULL,
};

static const ucx_config_field_t md_fields[] = {
    MD("GID_INDEX", UINT, gid_index, "inf", NULL, 0, 0,
       "Entry of the port's GID table to use; inf selects one: RoCE v2 with "
       "an IPv4 address first, then RoCE v2 with an IPv6 address, then RoCE v1."),
    MD("SL", UINT, sl, "0", NULL, 0, 15,
       "InfiniBand service level; on RoCE the priority of the packets."),
    MD("TRAFFIC_CLASS", UINT, traffic_class, "0", NULL, 0, 255,
       "Traffic class (on RoCE v2 the IP header's TOS byte) of packets with a "
       "global header."),
    MD("HOP_LIMIT", UINT, hop_limit, "255", NULL, 0, 255,
       "Hop limit of packets with a global header."),
    MD("PKEY", UINT, pkey, "0", NULL, 0, 65535,
       "Partition key to use; 0 takes the first entry of the port's table "
       "that is a full member, or the first limited member if there is no "
       "full one. RoCE and iWARP have no partitions."),
    MD("PATH_MTU", ENUM, path_mtu, "default", ib_mtu_names, 0, 0,
       "Largest packet, in bytes; default is the smaller of what both ports "
       "are set to."),
    MD("RCACHE", TERNARY, rcache, "try", NULL, 0, 0,
       "Keep registrations for their next use until the memory is unmapped."),
    MD("PCI_RELAXED_ORDERING", TERNARY, relaxed_ordering, "auto", NULL, 0, 0,
       "Register memory so that the device's writes need not keep their order "
       "on the PCI bus. auto: not used."),
    MD("ODP", TERNARY, odp, "try", NULL, 0, 0,
       "Register memory for on-demand paging, which locks no memory, if the "
       "device has it. try: only if registrations are not kept (RCACHE)."),
    MD("FORK_INIT", TERNARY, fork_init, "try", NULL, 0, 0,
       "Prepare libibverbs for fork(), so that a child process does not change "
       "memory that is registered. y: fail if that is not possible."),
    MD("IS_GLOBAL", BOOL, is_global, "n", NULL, 0, 0,
       "Send packets with a global header on InfiniBand within a subnet, too."),
    MD("ROCE_LOCAL_SUBNET", BOOL, local_subnet, "n", NULL, 0, 0,
       "Reach only those ports of RoCE whose GID has the same subnet prefix."),
};

static const ucx_config_field_t rc_fields[] = {
    PATHS(ib_rc_config_t),
    RC("TIMEOUT", TIME, timeout, "1s", 0, 0,
       "Time without an acknowledgement after which packets are sent again."),
    RC("RETRY_COUNT", UINT, retry_count, "6", 0, 7,
       "Retransmissions before the peer counts as lost. Some devices in "
       "software take 7 for no limit."),
    RC("RNR_TIMEOUT", TIME, rnr_timeout, "1ms", 0, 0,
       "Time that a sender waits when the receiver had no receive buffer."),
    RC("RNR_RETRY_COUNT", UINT, rnr_retry_count, "7", 0, 7,
       "Retries when the receiver has no receive buffer; 7 is no limit."),
    RC("TX_QUEUE_LEN", UINT, tx_queue_len, "256", 8, 16384,
       "Send queue of a connection, in work requests."),
    RC("TX_CQ_MODERATION", UINT, tx_moderation, "64", 1, 4096,
       "Work requests between two that ask for a completion; at most a quarter "
       "of the send queue."),
    RC("TX_CQ_LEN", UINT, tx_cq_len, "4096", 64, 1048576,
       "Completion queue of sends; limits what all connections of an "
       "interface have outstanding."),
    RC("TX_MIN_INLINE", UINT, tx_min_inline, "64", 17, 4096,
       "Bytes that a send can carry in its work request, at least."),
    RC("RX_QUEUE_LEN", UINT, rx_queue_len, "1024", 64, 65536,
       "Receive buffers that all connections of an interface share."),
    RC("MAX_RD_ATOMIC", UINT, max_rd_atomic, "inf", 0, 0,
       "Reads and atomics outstanding on a connection; inf is the device's "
       "limit."),
    RC("SEG_SIZE", MEMUNITS, seg_size, "8256", 512, 1048576,
       "Bytes of a send or receive buffer: the limit of an active message."),
    RC("TX_MAX_POLL", UINT, tx_max_poll, "16", 1, 256,
       "Completions of sends taken at a time."),
    RC("RX_MAX_POLL", UINT, rx_max_poll, "16", 1, 256,
       "Received messages taken at a time."),
    RC("FC_ENABLE", BOOL, credits, "y", 0, 0,
       "Limit the active messages that a receiver has not polled yet."),
    RC("FC_WND_SIZE", UINT, credit_window, "512", 2, 16384,
       "Active messages that a connection may send before the receiver has "
       "granted more, at most. The receiver's connections share its receive "
       "queue."),
    RC("LINGER_TIMEOUT", TIME, linger, "2s", 0, 0,
       "Time that a connection of an iWARP device stays open after its end was "
       "closed, until the peer closes its end, too."),
};

static const ucx_config_field_t ud_fields[] = {
    PATHS(ib_ud_config_t),
    UD("TIMEOUT", TIME, timeout, "5m", 0, 0,
       "Time without an acknowledgement after which the peer counts as lost. A "
       "process acknowledges only while it makes progress."),
    UD("LINGER_TIMEOUT", TIME, linger, "1s", 0, 0,
       "Time that closing an interface waits for acknowledgements of what was "
       "sent."),
    UD("TIMER_TICK", TIME, timer_tick, "10ms", 0, 0,
       "Shortest time without an acknowledgement after which packets are sent "
       "again. More is taken as round trips need."),
    UD("TIMER_BACKOFF", DOUBLE, timer_backoff, "2.0", 0, 0,
       "Factor of that time for each time that nothing was acknowledged."),
    UD("ACK_DELAY", TIME, ack_delay, "2.5ms", 0, 0,
       "Time that an acknowledgement waits for a packet to travel with."),
    UD("MAX_WINDOW", UINT, max_window, "256", 2, 65536,
       "Packets of a connection that wait for acknowledgement, at most."),
    UD("TX_QUEUE_LEN", UINT, tx_queue_len, "256", 8, 16384,
       "Send queue of an interface, in packets."),
    UD("TX_CQ_MODERATION", UINT, tx_moderation, "64", 1, 4096,
       "Packets between two that ask for a completion; at most a quarter of "
       "the send queue."),
    UD("TX_MIN_INLINE", UINT, tx_min_inline, "64", 64, 4096,
       "Bytes that a packet can carry in its work request, at least."),
    UD("RX_QUEUE_LEN", UINT, rx_queue_len, "1024", 64, 65536,
       "Receive buffers of an interface."),
    UD("TX_MAX_POLL", UINT, tx_max_poll, "16", 1, 256,
       "Completions of sends taken at a time."),
    UD("RX_MAX_POLL", UINT, rx_max_poll, "16", 1, 256,
       "Received messages taken at a time."),
    UD("ETH_DGID_CHECK", BOOL, dgid_check, "y", 0, 0,
       "Drop packets on RoCE that are for another address than the port's."),
};

const ucx_config_table_t ib_md_config_table = {
    .size         = sizeof(ib_md_config_table),
    .prefix       = "IB_",
    .options_size = sizeof(ib_md_config_t),
    .field_size   = sizeof(ucx_config_field_t),
    .fields       = md_fields,
    .num_fields   = COUNT(md_fields),
};

const ucx_config_table_t ib_rc_config_table = {
    .size         = sizeof(ib_rc_config_table),
    .prefix       = "RC_",
    .options_size = sizeof(ib_rc_config_t),
    .field_size   = sizeof(ucx_config_field_t),
    .fields       = rc_fields,
    .num_fields   = COUNT(rc_fields),
};

const ucx_config_table_t ib_ud_config_table = {
    .size         = sizeof(ib_ud_config_table),
    .prefix       = "UD_",
    .options_size = sizeof(ib_ud_config_t),
    .field_size   = sizeof(ucx_config_field_t),
    .fields       = ud_fields,
    .num_fields   = COUNT(ud_fields),
};
