/* SPDX-License-Identifier: BSD-3-Clause */
/* Service of an interface while its user does not call progress. */
#ifndef IB_UD_SERVICE_H
#define IB_UD_SERVICE_H

#include "ud.h"

/* Starts the service with the first connection; later calls do nothing. Called
 * by the user's or the service thread, which holds the guard. */
void ud_service_start(ud_iface_t *iface);
/* Stops the service. When it returns, the service does not run and will not run
 * again. */
void ud_service_stop(ud_iface_t *iface);
/* Restarts the timer of a paused service. The caller holds the guard. */
void ud_service_resume(ud_iface_t *iface);
/* Sends an empty packet over each endpoint that has no user. An endpoint whose
 * peer does not acknowledge it fails after the timeout, as any other, and is
 * then freed. Called by the user's thread, in progress. */
void ud_service_check(ud_iface_t *iface);

#endif
