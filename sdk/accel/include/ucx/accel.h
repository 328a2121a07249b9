/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Base of plugins for accelerators (GPUs), as a static library: memory domains,
 * a copier, transfers between processes of a host. The plugin supplies the calls
 * of its driver in one table, `accel_driver`.
 *
 *   plugin: ucx_plugin_entry() --> accel_plugin_open()
 *           accel_driver       <-- library: starts the driver, finds memory,
 *                                  allocates, copies, exports
 *
 * The library and the plugin have the same release: there is no compatibility
 * between versions of this header.
 */
#ifndef UCX_ACCEL_H
#define UCX_ACCEL_H

#define UCX_LOG_HOST host

#include <ucx/component.h>
#include <ucx/log.h>
#include <ucx/plugin.h>

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** Devices of a process; those beyond are not used. */
enum { ACCEL_MAX_DEVICES = 64 };

/* ------------------------------------------------------------- results -- */

/**
 * Results of the driver's calls are `int`: 0 is success, a positive number is
 * the driver's own code, a negative one is a ucs_status_t or one of these.
 */
enum {
    /** The context was reset: what belongs to it (queues, pinned memory, opened
     * handles) is gone */
    ACCEL_RESET = -1000,
    /** The queue has not carried out all of its work */
    ACCEL_BUSY  = -1001,
};

/** The status of a result, and a name of it for messages. */
ucs_status_t accel_status(int result);
const char *accel_error(int result);

/* -------------------------------------------------------------- memory -- */

/** Kinds of memory. */
typedef enum {
    ACCEL_PAGEABLE, /**< Host memory that the driver does not know */
    ACCEL_PINNED,   /**< Host memory that devices can access */
    ACCEL_DEVICE,   /**< The processor may not touch it */
    ACCEL_MANAGED,  /**< Migrates between host and device */
    ACCEL_NUM_KINDS,
} accel_kind_t;

/** What memory an address belongs to. */
typedef struct accel_memory {
    accel_kind_t kind;
    int device; /**< -1: none */
    void *base; /**< Of the allocation */
    size_t length;
} accel_memory_t;

static inline int accel_is_host(accel_kind_t kind)
{
    return kind <= ACCEL_PINNED;
}

/** An allocation, described for export. */
typedef struct accel_allocation {
    uint64_t start, length;
    /** Differs for a later allocation at the same address; 0: the driver does
     * not know the address */
    uint64_t id;
    int device;
    int is_device;       /**< Of kind ACCEL_DEVICE */
    uint64_t details[2]; /**< The plugin's, for export_memory() */
} accel_allocation_t;

/* ------------------------------------------------------------ processes -- */

/** A process. The kernel reuses process ids: the random token tells two
 * apart. */
typedef struct accel_process {
    pid_t pid;
    uint64_t token; /**< Never 0 */
} accel_process_t;

/** The name of a device that all processes of the host understand: its PCI
 * address. `part`: 0, or 1 to 7 for a sub-device. */
typedef struct accel_pci {
    uint16_t domain;
    uint8_t bus, slot, part;
} accel_pci_t;

enum { ACCEL_HANDLE_SIZE = 64, ACCEL_KEY_SIZE = 112, ACCEL_SECRET_SIZE = 16 };

/** A key: how another process opens an allocation. */
typedef struct accel_key {
    unsigned kind; /**< 1 to num_key_kinds; the plugin's meaning */
    accel_process_t owner;
    accel_pci_t pci;
    int fd;          /**< In the owner; -1: no descriptor is needed */
    unsigned socket; /**< That gives the descriptor; 0: none */
    uint64_t start;  /**< Of the allocation, in the owner */
    uint64_t length;
    uint64_t id; /**< Of the allocation */
    /** The driver's handle. With a descriptor: contains random bytes
     * (accel_secret()), so that nobody guesses a key */
    char handle[ACCEL_HANDLE_SIZE];
} accel_key_t;

