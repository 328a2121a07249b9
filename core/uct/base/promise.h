/* SPDX-License-Identifier: BSD-3-Clause */
/* Owning copies of declarations. */
#ifndef UCT_BASE_PROMISE_H
#define UCT_BASE_PROMISE_H

#include "uct/base/component.h"

/* A deep copy; NULL: out of memory. */
uct_component_promise_t *
uct_promise_copy(const uct_component_promise_t *promise);
void uct_promise_free(uct_component_promise_t *promise);

#endif
