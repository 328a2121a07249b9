/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCM, memory events: notifies subscribers when the process maps and unmaps
 * memory, so that they can update what they store about it (registrations,
 * memory types). UCM intercepts the calls that map and unmap memory; it keeps
 * no list of mapped memory.
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
 * Events, and modifiers of a subscription. The first group are calls of single
 * functions. The second group are changes of memory by whatever call, which
 * most subscribers need.
 */
typedef enum ucm_event_type {
    UCM_EVENT_NONE = 0, /**< Nothing */

    UCM_EVENT_MMAP    = UCS_BIT(0), /**< mmap() */
    UCM_EVENT_MUNMAP  = UCS_BIT(1), /**< munmap() */
    UCM_EVENT_MREMAP  = UCS_BIT(2), /**< mremap() */
    UCM_EVENT_SHMAT   = UCS_BIT(3), /**< shmat() */
    UCM_EVENT_SHMDT   = UCS_BIT(4), /**< shmdt() */
    UCM_EVENT_SBRK    = UCS_BIT(5), /**< sbrk() */
    UCM_EVENT_MADVISE = UCS_BIT(6), /**< madvise() */
    UCM_EVENT_BRK     = UCS_BIT(7), /**< brk() */

    UCM_EVENT_VM_MAPPED      = UCS_BIT(16), /**< A range was mapped; reported
                                             * afterwards */
    UCM_EVENT_VM_UNMAPPED    = UCS_BIT(17), /**< A range is unmapped, or loses
                                             * its pages; reported before */
    UCM_EVENT_MEM_TYPE_ALLOC = UCS_BIT(20), /**< Device memory was allocated;
                                             * reported afterwards */
    UCM_EVENT_MEM_TYPE_FREE  = UCS_BIT(21), /**< Device memory is released;
                                             * reported before */

    /** Modifier: subscribe without intercepting further calls for this
     *  subscription */
    UCM_EVENT_FLAG_NO_INSTALL     = UCS_BIT(24),
    /** Modifier of UCM_EVENT_VM_MAPPED: first report the memory that is mapped
     *  already */
    UCM_EVENT_FLAG_EXISTING_ALLOC = UCS_BIT(25),
} ucm_event_type_t;

/** How calls of the C library are intercepted. */
typedef enum ucm_mmap_hook_mode {
    UCM_MMAP_HOOK_NONE,   /**< Calls are not intercepted */
    UCM_MMAP_HOOK_RELOC,  /**< By changing the relocation tables by which loaded
                           * objects call functions of other objects */
    UCM_MMAP_HOOK_BISTRO, /**< By patching the first instructions of the
                           *   functions; calls inside the C library are
                           *   intercepted, too */
    UCM_MMAP_HOOK_LAST,   /**< Number of modes */
} ucm_mmap_hook_mode_t;

/** Whether the library may be unloaded while its interception is in place. */
typedef enum ucm_module_unload_prevent_mode {
    UCM_UNLOAD_PREVENT_MODE_LAZY, /**< No; symbols are bound at their first
                                   *   use */
    UCM_UNLOAD_PREVENT_MODE_NOW,  /**< No; symbols are bound at once */
    UCM_UNLOAD_PREVENT_MODE_NONE, /**< Yes */
    UCM_UNLOAD_PREVENT_MODE_LAST, /**< Number of modes */
} ucm_module_unload_prevent_mode_t;

/**
 * An event. The type of the event selects the member, which contains the
 * parameters of the call and, in `result`, the result of the call. Results are
 * valid only after the call was made (see ucm_set_event_handler()). Sizes are
 * in bytes.
 */
