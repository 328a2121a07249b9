/* SPDX-License-Identifier: BSD-3-Clause */
/* The variables of this plugin, UCX_TCP_...; the core parses them into these
 * structures. config.c describes each variable. Sizes are in bytes, times in
 * seconds. */
#ifndef TCP_CONFIG_H
#define TCP_CONFIG_H

#include <ucs/config/types.h>
#include <ucs/type/status.h>
#include <ucx/config.h>

/* Memory domain. */
typedef struct tcp_md_config {
    ucs_config_names_array_t af_prio;
} tcp_md_config_t;

/* Interface. */
typedef struct tcp_iface_config {
    size_t tx_seg_size;
    size_t rx_seg_size;
    unsigned max_iov;
    size_t sendv_thresh;
    int prefer_default;
    unsigned max_poll;
    int nodelay;
    size_t sndbuf;
    size_t rcvbuf;
    size_t syn_cnt;
    char *port_range;
    double keepidle;
    size_t keepcnt;
    double keepintvl;
    double user_timeout;
    unsigned max_conn_retries;
    int bind_src_addr;
    double connect_timeout;
    double handshake_timeout;
    unsigned max_unknown;
    unsigned num_paths;
    unsigned backlog;
} tcp_iface_config_t;

/* Connection manager. */
typedef struct tcp_cm_config {
    size_t priv_data_len;
    double timeout;
    unsigned max_unknown;
} tcp_cm_config_t;

extern const ucx_config_table_t tcp_md_config_table;
extern const ucx_config_table_t tcp_iface_config_table;
extern const ucx_config_table_t tcp_cm_config_table;

/* Returns whether a size or count is set. For 0, "auto" (SIZE_MAX - 1) and
 * "inf" (SIZE_MAX) the system's default applies. */
static inline int tcp_config_is_set(size_t value)
{
    return (value != 0) && (value < SIZE_MAX - 1);
}

/* Parses "0", "5000" or "5000-5999" into the first and last port; both are 0
 * for any port. */
ucs_status_t tcp_config_port_range(const char *text, unsigned *first_p,
                                   unsigned *last_p);

#endif
