/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sender's side of an inbox: attaching, taking a slot, and the slow path of
 * sending when there is no space or the receiver does not poll.
 */
#include "outbox.h"

#include "fence.h"
#include "speed.h"

#include <string.h>

/* RING_MIN_LOG: log2 of the smallest ring. For messages of RING_LARGE bytes or
 * more the ring gets the size of large_ring(), for others at most this size.
 * CACHE_PARTS: part of the private cache that a ring takes at most unless the
 * cores are near. */
enum { RING_MIN_LOG = 12, RING_LARGE = 8192, CACHE_PARTS = 4 };

/* RING_TOTAL: limit in bytes for all rings of one inbox together, if the cores
 * are near. RING_FAR: if they are not, the limit is the private cache, but at
 * least this: each of CACHE_PARTS rings then holds two eager messages of the
 * greatest length, 256 KiB. RING_FAIR: bytes that each ring may have
 * nevertheless. */
#define RING_TOTAL (32ul << 20)
#define RING_FAR   (2ul << 20)
#define RING_FAIR  (256ul << 10)

static size_t slots_offset(void)
{
    return shm_align_up(sizeof(shm_inbox_head_t), SHM_CACHE_LINE);
}

static int is_power_of_two(size_t value)
{
    return (value != 0) && ((value & (value - 1)) == 0);
}

/* ---------------------------------------------------------- open, close -- */

/* Copies the values of the head that are used later, and returns whether they
 * are valid. The head comes from a peer, which may be broken. */
static int accept_head(shm_outbox_t *outbox, const shm_inbox_head_t *head)
{
    size_t page = outbox->seg.page;
    size_t box, stride, boxes;

    outbox->num_slots    = head->num_slots;
    outbox->num_cells    = head->num_cells;
    outbox->ring_max     = head->ring_max;
    outbox->private_size = head->private_size;
    boxes                = head->boxes;
    stride               = head->box_stride;
    box                  = outbox->private_size + outbox->ring_max +
          outbox->num_cells * sizeof(shm_cell_t);
    outbox->boxes      = boxes;
    outbox->box_length = stride;
    outbox->fenced     = (head->need_fence != 0);

    return (head->version == SHM_LAYOUT_VERSION) && (outbox->num_slots > 0) &&
           (outbox->num_slots <= SHM_MAX_SLOTS) &&
           is_power_of_two(outbox->num_cells) && (outbox->num_cells >= 4) &&
           (outbox->num_cells <= 65536) && is_power_of_two(outbox->ring_max) &&
           (outbox->ring_max >= (1ul << RING_MIN_LOG)) &&
           (outbox->ring_max <= (1ul << 30)) &&
           ((outbox->private_size % SHM_CACHE_LINE) == 0) &&
           (outbox->private_size <= (1ul << 20)) && ((boxes % page) == 0) &&
           ((stride % page) == 0) &&
           (boxes >= slots_offset() + outbox->num_slots * sizeof(shm_slot_t)) &&
           (stride >= box) && (stride <= box + page) &&
           (boxes <= outbox->seg.length) &&
           (stride <= (outbox->seg.length - boxes) / outbox->num_slots);
}

ucs_status_t shm_outbox_open(shm_outbox_t *outbox, shm_space_t *space,
                             const void *address, size_t address_length,
                             char *reason, size_t reason_size)
{
    const char *why = NULL;
    ucs_status_t status;
    size_t page;

    memset(outbox, 0, sizeof(*outbox));
    outbox->host       = space->host;
    outbox->stream_min = UINT32_MAX;
    status = shm_seg_attach(space, address, address_length, &outbox->seg,
                            reason, reason_size);
    if (status != UCS_OK) {
        return status;
    }

    page = outbox->seg.page;
    if (outbox->seg.length < shm_align_up(slots_offset(), page)) {
        why = "its segment is too short for an inbox";
        goto err_close;
    }
    outbox->head = shm_seg_map(&outbox->seg, 0,
                               shm_align_up(slots_offset(), page));
    if (outbox->head == NULL) {
        why = "out of address space";
        goto err_close;
    }
    if (!accept_head(outbox, outbox->head)) {
        why = "its segment is not an inbox of a supported version";
        goto err_unmap;
    }

    /* The head is mapped again, together with the slots */
    shm_seg_unmap(&outbox->seg, outbox->head,
                  shm_align_up(slots_offset(), page));
    outbox->head = shm_seg_map(&outbox->seg, 0, outbox->boxes);
    if (outbox->head == NULL) {
        why = "out of address space";
        goto err_close;
    }
    if (!shm_fence_register()) {
        outbox->fenced = 1;
    }
    return UCS_OK;

err_unmap:
    shm_seg_unmap(&outbox->seg, outbox->head,
                  shm_align_up(slots_offset(), page));
err_close:
    shm_seg_close(&outbox->seg);
    if ((reason != NULL) && (reason_size > 0)) {
        strncpy(reason, why, reason_size - 1);
        reason[reason_size - 1] = '\0';
    }
    return UCS_ERR_UNREACHABLE;
}

