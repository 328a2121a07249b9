/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks shared by the tests of bad plugins, in which a test tree contains a
 * plugin "bad" with a defect and a plugin "good" without one. */
#ifndef TESTS_PLUGIN_BAD_H
#define TESTS_PLUGIN_BAD_H

#include "tree.h"

/* Checks that the plugin "good" can be loaded, and that its library is then
 * mapped into the process. */
void bad_expect_good(uct_plugin_registry_t *registry);

/* Checks the output of `ucx-plugins list --json`: "bad" is listed with this
 * rejection code and a reason that contains `reason`, and "good" without a
 * code. */
void bad_expect_listed(const char *text, uct_rejection_code_t code,
                       const char *reason);

#endif
