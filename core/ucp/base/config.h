/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values of UCP's configuration variables (UCX_*), and ucp_config_t.
 * core/config.c has the table with the names of the variables.
 */
#ifndef UCP_CONFIG_H
#define UCP_CONFIG_H

#include <uct/api/uct_def.h>

#include "ucp/base/config_sizes.h"
#include "ucp/base/config_thresh.h"
#include "ucs/config/config.h"

/** Value of a threshold that the user has set to "inf": no message is that
 *  long. In contrast, SIZE_MAX means that the protocol is selected by cost. */
#define UCP_PROTO_THRESH_NEVER (SIZE_MAX - 1)

/** How the data of a rendezvous is transferred. Also the values of
 *  UCX_RNDV_SCHEME. */
typedef enum {
    UCP_RNDV_SCHEME_AUTO, /**< The scheme of the lowest cost */
    UCP_RNDV_SCHEME_GET,
    UCP_RNDV_SCHEME_PUT,
    UCP_RNDV_SCHEME_AM,
    UCP_RNDV_SCHEME_LAST,
} ucp_rndv_scheme_t;

typedef struct ucp_config_options {
    ucs_config_allow_list_t tls;
    ucs_config_allow_list_t devices[UCT_DEVICE_TYPE_LAST];
    int warn_invalid_config;
    size_t zcopy_thresh;             /**< Bytes; SIZE_MAX: selected by cost */
    size_t bcopy_thresh;             /**< Bytes; 0: selected by cost */
    ucp_config_thresh_t rndv_thresh; /**< Bytes; SIZE_MAX: selected by cost */
    unsigned rndv_scheme;            /**< ucp_rndv_scheme_t */
    ucp_config_sizes_t rndv_frag_size;
    unsigned max_eager_lanes;
    unsigned max_rndv_lanes;
    unsigned max_rma_lanes;
    /** A lane carries a part of a large transfer only if the bandwidth of the
     *  best lane is at most this many times the bandwidth of the lane. At least
     *  1 */
    double max_lane_ratio;
    int proto_info;
    int proto_measure;
    int proto_learn;
    int proto_learn_streams;
    int adaptive_progress;
    /** In bytes: receives into smaller buffers are not posted to a transport
     *  that matches tags. SIZE_MAX, or less than the transport's minimum: this
     *  minimum */
    size_t tm_thresh;
    /** In bytes: shorter messages of ucp_tag_send_nbr complete without waiting
     *  for the receiver */
    size_t nbr_rndv_thresh;
    /** If one of these three is UCS_ULUNITS_AUTO, the value that the
     *  application has passed to ucp_init is used */
    unsigned long num_eps;
    unsigned long num_ppn;
    unsigned long local_node_id;
    ucs_config_names_array_t sockaddr_tls_priority;
    int cm_use_all_devices;
    int address_debug_info;
    /** UCS_ULUNITS_AUTO means the limit of the system */
    unsigned long listener_backlog;
    /** Seconds between two checks for lost peers; 0 or infinite: no checks */
    double keepalive_interval;
    /** Maximum number of endpoints of a worker that are checked for lost peers
     *  in one interval */
    unsigned long keepalive_num_eps;
    /** Seconds after which an endpoint fails if its peer has not answered the
     *  request to connect lanes; 0 or infinite: never */
    double wireup_timeout;
} ucp_config_options_t;

struct ucp_config {
    /** As read: "auto" and "inf" are UCS_MEMUNITS_AUTO and UCS_MEMUNITS_INF.
     *  ucp_config_options_clone() converts them to the values described above,
     *  for the context */
    ucp_config_options_t options;
    char *app_prefix; /**< Prefix of variables (PREFIX_UCX_*), or NULL */
    char *filename;   /**< Additional file with settings, or NULL */
    /** Settings made by ucp_config_modify of variables that belong to
     *  transports; they are applied when a transport's configuration is read */
    ucs_config_overrides_t overrides;
};

#endif
