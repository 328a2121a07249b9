/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The message path of an outbox: the part of outbox.h that must be inlined. No
 * allocation, no lock, no atomic read-modify-write, except in the functions of
 * outbox.c, which are called rarely. For memory ordering see inbox_inl.h and
 * fence.h.
 */
#ifndef SHM_OUTBOX_INL_H
#define SHM_OUTBOX_INL_H

#include <ucx/copy.h>

/* outbox.c */
void shm_outbox_ring_bell(shm_outbox_t *outbox);
ucs_status_t shm_outbox_look_for_cells(shm_outbox_t *outbox);
ucs_status_t shm_outbox_look_for_bytes(shm_outbox_t *outbox, uint32_t length,
                                       uint32_t typical);

/* Returns where the next message is written in the ring; see
 * shm_ring_place(). */
static SHM_INLINE uint32_t shm_outbox_place(const shm_outbox_t *outbox,
                                            uint32_t length, uint32_t *used_p)
{
    uint32_t need = (uint32_t)shm_align_up(length, SHM_CACHE_LINE);
    uint32_t size = 1u << outbox->ring_log;

    if (outbox->ring_at + need > size) {
        *used_p = size - outbox->ring_at + need;
        return 0;
    }
    *used_p = need;
    return outbox->ring_at;
}

/* Returns the next cell to write; NULL, with the error in *status_p, if there
 * is none. */
static SHM_INLINE shm_cell_t *shm_outbox_cell(shm_outbox_t *outbox,
                                              ucs_status_t *status_p)
{
    if (shm_unlikely(outbox->next == outbox->limit)) {
        *status_p = shm_outbox_look_for_cells(outbox);
        if (*status_p != UCS_OK) {
            return NULL;
        }
    }
    return &outbox->cells[outbox->next & outbox->cells_mask];
}

/* Publishes the cell without waking the receiver. */
static SHM_INLINE void shm_outbox_hand_over(shm_outbox_t *outbox,
                                            shm_cell_t *cell,
                                            shm_cell_kind_t kind, uint8_t id,
                                            uint32_t length)
{
    unsigned phase = (outbox->next & (outbox->cells_mask + 1)) == 0;

    atomic_store_explicit(&cell->ctl,
                          shm_ctl(phase, kind, outbox->ring_log, id, length),
                          memory_order_release);
    ++outbox->next;
}

/* Publishes the cell, and rings the bell if the receiver does not poll this
 * slot. */
static SHM_INLINE void shm_outbox_publish(shm_outbox_t *outbox,
                                          shm_cell_t *cell,
                                          shm_cell_kind_t kind, uint8_t id,
                                          uint32_t length)
{
    shm_outbox_hand_over(outbox, cell, kind, id, length);

    if (shm_unlikely(outbox->fenced)) {
        atomic_thread_fence(memory_order_seq_cst);
    } else {
        atomic_signal_fence(memory_order_seq_cst);
    }
    if (shm_unlikely(atomic_load_explicit(&outbox->slot->wake,
                                          memory_order_relaxed) != 0)) {
        shm_outbox_ring_bell(outbox);
    }
}

static SHM_INLINE ucs_status_t shm_outbox_send(shm_outbox_t *outbox, uint8_t id,
                                               const void *data,
                                               uint32_t length)
{
    ucs_status_t status = UCS_OK;
    shm_cell_t *cell    = shm_outbox_cell(outbox, &status);

    if (shm_likely(cell != NULL)) {
        ucx_copy_small(cell->data, data, length);
        shm_outbox_publish(outbox, cell, SHM_CELL_INLINE, id, length);
    }
    return status;
}

/* Finds a free cell and `length` free bytes of the ring. The ring grows if it
 * is small for messages of `typical` bytes. The caller writes the bytes, then
 * calls shm_outbox_commit() with the actual number; nothing is taken before
 * that. */
static SHM_INLINE ucs_status_t shm_outbox_reserve(shm_outbox_t *outbox,
                                                  uint32_t length,
                                                  uint32_t typical,
                                                  shm_cell_t **cell_p,
                                                  void **bytes_p)
{
    ucs_status_t status = UCS_OK;
    uint32_t used, at;

    *cell_p = shm_outbox_cell(outbox, &status);
    if (shm_unlikely(*cell_p == NULL)) {
        return status;
    }

    at = shm_outbox_place(outbox, length, &used);
    if (shm_unlikely(outbox->bytes_used + used > outbox->bytes_limit) ||
        shm_unlikely(typical > outbox->ring_good)) {
        status = shm_outbox_look_for_bytes(outbox, length, typical);
        if (status != UCS_OK) {
            return status;
        }
        at = shm_outbox_place(outbox, length, &used);
    }
    *bytes_p = outbox->ring + at;
    return UCS_OK;
}

/* Marks the first `length` reserved bytes of the ring as used. */
static SHM_INLINE void shm_outbox_take_ring(shm_outbox_t *outbox,
                                            uint32_t length)
{
    uint32_t used;
    uint32_t at = shm_outbox_place(outbox, length, &used);

    outbox->ring_at = at + (uint32_t)shm_align_up(length, SHM_CACHE_LINE);
    outbox->bytes_used += used;
}

static SHM_INLINE void shm_outbox_commit(shm_outbox_t *outbox, shm_cell_t *cell,
                                         uint8_t id, uint32_t length)
{
    shm_outbox_take_ring(outbox, length);
    shm_outbox_publish(outbox, cell, SHM_CELL_RING, id, length);
}

#endif
