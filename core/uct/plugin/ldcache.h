/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds a shared library the way the dynamic loader would, without loading
 * it: LD_LIBRARY_PATH, a run path, the loader's cache, the usual folders.
 */
#ifndef UCT_PLUGIN_LDCACHE_H
#define UCT_PLUGIN_LDCACHE_H

#include <stddef.h>

#include <ucs/type/status.h>

typedef struct uct_ldcache {
    char *data; /* NULL: there is none */
    size_t size;
} uct_ldcache_t;

/* Reads the cache file; a missing or damaged one is an empty one. */
void uct_ldcache_open(uct_ldcache_t *cache, const char *path);
void uct_ldcache_close(uct_ldcache_t *cache);

/* Is a library of this soname in the cache, and its file still there? */
int uct_ldcache_has(const uct_ldcache_t *cache, const char *soname);

/* Is there `soname` in one of the colon-separated folders? $ORIGIN and
 * ${ORIGIN} stand for `origin`. */
int uct_ldcache_in_path(const char *path, const char *origin,
                        const char *soname);

/* Is it in a folder that the loader always looks at, or loaded already? */
int uct_ldcache_in_defaults(const char *soname);

#endif