/** Writes ACCEL_SECRET_SIZE random bytes. 0, or UCS_ERR_IO_ERROR. */
int accel_secret(void *buffer);

/** Memory of another process, mapped into this one by open_memory(). */
typedef struct accel_opened {
    uint64_t address; /**< In this process */
    int device;
    void *details; /**< The plugin's, for close_memory() */
} accel_opened_t;

/* -------------------------------------------------------------- driver -- */

/** A current context, which leave() restores; the plugin's meaning. */
typedef struct accel_scope {
    int is_pushed;
    void *previous;
} accel_scope_t;

/** A queue of copies (a stream, a command list) of one device and its context;
 * the plugin defines the structure. */
typedef struct accel_queue accel_queue_t;

/** Measured figures of a typical device, for protocol selection. Seconds, bytes
 * per second. */
typedef struct accel_costs {
    double copy_overhead, copy_latency;
    double copy_bandwidth;   /**< Between host and device */
    double device_bandwidth; /**< Within a device */
    double pin_overhead, pin_per_byte;
    double export_overhead; /**< To register exportable memory */
} accel_costs_t;

/** Names, and memory types by kind; a kind that is UCS_MEMORY_TYPE_HOST is not
 * reported as memory of the driver. */
typedef struct accel_names {
    const char *plugin, *version;
    const char *copy_component, *copy_transport;
    const char *ipc_component, *ipc_transport;
    const char *ipc_prefix; /**< Of options, "CUDA_IPC_" */
    ucs_memory_type_t types[ACCEL_NUM_KINDS];
} accel_names_t;

/**
 * The driver. Slots are called by any thread, except those of queues, which are
 * called by one thread at a time for each queue. Slots marked "optional" may be
 * NULL. Slots marked "in context" are called between enter() and leave() for
 * the device. Results are described above.
 */
