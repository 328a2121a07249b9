/* SPDX-License-Identifier: BSD-3-Clause */
/* Expectations of the programs that use the headers: main() returns faults != 0. */
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
