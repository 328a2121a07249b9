/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Services of the host, which is the core that loads a plugin.
 *
 * A plugin links nothing of the core: it uses slots of ucx_host_t and static
 * inline functions of the SDK headers. The pointer that the entry point
 * received is valid until fini().
 */
#ifndef UCX_HOST_H
#define UCX_HOST_H

#include <string.h>
#include <sys/types.h>
#include <uct/api/uct.h>
#include <ucx/abi.h>

UCX_BEGIN_DECLS

typedef struct ucx_config_table ucx_config_table_t;

/** Identifies one registered asynchronous handler or timer; 0 is none. */
typedef uint64_t ucx_async_id_t;

/** Called for a ready fd; `events` are UCS_EVENT_SET_EV* bits. */
typedef void (*ucx_async_fd_cb_t)(int fd, int events, void *arg);

/** Called when a timer fires. */
typedef void (*ucx_async_timer_cb_t)(void *arg);

/** Called from progress; returns the number of events that it completed. */
typedef unsigned (*ucx_progress_cb_t)(void *arg);

/** Called once from the next progress of a worker. */
typedef void (*ucx_oneshot_cb_t)(void *arg);


/* ------------------------------------------------------------------ */
/* Memory pools                                                       */

/** A free element of a pool. Its first word links to the next free one. */
typedef struct ucx_mpool_elem {
    struct ucx_mpool_elem *next;
} ucx_mpool_elem_t;

/**
 * Visible head of a memory pool of the host. A plugin accesses it only by the
 * inline functions below. A pool has no lock: only the thread of one worker may
 * use it.
 */
typedef struct ucx_mpool {
    ucx_mpool_elem_t *free_list;
} ucx_mpool_t;

typedef struct ucx_mpool_params {
    size_t size;              /**< sizeof(ucx_mpool_params_t) */
    const char *name;         /**< Name for leak reports; copied */
    size_t elem_size;         /**< Usable bytes of an element, at least
                               *   sizeof(void*) */
    size_t align_offset;      /**< Offset of the byte of an element whose
                               *   address is a multiple of `alignment`; any
                               *   from 0 to elem_size, odd ones too */
    size_t alignment;         /**< A power of two, at most 4096 */
    unsigned elems_per_chunk; /**< Elements added at a time; 0: the host
                               *   decides */
    unsigned max_elems;       /**< Maximum number of elements; UINT_MAX: no
                               *   limit */
    /** Allocate and free a chunk, a block of elems_per_chunk elements, from
     *  other memory than the heap, registered memory for example. Both NULL:
     *  the heap. chunk_alloc may enlarge *size. Called by the worker's thread;
     *  they may block as long as a registration takes. After an error of
     *  chunk_alloc, mpool_grow returns NULL. */
    ucs_status_t (*chunk_alloc)(void *arg, size_t *size, void **chunk_p);
    void (*chunk_free)(void *arg, void *chunk);
    /** Called once for each element of a new chunk, by the thread that added
     *  it; must not block. May be NULL. */
    void (*elem_init)(void *arg, void *elem, void *chunk);
    void *arg;
} ucx_mpool_params_t;


/* ------------------------------------------------------------------ */
/* Registration cache                                                 */

typedef struct ucx_rcache ucx_rcache_t;

/** Visible head of a cached region; the plugin's part follows it. */
typedef struct ucx_rcache_region {
    void *address;     /**< Start, a multiple of the alignment in
                        *   ucx_rcache_params_t */
    size_t length;     /**< Length in bytes */
    unsigned refcount; /**< Private to the host */
    unsigned flags;    /**< Private to the host */
} ucx_rcache_region_t;

