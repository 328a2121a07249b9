/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments that are files: unnamed memory (memfd) or, if that is unavailable or
 * cannot be passed to peers, or if the user requires it, a file in a folder.
 *
 * Locks are open file description locks on seg->fd. An open file description
 * exists as long as any mapping made from it, and a forked child inherits the
 * mappings. Therefore memory is mapped from separate descriptions, so that a
 * child does not keep the locks held.
 */
#include "kind.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008u
#endif
#ifndef MFD_HUGE_2MB
#define MFD_HUGE_2MB (21u << 26)
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define NAME "ucx-shm"

static size_t small_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* --- Locks ---------------------------------------------------------------- */

static int lock_op(int fd, int command, int type, unsigned index, int *type_p)
{
    struct flock lock = {
        .l_type   = (short)type,
        .l_whence = SEEK_SET,
        .l_start  = index,
        .l_len    = 1,
    };
    int ret;

    do {
        ret = fcntl(fd, command, &lock);
    } while ((ret != 0) && (errno == EINTR));
    if (type_p != NULL) {
        *type_p = lock.l_type;
    }
    return ret;
}

static int posix_lock(shm_seg_t *seg, unsigned index)
{
    return lock_op(seg->fd, F_OFD_SETLK, F_WRLCK, index, NULL) == 0;
}

static void posix_unlock(shm_seg_t *seg, unsigned index)
{
    lock_op(seg->fd, F_OFD_SETLK, F_UNLCK, index, NULL);
}

/* Returns whether the lock is held or its state is unknown. If this detects
 * that the creator of a named segment has exited, it removes the file. */
static int posix_is_locked(const shm_seg_t *seg, unsigned index)
{
    int type;

    if ((lock_op(seg->fd, F_OFD_GETLK, F_WRLCK, index, &type) != 0) ||
        (type != F_UNLCK)) {
        return 1;
    }
    if ((index == 0) && seg->is_named && !seg->is_maker) {
        shm_name_remove(seg->space, seg->token);
    }
    return 0;
}

/* --- Making --------------------------------------------------------------- */

static int make_memfd(int hugetlb)
{
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int fd;

    if (hugetlb) {
        flags |= MFD_HUGETLB | MFD_HUGE_2MB;
    }
    fd = memfd_create(NAME, flags | MFD_NOEXEC_SEAL);
    if ((fd < 0) && (errno == EINVAL)) {
        fd = memfd_create(NAME, flags); /* Kernels before 6.3 do not know the
                                         * flag */
    }
    return fd;
}

/* Sets the length of the file. A length above RLIMIT_FSIZE would raise a
 * signal: check first. */
static int set_length(int fd, size_t length)
{
    struct rlimit limit;

    if ((getrlimit(RLIMIT_FSIZE, &limit) == 0) &&
        (limit.rlim_cur != RLIM_INFINITY) && (length > limit.rlim_cur)) {
        errno = EFBIG;
        return -1;
    }
    return ftruncate(fd, (off_t)length);
}

/* Reserves huge pages for the whole length, so that a later mapping cannot fail
 * for lack of one. */
static int reserve_huge(int fd, size_t length)
{
    void *mapped = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                        0);

    if (mapped == MAP_FAILED) {
        return -1;
    }
    munmap(mapped, length);
    return 0;
}

/* Commits memory for the head, and writes it. */
static int write_head(const shm_seg_t *seg)
{
    shm_seg_head_t *head;

    if (fallocate(seg->fd, 0, 0, (off_t)seg->page) != 0) {
        return -1;
    }
    head = mmap(NULL, seg->page, PROT_READ | PROT_WRITE, MAP_SHARED, seg->fd,
                0);
    if (head == MAP_FAILED) {
        return -1;
    }
    shm_head_write(seg, head);
    munmap(head, seg->page);
    return 0;
}

static void close_fd(shm_seg_t *seg)
{
    int error = errno;

    if (seg->is_named && seg->is_maker) {
        shm_name_remove(seg->space, seg->token);
        seg->is_named = 0;
    }
    if (seg->fd >= 0) {
        close(seg->fd);
    }
    seg->fd = -1;
    errno   = error;
}

