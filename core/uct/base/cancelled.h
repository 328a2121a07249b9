/* SPDX-License-Identifier: BSD-3-Clause */
/* The error state of endpoints after a flush with UCT_FLUSH_FLAG_CANCEL. */
#ifndef UCT_BASE_CANCELLED_H
#define UCT_BASE_CANCELLED_H

#include <ucx/transport.h>

/* Rejects every later send of the endpoint with UCS_ERR_CANCELED, for all
 * transports and without cost for other endpoints. The transport still handles
 * destruction and flushes of outstanding operations. Endpoints of connection
 * managers are not changed: they have a state of their own. */
void uct_ep_set_cancelled(uct_ep_h ep);

#endif
