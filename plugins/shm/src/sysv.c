/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments of System V. They are marked for removal when they are created.
 * Linux keeps such a segment while any process has it attached, and other
 * processes can still attach it by its identifier. So no segment is left
 * behind. sysv_stale.c handles processes that die before they mark a segment.
 *
 * There is no file, so file locks cannot be used. A lock is a word in the head
 * that contains the PID and the start time of its owner, so that a later
 * process with the same PID is not mistaken for the owner.
 */
#include "kind.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ucx/process.h>

#ifndef SHM_HUGE_2MB
#define SHM_HUGE_2MB (21u << 26)
#endif

static size_t front_length(unsigned num_locks, size_t page)
{
    return shm_align_up(sizeof(shm_seg_head_t) + num_locks * sizeof(uint64_t),
                        page);
}

/* --- Locks ---------------------------------------------------------------- */

static uint64_t make_owner(uint32_t pid, uint64_t start_time)
{
    return ((uint64_t)pid << 32) | (uint32_t)start_time;
}

/* Returns the owner word of this process. It is determined at its first use,
 * because that costs system calls. */
static uint64_t own_owner(shm_space_t *space)
{
    int known;

    if (space->owner == 0) {
        space->owner = make_owner(
            space->pid,
            space->has_proc ? ucx_process_start_time(space->pid, &known) : 0);
    }
    return space->owner;
}

static int owner_lives(const shm_space_t *space, uint64_t owner)
{
    uint32_t pid = (uint32_t)(owner >> 32);
    uint64_t start;
    int known = 0;

    if ((owner == 0) || (pid == 0) || (pid > INT32_MAX)) {
        return 0;
    }
    if (space->has_proc) {
        start = ucx_process_start_time(pid, &known);
        if (known) {
            /* Compare only the PID if the owner could not read its start time
             * from /proc */
            return (start != 0) && (((uint32_t)owner == 0) ||
                                    ((uint32_t)owner == (uint32_t)start));
        }
    }
    return (kill((pid_t)pid, 0) == 0) || (errno != ESRCH);
}

static uint64_t *owner_at(const shm_seg_t *seg, unsigned index)
{
    return &((shm_seg_head_t *)seg->head)->owners[index];
}

/* Takes a lock for this attachment. The attachment records its locks, because
 * all attachments of this process have the same owner word. */
