/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polling of an inbox: the part of inbox.h that must be inlined.
 *
 * Ordering: the sender writes the bytes of a message and then, with release,
 * the control word of its cell. The receiver reads that word with acquire, so
 * that it sees the bytes. The sender reuses a cell or ring bytes only after it
 * has read, with acquire, a credit that the receiver has written, with release,
 * after the delivery returned.
 */
#ifndef SHM_INBOX_INL_H
#define SHM_INBOX_INL_H

/* Maximum number of messages that one call of shm_inbox_progress() delivers of
 * a sender that has not left, for fairness. */
enum { SHM_INBOX_BATCH = 16 };

/* Prefetch distance in cells. If the next message is present when the previous
 * delivery returns, more messages probably follow. */
enum { SHM_INBOX_AHEAD = 4 };

/* inbox.c */
unsigned shm_inbox_answer_bell(shm_inbox_t *inbox, shm_deliver_t deliver);
void shm_inbox_cut(shm_inbox_t *inbox, shm_sender_t *sender, uint64_t ctl);

/* probe.c */
void shm_inbox_clock_init(shm_inbox_t *inbox);
int shm_inbox_take_probe(shm_inbox_t *inbox, shm_sender_t *sender,
                         uint64_t ctl);

/* Returns the phase bit of the control word with which cell number `next` is
 * written. Numbers increase forever; `mask` is the number of cells minus 1. The
 * bit is inverted in every round through the array, so that the receiver
 * recognizes new cells. Memory is zero initially, so the first round has phase
 * 1. */
static SHM_INLINE unsigned shm_phase(uint32_t next, uint32_t mask)
{
    return (next & (mask + 1)) == 0;
}

/* Returns the offset of the next `length` bytes in a ring of 1 << ring_log
 * bytes, and in *used_p how many bytes of the ring they use: whole cache lines,
 * and skipped bytes at the end of the ring. `at`: offset after the bytes before
 * them. Sender and receiver compute the same values. */
static SHM_INLINE uint32_t shm_ring_place(uint32_t at, uint32_t ring_log,
                                          uint32_t length, uint32_t *used_p)
{
    uint32_t need = (uint32_t)shm_align_up(length, SHM_CACHE_LINE);
    uint32_t size = 1u << ring_log;

    if (at + need > size) {
        *used_p = size - at + need;
        return 0;
    }
    *used_p = need;
    return at;
}

static SHM_INLINE void shm_sender_tell_credits(shm_sender_t *sender)
{
    sender->cells_told = sender->next;
    sender->bytes_told = sender->bytes_done;
    atomic_store_explicit(&sender->slot->bytes_done, sender->bytes_done,
                          memory_order_release);
    atomic_store_explicit(&sender->slot->cells_done, sender->next,
                          memory_order_release);
}

/* Consumes the bytes of the next message in the ring, and returns their
 * address. */
static SHM_INLINE void *shm_sender_ring_take(shm_sender_t *sender,
                                             uint32_t ring_log, uint32_t length)
{
    uint32_t used;
    uint32_t at = shm_ring_place(sender->ring_at, ring_log, length, &used);

    sender->ring_log = ring_log;
    sender->ring_at  = at + (uint32_t)shm_align_up(length, SHM_CACHE_LINE);
    sender->bytes_done += used;
    return sender->ring + at;
}

/* Finds the bytes of a message. Returns NULL if the cell is a probe or `ctl`,
 * the copy of its control word, is invalid. */
static SHM_INLINE void *shm_sender_locate(shm_inbox_t *inbox,
                                          shm_sender_t *sender,
                                          shm_cell_t *cell, uint64_t ctl)
{
    uint32_t length   = shm_ctl_length(ctl);
    uint32_t ring_log = shm_ctl_ring_log(ctl);

    if (shm_likely(shm_ctl_kind(ctl) == SHM_CELL_INLINE)) {
        return (length <= SHM_CELL_ROOM) ? cell->data : NULL;
    }

    if ((shm_ctl_kind(ctl) != SHM_CELL_RING) || (ring_log == 0) ||
        (ring_log < sender->ring_log) ||
        ((1ul << ring_log) > inbox->params.ring_max) ||
        (length > inbox->params.max_length) || (length > (1ul << ring_log))) {
        return NULL;
    }

    return shm_sender_ring_take(sender, ring_log, length);
}

