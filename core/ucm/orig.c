/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The original calls, which cause no events: UCM makes them as system calls, or
 * calls the function of another interceptor that was installed before UCM. The
 * functions of the C library are not called by name, because the names may lead
 * back to UCM.
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ucm/internal.h"

typedef void *(*ucm_mmap_t)(void *, size_t, int, int, int, off_t);
typedef int (*ucm_munmap_t)(void *, size_t);
typedef void *(*ucm_mremap_t)(void *, size_t, size_t, int, void *);
typedef void *(*ucm_shmat_t)(int, const void *, int);
typedef int (*ucm_shmdt_t)(const void *);
typedef void *(*ucm_sbrk_t)(intptr_t);
typedef int (*ucm_madvise_t)(void *, size_t, int);
typedef int (*ucm_brk_t)(void *);

/* The C library's record of the end of the data segment, which must stay
 * correct: its sbrk() and its heap use it. */
extern void *__curbrk __attribute__((weak));

static _Atomic(void *) ucm_previous[UCM_CALL_LAST];
static _Atomic(void *) ucm_previous_reloc[UCM_CALL_LAST];

void ucm_orig_set(ucm_call_t call, void *function)
{
    atomic_store(&ucm_previous[call], function);
}

void ucm_orig_set_reloc(ucm_call_t call, void *function)
{
    atomic_store(&ucm_previous_reloc[call], function);
}

void *ucm_orig_reloc(ucm_call_t call)
{
    return atomic_load(&ucm_previous_reloc[call]);
}

static void *ucm_orig(ucm_call_t call)
{
    return atomic_load_explicit(&ucm_previous[call], memory_order_acquire);
}

void *ucm_orig_mmap(void *addr, size_t length, int prot, int flags, int fd,
                    off_t offset)
{
    ucm_mmap_t previous = (ucm_mmap_t)ucm_orig(UCM_CALL_MMAP);

    if (previous != NULL) {
        return previous(addr, length, prot, flags, fd, offset);
    }
#ifdef SYS_mmap
    return (void *)syscall(SYS_mmap, addr, length, prot, flags, fd, offset);
#else
    return (void *)syscall(SYS_mmap2, addr, length, prot, flags, fd,
                           (long)(offset / 4096));
#endif
}

int ucm_orig_munmap(void *addr, size_t length)
{
    ucm_munmap_t previous = (ucm_munmap_t)ucm_orig(UCM_CALL_MUNMAP);

    return (previous != NULL) ? previous(addr, length) :
                                (int)syscall(SYS_munmap, addr, length);
}

void *ucm_orig_mremap(void *old_address, size_t old_size, size_t new_size,
                      int flags, void *new_address)
{
    ucm_mremap_t previous = (ucm_mremap_t)ucm_orig(UCM_CALL_MREMAP);

    if (previous != NULL) {
        return previous(old_address, old_size, new_size, flags, new_address);
    }
    return (void *)syscall(SYS_mremap, old_address, old_size, new_size, flags,
                           new_address);
}

void *ucm_orig_shmat(int shmid, const void *shmaddr, int shmflg)
{
    ucm_shmat_t previous = (ucm_shmat_t)ucm_orig(UCM_CALL_SHMAT);

    if (previous != NULL) {
        return previous(shmid, shmaddr, shmflg);
    }
    return (void *)syscall(SYS_shmat, shmid, shmaddr, shmflg);
}

int ucm_orig_shmdt(const void *shmaddr)
{
    ucm_shmdt_t previous = (ucm_shmdt_t)ucm_orig(UCM_CALL_SHMDT);

    return (previous != NULL) ? previous(shmaddr) :
                                (int)syscall(SYS_shmdt, shmaddr);
}

int ucm_orig_madvise(void *addr, size_t length, int advice)
{
    ucm_madvise_t previous = (ucm_madvise_t)ucm_orig(UCM_CALL_MADVISE);

    return (previous != NULL) ? previous(addr, length, advice) :
                                (int)syscall(SYS_madvise, addr, length, advice);
}

/* --- The data segment ---------------------------------------------------- */

/* Moves the end of the data segment. Returns its position, which is the old one
 * if the kernel cannot move it. */
static void *ucm_brk_syscall(void *addr)
{
    void *now = (void *)syscall(SYS_brk, addr);

    if (&__curbrk != NULL) {
        __curbrk = now;
    }
    return now;
}

void *ucm_current_brk(void)
{
    return (void *)syscall(SYS_brk, NULL);
}

int ucm_orig_brk(void *addr)
{
    ucm_brk_t previous = (ucm_brk_t)ucm_orig(UCM_CALL_BRK);

    if (previous != NULL) {
        return previous(addr);
    }
    if ((uintptr_t)ucm_brk_syscall(addr) < (uintptr_t)addr) {
        errno = ENOMEM;
        return -1;
    }
    return 0;
}

void *ucm_orig_sbrk(intptr_t increment)
{
    ucm_sbrk_t previous = (ucm_sbrk_t)ucm_orig(UCM_CALL_SBRK);
    uintptr_t old, wanted;

    if (previous != NULL) {
        return previous(increment);
    }

    old    = (uintptr_t)ucm_current_brk();
    wanted = old + (uintptr_t)increment;
    if ((increment == 0) && (&__curbrk == NULL)) {
        return (void *)old;
    }
    if ((increment > 0) ? (wanted < old) : (wanted > old)) {
        errno = ENOMEM;
        return (void *)-1;
    }
    /* on failure, the kernel returns the old position */
    if ((uintptr_t)ucm_brk_syscall((void *)wanted) != wanted) {
        errno = ENOMEM;
        return (void *)-1;
    }
    return (void *)old;
}
