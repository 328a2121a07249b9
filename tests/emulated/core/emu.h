/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The emulated device, whoever's interface is in front of it: memory (space.c),
 * streams, events and the copy engines (engine.c), and the checks of its caller
 * (check.c). All state is under one lock.
 *
 * Device memory is address space without rights. Its pages are those of a memfd,
 * which the copy engines map a second time ("shadow").
 */
#ifndef EMU_H
#define EMU_H

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define EMU_API __attribute__((visibility("default")))

extern pthread_mutex_t emu_lock;

/* -------------------------------------------------------------- checks -- */

/** A mistake of the caller: says it, and the process fails when it ends. */
void emu_mistake(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The calls of the interface in front. Called once. */
void emu_check_init(const char *const *names, unsigned count);

/** The device is used from now on, by this process and none of its children. */
void emu_check_start(void);

/** Counts a call; returns the error that a test wants from it, or 0. */
int emu_enter(unsigned call);

/** The same for a copy by the engine. With the lock held. */
int emu_engine_fault(void);

/** A number of the environment, within limits. */
unsigned long emu_variable(const char *name, unsigned long dflt,
                           unsigned long max);

/** True in a child of fork(), where the device cannot be used. */
int emu_is_forked(void);

/** Reports what was not released. Defined by the face. */
void emu_face_report_leaks(void);

/* -------------------------------------------------------------- memory -- */

/** Physical memory; whoever keeps a pointer holds a reference. */
typedef struct emu_pages {
    int      fd;
    char     *shadow;
    size_t   length;
    unsigned refs;
    int      device;    /**< -1: of another process */
} emu_pages_t;

typedef enum { EMU_DEVICE, EMU_MANAGED, EMU_HOST } emu_kind_t;

enum {
    EMU_RANGE_REGISTERED = 1u << 0, /**< The user's own host memory */
    EMU_RANGE_VIRTUAL    = 1u << 1, /**< Mapped pages of a handle */
    EMU_RANGE_POOL       = 1u << 2,
    EMU_RANGE_IMPORTED   = 1u << 3, /**< From another process */
    EMU_RANGE_EXPORTS_FD = 1u << 4,
    EMU_RANGE_NO_ACCESS  = 1u << 5, /**< Mapped, and access not yet set */
    EMU_RANGE_FREED      = 1u << 6  /**< As soon as its stream is there */
};

/** Addresses that the device knows. */
typedef struct emu_range {
    struct emu_range *next;
    uintptr_t        start;
    size_t           length;
    size_t           mapped;   /**< Bytes of address space that are ours */
    emu_kind_t       kind;
    unsigned         flags;
    int              device;
    void             *context;
    void             *owner;   /**< Pool, or handle of virtual memory */
    uint64_t         id;       /**< Never used again in this process */
    emu_pages_t      *pages;   /**< NULL: memory that the processor touches */
    size_t           offset;   /**< In the pages */
    unsigned         opened;   /**< Times an imported one was opened */
} emu_range_t;

/** A new memfd of at least `length` bytes, or the pages of one from elsewhere
 *  (the descriptor becomes theirs). NULL: out of memory, or not such a file. */
emu_pages_t *emu_pages_new(int device, size_t length);
emu_pages_t *emu_pages_adopt(int fd, size_t length);
void emu_pages_hold(emu_pages_t *pages);
void emu_pages_drop(emu_pages_t *pages);

/** Address space without rights; NULL: none. */
void *emu_reserve(size_t length, size_t alignment);

/** Adds a range; `model` gives all but next, id and mapped. Pages get a reference
 *  of the range's. NULL: out of memory. */
emu_range_t *emu_range_add(const emu_range_t *model);
/** Removes a range and drops its pages; unmaps its addresses, or keeps them
 *  reserved without rights. */
void emu_range_remove(emu_range_t *range, int unmap);
emu_range_t *emu_range_find(uintptr_t address);
/** Does a range have any of these addresses? */
int emu_ranges_overlap(uintptr_t start, size_t length);
extern emu_range_t *emu_ranges;

/** An end of a copy, checked. */
typedef struct emu_place {
    char        *at;        /**< Where the engine touches it */
    emu_pages_t *pages;     /**< Held; or NULL */
    emu_range_t *range;     /**< NULL: pageable memory. Valid under the lock */
} emu_place_t;

/** Finds [address, +length); 0 and a mistake noted if it is not all there. */
int emu_place_find(uintptr_t address, size_t length, emu_place_t *place);

size_t emu_page_size(void);
size_t emu_round(size_t length, size_t unit);

/* -------------------------------------------------------------- engine -- */

typedef struct emu_context emu_context_t;
typedef struct emu_stream emu_stream_t;

typedef struct emu_event {
    uint64_t recorded;  /**< Tickets: of the last record, and the last reached */
    uint64_t reached;
    unsigned refs;      /**< The user's, and those of operations */
    emu_context_t *context;
} emu_event_t;

typedef enum {
    EMU_OP_COPY, EMU_OP_FILL, EMU_OP_WRITE, EMU_OP_WAIT, EMU_OP_RECORD,
    EMU_OP_FOLLOW, EMU_OP_FREE
} emu_op_kind_t;

typedef struct emu_op {
    struct emu_op *next;
    emu_op_kind_t kind;
    uint64_t      due;       /**< Nanoseconds of the monotonic clock */
    uint64_t      order;     /**< Among all operations of the process */
    emu_place_t   to, from;
    size_t        length;
    uint64_t      value;     /**< FILL, WRITE, WAIT; ticket of an event */
    unsigned      size;      /**< WRITE, WAIT: 4 or 8 */
    int           is_equal;  /**< WAIT: equal, else at least */
    emu_event_t   *event;
    emu_range_t   *range;    /**< FREE */
    unsigned char bytes[];   /**< Copied from pageable memory at once */
} emu_op_t;

struct emu_stream {
    emu_stream_t  *next;     /**< Of its context */
    emu_context_t *context;
    emu_op_t      *head, **tail;
    int           is_running;
    int           is_blocking;   /**< Keeps order with the default stream */
};

struct emu_context {
    emu_context_t *next;
    int           device;
    int           error;     /**< Sticky; 0: none */
    uint64_t      id;
    int           is_primary;
    unsigned      refs;      /**< Retained, of a primary one */
    emu_stream_t  dflt;      /**< The default stream */
    emu_stream_t  *streams;
};

extern emu_context_t *emu_contexts;

/* All with the lock held. */
void emu_context_init(emu_context_t *context, int device);
/** Streams and their operations end. */
void emu_context_clear(emu_context_t *context);
/** From now on everything of it fails with the error. */
void emu_context_fail(emu_context_t *context, int error);

emu_stream_t *emu_stream_new(emu_context_t *context, int is_blocking);
/** Waits for what was issued. */
void emu_stream_free(emu_stream_t *stream);
int emu_stream_is_busy(const emu_stream_t *stream);
/** Waits until it has nothing to do, or its context has failed. */
void emu_stream_wait(emu_stream_t *stream);
/** For all streams of the contexts of a device. */
void emu_device_wait(int device);

/** A new operation with `extra` bytes; NULL: out of memory. */
emu_op_t *emu_op_new(emu_op_kind_t kind, size_t extra);
/** Gives it to the stream. */
void emu_op_start(emu_stream_t *stream, emu_op_t *op);
void emu_op_free(emu_op_t *op);

void emu_event_drop(emu_event_t *event);
void emu_wait_event(emu_event_t *event);

/** Ends the engines' threads. Without the lock. */
void emu_engine_stop(void);

#endif
