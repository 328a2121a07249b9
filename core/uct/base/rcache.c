/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registration cache. Cached regions never overlap: a request for a range
 * that overlaps several regions replaces them by one region that covers all. A
 * region is HELD while a user has a reference to it, otherwise IDLE. It is
 * cached if it is in the tree, so that later requests find it, otherwise stale.
 *
 *   get: found ---------------------------------------------> HELD, cached
 *   get: not found -> overlapping ones stale -> register ---> HELD, cached
 *   put: last reference -> cached: IDLE
 *                       -> stale: deregistered
 *   limit exceeded: the least recently used IDLE regions are deregistered
 *   memory unmapped: stale, including regions that are being registered
 *
 * Memory events arrive inside munmap() or free() of any thread. Therefore
 * nothing is allocated, freed or deregistered under the lock, or by the event:
 * regions to deregister are put on a list (garbage). The next get or put
 * deregisters them, or the service thread of ucs/async if the list is long.
 */
#include "uct/base/rcache.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ucs/async/async.h"
#include "ucs/datastruct/list.h"
#include "ucs/debug/log.h"
#include "ucs/sys/math.h"
#include "uct/base/mem_events.h"
#include "uct/base/region_tree.h"

/* Bits of ucx_rcache_region_t::flags. */
enum {
    /* it is in the tree of cached regions */
    UCT_REGION_CACHED = 1u << 0,
    /* its memory was unmapped while it was being registered */
    UCT_REGION_STALE  = 1u << 1,
};

/* Number of regions in the list `garbage` above which the service thread
 * deregisters them, without waiting for the next get or put. */
#define UCT_RCACHE_MAX_GARBAGE 1024

/* A region: the part of the cache, then the part that the plugin sees. */
typedef struct uct_region {
    uct_region_node_t node; /* address range; in the tree if cached */
    unsigned access;        /* access flags of the registration */
    ucs_list_link_t list;   /* link in one of the lists of ucx_rcache, or in a
                             * list on the stack of a function */
    max_align_t visible[];  /* ucx_rcache_region_t, then the plugin's data */
} uct_region_t;

/* A requested range. */
typedef struct uct_range {
    uintptr_t start;
    uintptr_t end;   /* after the last byte */
    unsigned access; /* access flags */
} uct_range_t;

struct ucx_rcache {
    ucx_rcache_params_t params; /* as passed by the plugin; the limits may be
                                 * lowered by the configuration */
    char *name;                 /* for messages */
    unsigned generation;        /* uct_fork_generation() when the cache was
                                 * created */
    int is_watched;             /* subscribed to memory events */
    int wake_fd;                /* eventfd that wakes the service thread to
                                 * deregister garbage; -1: none */
    size_t max_unreleased;      /* garbage_bytes above which the service thread
                                 * is woken */

    pthread_mutex_t lock;    /* protects the members below */
    uct_region_tree_t tree;  /* cached regions by their address */
    ucs_list_link_t idle;    /* cached regions without references, least
                              * recently used first */
    ucs_list_link_t held;    /* referenced regions, cached or stale */
    ucs_list_link_t pending; /* regions that are being registered */
    ucs_list_link_t garbage; /* regions to deregister: they had no references
                              * when their memory was unmapped */
    size_t garbage_count;    /* number of regions in that list */
    size_t garbage_bytes;    /* their total length */
    size_t num_regions;      /* number of cached regions */
    size_t num_bytes;        /* their total length */
};

static ucx_rcache_region_t *uct_region_visible(uct_region_t *region)
{
    return (ucx_rcache_region_t *)(void *)region->visible;
}

static uct_region_t *uct_region_of(ucx_rcache_region_t *visible)
{
    return ucs_container_of(visible, uct_region_t, visible);
}

/* Returns a cached region that overlaps [start, end), or NULL. */
static uct_region_t *uct_rcache_find(const ucx_rcache_t *rcache,
                                     uintptr_t start, uintptr_t end)
{
    uct_region_node_t *node = uct_region_tree_find(&rcache->tree, start, end);

    return (node == NULL) ? NULL : ucs_container_of(node, uct_region_t, node);
}

static void uct_region_free(ucx_rcache_t *rcache, uct_region_t *region)
{
    rcache->params.mem_dereg(rcache->params.arg, uct_region_visible(region));
    free(region);
}

/* Deregisters the regions of a list. The caller does not hold the lock. */
static void uct_regions_free(ucx_rcache_t *rcache, ucs_list_link_t *garbage)
{
    while (!ucs_list_is_empty(garbage)) {
        uct_region_free(rcache,
                        ucs_list_extract_head(garbage, uct_region_t, list));
    }
}

