/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All plugins found, in order, with the state of each. The interface of this
 * folder to the UCT framework and to the tools.
 *
 * A scan reads manifests and file attributes; no code of a plugin runs before
 * uct_plugin_load(). Any thread may call these functions.
 */
#ifndef UCT_PLUGIN_REGISTRY_H
#define UCT_PLUGIN_REGISTRY_H

#include <ucx/plugin.h>

#include "uct/plugin/manifest.h"
#include "uct/plugin/search.h"

typedef struct uct_plugin uct_plugin_t;
typedef struct uct_plugin_registry uct_plugin_registry_t;

/*
 *       scan                       load
 * (file) ----------> AVAILABLE ----------> LOADED
 *   |                    |
 *   |                    +---------------> REJECTED   code of loading
 *   +--> REJECTED, SHADOWED, REPLACED, DISABLED       code of the scan
 *
 * REPLACED, and REJECTED for a conflict or a duplicate, become AVAILABLE again
 * when the plugin that displaced them fails to load.
 */
typedef enum uct_plugin_state {
    UCT_PLUGIN_AVAILABLE,
    UCT_PLUGIN_LOADED,
    UCT_PLUGIN_REJECTED,
    UCT_PLUGIN_SHADOWED,
    UCT_PLUGIN_REPLACED,
    UCT_PLUGIN_DISABLED,
} uct_plugin_state_t;

/* Results of a scan, which do not change. */
typedef struct uct_plugin_info {
    const char *name;               /* derived from the file name if the
                                     * manifest is not readable */
    const char *path;               /* manifest's path as found */
    const char *folder;             /* its real folder; "" unknown */
    const char *library;            /* real path; "" unknown */
    const uct_manifest_t *manifest; /* NULL: not readable */
    const uct_search_dir_t *dir;    /* search folder that contains it */
    int priority;                   /* including the override */
    int bind_now;                   /* library linked with -z now */
} uct_plugin_info_t;

/* An override file that applies, or that names no plugin. */
typedef struct uct_plugin_override {
    const char *path;
    const uct_manifest_t *manifest;
    int matched; /* a plugin of this name exists */
} uct_plugin_override_t;

enum {
    /* Log nothing: the caller shows the rejections itself. */
    UCT_PLUGIN_SCAN_QUIET = 1u << 0,
};

/* --- Registries -------------------------------------------------------- */

/*
 * The registry of the process, scanned at the first call. A fault found by the
 * scan is logged once, as a warning; absent hardware or software is not.
 */
ucs_status_t uct_plugin_registry_get(uct_plugin_registry_t **registry_p);

/* Frees the registry of the process; the next get scans again. UCS_ERR_BUSY
 * while a plugin is held by uct_plugin_load(). For tests and tools. */
ucs_status_t uct_plugin_registry_reset(void);

/* A registry of the caller; `params` NULL: uct_search_params_default(). */
ucs_status_t uct_plugin_registry_create(const uct_search_params_t *params,
                                        unsigned flags,
                                        uct_plugin_registry_t **registry_p);

/* Unloads the plugins, which must not be in use. */
void uct_plugin_registry_destroy(uct_plugin_registry_t *registry);

/* --- Asking; loads nothing --------------------------------------------- */

/* All plugins, including rejected ones, in order: higher priority first, then
 * the search order. `index` runs from 0; NULL is the end. */
uct_plugin_t *uct_plugin_at(uct_plugin_registry_t *registry, unsigned index);

/* The next plugin that is AVAILABLE or LOADED; `previous` NULL: the first. */
uct_plugin_t *uct_plugin_next(uct_plugin_registry_t *registry,
                              const uct_plugin_t *previous);

/* The effective plugin of a name, or a rejected one, or NULL. */
uct_plugin_t *uct_plugin_find(uct_plugin_registry_t *registry,
                              const char *name);

const uct_plugin_info_t *uct_plugin_info(const uct_plugin_t *plugin);

/* The current state; `rejection` may be NULL; its code is NONE if the plugin is
 * usable. */
uct_plugin_state_t uct_plugin_state(uct_plugin_t *plugin,
                                    uct_rejection_t *rejection);

const char *uct_plugin_state_name(uct_plugin_state_t state);

/* Search folders in order, and the administrator's overrides. */
const uct_search_t *uct_plugin_search(const uct_plugin_registry_t *registry);
const uct_plugin_override_t *
uct_plugin_overrides(const uct_plugin_registry_t *registry, unsigned *count_p);

/*
 * Prefixes ("TCP_") of the variables of plugins, loaded or not, including
 * rejected ones; terminated by NULL. For ucs_config_warn_unknown().
 */
const char *const *
uct_plugin_config_prefixes(const uct_plugin_registry_t *registry);

/*
 * Explains in one line why the word of a selection list (a transport's name or
 * alias) selects nothing usable, and what to do: the plugin that offers it and
 * why it is rejected, or the most similar word. `builtin`, terminated by NULL,
 * are words that need no plugin; may be NULL.
 *
 * UCS_OK: a usable plugin offers it, the text is empty. UCS_ERR_UNSUPPORTED: a
 * plugin would offer it, but is rejected. UCS_ERR_NO_ELEM: unknown word.
 */
ucs_status_t uct_plugin_explain_word(uct_plugin_registry_t *registry,
                                     const char *word,
                                     const char *const *builtin, char *text,
                                     size_t size);

/* --- Loading ----------------------------------------------------------- */

/*
 * Loads the code, calls the entry point and checks its result; a second call
 * only counts. Each success requires one uct_plugin_release(). A failure is
 * stored and returned again without a retry. `rejection` may be NULL.
 */
ucs_status_t uct_plugin_load(uct_plugin_t *plugin, const ucx_host_t *host,
                             const ucx_plugin_t **descriptor_p,
                             uct_rejection_t *rejection);

/* The code stays in memory until the registry is destroyed. */
void uct_plugin_release(uct_plugin_t *plugin);

#endif
