/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layout of an inbox's segment, byte by byte. A broken peer may overwrite any
 * of it at any time: copy first, check, and then use the copy.
 *
 *   0      head  | constants | armed | bell | bits of rung slots |
 *          slots | owner's line | credits' line | wake line | x num_slots
 *          boxes | private | cells | ring | x num_slots
 *
 * Each sender has a slot and a box. Slot i belongs to the process that holds
 * lock 1 + i of the segment. Box i contains a circular array of cells of one
 * cache line each, and a ring of bytes for messages that do not fit a cell. The
 * user of the inbox (posix, sysv or cma) defines the private area. Only the
 * sender writes to the cells and the ring of its box and to the owner's line of
 * its slot, except when the receiver frees the slot. Only the receiver writes
 * to the credits' and the wake line, except when a sender clears them because
 * it has taken the slot.
 *
 * The receiver does not poll all slots. To ring the bell, a sender sets the bit
 * of its slot in `rung` and then increments `bell`; the receiver reads `bell`
 * in each round of progress and visits the slots whose bits are set.
 */
#ifndef SHM_LAYOUT_H
#define SHM_LAYOUT_H

#include "plugin.h"

#include <stdatomic.h>

#define SHM_ALIGNED_LINE _Alignas(SHM_CACHE_LINE)

/*
 * The first word of a cell, written last:
 *   bit 0       phase: inverted in every round through the array
 *   bits 1-2    kind (shm_cell_kind_t)
 *   bits 3-7    log2 of the ring's size in use; 0 while there is none
 *   bits 8-15   message id
 *   bits 16-31  0
 *   bits 32-63  number of bytes in this cell or in the ring
 */
typedef enum {
    SHM_CELL_INLINE, /* The bytes are in the cell */
    SHM_CELL_RING,   /* The bytes are in the ring: at the first cache line after
                      * those of the previous RING or PROBE cell, or at the
                      * start of the ring if they do not fit before its end */
    SHM_CELL_PROBE,  /* SHM_PROBE_SIZE bytes in the ring, without a message. The
                      * receiver measures how fast they arrive; see probe.h */
} shm_cell_kind_t;

enum { SHM_CELL_ROOM = 56, SHM_MAX_SLOTS = 4096 };

/* The parts of a probe, in bytes: single lines are read from the first one; the
 * second one is copied. */
enum {
    SHM_PROBE_LINES = 16 << 10,
    SHM_PROBE_COPY  = 32 << 10,
    SHM_PROBE_SIZE  = SHM_PROBE_LINES + SHM_PROBE_COPY,
};

typedef struct shm_cell {
    SHM_ALIGNED_LINE _Atomic uint64_t ctl;
    uint8_t data[SHM_CELL_ROOM];
} shm_cell_t;

static SHM_INLINE uint64_t shm_ctl(unsigned phase, shm_cell_kind_t kind,
                                   unsigned ring_log, uint8_t id,
                                   uint32_t length)
{
    return phase | ((uint64_t)kind << 1) | ((uint64_t)ring_log << 3) |
           ((uint64_t)id << 8) | ((uint64_t)length << 32);
}

static SHM_INLINE unsigned shm_ctl_phase(uint64_t ctl)
{
    return ctl & 1;
}

static SHM_INLINE unsigned shm_ctl_kind(uint64_t ctl)
{
    return (ctl >> 1) & 3;
}

static SHM_INLINE unsigned shm_ctl_ring_log(uint64_t ctl)
{
    return (ctl >> 3) & 31;
}

static SHM_INLINE uint8_t shm_ctl_id(uint64_t ctl)
{
    return (uint8_t)(ctl >> 8);
}

static SHM_INLINE uint32_t shm_ctl_length(uint64_t ctl)
{
    return (uint32_t)(ctl >> 32);
}

/*
 * The answer to a probe. Times above SHM_PROBED_MAX are stored as
 * SHM_PROBED_MAX.
 *   bits 0-23   latency of a line, ps
 *   bits 24-47  time of the copy, ps per KiB
 *   bits 48-63  number of probes answered, modulo 65536
 */
