/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection managers of a worker, in the order in which they are tried. A
 * manager is opened when it is needed.
 */
#ifndef UCP_CM_MANAGER_H
#define UCP_CM_MANAGER_H

#include "ucp/base/worker.h"

enum { UCP_CM_MAX = 8 };

typedef struct ucp_cm_manager {
    uct_component_h component;
    uct_cm_h uct;    /**< NULL if it is not open */
    size_t max_priv; /**< Maximum size of the private data in bytes */
    /** Error of the attempt to open it, which is not repeated; UCS_OK if there
     *  was no attempt or no error */
    ucs_status_t status;
} ucp_cm_manager_t;

typedef struct ucp_cm_worker {
    unsigned num;
    ucp_cm_manager_t managers[UCP_CM_MAX]; /**< The preferred one first */
    ucs_list_link_t listeners;
} ucp_cm_worker_t;

/** State of a worker. */
typedef struct ucp_cm_of_worker {
    ucp_cm_worker_t *cms; /**< NULL until a connection manager is used */
} ucp_cm_of_worker_t;

UCP_AREA_ACCESSOR(ucp_worker_cm, struct ucp_worker, areas.cm,
                  ucp_cm_of_worker_t)

/** Returns the worker's managers. Returns UCS_ERR_UNSUPPORTED, with a log line,
 *  if no plugin provides any. */
ucs_status_t ucp_cm_worker_get(ucp_worker_h worker, ucp_cm_worker_t **cms_p);

/** Opens a manager if it is not open. */
ucs_status_t ucp_cm_manager_open(ucp_worker_h worker,
                                 ucp_cm_manager_t *manager);

/** Returns the manager of a component, opened. */
ucs_status_t ucp_cm_manager_of(ucp_worker_h worker, uct_component_h component,
                               ucp_cm_manager_t **manager_p);

#endif
