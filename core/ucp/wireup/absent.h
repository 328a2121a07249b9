/* SPDX-License-Identifier: BSD-3-Clause */
/* Names the transports that this process would need to reach a peer. */
#ifndef UCP_WIREUP_ABSENT_H
#define UCP_WIREUP_ABSENT_H

#include "ucp/wireup/address.h"
#include "ucs/datastruct/string_buffer.h"

/** Appends the peer's transports for which this worker has no interface, and
 *  whether an installed plugin provides them; or that no plugin is
 *  installed. */
void ucp_wireup_append_absent(ucp_worker_h worker,
                              const ucp_address_info_t *peer,
                              ucs_string_buffer_t *why);

#endif
