/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime's library, loaded at run time: one table of its functions for the
 * process. It contains no state of a core.
 */
#ifndef ROCM_CALLS_H
#define ROCM_CALLS_H

#include "hip.h"

typedef struct rocm_calls {
#define HIP_CALL(_name, _params) hipError_t(*_name) _params;
#define HSA_CALL(_name, _params) hsa_status_t(*_name) _params;
#include "hip_calls.h"
#undef HIP_CALL
#undef HSA_CALL
} rocm_calls_t;

/** The functions of the runtime. Those of HSA are NULL if the runtime does not
 *  have them. */
extern rocm_calls_t hip;

#endif
