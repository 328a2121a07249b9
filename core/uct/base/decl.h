/* SPDX-License-Identifier: BSD-3-Clause */
/* Owning copies of declarations. */
#ifndef UCT_BASE_DECL_H
#define UCT_BASE_DECL_H

#include "uct/base/component.h"

/* A deep copy; NULL: out of memory. */
uct_component_decl_t *uct_component_decl_copy(const uct_component_decl_t *decl);
void uct_component_decl_free(uct_component_decl_t *decl);

#endif