typedef struct accel_driver {
    accel_names_t names;
    accel_costs_t costs;

    /* ------------------------------------------------------------ start -- */

    /** Loads the driver's library without starting the driver.
     * UCS_ERR_NO_DEVICE: there is none that can be used. *reason is a static text,
     * or NULL on success. */
    ucs_status_t (*load)(const char **reason);
    /** Loads and starts the driver, unless it is started. As above. */
    ucs_status_t (*start)(const char **reason);
    /** Non-zero if the driver is started, by the program or by start(). While it
     * is not, the process has no device memory. After load(). */
    int (*is_started)(void);
    /** 0 until the driver is started. */
    int (*num_devices)(void);
    /** Checks that this process can use a device; `reason`: why not. */
    ucs_status_t (*check_device)(int device, char *reason, size_t reason_size);

    /** Optional. The last memory domain of the process was closed: releases what
     * find() and describe() need. Later calls of them are as the first ones. */
    void (*finish)(void);

    ucs_status_t (*status)(int result); /**< Of a positive result */
    const char *(*error)(int result);   /**< Name of a positive result */

    /* ---------------------------------------------------------- devices -- */

    int (*pci_address)(int device, accel_pci_t *pci);
    /** Optional. The device that the calling thread uses; -1: none. */
    int (*current_device)(void);

    /** Gets the device's context, which stays valid until release(). */
    int (*retain)(int device, void **context_p);
    void (*release)(int device, void *context);
    /** Optional. Activates a retained context again after a reset. */
    int (*revive)(int device);
    /** Makes a context current on the calling thread until leave(). Needs no
     * leave() after an error. */
    int (*enter)(void *context, accel_scope_t *scope);
    void (*leave)(const accel_scope_t *scope);

    /* ----------------------------------------------------------- memory -- */

    /** Finds out what an address belongs to; ACCEL_PAGEABLE and device -1 for
     * memory that the driver does not know. For each message: one call. */
    int (*find)(const void *address, accel_memory_t *memory);
    /** The allocation at an address, for export. An unknown address: success, and
     * an id of 0. */
    int (*describe)(uint64_t address, accel_allocation_t *allocation);
    /** In context. `type` is one of names.types. */
    int (*allocate)(ucs_memory_type_t type, int device, size_t length,
                    uint64_t *address_p);
    int (*deallocate)(uint64_t address);
    /** Optional. In context. Makes pageable memory ACCEL_PINNED for all devices.
     * UCS_ERR_ALREADY_EXISTS: it is already. */
    int (*pin)(void *address, size_t length);
    int (*unpin)(void *address);
    /** Optional. In context. Exports whole pages as a dmabuf. *offset_p: of the
     * first page in it, 0 before the call. */
    int (*export_dmabuf)(int device, uint64_t start, size_t length, int *fd_p,
                         uint64_t *offset_p);
    /** Optional. Most bytes that the processor reads from memory of the device
     * (`is_put`: writes to it) at once instead of a copy by a queue. 0: it cannot
     * access the memory. */
    size_t (*touch_limit)(int device, int is_put);
    /** With touch_limit(). Makes the processor's writes visible to the device. */
    void (*touch_end)(int device);

    /* ----------------------------------------------------------- queues -- */

    /** Host memory for a queue's bounce buffers and flag, which stays accessible
     * to the processor after the context has failed. NULL: out of memory. */
    void *(*staging_new)(int device, size_t length);
    void (*staging_free)(void *memory);

    /** In context. Opens a queue, which does not wait for the program's own work.
     * `flag`: within `memory`. */
    int (*queue_open)(int device, void *context, void *memory, size_t length,
                      uint32_t *flag, accel_queue_t **queue_p);
    /** Waits for the queue and releases it; the memory stays.
     * `is_failed`: releases what the failed context has left, does not wait. */
    void (*queue_close)(accel_queue_t *queue, int is_failed);
    /** Makes the queue's context current until leave(). ACCEL_RESET: the queue is
     * gone with its context. */
    int (*queue_enter)(accel_queue_t *queue, accel_scope_t *scope);
    /** After queue_enter(). Issues a copy; does not wait if host memory is
     * ACCEL_PINNED or ACCEL_MANAGED. */
    int (*queue_copy)(accel_queue_t *queue, uint64_t to, uint64_t from,
                      size_t length);
    /** After queue_enter(). Writes `value` to the flag after all issued copies. */
    int (*queue_signal)(accel_queue_t *queue, uint32_t value);
    /** After queue_enter(). ACCEL_BUSY, 0 if all work is done, or the failure. */
    int (*queue_query)(accel_queue_t *queue);

    /* ----------------------------------------- memory between processes -- */

    unsigned num_key_kinds;
    /** Kinds, as bits 1 << kind: opened memory is lost with the device's context;
     * it must be closed before its owner frees it. */
    unsigned lost_kinds, transient_kinds;

    /** In context. Fills in kind, fd and handle of a key; the rest is set.
     * UCS_ERR_UNSUPPORTED: this memory cannot be exported. */
    int (*export_memory)(const accel_allocation_t *allocation,
                         accel_key_t *key);
    /** Optional. Releases what export_memory() holds. Without it: closes the
     * descriptor. */
    void (*export_release)(const accel_key_t *key);
    /** In context of opened->device. Opens the memory of a key. `fd` is a
     * duplicate of the key's descriptor, or -1; the caller closes it. The length
     * of the memory is checked by the caller. */
    int (*open_memory)(const accel_key_t *key, int fd, accel_opened_t *opened);
    /** In context. No copy uses the memory. */
    void (*close_memory)(const accel_key_t *key, const accel_opened_t *opened);
} accel_driver_t;

/** Defined by the plugin. */
extern const accel_driver_t accel_driver;

/** Does what ucx_plugin_entry() has to do. */
ucs_status_t accel_plugin_open(const ucx_plugin_args_t *args,
                               const ucx_plugin_t **plugin_p);

#endif
