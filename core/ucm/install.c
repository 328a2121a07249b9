/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interception of the calls that subscribers need: once, for the life of the
 * process. First the C library's functions are patched, if that method is
 * selected. Then the calls are tested. Calls that UCM does not receive (the
 * function could not be patched, or another library precedes the C library and
 * makes the system call itself) are then intercepted by changing relocation
 * tables, and tested again.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#if __has_include(<gnu/lib-names.h>)
#include <gnu/lib-names.h>
#endif
#ifndef LIBC_SO
#define LIBC_SO "libc.so"
#endif

#include "ucm/internal.h"

/* Taken before any other lock of UCM. */
static pthread_mutex_t install_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int install_calls; /* mask of the intercepted calls */
static int install_patched;      /* mask of the calls that are intercepted by
                                  * patches */
static int install_heap_is_watched;
static pthread_once_t install_heap_once = PTHREAD_ONCE_INIT;

/* Addresses of the functions that make the calls. */
typedef struct install_names {
    void *libc[UCM_CALL_LAST]; /* in the C library */
    void *used[UCM_CALL_LAST]; /* those that the dynamic linker finds first by
                                * name; may be in another library */
    int is_thread_sanitizer;
} install_names_t;

int ucm_installed_calls(void)
{
    return atomic_load(&install_calls);
}

/* Takes the lock of the dynamic linker, so the caller must not hold
 * install_lock: a thread that loads UCM in a constructor holds the linker's
 * lock and waits for install_lock. */
static void install_look_up(install_names_t *names)
{
    void *libc = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
    int call;

    names->is_thread_sanitizer = (dlsym(RTLD_DEFAULT, "__tsan_init") != NULL);
    for (call = 0; call < UCM_CALL_LAST; ++call) {
        const char *name = ucm_call_names[call];

        names->used[call] = dlsym(RTLD_DEFAULT, name);
        names->libc[call] = (libc != NULL) ? dlsym(libc, name) :
                                             names->used[call];
    }
    if (libc != NULL) {
        dlclose(libc);
    }
    pthread_once(&install_heap_once, ucm_heap_look_up);
}

/* Prevents the unloading of UCM, because the C library and relocation tables
 * will contain its addresses; no effect with UCM_UNLOAD_PREVENT_MODE_NONE. */
static ucs_status_t install_pin(void)
{
    const ucm_module_unload_prevent_mode_t mode =
        ucm_opts()->module_unload_prevent_mode;
    static void *self;
    Dl_info info;

    if ((mode == UCM_UNLOAD_PREVENT_MODE_NONE) ||
        (__atomic_load_n(&self, __ATOMIC_RELAXED) != NULL)) {
        return UCS_OK;
    }
    if (!dladdr((void *)install_pin, &info) || (info.dli_fname == NULL)) {
        return UCS_ERR_UNSUPPORTED;
    }
    /* a program that is linked with UCM statically has no file name here, and
     * is never unloaded */
    __atomic_store_n(&self,
                     dlopen(info.dli_fname,
                            RTLD_NOLOAD | RTLD_NODELETE |
                                ((mode == UCM_UNLOAD_PREVENT_MODE_NOW) ?
                                     RTLD_NOW :
                                     RTLD_LAZY)),
                     __ATOMIC_RELAXED);
    return UCS_OK;
}

static void install_patch(const install_names_t *names, int calls)
{
    const char *reason = "it is not there";
    int was_said       = 0;
    int call;

    for (call = 0; call < UCM_CALL_LAST; ++call) {
        if (!(calls & (1 << call)) || (install_patched & (1 << call))) {
            continue;
        }
        if ((names->libc[call] != NULL) &&
            (ucm_patch((ucm_call_t)call, names->libc[call], ucm_orig_set,
                       &reason) == UCS_OK)) {
            install_patched |= 1 << call;
            ucm_log(UCS_LOG_LEVEL_DEBUG, "%s() at %p is intercepted",
                    ucm_call_names[call], names->libc[call]);
        } else {
            ucm_log(was_said ? UCS_LOG_LEVEL_DEBUG : UCS_LOG_LEVEL_DIAG,
                    "%s() of the C library cannot be changed: %s; calls of it "
                    "are intercepted where they are made, those inside the C "
                    "library are not",
                    ucm_call_names[call], reason);
            was_said = 1;
        }
    }
}

