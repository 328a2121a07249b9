/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See scarce.h. Each replacement of a function of the C library either fails or
 * calls the function of the same name that the dynamic linker finds next: that
 * of a sanitizer or of the C library.
 */
#include "scarce.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { DEPTH = 24, NONE = -1 }; /* DEPTH: maximum recorded frames of a stack */

static struct {
    atomic_int what; /* enum scarce: the calls that are counted; NONE: none */
    atomic_uint_fast64_t count; /* Calls since scarce_begin() */
    uint64_t first, last; /* Numbers of the first and the last call that fail */
    atomic_bool failed;   /* A call has failed since scarce_begin() */
    atomic_int_fast64_t blocks; /* Blocks that are allocated and not freed */
    void *callers[DEPTH];       /* Call stack of the first failed call */
    int depth;                  /* Valid entries in `callers` */
} state = {.what = NONE};

/* Returns the function of this name that comes next in the order of the dynamic
 * linker. Calls dlsym() only the first time. A successful dlsym() allocates no
 * memory, so it does not call a replacement. */
#define NEXT(_type, _name) \
    ({ \
        static _Atomic(void *) found; \
        void *next = atomic_load_explicit(&found, memory_order_relaxed); \
        if (next == NULL) { \
            next = dlsym(RTLD_NEXT, _name); \
            atomic_store_explicit(&found, next, memory_order_relaxed); \
        } \
        (_type) next; \
    })

/* Counts a call that allocates `what`. Returns whether the call must fail, and
 * then sets errno to `error`. */
static bool fails(enum scarce what, int error)
{
    uint64_t number;

    if (atomic_load_explicit(&state.what, memory_order_relaxed) != (int)what) {
        return false;
    }
    number = atomic_fetch_add(&state.count, 1) + 1;
    if ((number < state.first) || (number > state.last)) {
        return false;
    }
    if (!atomic_exchange(&state.failed, true)) {
        state.depth = backtrace(state.callers, DEPTH);
    }
    errno = error;
    return true;
}

void scarce_begin(enum scarce what, uint64_t nth, uint64_t burst)
{
    void *unused[1];

    /* the first call of backtrace() loads a library and allocates memory, which
     * must not happen while calls are counted */
    backtrace(unused, 1);
    state.first = (nth > 0) ? nth : UINT64_MAX;
    state.last  = (nth > 0) ? nth + burst - 1 : UINT64_MAX;
    atomic_store(&state.count, 0);
    atomic_store(&state.failed, false);
    atomic_store(&state.what, (int)what);
}

uint64_t scarce_end(void)
{
    atomic_store(&state.what, NONE);
    return atomic_load(&state.count);
}

bool scarce_has_failed(void)
{
    return atomic_load(&state.failed);
}

void scarce_show(void)
{
    if (scarce_has_failed()) {
        fprintf(stderr, "call %llu failed, made by\n",
                (unsigned long long)state.first);
        /* without fails() and the replacement, which are the first two frames;
         * 2 is stderr */
        backtrace_symbols_fd(state.callers + 2, state.depth - 2, 2);
    }
}

/* ---------------------------------------------------------------- memory -- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { COUNTS_BLOCKS = 0 };
#else
enum { COUNTS_BLOCKS = 1 };
#endif

int64_t scarce_blocks(void)
{
    return COUNTS_BLOCKS ? atomic_load(&state.blocks) : 0;
}

/* Counts a block that was allocated; returns `block`. */
static void *given(void *block)
{
    if (block != NULL) {
        atomic_fetch_add_explicit(&state.blocks, 1, memory_order_relaxed);
    }
    return block;
}

void *malloc(size_t size)
{
    return fails(SCARCE_MEMORY, ENOMEM) ?
               NULL :
               given(NEXT(void *(*)(size_t), "malloc")(size));
}

