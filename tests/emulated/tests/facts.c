/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the constants of plugins/cuda/src/driver.h with those of the
 * toolkit's header. */
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
    /* an older toolkit lacks the last constants of the list */
    for (i = 0; i < num_facts_of_toolkit; ++i) {
        /* both lists have the same names in the same order */
        if (facts[i].value != facts_of_toolkit[i].value) {
            printf("%s: %lu here, %lu in the toolkit\n", facts[i].name,
                   facts[i].value, facts_of_toolkit[i].value);
            ++wrong;
        }
    }
    printf("%u facts, %u wrong\n", num_facts_of_toolkit, wrong);
    return wrong != 0;
}
