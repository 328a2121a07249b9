/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the suite that the command line names. CK_FORK=no runs the tests in this
 * process, for a debugger.
 */
#include <stdio.h>
#include <string.h>

#include "suites.h"

static const struct {
    const char *name;
    Suite *(*make)(void);
} suites[] = {
    {"rejection", suite_rejection}, {"pattern", suite_pattern},
    {"schema", suite_schema},       {"manifest", suite_manifest},
    {"trust", suite_trust},         {"search", suite_search},
    {"requires", suite_requires},   {"bad-plugins", suite_bad_plugins},
    {"bad-words", suite_bad_words}, {"order", suite_order},
    {"loading", suite_loading},     {"explain", suite_explain},
    {"tool", suite_tool},           {"host", suite_host},
};

int main(int argc, char **argv)
{
    SRunner *runner;
    unsigned i;
    int failed;

    for (i = 0; i < sizeof(suites) / sizeof(suites[0]); ++i) {
        if ((argc == 2) && !strcmp(argv[1], suites[i].name)) {
            runner = srunner_create(suites[i].make());
            srunner_run_all(runner, CK_ENV);
            failed = srunner_ntests_failed(runner);
            srunner_free(runner);
            return failed != 0;
        }
    }
    fprintf(stderr, "usage: %s SUITE\n", argv[0]);
    return 2;
}
