/* SPDX-License-Identifier: BSD-3-Clause */
/* The table through which the core calls the checking layer (check.h). */
#include "uct/check/internal.h"

const uct_check_layer_t ucx_check_layer = {
    .size             = sizeof(ucx_check_layer),
    .start            = uct_check_start,
    .tl_create        = uct_check_tl_create,
    .cm_create        = uct_check_cm_create,
    .tl_destroy       = uct_check_tl_destroy,
    .md_ops           = uct_check_md_ops,
    .iface_create     = uct_check_iface_create,
    .iface_destroy    = uct_check_iface_destroy,
    .md_create        = uct_check_md_create,
    .listed_mds       = uct_check_listed_mds,
    .listed_devices   = uct_check_listed_devices,
    .opened           = uct_check_opened,
    .returned         = uct_check_returned,
    .am_handler       = uct_check_am_handler,
    .failure          = uct_check_failure,
    .oneshot          = uct_check_oneshot,
    .progress_wrap    = uct_check_progress_wrap,
    .progress_added   = uct_check_progress_added,
    .progress_removed = uct_check_progress_removed,
};
