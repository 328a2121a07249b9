/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the HIP runtime's library, which is loaded at run time. One
 * table serves all copies of the UCX core in the process, because it contains
 * no state of a core.
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

/** The functions of HIP, and of HSA, the layer below HIP. A function of HSA is
 *  NULL if the installed library does not have it. */
extern rocm_calls_t hip;

#endif