typedef struct ucx_rcache_params {
    size_t size; /**< sizeof(ucx_rcache_params_t) */
    const char *name;
    size_t region_size; /**< sizeof the plugin's region, including this head */
    size_t alignment;   /**< Regions are extended to multiples of this */
    size_t max_regions; /**< Maximum number of cached regions; SIZE_MAX: no
                         *   limit */
    size_t max_bytes;   /**< Maximum sum of the lengths of cached regions in
                         *   bytes; SIZE_MAX: no limit */
    /** Register and deregister [region->address, +length). `flags` are those of
     *  rcache_get. Called without a lock held; they may block. mem_reg runs on
     *  the thread that calls rcache_get, which returns its errors. mem_dereg
     *  runs in a later call of the cache or on a service thread; the memory may
     *  be unmapped by then. */
    ucs_status_t (*mem_reg)(void *arg, ucx_rcache_region_t *region,
                            unsigned flags);
    void (*mem_dereg)(void *arg, ucx_rcache_region_t *region);
    void *arg;
} ucx_rcache_params_t;


/* ------------------------------------------------------------------ */
/* Memory events                                                      */

/** What happens to a range of the process's memory. */
typedef enum {
    UCX_MEM_EVENT_UNMAPPED = 1u << 0, /**< Pages are about to be unmapped */
    UCX_MEM_EVENT_MAPPED   = 1u << 1, /**< Pages were mapped */
} ucx_mem_event_t;

/** Called by any thread, within the call that maps or unmaps. It must not
 *  allocate, and must not take a lock that the plugin holds while it
 *  allocates. */
typedef void (*ucx_mem_event_cb_t)(ucx_mem_event_t event, void *address,
                                   size_t length, void *arg);


/* ------------------------------------------------------------------ */
/* Topology                                                           */

/** A PCI function, as in the sysfs name dddd:bb:ss.f */
typedef struct ucx_pci_address {
    uint16_t domain;
    uint8_t bus;
    uint8_t slot;
    uint8_t function;
} ucx_pci_address_t;

/** Cost of a transfer between two system devices. */
typedef struct ucx_sys_distance {
    double latency;   /**< Seconds */
    double bandwidth; /**< Bytes per second */
} ucx_sys_distance_t;

/** Properties of a memory range. */
typedef struct ucx_mem_info {
    size_t size; /**< sizeof(ucx_mem_info_t) */
    ucs_memory_type_t type;
    ucs_sys_device_t sys_dev; /**< Device of the memory;
                               *   UCS_SYS_DEVICE_ID_UNKNOWN if not known */
    void *base;               /**< Start of the allocation; of the queried
                               *   range, if the allocation is not known */
    size_t length;            /**< Length in bytes of the allocation, or of the
                               *   queried range */
} ucx_mem_info_t;


/* ------------------------------------------------------------------ */
/* Counters                                                           */

/** Counters of one object of a plugin, an interface for example. */
typedef struct ucx_counters_params {
    size_t size;                 /**< sizeof(ucx_counters_params_t) */
    const char *type;            /**< Kind of object; shorter than 24
                                  *   characters, and begins with the plugin's
                                  *   name */
    const char *name;            /**< Name of this object; at most 83 characters
                                  *   are shown */
    const char *const *counters; /**< num_counters names, each shorter than 40
                                  *   characters */
    unsigned num_counters;       /**< Number of counters, 1 to 64 */
} ucx_counters_params_t;


/* ------------------------------------------------------------------ */

/**
 * Table of services. New members are appended: before a plugin uses a slot that
 * an older host may lack, it checks UCX_TABLE_HAS.
 *
 * Unless a slot says otherwise, any thread may call it, it does not block for
 * long, and the host holds no lock when it calls a callback of the plugin.
 */
