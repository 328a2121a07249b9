/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the counters of another process. They are in a memory file (memfd),
 * which is found among the descriptors of that process in /proc/PID/fd.
 */
#include "ucs/stats/view.h"

#include "ucs/sys/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Beginning of the target of the link /proc/PID/fd/NUMBER, if the descriptor is
 * the memory file of the counters. */
static const char link_start[] = "/memfd:" UCS_STATS_FILE_NAME;

/* Returns whether the link `name` in the folder `dir` (/proc/PID/fd) leads to
 * the memory file of the counters. The kernel may append " (deleted)" to the
 * target. */
static int is_counters(int dir, const char *name)
{
    const size_t length = sizeof(link_start) - 1;
    char target[sizeof(link_start) + 16];
    ssize_t size;

    size = readlinkat(dir, name, target, sizeof(target));
    return (size >= (ssize_t)length) &&
           (strncmp(target, link_start, length) == 0) &&
           ((size == (ssize_t)length) || (target[length] == ' '));
}

static void explain(pid_t pid, int error, char *why)
{
    switch (error) {
    case ENOENT:
    case ESRCH:
        snprintf(why, UCS_STATS_WHY_MAX, "there is no process %d here",
                 (int)pid);
        break;
    case EACCES:
    case EPERM:
        snprintf(why, UCS_STATS_WHY_MAX,
                 "process %d cannot be inspected "
                 "without permission: run as its user, "
                 "or as root",
                 (int)pid);
        break;
    default:
        snprintf(why, UCS_STATS_WHY_MAX, "process %d cannot be inspected: %s",
                 (int)pid, strerror(error));
    }
}

int ucs_stats_open_process(pid_t pid, unsigned index, char *why)
{
    int fd = -1;
    struct dirent *entry;
    char path[64];
    unsigned seen = 0;
    DIR *dir;

    why[0] = '\0';
    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    dir = opendir(path);
    if (dir == NULL) {
        explain(pid, errno, why);
        return -1;
    }

    while ((fd < 0) && (entry = readdir(dir)) != NULL) {
        if (is_counters(dirfd(dir), entry->d_name) && (seen++ == index)) {
            fd = openat(dirfd(dir), entry->d_name,
                        O_RDONLY | O_CLOEXEC | O_NONBLOCK);
            if (fd < 0) {
                explain(pid, errno, why);
                break;
            }
        }
    }
    if ((fd < 0) && (seen == 0)) {
        snprintf(why, UCS_STATS_WHY_MAX,
                 "process %d has no counters: start it "
                 "with UCX_STATS=y",
                 (int)pid);
    }
    closedir(dir);
    return fd;
}

/* Reads `length` bytes from the start of the file, or fewer if the file is
 * shorter. Returns the number of bytes; -1 on failure. */
static ssize_t read_all(int fd, void *bytes, size_t length)
{
    size_t done = 0;
    ssize_t size;

    while (done < length) {
        size = pread(fd, (char *)bytes + done, length - done, (off_t)done);
        if ((size < 0) && (errno != EINTR)) {
            return -1;
        }
        if (size == 0) {
            break;
        }
        done += (size > 0) ? (size_t)size : 0;
    }
    return (ssize_t)done;
}

ucs_status_t ucs_stats_view_read(int fd, ucs_stats_view_t **view_p, char *why)
{
    ucs_stats_header_t header;
    ucs_status_t status;
    ssize_t length;
    void *bytes;

    memset(&header, 0, sizeof(header));
    length = read_all(fd, &header, sizeof(header));
    if (length < 0) {
        snprintf(why, UCS_STATS_WHY_MAX, "cannot be read: %s", strerror(errno));
        return UCS_ERR_IO_ERROR;
    }
    if (header.used > UCS_STATS_SIZE_MAX) {
        header.used = UCS_STATS_SIZE_MAX;
    }
    if (header.used < sizeof(header)) {
        header.used = sizeof(header); /* the parser reports the invalid size */
    }

    bytes = malloc(header.used);
    if (bytes == NULL) {
        snprintf(why, UCS_STATS_WHY_MAX, "no memory for %lu bytes of counters",
                 header.used);
        return UCS_ERR_NO_MEMORY;
    }
    length = read_all(fd, bytes, header.used);
    if (length < 0) {
        snprintf(why, UCS_STATS_WHY_MAX, "cannot be read: %s", strerror(errno));
        status = UCS_ERR_IO_ERROR;
    } else {
        status = ucs_stats_view_parse(bytes, (size_t)length, view_p, why);
    }
    free(bytes);
    return status;
}
