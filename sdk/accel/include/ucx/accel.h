/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A static library from which plugins for accelerators (GPUs) are built. It
 * contains the memory domains and two transports: the copy transport, a copier
 * within the process (see ucx_transport in <ucx/transport.h>), and the IPC
 * transport between processes of a host. The plugin supplies the calls of its
 * driver in one table, `accel_driver`.
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

/** Maximum number of devices of a process; further devices are not used. In
 * this file, `device` is the ordinal of a device, from 0. */
enum { ACCEL_MAX_DEVICES = 64 };

/* ------------------------------------------------------------- results -- */

/**
 * Results of the driver's calls are `int`: 0 is success, a positive number is
 * the driver's own code, a negative number is a ucs_status_t or one of the
 * following values.
 */
enum {
    /** The device's context was reset: its objects (queues, pinned memory,
     * opened handles) do not exist any more */
    ACCEL_RESET = -1000,
    /** The queue has not completed all of its work */
    ACCEL_BUSY  = -1001,
};

/** Convert a result, accel_status() to a status, accel_error() to a text for
 * log messages. */
ucs_status_t accel_status(int result);
const char *accel_error(int result);

/* -------------------------------------------------------------- memory -- */

/** Kinds of memory. */
typedef enum {
    ACCEL_PAGEABLE, /**< Host memory that is not registered with the driver */
    ACCEL_PINNED,   /**< Host memory that devices can access */
    ACCEL_DEVICE,   /**< Device memory; the processor accesses it only within
                     *   the limits of touch_limit() */
    ACCEL_MANAGED,  /**< Memory that the driver migrates between host and
                     *   device */
    ACCEL_NUM_KINDS,
} accel_kind_t;

/** The memory to which an address belongs. */
typedef struct accel_memory {
    accel_kind_t kind;
    int device;    /**< -1: no device */
    void *base;    /**< Start of the allocation */
    size_t length; /**< Bytes of the allocation */
} accel_memory_t;

/** Returns whether this is host memory, of the kind pageable or pinned. */
static inline int accel_is_host(accel_kind_t kind)
{
    return kind <= ACCEL_PINNED;
}

/** Description of an allocation for export. */
typedef struct accel_allocation {
    uint64_t start, length; /**< Address and bytes */
    /** Differs from the id of a later allocation at the same address; 0: no
     * memory of the driver is at the address */
    uint64_t id;
    int device;
    int is_device;       /**< Non-zero: the kind is ACCEL_DEVICE */
    uint64_t details[2]; /**< Private to the plugin, for export_memory() */
} accel_allocation_t;

/* ------------------------------------------------------------ processes -- */

/** Identity of a process. The token is random; it distinguishes processes to
 * which the kernel gives the same id one after the other. */
typedef struct accel_process {
    pid_t pid;
    uint64_t token; /**< Never 0 */
} accel_process_t;

/** PCI address of a device, which is the same in all processes of the host.
 * `part`: 0 for a whole device, 1 to 7 for a sub-device. */
typedef struct accel_pci {
    uint16_t domain;
    uint8_t bus, slot, part;
} accel_pci_t;

/** Bytes: of accel_key_t.handle, of a packed key */
enum { ACCEL_HANDLE_SIZE = 64, ACCEL_KEY_SIZE = 112 };

/** A remote key, with which another process opens an allocation. */
typedef struct accel_key {
    unsigned kind; /**< 1 to num_key_kinds; the plugin defines the kinds */
    accel_process_t owner; /**< The process that has exported the allocation */
    accel_pci_t pci;       /**< The device of the allocation */
    int fd;          /**< Descriptor in the owner's process; -1: not needed */
    unsigned socket; /**< Number in the name of the owner's local socket, which
                      *   sends a duplicate of the descriptor; 0: no socket */
    uint64_t start;  /**< Address of the allocation in the owner's process */
    uint64_t length; /**< Bytes of the allocation */
    /** Differs from the ids of other allocations of the owner. In a key with a
     * descriptor a random number, so that nobody can guess a key and get its
     * descriptor; otherwise accel_allocation_t.id in the owner's process */
    uint64_t id;
    char handle[ACCEL_HANDLE_SIZE]; /**< The driver's handle */
} accel_key_t;

/** Memory of another process that open_memory() has mapped into this
 * process. */
typedef struct accel_opened {
    uint64_t address; /**< Address in this process */
    int device;
    void *details; /**< Private to the plugin, for close_memory() */
} accel_opened_t;

/* -------------------------------------------------------------- driver -- */

/** State that enter() stores and leave() needs to restore the previous context.
 * The plugin defines the meaning of the members. */
typedef struct accel_scope {
    int is_pushed;
    void *previous;
} accel_scope_t;

/** A queue of copies on one device, in one context: a stream or a command list
 * of the driver. The plugin defines the structure. */
