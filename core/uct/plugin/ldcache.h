/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds a shared library as the dynamic loader would, without loading it:
 * LD_LIBRARY_PATH, run path, the loader's cache, default folders.
 */
#ifndef UCT_PLUGIN_LDCACHE_H
#define UCT_PLUGIN_LDCACHE_H

#include <stddef.h>

#include <ucs/type/status.h>

typedef struct uct_ldcache {
    char *data; /* NULL: there is no cache */
    size_t size;
} uct_ldcache_t;

/* Reads the cache file. A missing or damaged file is treated as an empty
 * cache. */
void uct_ldcache_open(uct_ldcache_t *cache, const char *path);
void uct_ldcache_close(uct_ldcache_t *cache);

/* Returns whether the cache contains a library of this soname, and its file
 * exists. */
int uct_ldcache_has(const uct_ldcache_t *cache, const char *soname);

/* Returns whether one of the colon-separated folders contains `soname`. $ORIGIN
 * and ${ORIGIN} are replaced by `origin`. */
int uct_ldcache_in_path(const char *path, const char *origin,
                        const char *soname);

/* Returns whether the library is in a default folder of the loader, or already
 * loaded. */
int uct_ldcache_in_defaults(const char *soname);

#endif
