/* SPDX-License-Identifier: BSD-3-Clause */
/* The component "bad", for tests of the checking layer. `defect` (findings.h)
 * names one way in which its transport or memory domain breaks a rule. */
#ifndef TEST_UCT_BAD_TRANSPORT_H
#define TEST_UCT_BAD_TRANSPORT_H

#include <ucx/plugin.h>

#include "uct/base/component_list.h"
#include "uct/base/state.h"

extern const uct_component_decl_t bad_decl;

/* Returns the component in *desc_p, and clears the state that earlier tests
 * have left. */
ucs_status_t bad_load(void *arg, const uct_component_decl_t *wanted,
                      const ucx_component_t **desc_p);

#endif