void shm_outbox_close(shm_outbox_t *outbox)
{
    if (outbox->slot != NULL) {
        atomic_store_explicit(&outbox->slot->state, SHM_SLOT_LEFT,
                              memory_order_release);
        shm_outbox_ring_bell(outbox);
        shm_seg_unlock(&outbox->seg, 1 + outbox->slot_index);
        shm_seg_unmap(&outbox->seg, outbox->box, outbox->box_length);
    }
    shm_seg_unmap(&outbox->seg, outbox->head, outbox->boxes);
    shm_seg_close(&outbox->seg);
}

void shm_outbox_fix_stream(shm_outbox_t *outbox, size_t least)
{
    outbox->stream_min = (uint32_t)shm_min(least, UINT32_MAX);
    outbox->is_fixed   = 1;
}

int shm_outbox_peer_is_alive(const shm_outbox_t *outbox)
{
    return shm_seg_is_locked(&outbox->seg, 0);
}

/* ----------------------------------------------------------------- join -- */

static size_t slot_offset(unsigned index)
{
    return slots_offset() + index * sizeof(shm_slot_t);
}

/* Takes the first free slot. Two processes cannot take the same slot, because
 * each slot has a lock. */
static ucs_status_t take_slot(shm_outbox_t *outbox)
{
    const ucx_host_t *host = outbox->host;
    shm_slot_t *slots = (shm_slot_t *)((char *)outbox->head + slots_offset());
    size_t page       = outbox->seg.page;
    size_t committed  = 0;
    ucs_status_t status;
    unsigned i;

    for (i = 0; i < outbox->num_slots; ++i) {
        if (slot_offset(i + 1) > committed) {
            status = shm_seg_commit(&outbox->seg, &slots[i], slot_offset(i),
                                    sizeof(*slots));
            if (status != UCS_OK) {
                return status;
            }
            committed = shm_align_up(slot_offset(i + 1), page);
        }
        if ((atomic_load_explicit(&slots[i].state, memory_order_acquire) !=
             SHM_SLOT_FREE) ||
            !shm_seg_lock(&outbox->seg, 1 + i)) {
            continue;
        }
        if (atomic_load_explicit(&slots[i].state, memory_order_acquire) ==
            SHM_SLOT_FREE) {
            outbox->slot_index = i;
            outbox->slot       = &slots[i];
            return UCS_OK;
        }
        shm_seg_unlock(&outbox->seg, 1 + i);
    }

    ucx_error("all %u slots for senders of a peer are in use; set "
              "UCX_POSIX_MAX_PEERS (or UCX_SYSV_MAX_PEERS) higher in its "
              "environment",
              outbox->num_slots);
    return UCS_ERR_EXCEEDS_LIMIT;
}

ucs_status_t shm_outbox_join(shm_outbox_t *outbox)
{
    const ucx_host_t *host = outbox->host;
    size_t cells           = outbox->num_cells * sizeof(shm_cell_t);
    ucs_status_t status;
    size_t offset;

    if (outbox->slot != NULL) {
        return UCS_OK;
    }

    status = take_slot(outbox);
    if (status != UCS_OK) {
        return status;
    }

    offset      = outbox->boxes + outbox->slot_index * outbox->box_length;
    outbox->box = shm_seg_map(&outbox->seg, offset, outbox->box_length);
    if (outbox->box == NULL) {
        ucx_error("cannot map %zu bytes to send to a peer: out of address space"
                  " (ulimit -v)",
                  outbox->box_length);
        status = UCS_ERR_NO_MEMORY;
        goto err;
    }
    status = shm_seg_commit(&outbox->seg, outbox->box, offset,
                            outbox->private_size + cells);
    if (status != UCS_OK) {
        goto err_unmap;
    }

    outbox->cells      = (shm_cell_t *)(outbox->box + outbox->private_size);
    outbox->ring       = (char *)outbox->cells + cells;
    outbox->cells_mask = outbox->num_cells - 1;
    outbox->limit      = outbox->num_cells;

    /* Clear the private area, the cells and the slot: a broken process that had
     * this slot before may have written here after the slot was freed */
    memset(outbox->box, 0, outbox->private_size + cells);
    atomic_store_explicit(&outbox->slot->wake, 0, memory_order_relaxed);
    atomic_store_explicit(&outbox->slot->bytes_done, 0, memory_order_relaxed);
    atomic_store_explicit(&outbox->slot->cells_done, 0, memory_order_relaxed);
    atomic_store_explicit(&outbox->slot->probed, 0, memory_order_relaxed);

    atomic_store_explicit(&outbox->slot->state, SHM_SLOT_USED,
                          memory_order_release);
    shm_outbox_ring_bell(outbox);
    return UCS_OK;

err_unmap:
    shm_seg_unmap(&outbox->seg, outbox->box, outbox->box_length);
err:
    shm_seg_unlock(&outbox->seg, 1 + outbox->slot_index);
    outbox->slot = NULL;
    return status;
}

