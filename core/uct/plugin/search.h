/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where manifests are searched, and in which order. These functions list names
 * and read no manifest.
 *
 *   1. UCX_PLUGIN_PATH               ignored in a privileged program
 *   2. the administrator's folder    manifests and overrides
 *   3. the folder that the core was built with
 *
 * In a folder FOLDER, manifests are FOLDER/NAME.json and FOLDER/NAME/NAME.json,
 * in the order of their names.
 */
#ifndef UCT_PLUGIN_SEARCH_H
#define UCT_PLUGIN_SEARCH_H

#include "uct/plugin/trust.h"

#define UCT_SEARCH_WHY_MAX 256

typedef enum uct_search_origin {
    UCT_SEARCH_ENV,
    UCT_SEARCH_ADMIN,
    UCT_SEARCH_SYSTEM,
} uct_search_origin_t;

typedef struct uct_search_params {
    const char *env_path;     /* colon-separated folders, or NULL */
    const char *admin_dir;    /* or NULL */
    const char *system_dir;   /* or NULL */
    int secure;               /* privileged program: ignore the environment */
    const char *root;         /* prepended to the paths of the machine's files;
                               * "" */
    const char *library_path; /* LD_LIBRARY_PATH, or NULL */
} uct_search_params_t;

typedef struct uct_search_dir {
    uct_search_origin_t origin;
    char *path; /* as configured */
    char *real; /* path without links; NULL if the folder is not used */
    int counts;
    char why[UCT_SEARCH_WHY_MAX]; /* why it is not used, or a warning; or "" */
} uct_search_dir_t;

typedef struct uct_search {
    uct_search_dir_t *dirs;
    unsigned num_dirs;
} uct_search_t;

/* Returns the parameters of this process. The strings are valid until the
 * environment changes. */
void uct_search_params_default(uct_search_params_t *params);

/* Returns all folders in order, including those that are not used. */
ucs_status_t uct_search_create(const uct_search_params_t *params,
                               uct_trust_t *trust, uct_search_t *search);
void uct_search_destroy(uct_search_t *search);

/* Returns the trust flags for the files in the folder. */
unsigned uct_search_trust_flags(const uct_search_dir_t *dir);

/*
 * Returns the candidate manifest files of one folder, sorted. Release the array
 * by uct_search_free_files().
 */
ucs_status_t uct_search_files(const uct_search_dir_t *dir, char ***files_p,
                              unsigned *count_p);
void uct_search_free_files(char **files, unsigned count);

#endif
