/* SPDX-License-Identifier: BSD-3-Clause */
/* The suites of this folder, one in each file test_*.c. */
#ifndef TESTS_PLUGIN_SUITES_H
#define TESTS_PLUGIN_SUITES_H

#include <check.h>

Suite *suite_rejection(void);
Suite *suite_pattern(void);
Suite *suite_schema(void);
Suite *suite_manifest(void);
Suite *suite_trust(void);
Suite *suite_search(void);
Suite *suite_requires(void);
Suite *suite_bad_plugins(void);
Suite *suite_bad_words(void);
Suite *suite_order(void);
Suite *suite_loading(void);
Suite *suite_explain(void);
Suite *suite_tool(void);
Suite *suite_host(void);

#endif