static void *install_dlopen(const char *filename, int flag)
{
    return ucm_reloc_dlopen(filename, flag, __builtin_return_address(0));
}

/* Monitors the heap if calls are intercepted by relocation tables, because UCM
 * then does not receive calls inside the C library. */
static ucs_status_t install_heap(int calls)
{
    const int of_heap = UCM_EVENT_MUNMAP | UCM_EVENT_MREMAP |
                        UCM_EVENT_MADVISE | UCM_EVENT_SBRK | UCM_EVENT_BRK;
    ucs_status_t status;

    if (install_heap_is_watched || !(calls & of_heap & ~install_patched)) {
        return UCS_OK;
    }
    status                  = ucm_heap_watch();
    install_heap_is_watched = (status == UCS_OK);
    return status;
}

static ucs_status_t install_reloc(const install_names_t *names, int calls)
{
    ucm_reloc_t reloc = {.name = "dlopen", .value = (void *)install_dlopen};
    ucs_status_t status;
    int call;

    status = ucm_reloc_add(&reloc);
    for (call = 0; (call < UCM_CALL_LAST) && (status == UCS_OK); ++call) {
        if (!(calls & (1 << call)) || (names->used[call] == NULL)) {
            continue;
        }
        if (names->used[call] != names->libc[call]) {
            ucm_orig_set_reloc((ucm_call_t)call, names->used[call]);
        }
        reloc.name  = ucm_call_names[call];
        reloc.value = ucm_call_reloc((ucm_call_t)call);
        reloc.keep  = names->used[call];
        status      = ucm_reloc_add(&reloc);
        if ((status == UCS_OK) && (call == UCM_CALL_MMAP)) {
            reloc.name = "mmap64";
            status     = ucm_reloc_add(&reloc);
        }
    }

    if (status == UCS_OK) {
        status = ucm_reloc_apply();
    }
    return status;
}

/*
 * Returns whether the functions may be patched. Under the thread sanitizer they
 * may not: a thread that exits unmaps its stack after its thread-local data,
 * including that of the sanitizer, is destroyed, and instrumented code
 * (subscribers in such a program) cannot run then. Interception by relocation
 * tables does not see this munmap(), which the C library calls internally.
 */
static int install_may_patch(const install_names_t *names)
{
    if (names->is_thread_sanitizer) {
        ucm_log(UCS_LOG_LEVEL_DIAG,
                "the C library is not changed under the "
                "thread sanitizer; its own calls are not seen");
        return 0;
    }
    return ucm_opts()->mmap_hook_mode == UCM_MMAP_HOOK_BISTRO;
}

/* Intercepts the calls. The caller holds install_lock. */
static ucs_status_t install_locked(const install_names_t *names, int calls)
{
    int missing = calls;
    int call;

    if (install_may_patch(names)) {
        install_patch(names, calls);
        missing = ucm_test_calls(calls);
    }

    if (missing != 0) {
        (void)install_reloc(names, missing);
        missing = ucm_test_calls(calls);
        if (install_heap(calls & ~missing) != UCS_OK) {
            return UCS_ERR_UNSUPPORTED;
        }
    }

    atomic_fetch_or(&install_calls, calls & ~missing);
    for (call = 0; call < UCM_CALL_LAST; ++call) {
        if (missing & (1 << call)) {
            ucm_log(UCS_LOG_LEVEL_DIAG, "%s() cannot be intercepted",
                    ucm_call_names[call]);
        }
    }
    return (missing == 0) ? UCS_OK : UCS_ERR_UNSUPPORTED;
}

ucs_status_t ucm_install(int calls)
{
    install_names_t names;
    ucs_status_t status;

    calls &= ~ucm_installed_calls();
    if (calls == 0) {
        return UCS_OK;
    }

    if (!ucm_opts()->enable_events ||
        (ucm_opts()->mmap_hook_mode == UCM_MMAP_HOOK_NONE)) {
        ucm_log(UCS_LOG_LEVEL_DEBUG,
                "memory events are switched off, by "
                "UCX_MEM_EVENTS or UCX_MEM_MMAP_HOOK_MODE");
        return UCS_ERR_UNSUPPORTED;
    }

    install_look_up(&names);
    status = install_pin();
    if (status != UCS_OK) {
        return status;
    }

    pthread_mutex_lock(&install_lock);
    status = install_locked(&names, calls & ~ucm_installed_calls());
    pthread_mutex_unlock(&install_lock);
    return status;
}
