/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registration cache: keeps memory registered after its last use, for later
 * uses. The functions that register and deregister are those of the plugin that
 * owns the cache (ucx_rcache_params_t in <ucx/host.h>); they are called without
 * the lock of the cache. A region is a registered range of memory. Thread-safe.
 */
#ifndef UCT_BASE_RCACHE_H
#define UCT_BASE_RCACHE_H

#include <ucx/host.h>

/* Creates a cache that does not subscribe to memory events (mem_events.h): the
 * caller reports unmapped memory by uct_rcache_invalidate(). */
ucs_status_t uct_rcache_create(const ucx_rcache_params_t *params,
                               ucx_rcache_t **rcache_p);

/* Creates a cache that subscribes to memory events, so that unmapped memory is
 * reported. It is the service rcache_create of plugins (<ucx/host.h>). */
ucs_status_t uct_rcache_create_watched(const ucx_rcache_params_t *params,
                                       ucx_rcache_t **rcache_p);

/*
 * Returns a region that covers [address, +length) and has at least the access
 * flags `flags`. The reference keeps it registered until uct_rcache_put(). A
 * new region replaces the cached regions that overlap the range; it covers
 * their ranges too, unless their registration fails. UCS_ERR_UNSUPPORTED in a
 * child that was forked after the cache was created.
 */
ucs_status_t uct_rcache_get(ucx_rcache_t *rcache, void *address, size_t length,
                            unsigned flags, ucx_rcache_region_t **region_p);
void uct_rcache_put(ucx_rcache_t *rcache, ucx_rcache_region_t *region);

/* Called when memory was unmapped: regions that overlap it are not returned
 * again, and are deregistered when they are not referenced. */
void uct_rcache_invalidate(ucx_rcache_t *rcache, void *address, size_t length);

/* Returns the number of cached regions. */
size_t uct_rcache_num_regions(ucx_rcache_t *rcache);

/* Deregisters all regions and frees the cache. Warns if regions are still
 * referenced. In a forked child, deregisters nothing, because the registrations
 * belong to the parent. */
void uct_rcache_destroy(ucx_rcache_t *rcache);

#endif
