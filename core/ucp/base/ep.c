/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_ep_extra(): allocates the members of an endpoint that most endpoints do
 * not need, at their first use.
 */
#include "ucp/base/ep.h"

#include <stdlib.h>

ucp_ep_extra_t *ucp_ep_extra(ucp_ep_h ep)
{
    if (ep->extra == NULL) {
        ep->extra = calloc(1, sizeof(*ep->extra));
    }
    return ep->extra;
}
