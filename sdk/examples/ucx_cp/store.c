/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing under a temporary name and committing atomically; see store.h. Names
 * are resolved beneath one open directory and never follow a link. */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(struct store *store, const char *what, const char *name,
                int error)
{
    snprintf(store->reason, sizeof(store->reason), "%s '%.200s': %s", what,
             name, strerror(error));
    return -1;
}

int store_open_dir(struct store *store, const char *path)
{
    *store     = (struct store){.file = -1};
    store->dir = open(path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
    if (store->dir < 0) {
        return fail(store, "cannot open the directory", path, errno);
    }
    return 0;
}

static bool exists(const struct store *store, const char *name)
{
    struct stat stat;

    return fstatat(store->dir, name, &stat, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Reserves space for the file, so that a full disk is found before the data is
 * transferred. Succeeds without a reservation if the file system cannot reserve
 * space. */
static int reserve(struct store *store, uint64_t size)
{
    if ((size == 0) || (fallocate(store->file, 0, 0, size) == 0) ||
        (errno == EOPNOTSUPP) || (errno == ENOSYS)) {
        return 0;
    }
    return fail(store, "cannot reserve space for", store->temporary, errno);
}

int store_begin(struct store *store, const char *name, uint64_t size,
                bool replace)
{
    char temporary[sizeof(store->temporary)];
    uint64_t random;

    if (!replace && exists(store, name)) {
        return fail(store, "will not replace (without --replace)", name,
                    EEXIST);
    }
    do {
        if (getrandom(&random, sizeof(random), 0) != sizeof(random)) {
            return fail(store, "no random numbers for", name, errno);
        }
        snprintf(temporary, sizeof(temporary), ".ucx_cp-%016llx.part",
                 (unsigned long long)random);
        store->file = openat(store->dir, temporary,
                             O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW |
                                 O_CLOEXEC,
                             0600);
    } while ((store->file < 0) && (errno == EEXIST));
    if (store->file < 0) {
        return fail(store, "cannot create", temporary, errno);
    }
    strcpy(store->temporary, temporary);
    return reserve(store, size);
}

int store_write(struct store *store, const void *data, size_t length,
                uint64_t offset)
{
    const char *next = data;
    ssize_t done;

    while (length > 0) {
        done = pwrite(store->file, next, length, offset);
        if (done < 0) {
            if (errno == EINTR) {
                continue;
            }
            return fail(store, "cannot write", store->temporary, errno);
        }
        next += done;
        offset += done;
        length -= done;
    }
    return 0;
}

/* Renames the temporary file to `name`. Without `replace`, fails if a file of
 * this name exists. */
static int put_name(struct store *store, const char *name, bool replace)
{
    if (replace) {
        return renameat(store->dir, store->temporary, store->dir, name);
    }
    if (renameat2(store->dir, store->temporary, store->dir, name,
                  RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if ((errno != EINVAL) && (errno != ENOSYS)) {
        return -1;
    }
    /* This file system lacks RENAME_NOREPLACE: use a hard link, which does not
     * replace a file either. */
    if (linkat(store->dir, store->temporary, store->dir, name, 0) != 0) {
        return -1;
    }
    unlinkat(store->dir, store->temporary, 0);
    return 0;
}

int store_commit(struct store *store, const char *name, uint32_t mode,
                 bool replace, bool sync)
{
    mode_t mask = umask(077);

    umask(mask);
    if (fchmod(store->file, mode & 0777 & ~mask) != 0) {
        return fail(store, "cannot set the permissions of", name, errno);
    }
    if (sync && (fsync(store->file) != 0)) {
        return fail(store, "cannot bring to the disk", name, errno);
    }
    if (put_name(store, name, replace) != 0) {
        return fail(store, "cannot give the file its name", name, errno);
    }
    store->temporary[0] = '\0';
    if (sync && (fsync(store->dir) != 0)) {
        return fail(store, "cannot bring to the disk the name", name, errno);
    }
    return 0;
}

void store_close(struct store *store)
{
    if (store->temporary[0] != '\0') {
        unlinkat(store->dir, store->temporary, 0);
        store->temporary[0] = '\0';
    }
    if (store->file >= 0) {
        close(store->file);
    }
    if (store->dir >= 0) {
        close(store->dir);
    }
}
