/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the files that may be manifests of plugins: the search folders in
 * order, and in each folder the files in the order of their names (search.h).
 */
#include "uct/plugin/search.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ucs/type/status.h>

/* Maximum number of manifests in a folder. A folder with more is assumed not to
 * be a plugin folder, and is not used. */
#define FILES_MAX 4096

static const char suffix[] = ".json";

/* Paths of manifests that were found so far. */
typedef struct file_list {
    char **files;      /* array and paths are from malloc() */
    unsigned count;    /* paths in the array */
    unsigned capacity; /* number of paths for which the array has space */
} file_list_t;

/* --- Folders ----------------------------------------------------------- */

/* Returns nonzero if `search` already contains the folder dir->real. */
static int is_repeated(const uct_search_t *search, const uct_search_dir_t *dir)
{
    unsigned i;

    for (i = 0; i < search->num_dirs; ++i) {
        if ((search->dirs[i].real != NULL) &&
            !strcmp(search->dirs[i].real, dir->real)) {
            return 1;
        }
    }
    return 0;
}

/* Decides whether the folder is used, and sets `real`, `counts` and `why`. */
static ucs_status_t judge_dir(const uct_search_t *search, uct_search_dir_t *dir,
                              int secure, uct_trust_t *trust)
{
    uct_rejection_t rejection = {UCT_REJECT_NONE, ""};
    struct stat st;
    const char *why = NULL;

    if ((dir->origin == UCT_SEARCH_ENV) && secure) {
        why = "the program has rights that its user has not, so the "
              "environment does not count";
    } else if (dir->path[0] != '/') {
        why = "not an absolute path; what it means would depend on where the "
              "program is started";
    } else if ((dir->real = realpath(dir->path, NULL)) == NULL) {
        if (errno == ENOMEM) {
            return UCS_ERR_NO_MEMORY; /* The folder may be valid: the caller
                                       * reports the lack of memory */
        }
        why = (errno == ENOENT) ? "there is no such folder" : strerror(errno);
    } else if ((stat(dir->real, &st) == 0) && !S_ISDIR(st.st_mode)) {
        why = "not a folder";
    } else if (is_repeated(search, dir)) {
        why = "the same folder as an earlier one";
    } else if (access(dir->real, R_OK | X_OK) != 0) {
        why = strerror(errno);
    }

    dir->counts = (why == NULL);
    if (why != NULL) {
        snprintf(dir->why, sizeof(dir->why), "%s", why);
        free(dir->real);
        dir->real = NULL;
    } else if (uct_trust_folder(trust, dir->real, uct_search_trust_flags(dir),
                                &rejection) != UCS_OK) {
        snprintf(dir->why, sizeof(dir->why), "%.12s: %.240s",
                 uct_rejection_info(rejection.code)->id, rejection.reason);
    }
    return (rejection.code == UCT_REJECT_RESOURCES) ? UCS_ERR_NO_MEMORY :
                                                      UCS_OK;
}

/* Adds the folder whose path is the first `length` bytes of `path`. An empty
 * path is ignored. */