typedef struct accel_queue accel_queue_t;

/** Copies that one call of the driver starts (queue_copy_batch()). Copy i moves
 * length[i] bytes from from[i] to to[i]. */
enum { ACCEL_MAX_BATCH = 64 };
typedef struct accel_batch {
    unsigned count;
    uint64_t to[ACCEL_MAX_BATCH], from[ACCEL_MAX_BATCH];
    size_t length[ACCEL_MAX_BATCH];
} accel_batch_t;

/** Costs on a typical device, for protocol selection. Times are in seconds,
 * bandwidths in bytes per second. */
typedef struct accel_costs {
    /** Time of the processor to start a copy; time until a copy without data
     * is complete */
    double copy_overhead, copy_latency;
    double copy_bandwidth;   /**< Between host and device */
    double device_bandwidth; /**< Within a device */
    /** Time to pin host memory: for each call, and for each byte */
    double pin_overhead, pin_per_byte;
    double export_overhead; /**< Time to register memory with the IPC domain */
} accel_costs_t;

/** Names that the core and the user see, and the memory types of UCX. */
typedef struct accel_names {
    const char *plugin, *version;
    const char *copy_component, *copy_transport;
    const char *ipc_component, *ipc_transport;
    const char *ipc_prefix; /**< Prefix of options, for example "CUDA_IPC_" */
    /** Memory type of each kind of memory. A kind with UCS_MEMORY_TYPE_HOST is
     * not reported as memory of the driver */
    ucs_memory_type_t types[ACCEL_NUM_KINDS];
} accel_names_t;

/**
 * The driver. Any thread calls these slots. Only the slots of queues are called
 * by one thread at a time for each queue. Slots marked "Optional" may be NULL.
 * Slots marked "Called in context" are called between enter() and leave() with
 * the device's context. Slots that return `int`, except num_devices(),
 * is_started() and current_device(), return a result (see ACCEL_RESET).
 */