/* --------------------------------------------- slow path of sending -- */

void shm_outbox_kill(shm_outbox_t *outbox)
{
    outbox->dead  = 1;
    outbox->limit = outbox->next; /* No cell is free: each send calls
                                   * shm_outbox_look_for_cells(), which returns
                                   * the error */
}

void shm_outbox_ring_bell(shm_outbox_t *outbox)
{
    shm_inbox_head_t *head = outbox->head;
    unsigned index         = outbox->slot_index;

    if (atomic_load_explicit(&outbox->slot->wake, memory_order_relaxed) &
        SHM_WAKE_CUT) {
        shm_outbox_kill(outbox);
        return;
    }

    atomic_fetch_or_explicit(&head->rung[index / 64], 1ul << (index % 64),
                             memory_order_seq_cst);
    atomic_fetch_add_explicit(&head->bell, 1, memory_order_seq_cst);
    if ((atomic_load_explicit(&head->armed, memory_order_seq_cst) != 0) &&
        (atomic_exchange_explicit(&head->armed, 0, memory_order_seq_cst) !=
         0)) {
        shm_seg_wake(&outbox->seg);
    }
}

/* Fails the outbox, because the credits are impossible: the receiver's memory
 * is damaged. */
static ucs_status_t give_up(shm_outbox_t *outbox)
{
    const ucx_host_t *host = outbox->host;

    ucx_diag("a peer's inbox has impossible credits; its process is broken");
    shm_outbox_kill(outbox);
    return UCS_ERR_CONNECTION_RESET;
}

/* Reads the credits that the receiver has returned, and sets the limits of
 * cells and bytes. shm_outbox_has_news() compares later credits with these. */
static ucs_status_t look_at_credits(shm_outbox_t *outbox)
{
    shm_slot_t *slot = outbox->slot;
    size_t ring      = (outbox->ring_log > 0) ? (1ul << outbox->ring_log) : 0;

    outbox->cells_done = atomic_load_explicit(&slot->cells_done,
                                              memory_order_acquire);
    outbox->bytes_done = atomic_load_explicit(&slot->bytes_done,
                                              memory_order_acquire);
    if (shm_unlikely(atomic_load_explicit(&slot->wake, memory_order_relaxed) &
                     SHM_WAKE_CUT)) {
        shm_outbox_kill(outbox);
        return UCS_ERR_CONNECTION_RESET;
    }
    if ((outbox->next - outbox->cells_done > outbox->num_cells) ||
        (outbox->bytes_used - outbox->bytes_done > 2 * ring)) {
        return give_up(outbox);
    }
    outbox->limit       = outbox->cells_done + outbox->num_cells;
    outbox->bytes_limit = outbox->bytes_done + ring;
    return UCS_OK;
}

ucs_status_t shm_outbox_look_for_cells(shm_outbox_t *outbox)
{
    ucs_status_t status;

    if (outbox->dead) {
        return UCS_ERR_CONNECTION_RESET;
    }
    if (outbox->slot == NULL) {
        status = shm_outbox_join(outbox);
        if (status != UCS_OK) {
            return status;
        }
    }

    status = look_at_credits(outbox);
    if (status != UCS_OK) {
        return status;
    }
    return (outbox->next == outbox->limit) ? UCS_ERR_NO_RESOURCE : UCS_OK;
}

/* Returns the size of the ring for large messages: README.md explains why.
 * Senders share a limit, but each may have RING_FAIR bytes. */
