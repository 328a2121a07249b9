/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The intercepted calls. Each call has two replacement functions. The public
 * function replaces the patched function of the C library. The other function
 * replaces entries of relocation tables; it makes the call by the function to
 * which the table referred before. Without a subscriber, the original call is
 * made at once. errno is preserved: it has the value that the call itself set.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "ucm/internal.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

#define UCM_MADV_DONTNEED_LOCKED 24

const char *const ucm_call_names[] = {
    [UCM_CALL_MMAP] = "mmap",       [UCM_CALL_MUNMAP] = "munmap",
    [UCM_CALL_MREMAP] = "mremap",   [UCM_CALL_SHMAT] = "shmat",
    [UCM_CALL_SHMDT] = "shmdt",     [UCM_CALL_SBRK] = "sbrk",
    [UCM_CALL_MADVISE] = "madvise", [UCM_CALL_BRK] = "brk",
};

typedef void *(*ucm_mmap_t)(void *, size_t, int, int, int, off_t);
typedef int (*ucm_munmap_t)(void *, size_t);
typedef void *(*ucm_mremap_t)(void *, size_t, size_t, int, void *);
typedef void *(*ucm_shmat_t)(int, const void *, int);
typedef int (*ucm_shmdt_t)(const void *);
typedef void *(*ucm_sbrk_t)(intptr_t);
typedef int (*ucm_madvise_t)(void *, size_t, int);
typedef int (*ucm_brk_t)(void *);

/* Calls the subscribers with a negative priority. Such a subscriber may make
 * the call itself; it then stores the result of the call in the event. */
static void ucm_before(ucm_event_type_t type, ucm_event_t *event)
{
    ucm_event_dispatch(type, event, INT_MIN, -1);
}

static void ucm_after(ucm_event_type_t type, ucm_event_t *event)
{
    ucm_event_dispatch(type, event, 0, INT_MAX);
}

static void *ucm_mmap_with(ucm_mmap_t orig, void *addr, size_t length, int prot,
                           int flags, int fd, off_t offset)
{
    int error = errno;
    ucm_event_t event;
    int token;

    if (!ucm_event_is_wanted()) {
        return orig(addr, length, prot, flags, fd, offset);
    }

    token              = ucm_event_enter();
    event.mmap.result  = MAP_FAILED;
    event.mmap.address = addr;
    event.mmap.size    = length;
    event.mmap.prot    = prot;
    event.mmap.flags   = flags;
    event.mmap.fd      = fd;
    event.mmap.offset  = offset;
    ucm_before(UCM_EVENT_MMAP, &event);
    if (flags & MAP_FIXED) {
        ucm_event_vm_unmapped(addr, length);
    }
    if (event.mmap.result == MAP_FAILED) {
        errno             = error;
        event.mmap.result = orig(addr, length, prot, flags, fd, offset);
        error             = errno;
    }
    ucm_after(UCM_EVENT_MMAP, &event);
    if (event.mmap.result != MAP_FAILED) {
        ucm_event_vm_mapped(event.mmap.result, length);
    }
    ucm_event_leave(token);
    errno = error;
    return event.mmap.result;
}

static int ucm_munmap_with(ucm_munmap_t orig, void *addr, size_t length)
{
    int error = errno;
    ucm_event_t event;
    int token;

    if (!ucm_event_is_wanted()) {
        return orig(addr, length);
    }

    token                = ucm_event_enter();
    event.munmap.result  = -1;
    event.munmap.address = addr;
    event.munmap.size    = length;
    ucm_before(UCM_EVENT_MUNMAP, &event);
    ucm_event_vm_unmapped(addr, length);
    if (event.munmap.result == -1) {
        errno               = error;
        event.munmap.result = orig(addr, length);
        error               = errno;
    }
    ucm_after(UCM_EVENT_MUNMAP, &event);
    ucm_event_leave(token);
    errno = error;
    return event.munmap.result;
}

