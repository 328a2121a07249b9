/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of UCM, the library that intercepts mmap(), munmap() and
 * other calls that change the address space, and reports them as events. Other
 * libraries use <ucm/api/ucm.h>, and "ucm/memtype.h" to report device memory.
 */
#ifndef UCM_INTERNAL_H
#define UCM_INTERNAL_H

#include <link.h>
#include <stdint.h>
#include <ucm/api/ucm.h>

/* Calls that can be intercepted; bit n of ucm_event_type_t is call n. */
typedef enum ucm_call {
    UCM_CALL_MMAP,
    UCM_CALL_MUNMAP,
    UCM_CALL_MREMAP,
    UCM_CALL_SHMAT,
    UCM_CALL_SHMDT,
    UCM_CALL_SBRK,
    UCM_CALL_MADVISE,
    UCM_CALL_BRK,
    UCM_CALL_LAST,
} ucm_call_t;

#define UCM_CALL_MASK ((1 << UCM_CALL_LAST) - 1)
#define UCM_EVENT_FLAG_MASK \
    (UCM_EVENT_FLAG_NO_INSTALL | UCM_EVENT_FLAG_EXISTING_ALLOC)

/* --- event.c: subscribers ------------------------------------------------ */

/* Begins a section in which no subscriber is freed, so that the list of
 * subscribers can be walked without a lock; ucm_event_leave() with the result
 * ends it. Such sections may be nested. */
int ucm_event_enter(void);
void ucm_event_leave(int token);

/* Returns whether there is any subscriber. */
int ucm_event_is_wanted(void);

/* Calls the subscribers of the event whose priority is in [low, high]. The
 * next two round the range to whole pages and report UCM_EVENT_VM_MAPPED or
 * UCM_EVENT_VM_UNMAPPED to all subscribers of that event. The caller must have
 * called ucm_event_enter(). */
void ucm_event_dispatch(ucm_event_type_t type, ucm_event_t *event, int low,
                        int high);
void ucm_event_vm_mapped(void *address, size_t size);
void ucm_event_vm_unmapped(void *address, size_t size);

/* Returns the calls that these events require, as a mask without flags. */
int ucm_event_calls(int events);

/* --- orig.c: the calls without events ------------------------------------ */

/* Sets the function that makes the original call: that of another library that
 * has intercepted the call before UCM, or NULL, the default, for the system
 * call. Must be set before UCM intercepts the call. */
void ucm_orig_set(ucm_call_t call, void *function);

/* As ucm_orig_set(), but for calls that come by a changed relocation table:
 * the function is the one to which the table referred before. ucm_orig_reloc()
 * returns it, or NULL if it is unknown. */
void ucm_orig_set_reloc(ucm_call_t call, void *function);
void *ucm_orig_reloc(ucm_call_t call);

/* Current end of the data segment. */
void *ucm_current_brk(void);

/* --- calls.c: the calls with events -------------------------------------- */

extern const char *const ucm_call_names[];

/* Return the function to which a call is redirected: ucm_call_patched() by a
 * patch of the C library, ucm_call_reloc() by relocation tables. */
void *ucm_call_patched(ucm_call_t call);
void *ucm_call_reloc(ucm_call_t call);

/* --- install.c ----------------------------------------------------------- */

/* Intercepts calls that are not intercepted yet. No lock of UCM may be held. */
ucs_status_t ucm_install(int calls);

/* Returns the mask of the calls that are intercepted. */
int ucm_installed_calls(void);

/* --- patch.c: changing the first instructions of a function -------------- */

/*
 * Redirects the function `entry` to the hook ucm_call_patched(call), while
 * other threads may run the function. Before the change takes effect, `publish`
 * is called with the former target if another interceptor had redirected the
 * function, else with NULL.
 *
 * On failure the function is not changed, but `publish` may have been called;
 * *reason is the cause.
 */
typedef void (*ucm_patch_publish_t)(ucm_call_t call, void *previous);
ucs_status_t ucm_patch(ucm_call_t call, void *entry,
                       ucm_patch_publish_t publish, const char **reason);

