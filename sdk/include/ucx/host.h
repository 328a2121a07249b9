/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The services that the host (the core that loads a plugin) hands in.
 *
 * A plugin links nothing of the core: whatever it needs of it is a slot of
 * ucx_host_t, or static inline code of the SDK's headers on top of a slot.
 * A plugin keeps the pointer that its entry point was given until fini().
 */
#ifndef UCX_HOST_H
#define UCX_HOST_H

#include <sys/types.h>
#include <uct/api/uct.h>
#include <ucx/abi.h>

UCX_BEGIN_DECLS

typedef struct ucx_config_table ucx_config_table_t;

/** Identifies one registered asynchronous handler or timer; 0 is none. */
typedef uint64_t ucx_async_id_t;

/** Called for an fd that is ready; `events` are UCS_EVENT_SET_EV* bits. */
typedef void (*ucx_async_fd_cb_t)(int fd, int events, void *arg);

/** Called when a timer fires. */
typedef void (*ucx_async_timer_cb_t)(void *arg);

/** Called from progress; returns how many events it completed. */
typedef unsigned (*ucx_progress_cb_t)(void *arg);

/** Called once from the next progress of a worker. */
typedef void (*ucx_oneshot_cb_t)(void *arg);


/* ------------------------------------------------------------------ */
/* Memory pools                                                       */

/** A free element of a pool: its first word links it to the next one. */
typedef struct ucx_mpool_elem {
    struct ucx_mpool_elem *next;
} ucx_mpool_elem_t;

/**
 * The visible head of a memory pool that the host made. Only the inline
 * functions below touch it. A pool belongs to one worker: it has no lock.
 */
typedef struct ucx_mpool {
    ucx_mpool_elem_t *free_list;
} ucx_mpool_t;

typedef struct ucx_mpool_params {
    size_t     size;            /**< sizeof(ucx_mpool_params_t) */
    const char *name;           /**< For leak reports; copied */
    size_t     elem_size;       /**< Bytes the user of an element gets,
                                     at least sizeof(void*) */
    size_t     align_offset;    /**< Offset inside an element that is aligned */
    size_t     alignment;       /**< A power of two, at most 4096 */
    unsigned   elems_per_chunk; /**< Elements added at a time; 0: host's choice */
    unsigned   max_elems;       /**< UINT_MAX: no limit */
    /** Chunk memory from elsewhere than the heap (registered memory, say).
     *  Both NULL: the heap. `alloc` may enlarge *size. */
    ucs_status_t (*chunk_alloc)(void *arg, size_t *size, void **chunk_p);
    void         (*chunk_free)(void *arg, void *chunk);
    /** Called once for each new element of a chunk; may be NULL. */
    void         (*elem_init)(void *arg, void *elem, void *chunk);
    void       *arg;
} ucx_mpool_params_t;


/* ------------------------------------------------------------------ */
/* Registration cache                                                 */

typedef struct ucx_rcache ucx_rcache_t;

/** The visible head of a cached region; the plugin's part follows it. */
typedef struct ucx_rcache_region {
    void     *address;  /**< Start, aligned to the cache's alignment */
    size_t   length;    /**< Bytes */
    unsigned refcount;  /**< The host's; plugins do not touch it */
    unsigned flags;     /**< The host's */
} ucx_rcache_region_t;

typedef struct ucx_rcache_params {
    size_t     size;          /**< sizeof(ucx_rcache_params_t) */
    const char *name;
    size_t     region_size;   /**< sizeof the plugin's region, head included */
    size_t     alignment;     /**< Regions are rounded out to this */
    size_t     max_regions;   /**< SIZE_MAX: no limit */
    size_t     max_bytes;     /**< SIZE_MAX: no limit */
    /** Registers [region->address, +length). Called without a lock held.
     *  mem_dereg comes from the next use of the cache, or from a service
     *  thread; the memory may be unmapped by then. */
    ucs_status_t (*mem_reg)(void *arg, ucx_rcache_region_t *region,
                            unsigned flags);
    void         (*mem_dereg)(void *arg, ucx_rcache_region_t *region);
    void       *arg;
} ucx_rcache_params_t;


/* ------------------------------------------------------------------ */
/* Memory events                                                      */