static void *ucm_mremap_with(ucm_mremap_t orig, void *old_address,
                             size_t old_size, size_t new_size, int flags,
                             void *new_address)
{
    int error = errno;
    ucm_event_t event;
    int token;

    if (!ucm_event_is_wanted()) {
        return orig(old_address, old_size, new_size, flags, new_address);
    }

    token                    = ucm_event_enter();
    event.mremap.result      = MAP_FAILED;
    event.mremap.address     = old_address;
    event.mremap.old_size    = old_size;
    event.mremap.new_size    = new_size;
    event.mremap.flags       = flags;
    event.mremap.new_address = new_address;
    ucm_before(UCM_EVENT_MREMAP, &event);
    ucm_event_vm_unmapped(old_address, old_size);
    if (flags & MREMAP_FIXED) {
        ucm_event_vm_unmapped(new_address, new_size);
    }
    if (event.mremap.result == MAP_FAILED) {
        errno               = error;
        event.mremap.result = orig(old_address, old_size, new_size, flags,
                                   new_address);
        error               = errno;
    }
    ucm_after(UCM_EVENT_MREMAP, &event);
    if (event.mremap.result != MAP_FAILED) {
        ucm_event_vm_mapped(event.mremap.result, new_size);
    }
    ucm_event_leave(token);
    errno = error;
    return event.mremap.result;
}

/* Size of a segment in bytes; 0 if it cannot be queried. */
static size_t ucm_shm_segment_size(int shmid)
{
    struct shmid_ds ds;

    return (shmctl(shmid, IPC_STAT, &ds) == 0) ? ds.shm_segsz : 0;
}

static void *ucm_shmat_with(ucm_shmat_t orig, int shmid, const void *shmaddr,
                            int shmflg)
{
    int error = errno;
    size_t size;
    ucm_event_t event;
    int token;

    if (!ucm_event_is_wanted()) {
        return orig(shmid, shmaddr, shmflg);
    }

    token               = ucm_event_enter();
    event.shmat.result  = MAP_FAILED;
    event.shmat.shmid   = shmid;
    event.shmat.shmaddr = shmaddr;
    event.shmat.shmflg  = shmflg;
    size                = ucm_shm_segment_size(shmid);
    ucm_before(UCM_EVENT_SHMAT, &event);
    if (shmflg & SHM_REMAP) {
        /* If the size is unknown, all addresses from shmaddr are reported: a
         * needless event is harmless. */
        ucm_event_vm_unmapped((void *)shmaddr, (size > 0) ? size : SIZE_MAX);
    }
    if (event.shmat.result == MAP_FAILED) {
        errno              = error;
        event.shmat.result = orig(shmid, shmaddr, shmflg);
        error              = errno;
    }
    ucm_after(UCM_EVENT_SHMAT, &event);
    if (event.shmat.result != MAP_FAILED) {
        ucm_event_vm_mapped(event.shmat.result,
                            (size > 0) ? size :
                                         ucm_maps_shm_size(event.shmat.result));
    }
    ucm_event_leave(token);
    errno = error;
    return event.shmat.result;
}

static int ucm_shmdt_with(ucm_shmdt_t orig, const void *shmaddr)
{
    int error = errno;
    ucm_event_t event;
    int token;

    if (!ucm_event_is_wanted()) {
        return orig(shmaddr);
    }

    token               = ucm_event_enter();
    event.shmdt.result  = -1;
    event.shmdt.shmaddr = shmaddr;
    ucm_before(UCM_EVENT_SHMDT, &event);
    ucm_event_vm_unmapped((void *)shmaddr, ucm_maps_shm_size(shmaddr));
    if (event.shmdt.result == -1) {
        errno              = error;
        event.shmdt.result = orig(shmaddr);
        error              = errno;
    }
    ucm_after(UCM_EVENT_SHMDT, &event);
    ucm_event_leave(token);
    errno = error;
    return event.shmdt.result;
}

static void *ucm_sbrk_with(ucm_sbrk_t orig, intptr_t increment)
{
    int error = errno;
    ucm_event_t event;
    int token;

    if (!ucm_event_is_wanted()) {
        return orig(increment);
    }

    token                = ucm_event_enter();
    event.sbrk.result    = (void *)-1;
    event.sbrk.increment = increment;
    ucm_before(UCM_EVENT_SBRK, &event);
    if (increment < 0) {
        ucm_event_vm_unmapped((char *)ucm_current_brk() + increment,
                              -(size_t)increment);
    }
    if (event.sbrk.result == (void *)-1) {
        errno             = error;
        event.sbrk.result = orig(increment);
        error             = errno;
    }
    ucm_after(UCM_EVENT_SBRK, &event);
    if ((increment > 0) && (event.sbrk.result != (void *)-1)) {
        ucm_event_vm_mapped(event.sbrk.result, (size_t)increment);
    }
    ucm_event_leave(token);
    errno = error;
    return event.sbrk.result;
}

