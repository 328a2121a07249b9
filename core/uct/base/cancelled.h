/* SPDX-License-Identifier: BSD-3-Clause */
/* The error state of endpoints after a flush with UCT_FLUSH_FLAG_CANCEL. */
#ifndef UCT_BASE_CANCELLED_H
#define UCT_BASE_CANCELLED_H

#include <ucx/transport.h>

/* From now on every send by the endpoint is rejected with UCS_ERR_CANCELED, for
 * all transports and at no cost for other endpoints. Its end, and flushes of what
 * is outstanding, remain the transport's. Endpoints of connection managers are
 * left alone: they keep their own state. */
void uct_ep_set_cancelled(uct_ep_h ep);

#endif
