/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells whether the dynamic loader would find a shared library (ldcache.h). The
 * cache file /etc/ld.so.cache is read in the layout that ldconfig of the GNU C
 * library has written since 1999. Systems with another C library have no such
 * file; there, only the folders are searched.
 */
#include "uct/plugin/ldcache.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_SIZE_MAX (64u << 20) /* bytes; a larger file is not read */

/*
 * Layout of the cache:
 *
 *   +--------+-------+----------------+-----------------+
 *   | header | entry | entry ...      | strings, each   |
 *   | 48 B   | 24 B  |                | ending in a 0   |
 *   +--------+-------+----------------+-----------------+
 *   key and value of an entry are offsets from the header's start
 */
static const char cache_magic[] = "glibc-ld.so.cache1.1";

typedef struct cache_header {
    char magic[20];
    uint32_t num_entries;
    uint32_t strings_length;
    uint32_t reserved[5];
} cache_header_t;

typedef struct cache_entry {
    int32_t flags;
    uint32_t key;   /* offset of the soname */
    uint32_t value; /* offset of the library's path */
    uint32_t os_version;
    uint64_t hwcap;
} cache_entry_t;

_Static_assert(sizeof(cache_header_t) == 48, "as ldconfig writes it");
_Static_assert(sizeof(cache_entry_t) == 24, "as ldconfig writes it");

/* Returns the offset of the header in the file; it is not 0 if a table in an
 * older format precedes the header. Returns `size` if the file has no header in
 * the supported format. */
static size_t find_header(const char *data, size_t size)
{
    const char *p = memmem(data, size, cache_magic, sizeof(cache_magic) - 1);

    return (p == NULL) ? size : (size_t)(p - data);
}

void uct_ldcache_open(uct_ldcache_t *cache, const char *path)
{
    struct stat st;
    size_t start;
    int fd;

    cache->data = NULL;
    cache->size = 0;

    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return;
    }
    if ((fstat(fd, &st) == 0) && S_ISREG(st.st_mode) &&
        (st.st_size <= (off_t)CACHE_SIZE_MAX)) {
        cache->data = malloc((size_t)st.st_size + 1);
    }
    if (cache->data != NULL) {
        if (read(fd, cache->data, st.st_size) == st.st_size) {
            start       = find_header(cache->data, st.st_size);
            cache->size = st.st_size - start;
            memmove(cache->data, cache->data + start, cache->size);
        }
        cache->data[cache->size] = '\0'; /* so that a string at the end of a
                                          * damaged file is terminated, too */
    }
    close(fd);
}

void uct_ldcache_close(uct_ldcache_t *cache)
{
    free(cache->data);
    cache->data = NULL;
    cache->size = 0;
}

int uct_ldcache_has(const uct_ldcache_t *cache, const char *soname)
{
    cache_header_t header;
    cache_entry_t entry;
    uint32_t i;

    if (cache->size < sizeof(header)) {
        return 0;
    }
    memcpy(&header, cache->data, sizeof(header));
    if (header.num_entries > (cache->size - sizeof(header)) / sizeof(entry)) {
        return 0;
    }

    for (i = 0; i < header.num_entries; ++i) {
        memcpy(&entry, cache->data + sizeof(header) + i * sizeof(entry),
               sizeof(entry));
        if ((entry.key < cache->size) && (entry.value < cache->size) &&
            !strcmp(cache->data + entry.key, soname) &&
            (access(cache->data + entry.value, R_OK) == 0)) {
            return 1;
        }
    }
    return 0;
}

/* Writes FOLDER/`soname` to `buffer`, where FOLDER is the first `length` bytes
 * of `folder`, with $ORIGIN or ${ORIGIN} at its beginning replaced by `origin`.
 * Returns 0 if the path is too long. */
static int make_path(char *buffer, size_t size, const char *folder,
                     size_t length, const char *origin, const char *soname)
{
    static const char *const words[] = {"$ORIGIN", "${ORIGIN}"};
    const char *rest                 = folder;
    size_t i, skip = 0;
    int count;

    for (i = 0; i < 2; ++i) {
        skip = strlen(words[i]);
        if ((length >= skip) && !strncmp(folder, words[i], skip)) {
            break;
        }
    }
    if (i == 2) {
        origin = "";
        skip   = 0;
    }
    rest  = folder + skip;
    count = snprintf(buffer, size, "%s%.*s/%s", origin, (int)(length - skip),
                     rest, soname);
    return (count > 0) && ((size_t)count < size);
}

int uct_ldcache_in_path(const char *path, const char *origin,
                        const char *soname)
{
    char full[PATH_MAX];
    size_t length;

    for (; *path != '\0'; path += length + (path[length] == ':')) {
        length = strcspn(path, ":");
        if ((length > 0) &&
            make_path(full, sizeof(full), path, length, origin, soname) &&
            (access(full, R_OK) == 0)) {
            return 1;
        }
    }
    return 0;
}

/* For dl_iterate_phdr(), which stops at a nonzero result: returns whether a
 * loaded library may have the soname `arg`, because its file name begins with
 * the part of the soname before ".so". */
static int is_candidate(struct dl_phdr_info *info, size_t size, void *arg)
{
    const char *soname = arg;
    const char *end    = strstr(soname, ".so");
    const char *slash  = strrchr(info->dlpi_name, '/');
    const char *base   = (slash == NULL) ? info->dlpi_name : slash + 1;
    size_t length = (end == NULL) ? strlen(soname) : (size_t)(end - soname);

    return strncmp(base, soname, length) == 0;
}

/* Returns whether the library is loaded. dlopen() with RTLD_NOLOAD gives the
 * exact answer; but for a library that is not loaded, it searches all folders
 * and their subfolders for processor types, with about 100 system calls.
 * Therefore it is called only if a loaded library has a similar name. */
static int is_loaded(const char *soname)
{
    void *loaded;

    if (!dl_iterate_phdr(is_candidate, (void *)soname)) {
        return 0;
    }
    loaded = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD);
    if (loaded == NULL) {
        return 0;
    }
    dlclose(loaded);
    return 1;
}

int uct_ldcache_in_defaults(const char *soname)
{
    Dl_serinfo head, *info;
    int found = 0;
    unsigned i;
    void *self;

    self = dlopen(NULL, RTLD_LAZY);
    if (self == NULL) {
        return 0;
    }
    if (dlinfo(self, RTLD_DI_SERINFOSIZE, &head) == 0) {
        info = malloc(head.dls_size);
        if (info != NULL) {
            *info = head;
            if (dlinfo(self, RTLD_DI_SERINFO, info) == 0) {
                for (i = 0; !found && (i < info->dls_cnt); ++i) {
                    found = uct_ldcache_in_path(info->dls_serpath[i].dls_name,
                                                "", soname);
                }
            }
            free(info);
        }
    }
    dlclose(self);
    return found || is_loaded(soname);
}