typedef struct ucx_host {
    size_t size;  /**< sizeof(ucx_host_t) in the host's version of the
                   *   headers */
    uint32_t abi; /**< Newest ABI version that the host supports */

    /* --- Logging ------------------------------------------------------- */
    /** Current log level; the macros of <ucx/log.h> do not call `log` for
     *  messages above it. */
    const int *log_level;
    /** Writes one line. `level` is a ucs_log_level_t; messages above *log_level
     *  are dropped. */
    void (*log)(int level, const char *file, int line, const char *format, ...)
        __attribute__((format(printf, 4, 5)));

    /* --- Memory pools --------------------------------------------------- */
    /** Creates a pool; `params` is copied. UCS_ERR_INVALID_PARAM for a bad size
     *  or alignment, UCS_ERR_NO_MEMORY. Worker's thread. */
    ucs_status_t (*mpool_create)(const ucx_mpool_params_t *params,
                                 ucx_mpool_t **mpool_p);
    /** Adds elements to an empty pool, removes one and returns it. Returns NULL
     *  when the limit is reached or memory is out. Worker's thread only. */
    void *(*mpool_grow)(ucx_mpool_t *mpool);
    /** Frees the pool and its elements; those still in use are reported as
     *  leaks. Worker's thread. */
    void (*mpool_destroy)(ucx_mpool_t *mpool);

    /* --- Registration cache --------------------------------------------- */
    /** Creates a registration cache. UCS_ERR_UNSUPPORTED: the host cannot
     *  intercept memory events; the plugin then registers without a cache. */
    ucs_status_t (*rcache_create)(const ucx_rcache_params_t *params,
                                  ucx_rcache_t **rcache_p);
    /** Returns a registration that covers [address, +length) and allows at
     *  least the accesses in `flags` (UCT_MD_MEM_ACCESS_*), from the cache or
     *  by mem_reg; may block as long as mem_reg does. The caller owns one
     *  reference until rcache_put. Errors of mem_reg are returned.
     *  UCS_ERR_INVALID_PARAM: `length` is 0 or the range wraps around.
     *  UCS_ERR_UNSUPPORTED in a forked child. */
    ucs_status_t (*rcache_get)(ucx_rcache_t *rcache, void *address,
                               size_t length, unsigned flags,
                               ucx_rcache_region_t **region_p);
    /** Releases one reference. A cached region stays cached until it is
     *  evicted, a larger region replaces it, or its memory is unmapped. */
    void (*rcache_put)(ucx_rcache_t *rcache, ucx_rcache_region_t *region);
    /** Deregisters everything; regions still in use are reported. No other call
     *  of this cache may run. */
    void (*rcache_destroy)(ucx_rcache_t *rcache);

    /* --- Asynchronous events and timers ---------------------------------- */
    /** Monitors `fd` for UCS_EVENT_SET_EV* `events`. The plugin keeps owning
     *  the fd and removes the handler before it closes it. The handler runs on
     *  a service thread, or in a call of the user if the worker's context is in
     *  poll mode, and holds the worker's asynchronous context: two handlers of
     *  one worker never run at once. It may run at the same time as sends and
     *  progress, so it must not access their state, unless <ucx/guard.h>
     *  excludes them; it passes work to them by progress_oneshot.
     *  UCS_ERR_ALREADY_EXISTS: the fd has a handler. UCS_ERR_NO_MEMORY. */
    ucs_status_t (*async_add_fd)(uct_worker_h worker, int fd, int events,
                                 ucx_async_fd_cb_t cb, void *arg,
                                 ucx_async_id_t *id_p);
    /** Replaces the events of a handler. UCS_ERR_NO_ELEM: unknown id. */
    ucs_status_t (*async_modify_fd)(ucx_async_id_t id, int events);
    /** Calls `cb` every `interval` seconds until the timer is removed;
     *  otherwise as async_add_fd. */
    ucs_status_t (*async_add_timer)(uct_worker_h worker, double interval,
                                    ucx_async_timer_cb_t cb, void *arg,
                                    ucx_async_id_t *id_p);
    /** Removes a handler or a timer. When the call returns, the handler does
     * not run and will not run again. A handler may remove itself. The call
     * waits for a running handler, so do not call it while holding a lock that
     * the handler takes. An unknown id is ignored. */
    void (*async_remove)(ucx_async_id_t id);

    /* --- Progress --------------------------------------------------------- */
    /** Calls `cb` from every progress of `worker` until it is removed. Worker's
     *  thread. Callbacks may add and remove callbacks. UCS_ERR_NO_MEMORY. */
    ucs_status_t (*progress_add)(uct_worker_h worker, ucx_progress_cb_t cb,
                                 void *arg, int *id_p);
    /** Removes a callback by its id. Worker's thread. */
    void (*progress_remove)(uct_worker_h worker, int id);
    /** Calls `cb` once from the next progress and wakes a waiting worker. Any
     *  thread. UCS_ERR_NO_MEMORY: the call was not queued. */
    ucs_status_t (*progress_oneshot)(uct_worker_h worker, ucx_oneshot_cb_t cb,
                                     void *arg);
    /** Removes all queued calls of progress_oneshot with this `cb` and `arg`.
     *  Any thread; if this is not the worker's thread, one of the calls may be
     *  running at this moment. */
    void (*progress_cancel)(uct_worker_h worker, ucx_oneshot_cb_t cb,
                            void *arg);

    /* --- Failures --------------------------------------------------------- */
    /** Reports to the user of `iface` that `ep` has failed. Worker's thread,
     *  from progress, once for an endpoint. Before this call, the plugin
     *  delivers the data that the peer sent before the failure. It completes
     *  all outstanding operations either before this call, or in pending_purge
     *  and flush. Returns UCS_OK if the user handled the failure. The user may
     *  destroy the endpoint inside the call. */
    ucs_status_t (*iface_ep_failed)(uct_iface_h iface, uct_ep_h ep,
                                    ucs_status_t status);
    /** Reports an event of the device to the user of `iface`. `flags` is the
     *  event, such as port up or down. Any thread. */
    void (*iface_async_event)(uct_iface_h iface, unsigned flags);

    /* --- Memory events ----------------------------------------------------- */
    /** Subscribes to UCX_MEM_EVENT_* `events`. UCS_ERR_UNSUPPORTED:
     *  interception is off. */
    ucs_status_t (*mem_event_subscribe)(unsigned events, ucx_mem_event_cb_t cb,
                                        void *arg);
    /** Ends a subscription. When it returns, the callback does not run. */
    void (*mem_event_unsubscribe)(ucx_mem_event_cb_t cb, void *arg);
    /** Announces device memory to memory type detection and to the caches.
     *  Called by a domain that allocates device memory or intercepts its
     *  allocator. */
    void (*mem_type_allocated)(void *address, size_t length,
                               ucs_memory_type_t type,
                               ucs_sys_device_t sys_dev);
    /** Withdraws the announcement of memory; called before the memory is
     *  freed. */
    void (*mem_type_released)(void *address, size_t length);

    /* --- Topology ------------------------------------------------------------ */
    /** Finds or adds the device of a PCI function. UCS_ERR_EXCEEDS_LIMIT: the
     *  table of devices is full. */
    ucs_status_t (*sys_device_by_pci)(const ucx_pci_address_t *pci,
                                      ucs_sys_device_t *sys_dev_p);
    /** Finds or adds the device of a sysfs path that leads to a PCI device,
     *  e.g. "/sys/class/net/eth0/device". UCS_ERR_NO_ELEM for a virtual
     *  device. */
    ucs_status_t (*sys_device_by_sysfs)(const char *path,
                                        ucs_sys_device_t *sys_dev_p);
    /** Sets the name of a device for listings, unless it has one. The string is
     *  copied. */
    ucs_status_t (*sys_device_set_name)(ucs_sys_device_t sys_dev,
                                        const char *name);
    /** Estimates the cost between two devices. With UCS_SYS_DEVICE_ID_UNKNOWN
     * it returns a default. UCS_ERR_NO_DEVICE: `a` or `b` is another id that
     * does not exist. */
    ucs_status_t (*sys_device_distance)(ucs_sys_device_t a, ucs_sys_device_t b,
                                        ucx_sys_distance_t *distance);
    /** Detects type and device of memory from announcements and by queries of
     *  the open domains. Reports host memory if no domain recognizes it. */
    ucs_status_t (*mem_detect)(const void *address, size_t length,
                               ucx_mem_info_t *info);

    /* --- Identity and time ----------------------------------------------------- */
    /** Identifies the running kernel: equal in all its processes, different on
     *  other kernels. */
    uint64_t (*machine_guid)(void);
    /** Monotonic clock, in seconds. */
    double (*time)(void);

    /* --- Since 1.1 ------------------------------------------------------------- */
    /** Creates counters with the value 0. The statistics that UCX_STATS enables
     *  contain them, also after counters_destroy. The strings are copied.
     *  Stores a pointer to the num_counters values, for ucx_counter_add().
     *  UCS_ERR_UNSUPPORTED: counting is disabled; UCS_ERR_NO_RESOURCE: no
     *  space; UCS_ERR_INVALID_PARAM. */
    ucs_status_t (*counters_create)(const ucx_counters_params_t *params,
                                    uint64_t **values_p);
    /** Destroys counters; their values are still shown. */
    void (*counters_destroy)(uint64_t *values);
    /** Number of units of ucs_time_t per second. Times in parameters of the UCT
     *  API have this unit. */
    double (*ticks_per_second)(void);
} ucx_host_t;

