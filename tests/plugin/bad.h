/* SPDX-License-Identifier: BSD-3-Clause */
/* Common to the tests of bad plugins. */
#ifndef TESTS_PLUGIN_BAD_H
#define TESTS_PLUGIN_BAD_H

#include "tree.h"

/* The plugin "good" is present, loads, and is the right one. */
void bad_expect_good(uct_plugin_registry_t *registry);

/* `text` is the JSON of `ucx-plugins list`: it contains "bad" with this code
 * and this part of the reason, and "good" without any. */
void bad_expect_listed(const char *text, uct_rejection_code_t code,
                       const char *reason);

#endif
