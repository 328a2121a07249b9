/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiver's side of an inbox: creation, joining and leaving of senders,
 * dormancy (senders that are not polled) and sleep. Polling is in inbox_inl.h.
 */
#include "inbox.h"

#include "fence.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* If at most this number of senders is polled, idle senders stay polled,
 * too. */
enum { NEVER_DORMANT = 4 };

static size_t slots_offset(void)
{
    return shm_align_up(sizeof(shm_inbox_head_t), SHM_CACHE_LINE);
}

/* -------------------------------------------------------------- senders -- */

static void activate(shm_inbox_t *inbox, shm_sender_t *sender)
{
    if (!sender->active && !sender->cut) {
        sender->active                     = 1;
        sender->news                       = inbox->review;
        inbox->active[inbox->num_active++] = sender;
        atomic_store_explicit(&sender->slot->wake, 0, memory_order_relaxed);
    }
}

static void deactivate(shm_inbox_t *inbox, shm_sender_t *sender)
{
    unsigned i = 0;

    if (sender->active) {
        while (inbox->active[i] != sender) {
            ++i;
        }
        inbox->active[i] = inbox->active[--inbox->num_active];
        sender->active   = 0;
    }
}

static int has_message(const shm_inbox_t *inbox, const shm_sender_t *sender)
{
    uint64_t ctl;

    return shm_sender_peek(inbox, sender, &ctl);
}

void shm_inbox_cut(shm_inbox_t *inbox, shm_sender_t *sender, uint64_t ctl)
{
    const ucx_host_t *host = inbox->host;

    ucx_diag("cut off the sender in slot %u of an inbox: it wrote invalid "
             "data (control word 0x%lx); its process is broken",
             sender->index, (unsigned long)ctl);
    deactivate(inbox, sender);
    sender->cut = 1;
    atomic_store_explicit(&sender->slot->wake, SHM_WAKE_CUT,
                          memory_order_relaxed);
}

static size_t slot_offset(unsigned index)
{
    return slots_offset() + index * sizeof(shm_slot_t);
}

/* Returns the offset of a box. Does not use the values in the head, because
 * senders can overwrite them. */
static size_t box_offset(const shm_inbox_t *inbox, unsigned index)
{
    return inbox->front_length + index * inbox->box_stride;
}

