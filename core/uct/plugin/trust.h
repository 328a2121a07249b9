/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which files are trusted. A plugin is code that runs with the user's rights,
 * so only root or the user may be able to write or replace it. These functions
 * only check; they open and load no file of a plugin.
 */
#ifndef UCT_PLUGIN_TRUST_H
#define UCT_PLUGIN_TRUST_H

#include <limits.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "uct/plugin/rejection.h"

#define UCT_TRUST_NO_UID  ((uid_t)-1)
#define UCT_TRUST_ASK_UID ((uid_t)-2)

enum {
    /* Accept folders of an unmapped owner that only root could have filled: in
     * a user namespace, root's files may have an unmapped id. */
    UCT_TRUST_UNMAPPED = 1u << 0,
};

typedef struct uct_trust {
    uid_t uid;             /* trusted owner besides root */
    gid_t gid;             /* trusted group besides root's */
    uid_t unmapped;        /* id of unmapped owners, or NO_UID; ASK_UID until it
                            * is determined */
    char folder[PATH_MAX]; /* the last accepted folder */
    unsigned folder_flags; /* flags of the check that accepted `folder` */
} uct_trust_t;

/* Initializes the trusted ids by the effective user of this process. */
void uct_trust_init(uct_trust_t *trust);

/*
 * Checks an object by the status of its open descriptor. `path`, without links,
 * is used in the reason, and to read the access control list if the group may
 * write; `what` names the object ("manifest").
 */
ucs_status_t uct_trust_object(uct_trust_t *trust, const struct stat *st,
                              const char *path, const char *what,
                              unsigned flags, uct_rejection_t *rejection);

/*
 * Checks the folder `path` (absolute, without links) and all its ancestors. If
 * they are accepted, no other user can change which file a path below this
 * folder leads to. Therefore a file that was checked is still the same file
 * when it is loaded by its path later.
 */
ucs_status_t uct_trust_folder(uct_trust_t *trust, const char *path,
                              unsigned flags, uct_rejection_t *rejection);

#endif
