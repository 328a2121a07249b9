/* SPDX-License-Identifier: BSD-3-Clause */
/* The variables of the plugin. README.md explains their use. */
#ifndef IB_CONFIG_H
#define IB_CONFIG_H

#include "plugin.h"

/* UCX_IB_*: the device, its memory and its ports */
typedef struct ib_md_config {
    unsigned gid_index; /* UINT_MAX: selected from the port's table */
    unsigned sl;        /* Service level, 0 to 15 */
    unsigned traffic_class;
    unsigned hop_limit;
    unsigned pkey;        /* 0: the first full member of the table */
    unsigned path_mtu;    /* Index into ib_mtu_names */
    int rcache;           /* A ternary value */
    int relaxed_ordering; /* A ternary value */
    int odp;              /* A ternary value */
    int fork_init;        /* A ternary value */
    int is_global;        /* Use a global header within a subnet, too */
    int local_subnet;     /* Reach only RoCE ports of the same subnet */
} ib_md_config_t;

/* Variables of a transport. A value that the user sets takes precedence over
 * the variable UCX_IB_* of the same name. */
typedef struct ib_path_config {
    unsigned sl, traffic_class, hop_limit; /* UINT_MAX: as UCX_IB_* */
    unsigned pkey, path_mtu;               /* 0: as UCX_IB_* */
    int is_global, local_subnet;           /* UCS_AUTO: as UCX_IB_* */
} ib_path_config_t;

/* UCX_RC_*: connections */
typedef struct ib_rc_config {
    ib_path_config_t path;
    double timeout; /* Seconds until a retransmission */
    unsigned retry_count;
    double rnr_timeout; /* Seconds between attempts if the receiver is not
                         * ready */
    unsigned rnr_retry_count;
    unsigned tx_queue_len;
    unsigned tx_moderation;
    unsigned tx_cq_len;
    unsigned tx_min_inline;
    unsigned rx_queue_len;
    unsigned max_rd_atomic;
    size_t seg_size;
    unsigned tx_max_poll, rx_max_poll;
    int credits;
    unsigned credit_window;
    double linger; /* Seconds */
} ib_rc_config_t;

/* UCX_UD_*: datagrams */
typedef struct ib_ud_config {
    ib_path_config_t path;
    double timeout; /* Seconds without an acknowledgement until the peer is
                     * lost */
    /* Seconds to wait for acknowledgements on close, at most */
    double linger;
    double timer_tick; /* Minimum seconds until a retransmission */
    double timer_backoff;
    double ack_delay; /* Seconds */
    unsigned max_window;
    unsigned tx_queue_len;
    unsigned tx_moderation;
    unsigned tx_min_inline;
    unsigned rx_queue_len;
    unsigned tx_max_poll, rx_max_poll;
    int dgid_check;
} ib_ud_config_t;

extern const char *const ib_mtu_names[];
extern const ucx_config_table_t ib_md_config_table;
extern const ucx_config_table_t ib_rc_config_table;
extern const ucx_config_table_t ib_ud_config_table;

#endif
