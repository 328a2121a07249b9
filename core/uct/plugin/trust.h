/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whose files count. A plugin is code that will run with the user's rights,
 * so whoever could write it, or swap it for another file, must be root or the
 * user. This file judges; it opens and loads nothing.
 */
#ifndef UCT_PLUGIN_TRUST_H
#define UCT_PLUGIN_TRUST_H

#include <limits.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "uct/plugin/refusal.h"

#define UCT_TRUST_NO_UID  ((uid_t)-1)
#define UCT_TRUST_ASK_UID ((uid_t)-2)

enum {
    /* In a user namespace root's files may belong to an id that has no name
     * there. Accepted for folders that only root could have filled. */
    UCT_TRUST_UNMAPPED = 1u << 0
};

typedef struct uct_trust {
    uid_t uid;             /* whose files count beside root's */
    gid_t gid;             /* whose members may write, beside root's group */
    uid_t unmapped;        /* stands for owners without a name, or NO_UID;
                              ASK_UID until somebody wants to know */
    char folder[PATH_MAX]; /* the last one found good, to ask once */
    unsigned folder_flags; /* and how it was asked for */
} uct_trust_t;

/* The effective user of this process. */
void uct_trust_init(uct_trust_t *trust);

/*
 * Judges an object by the status of its open descriptor. `path`, free of
 * links, names it in the reason and is asked for an access list where the
 * group may write; `what` is a word for it ("manifest").
 */
ucs_status_t uct_trust_object(uct_trust_t *trust, const struct stat *st,
                              const char *path, const char *what,
                              unsigned flags, uct_refusal_t *refusal);

/*
 * Judges the folder `path` (absolute, free of links) and all above it. When
 * they are good nobody else can change what a path below it leads to, so a
 * file that was checked is still the same one when it is loaded by its name.
 */
ucs_status_t uct_trust_folder(uct_trust_t *trust, const char *path,
                              unsigned flags, uct_refusal_t *refusal);

#endif
