/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration variables of the plugin. config.c contains their names,
 * defaults and help texts. */
#ifndef IB_CONFIG_H
#define IB_CONFIG_H

#include "plugin.h"

/* UCX_IB_*: the device, its memory and its ports */
typedef struct ib_md_config {
    unsigned gid_index;     /* Index into the port's GID table; UINT_MAX: the
                             * plugin selects an entry */
    unsigned sl;            /* Service level, 0 to 15 */
    unsigned traffic_class; /* Traffic class in global headers, 0 to 255 */
    unsigned hop_limit;     /* Hop limit in global headers, 0 to 255 */
    unsigned pkey;          /* Partition key; 0: the first entry of the port's
                             * table that is a full member, else the first
                             * limited member */
    unsigned path_mtu;      /* Index into ib_mtu_names; equal to an ibv_mtu.
                             * 0: the MTU of the port */
    /* UCS_NO, UCS_YES, UCS_TRY or UCS_AUTO */
    int rcache;           /* Cache registrations */
    int relaxed_ordering; /* Register memory with relaxed PCI ordering */
    int odp;              /* Register memory for on-demand paging */
    int fork_init;        /* Call ibv_fork_init() */
    /* 0 or 1 */
    int is_global;    /* Use a global header within an InfiniBand subnet, too */
    int local_subnet; /* Reach only RoCE ports of the same subnet */
} ib_md_config_t;

/* Variables that exist for each transport (UCX_RC_*, UCX_UD_*) and for the
 * domain (UCX_IB_*, ib_md_config_t above). The transport's value is used unless
 * it is the special value named below. */
typedef struct ib_path_config {
    unsigned sl, traffic_class, hop_limit; /* UINT_MAX: use UCX_IB_* */
    unsigned pkey, path_mtu;               /* 0: use UCX_IB_* */
    int is_global, local_subnet;           /* UCS_AUTO: use UCX_IB_* */
} ib_path_config_t;

/* UCX_RC_*: reliable connections */
typedef struct ib_rc_config {
    ib_path_config_t path;
    double timeout;           /* Seconds without an acknowledgement until the
                               * device retransmits */
    unsigned retry_count;     /* Retransmissions until the peer is lost */
    double rnr_timeout;       /* Seconds that a sender waits before it retries
                               * because the receiver had no buffer */
    unsigned rnr_retry_count; /* Number of such retries; 7: no limit */
    unsigned tx_queue_len;    /* Work requests in a connection's send queue */
    unsigned tx_moderation;   /* At least one in so many work requests is
                               * signaled */
    unsigned tx_cq_len; /* Entries of an interface's send completion queue */
    unsigned tx_min_inline; /* Bytes of inline data of a work request, at
                             * least */
    unsigned rx_queue_len;  /* Entries of an interface's receive queue, which
                             * its connections share */
    unsigned max_rd_atomic; /* Maximum number of outstanding reads and atomics
                             * of a connection; UINT_MAX: the device's limit */
    size_t seg_size;        /* Bytes of a send or receive buffer */
    unsigned tx_max_poll, rx_max_poll; /* Completions per call of
                                        * ibv_poll_cq() */
    int credits;                       /* 1: use flow control (rc_credits.c) */
    unsigned credit_window; /* Maximum number of messages that a sender may send
                             * before the receiver has polled the first */
    double linger;          /* iWARP: seconds for which a destroyed endpoint
                             * waits for its peer, at most */
} ib_rc_config_t;

/* UCX_UD_*: unreliable datagrams */
typedef struct ib_ud_config {
    ib_path_config_t path;
    double timeout;         /* Seconds without an acknowledgement until the peer
                             * is lost */
    double linger;          /* Seconds for which the close of an interface waits
                             * for acknowledgements, at most */
    double timer_tick;      /* Seconds until a retransmission, at least */
    double timer_backoff;   /* Factor by which each further timeout of the same
                             * packet is longer */
    double ack_delay;       /* Seconds for which an acknowledgement waits for a
                             * packet that can carry it, at most */
    unsigned max_window;    /* Maximum number of unacknowledged packets of a
                             * connection */
    unsigned tx_queue_len;  /* Packets in an interface's send queue */
    unsigned tx_moderation; /* At least one in so many packets is signaled */
    unsigned tx_min_inline; /* Bytes of inline data of a work request, at
                             * least */
    unsigned rx_queue_len;  /* Entries of an interface's receive queue */
    unsigned tx_max_poll, rx_max_poll; /* Completions per call of
                                        * ibv_poll_cq() */
    int dgid_check; /* 1: on RoCE, drop packets for another GID than the
                     * port's */
} ib_ud_config_t;

/* Values of PATH_MTU: "default", then the sizes in bytes; ends with NULL */
extern const char *const ib_mtu_names[];
extern const ucx_config_table_t ib_md_config_table;
extern const ucx_config_table_t ib_rc_config_table;
extern const ucx_config_table_t ib_ud_config_table;

#endif