/** What happened to a range of the process's memory. */
typedef enum {
    UCX_MEM_EVENT_UNMAPPED = 1u << 0, /**< Pages are about to go away */
    UCX_MEM_EVENT_MAPPED   = 1u << 1  /**< Pages have come */
} ucx_mem_event_t;

/** May run on any thread, inside the call that unmaps: must not allocate,
 *  and takes no lock that the plugin holds while it allocates. */
typedef void (*ucx_mem_event_cb_t)(ucx_mem_event_t event, void *address,
                                   size_t length, void *arg);


/* ------------------------------------------------------------------ */
/* Topology                                                           */

/** A PCI function, as in the sysfs name dddd:bb:ss.f */
typedef struct ucx_pci_address {
    uint16_t domain;
    uint8_t  bus;
    uint8_t  slot;
    uint8_t  function;
} ucx_pci_address_t;

/** The cost of going from one system device to another. */
typedef struct ucx_sys_distance {
    double latency;    /**< Seconds */
    double bandwidth;  /**< Bytes per second */
} ucx_sys_distance_t;

/** What is known of a range of memory. */
typedef struct ucx_mem_info {
    size_t             size;      /**< sizeof(ucx_mem_info_t) */
    ucs_memory_type_t  type;
    ucs_sys_device_t   sys_dev;   /**< UCS_SYS_DEVICE_ID_UNKNOWN if not known */
    void               *base;     /**< Start of the allocation, or the address */
    size_t             length;    /**< Of the allocation, or of the range */
} ucx_mem_info_t;


/* ------------------------------------------------------------------ */

/**
 * The table of services. New members are appended; a plugin that wants one
 * which an older host may lack asks UCX_TABLE_HAS first.
 *
 * Unless a slot says otherwise it may be called from any thread, does not
 * block for long, and holds no lock when it calls back.
 */
