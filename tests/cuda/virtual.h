/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual memory of device 0: memory from cuMemCreate() that the program maps
 * at an address. It can be exported as a file descriptor. */
#ifndef TEST_CUDA_VIRTUAL_H
#define TEST_CUDA_VIRTUAL_H

#include <check.h>

#include "../emulated/cuda/face.h"

enum { UNIT = 2 * 1024 * 1024 }; /* Bytes of one allocation */

#define ck_cuda(_call) ck_assert_int_eq((_call), CUDA_SUCCESS)

/* Creates UNIT bytes of memory and maps them; returns their address. `address`:
 * earlier memory of this kind, which is unmapped first and whose address the
 * new memory gets; 0: the driver selects the address. */
static inline CUdeviceptr map_virtual(CUdeviceptr address)
{
    const CUmemAllocationProp prop = {
        .type                 = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location             = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
    };
    const CUmemAccessDesc access = {prop.location,
                                    CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;

    if (address == 0) {
        ck_cuda(cuMemAddressReserve(&address, UNIT, 0, 0, 0));
    } else {
        ck_cuda(cuMemUnmap(address, UNIT));
    }
    ck_cuda(cuMemCreate(&handle, UNIT, &prop, 0));
    ck_cuda(cuMemMap(address, UNIT, 0, handle, 0));
    ck_cuda(cuMemSetAccess(address, UNIT, &access, 1));
    ck_cuda(cuMemRelease(handle));
    return address;
}

static inline void unmap_virtual(CUdeviceptr address)
{
    ck_cuda(cuMemUnmap(address, UNIT));
    ck_cuda(cuMemAddressFree(address, UNIT));
}

#endif
