/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens and closes the memory domains of a context, and finds its transports
 * and devices; for ucp_init and ucp_cleanup.
 */
#ifndef UCP_CORE_CONTEXT_H
#define UCP_CORE_CONTEXT_H

#include "ucp/base/context.h"

/** Finds the transports and devices that the configuration allows, and opens
 *  their memory domains. On failure nothing is left open. */
ucs_status_t ucp_context_open_resources(ucp_context_t *context);
void ucp_context_close_resources(ucp_context_t *context);

#endif