static size_t large_ring(const shm_outbox_t *outbox)
{
    unsigned senders = atomic_load_explicit(&outbox->head->num_used,
                                            memory_order_relaxed);
    int is_near      = shm_outbox_is_near(outbox);
    size_t cache     = shm_private_cache();
    size_t total = is_near ? RING_TOTAL : (cache > RING_FAR) ? cache : RING_FAR;
    unsigned parts = is_near ? 1 : CACHE_PARTS;
    size_t size    = total / ((senders > parts) ? senders : parts);

    return shm_min((size > RING_FAIR) ? size : RING_FAIR, outbox->ring_max);
}

/* Returns log2 of a suitable size of the ring for messages of `typical` bytes,
 * which also holds two messages of `length` bytes if possible. */
static unsigned wanted_log(const shm_outbox_t *outbox, uint32_t length,
                           uint32_t typical)
{
    size_t want  = large_ring(outbox);
    unsigned log = RING_MIN_LOG;

    if (typical < RING_LARGE) {
        want = shm_min(want, (size_t)typical * outbox->num_cells);
    }
    if (want < 2 * (size_t)length) {
        want = 2 * (size_t)length;
    }
    want = shm_min(want, outbox->ring_max);
    while ((1ul << log) < want) {
        ++log;
    }
    return log;
}

/* Returns the new value of ring_good, the typical message length up to which
 * the ring need not grow: at least `typical`, for which the ring was just sized
 * as far as possible. */
static uint32_t good_for(const shm_outbox_t *outbox, uint32_t typical)
{
    size_t size = 1ul << outbox->ring_log;
    size_t good = shm_min(size / outbox->num_cells, RING_LARGE - 1);

    if (size >= large_ring(outbox)) {
        return UINT32_MAX;
    }
    return (good > typical) ? (uint32_t)good : typical;
}

/* Enlarges the ring at its end to 1 << log bytes. The caller makes sure that
 * the bytes in use are contiguous: bytes that continue at the start of the ring
 * would be found at another place in the larger ring. */
static ucs_status_t grow(shm_outbox_t *outbox, unsigned log)
{
    size_t offset = outbox->boxes + outbox->slot_index * outbox->box_length +
                    (outbox->ring - outbox->box);
    size_t old = (outbox->ring_log > 0) ? (1ul << outbox->ring_log) : 0;
    ucs_status_t status;

    status = shm_seg_commit(&outbox->seg, outbox->ring + old, offset + old,
                            (1ul << log) - old);
    if (status == UCS_OK) {
        outbox->ring_log = log;
    }
    return status;
}

ucs_status_t shm_outbox_look_for_bytes(shm_outbox_t *outbox, uint32_t length,
                                       uint32_t typical)
{
    ucs_status_t status;
    uint64_t in_flight;
    unsigned log;
    uint32_t used;

    status = look_at_credits(outbox);
    if (status != UCS_OK) {
        return status;
    }

    in_flight = outbox->bytes_used - outbox->bytes_done;
    log       = wanted_log(outbox, length, typical);
    if (log <= outbox->ring_log) {
        outbox->ring_good = good_for(outbox, typical);
    } else if (in_flight <= outbox->ring_at) {
        status            = grow(outbox, log);
        outbox->ring_good = good_for(outbox, typical);
        if (status != UCS_OK) {
            outbox->ring_good = typical; /* Later messages of this size do not
                                          * try again */
        }
    }

    if (outbox->ring_log == 0) {
        return status;
    }
    outbox->bytes_limit = outbox->bytes_done + (1ul << outbox->ring_log);
    shm_outbox_place(outbox, length, &used);
    if (outbox->bytes_used + used <= outbox->bytes_limit) {
        return UCS_OK;
    }
    if ((in_flight == 0) && (length <= (1ul << outbox->ring_log))) {
        /* The ring is empty. The message and the skipped bytes before it may
         * together exceed the size of the ring: otherwise a ring that cannot
         * grow would never accept this message. */
        outbox->bytes_limit = outbox->bytes_used + used;
        return UCS_OK;
    }
    return (length > (1ul << outbox->ring_log)) && (status != UCS_OK) ?
               status :
               UCS_ERR_NO_RESOURCE;
}

int shm_outbox_has_news(const shm_outbox_t *outbox)
{
    return outbox->dead || (outbox->slot == NULL) ||
           (atomic_load_explicit(&outbox->slot->wake, memory_order_relaxed) &
            SHM_WAKE_CUT) ||
           (atomic_load_explicit(&outbox->slot->cells_done,
                                 memory_order_acquire) != outbox->cells_done) ||
           (atomic_load_explicit(&outbox->slot->bytes_done,
                                 memory_order_acquire) != outbox->bytes_done);
}