void *calloc(size_t count, size_t size)
{
    return fails(SCARCE_MEMORY, ENOMEM) ?
               NULL :
               given(NEXT(void *(*)(size_t, size_t), "calloc")(count, size));
}

void *realloc(void *block, size_t size)
{
    void *longer;

    if (fails(SCARCE_MEMORY, ENOMEM)) {
        return NULL;
    }
    longer = NEXT(void *(*)(void *, size_t), "realloc")(block, size);
    return (block == NULL) ? given(longer) : longer;
}

int posix_memalign(void **block_p, size_t alignment, size_t size)
{
    int result;

    if (fails(SCARCE_MEMORY, ENOMEM)) {
        return ENOMEM;
    }
    result = NEXT(int (*)(void **, size_t, size_t),
                  "posix_memalign")(block_p, alignment, size);
    if (result == 0) {
        given(*block_p);
    }
    return result;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(SCARCE_MEMORY, ENOMEM) ?
               NULL :
               given(NEXT(void *(*)(size_t, size_t), "aligned_alloc")(alignment,
                                                                      size));
}

void free(void *block)
{
    if (block != NULL) {
        atomic_fetch_sub_explicit(&state.blocks, 1, memory_order_relaxed);
    }
    NEXT(void (*)(void *), "free")(block);
}

/* Declares replacements for a function that the C library exports under two
 * names: with the suffix 64, whose file offsets always have 64 bits, and
 * without. <name>_large() gets the first name, <name>_small() the second. */
#define TWO_NAMES(_result, _name, ...) \
    _result _name##_small(__VA_ARGS__) __asm__(#_name); \
    _result _name##_large(__VA_ARGS__) __asm__(#_name "64")

typedef void *map_t(void *, size_t, int, int, int, off_t);
TWO_NAMES(void *, mmap, void *, size_t, int, int, int, off_t);

void *mmap_large(void *address, size_t length, int protection, int flags,
                 int fd, off_t offset)
{
    return fails(SCARCE_MEMORY, ENOMEM) ?
               (void *)-1 :
               NEXT(map_t *, "mmap64")(address, length, protection, flags, fd,
                                       offset);
}

void *mmap_small(void *address, size_t length, int protection, int flags,
                 int fd, off_t offset)
{
    return mmap_large(address, length, protection, flags, fd, offset);
}

typedef int truncate_t(int, off_t);
TWO_NAMES(int, ftruncate, int, off_t);

int ftruncate_large(int fd, off_t length)
{
    return fails(SCARCE_MEMORY, ENOSPC) ?
               -1 :
               NEXT(truncate_t *, "ftruncate64")(fd, length);
}

int ftruncate_small(int fd, off_t length)
{
    return ftruncate_large(fd, length);
}

typedef int fallocate_t(int, int, off_t, off_t);
TWO_NAMES(int, fallocate, int, int, off_t, off_t);

int fallocate_large(int fd, int mode, off_t offset, off_t length)
{
    return fails(SCARCE_MEMORY, ENOSPC) ?
               -1 :
               NEXT(fallocate_t *, "fallocate64")(fd, mode, offset, length);
}

int fallocate_small(int fd, int mode, off_t offset, off_t length)
{
    return fallocate_large(fd, mode, offset, length);
}

int shmget(key_t key, size_t size, int flags)
{
    return fails(SCARCE_MEMORY, ENOSPC) ?
               -1 :
               NEXT(int (*)(int, size_t, int), "shmget")(key, size, flags);
}

