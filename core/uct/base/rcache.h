/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registration cache: keeps memory registered after its user is done with it,
 * because it will be used again. Safe for threads; callbacks run unlocked.
 */
#ifndef UCT_BASE_RCACHE_H
#define UCT_BASE_RCACHE_H

#include <ucx/host.h>

/* A cache that hears of unmapped memory by uct_rcache_invalidate() only. */
ucs_status_t uct_rcache_create(const ucx_rcache_params_t *params,
                               ucx_rcache_t **rcache_p);

/* The same with memory events: rcache_create of <ucx/host.h>. */
ucs_status_t uct_rcache_create_watched(const ucx_rcache_params_t *params,
                                       ucx_rcache_t **rcache_p);

/*
 * A registration that covers [address, +length) with these access flags (or
 * more), held until the put. Overlapping ones are merged into one. In a child
 * that was forked since the cache was made: UCS_ERR_UNSUPPORTED.
 */
ucs_status_t uct_rcache_get(ucx_rcache_t *rcache, void *address, size_t length,
                            unsigned flags, ucx_rcache_region_t **region_p);
void uct_rcache_put(ucx_rcache_t *rcache, ucx_rcache_region_t *region);

/* The memory is gone: whatever covers a byte of it is not handed out again,
 * and deregistered when nobody holds it. */
void
uct_rcache_invalidate(ucx_rcache_t *rcache, void *address, size_t length);

/* Regions that are cached now. */
size_t uct_rcache_num_regions(ucx_rcache_t *rcache);

/* Everything is deregistered; regions that are still held are reported. In a
 * forked child nothing is deregistered: it is the parent's. */
void uct_rcache_destroy(ucx_rcache_t *rcache);

#endif
