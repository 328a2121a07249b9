/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection managers of a worker, in the order in which clients and
 * listeners try them. A manager is opened at its first use.
 */
#ifndef UCP_CM_MANAGER_H
#define UCP_CM_MANAGER_H

#include "ucp/base/worker.h"

enum { UCP_CM_MAX = 8 };

typedef struct ucp_cm_manager {
    uct_component_h component;
    uct_cm_h uct; /**< NULL if it is not open */
    /** Maximum size in bytes of the private data in one packet */
    size_t max_priv;
    /** Error of the attempt to open the manager, which is not repeated; UCS_OK
     *  if there was no attempt or no error */
    ucs_status_t status;
} ucp_cm_manager_t;

typedef struct ucp_cm_worker {
    unsigned num;
    ucp_cm_manager_t managers[UCP_CM_MAX]; /**< The preferred one first */
    ucs_list_link_t listeners;
} ucp_cm_worker_t;

/** The part of a worker that belongs to connections by socket address. */
typedef struct ucp_cm_of_worker {
    /** NULL until the first listener or endpoint by socket address is
     *  created */
    ucp_cm_worker_t *cms;
} ucp_cm_of_worker_t;

UCP_AREA_ACCESSOR(ucp_worker_cm, struct ucp_worker, areas.cm,
                  ucp_cm_of_worker_t)

/** Returns the worker's managers, without opening them. Returns
 *  UCS_ERR_UNSUPPORTED, with a log line, if the worker has none. */
ucs_status_t ucp_cm_worker_get(ucp_worker_h worker, ucp_cm_worker_t **cms_p);

/** Opens a manager, or returns the error of an earlier attempt. No effect if it
 *  is open. */
ucs_status_t ucp_cm_manager_open(ucp_worker_h worker,
                                 ucp_cm_manager_t *manager);

/** Opens and returns the manager of a component. Returns UCS_ERR_UNSUPPORTED if
 *  the worker has no manager of this component. */
ucs_status_t ucp_cm_manager_of(ucp_worker_h worker, uct_component_h component,
                               ucp_cm_manager_t **manager_p);

#endif
