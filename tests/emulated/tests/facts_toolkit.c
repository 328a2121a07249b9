/* SPDX-License-Identifier: BSD-3-Clause */
/* The constants of the toolkit's header, and a check of the calls'
 * parameters. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *name;
    unsigned long value;
} fact_t;

extern const fact_t facts_of_toolkit[];
extern const unsigned num_facts_of_toolkit;

const fact_t facts_of_toolkit[] = {
#include "../facts.h"
};
const unsigned num_facts_of_toolkit = sizeof(facts_of_toolkit) /
                                      sizeof(facts_of_toolkit[0]);

/* Compiles only if the toolkit declares the same parameters. */
#define FACE_CALL(_name, _params) \
    __attribute__((unused)) static void check_##_name(void) \
    { \
        CUresult(*call) _params = _name; \
        (void)call; \
    }
#include "../cuda/calls.h"