/** Creates counters as host->counters_create does. Returns NULL if this fails,
 *  also because counting is disabled or the host is of ABI 1.0. */
static inline uint64_t *ucx_counters_create(const ucx_host_t *host,
                                            const ucx_counters_params_t *params)
{
    uint64_t *values;

    return (UCX_TABLE_HAS(host, counters_create) &&
            (host->counters_create(params, &values) == UCS_OK)) ?
               values :
               NULL;
}

/** Destroys counters. Does nothing if `values` is NULL. */
static inline void ucx_counters_destroy(const ucx_host_t *host,
                                        uint64_t *values)
{
    if (values != NULL) {
        host->counters_destroy(values);
    }
}

/** Adds `amount` to a counter, which other threads or processes may read at the
 *  same time. One thread at a time may add. Does nothing if `values` is NULL.
 *  Hot path. */
static inline void ucx_counter_add(uint64_t *values, unsigned counter,
                                   uint64_t amount)
{
    if (__builtin_expect(values != NULL, 0)) {
        __atomic_store_n(&values[counter],
                         __atomic_load_n(&values[counter], __ATOMIC_RELAXED) +
                             amount,
                         __ATOMIC_RELAXED);
    }
}


/** Returns the free element that follows `elem` in the pool's list. `elem` may
 *  have an odd address, because align_offset may be odd. So memcpy() reads the
 *  link: a load through a pointer requires an aligned address. */
static inline ucx_mpool_elem_t *ucx_mpool_elem_next(const void *elem)
{
    ucx_mpool_elem_t *next;

    memcpy(&next, elem, sizeof(next));
    return next;
}

/** Returns a free element; NULL when the limit is reached or memory is out.
 *  Worker's thread. Hot path. */
static inline void *ucx_mpool_get(const ucx_host_t *host, ucx_mpool_t *mpool)
{
    ucx_mpool_elem_t *elem = mpool->free_list;

    if (__builtin_expect(elem == NULL, 0)) {
        return host->mpool_grow(mpool);
    }

    mpool->free_list = ucx_mpool_elem_next(elem);
    return elem;
}

/** Returns an element to its pool. Worker's thread. Hot path. */
static inline void ucx_mpool_put(ucx_mpool_t *mpool, void *obj)
{
    memcpy(obj, &mpool->free_list, sizeof(mpool->free_list));
    mpool->free_list = (ucx_mpool_elem_t *)obj;
}

UCX_END_DECLS

#endif
