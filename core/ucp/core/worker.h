/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps of the creation of a worker: it opens its interfaces, and sets up its
 * wake-up.
 */
#ifndef UCP_CORE_WORKER_H
#define UCP_CORE_WORKER_H

#include "ucp/base/worker.h"

/** Opens an interface for each resource of the context that is not a copier
 *  (worker_ifaces.c). After an error some interfaces may be open;
 *  ucp_worker_close_ifaces() closes them. */
ucs_status_t ucp_worker_open_ifaces(ucp_worker_h worker,
                                    const ucp_worker_params_t *params);
void ucp_worker_close_ifaces(ucp_worker_h worker);

/** Set up and clean up the descriptors by which events wake a thread that waits
 *  for the worker (wakeup.c). No effect without UCP_FEATURE_WAKEUP. */
ucs_status_t ucp_worker_wakeup_init(ucp_worker_h worker,
                                    const ucp_worker_params_t *params);
void ucp_worker_wakeup_cleanup(ucp_worker_h worker);

#endif
