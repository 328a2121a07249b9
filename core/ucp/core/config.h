/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variables of UCP and what they are set to.
 */
#ifndef UCP_CONFIG_H
#define UCP_CONFIG_H

#include <uct/api/uct_def.h>

#include "ucp/core/config_sizes.h"
#include "ucp/core/config_thresh.h"
#include "ucs/config/config.h"

typedef struct ucp_config_options {
    ucs_config_allow_list_t tls;
    ucs_config_allow_list_t devices[UCT_DEVICE_TYPE_LAST];
    int                     warn_invalid_config;
    size_t                  zcopy_thresh;  /**< SIZE_MAX: by cost */
    size_t                  bcopy_thresh;  /**< 0: by cost */
    ucp_config_thresh_t     rndv_thresh;   /**< SIZE_MAX: by cost */
    unsigned                rndv_scheme;   /**< ucp_rndv_scheme_t */
    ucp_config_sizes_t      rndv_frag_size;
    unsigned                max_eager_lanes;
    unsigned                max_rndv_lanes;
    unsigned                max_rma_lanes;
    double                  max_lane_ratio; /**< Of the best to the slowest */
    int                     proto_info;
    int                     adaptive_progress;
    size_t                  nbr_rndv_thresh; /**< Of ucp_tag_send_nbr */
    unsigned long           num_eps;       /**< UCS_ULUNITS_AUTO: as the
                                                application says; so the next
                                                two */
    unsigned long           num_ppn;
    unsigned long           local_node_id;
    ucs_config_names_array_t sockaddr_tls_priority;
    int                     cm_use_all_devices;
    int                     address_debug_info;
    unsigned long           listener_backlog;   /**< UCS_ULUNITS_AUTO: as the
                                                     system allows */
    double                  keepalive_interval; /**< Seconds */
    unsigned long           keepalive_num_eps;  /**< A round, at most */
} ucp_config_options_t;

struct ucp_config {
    ucp_config_options_t   options;
    char                   *app_prefix;  /**< NULL: none */
    char                   *filename;    /**< NULL: none */
    ucs_config_overrides_t overrides;    /**< By ucp_config_modify, also for
                                              tables that are not read yet */
};

/** A deep copy of options, and its end. */
ucs_status_t ucp_config_options_clone(ucp_config_options_t *dest,
                                      const ucp_config_options_t *src);
void ucp_config_options_release(ucp_config_options_t *options);

/**
 * Looks for settings that make no sense together: warns of those that have no
 * effect, and refuses (UCS_ERR_INVALID_PARAM) those that leave nothing.
 */
ucs_status_t ucp_config_check(const ucp_config_options_t *options);

#endif
