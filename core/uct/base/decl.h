/* SPDX-License-Identifier: BSD-3-Clause */
/* Deep copies of declarations (uct_component_decl_t). */
#ifndef UCT_BASE_DECL_H
#define UCT_BASE_DECL_H

#include "uct/base/component.h"

/* Returns a copy that includes all strings and arrays, or NULL if memory is
 * exhausted. */
uct_component_decl_t *uct_component_decl_copy(const uct_component_decl_t *decl);
void uct_component_decl_free(uct_component_decl_t *decl);

#endif
