/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole files, and reads and writes that complete in full. */
#include "ucs/sys/sys.h"
#include "ucs/sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Waits until a non-blocking descriptor is ready for `events` (POLLIN,
 * POLLOUT). */
static int wait_for(int fd, short events)
{
    struct pollfd pfd = {.fd = fd, .events = events};

    return poll(&pfd, 1, -1);
}

ucs_status_t ucs_read_full(int fd, void *buf, size_t length)
{
    char *p = buf;
    ssize_t bytes;

    while (length > 0) {
        bytes = read(fd, p, length);
        if (bytes > 0) {
            p += bytes;
            length -= (size_t)bytes;
        } else if (bytes == 0) {
            return UCS_ERR_NO_ELEM; /* unexpected end of file */
        } else if (errno == EAGAIN) {
            wait_for(fd, POLLIN);
        } else if (errno != EINTR) {
            return UCS_ERR_IO_ERROR;
        }
    }

    return UCS_OK;
}

ucs_status_t ucs_write_full(int fd, const void *buf, size_t length)
{
    const char *p = buf;
    ssize_t bytes;

    while (length > 0) {
        bytes = write(fd, p, length);
        if (bytes >= 0) {
            p += bytes;
            length -= (size_t)bytes;
        } else if (errno == EAGAIN) {
            wait_for(fd, POLLOUT);
        } else if (errno != EINTR) {
            return UCS_ERR_IO_ERROR;
        }
    }

    return UCS_OK;
}

/* Reads until the end of the file or until more than `max` bytes were read.
 * Does not use the size from fstat(), because files in /proc report 0, and a
 * file may grow. */
ucs_status_t ucs_read_fd(int fd, size_t max, char **data_p, size_t *length_p)
{
    size_t capacity = 4096, length = 0;
    ucs_status_t status;
    char *data = NULL, *larger;
    ssize_t bytes;

    for (;;) {
        larger = realloc(data, capacity);
        if (larger == NULL) {
            status = UCS_ERR_NO_MEMORY;
            goto err;
        }

        data  = larger;
        bytes = read(fd, data + length, capacity - length - 1);
        if (bytes == 0) {
            break;
        } else if (bytes < 0) {
            if (errno == EINTR) {
                continue;
            }
            status = UCS_ERR_IO_ERROR;
            goto err;
        }

        length += (size_t)bytes;
        if (length > max) {
            status = UCS_ERR_EXCEEDS_LIMIT;
            goto err;
        }

        if (length + 1 == capacity) {
            capacity *= 2;
        }
    }

    data[length] = '\0';
    *data_p      = data;
    if (length_p != NULL) {
        *length_p = length;
    }
    return UCS_OK;

err:
    free(data);
    return status;
}

ucs_status_t ucs_read_file(const char *path, size_t max, char **data_p,
                           size_t *length_p)
{
    ucs_status_t status;
    struct stat st;
    int fd;

    /* non-blocking, because the open of a FIFO or a terminal could wait
     * forever */
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return ((errno == ENOENT) || (errno == ENOTDIR)) ? UCS_ERR_NO_ELEM :
                                                           UCS_ERR_IO_ERROR;
    }

    if (fstat(fd, &st) != 0) {
        status = UCS_ERR_IO_ERROR;
    } else if (!S_ISREG(st.st_mode) || ((uint64_t)st.st_size > max)) {
        status = UCS_ERR_EXCEEDS_LIMIT;
    } else {
        status = ucs_read_fd(fd, max, data_p, length_p);
    }

    close(fd);
    return status;
}

ucs_status_t ucs_read_file_line(const char *path, char *buf, size_t max)
{
    ssize_t length;
    char *end;
    int fd;

    if (max == 0) {
        return UCS_ERR_INVALID_PARAM;
    }

    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return (errno == ENOENT) ? UCS_ERR_NO_ELEM : UCS_ERR_IO_ERROR;
    }

    do {
        length = read(fd, buf, max - 1);
    } while ((length < 0) && (errno == EINTR));
    close(fd);

    if (length < 0) {
        return UCS_ERR_IO_ERROR;
    }

    buf[length] = '\0';
    end         = strchr(buf, '\n');
    if (end != NULL) {
        *end = '\0';
    }
    return UCS_OK;
}

ucs_status_t ucs_read_file_number(const char *path, long *value_p)
{
    ucs_status_t status;
    char text[64], *end;
    long value;

    status = ucs_read_file_line(path, text, sizeof(text));
    if (status != UCS_OK) {
        return status;
    }

    errno = 0;
    value = strtol(text, &end, !strncmp(text, "0x", 2) ? 16 : 10);
    if ((end == text) || (*end != '\0') || (errno != 0)) {
        return UCS_ERR_INVALID_PARAM;
    }

    *value_p = value;
    return UCS_OK;
}

ucs_status_t ucs_write_file(const char *path, const void *data, size_t length,
                            mode_t mode)
{
    size_t max          = strlen(path) + sizeof(".XXXXXX");
    ucs_status_t status = UCS_ERR_IO_ERROR;
    char *temp;
    int fd;

    temp = malloc(max);
    if (temp == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    snprintf(temp, max, "%s.XXXXXX", path);
    fd = mkostemp(temp, O_CLOEXEC);
    if (fd < 0) {
        goto out;
    }

    if ((ucs_write_full(fd, data, length) == UCS_OK) &&
        (fchmod(fd, mode) == 0) && (fsync(fd) == 0)) {
        status = UCS_OK;
    }

    if (close(fd) != 0) {
        status = UCS_ERR_IO_ERROR;
    }

    if ((status == UCS_OK) && (rename(temp, path) != 0)) {
        status = UCS_ERR_IO_ERROR;
    }

    if (status != UCS_OK) {
        unlink(temp);
    }

out:
    free(temp);
    return status;
}