typedef struct ucx_host {
    size_t   size;       /**< sizeof(ucx_host_t) as the host knows it */
    uint32_t abi;        /**< The newest ABI version that the host speaks */

    /* --- Logging ------------------------------------------------------- */
    /** The level in force; a message above it is not worth formatting.
     *  The inline macros of <ucx/log.h> look here first. */
    const int *log_level;
    /** Writes one line. `level` is a ucs_log_level_t. */
    void (*log)(int level, const char *file, int line, const char *format, ...)
            __attribute__((format(printf, 4, 5)));

    /* --- Memory pools --------------------------------------------------- */
    ucs_status_t (*mpool_create)(const ucx_mpool_params_t *params,
                                 ucx_mpool_t **mpool_p);
    /** Adds elements to an empty pool; takes one and returns it, or NULL when
     *  the limit is reached or memory is out. Worker's thread only. */
    void *(*mpool_grow)(ucx_mpool_t *mpool);
    /** Frees the pool. Elements that are still out are reported as leaks. */
    void (*mpool_destroy)(ucx_mpool_t *mpool);

    /* --- Registration cache --------------------------------------------- */
    /** UCS_ERR_UNSUPPORTED where the host cannot see memory events; the
     *  plugin then registers without a cache. */
    ucs_status_t (*rcache_create)(const ucx_rcache_params_t *params,
                                  ucx_rcache_t **rcache_p);
    ucs_status_t (*rcache_get)(ucx_rcache_t *rcache, void *address,
                               size_t length, unsigned flags,
                               ucx_rcache_region_t **region_p);
    void (*rcache_put)(ucx_rcache_t *rcache, ucx_rcache_region_t *region);
    void (*rcache_destroy)(ucx_rcache_t *rcache);

    /* --- Asynchronous events and timers ---------------------------------- */
    /** Watches `fd` for UCS_EVENT_SET_EV* `events`. The handler runs on a
     *  service thread, or in a call of the user's where the worker's context
     *  is in poll mode, with the worker's asynchronous context held: two
     *  handlers of one worker never run at once. It may run at the same time
     *  as sends and progress do, so it touches nothing of theirs; it hands
     *  its news over with progress_oneshot. */
    ucs_status_t (*async_add_fd)(uct_worker_h worker, int fd, int events,
                                 ucx_async_fd_cb_t cb, void *arg,
                                 ucx_async_id_t *id_p);
    ucs_status_t (*async_modify_fd)(ucx_async_id_t id, int events);
    /** Fires every `interval` seconds until it is removed. */
    ucs_status_t (*async_add_timer)(uct_worker_h worker, double interval,
                                    ucx_async_timer_cb_t cb, void *arg,
                                    ucx_async_id_t *id_p);
    /** After the return the handler does not run any more. Must not be
     *  called from another handler's lock; from the handler itself it may. */
    void (*async_remove)(ucx_async_id_t id);

    /* --- Progress --------------------------------------------------------- */
    /** Calls `cb` from every progress of `worker` until it is removed.
     *  Worker's thread. Adding and removing inside a callback is allowed. */
    ucs_status_t (*progress_add)(uct_worker_h worker, ucx_progress_cb_t cb,
                                 void *arg, int *id_p);
    void (*progress_remove)(uct_worker_h worker, int id);
    /** Calls `cb` once from the next progress, and wakes a worker that waits.
     *  Any thread. Identified by (cb, arg) for the cancel. */
    ucs_status_t (*progress_oneshot)(uct_worker_h worker, ucx_oneshot_cb_t cb,
                                     void *arg);
    void (*progress_cancel)(uct_worker_h worker, ucx_oneshot_cb_t cb,
                            void *arg);

    /* --- Failures --------------------------------------------------------- */
    /** Tells the user of `iface` that `ep` can do no more. Worker's thread,
     *  from progress. The plugin has already completed, or will complete in
     *  pending_purge and flush, everything that was outstanding on it, and has
     *  delivered what the peer sent before it went. Returns
     *  UCS_OK if the user took care of it. The user may destroy the endpoint
     *  inside the call. */
    ucs_status_t (*iface_ep_failed)(uct_iface_h iface, uct_ep_h ep,
                                    ucs_status_t status);
    /** An event of the device (port up or down, ...), from any thread. */
    void (*iface_async_event)(uct_iface_h iface, unsigned flags);

    /* --- Memory events ----------------------------------------------------- */
    /** UCS_ERR_UNSUPPORTED where interception is off. */
    ucs_status_t (*mem_event_subscribe)(unsigned events, ucx_mem_event_cb_t cb,
                                        void *arg);
    void (*mem_event_unsubscribe)(ucx_mem_event_cb_t cb, void *arg);
    /** A domain that allocates, or intercepts an allocator, says so here, so
     *  that detection and caches learn of it. */
    void (*mem_type_allocated)(void *address, size_t length,
                               ucs_memory_type_t type,
                               ucs_sys_device_t sys_dev);
    void (*mem_type_released)(void *address, size_t length);

    /* --- Topology ------------------------------------------------------------ */
    ucs_status_t (*sys_device_by_pci)(const ucx_pci_address_t *pci,
                                      ucs_sys_device_t *sys_dev_p);
    /** From a sysfs path that leads to a PCI device, e.g.
     *  "/sys/class/net/eth0/device". UCS_ERR_NO_ELEM for a virtual one. */
    ucs_status_t (*sys_device_by_sysfs)(const char *path,
                                        ucs_sys_device_t *sys_dev_p);
    ucs_status_t (*sys_device_set_name)(ucs_sys_device_t sys_dev,
                                        const char *name);
    ucs_status_t (*sys_device_distance)(ucs_sys_device_t a, ucs_sys_device_t b,
                                        ucx_sys_distance_t *distance);
    /** Type and place of memory, from the caches and domains of the core. */
    ucs_status_t (*mem_detect)(const void *address, size_t length,
                               ucx_mem_info_t *info);

    /* --- Identity and time ----------------------------------------------------- */
    /** The same for all processes of one running kernel, and no other. */
    uint64_t (*machine_guid)(void);
    /** Seconds of a clock that never goes back. */
    double (*time)(void);
} ucx_host_t;


/** Takes an element, or NULL when memory is out. Hot path. */
static inline void *ucx_mpool_get(const ucx_host_t *host, ucx_mpool_t *mpool)
{
    ucx_mpool_elem_t *elem = mpool->free_list;

    if (__builtin_expect(elem == NULL, 0)) {
        return host->mpool_grow(mpool);
    }

    mpool->free_list = elem->next;
    return elem;
}

/** Gives an element back to the pool that it came from. Hot path. */
static inline void ucx_mpool_put(ucx_mpool_t *mpool, void *obj)
{
    ucx_mpool_elem_t *elem = (ucx_mpool_elem_t *)obj;

    elem->next       = mpool->free_list;
    mpool->free_list = elem;
}

UCX_END_DECLS

#endif
