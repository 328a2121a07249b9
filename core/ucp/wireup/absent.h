/* SPDX-License-Identifier: BSD-3-Clause */
/* For an error message: which of a peer's transports this process lacks. */
#ifndef UCP_WIREUP_ABSENT_H
#define UCP_WIREUP_ABSENT_H

#include "ucp/wireup/address.h"
#include "ucs/datastruct/string_buffer.h"

/** Appends to `why` the transports in the peer's address for which this worker
 *  has no interface: by name if a component that is installed here declares
 *  them, otherwise only their number. Also says if no plugin is installed. */
void ucp_wireup_append_absent(ucp_worker_h worker,
                              const ucp_address_info_t *peer,
                              ucs_string_buffer_t *why);

#endif
