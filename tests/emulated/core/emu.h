/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The emulated device. The emulations of vendor interfaces (folders cuda, hip
 * and ze) use it: memory (space.c), streams, events and the copy engines
 * (engine.c), and checks of the program that uses the interface, the "caller"
 * (check.c). One lock, emu_lock, protects all state except that of check.c.
 *
 * Device memory is address space without access rights. Its contents are in a
 * memfd, which the emulation maps at other addresses for its copy engines: the
 * "shadow".
 */
#ifndef EMU_H
#define EMU_H

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define EMU_API __attribute__((visibility("default")))

extern pthread_mutex_t emu_lock;

/* ---------------------------------------------------------------- checks -- */

/** Reports a mistake of the caller, a wrong use of the interface. The process
 * will exit with EMULATED_EXIT_STATUS (emulated.h). */
void emu_mistake(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Sets the names of the vendor interface's functions, and their number. Called
 * once. */
void emu_check_init(const char *const *names, unsigned count);

/** Marks this process as the user of the device, unless one is marked already;
 * children of this process must not use the device. */
void emu_check_start(void);

/** Counts a call of the function with index `call`; returns the error that a
 * test has injected for it, or 0. */
int emu_enter(unsigned call);

/** Returns the error that a test has injected for a copy by the engine, or 0.
 * The lock must be held. */
int emu_engine_fault(void);

/** Returns the number in an environment variable, or `dflt` if it is not set.
 * Aborts the program if the text is no number, or more than `max`. */
unsigned long emu_variable(const char *name, unsigned long dflt,
                           unsigned long max);

/** The address of a device on the PCI bus. */
typedef struct {
    unsigned domain, bus, slot;
} emu_pci_t;

/** Returns the PCI address of a device: entry `index` of the environment
 * variable EMULATED_PCI, a comma-separated list of dddd:bb:ss. A device that is
 * not in the list has a bus of its own in `domain`. */
emu_pci_t emu_pci(unsigned index, unsigned domain);

/** Returns whether this is a child of fork(), where the device cannot be
 * used. */
int emu_is_forked(void);

/** Reports resources that were not released. Defined by each emulation of a
 * vendor interface; called at the end of the process. */
void emu_face_report_leaks(void);

/* ---------------------------------------------------------------- memory -- */

/** Physical memory. */
typedef struct emu_pages {
    int fd;        /**< memfd that contains the pages */
    char *shadow;  /**< Address at which the copy engines access them */
    size_t length; /**< Bytes */
    unsigned refs; /**< Number of pointers to this structure */
    int device;    /**< -1: from another process */
} emu_pages_t;

typedef enum { EMU_DEVICE, EMU_MANAGED, EMU_HOST } emu_kind_t;

/** Flags of ranges. */
enum {
    EMU_RANGE_REGISTERED = 1u << 0, /**< Host memory that the user registered */
    EMU_RANGE_VIRTUAL    = 1u << 1, /**< Mapping of a handle of virtual
                                     * memory */
    EMU_RANGE_POOL       = 1u << 2, /**< Memory of a pool */
    EMU_RANGE_IMPORTED   = 1u << 3, /**< Memory of another process */
    EMU_RANGE_EXPORTS_FD = 1u << 4, /**< Can be exported as a descriptor */
    EMU_RANGE_NO_ACCESS  = 1u << 5, /**< Mapped without access rights */
    /** An operation EMU_OP_FREE, which is queued in a stream, will free it */
    EMU_RANGE_FREED      = 1u << 6,
};

/** An address range that belongs to the device or is registered with it. */
typedef struct emu_range {
    struct emu_range *next;
    uintptr_t start;
    size_t length;
    size_t mapped; /**< `length`, rounded up to pages */
    emu_kind_t kind;
    unsigned flags; /**< EMU_RANGE_* */
    int device;     /**< -1: none */
    void *context;  /**< Context in which it was allocated; may be NULL */
    void *owner;    /**< CUDA: its pool. Memory that was opened by a handle: the
                    * inode number of its memfd. May be NULL */
    uint64_t id;    /**< Unique in this process */
    emu_pages_t *pages; /**< NULL: host memory at `start` */
    size_t offset;      /**< Offset of the range in `pages` */
    unsigned opened;    /**< How often the user has opened an imported range
                         * and not closed it */
} emu_range_t;

/** emu_pages_new() creates a memfd of at least `length` bytes.
 * emu_pages_adopt() uses an existing memfd (length 0: all of it) and closes the
 * descriptor with the last reference, or on failure. Return NULL if out of
 * memory, or if the file is too short. */
emu_pages_t *emu_pages_new(int device, size_t length);
emu_pages_t *emu_pages_adopt(int fd, size_t length);
void emu_pages_hold(emu_pages_t *pages);
void emu_pages_drop(emu_pages_t *pages);

/** Reserves address space without access rights; NULL: none is left. */
void *emu_reserve(size_t length, size_t alignment);

/** Adds a range; `model` contains all members except next, id, mapped and
 * opened. The range holds a reference to the pages. NULL: out of memory. */
emu_range_t *emu_range_add(const emu_range_t *model);
/** Removes a range from the list, and its reference to the pages. With `unmap`,
 * also unmaps its addresses. */
void emu_range_remove(emu_range_t *range, int unmap);
/** Returns the range that contains the address, or NULL. */
emu_range_t *emu_range_find(uintptr_t address);
/** Returns whether a range overlaps these addresses. */
int emu_ranges_overlap(uintptr_t start, size_t length);
extern emu_range_t *emu_ranges; /**< List of all ranges */

/** The source or the destination of a copy. */
typedef struct emu_place {
    char *at;           /**< Address that the engine accesses */
    emu_pages_t *pages; /**< Holds a reference; NULL: host memory */
    /** The driver's record of the memory; NULL: pageable host memory, for
     * which there is no record. Valid while the lock is held */
    emu_range_t *range;
} emu_place_t;

/** Finds the memory [address, address + length) for a copy. If it must not be
 * accessed, for example because it was released, reports a mistake and returns
 * 0. */
int emu_place_find(uintptr_t address, size_t length, emu_place_t *place);

size_t emu_page_size(void);
/** Rounds up to a multiple of `unit`. */
size_t emu_round(size_t length, size_t unit);

/* ---------------------------------------------------------------- engine -- */

typedef struct emu_context emu_context_t;
typedef struct emu_stream emu_stream_t;

/** An event. Each operation EMU_OP_RECORD of an event has a ticket, a number
 * that increases by one with each. */
typedef struct emu_event {
    uint64_t recorded;      /**< Ticket of the last RECORD that was issued */
    uint64_t reached;       /**< Ticket of the last RECORD that was executed */
    unsigned refs;          /**< References of the user and of operations */
    emu_context_t *context; /**< May be NULL */
} emu_event_t;

typedef enum {
    EMU_OP_COPY,
    EMU_OP_FILL,
    EMU_OP_WRITE,  /**< Writes a word */
    EMU_OP_WAIT,   /**< Waits for the value of a word */
    EMU_OP_RECORD, /**< Sets `reached` of an event */
    EMU_OP_FOLLOW, /**< Waits until an event has reached a ticket */
    EMU_OP_FREE,   /**< Removes a range */
} emu_op_kind_t;

/** An operation in a stream. */
typedef struct emu_op {
    struct emu_op *next;
    emu_op_kind_t kind;
    /** Earliest start, in nanoseconds of the monotonic clock; 0: at once */
    uint64_t due;
    uint64_t order; /**< Sequence number among the operations of all streams */
    emu_place_t to, from;
    size_t length;
    /** Operand of FILL, WRITE and WAIT; ticket of RECORD and FOLLOW */
    uint64_t value;
    unsigned size; /**< Size of the operand of WRITE and WAIT: 4 or 8 bytes */
    /** 1: WAIT waits for an equal value; 0: for this or a greater value */
    int is_equal;
    emu_event_t *event;    /**< Event of RECORD and FOLLOW */
    emu_range_t *range;    /**< The range that FREE removes */
    unsigned char bytes[]; /**< Source of the copy, if that was copied when the
                            * operation was issued */
} emu_op_t;

struct emu_stream {
    emu_stream_t *next; /**< Next stream of the context */
    emu_context_t *context;
    emu_op_t *head, **tail; /**< Operations that are not complete */
    int is_running;         /**< An engine executes `head` */
    int is_blocking; /**< Synchronizes with the default stream of the context */
};

struct emu_context {
    emu_context_t *next;
    int device;
    int error;             /**< Error of all further operations; 0: none */
    uint64_t id;           /**< 0: the context does not exist */
    int is_primary;        /**< A primary context of CUDA */
    unsigned refs;         /**< Number of retain calls, for a primary context */
    emu_stream_t dflt;     /**< The default stream */
    emu_stream_t *streams; /**< Streams that the user has created */
};

extern emu_context_t *emu_contexts; /**< List of all contexts */

/* The lock must be held when the following functions are called. */
void emu_context_init(emu_context_t *context, int device);
/** Waits for all operations of the context, frees its streams, and removes it
 * from the list. */
void emu_context_clear(emu_context_t *context);
/** Drops the operations of the context. From now on all of its operations fail
 * with this error. */
void emu_context_fail(emu_context_t *context, int error);

enum { EMU_MAX_DEVICES = 8 };

/** Returns the error of a lost device; 0: the device is not lost. */
int emu_lost(int device);

emu_stream_t *emu_stream_new(emu_context_t *context, int is_blocking);
/** Waits like emu_stream_wait(), then frees the stream. */
void emu_stream_free(emu_stream_t *stream);
int emu_stream_is_busy(const emu_stream_t *stream);
/** Waits until the stream is idle, or its context has failed. */
void emu_stream_wait(emu_stream_t *stream);
/** Waits for all streams of a device's contexts. */
void emu_device_wait(int device);

/* Allocates an operation with `extra` bytes in `bytes`; NULL: out of memory. */
emu_op_t *emu_op_new(emu_op_kind_t kind, size_t extra);
/** Appends the operation to the stream. */
void emu_op_start(emu_stream_t *stream, emu_op_t *op);
void emu_op_free(emu_op_t *op);

/** Releases a reference; NULL is ignored. */
void emu_event_drop(emu_event_t *event);
/** Waits until the last RECORD of the event is executed, or its context has
 * failed. */
void emu_wait_event(emu_event_t *event);

/** Stops the threads of the engines. The lock must not be held. */
void emu_engine_stop(void);

#endif
