/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registration cache. Cached regions never overlap: a range that touches
 * several replaces them by one that covers all. They are found in a balanced
 * tree of the C library whose order calls two ranges equal if they overlap.
 *
 *   get: hit  --------------------------------------------> HELD, cached
 *   get: miss -> replaced ones become stale -> register --> HELD, cached
 *   put: last user -> cached: IDLE, in the order of use
 *                  -> stale:  deregistered
 *   too many or too large: the longest IDLE are deregistered
 */
#include "uct/base/rcache.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/datastruct/list.h"
#include "ucs/debug/log.h"
#include "ucs/sys/math.h"

enum {
    UCT_REGION_CACHED = 1u << 0  /* in the tree; otherwise stale */
};

/* A region with the cache's own part in front of what the plugin sees. */
typedef struct uct_region {
    uintptr_t           start;
    uintptr_t           end;
    unsigned            access;  /* what it was registered for */
    ucs_list_link_t     list;    /* in `idle`, `held` or a list of a call's */
    max_align_t         visible[]; /* ucx_rcache_region_t and the plugin's */
} uct_region_t;

struct ucx_rcache {
    ucx_rcache_params_t params;
    char                *name;
    pthread_mutex_t     lock;
    void                *tree;
    ucs_list_link_t     idle;    /* cached, the longest idle one first */
    ucs_list_link_t     held;    /* cached or stale */
    size_t              num_regions; /* cached ones */
    size_t              num_bytes;
};

static ucx_rcache_region_t *uct_region_visible(uct_region_t *region)
{
    return (ucx_rcache_region_t *)(void *)region->visible;
}

static uct_region_t *uct_region_of(ucx_rcache_region_t *visible)
{
    return ucs_container_of(visible, uct_region_t, visible);
}

static int uct_region_overlap(const void *a, const void *b)
{
    const uct_region_t *left = a, *right = b;

    return (left->end <= right->start) ? -1 : (left->start >= right->end);
}

/* Some cached region that overlaps [start, end), or NULL. */
static uct_region_t *
uct_rcache_find(const ucx_rcache_t *rcache, uintptr_t start, uintptr_t end)
{
    const uct_region_t key = {.start = start, .end = end};
    void *node             = tfind(&key, &rcache->tree, uct_region_overlap);

    return (node == NULL) ? NULL : *(uct_region_t **)node;
}

static void uct_region_free(ucx_rcache_t *rcache, uct_region_t *region)
{
    rcache->params.mem_dereg(rcache->params.arg, uct_region_visible(region));
    free(region);
}

/* Deregisters what a call has collected; the lock is not held. */
static void uct_regions_free(ucx_rcache_t *rcache, ucs_list_link_t *garbage)
{
    while (!ucs_list_is_empty(garbage)) {
        uct_region_free(rcache,
                        ucs_list_extract_head(garbage, uct_region_t, list));
    }
}

/* Out of the tree. If nobody holds it, it goes to `garbage`. */
static void uct_rcache_uncache(ucx_rcache_t *rcache, uct_region_t *region,
                               ucs_list_link_t *garbage)
{
    ucx_rcache_region_t *visible = uct_region_visible(region);

    tdelete(region, &rcache->tree, uct_region_overlap);
    visible->flags      &= ~UCT_REGION_CACHED;
    rcache->num_bytes   -= visible->length;
    rcache->num_regions -= 1;
    if (visible->refcount == 0) {
        ucs_list_del(&region->list);
        ucs_list_add_tail(garbage, &region->list);
    }
}

/* Makes room for `length` more bytes; false: those in use leave none. */
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

/* Puts a new region into the cache if nothing is in its way. */
static void uct_rcache_insert(ucx_rcache_t *rcache, uct_region_t *region,
                              ucs_list_link_t *garbage)
{
    ucx_rcache_region_t *visible = uct_region_visible(region);

    ucs_list_add_tail(&rcache->held, &region->list);
    if ((uct_rcache_find(rcache, region->start, region->end) != NULL) ||
        !uct_rcache_evict(rcache, visible->length, garbage) ||
        (tsearch(region, &rcache->tree, uct_region_overlap) == NULL)) {
        return; /* for this one user; deregistered by the put */
    }

    visible->flags      |= UCT_REGION_CACHED;
    rcache->num_bytes   += visible->length;
    rcache->num_regions += 1;
}

static void uct_region_hold(ucx_rcache_t *rcache, uct_region_t *region)
{
    ucx_rcache_region_t *visible = uct_region_visible(region);

    if (visible->refcount++ == 0) {
        ucs_list_del(&region->list);
        ucs_list_add_tail(&rcache->held, &region->list);
    }
}

/*
 * A cached region that will do, now held; or NULL with `wanted` widened to
 * cover those that it touches, which are taken out of the cache.
 */
