/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_cm_class: the functions that the close and the failure of an endpoint
 * call for its connection by socket address. This class has no messages
 * (ucp_class_t, see base/class.h).
 */
#include "ucp/base/class.h"

#include "ucp/cm/cm.h"

const ucp_class_t ucp_cm_class = {
    .name         = "cm",
    .ep_fail      = ucp_cm_shut,
    .ep_leave     = ucp_cm_leave,
    .ep_peer_left = ucp_cm_peer_left,
    .ep_detach    = ucp_cm_free,
};