static SHM_INLINE shm_cell_t *shm_sender_cell(const shm_inbox_t *inbox,
                                              const shm_sender_t *sender,
                                              uint32_t number)
{
    return &sender->cells[number & inbox->cells_mask];
}

/* Reads the control word of the next cell; returns non-zero if the sender
 * has written the cell. */
static SHM_INLINE int shm_sender_peek(const shm_inbox_t *inbox,
                                      const shm_sender_t *sender,
                                      uint64_t *ctl_p)
{
    *ctl_p =
        atomic_load_explicit(&shm_sender_cell(inbox, sender, sender->next)->ctl,
                             memory_order_acquire);
    return shm_ctl_phase(*ctl_p) == shm_phase(sender->next, inbox->cells_mask);
}

/* Delivers the message with the control word `ctl` and those after it, up to
 * SHM_INBOX_BATCH. Hot path. */
static SHM_INLINE unsigned shm_sender_take(shm_inbox_t *inbox,
                                           shm_sender_t *sender, uint64_t ctl,
                                           shm_deliver_t deliver)
{
    unsigned count = 0;
    void *data;

    do {
        data = shm_sender_locate(inbox, sender,
                                 shm_sender_cell(inbox, sender, sender->next),
                                 ctl);
        if (shm_unlikely(data == NULL)) {
            if (!shm_inbox_take_probe(inbox, sender, ctl)) {
                shm_inbox_cut(inbox, sender, ctl);
                return count;
            }
        } else if (shm_unlikely(deliver(inbox->params.arg, sender->index,
                                        shm_ctl_id(ctl), data,
                                        shm_ctl_length(ctl)) != UCS_OK)) {
            shm_inbox_cut(inbox, sender, ctl);
            return count;
        }

        ++sender->next;
        ++count;
        if ((sender->next - sender->cells_told >= inbox->credit_cells) ||
            (sender->bytes_done - sender->bytes_told >
             (1ul << sender->ring_log) / 4)) {
            shm_sender_tell_credits(sender);
        }
        if (!shm_sender_peek(inbox, sender, &ctl)) {
            shm_sender_tell_credits(sender);
            break;
        }
        __builtin_prefetch(
            shm_sender_cell(inbox, sender, sender->next + SHM_INBOX_AHEAD));
    } while (count < SHM_INBOX_BATCH);

    sender->news = inbox->review;
    return count;
}

static SHM_INLINE unsigned shm_inbox_progress(shm_inbox_t *inbox,
                                              shm_deliver_t deliver)
{
    unsigned count = 0;
    shm_sender_t *sender;
    uint64_t ctl;
    unsigned i;

    if (shm_unlikely(inbox->is_busy)) {
        return 0; /* Called inside a delivery: the message is still in use */
    }

    if (shm_unlikely(
            atomic_load_explicit(&inbox->head->bell, memory_order_acquire) !=
            inbox->bell_seen)) {
        inbox->is_busy = 1;
        count          = shm_inbox_answer_bell(inbox, deliver);
        inbox->is_busy = 0;
    }
    for (i = 0; i < inbox->num_active; ++i) {
        sender = inbox->active[i];
        /* Prefetch the next bytes of the ring while the control word is
         * loaded: if the word shows a message, its bytes were written before */
        __builtin_prefetch(sender->ring + sender->ring_at);
        if (shm_sender_peek(inbox, sender, &ctl)) {
            inbox->is_busy = 1;
            count += shm_sender_take(inbox, sender, ctl, deliver);
            inbox->is_busy = 0;
        }
    }
    return count;
}

#endif
