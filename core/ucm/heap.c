/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Monitors the C library's heap where UCM intercepts calls by relocation tables
 * only, because UCM does not see calls inside the C library then. If free() or
 * realloc() receives a block that may have a mapping of its own, UCM reports
 * the block as unmapped. The heap is configured not to return other memory to
 * the kernel (UCX_MEM_MALLOC_HOOKS). Superfluous reports are harmless; a
 * missing report is not.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>

#include "ucm/internal.h"

typedef void (*heap_free_t)(void *);
typedef void *(*heap_realloc_t)(void *, size_t);
typedef size_t (*heap_size_t)(void *);

static heap_free_t heap_real_free;
static heap_realloc_t heap_real_realloc;
static heap_size_t heap_real_size;

static void heap_report(void *block)
{
    size_t size;
    int token;

    if ((block == NULL) || !ucm_event_is_wanted()) {
        return;
    }
    size = heap_real_size(block);
    if (size < ucm_page_size() / 2) {
        return; /* too small for a mapping of its own */
    }
    token = ucm_event_enter();
    ucm_event_vm_unmapped(block, size);
    ucm_event_leave(token);
}

static void heap_free(void *block)
{
    heap_report(block);
    heap_real_free(block);
}

static void *heap_realloc(void *block, size_t size)
{
    heap_report(block);
    return heap_real_realloc(block, size);
}

/* Properties of the heap, which ucm_heap_look_up() sets once. */
static void *heap_libc;  /* address of a function of the C library */
static int heap_is_libc; /* whether the process uses the heap of the C
                          * library */

void ucm_heap_look_up(void)
{
    Dl_info of_free, of_libc;

    *(void **)&heap_real_free    = dlsym(RTLD_DEFAULT, "free");
    *(void **)&heap_real_realloc = dlsym(RTLD_DEFAULT, "realloc");
    *(void **)&heap_real_size    = dlsym(RTLD_DEFAULT, "malloc_usable_size");
    heap_libc                    = dlsym(RTLD_DEFAULT, "getppid");
    heap_is_libc = (heap_libc != NULL) && (heap_real_free != NULL) &&
                   dladdr((void *)heap_real_free, &of_free) &&
                   dladdr(heap_libc, &of_libc) &&
                   (of_free.dli_fbase == of_libc.dli_fbase);
}

ucs_status_t ucm_heap_watch(void)
{
    const ucm_reloc_t reloc_free    = {"free", (void *)heap_free, heap_libc};
    const ucm_reloc_t reloc_realloc = {"realloc", (void *)heap_realloc,
                                       heap_libc};
    ucs_status_t status;

    /* if another allocator calls munmap(), it does so through its relocation
     * table, so UCM intercepts these calls anyway */
    if (!heap_is_libc) {
        return UCS_OK;
    }

    if (!ucm_opts()->enable_malloc_reloc || (heap_real_realloc == NULL) ||
        (heap_real_size == NULL)) {
        ucm_log(UCS_LOG_LEVEL_DIAG, "the heap cannot be watched; see "
                                    "UCX_MEM_MALLOC_RELOC");
        return UCS_ERR_UNSUPPORTED;
    }

    if (ucm_opts()->enable_malloc_hooks) {
        (void)mallopt(M_TRIM_THRESHOLD, -1);
    }
    status = ucm_reloc_add(&reloc_free);
    if (status == UCS_OK) {
        status = ucm_reloc_add(&reloc_realloc);
    }
    return (status == UCS_OK) ? ucm_reloc_apply() : status;
}
