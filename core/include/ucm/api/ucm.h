/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCM, memory events: tells subscribers when the process maps and unmaps
 * memory, so that what they remember of it (registrations, memory types) stays
 * true. It intercepts the calls; it does not keep track of what is mapped.
 *
 * All functions may be called from any thread.
 */
#ifndef UCM_API_UCM_H_
#define UCM_API_UCM_H_

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucs/config/types.h>
#include <ucs/memory/memory_type.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/** @addtogroup UCM
 *  @{ */

/**
 * What can be subscribed to. The first group are calls, seen as they are made;
 * the second group says what calls did to the address space, whichever call it
 * was, and is what most subscribers want.
 */
typedef enum ucm_event_type {
    UCM_EVENT_NONE    = 0,          /**< Nothing */

    UCM_EVENT_MMAP    = UCS_BIT(0), /**< mmap() */
    UCM_EVENT_MUNMAP  = UCS_BIT(1), /**< munmap() */
    UCM_EVENT_MREMAP  = UCS_BIT(2), /**< mremap() */
    UCM_EVENT_SHMAT   = UCS_BIT(3), /**< shmat() */
    UCM_EVENT_SHMDT   = UCS_BIT(4), /**< shmdt() */
    UCM_EVENT_SBRK    = UCS_BIT(5), /**< sbrk() */
    UCM_EVENT_MADVISE = UCS_BIT(6), /**< madvise() */
    UCM_EVENT_BRK     = UCS_BIT(7), /**< brk() */

    UCM_EVENT_VM_MAPPED      = UCS_BIT(16), /**< A range was mapped; told after
                                                 the fact */
    UCM_EVENT_VM_UNMAPPED    = UCS_BIT(17), /**< A range goes away, or loses its
                                                 pages; told before the fact */
    UCM_EVENT_MEM_TYPE_ALLOC = UCS_BIT(20), /**< Device memory was allocated;
                                                 told after the fact */
    UCM_EVENT_MEM_TYPE_FREE  = UCS_BIT(21), /**< Device memory goes away; told
                                                 before the fact */

    /** Modifier: subscribe, but do not start to intercept anything for it */
    UCM_EVENT_FLAG_NO_INSTALL     = UCS_BIT(24),
    /** Modifier: first report what was mapped or allocated before */
    UCM_EVENT_FLAG_EXISTING_ALLOC = UCS_BIT(25)
} ucm_event_type_t;

/** How calls of the C library are intercepted. */
typedef enum ucm_mmap_hook_mode {
    UCM_MMAP_HOOK_NONE,   /**< Not at all */
    UCM_MMAP_HOOK_RELOC,  /**< By changing the tables through which loaded
                               objects call */
    UCM_MMAP_HOOK_BISTRO, /**< By changing the first instructions of the
                               functions, which also catches calls inside the C
                               library */
    UCM_MMAP_HOOK_LAST    /**< Number of modes */
} ucm_mmap_hook_mode_t;

/** Whether the library may be unloaded while its interception is in place. */
typedef enum ucm_module_unload_prevent_mode {
    UCM_UNLOAD_PREVENT_MODE_LAZY, /**< No; symbols bound when needed */
    UCM_UNLOAD_PREVENT_MODE_NOW,  /**< No; symbols bound at once */
    UCM_UNLOAD_PREVENT_MODE_NONE, /**< Yes */
    UCM_UNLOAD_PREVENT_MODE_LAST  /**< Number of modes */
} ucm_module_unload_prevent_mode_t;

/**
 * An event: the member that belongs to its type holds the call's parameters,
 * and in `result` what the call returns. Results hold only once the call was
 * made (see ucm_set_event_handler()). Sizes are in bytes.
 */
typedef union ucm_event {
    struct {
        void  *result;  /**< Address, or MAP_FAILED */
        void  *address; /**< Wish or requirement */
        size_t size;    /**< Length */
        int    prot;    /**< PROT_xx */
        int    flags;   /**< MAP_xx */
        int    fd;      /**< File, or -1 */
        off_t  offset;  /**< Offset in the file */
    } mmap; /**< UCM_EVENT_MMAP */

    struct {
        int    result;  /**< 0 or -1 */
        void  *address; /**< Start */
        size_t size;    /**< Length */
    } munmap; /**< UCM_EVENT_MUNMAP */

    struct {
        void  *result;      /**< New address, or MAP_FAILED */
        void  *address;     /**< Old address */
        size_t old_size;    /**< Old length */
        size_t new_size;    /**< New length */
        int    flags;       /**< MREMAP_xx */
        void  *new_address; /**< With MREMAP_FIXED: where to */
    } mremap; /**< UCM_EVENT_MREMAP */

    struct {
        void       *result;  /**< Address, or MAP_FAILED */
        int         shmid;   /**< Segment */
        const void *shmaddr; /**< Wish or requirement */
        int         shmflg;  /**< SHM_xx */
    } shmat; /**< UCM_EVENT_SHMAT */

    struct {
        int         result;  /**< 0 or -1 */
        const void *shmaddr; /**< Address of the segment */
    } shmdt; /**< UCM_EVENT_SHMDT */

    struct {
        void    *result;    /**< Previous end of the data segment, or
                                 (void*)-1 */
        intptr_t increment; /**< By how much it moves */
    } sbrk; /**< UCM_EVENT_SBRK */

    struct {
        int   result; /**< 0 or -1 */
        void *addr;   /**< New end of the data segment */
    } brk; /**< UCM_EVENT_BRK */

    struct {
        int    result; /**< 0 or -1 */
        void  *addr;   /**< Start */
        size_t length; /**< Length */
        int    advice; /**< MADV_xx */
    } madvise; /**< UCM_EVENT_MADVISE */

    struct {
        void  *address; /**< Start */
        size_t size;    /**< Length */
    } vm_mapped,   /**< UCM_EVENT_VM_MAPPED */
      vm_unmapped; /**< UCM_EVENT_VM_UNMAPPED */

    struct {
        void             *address;  /**< Start */
        size_t            size;     /**< Length */
        ucs_memory_type_t mem_type; /**< Type; UCS_MEMORY_TYPE_LAST if it is not
                                         known, as may be when it is freed */
    } mem_type; /**< UCM_EVENT_MEM_TYPE_ALLOC, UCM_EVENT_MEM_TYPE_FREE */
} ucm_event_t;

/** Settings, see ucm_set_global_opts(). "int" ones are 0 for no. */
typedef struct ucm_global_config {
    ucs_log_level_t      log_level;           /**< What UCM itself may log */
    int                  enable_events;       /**< Intercept at all */
    ucm_mmap_hook_mode_t mmap_hook_mode;      /**< How */
    int                  enable_malloc_hooks; /**< Also watch the heap, by hooks
                                                   of its allocator */
    int                  enable_malloc_reloc; /**< Also watch the heap, by
                                                   changing call tables */
    uint64_t             cuda_hook_modes;     /**< How to intercept the CUDA
                                                   libraries: bit n is
                                                   ucm_mmap_hook_mode_t n */
    /** Let the heap's threshold for mmap adapt itself */
    int                  enable_dynamic_mmap_thresh;
    size_t               alloc_alignment;     /**< Least alignment of heap
                                                   blocks that UCM hands out */
    int                  dlopen_process_rpath; /**< Have ucm_dlopen() look where
                                                   the calling object's run path
                                                   points */
    /** Whether the library may be unloaded */
    ucm_module_unload_prevent_mode_t module_unload_prevent_mode;
    int                  bistro_force_far_jump; /**< Always patch in the long
                                                     form of a jump, which
                                                     reaches anywhere */
} ucm_global_config_t;

/**
 * The settings, to read and to change before the first subscription; never
 * NULL.
 *
 * @return The settings
 */
ucm_global_config_t *ucm_global_opts_get(void);

/* As a variable. */
#define ucm_global_opts (*ucm_global_opts_get())

/**
 * Told of an event. Runs in the thread that made the call, in the middle of it:
 * it must not allocate from the heap, fork, or wait for a lock that is held
 * around such calls elsewhere. It may map and unmap memory, which it is told of
 * in turn, and subscribe with UCM_EVENT_FLAG_NO_INSTALL.
 *
 * @param event_type  One UCM_EVENT_xx.
 * @param event       What happens.
 * @param arg         Argument of ucm_set_event_handler().
 */
typedef void (*ucm_event_callback_t)(ucm_event_type_t event_type,
                                     ucm_event_t *event, void *arg);

/**
 * Replaces the settings. To be called before the first subscription; what is
 * intercepted already stays so.
 *
 * @param [in] ucm_opts  All settings; copied.
 */
void ucm_set_global_opts(const ucm_global_config_t *ucm_opts);

/**
 * Subscribes to events, and starts to intercept what they need.
 *
 * Subscribers are called in the order of rising priority. The call itself is
 * made at priority 0: those below see a call before it is made (one that makes
 * the call itself sets its result), the others see its result. Among
 * UCM_EVENT_VM_xx and UCM_EVENT_MEM_TYPE_xx the priority is only an order.
 *
 * @param [in] events    Bits of ucm_event_type_t.
 * @param [in] priority  Place in the order.
 * @param [in] cb        Callback.
 * @param [in] arg       Its argument.
 *
 * @return UCS_ERR_UNSUPPORTED if some of the events cannot be intercepted, or
 *         are switched off; then nothing is subscribed.
 */
ucs_status_t ucm_set_event_handler(int events, int priority,
                                   ucm_event_callback_t cb, void *arg);

/**
 * Ends a subscription. When it returns, the callback is not running and will
 * not be called for these events again. Not to be called from the callback
 * itself.
 *
 * @param [in] events  Events to end.
 * @param [in] cb      Callback of the subscription.
 * @param [in] arg     Its argument.
 */
void ucm_unset_event_handler(int events, ucm_event_callback_t cb, void *arg);

/**
 * Says that somebody else intercepts some events and will report them by
 * ucm_vm_mmap() and ucm_vm_munmap(); UCM does not intercept them itself then.
 *
 * @param [in] events  Bits of ucm_event_type_t.
 */
void ucm_set_external_event(int events);

/** Takes that back. For who subscribed meanwhile nothing is intercepted; another
 *  subscription to the events begins that. */
void ucm_unset_external_event(int events);

/**
 * Tries whether events arrive, by mapping and unmapping a little memory.
 *
 * @param [in] events  Events. Those that nobody asked to intercept have nothing
 *                     to arrive, and are not tried.
 *
 * @return UCS_OK if all do, UCS_ERR_UNSUPPORTED if not.
 */
ucs_status_t ucm_test_events(int events);

/**
 * ucm_test_events() for events that were declared external.
 *
 * @return UCS_OK if all arrive, UCS_ERR_UNSUPPORTED if not
 */
ucs_status_t ucm_test_external_events(int events);

/*
 * The calls as the C library and the system have them, without events.
 */

/**
 * mmap()
 *
 * @return The address, or MAP_FAILED with errno set
 */
void *ucm_orig_mmap(void *addr, size_t length, int prot, int flags, int fd,
                    off_t offset);

/**
 * munmap()
 *
 * @return 0, or -1 with errno set
 */
int ucm_orig_munmap(void *addr, size_t length);

/**
 * mremap(); new_address counts with MREMAP_FIXED only.
 *
 * @return The new address, or MAP_FAILED with errno set
 */
void *ucm_orig_mremap(void *old_address, size_t old_size, size_t new_size,
                      int flags, void *new_address);

/**
 * shmat()
 *
 * @return The address, or (void*)-1 with errno set
 */
void *ucm_orig_shmat(int shmid, const void *shmaddr, int shmflg);

/**
 * shmdt()
 *
 * @return 0, or -1 with errno set
 */
int ucm_orig_shmdt(const void *shmaddr);

/**
 * sbrk()
 *
 * @return The old end of the data segment, or (void*)-1 with errno set
 */
void *ucm_orig_sbrk(intptr_t increment);

/**
 * brk()
 *
 * @return 0, or -1 with errno set
 */
int ucm_orig_brk(void *addr);

/**
 * madvise()
 *
 * @return 0, or -1 with errno set
 */
int ucm_orig_madvise(void *addr, size_t length, int advice);

/*
 * The calls with events: they do the same and tell subscribers. For who
 * intercepts by other means and passes the calls on.
 */

/**
 * mmap()
 *
 * @return The address, or MAP_FAILED with errno set
 */
void *ucm_mmap(void *addr, size_t length, int prot, int flags, int fd,
               off_t offset);

/**
 * munmap()
 *
 * @return 0, or -1 with errno set
 */
int ucm_munmap(void *addr, size_t length);

/** Reports a range that was mapped otherwise: UCM_EVENT_VM_MAPPED. */
void ucm_vm_mmap(void *addr, size_t length);

/** Reports a range that is about to be unmapped otherwise:
 *  UCM_EVENT_VM_UNMAPPED. */
void ucm_vm_munmap(void *addr, size_t length);

/**
 * mremap(); with MREMAP_FIXED in flags, a fifth argument of type void* says
 * where to.
 *
 * @return The new address, or MAP_FAILED with errno set
 */
void *ucm_mremap(void *old_address, size_t old_size, size_t new_size, int flags,
                 ...);

/**
 * shmat()
 *
 * @return The address, or (void*)-1 with errno set
 */
void *ucm_shmat(int shmid, const void *shmaddr, int shmflg);

/**
 * shmdt()
 *
 * @return 0, or -1 with errno set
 */
int ucm_shmdt(const void *shmaddr);

/**
 * sbrk()
 *
 * @return The old end of the data segment, or (void*)-1 with errno set
 */
void *ucm_sbrk(intptr_t increment);

/**
 * brk()
 *
 * @return 0, or -1 with errno set
 */
int ucm_brk(void *addr);

/**
 * madvise()
 *
 * @return 0, or -1 with errno set
 */
int ucm_madvise(void *addr, size_t length, int advice);

/**
 * dlopen() for objects whose calls are to be intercepted as well.
 *
 * @param [in] filename  Object, or NULL for the program.
 * @param [in] flag      RTLD_xx.
 *
 * @return Handle for dlsym() and dlclose(), or NULL with dlerror() set.
 */
void *ucm_dlopen(const char *filename, int flag);

/** @} */

END_C_DECLS

#endif
