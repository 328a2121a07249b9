/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registration cache (<ucx/host.h> describes it for plugins): keeps memory
 * registered after its last use, for later use. Thread-safe; the plugin's
 * functions are called without the cache's lock.
 */
#ifndef UCT_BASE_RCACHE_H
#define UCT_BASE_RCACHE_H

#include <ucx/host.h>

/* Creates a cache that does not subscribe to memory events: the caller reports
 * unmapped memory by uct_rcache_invalidate(). */
ucs_status_t uct_rcache_create(const ucx_rcache_params_t *params,
                               ucx_rcache_t **rcache_p);

/* Creates a cache that learns of unmapped memory by memory events: the service
 * rcache_create of <ucx/host.h>. */
ucs_status_t uct_rcache_create_watched(const ucx_rcache_params_t *params,
                                       ucx_rcache_t **rcache_p);

/*
 * Returns a registration that covers [address, +length) with at least these
 * access flags, referenced until the put. Overlapping registrations are merged.
 * UCS_ERR_UNSUPPORTED in a child that was forked after the cache was created.
 */
ucs_status_t uct_rcache_get(ucx_rcache_t *rcache, void *address, size_t length,
                            unsigned flags, ucx_rcache_region_t **region_p);
void uct_rcache_put(ucx_rcache_t *rcache, ucx_rcache_region_t *region);

/* Reports that memory is unmapped: regions that overlap it are not returned
 * again, and are deregistered after their last put. */
void uct_rcache_invalidate(ucx_rcache_t *rcache, void *address, size_t length);

/* Returns the number of cached regions. */
size_t uct_rcache_num_regions(ucx_rcache_t *rcache);

/* Deregisters everything; regions in use are reported. A forked child
 * deregisters nothing, because the registrations belong to the parent. */
void uct_rcache_destroy(ucx_rcache_t *rcache);

#endif
