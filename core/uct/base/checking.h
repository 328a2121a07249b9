/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads the checking layer (uct/check), a library between the core and the
 * plugins that checks the rules of the ABI, if UCX_PLUGIN_CHECK enables it.
 */
#ifndef UCT_CHECKING_H
#define UCT_CHECKING_H

#include "uct/check/check.h"

/* The layer; NULL if plugins are not checked. Set before the first component is
 * loaded, and not changed after that. */
extern const uct_check_layer_t *uct_checks;

/* At the first call in a process, reads UCX_PLUGIN_CHECK and, if it enables
 * checks, loads the library. If that fails, logs an error; then plugins are not
 * checked. */
void uct_checks_load(void);

/* For tests that contain the layer: makes uct_checks_load() use `layer` instead
 * of loading the library, if UCX_PLUGIN_CHECK enables checks. Must be called
 * before uct_checks_load(). */
void uct_checks_set(const uct_check_layer_t *layer);

#endif
