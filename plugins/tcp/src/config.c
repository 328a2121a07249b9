/* SPDX-License-Identifier: BSD-3-Clause */
/* Names, defaults and help of the variables. README.md explains their use. */
#include "config.h"

#include <stddef.h>
#include <stdlib.h>

#define MD(_name, _type, _member, _dflt, _help) \
    { \
        _name, UCX_CONFIG_##_type, offsetof(tcp_md_config_t, _member), _dflt, \
            _help, NULL, 0, 0 \
    }
#define IFACE(_name, _type, _member, _dflt, _min, _max, _help) \
    { \
        _name, UCX_CONFIG_##_type, offsetof(tcp_iface_config_t, _member), \
            _dflt, _help, NULL, _min, _max \
    }
#define CM(_name, _type, _member, _dflt, _min, _max, _help) \
    { \
        _name, UCX_CONFIG_##_type, offsetof(tcp_cm_config_t, _member), _dflt, \
            _help, NULL, _min, _max \
    }
#define COUNT(_a) (sizeof(_a) / sizeof((_a)[0]))

static const ucx_config_field_t md_fields[] = {
    MD("AF_PRIO", STRING_LIST, af_prio, "inet,inet6",
       "Address families to use, the preferred one first. A device that has "
       "an address of several families is used with the first of them; a "
       "device without any of them is not used."),
};

static const ucx_config_field_t iface_fields[] = {
    IFACE("TX_SEG_SIZE", MEMUNITS, tx_seg_size, "64k", 4096, 1048576,
          "Bytes of a send buffer: the limit of buffered (bcopy) messages, "
          "and the amount of queued data that is sent at once."),
    IFACE("RX_SEG_SIZE", MEMUNITS, rx_seg_size, "256k", 4096, 1048576,
          "Bytes to receive by one system call, and the limit of zero-copy "
          "active messages."),
    IFACE("MAX_IOV", UINT, max_iov, "16", 1, 32,
          "Entries of a zero-copy operation."),
    IFACE("SENDV_THRESH", MEMUNITS, sendv_thresh, "2k", 0, 0,
          "Zero-copy sends up to this size are copied if they are queued "
          "behind others, so that their buffers can be reused at once."),
    IFACE("PREFER_DEFAULT", BOOL, prefer_default, "y", 0, 0,
          "Give the device of the default route a higher priority than other "
          "devices with the same properties."),
    IFACE("MAX_POLL", UINT, max_poll, "4", 1, 1024,
          "Receive calls on one connection in one round of progress."),
    IFACE("NODELAY", BOOL, nodelay, "y", 0, 0,
          "Disable Nagle's algorithm: small messages are sent at once."),
    IFACE("SNDBUF", MEMUNITS, sndbuf, "auto", 0, 0,
          "Send buffer of a socket; auto lets the system adapt it."),
    IFACE("RCVBUF", MEMUNITS, rcvbuf, "auto", 0, 0,
          "Receive buffer of a socket; auto lets the system adapt it."),
    IFACE("SYN_CNT", MEMUNITS, syn_cnt, "auto", 0, 0,
          "How often the system sends a connection request again; auto is "
          "the system's setting."),
    IFACE("PORT_RANGE", STRING, port_range, "0", 0, 0,
          "Ports to listen on, as FIRST-LAST; 0 is any port."),
    IFACE("KEEPIDLE", TIME, keepidle, "auto", 0, 0,
          "Idle time after which the system probes the peer; inf disables the "
          "probes. auto takes the keepalive interval with which the interface "
          "is opened, or 10s."),
    IFACE("KEEPCNT", MEMUNITS, keepcnt, "3", 0, 0,
          "Number of missing answers to probes after which the peer counts as "
          "lost; auto is the system's setting."),
    IFACE("KEEPINTVL", TIME, keepintvl, "2s", 0, 0,
          "Time between two probes of a peer that does not answer."),
    IFACE("USER_TIMEOUT", TIME, user_timeout, "30s", 0, 0,
          "Time after which a peer counts as lost if its host does not "
          "acknowledge sent data; inf leaves it to the system. A peer that is "
          "only too busy to receive does not count as lost."),
    IFACE("MAX_CONN_RETRIES", UINT, max_conn_retries, "25", 0, 1000,
          "Maximum number of further attempts to connect after the peer "
          "closed the connection before it answered, or when descriptors have "
          "run out."),
    IFACE("EP_BIND_SRC_ADDR", BOOL, bind_src_addr, "y", 0, 0,
          "Connect to other hosts from the address of the device, so that "
          "routing by source address applies."),
    IFACE("CONNECT_TIMEOUT", TIME, connect_timeout, "30s", 0, 0,
          "Maximum time for the host of a peer to accept a connection. The "
          "peer itself may be busy for longer."),
    IFACE("HANDSHAKE_TIMEOUT", TIME, handshake_timeout, "10s", 0, 0,
          "Maximum time for a connected peer to send its greeting."),
    IFACE("MAX_UNKNOWN_CONNS", UINT, max_unknown, "512", 1, 65536,
          "Maximum number of connections without a greeting; the oldest is "
          "closed if there are more."),
    IFACE("NUM_PATHS", UINT, num_paths, "0", 0, 16,
          "Number of connections to one peer to use at the same time; 0: "
          "determined by the speed of the device."),
    IFACE("BACKLOG", UINT, backlog, "4096", 1, 65535,
          "Number of connections that the system queues until they are "
          "accepted."),
};