/* Creates the file, with its length, head and lock 0; sets errno on failure. */
static int make_file(shm_seg_t *seg, int named, int hugetlb)
{
    size_t length = seg->length;

    seg->page        = hugetlb ? SHM_HUGE_PAGE : small_page();
    seg->length      = shm_align_up(length, seg->page);
    seg->head_length = seg->page;
    seg->fd          = named ? shm_name_make(seg) : make_memfd(hugetlb);
    if (seg->fd < 0) {
        goto err;
    }
    seg->is_named = named;
    if ((set_length(seg->fd, seg->length + seg->page) != 0) ||
        (hugetlb && (reserve_huge(seg->fd, seg->length + seg->page) != 0)) ||
        (!named && !posix_lock(seg, 0)) || (write_head(seg) != 0)) {
        goto err;
    }

    /* Seals keep peers from changing the size. A named file cannot be sealed,
     * but only processes of the same user can open it. */
    if (!named) {
        (void)fcntl(seg->fd, F_ADD_SEALS,
                    F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    }
    return 0;

err:
    close_fd(seg);
    seg->length = length;
    return -1;
}

static const char *advice(const shm_seg_t *seg)
{
    switch (errno) {
    case EMFILE:
    case ENFILE:
        return "raise the limit of open files (ulimit -n)";
    case EFBIG:
        return "raise the limit of file sizes (ulimit -f)";
    case ENOSPC:
    case EDQUOT:
        return seg->is_named ?
                   "free space in the folder that UCX_POSIX_DIR names, or enlarge "
                   "its file system" :
                   "the host or the container has no more memory for it";
    case ENOMEM:
        return "the memory limit of the process or of its container is "
               "reached, or there are too few huge pages";
    default:
        return "see UCX_POSIX_USE_NAMES and UCX_POSIX_DIR for other ways to "
               "have shared memory";
    }
}

static ucs_status_t posix_make(shm_seg_t *seg, void *at)
{
    shm_space_t *space = seg->space;
    int names          = space->use_names;
    int hugetlb;

    /* Unnamed memory is passed to peers through /proc or a socket. The receiver
     * of a descriptor also opens it again through /proc. So without /proc, use
     * names. */
    if ((names == UCS_YES) || ((names != UCS_NO) && !space->has_proc)) {
        shm_names_sweep(space);
        if (make_file(seg, 1, 0) == 0) {
            return UCS_OK;
        }
        if (names == UCS_YES) {
            goto err;
        }
    }

    for (hugetlb = (space->hugetlb != UCS_NO); hugetlb >= 0; --hugetlb) {
        if (make_file(seg, 0, hugetlb) == 0) {
            return UCS_OK;
        }
        if (space->hugetlb == UCS_YES) {
            goto err;
        }
    }

    if ((names != UCS_NO) &&
        ((errno == ENOSYS) || (errno == EPERM) || (errno == EACCES))) {
        shm_names_sweep(space);
        if (make_file(seg, 1, 0) == 0) {
            return UCS_OK;
        }
    }

err:
    seg->is_named = (names == UCS_YES);
    shm_out_of_memory(seg, "make", seg->length, advice(seg));
    seg->is_named = 0;
    return UCS_ERR_NO_MEMORY;
}

static void posix_address(const shm_seg_t *seg, shm_seg_addr_t *addr)
{
    struct stat st;

    addr->id    = seg->is_maker ? (uint32_t)seg->fd : seg->maker_fd;
    addr->flags = seg->is_named ? SHM_ADDR_NAMED : 0;
    addr->inode = (fstat(seg->fd, &st) == 0) ? (uint32_t)st.st_ino : 0;
}

/* --- Attaching ------------------------------------------------------------ */

/* Checks that `fd` is the segment's file. If it is, stores it in the segment
 * and sets the members from the head; otherwise closes it. Returns whether it
 * is. */
static int take_fd(shm_seg_t *seg, int fd)
{
    shm_seg_head_t head;
    struct stat st;

    if (fd < 0) {
        return 0;
    }
    if ((fstat(fd, &st) == 0) && S_ISREG(st.st_mode) && (st.st_size > 0) &&
        (pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head)) &&
        shm_head_read(seg, &head, (uint64_t)st.st_size)) {
        seg->fd = fd;
        return 1;
    }
    close(fd);
    return 0;
}