enum { SHM_PROBED_MAX = (1 << 24) - 1 };

static SHM_INLINE uint64_t shm_probed(uint16_t number, uint32_t latency,
                                      uint32_t copy)
{
    return shm_min(latency, SHM_PROBED_MAX) |
           ((uint64_t)shm_min(copy, SHM_PROBED_MAX) << 24) |
           ((uint64_t)number << 48);
}

static SHM_INLINE uint32_t shm_probed_latency(uint64_t probed)
{
    return probed & SHM_PROBED_MAX;
}

static SHM_INLINE uint32_t shm_probed_copy(uint64_t probed)
{
    return (probed >> 24) & SHM_PROBED_MAX;
}

static SHM_INLINE uint16_t shm_probed_number(uint64_t probed)
{
    return (uint16_t)(probed >> 48);
}

/*
 * States of a slot and the side that changes them:
 *   FREE -(sender, with the lock)-> USED -(sender)-> LEFT -(receiver)-> FREE
 * A slot that is USED although its lock is free belongs to a dead sender and is
 * handled like LEFT.
 */
typedef enum { SHM_SLOT_FREE, SHM_SLOT_USED, SHM_SLOT_LEFT } shm_slot_state_t;

enum {
    SHM_WAKE_DORMANT = 1u << 0, /* The receiver does not poll the slot, so the
                                 * sender must ring the bell */
    SHM_WAKE_ARMED   = 1u << 1, /* The receiver sleeps or is about to, so the
                                 * sender must ring the bell */
    SHM_WAKE_CUT     = 1u << 2, /* The sender has written invalid data: nothing
                                 * more is read from it */
};

typedef struct shm_slot {
    /* Written by the sender, except for the transition to FREE */
    SHM_ALIGNED_LINE _Atomic uint32_t state;

    /* Written by the receiver; a sender that takes the slot clears this line */
    SHM_ALIGNED_LINE _Atomic uint32_t cells_done; /* Total number of cells that
                                                   * the receiver has freed */
    _Atomic uint64_t bytes_done;                  /* Total number of bytes of
                                                   * the ring that the receiver
                                                   * has freed */
    _Atomic uint64_t probed; /* shm_probed() of the last probe that was
                              * answered; 0: none yet */

    /* Written by the receiver; a sender that takes the slot clears this line */
    SHM_ALIGNED_LINE _Atomic uint32_t wake; /* SHM_WAKE_* */
    uint8_t pad[60];
} shm_slot_t;

_Static_assert(sizeof(shm_cell_t) == 64, "one line");
_Static_assert(sizeof(shm_slot_t) == 192, "three lines");

typedef struct shm_inbox_head {
    /* Constant */
    uint32_t version;
    uint32_t num_slots;
    uint32_t num_cells;    /* Number of cells of a box; a power of two */
    uint32_t ring_max;     /* Maximum bytes of a ring; a power of two */
    uint32_t private_size; /* Bytes of the private area at the start of each
                            * box */
    uint32_t need_fence;   /* Non-zero: the receiver has no membarrier(), so
                            * senders must execute fences (fence.h) */
    uint64_t boxes;        /* Offset of the first box */
    uint64_t box_stride;   /* Bytes from one box to the next */

    /* Written by the receiver; a sender clears `armed` */
    SHM_ALIGNED_LINE _Atomic uint32_t armed; /* Non-zero: the next sender that
                                              * rings the bell clears this and
                                              * wakes the receiver */
    _Atomic uint32_t num_used;               /* Number of slots in use; senders
                                              * limit the size of their rings by
                                              * it */

    /* Written by senders. The receiver clears bits of `rung`; it sets a bit
     * again if it lacks the memory to handle the slot */
    SHM_ALIGNED_LINE _Atomic uint32_t bell; /* Incremented to ring the bell */
    SHM_ALIGNED_LINE _Atomic uint64_t rung[SHM_MAX_SLOTS / 64]; /* Bit i: slot i
                                                                 * has rung */
} shm_inbox_head_t;

enum { SHM_LAYOUT_VERSION = 4 };

#endif
