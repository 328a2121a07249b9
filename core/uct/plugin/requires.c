/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks what the manifest of a plugin requires (device nodes, kernel modules,
 * shared libraries), and describes the first requirement that is missing.
 */
#include "uct/plugin/requires.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "uct/plugin/ldcache.h"

struct uct_requires_env {
    char *root;            /* prepended to absolute paths; "" for none */
    char *library_path;    /* value of LD_LIBRARY_PATH; "" if not used */
    int has_ldcache;       /* 1: `ldcache` has been read, or reading failed */
    uct_ldcache_t ldcache; /* the dynamic loader's cache (ldcache.h) */
};

/* Arguments of the checks of one plugin. */
typedef struct need_query {
    uct_requires_env_t *env;
    const char *folder;  /* replaces $ORIGIN in `runpath` */
    const char *runpath; /* folders, separated by colons, in which the dynamic
                          * loader searches the libraries of this plugin; or
                          * "" */
} need_query_t;

ucs_status_t uct_requires_env_create(const char *root, const char *library_path,
                                     uct_requires_env_t **env_p)
{
    uct_requires_env_t *env = calloc(1, sizeof(*env));

    if (env == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    env->root         = strdup(root);
    env->library_path = strdup((library_path == NULL) ? "" : library_path);
    if ((env->root == NULL) || (env->library_path == NULL)) {
        uct_requires_env_destroy(env);
        return UCS_ERR_NO_MEMORY;
    }
    *env_p = env;
    return UCS_OK;
}

void uct_requires_env_destroy(uct_requires_env_t *env)
{
    uct_ldcache_close(&env->ldcache);
    free(env->library_path);
    free(env->root);
    free(env);
}

/* Writes env->root followed by an absolute path to `buffer`; returns 0 if it
 * does not fit. */
static int rooted(const uct_requires_env_t *env, char *buffer, size_t size,
                  const char *path)
{
    int count = snprintf(buffer, size, "%s%s", env->root, path);

    return (count > 0) && ((size_t)count < size);
}

/* Returns whether a file matches the shell pattern, an absolute path. */
static int has_device(const need_query_t *query, const char *pattern)
{
    char path[PATH_MAX];
    glob_t found;
    int result;

    if (!rooted(query->env, path, sizeof(path), pattern)) {
        return 0;
    }
    result = glob(path, GLOB_NOSORT, NULL, &found) == 0;
    if (result) {
        globfree(&found);
    }
    return result;
}

/* Replaces '-' by '_': the kernel lists a module under a name with '_' even if
 * the name of its file has '-'. */
static void normalize(char *name)
{
    for (; *name != '\0'; ++name) {
        if (*name == '-') {
            *name = '_';
        }
    }
}

/* Returns whether the first word of a line in /proc/modules is the name. */
static int is_module_loaded(const need_query_t *query, const char *name)
{
    char path[PATH_MAX], line[512], word[65];
    int found = 0;
    FILE *file;

    if (!rooted(query->env, path, sizeof(path), "/proc/modules") ||
        ((file = fopen(path, "re")) == NULL)) {
        return 0;
    }
    while (!found && (fgets(line, sizeof(line), file) != NULL)) {
        found = (sscanf(line, "%64s", word) == 1) && !strcmp(word, name);
    }
    fclose(file);
    return found;
}

/* Returns whether the module is built into the kernel: each line of the file
 * modules.builtin is the path of such a module, ".../NAME.ko". */
static int is_module_builtin(const need_query_t *query, const char *name)
{
    char path[PATH_MAX], full[PATH_MAX], line[512];
    struct utsname kernel;
    int found = 0;
    char *base, *dot;
    FILE *file;

    uname(&kernel);
    snprintf(path, sizeof(path), "/lib/modules/%s/modules.builtin",
             kernel.release);
    if (!rooted(query->env, full, sizeof(full), path) ||
        ((file = fopen(full, "re")) == NULL)) {
        return 0;
    }
    while (!found && (fgets(line, sizeof(line), file) != NULL)) {
        base = strrchr(line, '/');
        base = (base == NULL) ? line : base + 1;
        dot  = strchr(base, '.');
        if (dot != NULL) {
            *dot = '\0';
        }
        normalize(base);
        found = !strcmp(base, name);
    }
    fclose(file);
    return found;
}

static int has_module(const need_query_t *query, const char *name)
{
    char word[65], path[PATH_MAX], full[PATH_MAX];

    snprintf(word, sizeof(word), "%s", name);
    normalize(word);
    snprintf(path, sizeof(path), "/sys/module/%s", word);
    return (rooted(query->env, full, sizeof(full), path) &&
            (access(full, F_OK) == 0)) ||
           is_module_loaded(query, word) || is_module_builtin(query, word);
}

/* Returns whether the dynamic loader would find the library. `name` is an
 * absolute path or a soname. */
static int has_library(const need_query_t *query, const char *name)
{
    uct_requires_env_t *env = query->env;
    char path[PATH_MAX];

    if (name[0] == '/') {
        return rooted(env, path, sizeof(path), name) &&
               (access(path, R_OK) == 0);
    }

    if (!env->has_ldcache) {
        if (rooted(env, path, sizeof(path), "/etc/ld.so.cache")) {
            uct_ldcache_open(&env->ldcache, path);
        }
        env->has_ldcache = 1;
    }
    return uct_ldcache_in_path(env->library_path, "", name) ||
           uct_ldcache_in_path(query->runpath, query->folder, name) ||
           uct_ldcache_has(&env->ldcache, name) ||
           uct_ldcache_in_defaults(name);
}

/* How each kind of requirement is checked and reported; indexed by
 * uct_need_kind_t. */
static const struct need_type {
    /* Returns nonzero if the requirement is met */
    int (*has)(const need_query_t *query, const char *name);
    uct_rejection_code_t code; /* if it is not met */
    const char *word;          /* the kind, for messages */
    const char *remark;        /* what is wrong if it is not met */
} need_types[UCT_NEED_LAST] = {
    [UCT_NEED_DEVICE]  = {has_device, UCT_REJECT_NEED_DEVICE, "device node",
                          "no such node exists"},
    [UCT_NEED_MODULE]  = {has_module, UCT_REJECT_NEED_MODULE, "kernel module",
                          "it is not loaded"},
    [UCT_NEED_LIBRARY] = {has_library, UCT_REJECT_NEED_LIBRARY,
                          "shared library", "the loader would not find it"},
};

/* Returns the first requirement of the group that is not met, and its kind in
 * *kind_p; NULL if all are met. */
static const uct_need_t *first_missing(const need_query_t *query,
                                       const uct_need_group_t *group,
                                       uct_need_kind_t *kind_p)
{
    const uct_need_t *need;
    unsigned i;
    int kind;

    for (kind = 0; kind < UCT_NEED_LAST; ++kind) {
        for (i = 0; i < group->count[kind]; ++i) {
            need = &group->list[kind][i];
            if (!need_types[kind].has(query, need->name)) {
                *kind_p = kind;
                return need;
            }
        }
    }
    return NULL;
}

/* Returns UCS_OK if all requirements of at least one group in `any_of` are met.
 * Otherwise the rejection lists what is missing first in each group. */
static ucs_status_t check_any_of(const need_query_t *query,
                                 const uct_requires_t *requires,
                                 uct_rejection_t *rejection)
{
    char list[512] = "";
    const uct_need_t *need;
    uct_need_kind_t kind;
    size_t length = 0;
    unsigned i;

    for (i = 0; i < requires->num_any_of; ++i) {
        need = first_missing(query, &requires->any_of[i], &kind);
        if (need == NULL) {
            return UCS_OK;
        }
        if (length < sizeof(list)) {
            length += snprintf(list + length, sizeof(list) - length,
                               "%s%s %s%s%s", (i == 0) ? "" : ", or ",
                               need_types[kind].word, need->name,
                               (need->hint == NULL) ? "" : " - ",
                               (need->hint == NULL) ? "" : need->hint);
        }
    }
    return uct_reject(rejection, UCT_REJECT_NEED_ANY_OF,
                      "none of these exists: %s%s%s", list,
                      (requires->hint == NULL) ? "" : "; ",
                      (requires->hint == NULL) ? "" : requires->hint);
}

ucs_status_t uct_requires_check(uct_requires_env_t *env,
                                const uct_requires_t *requires,
                                const char *folder, const char *runpath,
                                uct_rejection_t *rejection)
{
    need_query_t query = {env, folder, runpath};
    const uct_need_t *need;
    uct_need_kind_t kind;
    const char *hint;

    need = first_missing(&query, &requires->all, &kind);
    if (need != NULL) {
        hint = (need->hint != NULL) ? need->hint : requires->hint;
        return uct_reject(rejection, need_types[kind].code,
                          "needs the %s %s: %s%s%s", need_types[kind].word,
                          need->name, need_types[kind].remark,
                          (hint == NULL) ? "" : "; ",
                          (hint == NULL) ? "" : hint);
    }
    return (requires->num_any_of == 0) ?
               UCS_OK :
               check_any_of(&query, requires, rejection);
}
