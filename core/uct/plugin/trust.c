/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks that only root, the user and their groups can change a file of a
 * plugin: owner and write permission of the file, and of every folder above it
 * (trust.h).
 */
#include "uct/plugin/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Returns the user id that the kernel reports for owners without a mapping in
 * this user namespace. Returns UCT_TRUST_NO_UID if all owners have a mapping,
 * as in the initial namespace. */
static uid_t unmapped_uid(void)
{
    unsigned inside, outside, count, overflow = 65534;
    uid_t result = UCT_TRUST_NO_UID;
    FILE *file;

    file = fopen("/proc/self/uid_map", "re");
    if (file == NULL) {
        return UCT_TRUST_NO_UID;
    }
    if ((fscanf(file, "%u %u %u", &inside, &outside, &count) == 3) &&
        ((outside != 0) || (count != UINT32_MAX))) {
        result = overflow;
    }
    fclose(file);

    file = (result == UCT_TRUST_NO_UID) ?
               NULL :
               fopen("/proc/sys/kernel/overflowuid", "re");
    if (file != NULL) {
        if (fscanf(file, "%u", &overflow) == 1) {
            result = overflow;
        }
        fclose(file);
    }
    return result;
}

void uct_trust_init(uct_trust_t *trust)
{
    trust->uid          = geteuid();
    trust->gid          = getegid();
    trust->unmapped     = UCT_TRUST_ASK_UID;
    trust->folder[0]    = '\0';
    trust->folder_flags = 0;
}

/* Returns whether the owner is root, the trusted user or, with
 * UCT_TRUST_UNMAPPED, an owner without a mapping. */
static int is_owner_good(uct_trust_t *trust, uid_t uid, unsigned flags)
{
    if ((uid == 0) || (uid == trust->uid)) {
        return 1;
    } else if (!(flags & UCT_TRUST_UNMAPPED) || (uid == UCT_TRUST_NO_UID)) {
        return 0;
    }
    if (trust->unmapped == UCT_TRUST_ASK_UID) {
        trust->unmapped = unmapped_uid();
    }
    return uid == trust->unmapped;
}

/* Returns whether a file or folder has an access control list. Then the group
 * bits of its mode are the mask of the list's entries: a write bit means that
 * any user or group in the list may have write permission. */
static int has_access_list(const char *path)
{
    return lgetxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}

/* Returns which users besides root, the trusted user and their groups may
 * write, for the message; NULL if there are none. */
static const char *who_may_write(const uct_trust_t *trust,
                                 const struct stat *st, const char *path)
{
    if (st->st_mode & S_IWOTH) {
        return "everybody";
    } else if (!(st->st_mode & S_IWGRP)) {
        return NULL;
    } else if (has_access_list(path)) {
        return "somebody on its access list";
    } else if ((st->st_gid != 0) && (st->st_gid != trust->gid)) {
        return "another group";
    }
    return NULL;
}

ucs_status_t uct_trust_object(uct_trust_t *trust, const struct stat *st,
                              const char *path, const char *what,
                              unsigned flags, uct_rejection_t *rejection)
{
    const char *who;

    if (!is_owner_good(trust, st->st_uid, flags)) {
        return uct_reject(rejection, UCT_REJECT_OWNER,
                          "%s %s belongs to user %u; it must belong to root or "
                          "to user %u",
                          what, path, (unsigned)st->st_uid,
                          (unsigned)trust->uid);
    }

    who = who_may_write(trust, st, path);
    if (who != NULL) {
        return uct_reject(rejection, UCT_REJECT_WRITABLE,
                          "%s %s can be written by %s (mode %04o, group %u); "
                          "mend it by: chmod go-w %s",
                          what, path, who, (unsigned)(st->st_mode & 07777),
                          (unsigned)st->st_gid, path);
    }
    return UCS_OK;
}

/* Checks one folder, without its ancestors. */
static ucs_status_t judge_folder(uct_trust_t *trust, const char *path,
                                 unsigned flags, uct_rejection_t *rejection)
{
    ucs_status_t status;
    struct stat st;
    int fd;

    fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if ((fd < 0) || (fstat(fd, &st) != 0)) {
        status = uct_reject(rejection,
                            uct_rejection_of_errno(errno,
                                                   UCT_REJECT_UNREADABLE),
                            "folder %s: %s", path, strerror(errno));
    } else if ((st.st_mode & S_ISVTX) &&
               is_owner_good(trust, st.st_uid, flags)) {
        /* In a folder with the sticky bit (such as /tmp), other users may add
         * entries, but cannot rename or remove those of trusted users. */
        status = UCS_OK;
    } else {
        status = uct_trust_object(trust, &st, path, "folder", flags, rejection);
    }

    if (fd >= 0) {
        close(fd);
    }
    return status;
}

/* Returns whether the folder need not be checked, because it is the one that
 * was accepted last (trust->folder) or an ancestor of it: all ancestors were
 * checked together with that folder. */
static int is_known_good(const uct_trust_t *trust, const char *path,
                         unsigned flags)
{
    size_t length = strlen(path);

    return ((trust->folder_flags | UCT_TRUST_UNMAPPED) ==
            (flags | UCT_TRUST_UNMAPPED)) &&
           (trust->folder[0] != '\0') &&
           !strncmp(trust->folder, path, length) &&
           ((trust->folder[length] == '/') || (trust->folder[length] == '\0') ||
            (length == 1));
}

ucs_status_t uct_trust_folder(uct_trust_t *trust, const char *path,
                              unsigned flags, uct_rejection_t *rejection)
{
    char part[PATH_MAX];
    ucs_status_t status;
    size_t length = strlen(path);
    char *slash;

    if ((path[0] != '/') || (length >= sizeof(part))) {
        return uct_reject(rejection, UCT_REJECT_UNREADABLE,
                          "folder %s: not an absolute path, or too long", path);
    } else if (!strcmp(trust->folder, path) && (trust->folder_flags == flags)) {
        return UCS_OK;
    }

    memcpy(part, path, length + 1);
    status = judge_folder(trust, part, flags, rejection);
    while ((status == UCS_OK) && (part[1] != '\0')) {
        slash  = strrchr(part, '/');
        *slash = '\0';
        if (slash == part) {
            strcpy(part, "/");
        }
        if (is_known_good(trust, part, flags)) {
            break;
        }
        status = judge_folder(trust, part, flags | UCT_TRUST_UNMAPPED,
                              rejection);
    }

    if (status == UCS_OK) {
        memcpy(trust->folder, path, length + 1);
        trust->folder_flags = flags;
    }
    return status;
}
