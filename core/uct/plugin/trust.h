/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which files of plugins are trusted. A plugin is code that runs with
 * the user's rights, so only root, the user and their groups may be able to
 * write or replace it. These functions only check owners and permissions; they
 * do not read or load files of plugins.
 */
#ifndef UCT_PLUGIN_TRUST_H
#define UCT_PLUGIN_TRUST_H

#include <limits.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "uct/plugin/rejection.h"

/* Special values of uct_trust_t::unmapped. */
#define UCT_TRUST_NO_UID  ((uid_t)-1) /* every owner has a mapping */
#define UCT_TRUST_ASK_UID ((uid_t)-2) /* not determined yet */

enum {
    /* Also accept an owner that has no mapping in the user namespace of this
     * process, because root of the machine may be such an owner. Used for
     * the administrator's and the system's folder, and for the ancestors of
     * every folder. */
    UCT_TRUST_UNMAPPED = 1u << 0,
};

typedef struct uct_trust {
    uid_t uid;             /* owner that is trusted besides root */
    gid_t gid;             /* group that may have write permission, besides
                            * root's group */
    uid_t unmapped;        /* id that the kernel reports for owners without a
                            * mapping, or one of the special values above */
    char folder[PATH_MAX]; /* the folder that was accepted last, to skip
                            * repeated checks; "" if none */
    unsigned folder_flags; /* flags by which `folder` was accepted */
} uct_trust_t;

/* Sets the trusted ids to the effective user and group of this process. */
void uct_trust_init(uct_trust_t *trust);

/*
 * Checks a file or folder by `st`, the result of fstat() for its open
 * descriptor. `path`, without symbolic links, is used in the reason of a
 * rejection, and to look for an access control list if the group may write.
 * `what` says what the object is ("manifest"), for the reason.
 */
ucs_status_t uct_trust_object(uct_trust_t *trust, const struct stat *st,
                              const char *path, const char *what,
                              unsigned flags, uct_rejection_t *rejection);

/*
 * Checks the folder `path` (absolute, without symbolic links) by `flags`, and
 * all its ancestors by `flags` and UCT_TRUST_UNMAPPED. If they are accepted,
 * only the trusted users and groups can change which file a path in this folder
 * leads to. Unless they do, a file that was checked is still the same file when
 * it is loaded by its path later.
 */
ucs_status_t uct_trust_folder(uct_trust_t *trust, const char *path,
                              unsigned flags, uct_rejection_t *rejection);

#endif
