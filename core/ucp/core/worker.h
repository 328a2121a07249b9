/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps of the creation of a worker: its interfaces and its wake-up.
 */
#ifndef UCP_CORE_WORKER_H
#define UCP_CORE_WORKER_H

#include "ucp/base/worker.h"

/** Opens an interface for each resource of the context (worker_ifaces.c). An
 *  error may leave some open, for ucp_worker_close_ifaces(). */
ucs_status_t ucp_worker_open_ifaces(ucp_worker_h worker,
                                    const ucp_worker_params_t *params);
void ucp_worker_close_ifaces(ucp_worker_h worker);

/** Set up and clean up what wakes a sleeping worker (wakeup.c); no effect
 *  without UCP_FEATURE_WAKEUP. */
ucs_status_t ucp_worker_wakeup_init(ucp_worker_h worker,
                                    const ucp_worker_params_t *params);
void ucp_worker_wakeup_cleanup(ucp_worker_h worker);

#endif