static int ucm_brk_with(ucm_brk_t orig, void *addr)
{
    int error     = errno;
    uintptr_t new = (uintptr_t)addr;
    uintptr_t old;
    ucm_event_t event;
    int token;

    if (!ucm_event_is_wanted()) {
        return orig(addr);
    }

    token            = ucm_event_enter();
    event.brk.result = -1;
    event.brk.addr   = addr;
    old              = (uintptr_t)ucm_current_brk();
    ucm_before(UCM_EVENT_BRK, &event);
    if ((new != 0) && (new < old)) {
        ucm_event_vm_unmapped(addr, old - new);
    }
    if (event.brk.result == -1) {
        errno            = error;
        event.brk.result = orig(addr);
        error            = errno;
    }
    ucm_after(UCM_EVENT_BRK, &event);
    if ((new > old) && (event.brk.result == 0)) {
        ucm_event_vm_mapped((void *)old, new - old);
    }
    ucm_event_leave(token);
    errno = error;
    return event.brk.result;
}

/* Returns whether this advice lets the kernel replace the pages in the
 * range. */
static int ucm_madvise_drops(int advice)
{
    return (advice == MADV_DONTNEED) || (advice == MADV_REMOVE) ||
#ifdef MADV_FREE
           (advice == MADV_FREE) ||
#endif
           (advice == UCM_MADV_DONTNEED_LOCKED);
}

static int ucm_madvise_with(ucm_madvise_t orig, void *addr, size_t length,
                            int advice)
{
    int error = errno;
    ucm_event_t event;
    int token;

    if (!ucm_event_is_wanted()) {
        return orig(addr, length, advice);
    }

    token                = ucm_event_enter();
    event.madvise.result = -1;
    event.madvise.addr   = addr;
    event.madvise.length = length;
    event.madvise.advice = advice;
    ucm_before(UCM_EVENT_MADVISE, &event);
    if (ucm_madvise_drops(advice)) {
        ucm_event_vm_unmapped(addr, length);
    }
    if (event.madvise.result == -1) {
        errno                = error;
        event.madvise.result = orig(addr, length, advice);
        error                = errno;
    }
    ucm_after(UCM_EVENT_MADVISE, &event);
    ucm_event_leave(token);
    errno = error;
    return event.madvise.result;
}

/* --- The public forms, to which the C library is patched ----------------- */

void *ucm_mmap(void *addr, size_t length, int prot, int flags, int fd,
               off_t offset)
{
    return ucm_mmap_with(ucm_orig_mmap, addr, length, prot, flags, fd, offset);
}

int ucm_munmap(void *addr, size_t length)
{
    return ucm_munmap_with(ucm_orig_munmap, addr, length);
}

void *ucm_mremap(void *old_address, size_t old_size, size_t new_size, int flags,
                 ...)
{
    void *new_address = NULL;
    va_list ap;

    if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) {
        va_start(ap, flags);
        new_address = va_arg(ap, void *);
        va_end(ap);
    }
    return ucm_mremap_with(ucm_orig_mremap, old_address, old_size, new_size,
                           flags, new_address);
}

void *ucm_shmat(int shmid, const void *shmaddr, int shmflg)
{
    return ucm_shmat_with(ucm_orig_shmat, shmid, shmaddr, shmflg);
}

int ucm_shmdt(const void *shmaddr)
{
    return ucm_shmdt_with(ucm_orig_shmdt, shmaddr);
}

void *ucm_sbrk(intptr_t increment)
{
    return ucm_sbrk_with(ucm_orig_sbrk, increment);
}

int ucm_brk(void *addr)
{
    return ucm_brk_with(ucm_orig_brk, addr);
}

int ucm_madvise(void *addr, size_t length, int advice)
{
    return ucm_madvise_with(ucm_orig_madvise, addr, length, advice);
}