static int sysv_lock(shm_seg_t *seg, unsigned index)
{
    uint64_t *word = owner_at(seg, index);
    uint64_t old   = __atomic_load_n(word, __ATOMIC_ACQUIRE);

    if (seg->held == NULL) {
        seg->held = calloc((seg->num_locks + 7) / 8, 1);
        if (seg->held == NULL) {
            return 0;
        }
    }
    if (owner_lives(seg->space, old) ||
        !__atomic_compare_exchange_n(word, &old, own_owner(seg->space), 0,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        return 0;
    }
    seg->held[index / 8] |= (uint8_t)(1u << (index % 8));
    return 1;
}

static void sysv_unlock(shm_seg_t *seg, unsigned index)
{
    uint64_t own = own_owner(seg->space);
    uint8_t bit  = (uint8_t)(1u << (index % 8));

    if ((seg->held == NULL) || !(seg->held[index / 8] & bit)) {
        return;
    }
    seg->held[index / 8] &= (uint8_t)~bit;
    (void)__atomic_compare_exchange_n(owner_at(seg, index), &own, 0, 0,
                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static int sysv_is_locked(const shm_seg_t *seg, unsigned index)
{
    return owner_lives(seg->space,
                       __atomic_load_n(owner_at(seg, index), __ATOMIC_ACQUIRE));
}

/* In a forked child seg->num_locks is 0, so that the parent's locks are not
 * released. */
static void sysv_close(shm_seg_t *seg)
{
    for (unsigned i = 0; (seg->held != NULL) && (i < seg->num_locks); ++i) {
        sysv_unlock(seg, i);
    }
    free(seg->held);
    seg->held = NULL;
    if (seg->head != NULL) {
        shmdt(seg->head);
    }
    seg->head    = NULL;
    seg->sysv_id = -1;
}

/* --- Making --------------------------------------------------------------- */

/* Creates and attaches the segment, and marks it for removal; sets errno on
 * failure. */
static int make_segment(shm_seg_t *seg, void *at, int hugetlb)
{
    size_t length = seg->length;
    void *head    = NULL;
    int error;

    seg->page        = hugetlb ? SHM_HUGE_PAGE : (size_t)sysconf(_SC_PAGESIZE);
    seg->length      = shm_align_up(length, seg->page);
    seg->head_length = front_length(seg->num_locks, seg->page);
    if (at != NULL) {
        head = ((uintptr_t)at > seg->head_length) ?
                   (char *)at - seg->head_length :
                   NULL;
    }

    /* The kernel reserves huge pages now; other pages are not accounted before
     * they are used, because of SHM_NORESERVE. */
    seg->sysv_id = shm_sysv_get(seg->length + seg->head_length,
                                0600 | (hugetlb ? (SHM_HUGETLB | SHM_HUGE_2MB) :
                                                  SHM_NORESERVE));
    if (seg->sysv_id < 0) {
        goto err;
    }
    seg->head = shmat(seg->sysv_id, head, 0);
    if ((seg->head == (void *)-1) && (errno == EINVAL) &&
        !(seg->flags & SHM_SEG_FIXED)) {
        seg->head = shmat(seg->sysv_id, NULL, 0); /* The address was only a
                                                   * preference */
    }
    error = errno;
    (void)shmctl(seg->sysv_id, IPC_RMID, NULL);
    errno = error;
    if (seg->head == (void *)-1) {
        goto err;
    }
    if (shm_populate(seg->head, seg->head_length, seg->page) != 0) {
        goto err_detach;
    }
    return 0;

err_detach:
    error = errno;
    shmdt(seg->head);
    errno = error;
err:
    seg->head    = NULL;
    seg->sysv_id = -1;
    seg->length  = length;
    return -1;
}

static const char *advice(void)
{
    switch (errno) {
    case ENOSPC:
        return "the system's number or sum of System V segments is reached "
               "(kernel.shmmni, kernel.shmall)";
    case EINVAL:
        return "it is larger than the system allows (kernel.shmmax)";
    case EPERM:
    case EACCES:
    case ENOSYS:
        return "the system forbids it: a container may forbid System V memory; "
               "huge pages need the group in vm.hugetlb_shm_group "
               "(UCX_SYSV_HUGETLB_MODE=n uses none)";
    default:
        return "the memory limit of the process or of its container is "
               "reached, or there are too few huge pages";
    }
}

static ucs_status_t sysv_make(shm_seg_t *seg, void *at)
{
    int hugetlb = (seg->space->hugetlb != UCS_NO);
    int ret;

    if (!__atomic_exchange_n(&seg->space->swept, 1, __ATOMIC_RELAXED)) {
        shm_sysv_remove_stale();
    }
    ret = make_segment(seg, at, hugetlb);
    if ((ret != 0) && (seg->space->hugetlb != UCS_YES) && hugetlb) {
        ret = make_segment(seg, at, 0);
    }
    if (ret != 0) {
        if ((seg->flags & SHM_SEG_FIXED) && (errno == EINVAL)) {
            return UCS_ERR_INVALID_ADDR; /* The address cannot be used */
        }
        shm_out_of_memory(seg, "make", seg->length, advice());
        return UCS_ERR_NO_MEMORY;
    }

    shm_head_write(seg, seg->head);
    if (!sysv_lock(seg, 0)) {
        errno = ENOMEM;
        shm_out_of_memory(seg, "make", seg->length, advice());
        sysv_close(seg);
        return UCS_ERR_NO_MEMORY;
    }
    return UCS_OK;
}

static void sysv_address(const shm_seg_t *seg, shm_seg_addr_t *addr)
{
    addr->id    = (uint32_t)seg->sysv_id;
    addr->inode = seg->space->pid_ns;
}

/* --- Attaching ------------------------------------------------------------ */

static ucs_status_t sysv_attach(shm_seg_t *seg, const shm_seg_addr_t *addr,
                                char *reason, size_t reason_size)
{
    shm_space_t *space = seg->space;
    shm_seg_head_t head;
    struct shmid_ds ds;
    void *mapped;

    /* Owners of locks are identified by their PIDs, so a PID must have the same
     * meaning here */
    if (addr->inode != space->pid_ns) {
        return shm_unreachable(reason, reason_size,
                               "it is in another PID namespace, where the "
                               "owner of System V memory cannot be checked");
    }
    if ((addr->id > INT32_MAX) || (shmctl((int)addr->id, IPC_STAT, &ds) != 0)) {
        goto err_errno;
    }
    if (ds.shm_segsz < sizeof(head)) {
        goto err_other;
    }

    mapped = shmat((int)addr->id, NULL, 0);
    if (mapped == (void *)-1) {
        goto err_errno;
    }
    memcpy(&head, mapped, sizeof(head));
    if (!shm_head_read(seg, &head, ds.shm_segsz)) {
        shmdt(mapped);
        goto err_other;
    }
    seg->head    = mapped;
    seg->sysv_id = (int)addr->id;
    return UCS_OK;

err_other:
    return shm_unreachable(reason, reason_size,
                           "its System V segment is not the one with that "
                           "number here: it has ended, or is in another IPC "
                           "namespace");
err_errno:
    return shm_unreachable(reason, reason_size,
                           "its System V segment cannot be attached: %s (it "
                           "has ended, is in another IPC namespace, or belongs "
                           "to another user)",
                           strerror(errno));
}

/* --- Use ------------------------------------------------------------------ */

static void *sysv_map(shm_seg_t *seg, size_t offset, size_t length, void *at)
{
    return (char *)seg->head + seg->head_length + offset;
}

static void sysv_unmap(shm_seg_t *seg, void *address, size_t length)
{
}

static ucs_status_t sysv_commit(shm_seg_t *seg, void *mapped, size_t offset,
                                size_t length)
{
    if (shm_populate((char *)seg->head + seg->head_length + offset, length,
                     seg->page) != 0) {
        shm_out_of_memory(seg, "use", length, advice());
        return UCS_ERR_NO_MEMORY;
    }
    return UCS_OK;
}

static void sysv_decommit(shm_seg_t *seg, void *mapped, size_t offset,
                          size_t length)
{
    (void)madvise((char *)seg->head + seg->head_length + offset, length,
                  MADV_REMOVE);
}

const shm_kind_t shm_kind_sysv = {
    .name      = "sysv",
    .code      = 2,
    .make      = sysv_make,
    .address   = sysv_address,
    .attach    = sysv_attach,
    .close     = sysv_close,
    .map       = sysv_map,
    .unmap     = sysv_unmap,
    .commit    = sysv_commit,
    .decommit  = sysv_decommit,
    .lock      = sysv_lock,
    .unlock    = sysv_unlock,
    .is_locked = sysv_is_locked,
};
