/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments that are files in a folder: their names, and removal of stale ones.
 *
 * A name contains the segment's random token. A file belongs to the process
 * that holds its lock 0. If no process holds it, the file is stale. A process
 * that searches for stale files takes the lock before it removes one, so that
 * it does not remove the file of a live process. A file whose creator has not
 * taken the lock yet may be removed; the creator then tries again.
 */
#include "kind.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX     "ucx-shm-"
#define FIFO_END   ".event"
#define HEX_LENGTH (2 * SHM_TOKEN_LENGTH)
#define TRIES      4

int shm_name_path(const shm_space_t *space, const uint8_t *token, int fifo,
                  char *path, size_t size)
{
    char hex[HEX_LENGTH + 1];
    int length;

    for (int i = 0; i < SHM_TOKEN_LENGTH; ++i) {
        snprintf(hex + 2 * i, 3, "%02x", token[i]);
    }
    length = snprintf(path, size, "%s/" PREFIX "%s%s", space->dir, hex,
                      fifo ? FIFO_END : "");
    return (length > 0) && ((size_t)length < size);
}

static int take_lock_0(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

    return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

/* Creates the FIFO of a named segment, which replaces the pipe that
 * shm_event_make() has created. */
static int make_fifo(shm_seg_t *seg)
{
    char path[SHM_PATH_MAX];
    struct stat st;
    int fd;

    if (!shm_name_path(seg->space, seg->token, 1, path, sizeof(path)) ||
        (mkfifo(path, 0600) != 0)) {
        return -1;
    }
    fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if ((fd < 0) || (fstat(fd, &st) != 0)) {
        goto err;
    }

    shm_event_close(seg);
    seg->event_rd  = fd;
    seg->event_fd  = fd;
    seg->event_ino = st.st_ino;
    return 0;

err:
    if (fd >= 0) {
        close(fd);
    }
    unlink(path);
    return -1;
}

int shm_name_make(shm_seg_t *seg)
{
    char path[SHM_PATH_MAX];
    struct stat st;
    int fd, error;

    if (shm_seg_new_token(seg) != UCS_OK) {
        return -1;
    }
    if (!shm_name_path(seg->space, seg->token, 0, path, sizeof(path))) {
        errno = ENAMETOOLONG;
        return -1;
    }

    for (int i = 0; i < TRIES; ++i) {
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  0600);
        if (fd < 0) {
            return -1;
        }
        /* Between open() and this lock another process may have removed the
         * file as stale: then try again */
        if (take_lock_0(fd) && (fstat(fd, &st) == 0) && (st.st_nlink > 0)) {
            if ((seg->event_rd < 0) || (make_fifo(seg) == 0)) {
                return fd;
            }
            error = errno;
            unlink(path);
            close(fd);
            errno = error;
            return -1;
        }
        close(fd);
        (void)unlink(path);
    }
    errno = EBUSY;
    return -1;
}

int shm_name_open(const shm_space_t *space, const uint8_t *token)
{
    char path[SHM_PATH_MAX];

    if (!shm_name_path(space, token, 0, path, sizeof(path))) {
        return -1;
    }
    return open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

void shm_name_remove(const shm_space_t *space, const uint8_t *token)
{
    char path[SHM_PATH_MAX];

    /* Remove the FIFO first. If this process is killed in between,
     * shm_names_sweep() still finds the segment's file; it does not search for
     * FIFOs */
    for (int fifo = 1; fifo >= 0; --fifo) {
        if (shm_name_path(space, token, fifo, path, sizeof(path))) {
            (void)unlink(path);
        }
    }
}

/* Parses the token in a file name of this plugin; returns zero for other
 * names. */
static int parse_name(const char *name, uint8_t *token)
{
    unsigned value;

    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0) {
        return 0;
    }
    name += strlen(PREFIX);
    if ((strlen(name) != HEX_LENGTH) ||
        (strspn(name, "0123456789abcdef") != HEX_LENGTH)) {
        return 0;
    }
    for (int i = 0; i < SHM_TOKEN_LENGTH; ++i) {
        if (sscanf(name + 2 * i, "%2x", &value) != 1) {
            return 0;
        }
        token[i] = (uint8_t)value;
    }
    return 1;
}

void shm_names_sweep(shm_space_t *space)
{
    const ucx_host_t *host = space->host;
    uint8_t token[SHM_TOKEN_LENGTH];
    struct dirent *entry;
    struct stat st;
    DIR *dir;
    int fd;

    if (__atomic_exchange_n(&space->swept, 1, __ATOMIC_RELAXED)) {
        return;
    }
    dir = opendir(space->dir);
    if (dir == NULL) {
        return; /* The caller then creates a file in the directory, which fails
                 * and reports the error */
    }

    while ((entry = readdir(dir)) != NULL) {
        if (!parse_name(entry->d_name, token)) {
            continue;
        }
        fd = openat(dirfd(dir), entry->d_name,
                    O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0) {
            continue; /* Usually the file belongs to another user */
        }
        if ((fstat(fd, &st) == 0) && S_ISREG(st.st_mode) &&
            (st.st_uid == geteuid()) && take_lock_0(fd)) {
            ucx_debug("removing %s/%s, whose creator has ended", space->dir,
                      entry->d_name);
            shm_name_remove(space, token);
        }
        close(fd);
    }
    closedir(dir);
}