static ucs_status_t posix_attach(shm_seg_t *seg, const shm_seg_addr_t *addr,
                                 char *reason, size_t reason_size)
{
    shm_space_t *space = seg->space;
    int by_proc        = space->use_proc && space->has_proc;
    int error, fd;

    seg->maker_fd = addr->id;
    seg->is_named = !!(addr->flags & SHM_ADDR_NAMED);
    if (by_proc && (addr->id <= INT32_MAX)) {
        fd = shm_proc_open(addr->pid, (int)addr->id, S_IFREG, addr->inode,
                           UINT32_MAX, O_RDWR);
        if (take_fd(seg, fd)) {
            return UCS_OK;
        }
    }

    error = shm_handover_ask(space, addr->token, &fd, &seg->event_wr);
    if (error == 0) {
        if (take_fd(seg, fd)) {
            /* A peer that this process cannot open in /proc probably cannot
             * open this process there either, so it needs the service of this
             * process (handover.c) */
            shm_handover_start(space);
            return UCS_OK;
        }
        error = EINVAL;
    }
    shm_event_close(seg);

    if (seg->is_named && take_fd(seg, shm_name_open(space, addr->token))) {
        return UCS_OK;
    }

    return shm_unreachable(
        reason, reason_size,
        "its memory cannot be shared: %s (it has ended, or is in another "
        "PID namespace, or belongs to another user), its local socket "
        "does not give it (%s)%s%s",
        by_proc ? "it is not seen in /proc" : "/proc is not used",
        strerror(error), seg->is_named ? ", and it has no file in " : "",
        seg->is_named ? space->dir : "");
}

/* --- Use ------------------------------------------------------------------ */

static void posix_close(shm_seg_t *seg)
{
    close_fd(seg);
}

static void *posix_map(shm_seg_t *seg, size_t offset, size_t length, void *at)
{
    int fixed = (at != NULL) && (seg->flags & SHM_SEG_FIXED);
    int fd    = shm_reopen(seg->fd, O_RDWR);
    void *mapped;

    mapped = mmap(at, length, PROT_READ | PROT_WRITE,
                  MAP_SHARED | (fixed ? MAP_FIXED_NOREPLACE : 0),
                  (fd >= 0) ? fd : seg->fd, (off_t)(offset + seg->head_length));
    if (mapped == MAP_FAILED) {
        mapped = NULL;
    }
    if (fd >= 0) {
        close(fd);
    } else if (mapped != NULL) {
        /* A mapping of this open file description would keep our locks held in
         * a forked child */
        (void)madvise(mapped, length, MADV_DONTFORK);
    }
    return mapped;
}

static void posix_unmap(shm_seg_t *seg, void *address, size_t length)
{
    munmap(address, length);
}

static ucs_status_t posix_commit(shm_seg_t *seg, void *mapped, size_t offset,
                                 size_t length)
{
    int ret;

    do {
        ret = fallocate(seg->fd, 0, (off_t)(offset + seg->head_length),
                        (off_t)length);
    } while ((ret != 0) && (errno == EINTR));
    if (ret != 0) {
        shm_out_of_memory(seg, "use", length, advice(seg));
        return UCS_ERR_NO_MEMORY;
    }

    /* Avoids page faults. A failure does no harm: fallocate() has reserved the
     * memory. */
    (void)madvise(mapped, length, MADV_POPULATE_WRITE);
    return UCS_OK;
}

static void posix_decommit(shm_seg_t *seg, void *mapped, size_t offset,
                           size_t length)
{
    (void)fallocate(seg->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    (off_t)(offset + seg->head_length), (off_t)length);
}

const shm_kind_t shm_kind_posix = {
    .name      = "posix",
    .code      = 1,
    .make      = posix_make,
    .address   = posix_address,
    .attach    = posix_attach,
    .close     = posix_close,
    .map       = posix_map,
    .unmap     = posix_unmap,
    .commit    = posix_commit,
    .decommit  = posix_decommit,
    .lock      = posix_lock,
    .unlock    = posix_unlock,
    .is_locked = posix_is_locked,
};
