/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks in the programs that use the headers. A failed check is counted in
 * `faults`, and main() returns whether there was one. */
#ifndef ABI_EXPECT_H
#define ABI_EXPECT_H

#include <stdio.h>

static int faults;

#define EXPECT(_condition) \
    do { \
        if (!(_condition)) { \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, \
                    #_condition); \
            ++faults; \
        } \
    } while (0)

#endif