/* Handles a sender that has taken a slot. Returns NULL if out of memory. */
static shm_sender_t *join(shm_inbox_t *inbox, unsigned index)
{
    const shm_inbox_params_t *params = &inbox->params;
    size_t cells                     = params->num_cells * sizeof(shm_cell_t);
    size_t offset                    = box_offset(inbox, index);
    shm_sender_t *sender             = calloc(1, sizeof(*sender));

    if (sender == NULL) {
        goto err;
    }

    sender->box = shm_seg_map(&inbox->seg, offset, inbox->box_stride);
    if ((sender->box == NULL) ||
        (shm_seg_commit(&inbox->seg, sender->box, offset,
                        params->private_size + cells) != UCS_OK)) {
        goto err_free;
    }

    inbox->is_short       = 0;
    sender->index         = (uint16_t)index;
    sender->slot          = &inbox->slots[index];
    sender->cells         = (shm_cell_t *)(sender->box + params->private_size);
    sender->ring          = (char *)sender->cells + cells;
    inbox->senders[index] = sender;
    if (index >= inbox->slots_seen) {
        atomic_store_explicit(&inbox->slots_seen, index + 1,
                              memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&inbox->head->num_used, 1, memory_order_relaxed);
    activate(inbox, sender);
    if (params->joined != NULL) {
        params->joined(params->arg, index, sender->box);
    }
    return sender;

err_free:
    if (sender->box != NULL) {
        shm_seg_unmap(&inbox->seg, sender->box, inbox->box_stride);
    }
    free(sender);
err:
    return NULL;
}

/* Removes a sender and frees its slot. */
static void drop(shm_inbox_t *inbox, shm_sender_t *sender)
{
    unsigned index   = sender->index;
    shm_slot_t *slot = sender->slot;
    size_t front     = (char *)sender->ring - sender->box;

    if (inbox->params.left != NULL) {
        inbox->params.left(inbox->params.arg, index, sender->box);
    }
    deactivate(inbox, sender);
    inbox->senders[index] = NULL;
    atomic_fetch_sub_explicit(&inbox->head->num_used, 1, memory_order_relaxed);

    memset(sender->box, 0, front);
    shm_seg_decommit(&inbox->seg, sender->box, box_offset(inbox, index),
                     inbox->box_stride);
    shm_seg_unmap(&inbox->seg, sender->box, inbox->box_stride);
    free(sender);

    atomic_store_explicit(&slot->wake, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->bytes_done, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->cells_done, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->probed, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->state, SHM_SLOT_FREE, memory_order_release);
}

/* Delivers the remaining messages of a sender that has left or exited. */
static unsigned take_rest(shm_inbox_t *inbox, shm_sender_t *sender,
                          shm_deliver_t deliver)
{
    unsigned count = 0;
    uint64_t ctl;

    while (!sender->cut && shm_sender_peek(inbox, sender, &ctl)) {
        count += shm_sender_take(inbox, sender, ctl, deliver);
    }
    return count;
}

/* Logs that a new sender has to wait, once for each shortage of memory. */
static void tell_shortage(shm_inbox_t *inbox)
{
    const ucx_host_t *host = inbox->host;

    if (!inbox->is_short) {
        inbox->is_short = 1;
        ucx_error("cannot receive from a new peer: out of memory or address "
                  "space; the peer waits until there is some");
    }
}

/* Handles a slot whose sender has rung the bell or, if `gone`, has exited.
 * Returns the number of delivered messages. Sets *again_p if memory for a new
 * sender has run out, so that the slot must be visited again. */
static unsigned visit(shm_inbox_t *inbox, unsigned index, int gone,
                      shm_deliver_t deliver, int *again_p)
{
    shm_sender_t *sender = inbox->senders[index];
    unsigned count       = 0;
    uint32_t state;

    if ((sender == NULL) &&
        (shm_seg_commit(&inbox->seg, &inbox->slots[index], slot_offset(index),
                        sizeof(shm_slot_t)) != UCS_OK)) {
        goto short_of_memory;
    }

    state = atomic_load_explicit(&inbox->slots[index].state,
                                 memory_order_acquire);
    if (sender == NULL) {
        if (state == SHM_SLOT_FREE) {
            return 0;
        }
        sender = join(inbox, index);
        if (sender == NULL) {
            goto short_of_memory;
        }
    }

    activate(inbox, sender);
    if (gone || (state != SHM_SLOT_USED)) {
        count = take_rest(inbox, sender, deliver);
        drop(inbox, sender);
    }
    return count;

short_of_memory:
    tell_shortage(inbox);
    *again_p = 1;
    return 0;
}

unsigned shm_inbox_answer_bell(shm_inbox_t *inbox, shm_deliver_t deliver)
{
    shm_inbox_head_t *head = inbox->head;
    unsigned words         = (inbox->params.num_slots + 63) / 64;
    unsigned count         = 0;
    int missed             = 0;
    unsigned word, index;
    uint64_t bits;
    int again;

    /* Read the bell first, then the bits: a sender writes them in the reverse
     * order */
    inbox->bell_seen = atomic_load_explicit(&head->bell, memory_order_seq_cst);
    for (word = 0; word < words; ++word) {
        if (atomic_load_explicit(&head->rung[word], memory_order_relaxed) ==
            0) {
            continue;
        }
        bits = atomic_exchange_explicit(&head->rung[word], 0,
                                        memory_order_seq_cst);
        for (; bits != 0; bits &= bits - 1) {
            index = word * 64 + (unsigned)__builtin_ctzl(bits);
            if (index >= inbox->params.num_slots) {
                continue;
            }
            again = 0;
            count += visit(inbox, index, 0, deliver, &again);
            if (again) {
                /* Set the bit again: a new sender rings the bell only once */
                atomic_fetch_or_explicit(&head->rung[word], bits & -bits,
                                         memory_order_relaxed);
                missed = 1;
            }
        }
    }
    /* If a slot must be visited again, treat the bell as unanswered: the next
     * progress tries again, and arming returns UCS_ERR_BUSY */
    inbox->bell_seen -= missed;
    return count;
}

/* Returns whether a slot has a sender that has exited or left. A joined sender
 * that holds its lock counts as alive even if its slot's state is damaged. */
static int is_dead(const shm_inbox_t *inbox, unsigned index)
{
    return ((inbox->senders[index] != NULL) ||
            (atomic_load_explicit(&inbox->slots[index].state,
                                  memory_order_acquire) != SHM_SLOT_FREE)) &&
           !shm_seg_is_locked(&inbox->seg, 1 + index);
}

/* Returns the number of slots to check: up to the last one that was ever used,
 * and the other slots on its page, where a sender may have died before it rang
 * the bell. */
static unsigned num_sweep(const shm_inbox_t *inbox)
{
    unsigned seen = atomic_load_explicit(&inbox->slots_seen,
                                         memory_order_relaxed);
    size_t end    = shm_align_up(slot_offset(seen), inbox->seg.page);

    return (unsigned)shm_min((end - slots_offset()) / sizeof(shm_slot_t),
                             inbox->params.num_slots);
}

int shm_inbox_has_dead(const shm_inbox_t *inbox)
{
    unsigned count = num_sweep(inbox);
    unsigned index;

    for (index = 0; index < count; ++index) {
        if (is_dead(inbox, index)) {
            return 1;
        }
    }
    return 0;
}

void shm_inbox_sweep(shm_inbox_t *inbox)
{
    unsigned count = num_sweep(inbox);
    int again      = 0; /* Ignored: the next sweep finds the dead sender
                         * again */
    unsigned index;

    if (inbox->is_busy) {
        return; /* A delivery is running, and its sender must not be freed */
    }
    inbox->is_busy = 1;
    for (index = 0; index < count; ++index) {
        if (is_dead(inbox, index)) {
            visit(inbox, index, 1, inbox->params.deliver, &again);
        }
    }
    inbox->is_busy = 0;
}

/* ------------------------------------------------------ dormancy, sleep -- */

static void set_wake(shm_sender_t *sender, uint32_t set, uint32_t clear)
{
    uint32_t wake = atomic_load_explicit(&sender->slot->wake,
                                         memory_order_relaxed);

    atomic_store_explicit(&sender->slot->wake, (wake & ~clear) | set,
                          memory_order_relaxed);
}

void shm_inbox_disarm(shm_inbox_t *inbox)
{
    unsigned i;

    for (i = 0; i < inbox->num_active; ++i) {
        set_wake(inbox->active[i], 0, SHM_WAKE_ARMED);
    }
    atomic_store_explicit(&inbox->head->armed, 0, memory_order_relaxed);
}

void shm_inbox_review(shm_inbox_t *inbox)
{
    shm_sender_t *sender;
    unsigned num_quiet = 0;
    unsigned i;

    if (inbox->num_active <= NEVER_DORMANT) {
        goto out;
    }

    for (i = 0; i < inbox->num_active; ++i) {
        sender = inbox->active[i];
        if (sender->news != inbox->review) {
            set_wake(sender, SHM_WAKE_DORMANT, 0);
            ++num_quiet;
        }
    }
    if (num_quiet == 0) {
        goto out;
    }

    shm_fence_all();
    for (i = inbox->num_active; i-- > 0;) {
        sender = inbox->active[i];
        if (sender->news == inbox->review) {
            continue;
        }
        if (has_message(inbox, sender)) {
            set_wake(sender, 0, SHM_WAKE_DORMANT);
        } else {
            deactivate(inbox, sender);
        }
    }
out:
    ++inbox->review;
}

ucs_status_t shm_inbox_arm(shm_inbox_t *inbox)
{
    shm_inbox_head_t *head = inbox->head;
    int busy               = 0;
    unsigned i;

    shm_seg_event_clear(&inbox->seg);
    for (i = 0; i < inbox->num_active; ++i) {
        set_wake(inbox->active[i], SHM_WAKE_ARMED, 0);
    }
    atomic_store_explicit(&head->armed, 1, memory_order_relaxed);

    shm_fence_all();
    busy = (atomic_load_explicit(&head->bell, memory_order_acquire) !=
            inbox->bell_seen);
    for (i = 0; (i < inbox->num_active) && !busy; ++i) {
        busy = has_message(inbox, inbox->active[i]);
    }
    if (busy) {
        shm_inbox_disarm(inbox);
        return UCS_ERR_BUSY;
    }
    return UCS_OK;
}

/* --------------------------------------------------------- open, close -- */

ucs_status_t shm_inbox_open(shm_inbox_t *inbox, shm_space_t *space,
                            const shm_inbox_params_t *params)
{
    const ucx_host_t *host = space->host;
    size_t cells           = params->num_cells * sizeof(shm_cell_t);
    size_t front           = slot_offset(params->num_slots);
    shm_inbox_head_t *head;
    ucs_status_t status;
    size_t page, length;

    memset(inbox, 0, sizeof(*inbox));
    inbox->host   = host;
    inbox->params = *params;
    shm_inbox_clock_init(inbox);

    /* The page size is known only after the segment was created: compute the
     * length for the largest page */
    page   = (space->hugetlb != UCS_NO) ? SHM_HUGE_PAGE :
                                          (size_t)sysconf(_SC_PAGESIZE);
    length = shm_align_up(front, page) +
             params->num_slots *
                 shm_align_up(params->private_size + cells + params->ring_max,
                              page);
    shm_secret_get(&inbox->secret, params->worker);
    status = shm_seg_make_secret(space, length, 1 + params->num_slots,
                                 params->seg_flags, inbox->secret.value,
                                 &inbox->seg);
    if (status != UCS_OK) {
        goto err_secret;
    }

    page                = inbox->seg.page;
    inbox->front_length = shm_align_up(front, page);
    inbox->box_stride   = shm_align_up(params->private_size + cells +
                                           params->ring_max,
                                       page);
    inbox->senders      = calloc(params->num_slots, sizeof(*inbox->senders));
    inbox->active       = calloc(params->num_slots, sizeof(*inbox->active));
    head                = shm_seg_map(&inbox->seg, 0, inbox->front_length);
    if ((head == NULL) || (inbox->senders == NULL) || (inbox->active == NULL)) {
        ucx_error("cannot map an inbox of %zu bytes: out of memory or address"
                  " space",
                  inbox->front_length);
        status = UCS_ERR_NO_MEMORY;
        goto err;
    }
    status = shm_seg_commit(&inbox->seg, head, 0, slots_offset());
    if (status != UCS_OK) {
        goto err;
    }

    inbox->head         = head;
    inbox->slots        = (shm_slot_t *)((char *)head + slots_offset());
    inbox->cells_mask   = params->num_cells - 1;
    inbox->credit_cells = params->num_cells / 4;
    inbox->need_fence   = !shm_fence_is_global();
    shm_fence_register();

    head->version      = SHM_LAYOUT_VERSION;
    head->num_slots    = params->num_slots;
    head->num_cells    = params->num_cells;
    head->ring_max     = (uint32_t)params->ring_max;
    head->private_size = (uint32_t)params->private_size;
    head->need_fence   = inbox->need_fence;
    head->boxes        = inbox->front_length;
    head->box_stride   = inbox->box_stride;
    return UCS_OK;

err:
    if (head != NULL) {
        shm_seg_unmap(&inbox->seg, head, inbox->front_length);
    }
    free(inbox->active);
    free(inbox->senders);
    shm_seg_close(&inbox->seg);
err_secret:
    shm_secret_put(&inbox->secret);
    return status;
}

void shm_inbox_close(shm_inbox_t *inbox)
{
    unsigned index;

    for (index = 0; index < inbox->slots_seen; ++index) {
        shm_sender_t *sender = inbox->senders[index];

        if (sender != NULL) {
            if (inbox->params.left != NULL) {
                inbox->params.left(inbox->params.arg, index, sender->box);
            }
            shm_seg_unmap(&inbox->seg, sender->box, inbox->box_stride);
            free(sender);
        }
    }
    free(inbox->active);
    free(inbox->senders);
    shm_seg_unmap(&inbox->seg, inbox->head, inbox->front_length);
    shm_seg_close(&inbox->seg);
    shm_secret_put(&inbox->secret);
}
