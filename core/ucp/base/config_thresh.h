/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The type of a setting with one size in bytes for peers on this machine
 * (intra) and one for all other peers (inter): "16k" for both, or
 * "intra:16k,inter:128k". A size that is not set is UCS_MEMUNITS_AUTO.
 */
#ifndef UCP_CONFIG_THRESH_H
#define UCP_CONFIG_THRESH_H

#include "ucs/config/config.h"

typedef struct ucp_config_thresh {
    size_t intra;
    size_t inter;
} ucp_config_thresh_t;

extern const ucs_config_type_t ucp_config_type_thresh;

#define UCP_CONFIG_TYPE_THRESH &ucp_config_type_thresh, NULL

#endif
