/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variables of UCP and what they are set to.
 */
#ifndef UCP_CONFIG_H
#define UCP_CONFIG_H

#include "ucs/config/config.h"

typedef struct ucp_config_options {
    ucs_config_allow_list_t tls;
    ucs_config_allow_list_t net_devices;
    size_t                  zcopy_thresh;  /**< SIZE_MAX: by cost */
    size_t                  rndv_thresh;   /**< SIZE_MAX: by cost */
    unsigned                rndv_scheme;   /**< ucp_rndv_scheme_t */
    size_t                  rndv_frag_size; /**< 0: as large as can be */
    int                     proto_info;
    size_t                  nbr_rndv_thresh; /**< Of ucp_tag_send_nbr */
    size_t                  rndv_nbr_thresh; /**< The same by another name, as
                                                  it was read */
    unsigned long           num_eps;       /**< UCS_ULUNITS_AUTO: as the
                                                application says; so the next
                                                two */
    unsigned long           num_ppn;
    unsigned long           local_node_id;
    ucs_config_names_array_t sockaddr_tls_priority;
    int                     cm_use_all_devices;
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

/** The environment was read and every plugin's promise is known: names what
 *  nobody knows. */
void ucp_config_warn_unknown(const char *app_prefix);

#endif
