/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uct_manifest_read(): resolves the path of a plugin's manifest, checks that
 * only trusted users can change the file, reads it, and parses it. The path may
 * lead to anything, for example a pipe, a device or a folder.
 */
#include "uct/plugin/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rejects the manifest because an operation failed with the errno `error`.
 * `what`, the operation or the folder that it failed for, begins the reason. */
static ucs_status_t reject_errno(uct_rejection_t *rejection, int error,
                                 const char *what)
{
    return uct_reject(rejection,
                      (error == ELOOP) ?
                          UCT_REJECT_LINK_LOOP :
                          uct_rejection_of_errno(error, UCT_REJECT_UNREADABLE),
                      "%s: %s", what, strerror(error));
}

/* Checks who can write to the folder that contains `path`. `is_real`: 1 if the
 * path contains no symbolic links. */
static ucs_status_t check_folder(uct_trust_t *trust, unsigned flags,
                                 const char *path, int is_real,
                                 uct_rejection_t *rejection)
{
    char copy[PATH_MAX], real[PATH_MAX];
    char *slash;

    if (strlen(path) >= sizeof(copy)) {
        return reject_errno(rejection, ENAMETOOLONG, "folder");
    }
    strcpy(copy, path);
    slash = strrchr(copy, '/');
    if (slash == NULL) {
        strcpy(copy, ".");
    } else {
        slash[slash == copy] = '\0';
    }
    if (is_real) {
        return uct_trust_folder(trust, copy, flags, rejection);
    } else if (realpath(copy, real) == NULL) {
        return reject_errno(rejection, errno, copy);
    }
    return uct_trust_folder(trust, real, flags, rejection);
}

/* Rejects anything but a regular file of at most UCT_MANIFEST_SIZE_MAX
 * bytes. */
static ucs_status_t check_kind(const struct stat *st,
                               uct_rejection_t *rejection)
{
    if (!S_ISREG(st->st_mode)) {
        return uct_reject(rejection, UCT_REJECT_NOT_REGULAR, "it is a %s",
                          S_ISDIR(st->st_mode)  ? "folder" :
                          S_ISFIFO(st->st_mode) ? "pipe" :
                          S_ISSOCK(st->st_mode) ? "socket" :
                                                  "device");
    } else if (st->st_size > (off_t)UCT_MANIFEST_SIZE_MAX) {
        return uct_reject(rejection, UCT_REJECT_TOO_LARGE,
                          "%lld bytes, at most %u are read",
                          (long long)st->st_size, UCT_MANIFEST_SIZE_MAX);
    }
    return UCS_OK;
}

/* Reads the file up to its end rather than up to the size that fstat() has
 * returned, which may change. The text is not zero-terminated; the caller
 * releases it by free(). */
static ucs_status_t slurp(int fd, char **text_p, size_t *length_p,
                          uct_rejection_t *rejection)
{
    size_t size = 16384, length = 0;
    char *text    = NULL, *larger;
    ssize_t count = 1;

    while (count > 0) {
        size *= (length == size) ? 4 : 1;
        larger = realloc(text, size);
        if (larger == NULL) {
            free(text);
            return uct_reject(rejection, UCT_REJECT_RESOURCES, "out of memory");
        }
        text  = larger;
        count = read(fd, text + length, size - length);
        if ((count < 0) && (errno == EINTR)) {
            count = 1;
            continue;
        }
        length += (count > 0) ? count : 0;
        if (length > UCT_MANIFEST_SIZE_MAX) {
            free(text);
            return uct_reject(rejection, UCT_REJECT_TOO_LARGE,
                              "more than %u bytes", UCT_MANIFEST_SIZE_MAX);
        }
    }

    if (count < 0) {
        count = errno;
        free(text);
        return reject_errno(rejection, count, "read");
    }
    *text_p   = text;
    *length_p = length;
    return UCS_OK;
}

/* Opens `real`, a path without symbolic links. Checks the kind and size of the
 * file and, unless `trust` is NULL, its owner and permissions. */
static ucs_status_t open_checked(const char *real, uct_trust_t *trust,
                                 unsigned trust_flags, int *fd_p,
                                 uct_rejection_t *rejection)
{
    ucs_status_t status;
    struct stat st;
    int fd;

    /* O_NONBLOCK, because open() would wait if the file is a pipe without a
     * writer */
    fd = open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if ((fd < 0) && ((errno == ENXIO) || (errno == ENODEV))) {
        return uct_reject(rejection, UCT_REJECT_NOT_REGULAR,
                          "it is a socket or a device");
    } else if (fd < 0) {
        return reject_errno(rejection, errno, "open");
    }

    if (fstat(fd, &st) != 0) {
        status = reject_errno(rejection, errno, "fstat");
    } else {
        status = check_kind(&st, rejection);
    }
    if ((status == UCS_OK) && (trust != NULL)) {
        status = uct_trust_object(trust, &st, real, "manifest", trust_flags,
                                  rejection);
    }
    if (status != UCS_OK) {
        close(fd);
        return status;
    }
    *fd_p = fd;
    return UCS_OK;
}

/* Writes `path` without symbolic links to `real`. Returns 0, with errno set, on
 * failure. realpath() queries every component of the path; for a file directly
 * in `real_folder`, whose path has no links, one lstat() is sufficient. */
static int resolve(const char *path, const char *real_folder, char *real)
{
    size_t length = (real_folder == NULL) ? 0 : strlen(real_folder);
    struct stat st;

    if ((length > 1) && !strncmp(path, real_folder, length) &&
        (path[length] == '/') && (strchr(path + length + 1, '/') == NULL) &&
        (strlen(path) < PATH_MAX) && (lstat(path, &st) == 0) &&
        !S_ISLNK(st.st_mode)) {
        strcpy(real, path);
        return 1;
    }
    return realpath(path, real) != NULL;
}

ucs_status_t uct_manifest_read(const char *path, const char *real_folder,
                               uct_trust_t *trust, unsigned trust_flags,
                               char *real_path, uct_manifest_t **manifest_p,
                               uct_rejection_t *rejection)
{
    char real[PATH_MAX];
    ucs_status_t status = UCS_OK;
    size_t length       = 0;
    char *text          = NULL;
    int fd              = -1;

    if (!resolve(path, real_folder, real)) {
        return reject_errno(rejection, errno, "open");
    }
    if (real_path != NULL) {
        strcpy(real_path, real);
    }

    if ((trust != NULL) && strcmp(path, real)) {
        /* `path` contains a symbolic link. A user who can write to the folder
         * of `path` could replace the link, so this folder is checked, too. */
        status = check_folder(trust, trust_flags, path, 0, rejection);
    }
    if ((trust != NULL) && (status == UCS_OK)) {
        status = check_folder(trust, trust_flags, real, 1, rejection);
    }
    if (status == UCS_OK) {
        status = open_checked(real, trust, trust_flags, &fd, rejection);
    }
    if (status != UCS_OK) {
        return status;
    }

    status = slurp(fd, &text, &length, rejection);
    close(fd);
    if (status == UCS_OK) {
        status = uct_manifest_parse(text, length, manifest_p, rejection);
        free(text);
    }
    return status;
}