typedef union ucm_event {
    struct {
        void *result;  /**< Address, or MAP_FAILED */
        void *address; /**< Requested address; NULL: any */
        size_t size;   /**< Length */
        int prot;      /**< PROT_xx */
        int flags;     /**< MAP_xx */
        int fd;        /**< File descriptor, or -1 */
        off_t offset;  /**< Offset in the file */
    } mmap;            /**< UCM_EVENT_MMAP */

    struct {
        int result;    /**< 0 or -1 */
        void *address; /**< Start */
        size_t size;   /**< Length */
    } munmap;          /**< UCM_EVENT_MUNMAP */

    struct {
        void *result;      /**< New address, or MAP_FAILED */
        void *address;     /**< Old address */
        size_t old_size;   /**< Old length */
        size_t new_size;   /**< New length */
        int flags;         /**< MREMAP_xx */
        void *new_address; /**< With MREMAP_FIXED: the new address */
    } mremap;              /**< UCM_EVENT_MREMAP */

    struct {
        void *result;        /**< Address, or MAP_FAILED */
        int shmid;           /**< Id of the segment */
        const void *shmaddr; /**< Requested address; NULL: any */
        int shmflg;          /**< SHM_xx */
    } shmat;                 /**< UCM_EVENT_SHMAT */

    struct {
        int result;          /**< 0 or -1 */
        const void *shmaddr; /**< Address of the segment */
    } shmdt;                 /**< UCM_EVENT_SHMDT */

    struct {
        void *result;       /**< Previous end of the data segment, or
                                 (void*)-1 */
        intptr_t increment; /**< Requested change of the size in bytes */
    } sbrk;                 /**< UCM_EVENT_SBRK */

    struct {
        int result; /**< 0 or -1 */
        void *addr; /**< New end of the data segment */
    } brk;          /**< UCM_EVENT_BRK */

    struct {
        int result;    /**< 0 or -1 */
        void *addr;    /**< Start */
        size_t length; /**< Length */
        int advice;    /**< MADV_xx */
    } madvise;         /**< UCM_EVENT_MADVISE */

    struct {
        void *address; /**< Start */
        size_t size;   /**< Length */
    } vm_mapped,       /**< UCM_EVENT_VM_MAPPED */
        vm_unmapped;   /**< UCM_EVENT_VM_UNMAPPED */

    struct {
        void *address;              /**< Start */
        size_t size;                /**< Length */
        ucs_memory_type_t mem_type; /**< Type; UCS_MEMORY_TYPE_LAST if it is not
                                         known, for example when the memory is
                                         released */
    } mem_type; /**< UCM_EVENT_MEM_TYPE_ALLOC, UCM_EVENT_MEM_TYPE_FREE */
} ucm_event_t;

/** Settings, see ucm_set_global_opts(). In members of type int, 0 means no. */
typedef struct ucm_global_config {
    ucs_log_level_t log_level;           /**< Most detailed level of UCM's
                                          *   messages */
    int enable_events;                   /**< Whether calls are intercepted */
    ucm_mmap_hook_mode_t mmap_hook_mode; /**< How to intercept calls */
    int enable_malloc_hooks;             /**< With UCM_MMAP_HOOK_RELOC:
                                          *   configure the heap to keep free
                                          *   memory, because UCM does not see
                                          *   the calls by which the heap
                                          *   releases memory */
    int enable_malloc_reloc;             /**< With UCM_MMAP_HOOK_RELOC:
                                          *   intercept free() and realloc() by
                                          *   changing relocation tables */
    uint64_t cuda_hook_modes;            /**< Has no effect; a setting of
                                          *   OpenUCX: how to intercept the CUDA
                                          *   libraries */
    /** Has no effect; a setting of OpenUCX: let the heap adapt its threshold
     *  for mmap */
    int enable_dynamic_mmap_thresh;
    size_t alloc_alignment;   /**< Has no effect; a setting of OpenUCX: minimum
                               *   alignment of heap blocks */
    int dlopen_process_rpath; /**< Whether ucm_dlopen() searches the run path of
                               *   the calling object */
    /** Whether the library may be unloaded */
    ucm_module_unload_prevent_mode_t module_unload_prevent_mode;
    int bistro_force_far_jump; /**< Has no effect; a setting of OpenUCX: always
                                *   patch in the long form of a jump */
} ucm_global_config_t;

/**
 * Returns the settings. They may be changed before the first subscription.
 *
 * @return The settings; never NULL
 */
ucm_global_config_t *ucm_global_opts_get(void);