void *shmat(int id, const void *address, int flags)
{
    return fails(SCARCE_MEMORY, ENOMEM) ?
               (void *)-1 :
               NEXT(void *(*)(int, const void *, int), "shmat")(id, address,
                                                                flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                   void *(*run)(void *), void *arg)
{
    return fails(SCARCE_MEMORY, EAGAIN) ?
               EAGAIN :
               NEXT(int (*)(pthread_t *, const pthread_attr_t *,
                            void *(*)(void *), void *),
                    "pthread_create")(thread, attr, run, arg);
}

/* ----------------------------------------------------------- descriptors -- */

int socket(int domain, int type, int protocol)
{
    return fails(SCARCE_DESCRIPTORS, EMFILE) ?
               -1 :
               NEXT(int (*)(int, int, int), "socket")(domain, type, protocol);
}

int accept4(int fd, __SOCKADDR_ARG address, socklen_t *length, int flags)
{
    return fails(SCARCE_DESCRIPTORS, EMFILE) ?
               -1 :
               NEXT(int (*)(int, __SOCKADDR_ARG, socklen_t *, int),
                    "accept4")(fd, address, length, flags);
}

int epoll_create1(int flags)
{
    return fails(SCARCE_DESCRIPTORS, EMFILE) ?
               -1 :
               NEXT(int (*)(int), "epoll_create1")(flags);
}

int eventfd(unsigned count, int flags)
{
    return fails(SCARCE_DESCRIPTORS, EMFILE) ?
               -1 :
               NEXT(int (*)(unsigned, int), "eventfd")(count, flags);
}

int timerfd_create(clockid_t clock, int flags)
{
    return fails(SCARCE_DESCRIPTORS, EMFILE) ?
               -1 :
               NEXT(int (*)(int, int), "timerfd_create")(clock, flags);
}

int memfd_create(const char *name, unsigned flags)
{
    return fails(SCARCE_DESCRIPTORS, EMFILE) ?
               -1 :
               NEXT(int (*)(const char *, unsigned), "memfd_create")(name,
                                                                     flags);
}

int pipe2(int fds[2], int flags)
{
    return fails(SCARCE_DESCRIPTORS, EMFILE) ?
               -1 :
               NEXT(int (*)(int *, int), "pipe2")(fds, flags);
}

/* Returns the argument after _last in a function with variable arguments: the
 * mode of open() or openat(). Callers pass a mode only with some flags. Without
 * it the result is an undefined value, which the C library ignores. */
#define MODE_OF(_last) \
    ({ \
        va_list list; \
        mode_t mode_; \
        va_start(list, _last); \
        mode_ = va_arg(list, mode_t); \
        va_end(list); \
        mode_; \
    })

TWO_NAMES(int, open, const char *, int, ...);
TWO_NAMES(int, openat, int, const char *, int, ...);

int open_large(const char *path, int flags, ...)
{
    mode_t mode = MODE_OF(flags);

    return fails(SCARCE_DESCRIPTORS, EMFILE) ?
               -1 :
               NEXT(int (*)(const char *, int, ...), "open64")(path, flags,
                                                               mode);
}

int open_small(const char *path, int flags, ...)
{
    return open_large(path, flags, MODE_OF(flags));
}

int openat_large(int folder, const char *path, int flags, ...)
{
    mode_t mode = MODE_OF(flags);

    return fails(SCARCE_DESCRIPTORS, EMFILE) ?
               -1 :
               NEXT(int (*)(int, const char *, int, ...),
                    "openat64")(folder, path, flags, mode);
}

int openat_small(int folder, const char *path, int flags, ...)
{
    return openat_large(folder, path, flags, MODE_OF(flags));
}

/* fopen() and opendir() open files by an internal function of the C library,
 * not by open(), so they are replaced as well. */
TWO_NAMES(void *, fopen, const char *, const char *);

void *fopen_large(const char *path, const char *mode)
{
    return fails(SCARCE_DESCRIPTORS, EMFILE) ?
               NULL :
               NEXT(void *(*)(const char *, const char *), "fopen64")(path,
                                                                      mode);
}

void *fopen_small(const char *path, const char *mode)
{
    return fopen_large(path, mode);
}

DIR *opendir(const char *path)
{
    return fails(SCARCE_DESCRIPTORS, EMFILE) ?
               NULL :
               NEXT(DIR * (*)(const char *), "opendir")(path);
}