/* --- The forms to which relocation tables are redirected ----------------- */

/* The function that the relocation tables referred to before; if it is unknown,
 * the function of orig.c, which causes no events. */
#define UCM_RELOC_ORIG(_call, _type, _orig) \
    ((ucm_orig_reloc(_call) != NULL) ? (_type)ucm_orig_reloc(_call) : (_orig))

static void *ucm_reloc_mmap(void *addr, size_t length, int prot, int flags,
                            int fd, off_t offset)
{
    return ucm_mmap_with(UCM_RELOC_ORIG(UCM_CALL_MMAP, ucm_mmap_t,
                                        ucm_orig_mmap),
                         addr, length, prot, flags, fd, offset);
}

static int ucm_reloc_munmap(void *addr, size_t length)
{
    return ucm_munmap_with(UCM_RELOC_ORIG(UCM_CALL_MUNMAP, ucm_munmap_t,
                                          ucm_orig_munmap),
                           addr, length);
}

static void *ucm_reloc_mremap(void *old_address, size_t old_size,
                              size_t new_size, int flags, void *new_address)
{
    return ucm_mremap_with(UCM_RELOC_ORIG(UCM_CALL_MREMAP, ucm_mremap_t,
                                          ucm_orig_mremap),
                           old_address, old_size, new_size, flags, new_address);
}

static void *ucm_reloc_shmat(int shmid, const void *shmaddr, int shmflg)
{
    return ucm_shmat_with(UCM_RELOC_ORIG(UCM_CALL_SHMAT, ucm_shmat_t,
                                         ucm_orig_shmat),
                          shmid, shmaddr, shmflg);
}

static int ucm_reloc_shmdt(const void *shmaddr)
{
    return ucm_shmdt_with(UCM_RELOC_ORIG(UCM_CALL_SHMDT, ucm_shmdt_t,
                                         ucm_orig_shmdt),
                          shmaddr);
}

static void *ucm_reloc_sbrk(intptr_t increment)
{
    return ucm_sbrk_with(UCM_RELOC_ORIG(UCM_CALL_SBRK, ucm_sbrk_t,
                                        ucm_orig_sbrk),
                         increment);
}

static int ucm_reloc_brk(void *addr)
{
    return ucm_brk_with(UCM_RELOC_ORIG(UCM_CALL_BRK, ucm_brk_t, ucm_orig_brk),
                        addr);
}

static int ucm_reloc_madvise(void *addr, size_t length, int advice)
{
    return ucm_madvise_with(UCM_RELOC_ORIG(UCM_CALL_MADVISE, ucm_madvise_t,
                                           ucm_orig_madvise),
                            addr, length, advice);
}

static void *const ucm_patched[] = {
    [UCM_CALL_MMAP]    = (void *)ucm_mmap,
    [UCM_CALL_MUNMAP]  = (void *)ucm_munmap,
    [UCM_CALL_MREMAP]  = (void *)ucm_mremap,
    [UCM_CALL_SHMAT]   = (void *)ucm_shmat,
    [UCM_CALL_SHMDT]   = (void *)ucm_shmdt,
    [UCM_CALL_SBRK]    = (void *)ucm_sbrk,
    [UCM_CALL_MADVISE] = (void *)ucm_madvise,
    [UCM_CALL_BRK]     = (void *)ucm_brk,
};

static void *const ucm_relocated[] = {
    [UCM_CALL_MMAP]    = (void *)ucm_reloc_mmap,
    [UCM_CALL_MUNMAP]  = (void *)ucm_reloc_munmap,
    [UCM_CALL_MREMAP]  = (void *)ucm_reloc_mremap,
    [UCM_CALL_SHMAT]   = (void *)ucm_reloc_shmat,
    [UCM_CALL_SHMDT]   = (void *)ucm_reloc_shmdt,
    [UCM_CALL_SBRK]    = (void *)ucm_reloc_sbrk,
    [UCM_CALL_MADVISE] = (void *)ucm_reloc_madvise,
    [UCM_CALL_BRK]     = (void *)ucm_reloc_brk,
};

void *ucm_call_patched(ucm_call_t call)
{
    return ucm_patched[call];
}

void *ucm_call_reloc(ucm_call_t call)
{
    return ucm_relocated[call];
}