/* Length in bytes of the instruction at `code`; 0 if it is unknown. */
unsigned ucm_x86_length(const uint8_t *code);

/* --- elf.c: loaded objects, without the lock of dlopen() ----------------- */

typedef struct ucm_elf {
    const char *name;
    uintptr_t base; /* to be added to the addresses in the object's file */
    const ElfW(Phdr) * phdrs;
    unsigned num_phdrs;
    const ElfW(Sym) * symbols;
    const char *strings;
    size_t num_symbols;     /* of `symbols`; 0 if the number is unknown */
    const void *plt_relocs; /* entries of `reloc_size` bytes each */
    size_t plt_size;        /* bytes of plt_relocs */
    const void *relocs;     /* as plt_relocs */
    size_t relocs_size;     /* bytes of relocs */
    size_t reloc_size;      /* bytes of an entry; 0 if there are none */
} ucm_elf_t;

typedef int (*ucm_elf_cb_t)(const ucm_elf_t *elf, void *arg);

/* Calls `cb` for each loaded object until it returns nonzero, and returns the
 * last result. The callback must not load, unload or look up objects. */
int ucm_elf_each(ucm_elf_cb_t cb, void *arg);

/* Returns whether the address is in a segment of the object. */
int ucm_elf_has(const ucm_elf_t *elf, const void *address);

/* --- reloc.c: changing tables of loaded objects -------------------------- */

typedef struct ucm_reloc {
    const char *name;
    void *value;      /* the function to call */
    const void *keep; /* an address in the object whose own calls are not
                       * redirected; NULL: redirect those of all objects */
} ucm_reloc_t;

/* Adds a name, or replaces its earlier entry. Later calls of ucm_reloc_apply()
 * redirect the name. */
ucs_status_t ucm_reloc_add(const ucm_reloc_t *reloc);

/* Redirects the added names in the relocation tables of all loaded objects. May
 * be called by any thread. */
ucs_status_t ucm_reloc_apply(void);

/* Calls dlopen() and changes the relocation tables of the loaded objects. With
 * the setting dlopen_process_rpath, searches the run path of the object that
 * contains the address `caller`. */
void *ucm_reloc_dlopen(const char *filename, int flag, const void *caller);

/* --- heap.c: used where calls inside the C library are not seen ---------- */

/* Finds the functions of the heap. Takes the lock of the dynamic linker, so
 * that the caller must hold no lock of UCM. */
void ucm_heap_look_up(void);
/* Intercepts free() and realloc(), unless the process uses another allocator
 * than that of the C library. Call ucm_heap_look_up() before. */
ucs_status_t ucm_heap_watch(void);

/* --- options.c ----------------------------------------------------------- */

const ucm_global_config_t *ucm_opts(void);

/* --- maps.c -------------------------------------------------------------- */

typedef struct ucm_map {
    uintptr_t start, end;
    int prot;
    unsigned long offset;
    unsigned long inode;
    unsigned dev_major, dev_minor;
} ucm_map_t;

/* Calls `cb` for each range of the address space until it returns nonzero. Uses
 * the stack only. Returns -1 if the kernel does not provide the list, else
 * 0. */
typedef int (*ucm_map_cb_t)(const ucm_map_t *map, void *arg);
int ucm_maps_each(ucm_map_cb_t cb, void *arg);

/* Size in bytes of the System V shared memory attached at `address`; 0 if
 * unknown. */
size_t ucm_maps_shm_size(const void *address);

/* PROT_xx of the page at `address`; -1 if unknown. */
int ucm_maps_prot(const void *address);

/* --- test.c -------------------------------------------------------------- */

/* Makes the calls of a mask, harmlessly, to test whether their events arrive.
 * Returns the mask of those calls whose events did not arrive. */
int ucm_test_calls(int calls);

/* --- log.c --------------------------------------------------------------- */

/* Formats one line on the stack and writes it to standard error, if `level` is
 * enabled. Not called while an event is delivered. */
void ucm_log(ucs_log_level_t level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- sizes --------------------------------------------------------------- */

size_t ucm_page_size(void);

#endif
