/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates endpoints of connection managers. Used by ep.c only. */
#ifndef UCT_BASE_CM_H
#define UCT_BASE_CM_H

#include <uct/api/uct.h>

/* uct_ep_create() for parameters with UCT_EP_PARAM_FIELD_CM. */
ucs_status_t uct_ep_create_on_cm(const uct_ep_params_t *params, uct_ep_h *ep_p);

#endif
