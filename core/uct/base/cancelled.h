/* SPDX-License-Identifier: BSD-3-Clause */
/* The error state of endpoints after a flush with UCT_FLUSH_FLAG_CANCEL. */
#ifndef UCT_BASE_CANCELLED_H
#define UCT_BASE_CANCELLED_H

#include <ucx/transport.h>

/* Replaces the endpoint's table of operations, so that every later send returns
 * UCS_ERR_CANCELED. Works for all transports, and costs nothing on other
 * endpoints. The transport still destroys the endpoint, and flushes operations
 * that are outstanding. Endpoints of connection managers (without an
 * interface), and endpoints whose table UCP has replaced, are not changed. */
void uct_ep_set_cancelled(uct_ep_h ep);

#endif