static ucs_status_t add_dir(uct_search_t *search, uct_search_origin_t origin,
                            const char *path, size_t length, int secure,
                            uct_trust_t *trust)
{
    uct_search_dir_t *dirs, *dir;
    ucs_status_t status;

    if ((path == NULL) || (length == 0)) {
        return UCS_OK;
    }

    dirs = realloc(search->dirs, (search->num_dirs + 1) * sizeof(*dirs));
    if (dirs == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    search->dirs = dirs;

    dir = &dirs[search->num_dirs];
    memset(dir, 0, sizeof(*dir));
    dir->origin = origin;
    dir->path   = strndup(path, length);
    if (dir->path == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = judge_dir(search, dir, secure, trust);
    ++search->num_dirs;
    return status;
}

unsigned uct_search_trust_flags(const uct_search_dir_t *dir)
{
    return (dir->origin == UCT_SEARCH_ENV) ? 0 : UCT_TRUST_UNMAPPED;
}

ucs_status_t uct_search_create(const uct_search_params_t *params,
                               uct_trust_t *trust, uct_search_t *search)
{
    const char *path    = (params->env_path == NULL) ? "" : params->env_path;
    ucs_status_t status = UCS_OK;
    size_t length;

    memset(search, 0, sizeof(*search));
    for (; (status == UCS_OK) && (*path != '\0');
         path += length + (path[length] == ':')) {
        length = strcspn(path, ":");
        status = add_dir(search, UCT_SEARCH_ENV, path, length, params->secure,
                         trust);
    }
    if ((status == UCS_OK) && (params->admin_dir != NULL)) {
        status = add_dir(search, UCT_SEARCH_ADMIN, params->admin_dir,
                         strlen(params->admin_dir), params->secure, trust);
    }
    if ((status == UCS_OK) && (params->system_dir != NULL)) {
        status = add_dir(search, UCT_SEARCH_SYSTEM, params->system_dir,
                         strlen(params->system_dir), params->secure, trust);
    }
    if (status != UCS_OK) {
        uct_search_destroy(search);
    }
    return status;
}

void uct_search_destroy(uct_search_t *search)
{
    unsigned i;

    for (i = 0; i < search->num_dirs; ++i) {
        free(search->dirs[i].path);
        free(search->dirs[i].real);
    }
    free(search->dirs);
    search->dirs     = NULL;
    search->num_dirs = 0;
}

/* --- Files of a folder ------------------------------------------------- */

/* Appends `path`, which is from malloc(), to the list; frees it on failure.
 * NULL means that the caller could not allocate it: UCS_ERR_NO_MEMORY is
 * returned. */
static ucs_status_t add_file(file_list_t *list, char *path)
{
    unsigned capacity = (list->capacity == 0) ? 16 : 2 * list->capacity;
    char **files;

    if (path == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    if (list->count == list->capacity) {
        files = realloc(list->files, capacity * sizeof(*files));
        if (files == NULL) {
            free(path);
            return UCS_ERR_NO_MEMORY;
        }
        list->files    = files;
        list->capacity = capacity;
    }
    list->files[list->count++] = path;
    return UCS_OK;
}

/* Returns FOLDER/NAME, or FOLDER/NAME/NAME.json if `inner` is nonzero. The
 * caller releases the result by free(). */
static char *make_path(const char *folder, const char *name, int inner)
{
    char *path;
    int length;

    length = inner ? asprintf(&path, "%s/%s/%s%s", folder, name, name, suffix) :
                     asprintf(&path, "%s/%s", folder, name);
    return (length < 0) ? NULL : path;
}

static int has_suffix(const char *name)
{
    size_t length = strlen(name);

    return (length > sizeof(suffix) - 1) &&
           !strcmp(name + length - (sizeof(suffix) - 1), suffix);
}

/* Returns whether NAME/NAME.json exists in the folder. A symbolic link to a
 * missing file counts, too, so that the scan reports it. */
static int has_inner(int dir_fd, const char *name)
{
    char inner[2 * NAME_MAX + sizeof(suffix) + 2];
    struct stat st;

    snprintf(inner, sizeof(inner), "%s/%s%s", name, name, suffix);
    return fstatat(dir_fd, inner, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* For qsort(): compares the file names without ".json". For equal names,
 * NAME.json precedes NAME/NAME.json. */
static int compare_files(const void *a, const void *b)
{
    const char *path[2] = {*(char *const *)a, *(char *const *)b};
    const char *base[2];
    size_t i, length[2];
    int order;

    for (i = 0; i < 2; ++i) {
        base[i]   = strrchr(path[i], '/') + 1;
        length[i] = strlen(base[i]) - (sizeof(suffix) - 1);
    }
    order = strncmp(base[0], base[1],
                    (length[0] < length[1]) ? length[0] : length[1]);
    if (order == 0) {
        order = (length[0] > length[1]) - (length[0] < length[1]);
    }
    return (order != 0) ? order :
                          (strlen(path[0]) > strlen(path[1])) -
                              (strlen(path[0]) < strlen(path[1]));
}

ucs_status_t uct_search_files(const uct_search_dir_t *dir, char ***files_p,
                              unsigned *count_p)
{
    file_list_t list    = {NULL, 0, 0};
    ucs_status_t status = UCS_OK;
    struct dirent *entry;
    DIR *stream;

    stream = opendir(dir->real);
    if (stream == NULL) {
        return ((errno == ENOMEM) || (errno == EMFILE) || (errno == ENFILE)) ?
                   UCS_ERR_NO_MEMORY :
                   UCS_ERR_IO_ERROR;
    }

    while ((status == UCS_OK) && ((entry = readdir(stream)) != NULL)) {
        if (entry->d_name[0] == '.') {
            continue;
        } else if (list.count == FILES_MAX) {
            status = UCS_ERR_EXCEEDS_LIMIT;
        } else if (has_suffix(entry->d_name)) {
            status = add_file(&list, make_path(dir->real, entry->d_name, 0));
        } else if (((entry->d_type == DT_DIR) || (entry->d_type == DT_LNK) ||
                    (entry->d_type == DT_UNKNOWN)) &&
                   has_inner(dirfd(stream), entry->d_name)) {
            status = add_file(&list, make_path(dir->real, entry->d_name, 1));
        }
    }
    closedir(stream);

    if (status != UCS_OK) {
        uct_search_free_files(list.files, list.count);
        return status;
    }
    if (list.count > 0) {
        qsort(list.files, list.count, sizeof(*list.files), compare_files);
    }
    *files_p = list.files;
    *count_p = list.count;
    return UCS_OK;
}

void uct_search_free_files(char **files, unsigned count)
{
    unsigned i;

    for (i = 0; i < count; ++i) {
        free(files[i]);
    }
    free(files);
}