static uct_region_t *uct_rcache_lookup(ucx_rcache_t *rcache,
                                       uct_region_t *wanted,
                                       ucs_list_link_t *garbage)
{
    uct_region_t *region;

    while ((region = uct_rcache_find(rcache, wanted->start, wanted->end)) !=
           NULL) {
        if ((region->start <= wanted->start) && (region->end >= wanted->end) &&
            ((region->access & wanted->access) == wanted->access)) {
            uct_region_hold(rcache, region);
            return region;
        }
        wanted->start   = ucs_min(wanted->start, region->start);
        wanted->end     = ucs_max(wanted->end, region->end);
        wanted->access |= region->access;
        uct_rcache_uncache(rcache, region, garbage);
    }
    return NULL;
}

/* Registers a region that nobody knows yet; the lock is not held. */
static ucs_status_t
uct_region_create(ucx_rcache_t *rcache, const uct_region_t *wanted,
                  uct_region_t **region_p)
{
    uct_region_t *region;
    ucx_rcache_region_t *visible;
    ucs_status_t status;

    region = calloc(1, sizeof(*region) + rcache->params.region_size);
    if (region == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    region->start     = wanted->start;
    region->end       = wanted->end;
    region->access    = wanted->access;
    visible           = uct_region_visible(region);
    visible->address  = (void *)wanted->start;
    visible->length   = wanted->end - wanted->start;
    visible->refcount = 1;
    status = rcache->params.mem_reg(rcache->params.arg, visible,
                                    wanted->access);
    if (status != UCS_OK) {
        free(region);
        return status;
    }

    *region_p = region;
    return UCS_OK;
}

static ucs_status_t
uct_rcache_get_slow(ucx_rcache_t *rcache, const uct_region_t *asked,
                    const uct_region_t *merged, ucx_rcache_region_t **region_p)
{
    UCS_LIST_HEAD(garbage);
    uct_region_t *region;
    ucs_status_t status;

    status = uct_region_create(rcache, merged, &region);
    if ((status != UCS_OK) &&
        ((merged->start != asked->start) || (merged->end != asked->end) ||
         (merged->access != asked->access))) {
        /* a part of the merged range may be gone or not allow the access */
        status = uct_region_create(rcache, asked, &region);
    }
    if (status != UCS_OK) {
        return status;
    }

    pthread_mutex_lock(&rcache->lock);
    uct_rcache_insert(rcache, region, &garbage);
    pthread_mutex_unlock(&rcache->lock);

    uct_regions_free(rcache, &garbage);
    *region_p = uct_region_visible(region);
    return UCS_OK;
}

ucs_status_t uct_rcache_get(ucx_rcache_t *rcache, void *address, size_t length,
                            unsigned flags, ucx_rcache_region_t **region_p)
{
    const size_t alignment = rcache->params.alignment;
    UCS_LIST_HEAD(garbage);
    uct_region_t *region;
    uct_region_t asked = {.access = flags};
    uct_region_t merged;
    uintptr_t end;

    if ((length == 0) ||
        __builtin_add_overflow((uintptr_t)address, length, &end) ||
        (end > UINTPTR_MAX - (alignment - 1))) {
        return UCS_ERR_INVALID_PARAM;
    }

    asked.start = ucs_align_down_pow2((uintptr_t)address, alignment);
    asked.end   = ucs_align_up_pow2(end, alignment);
    memcpy(&merged, &asked, sizeof(merged));

    pthread_mutex_lock(&rcache->lock);
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
    int is_garbage       = 0;

    pthread_mutex_lock(&rcache->lock);
    if (--visible->refcount == 0) {
        ucs_list_del(&region->list);
        is_garbage = !(visible->flags & UCT_REGION_CACHED);
        if (!is_garbage) {
            ucs_list_add_tail(&rcache->idle, &region->list);
        }
    }
    pthread_mutex_unlock(&rcache->lock);

    if (is_garbage) {
        uct_region_free(rcache, region);
    }
}

void
uct_rcache_invalidate(ucx_rcache_t *rcache, void *address, size_t length)
{
    const uintptr_t start = (uintptr_t)address;
    UCS_LIST_HEAD(garbage);
    uct_region_t *region;
    uintptr_t end;

    if (__builtin_add_overflow(start, length, &end)) {
        end = UINTPTR_MAX;
    }

    pthread_mutex_lock(&rcache->lock);
    while ((start < end) &&
           ((region = uct_rcache_find(rcache, start, end)) != NULL)) {
        uct_rcache_uncache(rcache, region, &garbage);
    }
    pthread_mutex_unlock(&rcache->lock);

    uct_regions_free(rcache, &garbage);
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
    *rcache_p = rcache;
    return UCS_OK;
}

void uct_rcache_destroy(ucx_rcache_t *rcache)
{
    unsigned long num_held = ucs_list_length(&rcache->held);
    uct_region_t *region;

    if (num_held > 0) {
        ucs_warn("registration cache %s: %lu regions are still in use",
                 rcache->name, num_held);
    }

    while (rcache->tree != NULL) {
        region = *(uct_region_t **)rcache->tree;
        tdelete(region, &rcache->tree, uct_region_overlap);
    }
    uct_regions_free(rcache, &rcache->idle);
    uct_regions_free(rcache, &rcache->held);
    pthread_mutex_destroy(&rcache->lock);
    free(rcache->name);
    free(rcache);
}