static const ucx_config_field_t cm_fields[] = {
    CM("PRIV_DATA_LEN", MEMUNITS, priv_data_len, "2048", 64, 16384,
       "Maximum size of the private data of a connection request or its "
       "answer."),
    CM("TIMEOUT", TIME, timeout, "30s", 0, 0,
       "Maximum time to connect, and for a client to send its request."),
    CM("MAX_UNKNOWN_CONNS", UINT, max_unknown, "512", 1, 65536,
       "Maximum number of connections without a complete request; the oldest "
       "is closed if there are more."),
};

const ucx_config_table_t tcp_md_config_table = {
    .size         = sizeof(tcp_md_config_table),
    .prefix       = "TCP_",
    .options_size = sizeof(tcp_md_config_t),
    .field_size   = sizeof(ucx_config_field_t),
    .fields       = md_fields,
    .num_fields   = COUNT(md_fields),
};

const ucx_config_table_t tcp_iface_config_table = {
    .size         = sizeof(tcp_iface_config_table),
    .prefix       = "TCP_",
    .options_size = sizeof(tcp_iface_config_t),
    .field_size   = sizeof(ucx_config_field_t),
    .fields       = iface_fields,
    .num_fields   = COUNT(iface_fields),
};

const ucx_config_table_t tcp_cm_config_table = {
    .size         = sizeof(tcp_cm_config_table),
    .prefix       = "TCP_CM_",
    .options_size = sizeof(tcp_cm_config_t),
    .field_size   = sizeof(ucx_config_field_t),
    .fields       = cm_fields,
    .num_fields   = COUNT(cm_fields),
};

/* Parses a port number, and sets *end_p to the first character after it.
 * Returns -1 if the number is invalid. */
static long port_number(const char *text, char **end_p)
{
    long port;

    if ((*text < '0') || (*text > '9')) {
        return -1;
    }
    port = strtol(text, end_p, 10);
    return (port <= 65535) ? port : -1;
}

ucs_status_t tcp_config_port_range(const char *text, unsigned *first_p,
                                   unsigned *last_p)
{
    long first, last;
    char *end;

    *first_p = *last_p = 0;
    if ((text == NULL) || (*text == '\0')) {
        return UCS_OK;
    }

    first = last = port_number(text, &end);
    if ((first > 0) && (*end == '-')) {
        last = port_number(end + 1, &end);
    }
    if ((first < 0) || (last < first) || (*end != '\0')) {
        return UCS_ERR_INVALID_PARAM;
    }

    *first_p = (unsigned)first;
    *last_p  = (unsigned)last;
    return UCS_OK;
}
