/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An outbox: an attached inbox (inbox.h) of another interface, and the slot by
 * which this process sends to it. All endpoints of one interface to that inbox
 * share the outbox.
 *
 * All functions must be called by the worker's thread, except
 * shm_outbox_peer_is_alive(), which any thread may call.
 */
#ifndef SHM_OUTBOX_H
#define SHM_OUTBOX_H

#include "layout.h"
#include "probe.h"
#include "segment.h"

typedef struct shm_outbox {
    /* Members of the hot path */
    shm_cell_t *cells;
    uint32_t next;       /* Next cell to write, ever increasing */
    uint32_t limit;      /* Cells with numbers below this may be written */
    uint32_t cells_mask; /* Number of cells, minus 1 */
    uint8_t fenced;      /* Each send executes a fence (fence.h) */
    uint8_t dead;        /* The peer has exited or is broken: sends fail */
    shm_slot_t *slot;    /* NULL: no slot was taken yet */
    char *ring;
    uint32_t ring_at;     /* Offset of the next bytes in the ring */
    uint32_t ring_log;    /* log2 of the ring size in use; 0: no ring yet */
    uint32_t ring_good;   /* Typical message length up to which the ring need
                           * not grow */
    uint32_t stream_min;  /* Messages of at least this length are written to the
                           * ring by non-temporal stores (ring_stream.h);
                           * UINT32_MAX: none */
    uint32_t untimed;     /* Messages since the last one whose copy to the ring
                           * was timed */
    uint64_t bytes_used;  /* Total number of ring bytes used, ever increasing */
    uint64_t bytes_limit; /* Value that bytes_used may reach now */

    /* Other members */
    uint32_t cells_done; /* The slot's cells_done and bytes_done when they were
                          * read last */
    uint64_t bytes_done;
    int is_fixed; /* Measurements do not change stream_min */

    const ucx_host_t *host;
    shm_probing_t probing;
    shm_seg_t seg;
    shm_inbox_head_t *head; /* Mapped with the slots */
    size_t boxes;           /* Offset of the first box, where the mapping of
                             * `head` ends */
    unsigned num_slots;
    unsigned slot_index;
    unsigned num_cells;
    size_t ring_max;
    size_t private_size;
    char *box; /* Mapped box; begins with the private area */
    size_t box_length;
} shm_outbox_t;

/* Attaches an inbox by the address of its segment. On failure returns
 * UCS_ERR_UNREACHABLE and, unless `reason` is NULL, writes the reason. */
ucs_status_t shm_outbox_open(shm_outbox_t *outbox, shm_space_t *space,
                             const void *address, size_t address_length,
                             char *reason, size_t reason_size);
/* Closes the outbox. The receiver still gets messages that were sent. */
void shm_outbox_close(shm_outbox_t *outbox);

/* Sets stream_min to `least`; measurements do not change it any more. */
void shm_outbox_fix_stream(shm_outbox_t *outbox, size_t least);

/* Takes a slot in the inbox unless the outbox has one; sending requires a slot.
 * UCS_ERR_EXCEEDS_LIMIT: all slots are in use, which is logged as an error. */
ucs_status_t shm_outbox_join(shm_outbox_t *outbox);

/* Sends up to SHM_CELL_ROOM bytes. Returns UCS_ERR_NO_RESOURCE if there is no
 * space now. */
static SHM_INLINE ucs_status_t shm_outbox_send(shm_outbox_t *outbox, uint8_t id,
                                               const void *data,
                                               uint32_t length);

/* Returns non-zero if the creator of the inbox is alive. Makes a system
 * call. */
int shm_outbox_peer_is_alive(const shm_outbox_t *outbox);

/* Called when the peer has exited or is broken: makes every later send fail
 * with UCS_ERR_CONNECTION_RESET. */
void shm_outbox_kill(shm_outbox_t *outbox);

/* Called after a send that found no space. Returns non-zero if the next send
 * may have another result: the receiver has returned credits, or no slot was
 * taken yet, or sends fail from now on. */
int shm_outbox_has_news(const shm_outbox_t *outbox);

#include "outbox_inl.h"

#endif
