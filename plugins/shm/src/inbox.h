/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An inbox: a segment into which other processes write messages, and the
 * polling of these senders.
 *
 * All functions must be called by the worker's thread, unless they state
 * otherwise.
 */
#ifndef SHM_INBOX_H
#define SHM_INBOX_H

#include "layout.h"
#include "secret.h"
#include "segment.h"

/* Handles one message; `data` is valid during the call. The function must not
 * close the inbox. An error means that the message is invalid: nothing more is
 * read from this sender. */
typedef ucs_status_t (*shm_deliver_t)(void *arg, unsigned slot, uint8_t id,
                                      void *data, uint32_t length);

/* Called when a sender has taken or left a slot, for example to create or free
 * what the user of the inbox (posix, sysv or cma) keeps for this sender.
 * `private_area`: the first private_size bytes of the sender's box. A box is
 * the part of the segment that one sender writes to (layout.h). */
typedef void (*shm_slot_event_t)(void *arg, unsigned slot, void *private_area);

typedef struct shm_inbox_params {
    unsigned num_slots;  /* Maximum number of senders, up to SHM_MAX_SLOTS */
    unsigned num_cells;  /* Cells of one sender; a power of two, 4 or more */
    size_t ring_max;     /* Maximum size of a sender's ring in bytes; a power of
                          * two, 4096 or more */
    size_t private_size; /* Bytes of each box for the user of the
                          * inbox */
    size_t max_length;   /* Maximum message length in bytes */
    unsigned seg_flags;  /* SHM_SEG_* */
    const void *worker;  /* Identifies the worker: see secret.h */
    shm_deliver_t deliver;
    shm_slot_event_t joined; /* May be NULL */
    shm_slot_event_t left;   /* May be NULL; also called when the sender
                              * died */
    void *arg;
} shm_inbox_params_t;

/* The receiver's state of a sender. */
typedef struct shm_sender {
    shm_cell_t *cells;
    char *ring;
    uint32_t next;       /* Next cell to read, ever increasing */
    uint32_t cells_told; /* Value of `next` that was last reported to the
                          * sender: all cells before it are free */
    uint32_t ring_log;   /* log2 of the size of the ring in use; 0: none yet */
    uint32_t ring_at;    /* Offset of the next bytes in the ring */
    uint64_t bytes_done; /* Total bytes of the ring that were read */
    uint64_t bytes_told; /* Value of `bytes_done` that was last reported to the
                          * sender */
    shm_slot_t *slot;
    uint32_t news;  /* The inbox's `review` when the last message arrived or the
                     * polling began */
    uint16_t index; /* Index of the slot */
    uint8_t active; /* The sender is polled */
    uint8_t cut;    /* The sender has sent invalid data and is ignored */
    char *box;      /* The mapped box: private area, cells, ring */
} shm_sender_t;

typedef struct shm_inbox {
    /* Progress */
    shm_inbox_head_t *head;
    uint32_t bell_seen;    /* The value of head->bell that was handled last */
    uint32_t num_active;   /* Number of entries of `active` */
    shm_sender_t **active; /* Senders that are polled */
    uint32_t cells_mask;   /* Number of cells of one sender, minus 1 */
    uint32_t credit_cells; /* Credits are returned in steps of this many
                            * cells */
    uint8_t is_busy;       /* A delivery is running */
    uint8_t need_fence;    /* membarrier() does not work here: senders must
                            * execute fences */
    uint8_t is_short;      /* Memory for a new sender has run out, and this was
                            * logged */

    shm_slot_t *slots;
    shm_sender_t **senders; /* Senders by slot; NULL: no sender */
    const ucx_host_t *host;
    shm_inbox_params_t params;
    shm_seg_t seg;
    shm_secret_t secret;
    size_t front_length; /* Mapped bytes of head and slots, which precede the
                          * boxes */
    size_t box_stride;   /* Bytes from one box to the next */
    uint32_t review;     /* Number of calls of shm_inbox_review() */
    struct {
        double time;
        uint64_t ticks;
    } clock; /* Host time and tick counter when the inbox was
              * opened, from which probe.c computes the
              * duration of a tick */
    _Atomic uint32_t slots_seen; /* No sender has joined in slots from this
                                  * index on */
} shm_inbox_t;

ucs_status_t shm_inbox_open(shm_inbox_t *inbox, shm_space_t *space,
                            const shm_inbox_params_t *params);
void shm_inbox_close(shm_inbox_t *inbox);

/* Delivers new messages, at most SHM_INBOX_BATCH of each sender that has not
 * left. Returns the number of messages and probes. Callers pass a constant
 * function as `deliver`, which is inlined. Hot path. */
static SHM_INLINE unsigned shm_inbox_progress(shm_inbox_t *inbox,
                                              shm_deliver_t deliver);

/* Returns non-zero if a slot is not free, but its sender has exited, or has
 * left and is not handled yet. Any thread may call it. */
int shm_inbox_has_dead(const shm_inbox_t *inbox);
/* Delivers the messages of dead senders and frees their slots. Does nothing
 * inside a delivery. */
void shm_inbox_sweep(shm_inbox_t *inbox);

/* Stops polling senders that have sent nothing since the previous call, unless
 * only a few senders are polled. For its next message, such a sender notifies
 * the receiver by the bell, a counter in the segment (layout.h). The caller
 * determines the interval. */
void shm_inbox_review(shm_inbox_t *inbox);

/* Prepares for sleeping on seg.event_rd. Returns UCS_ERR_BUSY if a sender has
 * rung the bell or a message has arrived. After UCS_OK the next sender wakes
 * the receiver. */
ucs_status_t shm_inbox_arm(shm_inbox_t *inbox);
void shm_inbox_disarm(shm_inbox_t *inbox);

#include "inbox_inl.h"

#endif
