/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the constants in plugins/cuda/src/driver.h, listed in ../facts.h,
 * with those in the header of the CUDA toolkit (facts_toolkit.c). */
#include <stdio.h>
#include <string.h>

#include "driver.h"

typedef struct {
    const char *name;
    unsigned long value;
} fact_t;

extern const fact_t facts_of_toolkit[];
extern const unsigned num_facts_of_toolkit;

static const fact_t facts[] = {
#include "../facts.h"
};

enum { NUM_FACTS = sizeof(facts) / sizeof(facts[0]) };

int main(void)
{
    unsigned i, wrong = 0;

    if ((num_facts_of_toolkit == 0) || (num_facts_of_toolkit > NUM_FACTS)) {
        printf("%u facts instead of %d\n", num_facts_of_toolkit, NUM_FACTS);
        return 1;
    }
    /* Both lists have the same names in the same order. The last constants are
     * missing in older toolkits. */
    for (i = 0; i < num_facts_of_toolkit; ++i) {
        if (facts[i].value != facts_of_toolkit[i].value) {
            printf("%s: %lu here, %lu in the toolkit\n", facts[i].name,
                   facts[i].value, facts_of_toolkit[i].value);
            ++wrong;
        }
    }
    printf("%u facts, %u wrong\n", num_facts_of_toolkit, wrong);
    return wrong != 0;
}
