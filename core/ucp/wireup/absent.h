/* SPDX-License-Identifier: BSD-3-Clause */
/* Names what this process lacks to reach a peer. */
#ifndef UCP_WIREUP_ABSENT_H
#define UCP_WIREUP_ABSENT_H

#include "ucp/wireup/address.h"
#include "ucs/datastruct/string_buffer.h"

/** Appends the peer's transports of which this worker has no interface, and
 *  whether a plugin has them; and that there is no plugin, if there is none. */
void ucp_wireup_append_absent(ucp_worker_h worker,
                              const ucp_address_info_t *peer,
                              ucs_string_buffer_t *why);

#endif
