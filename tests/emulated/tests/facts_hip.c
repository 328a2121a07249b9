/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the constants of HIP that the rocm plugin defines
 * (plugins/rocm/src/hip.h) with those in the header of the HIP runtime. This
 * file is compiled twice: without REAL, it defines a table of the plugin's
 * constants; with REAL, it is a program that compares this table with a table
 * of the runtime's constants.
 */
#ifdef REAL
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_PLATFORM_HCC__ 1
#include <hip/hip_runtime_api.h>
#else
#include "hip.h"
#endif

#include <stdio.h>
#include <stdlib.h>

struct fact {
    const char *name;
    long value;
};

extern const struct fact own_facts[];

#define FACT(_name) \
    { \
#_name, (long)(_name) \
    }

#ifdef REAL
static const struct fact real_facts[] = {
#else
const struct fact own_facts[] = {
#endif
    FACT(hipSuccess),
    FACT(hipErrorInvalidValue),
    FACT(hipErrorOutOfMemory),
    FACT(hipErrorNotInitialized),
    FACT(hipErrorDeinitialized),
    FACT(hipErrorInvalidDevicePointer),
    FACT(hipErrorInsufficientDriver),
    FACT(hipErrorNoDevice),
    FACT(hipErrorInvalidDevice),
    FACT(hipErrorInvalidContext),
    FACT(hipErrorMapFailed),
    FACT(hipErrorECCNotCorrectable),
    FACT(hipErrorOperatingSystem),
    FACT(hipErrorInvalidHandle),
    FACT(hipErrorNotFound),
    FACT(hipErrorNotReady),
    FACT(hipErrorIllegalAddress),
    FACT(hipErrorContextIsDestroyed),
    FACT(hipErrorHostMemoryAlreadyRegistered),
    FACT(hipErrorHostMemoryNotRegistered),
    FACT(hipErrorLaunchFailure),
    FACT(hipErrorNotSupported),
    FACT(hipErrorUnknown),
    FACT(hipDeviceAttributePciBusId),
    FACT(hipDeviceAttributePciDeviceId),
    FACT(hipDeviceAttributePciDomainID),
    FACT(hipDeviceAttributeHdpMemFlushCntl),
    FACT(hipDeviceAttributeIsLargeBar),
    FACT(HIP_POINTER_ATTRIBUTE_MEMORY_TYPE),
    FACT(HIP_POINTER_ATTRIBUTE_BUFFER_ID),
    FACT(HIP_POINTER_ATTRIBUTE_IS_MANAGED),
    FACT(HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL),
    FACT(HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR),
    FACT(HIP_POINTER_ATTRIBUTE_RANGE_SIZE),
    FACT(hipMemcpyDefault),
    FACT(hipStreamNonBlocking),
    FACT(hipHostRegisterPortable),
    FACT(hipHostRegisterMapped),
    FACT(hipMemAttachGlobal),
    FACT(sizeof(hipIpcMemHandle_t)),
    FACT(sizeof(hipError_t)),
    FACT(sizeof(hipDeviceptr_t)),
    {NULL, 0},
};

#ifdef REAL
int main(void)
{
    int failed = 0;
    int i;

    for (i = 0; real_facts[i].name != NULL; ++i) {
        if (own_facts[i].value != real_facts[i].value) {
            printf("%s is %ld, and %ld in the header\n", real_facts[i].name,
                   own_facts[i].value, real_facts[i].value);
            failed = 1;
        }
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
#endif