/* Removes a region from the tree. If it has no references, moves it to
 * `garbage`, a list of regions that the caller must deregister after it has
 * released the lock. The caller holds the lock. */
static void uct_rcache_uncache(ucx_rcache_t *rcache, uct_region_t *region,
                               ucs_list_link_t *garbage)
{
    ucx_rcache_region_t *visible = uct_region_visible(region);

    uct_region_tree_remove(&rcache->tree, &region->node);
    visible->flags &= ~UCT_REGION_CACHED;
    rcache->num_bytes -= visible->length;
    rcache->num_regions -= 1;
    if (visible->refcount == 0) {
        ucs_list_del(&region->list);
        ucs_list_add_tail(garbage, &region->list);
    }
}

/* Removes regions without references from the cache, until a region of `length`
 * bytes fits within its limits. Moves them to `garbage`. Returns 0 if the
 * region does not fit even then. The caller holds the lock. */
static int uct_rcache_evict(ucx_rcache_t *rcache, size_t length,
                            ucs_list_link_t *garbage)
{
    const ucx_rcache_params_t *params = &rcache->params;

    if (length > params->max_bytes) {
        return 0;
    }

    while ((rcache->num_regions >= params->max_regions) ||
           (rcache->num_bytes > params->max_bytes - length)) {
        if (ucs_list_is_empty(&rcache->idle)) {
            return 0;
        }
        uct_rcache_uncache(rcache,
                           ucs_list_head(&rcache->idle, uct_region_t, list),
                           garbage);
    }
    return 1;
}

/* Moves the regions in rcache->garbage to the caller's list. The caller
 * deregisters them after it has released the lock. */
static void uct_rcache_take_garbage(ucx_rcache_t *rcache,
                                    ucs_list_link_t *garbage)
{
    while (ucs_unlikely(!ucs_list_is_empty(&rcache->garbage))) {
        uct_region_t *region = ucs_list_extract_head(&rcache->garbage,
                                                     uct_region_t, list);

        ucs_list_add_tail(garbage, &region->list);
    }
    rcache->garbage_count = 0;
    rcache->garbage_bytes = 0;
}

/* Adds a new region to the held ones. Puts it into the tree too, unless its
 * memory was unmapped, it overlaps a cached region, or it does not fit within
 * the limits. The caller holds the lock. */
static void uct_rcache_insert(ucx_rcache_t *rcache, uct_region_t *region,
                              ucs_list_link_t *garbage)
{
    ucx_rcache_region_t *visible = uct_region_visible(region);

    ucs_list_add_tail(&rcache->held, &region->list);
    if ((visible->flags & UCT_REGION_STALE) ||
        (uct_rcache_find(rcache, region->node.start, region->node.end) !=
         NULL) ||
        !uct_rcache_evict(rcache, visible->length, garbage)) {
        return; /* not in the tree: uct_rcache_put() deregisters the region when
                 * its last reference is released */
    }

    uct_region_tree_insert(&rcache->tree, &region->node);
    visible->flags |= UCT_REGION_CACHED;
    rcache->num_bytes += visible->length;
    rcache->num_regions += 1;
}

/* Adds a reference to a region. The caller holds the lock. */
static void uct_region_hold(ucx_rcache_t *rcache, uct_region_t *region)
{
    ucx_rcache_region_t *visible = uct_region_visible(region);

    if (visible->refcount++ == 0) {
        ucs_list_del(&region->list);
        ucs_list_add_tail(&rcache->held, &region->list);
    }
}

/*
 * Returns a cached region that covers `wanted`, with a new reference. If there
 * is none, returns NULL, removes the overlapping regions from the tree, and
 * extends `wanted` to cover them. The caller holds the lock.
 */
static uct_region_t *uct_rcache_lookup(ucx_rcache_t *rcache,
                                       uct_range_t *wanted,
                                       ucs_list_link_t *garbage)
{
    uct_region_t *region;

    while ((region = uct_rcache_find(rcache, wanted->start, wanted->end)) !=
           NULL) {
        const uct_region_node_t *node = &region->node;

        if ((node->start <= wanted->start) && (node->end >= wanted->end) &&
            ((region->access & wanted->access) == wanted->access)) {
            uct_region_hold(rcache, region);
            return region;
        }
        wanted->start = ucs_min(wanted->start, node->start);
        wanted->end   = ucs_max(wanted->end, node->end);
        wanted->access |= region->access;
        uct_rcache_uncache(rcache, region, garbage);
    }
    return NULL;
}

