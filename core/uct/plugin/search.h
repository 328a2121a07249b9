/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists the files that may be manifests of plugins, in the order in which they
 * are searched. These functions list names and read no manifest. The folders
 * are, in this order:
 *
 *   1. those in UCX_PLUGIN_PATH      not used by a privileged program
 *   2. the administrator's folder    manifests, and overrides of manifests
 *   3. the system's folder           its path is fixed when the core is built
 *
 * In a folder FOLDER, manifests are FOLDER/NAME.json and FOLDER/NAME/NAME.json,
 * sorted by NAME.
 */
#ifndef UCT_PLUGIN_SEARCH_H
#define UCT_PLUGIN_SEARCH_H

#include "uct/plugin/trust.h"

#define UCT_SEARCH_WHY_MAX 256 /* bytes, including the final 0 */

/* Which of the three entries above a folder comes from. */
typedef enum uct_search_origin {
    UCT_SEARCH_ENV,
    UCT_SEARCH_ADMIN,
    UCT_SEARCH_SYSTEM,
} uct_search_origin_t;

typedef struct uct_search_params {
    const char *env_path;     /* value of UCX_PLUGIN_PATH: folders, separated by
                               * colons; NULL: none */
    const char *admin_dir;    /* the administrator's folder; NULL: none */
    const char *system_dir;   /* the system's folder; NULL: none */
    int secure;               /* 1: the program is privileged (for example
                               * setuid), so `env_path` is not used */
    const char *root;         /* prepended to the paths by which requirements
                               * are checked (requires.h); "" except in tests */
    const char *library_path; /* value of LD_LIBRARY_PATH, or NULL if it is not
                               * set or must not be used */
} uct_search_params_t;

typedef struct uct_search_dir {
    uct_search_origin_t origin;
    char *path; /* as configured */
    char *real; /* path without symbolic links; NULL if uct_search_create() has
                 * excluded the folder */
    int counts; /* 1: manifests in the folder are read; 0: they are not */
    /* If `counts` is 0, the reason. Otherwise "", or why the folder is not
     * trusted (trust.h); the manifests in such a folder are read, and then
     * rejected for the same reason. */
    char why[UCT_SEARCH_WHY_MAX];
} uct_search_dir_t;

typedef struct uct_search {
    uct_search_dir_t *dirs; /* in the order of the search */
    unsigned num_dirs;
} uct_search_t;

/* Sets the parameters from the environment of this process and from the folders
 * that were fixed when the core was built. The strings are valid until the
 * environment changes. */
void uct_search_params_default(uct_search_params_t *params);

/* Stores all folders in `search`, in the order of the search and including
 * those that are not used. `trust` checks their owners and permissions. Release
 * the result by uct_search_destroy(). */
ucs_status_t uct_search_create(const uct_search_params_t *params,
                               uct_trust_t *trust, uct_search_t *search);
void uct_search_destroy(uct_search_t *search);

/* Returns the flags (UCT_TRUST_*) by which files in the folder are checked. */
unsigned uct_search_trust_flags(const uct_search_dir_t *dir);

/*
 * Returns the paths of the files in one folder whose names are those of
 * manifests, sorted. The folder's `counts` must be 1. Returns
 * UCS_ERR_EXCEEDS_LIMIT if there are too many files. Release the array by
 * uct_search_free_files().
 */
ucs_status_t uct_search_files(const uct_search_dir_t *dir, char ***files_p,
                              unsigned *count_p);
void uct_search_free_files(char **files, unsigned count);

#endif
