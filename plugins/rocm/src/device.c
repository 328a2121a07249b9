/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices. In HIP, each thread has a current device, at first device 0. A
 * `context` of this plugin is the ordinal of a device plus 1, so that it is
 * never NULL.
 */
#include "driver.h"

#include <stdatomic.h>

/* Maximum bytes that the processor copies to and from device memory itself. The
 * limit for reading is lower: the processor combines its writes, but reads
 * device memory word by word over the bus. */
enum { MAX_TOUCH_PUT = 4096, MAX_TOUCH_GET = 256 };

int rocm_pci_address(int device, accel_pci_t *pci)
{
    int domain = 0, bus = 0, slot = 0;
    hipError_t result;

    result = hip.hipDeviceGetAttribute(&domain, hipDeviceAttributePciDomainID,
                                       device);
    if (result == hipSuccess) {
        result = hip.hipDeviceGetAttribute(&bus, hipDeviceAttributePciBusId,
                                           device);
    }
    if (result == hipSuccess) {
        result = hip.hipDeviceGetAttribute(&slot, hipDeviceAttributePciDeviceId,
                                           device);
    }
    *pci = (accel_pci_t){(uint16_t)domain, (uint8_t)bus, (uint8_t)slot, 0};
    return result;
}

/* Returns the calling thread's current device. Returns -1 if the runtime is not
 * started, because the query would start the runtime. */
int rocm_current_device(void)
{
    int device;

    return ((rocm_num_devices() > 0) &&
            (hip.hipGetDevice(&device) == hipSuccess)) ?
               device :
               -1;
}

/* ------------------------------------------------------------- contexts -- */

int rocm_retain(int device, void **context_p)
{
    *context_p = (void *)(uintptr_t)(device + 1);
    return UCS_OK;
}

void rocm_release(int device, void *context)
{
}

int rocm_enter(void *context, accel_scope_t *scope)
{
    const int device = (int)(uintptr_t)context - 1;
    int current;
    hipError_t result;

    scope->is_pushed = 0;
    result           = hip.hipGetDevice(&current);
    if ((result != hipSuccess) || (current == device)) {
        return result;
    }
    scope->previous  = (void *)(uintptr_t)current;
    result           = hip.hipSetDevice(device);
    scope->is_pushed = (result == hipSuccess);
    return result;
}

void rocm_leave(const accel_scope_t *scope)
{
    if (scope->is_pushed) {
        (void)hip.hipSetDevice((int)(uintptr_t)scope->previous);
    }
}

/* ------------------------------------------------------------ large BAR -- */

/* By device. `is_known`: the other members are set. `is_large`: the processor
 * can access all memory of the device. `flush`: the register that makes the
 * processor's writes visible to the device; NULL if HIP knows none. */
static struct {
    atomic_int is_known;
    atomic_int is_large;
    _Atomic(uint32_t *) flush;
} bars[ACCEL_MAX_DEVICES];

/* Sets bars[device]. Needs no lock: threads that do this at the same time store
 * the same values. */
static void ask_bar(int device)
{
    int is_large    = 0;
    uint32_t *flush = NULL;

    if (hip.hipDeviceGetAttribute(&is_large, hipDeviceAttributeIsLargeBar,
                                  device) != hipSuccess) {
        is_large = 0;
        (void)hip.hipGetLastError();
    }
    if (is_large &&
        (hip.hipDeviceGetAttribute((int *)&flush,
                                   hipDeviceAttributeHdpMemFlushCntl,
                                   device) != hipSuccess)) {
        flush = NULL;
        (void)hip.hipGetLastError();
    }
    atomic_store(&bars[device].flush, flush);
    atomic_store(&bars[device].is_large, is_large);
    atomic_store(&bars[device].is_known, 1);
}

size_t rocm_touch_limit(int device, int is_put)
{
    if (!atomic_load_explicit(&bars[device].is_known, memory_order_acquire)) {
        ask_bar(device);
    }
    if (!atomic_load_explicit(&bars[device].is_large, memory_order_relaxed)) {
        return 0;
    }
    return is_put ? MAX_TOUCH_PUT : MAX_TOUCH_GET;
}

void rocm_touch_end(int device)
{
    uint32_t *flush = atomic_load_explicit(&bars[device].flush,
                                           memory_order_relaxed);

    atomic_thread_fence(memory_order_seq_cst);
    if (flush != NULL) {
        /* The write flushes the processor's earlier writes to the device's
         * memory. The read returns only after the write has arrived at the
         * device. Several threads may do this at the same time. */
        *(_Atomic uint32_t *)flush = 1;
        (void)*(volatile _Atomic uint32_t *)flush;
    }
}