/* The settings as a variable. */
#define ucm_global_opts (*ucm_global_opts_get())

/**
 * Called when an event occurs, by the thread that makes the intercepted call,
 * before that call returns. The callback must not allocate from the heap, fork,
 * or wait for a lock that other code may hold during such a call. It may map
 * and unmap memory, which causes further events, and subscribe with
 * UCM_EVENT_FLAG_NO_INSTALL.
 *
 * @param event_type  One UCM_EVENT_xx.
 * @param event       The event.
 * @param arg         Argument of ucm_set_event_handler().
 */
typedef void (*ucm_event_callback_t)(ucm_event_type_t event_type,
                                     ucm_event_t *event, void *arg);

/**
 * Replaces the settings. Call it before the first subscription; calls that are
 * already intercepted are not affected.
 *
 * @param [in] ucm_opts  All settings; copied.
 */
void ucm_set_global_opts(const ucm_global_config_t *ucm_opts);

/**
 * Subscribes to events, and starts to intercept the calls that they require.
 *
 * Subscribers are called in the order of rising priority. The call itself is
 * made at priority 0: subscribers with lower priorities are called before it (a
 * subscriber that makes the call itself sets its result), the other subscribers
 * are called after it, with its result. For UCM_EVENT_VM_xx and
 * UCM_EVENT_MEM_TYPE_xx, the priority only determines the order of the
 * subscribers.
 *
 * @param [in] events    Bits of ucm_event_type_t.
 * @param [in] priority  Position in this order.
 * @param [in] cb        Callback.
 * @param [in] arg       Its argument.
 *
 * @return UCS_OK; UCS_ERR_UNSUPPORTED if some of the events cannot be
 *         intercepted, or are disabled; another error. After an error, nothing
 *         is subscribed.
 */
ucs_status_t ucm_set_event_handler(int events, int priority,
                                   ucm_event_callback_t cb, void *arg);

/**
 * Ends a subscription. When it returns, the callback is not running and will
 * not be called for these events again. Must not be called from the callback
 * itself.
 *
 * @param [in] events  Events to end.
 * @param [in] cb      Callback of the subscription.
 * @param [in] arg     Its argument.
 */
void ucm_unset_event_handler(int events, ucm_event_callback_t cb, void *arg);

/**
 * Declares events external: other code intercepts them and reports them by
 * ucm_vm_mmap() and ucm_vm_munmap(), and UCM does not intercept them.
 *
 * @param [in] events  Bits of ucm_event_type_t.
 */
void ucm_set_external_event(int events);

/** Undoes ucm_set_external_event(). UCM starts to intercept the events at the
 *  next subscription to them; existing subscriptions do not start it. */
void ucm_unset_external_event(int events);

/**
 * Tests whether events arrive, by making the intercepted calls that cause them:
 * on memory that the test maps, and sbrk() and brk() without a change.
 *
 * @param [in] events  Events to test. Events that are not intercepted are
 *                     skipped.
 *
 * @return UCS_OK if all tested events arrive, otherwise UCS_ERR_UNSUPPORTED.
 */
ucs_status_t ucm_test_events(int events);

/**
 * ucm_test_events() for events that were declared external.
 *
 * @return UCS_OK if all arrive, UCS_ERR_UNSUPPORTED if not
 */
ucs_status_t ucm_test_external_events(int events);

/*
 * The original calls of the C library and the system, which cause no events.
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
 * mremap(); new_address is used with MREMAP_FIXED only.
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
 * The calls with events: they make the original call and notify subscribers.
 * For code that intercepts the calls by other means and forwards them.
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

/** Reports a range that was mapped by other means: UCM_EVENT_VM_MAPPED. */
void ucm_vm_mmap(void *addr, size_t length);

/** Reports a range that will be unmapped by other means:
 *  UCM_EVENT_VM_UNMAPPED. */
void ucm_vm_munmap(void *addr, size_t length);

/**
 * mremap(); with MREMAP_FIXED in flags, the fifth argument, of type void*, is
 * the new address.
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
 * dlopen(). Calls of the loaded object are intercepted as well.
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
