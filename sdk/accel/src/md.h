/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory domain and its device contexts. The driver is that of the
 * accelerator (accel_driver in <ucx/accel.h>). In this file, a device is the
 * ordinal of a device of the driver, unless "system device" is stated. */
#ifndef ACCEL_MD_H
#define ACCEL_MD_H

#include "fd_server.h"

#include <pthread.h>

#define accel_container_of(_ptr, _type, _member) \
    ((_type *)((char *)(_ptr)-offsetof(_type, _member)))
/** Name at the start of log messages. */
#define ACCEL_NAME accel_driver.names.plugin

#define accel_unlikely(_x) __builtin_expect(!!(_x), 0)

/** A domain for all devices of the process. The components for copies and for
 * IPC both use this structure. */
typedef struct accel_md {
    uct_md_t super;
    const ucx_host_t *host;
    pthread_mutex_t lock; /**< Protects the next three members */
    /** Contexts by device, retained by accel_md_context(); NULL: not used
     * yet */
    void *contexts[ACCEL_MAX_DEVICES];
    ucs_sys_device_t sys_devs[ACCEL_MAX_DEVICES]; /**< By device */
    int num_sys_devs; /**< Number of entries of sys_devs that are set */
    pthread_mutex_t exports_lock; /**< Protects `exports` */
    /** List of exports (export.h), most recently used first */
    struct accel_export *exports;
    accel_fd_server_t fd_server;
} accel_md_t;

/** A memory handle (uct_mem_h): an allocation, or a registration of host
 * memory, which may have pinned the memory. */
typedef struct accel_region {
    void *address;
    size_t length;
    int is_pinned;    /**< This registration has pinned the memory */
    int is_allocated; /**< accel_mem_alloc() has allocated the memory */
    /** Device in whose context the memory was pinned or allocated */
    int device;
    /** Identifies the allocation or pinned memory. After a reset of the device,
     * other memory may be at the address */
    uint64_t id;
} accel_region_t;

extern const ucx_md_ops_t accel_md_ops;

ucs_status_t accel_md_resources(const ucx_component_t *component,
                                uct_md_resource_desc_t **mds_p,
                                unsigned *num_p);
ucs_status_t accel_md_open(const ucx_component_t *component,
                           const ucx_md_open_args_t *args, uct_md_h *md_p);

/** Closes a memory domain of either component. */
void accel_md_close(uct_md_h md);

/** Checks that there is a driver and a usable device. On failure, writes the
 *  cause to `reason`. */
ucs_status_t accel_inspect(const ucx_component_t *component, char *reason,
                           size_t reason_size);

/** Returns the memory types of the driver: the bit 1 << type for each. */
uint64_t accel_driver_types(void);

/** Returns the system device of a device, or UCS_SYS_DEVICE_ID_UNKNOWN if there
 *  is no such device. */
ucs_sys_device_t accel_md_sys_device(accel_md_t *md, int device);

/** Returns the memory type of a kind of memory. */
static inline ucs_memory_type_t accel_type_of(accel_kind_t kind)
{
    return accel_driver.names.types[kind];
}

/** Stores the context of a device, which stays retained until the domain is
 * closed. The first call for a device may be slow (0.1 s). Any thread may call
 * this function. */
int accel_md_context(accel_md_t *md, int device, void **context_p);

/** Makes the context of a device current on this thread until the driver's
 *  leave(). */
int accel_md_enter(accel_md_t *md, int device, accel_scope_t *scope);

/* ------------------------------------------------------------- place -- */

/*
 * The place of memory is a number with its kind and device. mem_query() returns
 * it with the memory type, and the core passes it to the copy transport as
 * remote key. Thus the copy transport need not query the driver a second time
 * for each message. A remote key without the mark is not a place.
 *
 *   31       16 15      2 1    0
 *   | the mark | device  | kind |
 */
enum {
    ACCEL_PLACE_MARK  = 0xacce,
    ACCEL_PLACE_SHIFT = 2,
    ACCEL_PLACE_MAX   = 1 << 14,
};

/** Returns the place of memory; 0: it belongs to no device. */
static inline uint32_t accel_place(const accel_memory_t *memory)
{
    return ((memory->device >= 0) && (memory->device < ACCEL_PLACE_MAX)) ?
               ((uint32_t)ACCEL_PLACE_MARK << 16) |
                   ((uint32_t)memory->device << ACCEL_PLACE_SHIFT) |
                   (uint32_t)memory->kind :
               0;
}

/** Stores kind and device of the memory at an address, for the copy transport.
 * They are taken from `rkey` if it is a place; otherwise the driver is
 * queried. */
static inline int accel_find_at(const void *address, uct_rkey_t rkey,
                                accel_memory_t *memory)
{
    _Static_assert(ACCEL_NUM_KINDS <= 1 << ACCEL_PLACE_SHIFT,
                   "a kind has two bits");

    if ((rkey >> 16) != ACCEL_PLACE_MARK) {
        return accel_driver.find(address, memory);
    }
    memory->kind   = (accel_kind_t)(rkey & ((1 << ACCEL_PLACE_SHIFT) - 1));
    memory->device = (int)((rkey & 0xffff) >> ACCEL_PLACE_SHIFT);
    memory->base   = NULL;
    memory->length = 0;
    return UCS_OK;
}

/* ------------------------------------------------------------ memory.c -- */

ucs_status_t accel_mem_alloc(uct_md_h md, size_t *length, void **address,
                             const ucx_mem_alloc_params_t *params,
                             uct_mem_h *memh_p);
ucs_status_t accel_mem_free(uct_md_h md, uct_mem_h memh);
ucs_status_t accel_mem_reg(uct_md_h md, void *address, size_t length,
                           const ucx_mem_reg_params_t *params,
                           uct_mem_h *memh_p);
ucs_status_t accel_mem_dereg(uct_md_h md, uct_mem_h memh,
                             const ucx_mem_dereg_params_t *params);

#endif