typedef struct accel_driver {
    accel_names_t names;
    accel_costs_t costs;

    /* ------------------------------------------------------------ start -- */

    /** Loads the driver's library without starting the driver, unless this was
     * done before. UCS_ERR_NO_DEVICE: there is no driver that can be used.
     * Stores the reason in *reason, a static text, or NULL on success. */
    ucs_status_t (*load)(const char **reason);
    /** Loads and starts the driver, unless it is started already. Returns and
     *  stores the same as load(). */
    ucs_status_t (*start)(const char **reason);
    /** Non-zero if the driver is started, by the program or by start(). Until
     * it is started, the process has no device memory. Called after load(). */
    int (*is_started)(void);
    /** Number of devices; 0 before start() or is_started() has found that the
     *  driver is started. */
    int (*num_devices)(void);
    /** Checks that this process can use a device. On failure, writes the cause
     *  to `reason`. */
    ucs_status_t (*check_device)(int device, char *reason, size_t reason_size);

    /** Optional. Called when no memory domain is open any more: after the last
     * one of the process is closed, or after the core has only checked whether
     * there is a device (check_device()). Releases what find() and describe()
     * have allocated; later calls of find() and describe() allocate it
     * again. */
    void (*finish)(void);

    ucs_status_t (*status)(int result); /**< Status of a positive result */
    const char *(*error)(int result);   /**< Name of a positive result */

    /* ---------------------------------------------------------- devices -- */

    /** Stores the PCI address of a device. */
    int (*pci_address)(int device, accel_pci_t *pci);
    /** Optional. Returns the device that the calling thread uses; -1: none. */
    int (*current_device)(void);

    /** Stores the device's context, which stays valid until release(). */
    int (*retain)(int device, void **context_p);
    void (*release)(int device, void *context);
    /** Optional. Makes the retained context of the device usable again after a
     *  reset. */
    int (*revive)(int device);
    /** Makes a context current on the calling thread until leave(). After an
     * error, leave() must not be called. */
    int (*enter)(void *context, accel_scope_t *scope);
    void (*leave)(const accel_scope_t *scope);

    /* ----------------------------------------------------------- memory -- */

    /** Finds the memory to which an address belongs. If it is not memory of the
     * driver, stores ACCEL_PAGEABLE and the device -1. Hot path: called once
     * for each message. */
    int (*find)(const void *address, accel_memory_t *memory);
    /** Describes the allocation at an address, for export. If the address is
     * unknown it returns success with an id of 0. */
    int (*describe)(uint64_t address, accel_allocation_t *allocation);
    /** Called in context. Allocates memory; `type` is one of names.types. */
    int (*allocate)(ucs_memory_type_t type, int device, size_t length,
                    uint64_t *address_p);
    int (*deallocate)(uint64_t address);
    /** Optional. Called in context. Makes pageable memory ACCEL_PINNED for all
     * devices. UCS_ERR_ALREADY_EXISTS: the memory is pinned already. */
    int (*pin)(void *address, size_t length);
    int (*unpin)(void *address);
    /** Optional. Called in context. Exports a range as a dmabuf; `start` and
     * `length` are multiples of the host's page size. *offset_p receives the
     * offset of `start` in the dmabuf; the caller has set it to 0. */
    int (*export_dmabuf)(int device, uint64_t start, size_t length, int *fd_p,
                         uint64_t *offset_p);
    /** Optional. Returns the maximum bytes of a copy for which the processor
     * itself reads the device's memory, or writes it if `is_put` is set. Longer
     * copies use a queue. 0: the processor cannot access the memory. */
    size_t (*touch_limit)(int device, int is_put);
    /** Required if touch_limit is set. Called after the processor has written
     *  device memory: makes the writes visible to the device. */
    void (*touch_end)(int device);

    /* ----------------------------------------------------------- queues -- */

    /** Allocates host memory for a queue's bounce buffers and flag. The
     * processor must be able to access the memory even after the context has
     * failed. NULL: out of memory. */
    void *(*staging_new)(int device, size_t length);
    void (*staging_free)(void *memory);

    /** Called in context. Opens a queue, whose copies do not wait for the
     * program's own work on the device. `memory`, of `length` bytes, is from
     * staging_new(). `flag` is a word in this memory, which queue_signal()
     * writes. */
    int (*queue_open)(int device, void *context, void *memory, size_t length,
                      uint32_t *flag, accel_queue_t **queue_p);
    /** Waits for the queue's copies and releases the queue, but not the memory
     * passed to queue_open(). With `is_failed`, the context has failed:
     * releases the queue without waiting. */
    void (*queue_close)(accel_queue_t *queue, int is_failed);
    /** Makes the queue's context current until leave(). ACCEL_RESET: the queue
     * does not exist any more, because its context was reset. */
    int (*queue_enter)(accel_queue_t *queue, accel_scope_t *scope);
    /** Called after queue_enter(). Starts a copy; does not wait if host memory
     * is ACCEL_PINNED or ACCEL_MANAGED. */
    int (*queue_copy)(accel_queue_t *queue, uint64_t to, uint64_t from,
                      size_t length);
    /** Optional. Called after queue_enter(). Starts all copies of a batch after
     * the copies that were started before; those of the batch have no order
     * among each other. On failure it has started no copy, and the caller calls
     * queue_copy() for each. As queue_copy(), it does not wait if host memory
     * is ACCEL_PINNED or ACCEL_MANAGED. */
    int (*queue_copy_batch)(accel_queue_t *queue, accel_batch_t *batch);
    /** Called after queue_enter(). Makes the queue write `value` to the flag of
     * queue_open() after all copies started so far. */
    int (*queue_signal)(accel_queue_t *queue, uint32_t value);
    /** Called after queue_enter(). Returns a failure of the queue, or
     * ACCEL_BUSY if copies may be incomplete. Otherwise returns 0: the library
     * then signals again if the flag does not have its last value. */
    int (*queue_query)(accel_queue_t *queue);

    /* ----------------------------------------- memory between processes -- */

    unsigned num_key_kinds; /**< Maximum value of accel_key_t.kind */
    /** Sets of kinds of keys, with the bit 1 << kind for each. A reset of the
     * device's context closes opened memory of lost_kinds. Opened memory of
     * transient_kinds must be closed before its owner frees it. */
    unsigned lost_kinds, transient_kinds;

    /** Called in context. Exports an allocation: writes the members kind, fd
     * and handle of `key`. Before the call, the library sets owner, pci, start
     * and length, clears handle, and sets fd to -1. UCS_ERR_UNSUPPORTED: this
     * memory cannot be exported. */
    int (*export_memory)(const accel_allocation_t *allocation,
                         accel_key_t *key);
    /** Optional. Releases the resources of an exported key. If the slot is
     * NULL, the library only closes the key's descriptor. */
    void (*export_release)(const accel_key_t *key);
    /** Called in the context of opened->device. Maps the memory that a key
     * describes into this process, and sets opened->address and
     * opened->details. `fd` is a duplicate of the key's descriptor, or -1; the
     * caller closes it after the call. The caller checks that the mapped memory
     * is as long as the key states. */
    int (*open_memory)(const accel_key_t *key, int fd, accel_opened_t *opened);
    /** Called in context, when no copy uses the memory. Closes opened
     *  memory. */
    void (*close_memory)(const accel_key_t *key, const accel_opened_t *opened);
} accel_driver_t;

/** The table of the driver's calls. The plugin defines it. */
extern const accel_driver_t accel_driver;

/** Implements ucx_plugin_entry(), which the plugin defines and which only calls
 *  this function. */
ucs_status_t accel_plugin_open(const ucx_plugin_args_t *args,
                               const ucx_plugin_t **plugin_p);

#endif
