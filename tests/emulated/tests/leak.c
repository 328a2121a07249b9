/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that exits without releasing the resource that its argument names.
 * The emulated driver must report the leak by the exit status. With the
 * argument "nothing", all resources are released.
 */
#include "../cuda/face.h"

#include <stdlib.h>
#include <string.h>

#define NEED(_call) \
    do { \
        if ((_call) != CUDA_SUCCESS) { \
            return 1; \
        } \
    } while (0)

int main(int argc, char **argv)
{
    const char *what = (argc == 2) ? argv[1] : "";
    CUcontext context;
    CUdeviceptr address;
    CUstream stream;
    CUevent event;
    static char page[8192];

    NEED(cuInit(0));
    NEED(cuDevicePrimaryCtxRetain(&context, 0));
    NEED(cuCtxPushCurrent_v2(context));
    if (strcmp(what, "memory") == 0) {
        NEED(cuMemAlloc_v2(&address, 1));
    } else if (strcmp(what, "stream") == 0) {
        NEED(cuStreamCreate(&stream, 0));
    } else if (strcmp(what, "event") == 0) {
        NEED(cuEventCreate(&event, 0));
    } else if (strcmp(what, "registration") == 0) {
        NEED(cuMemHostRegister_v2(page, sizeof(page), 0));
    } else if (strcmp(what, "reservation") == 0) {
        NEED(cuMemAddressReserve(&address, 1u << 21, 0, 0, 0));
    }
    NEED(cuCtxPopCurrent_v2(NULL));
    if ((strcmp(what, "nothing") == 0) || (strcmp(what, "reservation") == 0)) {
        NEED(cuDevicePrimaryCtxRelease_v2(0));
    }
    return 0;
}
