/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of the creation of a context.
 */
#ifndef UCP_CORE_CONTEXT_H
#define UCP_CORE_CONTEXT_H

#include "ucp/base/context.h"

/** Finds and opens the resources that the configuration allows. */
ucs_status_t ucp_context_open_resources(ucp_context_t *context);
void ucp_context_close_resources(ucp_context_t *context);

#endif
