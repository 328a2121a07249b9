/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The emulated device, independent of the vendor interface in front of it:
 * memory (space.c), streams, events and the copy engines (engine.c), and the
 * checks of its caller (check.c). One lock protects all state.
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

/** Reports a mistake of the caller; the process ends with a failure status. */
void emu_mistake(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Sets the names of the vendor interface's calls. Called once. */
void emu_check_init(const char *const *names, unsigned count);

/** Marks this process as the user of the device; its children must not use
 * it. */
void emu_check_start(void);

/** Counts a call; returns the error that a test has injected, or 0. */
int emu_enter(unsigned call);

/** The same for a copy by the engine. With the lock held. */
int emu_engine_fault(void);

/** Reads a number from the environment, with a maximum. */
unsigned long emu_variable(const char *name, unsigned long dflt,
                           unsigned long max);

/** The place of a device on the bus. */
typedef struct {
    unsigned domain, bus, slot;
} emu_pci_t;

/** Returns the n-th address of EMULATED_PCI, a list of dddd:bb:ss. A device that is
 * not in the list has a bus of its own in `domain`. */
emu_pci_t emu_pci(unsigned index, unsigned domain);

/** Returns whether this is a child of fork(), where the device cannot be
 * used. */
int emu_is_forked(void);

/** Reports memory that was not released. Defined by the vendor interface. */
void emu_face_report_leaks(void);

/* ---------------------------------------------------------------- memory -- */

/** Physical memory. Each pointer to it counts as a reference. */
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
    /** Freed when its stream reaches the operation */
    EMU_RANGE_FREED      = 1u << 6,
};

/** An address range that the device knows. */
typedef struct emu_range {
    struct emu_range *next;
    uintptr_t start;
    size_t length;
    size_t mapped; /**< Bytes of address space to unmap */
    emu_kind_t kind;
    unsigned flags;
    int device;
    void *context;
    void *owner;        /**< Pool, or handle of virtual memory */
    uint64_t id;        /**< Unique in this process */
    emu_pages_t *pages; /**< NULL: accessible to the processor */
    size_t offset;      /**< Within the pages */
    unsigned opened;    /**< Number of opens of an imported range */
} emu_range_t;

/** Creates a memfd of at least `length` bytes, or takes over the pages of an
 * existing one (including the descriptor). NULL: out of memory, or an invalid
 * file. */
emu_pages_t *emu_pages_new(int device, size_t length);
emu_pages_t *emu_pages_adopt(int fd, size_t length);
void emu_pages_hold(emu_pages_t *pages);
void emu_pages_drop(emu_pages_t *pages);

/** Reserves address space without access rights; NULL: none is left. */
void *emu_reserve(size_t length, size_t alignment);

/** Adds a range; `model` contains all members except next, id and mapped. The
 * range holds a reference to the pages. NULL: out of memory. */
emu_range_t *emu_range_add(const emu_range_t *model);
/** Removes a range and its reference to the pages. Unmaps the addresses, or
 * keeps them reserved without access rights. */
void emu_range_remove(emu_range_t *range, int unmap);
emu_range_t *emu_range_find(uintptr_t address);
/** Returns whether a range overlaps these addresses. */
int emu_ranges_overlap(uintptr_t start, size_t length);
extern emu_range_t *emu_ranges;

/** A checked source or destination of a copy. */
typedef struct emu_place {
    char *at;           /**< Address for the engine */
    emu_pages_t *pages; /**< With a reference; or NULL */
    /** NULL: pageable memory. Valid with the lock held */
    emu_range_t *range;
} emu_place_t;

/** Finds [address, +length). If a part is unknown: returns 0 and reports a
 * mistake. */
int emu_place_find(uintptr_t address, size_t length, emu_place_t *place);

size_t emu_page_size(void);
size_t emu_round(size_t length, size_t unit);

/* ---------------------------------------------------------------- engine -- */

typedef struct emu_context emu_context_t;
typedef struct emu_stream emu_stream_t;

typedef struct emu_event {
    /** Tickets of the last record, and of the last one reached */
    uint64_t recorded;
    uint64_t reached;
    unsigned refs; /**< Of the user and of operations */
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
    uint64_t due;   /**< In nanoseconds of the monotonic clock */
    uint64_t order; /**< Sequence number in the process */
    emu_place_t to, from;
    size_t length;
    uint64_t value; /**< FILL, WRITE, WAIT; ticket of an event */
    unsigned size;  /**< WRITE, WAIT: 4 or 8 */
    /** WAIT: for an equal value, otherwise for at least the value */
    int is_equal;
    emu_event_t *event;
    emu_range_t *range;    /**< FREE */
    unsigned char bytes[]; /**< Copy of pageable memory */
} emu_op_t;

struct emu_stream {
    emu_stream_t *next; /**< In its context */
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
    unsigned refs;     /**< Number of retains of a primary context */
    emu_stream_t dflt; /**< The default stream */
    emu_stream_t *streams;
};

extern emu_context_t *emu_contexts;

/* All with the lock held. */
void emu_context_init(emu_context_t *context, int device);
/** Ends all streams and their operations. */
void emu_context_clear(emu_context_t *context);
/** From now on all operations of the context fail with this error. */
void emu_context_fail(emu_context_t *context, int error);

enum { EMU_MAX_DEVICES = 8 };

/** The error of a lost device; 0: it is not lost. */
int emu_lost(int device);

emu_stream_t *emu_stream_new(emu_context_t *context, int is_blocking);
/** Waits for issued operations, then frees. */
void emu_stream_free(emu_stream_t *stream);
int emu_stream_is_busy(const emu_stream_t *stream);
/** Waits until the stream is idle, or its context has failed. */
void emu_stream_wait(emu_stream_t *stream);
/** Waits for all streams of a device's contexts. */
void emu_device_wait(int device);

/** Allocates an operation with `extra` bytes; NULL: out of memory. */
emu_op_t *emu_op_new(emu_op_kind_t kind, size_t extra);
/** Appends it to the stream. */
void emu_op_start(emu_stream_t *stream, emu_op_t *op);
void emu_op_free(emu_op_t *op);

void emu_event_drop(emu_event_t *event);
void emu_wait_event(emu_event_t *event);

/** Stops the engines' threads. Without the lock. */
void emu_engine_stop(void);

#endif