/* Registers a region, which has one reference then. The region is in the
 * pending list during the registration and after success. The caller does not
 * hold the lock. */
static ucs_status_t uct_region_create(ucx_rcache_t *rcache,
                                      const uct_range_t *wanted,
                                      uct_region_t **region_p)
{
    uct_region_t *region;
    ucx_rcache_region_t *visible;
    ucs_status_t status;

    region = calloc(1, sizeof(*region) + rcache->params.region_size);
    if (region == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    region->node.start = wanted->start;
    region->node.end   = wanted->end;
    region->access     = wanted->access;
    visible            = uct_region_visible(region);
    visible->address   = (void *)wanted->start;
    visible->length    = wanted->end - wanted->start;
    visible->refcount  = 1;

    pthread_mutex_lock(&rcache->lock);
    ucs_list_add_tail(&rcache->pending, &region->list);
    pthread_mutex_unlock(&rcache->lock);

    status = rcache->params.mem_reg(rcache->params.arg, visible,
                                    wanted->access);
    if (status != UCS_OK) {
        pthread_mutex_lock(&rcache->lock);
        ucs_list_del(&region->list);
        pthread_mutex_unlock(&rcache->lock);
        free(region);
        return status;
    }

    *region_p = region;
    return UCS_OK;
}

/* Registers a region for uct_rcache_get(): first for `merged`, the requested
 * range extended to the regions that it replaces, then for `asked`, the range
 * alone. */
static ucs_status_t uct_rcache_get_slow(ucx_rcache_t *rcache,
                                        const uct_range_t *asked,
                                        const uct_range_t *merged,
                                        ucx_rcache_region_t **region_p)
{
    UCS_LIST_HEAD(garbage);
    uct_region_t *region;
    ucs_status_t status;

    status = uct_region_create(rcache, merged, &region);
    if ((status != UCS_OK) &&
        ((merged->start != asked->start) || (merged->end != asked->end) ||
         (merged->access != asked->access))) {
        /* A part of the larger range may be unmapped, or may not permit the
         * access. */
        status = uct_region_create(rcache, asked, &region);
    }
    if (status != UCS_OK) {
        return status;
    }

    pthread_mutex_lock(&rcache->lock);
    ucs_list_del(&region->list);
    uct_rcache_insert(rcache, region, &garbage);
    pthread_mutex_unlock(&rcache->lock);

    uct_regions_free(rcache, &garbage);
    *region_p = uct_region_visible(region);
    return UCS_OK;
}

/* Returns whether the cache was created by an ancestor of this process, before
 * a fork. Then the lock and the lists must not be used: another thread of the
 * ancestor may have been changing them at the fork. */
static int uct_rcache_is_inherited(const ucx_rcache_t *rcache)
{
    return rcache->generation != uct_fork_generation();
}

ucs_status_t uct_rcache_get(ucx_rcache_t *rcache, void *address, size_t length,
                            unsigned flags, ucx_rcache_region_t **region_p)
{
    const size_t alignment = rcache->params.alignment;
    UCS_LIST_HEAD(garbage);
    uct_region_t *region;
    uct_range_t asked = {.access = flags};
    uct_range_t merged;
    uintptr_t end;

    if (ucs_unlikely(uct_rcache_is_inherited(rcache))) {
        return UCS_ERR_UNSUPPORTED;
    }
    if ((length == 0) ||
        __builtin_add_overflow((uintptr_t)address, length, &end) ||
        (end > UINTPTR_MAX - (alignment - 1))) {
        return UCS_ERR_INVALID_PARAM;
    }

    asked.start = ucs_align_down_pow2((uintptr_t)address, alignment);
    asked.end   = ucs_align_up_pow2(end, alignment);
    merged      = asked;

    pthread_mutex_lock(&rcache->lock);
    uct_rcache_take_garbage(rcache, &garbage);
    region = uct_rcache_lookup(rcache, &merged, &garbage);
    pthread_mutex_unlock(&rcache->lock);

    uct_regions_free(rcache, &garbage);
    if (region != NULL) {
        *region_p = uct_region_visible(region);
        return UCS_OK;
    }

    return uct_rcache_get_slow(rcache, &asked, &merged, region_p);
}

void uct_rcache_put(ucx_rcache_t *rcache, ucx_rcache_region_t *visible)
{
    uct_region_t *region = uct_region_of(visible);
    UCS_LIST_HEAD(garbage);

    if (ucs_unlikely(uct_rcache_is_inherited(rcache))) {
        return;
    }

    pthread_mutex_lock(&rcache->lock);
    uct_rcache_take_garbage(rcache, &garbage);
    if (--visible->refcount == 0) {
        ucs_list_del(&region->list);
        ucs_list_add_tail((visible->flags & UCT_REGION_CACHED) ? &rcache->idle :
                                                                 &garbage,
                          &region->list);
    }
    pthread_mutex_unlock(&rcache->lock);

    uct_regions_free(rcache, &garbage);
}

/* Removes the regions that overlap the range from the tree, and moves those
 * without references to rcache->garbage. Returns whether that list is so long
 * that it must be deregistered without waiting for the next get or put. */
static int uct_rcache_drop(ucx_rcache_t *rcache, uintptr_t start, uintptr_t end)
{
    UCS_LIST_HEAD(garbage);
    uct_region_t *region;
    int is_much;

    pthread_mutex_lock(&rcache->lock);
    while ((start < end) &&
           ((region = uct_rcache_find(rcache, start, end)) != NULL)) {
        uct_rcache_uncache(rcache, region, &garbage);
    }
    ucs_list_for_each(region, &rcache->pending, list) {
        if ((region->node.start < end) && (start < region->node.end)) {
            uct_region_visible(region)->flags |= UCT_REGION_STALE;
        }
    }
    while (!ucs_list_is_empty(&garbage)) {
        region = ucs_list_extract_head(&garbage, uct_region_t, list);
        ucs_list_add_tail(&rcache->garbage, &region->list);
        rcache->garbage_bytes += uct_region_visible(region)->length;
        ++rcache->garbage_count;
    }
    is_much = (rcache->garbage_count > UCT_RCACHE_MAX_GARBAGE) ||
              (rcache->garbage_bytes > rcache->max_unreleased);
    pthread_mutex_unlock(&rcache->lock);
    return is_much;
}

static void uct_rcache_release_garbage(ucx_rcache_t *rcache)
{
    UCS_LIST_HEAD(garbage);

    pthread_mutex_lock(&rcache->lock);
    uct_rcache_take_garbage(rcache, &garbage);
    pthread_mutex_unlock(&rcache->lock);
    uct_regions_free(rcache, &garbage);
}

void uct_rcache_invalidate(ucx_rcache_t *rcache, void *address, size_t length)
{
    const uintptr_t start = (uintptr_t)address;
    uintptr_t end;

    if (__builtin_add_overflow(start, length, &end)) {
        end = UINTPTR_MAX;
    }
    (void)uct_rcache_drop(rcache, start, end);
    uct_rcache_release_garbage(rcache);
}

size_t uct_rcache_num_regions(ucx_rcache_t *rcache)
{
    size_t count;

    pthread_mutex_lock(&rcache->lock);
    count = rcache->num_regions;
    pthread_mutex_unlock(&rcache->lock);
    return count;
}

ucs_status_t uct_rcache_create(const ucx_rcache_params_t *params,
                               ucx_rcache_t **rcache_p)
{
    ucx_rcache_t *rcache;

    if ((params == NULL) || (rcache_p == NULL) || !UCX_TABLE_HAS(params, arg) ||
        (params->mem_reg == NULL) || (params->mem_dereg == NULL) ||
        (params->region_size < sizeof(ucx_rcache_region_t)) ||
        !ucs_is_pow2(params->alignment)) {
        return UCS_ERR_INVALID_PARAM;
    }

    rcache = calloc(1, sizeof(*rcache));
    if (rcache == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    memcpy(&rcache->params, params,
           ucs_min(params->size, sizeof(rcache->params)));
    rcache->name = strdup((params->name == NULL) ? "plugin" : params->name);
    if (rcache->name == NULL) {
        free(rcache);
        return UCS_ERR_NO_MEMORY;
    }

    pthread_mutex_init(&rcache->lock, NULL);
    ucs_list_head_init(&rcache->idle);
    ucs_list_head_init(&rcache->held);
    ucs_list_head_init(&rcache->pending);
    ucs_list_head_init(&rcache->garbage);
    rcache->wake_fd        = -1;
    rcache->max_unreleased = SIZE_MAX;
    rcache->generation     = uct_fork_generation();
    *rcache_p              = rcache;
    return UCS_OK;
}

static void uct_rcache_unwatch(ucx_rcache_t *rcache);

void uct_rcache_destroy(ucx_rcache_t *rcache)
{
    unsigned long num_held;

    uct_rcache_unwatch(rcache);
    if (!uct_rcache_is_inherited(rcache)) {
        num_held = ucs_list_length(&rcache->held);
        if (num_held > 0) {
            ucs_warn("registration cache %s: %lu regions are still in use",
                     rcache->name, num_held);
        }
        uct_regions_free(rcache, &rcache->garbage);
        uct_regions_free(rcache, &rcache->idle);
        uct_regions_free(rcache, &rcache->held);
        pthread_mutex_destroy(&rcache->lock);
    }
    free(rcache->name);
    free(rcache);
}

/* --- Memory events ------------------------------------------------------- */

/*
 * Handler of memory events: handles unmapped memory. Runs inside the call that
 * unmaps, in any thread, also in a thread that is exiting and has destroyed its
 * thread-local data. Therefore it is short and allocates nothing.
 */
static void uct_rcache_event(ucm_event_type_t type, ucm_event_t *event,
                             void *arg)
{
    const uint64_t one   = 1;
    ucx_rcache_t *rcache = arg;
    uintptr_t start      = (uintptr_t)event->vm_unmapped.address;
    uintptr_t end        = start + event->vm_unmapped.size;

    /* event->mem_type begins with the same members as event->vm_unmapped */
    if (!uct_rcache_is_inherited(rcache) &&
        uct_rcache_drop(rcache, start, (end < start) ? UINTPTR_MAX : end) &&
        /* write() is a cancellation point; syscall() is not */
        (syscall(SYS_write, rcache->wake_fd, &one, sizeof(one)) < 0)) {
        return; /* the counter of the eventfd is at its maximum: earlier writes
                 * have already woken the service thread */
    }
}

/* Deregisters the garbage. Runs in the service thread. */
static void uct_rcache_wakeup(int fd, ucs_event_set_types_t events, void *arg)
{
    uint64_t count;

    if (read(fd, &count, sizeof(count)) > 0) {
        uct_rcache_release_garbage(arg);
    }
}

static void uct_rcache_unwatch(ucx_rcache_t *rcache)
{
    if (rcache->is_watched) {
        ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED | UCM_EVENT_MEM_TYPE_FREE,
                                uct_rcache_event, rcache);
    }
    if (rcache->wake_fd >= 0) {
        if (!uct_rcache_is_inherited(rcache)) {
            (void)ucs_async_remove_handler(rcache->wake_fd, 1);
        }
        close(rcache->wake_fd);
    }
}

static ucs_status_t uct_rcache_watch(ucx_rcache_t *rcache,
                                     const uct_rcache_options_t *options)
{
    ucs_status_t status;
    int fd;

    fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (fd < 0) {
        ucs_error("registration cache %s: eventfd failed: %m", rcache->name);
        return UCS_ERR_IO_ERROR;
    }

    status = ucs_async_set_event_handler(UCS_ASYNC_MODE_THREAD, fd,
                                         UCS_EVENT_SET_EVREAD,
                                         uct_rcache_wakeup, rcache, NULL);
    if (status != UCS_OK) {
        close(fd);
        return status;
    }

    rcache->wake_fd = fd;
    status = uct_mem_events_set(UCM_EVENT_VM_UNMAPPED | UCM_EVENT_MEM_TYPE_FREE,
                                (int)ucs_min(options->mem_prio,
                                             (unsigned)INT_MAX),
                                uct_rcache_event, rcache);
    rcache->is_watched = (status == UCS_OK);
    return status;
}

ucs_status_t uct_rcache_create_watched(const ucx_rcache_params_t *params,
                                       ucx_rcache_t **rcache_p)
{
    uct_rcache_options_t options;
    ucx_rcache_t *rcache;
    ucs_status_t status;

    status = uct_rcache_create(params, &rcache);
    if (status != UCS_OK) {
        return status;
    }

    uct_rcache_options_read(&options);
    if (options.enable == UCS_NO) {
        status = UCS_ERR_UNSUPPORTED;
        goto err;
    }

    rcache->params.max_regions = ucs_min(rcache->params.max_regions,
                                         options.max_regions);
    rcache->params.max_bytes   = ucs_min(rcache->params.max_bytes,
                                         options.max_size);
    rcache->max_unreleased     = options.max_unreleased;
    status                     = uct_rcache_watch(rcache, &options);
    if (status != UCS_OK) {
        ucs_log((options.enable == UCS_YES) ? UCS_LOG_LEVEL_WARN :
                                              UCS_LOG_LEVEL_DIAG,
                "registration cache %s: unmapped memory cannot be detected "
                "(%s), so memory is registered for each use; see "
                "UCX_MEM_EVENTS and UCX_MEM_LOG_LEVEL=diag",
                rcache->name, ucs_status_string(status));
        status = UCS_ERR_UNSUPPORTED;
        goto err;
    }

    *rcache_p = rcache;
    return UCS_OK;

err:
    uct_rcache_destroy(rcache);
    return status;
}
