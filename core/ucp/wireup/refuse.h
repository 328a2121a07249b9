/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telling a peer that the lanes it asked for cannot be had, where there is no
 * endpoint to tell it by.
 */
#ifndef UCP_WIREUP_REFUSE_H
#define UCP_WIREUP_REFUSE_H

#include "ucp/wireup/address.h"
#include "ucp/wireup/records.h"

/** Best effort: a peer that cannot be reached is not told. */
void ucp_wireup_refuse(ucp_worker_h worker, const ucp_address_info_t *peer,
                       const ucp_wireup_request_t *request,
                       ucs_status_t status);

#endif
