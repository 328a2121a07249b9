/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells whether the dynamic loader would find a shared library, without loading
 * the library. The functions cover the places that the loader searches: folders
 * of LD_LIBRARY_PATH and of a run path, the loader's cache file
 * (/etc/ld.so.cache), and the default folders.
 */
#ifndef UCT_PLUGIN_LDCACHE_H
#define UCT_PLUGIN_LDCACHE_H

#include <stddef.h>

#include <ucs/type/status.h>

/* Copy of the cache file in memory. */
typedef struct uct_ldcache {
    char *data;  /* the file from its table of libraries on, followed by a 0
                  * byte; NULL if the file could not be opened or is too
                  * large */
    size_t size; /* bytes in `data` before the 0 byte; 0 if the file was not
                  * read or has no table in the supported format */
} uct_ldcache_t;

/* Reads the cache file `path`. A missing or damaged file is treated as an empty
 * cache. */
void uct_ldcache_open(uct_ldcache_t *cache, const char *path);
void uct_ldcache_close(uct_ldcache_t *cache);

/* Returns nonzero if the cache lists a library of this soname and the process
 * may read the library's file. */
int uct_ldcache_has(const uct_ldcache_t *cache, const char *soname);

/* Returns nonzero if one of the colon-separated folders in `path` contains a
 * readable file `soname`. $ORIGIN or ${ORIGIN} at the beginning of a folder is
 * replaced by `origin`. Empty folders are skipped. */
int uct_ldcache_in_path(const char *path, const char *origin,
                        const char *soname);

/* Returns nonzero if the library is in a folder that the loader searches for
 * the main program (which includes the default folders), or already loaded. */
int uct_ldcache_in_defaults(const char *soname);

#endif
