/* SPDX-License-Identifier: BSD-3-Clause */
/* The service of an interface: receives, acknowledges and retransmits packets
 * while the user does not call progress. */
#ifndef IB_UD_SERVICE_H
#define IB_UD_SERVICE_H

#include "ud.h"

/* Starts the service when the interface has its first endpoint. Does nothing if
 * the service runs already. The caller, the user's or the service thread, holds
 * the guard. */
void ud_service_start(ud_iface_t *iface);
/* Stops the service. After the return, the service thread does not use the
 * interface any more. */
void ud_service_stop(ud_iface_t *iface);
/* Starts the timer of the service again: after a pause, or with another
 * interval. The caller holds the guard. */
void ud_service_resume(ud_iface_t *iface);
/* Sends an empty packet (UD_NOTHING) from each endpoint that does not belong to
 * the user and has nothing to send. If the peer is lost, the packet is not
 * acknowledged, so the endpoint fails after the timeout and is freed. Called by
 * the user's thread, in progress. One call sends only some of the packets; the
 * next progress continues. */
void ud_service_check(ud_iface_t *iface);

#endif
