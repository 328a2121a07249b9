/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the CUDA driver's library, which is loaded at run time. One
 * table serves all copies of the UCX core in the process, because it contains
 * no state of a core.
 */
#ifndef CUDA_CALLS_H
#define CUDA_CALLS_H

#include "driver.h"

#include <ucx/accel.h>

typedef struct cuda_calls {
#define CUDA_CALL(_name, _params) CUresult(*_name) _params;
#include "driver_calls.h"
#undef CUDA_CALL
} cuda_calls_t;

extern cuda_calls_t cuda;

/** Loads the library, without starting the driver. UCS_ERR_NO_DEVICE: there is
 * no driver, or it is too old. Stores the reason in *reason, a static text, or
 * NULL on success. */
ucs_status_t cuda_load(const char **reason);

/** Non-zero if the driver is started, by the program or by cuda_start(). Until
 * it is started, the process has no device memory. Requires cuda_load(). */
int cuda_is_started(void);

/** Loads and starts the driver, unless it is started already.
 * UCS_ERR_NO_DEVICE: there is no device or no driver. Stores the reason in
 * *reason, a static text, or NULL on success. */
ucs_status_t cuda_start(const char **reason);

/** Returns the number of devices; 0 until cuda_is_started() or cuda_start() has
 * found that the driver is started. */
int cuda_num_devices(void);

/** Converts a result of the driver to a status. */
ucs_status_t cuda_status(CUresult result);

/** Returns the driver's name of a result, or a text if it has no name. */
const char *cuda_error(CUresult result);

/** Makes a context current on the calling thread until cuda_leave(). */
static inline CUresult cuda_push(accel_scope_t *scope, CUcontext context)
{
    CUresult result = cuda.cuCtxPushCurrent_v2(context);

    scope->is_pushed = (result == CUDA_SUCCESS);
    return result;
}

#endif
