/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiving end: a segment into which other processes put messages, and
 * the polling of those who do.
 *
 * One thread at a time, the worker's.
 */
#ifndef SHM_INBOX_H
#define SHM_INBOX_H

#include "layout.h"
#include "segment.h"

/* Takes one message; `data` is valid during the call. It must not close the
 * inbox. An error means that the message is nonsense: the sender is cut off. */
typedef ucs_status_t (*shm_deliver_t)(void *arg, unsigned slot, uint8_t id,
                                      void *data, uint32_t length);

/* A sender's slot is there, or gone: what is kept for it follows. */
typedef void (*shm_slot_event_t)(void *arg, unsigned slot, void *private_area);

typedef struct shm_inbox_params {
    unsigned         num_slots;    /* Senders at most */
    unsigned         num_cells;    /* A power of two */
    size_t           ring_max;     /* Bytes of a sender's ring at most */
    size_t           private_size; /* Of each box, for the user of the inbox */
    size_t           max_length;   /* Longest message that is accepted */
    unsigned         seg_flags;
    shm_deliver_t    deliver;
    shm_slot_event_t joined;       /* May be NULL */
    shm_slot_event_t left;         /* May be NULL; also when the sender died */
    void             *arg;
} shm_inbox_params_t;

/* What the receiver keeps of a sender. */
typedef struct shm_sender {
    shm_cell_t *cells;
    char       *ring;
    uint32_t   next;          /* Cell to look at, ever growing */
    uint32_t   cells_told;    /* Of which the sender knows that they are free */
    uint32_t   ring_log;      /* Size of the ring in use; 0: none yet */
    uint32_t   ring_at;       /* Where the next bytes of the ring lie */
    uint64_t   bytes_done;
    uint64_t   bytes_told;
    shm_slot_t *slot;
    uint32_t   news;          /* Review in which something came last */
    uint16_t   index;
    uint8_t    active;        /* It is polled */
    uint8_t    cut;           /* It has sent nonsense */
    char       *box;          /* Mapped: private area, cells, ring */
} shm_sender_t;

typedef struct shm_inbox {
    /* Progress */
    shm_inbox_head_t   *head;
    uint32_t           bell_seen;
    uint32_t           num_active;
    shm_sender_t       **active;      /* Those that are polled */
    uint32_t           cells_mask;
    uint32_t           credit_cells;  /* Told when so many are free ... */
    uint8_t            is_busy;       /* Delivering */
    uint8_t            need_fence;    /* No membarrier here: senders fence */
    uint8_t            is_short;      /* Memory is out for a new sender: told */

    shm_slot_t         *slots;
    shm_sender_t       **senders;     /* By slot; NULL: not there */
    const ucx_host_t   *host;
    shm_inbox_params_t params;
    shm_seg_t          seg;
    size_t             front_length;  /* Mapped bytes of head and slots; the
                                         boxes follow */
    size_t             box_stride;
    uint32_t           review;        /* How often dormancy was looked at */
    struct {
        double         time;
        uint64_t       ticks;
    } clock;                          /* How long a tick is: see probe.c */
    _Atomic uint32_t   slots_seen;    /* Slots below it may be in use */
} shm_inbox_t;

ucs_status_t shm_inbox_open(shm_inbox_t *inbox, shm_space_t *space,
                            const shm_inbox_params_t *params);
void shm_inbox_close(shm_inbox_t *inbox);

/* Hot path: delivers what has come, a bounded number; returns how many. The
 * users of an inbox call it with a constant function, which is inlined. */
static SHM_INLINE unsigned
shm_inbox_progress(shm_inbox_t *inbox, shm_deliver_t deliver);

/* Non-zero: some sender has ended without leaving. Any thread. */
int shm_inbox_has_dead(const shm_inbox_t *inbox);
/* Takes what those have sent and frees their slots. Not inside a delivery. */
void shm_inbox_sweep(shm_inbox_t *inbox);

/* Stops polling senders that have been quiet since the review before. Called
 * some times in a second. */
void shm_inbox_review(shm_inbox_t *inbox);

/* Before sleeping on seg.event_rd. UCS_ERR_BUSY: there is something. After
 * UCS_OK senders ring until shm_inbox_disarm(). */
ucs_status_t shm_inbox_arm(shm_inbox_t *inbox);
void shm_inbox_disarm(shm_inbox_t *inbox);

#include "inbox_inl.h"

#endif
