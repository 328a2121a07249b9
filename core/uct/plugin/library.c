/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uct_plugin_check_library(): checks the shared object that a plugin's manifest
 * names, before it is loaded: location, owner and permissions, and format.
 */
#include "uct/plugin/library.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes the path of `library` (relative to `folder`), without symbolic links,
 * to `path`. Rejects a file outside `folder`. */
static ucs_status_t locate(const char *folder, const char *library, char *path,
                           uct_rejection_t *rejection)
{
    size_t length = strlen(folder);
    char joined[PATH_MAX];
    struct stat st;
    int count;

    if (library[0] == '/') {
        return uct_reject(rejection, UCT_REJECT_LIBRARY_ESCAPES,
                          "%s is an absolute path", library);
    }

    count = snprintf(joined, sizeof(joined), "%s/%s", folder, library);
    if ((count < 0) || ((size_t)count >= sizeof(joined))) {
        return uct_reject(rejection, UCT_REJECT_LIBRARY_MISSING, "%s: %s",
                          library, strerror(ENAMETOOLONG));
    } else if ((strchr(library, '/') == NULL) && (length > 1) &&
               (lstat(joined, &st) == 0) && S_ISREG(st.st_mode)) {
        /* The usual case: a regular file directly in the folder. The folder's
         * path has no links, so realpath(), which is slower, is not needed. */
        strcpy(path, joined);
        return UCS_OK;
    } else if (realpath(joined, path) == NULL) {
        return uct_reject(rejection,
                          (errno == ELOOP) ? UCT_REJECT_LINK_LOOP :
                                             UCT_REJECT_LIBRARY_MISSING,
                          "%s: %s", joined, strerror(errno));
    }

    if (strncmp(path, folder, length) ||
        ((path[length] != '/') && strcmp(folder, "/"))) {
        return uct_reject(rejection, UCT_REJECT_LIBRARY_ESCAPES,
                          "%s resolves to %s, which is outside %s", library,
                          path, folder);
    }
    return UCS_OK;
}

/* Checks who can write to the folder of the library `path`, which may be a
 * subfolder of the manifest's folder. */
static ucs_status_t check_folder(const char *path, uct_trust_t *trust,
                                 unsigned flags, uct_rejection_t *rejection)
{
    char folder[PATH_MAX];

    strcpy(folder, path);
    *strrchr(folder, '/') = '\0';
    return uct_trust_folder(trust, (folder[0] == '\0') ? "/" : folder, flags,
                            rejection);
}

/* Checks the open file: kind, owner and permissions, and ELF format. */
static ucs_status_t check_opened(int fd, const char *path, uct_trust_t *trust,
                                 unsigned flags, uct_elf_t *elf,
                                 uct_rejection_t *rejection)
{
    ucs_status_t status;
    struct stat st;
    char why[128];

    if (fstat(fd, &st) != 0) {
        return uct_reject(rejection, UCT_REJECT_LIBRARY_MISSING, "%s: %s", path,
                          strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        return uct_reject(rejection, UCT_REJECT_LIBRARY_FORMAT,
                          "%s: it is not a regular file", path);
    }

    if (trust != NULL) {
        status = uct_trust_object(trust, &st, path, "library", flags,
                                  rejection);
        if (status != UCS_OK) {
            return status;
        }
    }
    if (uct_elf_read(fd, elf, why, sizeof(why)) != UCS_OK) {
        return uct_reject(rejection, UCT_REJECT_LIBRARY_FORMAT, "%s: %s", path,
                          why);
    }
    return UCS_OK;
}

ucs_status_t uct_plugin_check_library(const char *folder, const char *library,
                                      uct_trust_t *trust, unsigned trust_flags,
                                      char *path, uct_elf_t *elf,
                                      uct_rejection_t *rejection)
{
    ucs_status_t status;
    int fd;

    status = locate(folder, library, path, rejection);
    if ((status == UCS_OK) && (trust != NULL)) {
        status = check_folder(path, trust, trust_flags, rejection);
    }
    if (status != UCS_OK) {
        return status;
    }

    fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return uct_reject(
            rejection,
            (errno == ENXIO) ?
                UCT_REJECT_LIBRARY_FORMAT :
                uct_rejection_of_errno(errno, UCT_REJECT_LIBRARY_MISSING),
            "%s: %s", path, strerror(errno));
    }
    status = check_opened(fd, path, trust, trust_flags, elf, rejection);
    close(fd);
    return status;
}
