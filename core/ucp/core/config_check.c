/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks combinations of UCP's configuration variables, for example a
 * zero-copy threshold above a rendezvous threshold. Single values are checked
 * when they are parsed; tl_explain.c checks the lists of transports and devices
 * against this machine.
 */
#include "ucp/core/config.h"

#include "ucs/debug/log.h"
#include "ucs/sys/math.h"

enum { SIZE_TEXT = 32 };

/* True if the user has set the threshold to a size above 0: not to auto or
 * inf. */
static int is_size(size_t thresh)
{
    return (thresh > 0) && (thresh < UCS_MEMUNITS_AUTO);
}

static void check_thresholds(const ucp_config_options_t *options)
{
    const size_t zcopy = options->zcopy_thresh, bcopy = options->bcopy_thresh;
    const size_t rndv = ucs_max(options->rndv_thresh.intra,
                                options->rndv_thresh.inter);
    char larger[SIZE_TEXT], smaller[SIZE_TEXT];

    ucs_memunits_to_str(zcopy, larger, sizeof(larger));
    if (is_size(zcopy) && (rndv < UCS_MEMUNITS_AUTO) && (zcopy >= rndv)) {
        ucs_memunits_to_str(rndv, smaller, sizeof(smaller));
        ucs_warn("UCX_ZCOPY_THRESH=%s has no effect: from UCX_RNDV_THRESH=%s "
                 "on all messages use rendezvous; set it lower",
                 larger, smaller);
    }
    if (is_size(bcopy) && is_size(zcopy) && (bcopy > zcopy)) {
        ucs_memunits_to_str(bcopy, smaller, sizeof(smaller));
        ucs_warn("UCX_BCOPY_THRESH=%s is larger than UCX_ZCOPY_THRESH=%s: no "
                 "size uses a buffered copy; set it lower",
                 smaller, larger);
    }
}

static void check_shape(const ucp_config_options_t *options)
{
    if ((options->num_ppn < UCS_ULUNITS_AUTO) &&
        (options->local_node_id < UCS_ULUNITS_AUTO) &&
        (options->local_node_id >= options->num_ppn)) {
        ucs_warn("UCX_LOCAL_NODE_ID=%lu counts from 0 and should be less than"
                 " UCX_NUM_PPN=%lu, the number of processes here",
                 options->local_node_id, options->num_ppn);
    }
}

ucs_status_t ucp_config_check(const ucp_config_options_t *options)
{
    const ucs_config_allow_list_t *tls = &options->tls;

    if ((tls->mode == UCS_CONFIG_ALLOW_LIST_ALLOW) && (tls->array.count == 0)) {
        ucs_error("UCX_TLS is empty and allows no transport; name some, or "
                  "unset it to use all");
        return UCS_ERR_INVALID_PARAM;
    }

    if (options->warn_invalid_config) {
        check_thresholds(options);
        check_shape(options);
    }
    return UCS_OK;
}
