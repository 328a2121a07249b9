/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The emulated device, independent of the vendor interface that calls it:
 * memory (space.c), streams, events and the copy engines (engine.c), and the
 * checks of the program that uses the interface, the "caller" (check.c). One
 * lock, emu_lock, protects all state.
 *
 * Device memory is address space without access rights. Its pages belong to a
 * memfd, which the copy engines map a second time ("shadow").
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

/** Reports a mistake of the caller. The process will exit with a failure
 * status. */
void emu_mistake(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Sets the names of the vendor interface's calls. Called once. */
void emu_check_init(const char *const *names, unsigned count);

/** Marks this process as the user of the device; children of this process must
 * not use the device. */
void emu_check_start(void);

/** Counts a call; returns the error that a test has injected, or 0. */
int emu_enter(unsigned call);

/** The same as emu_enter(), for a copy by the engine. The lock must be held. */
int emu_engine_fault(void);

/** Reads a number from the environment, with a maximum. */
unsigned long emu_variable(const char *name, unsigned long dflt,
                           unsigned long max);

/** The address of a device on the PCI bus. */
typedef struct {
    unsigned domain, bus, slot;
} emu_pci_t;

/** Returns the n-th address of EMULATED_PCI, a list of dddd:bb:ss. A device
 * that is not in the list has a separate bus in `domain`. */
emu_pci_t emu_pci(unsigned index, unsigned domain);

/** Returns whether this is a child of fork(), where the device cannot be
 * used. */
int emu_is_forked(void);

/** Reports memory that was not released. Each vendor interface defines this
 * function. */
void emu_face_report_leaks(void);

/* ---------------------------------------------------------------- memory -- */

/** Physical memory. `refs` counts the pointers to this structure. */
typedef struct emu_pages {
    int fd;
    char *shadow;
    size_t length;
    unsigned refs;
    int device; /**< -1: from another process */
} emu_pages_t;

typedef enum { EMU_DEVICE, EMU_MANAGED, EMU_HOST } emu_kind_t;

enum {
    EMU_RANGE_REGISTERED = 1u << 0, /**< Host memory of the user */
    EMU_RANGE_VIRTUAL    = 1u << 1, /**< Mapped pages of a handle */
    EMU_RANGE_POOL       = 1u << 2,
    EMU_RANGE_IMPORTED   = 1u << 3, /**< From another process */
    EMU_RANGE_EXPORTS_FD = 1u << 4,
    EMU_RANGE_NO_ACCESS  = 1u << 5, /**< Mapped, access rights not yet set */
    /** The range is freed when its stream reaches an operation FREE */
    EMU_RANGE_FREED      = 1u << 6,
};

/** An address range that belongs to the device or is registered with it. */
typedef struct emu_range {
    struct emu_range *next;
    uintptr_t start;
    size_t length;
    size_t mapped; /**< Bytes of address space that must be unmapped */
    emu_kind_t kind;
    unsigned flags;
    int device;
    void *context;
    void *owner;        /**< The pool, or the handle of virtual memory */
    uint64_t id;        /**< Unique in this process */
    emu_pages_t *pages; /**< NULL: accessible to the processor */
    size_t offset;      /**< Offset of the range in `pages` */
    unsigned opened;    /**< Number of opens of an imported range */
} emu_range_t;

/** emu_pages_new() creates a memfd of at least `length` bytes.
 * emu_pages_adopt() uses an existing memfd, and owns its descriptor from then
 * on. NULL: out of memory, or an invalid file. */
emu_pages_t *emu_pages_new(int device, size_t length);
emu_pages_t *emu_pages_adopt(int fd, size_t length);
void emu_pages_hold(emu_pages_t *pages);
void emu_pages_drop(emu_pages_t *pages);

/** Reserves address space without access rights; NULL: none is left. */
void *emu_reserve(size_t length, size_t alignment);

/** Adds a range; `model` contains all members except next, id and mapped. The
 * range holds a reference to the pages. NULL: out of memory. */
emu_range_t *emu_range_add(const emu_range_t *model);
/** Removes a range, and its reference to the pages. With `unmap` its addresses
 * are unmapped, otherwise they stay reserved without access rights. */
void emu_range_remove(emu_range_t *range, int unmap);
emu_range_t *emu_range_find(uintptr_t address);
/** Returns whether a range overlaps these addresses. */
int emu_ranges_overlap(uintptr_t start, size_t length);
extern emu_range_t *emu_ranges;

/** A source or a destination of a copy, which was checked. */
typedef struct emu_place {
    char *at;           /**< Address that the engine accesses */
    emu_pages_t *pages; /**< Counted as a reference; may be NULL */
    /** NULL: pageable memory. Valid while the lock is held */
    emu_range_t *range;
} emu_place_t;

/** Finds the memory [address, address + length). If a part of it is unknown,
 * reports a mistake and returns 0. */
int emu_place_find(uintptr_t address, size_t length, emu_place_t *place);

size_t emu_page_size(void);
size_t emu_round(size_t length, size_t unit);

/* ---------------------------------------------------------------- engine -- */

typedef struct emu_context emu_context_t;
typedef struct emu_stream emu_stream_t;

typedef struct emu_event {
    /** Tickets of the last recorded operation, and of the last one that a
     * stream has reached */
    uint64_t recorded;
    uint64_t reached;
    unsigned refs; /**< Held by the user and by operations */
    emu_context_t *context;
} emu_event_t;

typedef enum {
    EMU_OP_COPY,
    EMU_OP_FILL,
    EMU_OP_WRITE,
    EMU_OP_WAIT,
    EMU_OP_RECORD,
    EMU_OP_FOLLOW,
    EMU_OP_FREE,
} emu_op_kind_t;

typedef struct emu_op {
    struct emu_op *next;
    emu_op_kind_t kind;
    /** Earliest start, in nanoseconds of the monotonic clock */
    uint64_t due;
    uint64_t order; /**< Sequence number in the process */
    emu_place_t to, from;
    size_t length;
    /** Operand of FILL, WRITE and WAIT; for an event: its ticket */
    uint64_t value;
    unsigned size; /**< Size of the operand of WRITE and WAIT: 4 or 8 */
    /** WAIT ends at an equal value; if 0, at this or a greater value */
    int is_equal;
    emu_event_t *event;
    emu_range_t *range;    /**< The range that FREE releases */
    unsigned char bytes[]; /**< Copy of pageable memory, which is the source */
} emu_op_t;

struct emu_stream {
    emu_stream_t *next; /**< Next stream of the context */
    emu_context_t *context;
    emu_op_t *head, **tail;
    int is_running;
    int is_blocking; /**< Synchronizes with the default stream */
};

struct emu_context {
    emu_context_t *next;
    int device;
    int error; /**< Sticky; 0: none */
    uint64_t id;
    int is_primary;
    unsigned refs;     /**< Number of retain calls, for a primary context */
    emu_stream_t dflt; /**< The default stream */
    emu_stream_t *streams;
};

extern emu_context_t *emu_contexts;

/* The lock must be held during these functions. */
void emu_context_init(emu_context_t *context, int device);
/** Ends all streams and their operations. */
void emu_context_clear(emu_context_t *context);
/** From now on all operations of the context fail with this error. */
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

/** Allocates an operation with `extra` bytes; NULL: out of memory. */
emu_op_t *emu_op_new(emu_op_kind_t kind, size_t extra);
/** Appends the operation to the stream. */
void emu_op_start(emu_stream_t *stream, emu_op_t *op);
void emu_op_free(emu_op_t *op);

void emu_event_drop(emu_event_t *event);
void emu_wait_event(emu_event_t *event);

/** Stops the engines' threads. The lock must not be held. */
void emu_engine_stop(void);

#endif
