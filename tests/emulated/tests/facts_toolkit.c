/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the constants in the header of the CUDA toolkit, for facts.c;
 * and a check that the emulated driver's functions have the same parameters as
 * in that header. */
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

/* Compiles only if the toolkit declares the function with these parameters. */
#define FACE_CALL(_name, _params) \
    __attribute__((unused)) static void check_##_name(void) \
    { \
        CUresult(*call) _params = _name; \
        (void)call; \
    }
#include "../cuda/calls.h"
