/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All plugins that were found, in order, and what became of each. This is the
 * interface of the UCT framework and of the tools to this folder.
 *
 * A scan reads manifests and looks at files; no plugin's code runs before
 * uct_plugin_load() asks for it. Everything here may be called by any thread.
 */
#ifndef UCT_PLUGIN_REGISTRY_H
#define UCT_PLUGIN_REGISTRY_H

#include <ucx/plugin.h>

#include "uct/plugin/manifest.h"
#include "uct/plugin/search.h"

typedef struct uct_plugin uct_plugin_t;
typedef struct uct_plugin_registry uct_plugin_registry_t;

/*
 *             scan                    load
 *   (file) ----------> AVAILABLE ----------> LOADED
 *      |                   |
 *      |                   +---------------> REFUSED   code of loading
 *      +--> REFUSED, SHADOWED, REPLACED, DISABLED      code of the scan
 *
 * REPLACED, and REFUSED for a conflict or a duplicate, turn back to AVAILABLE
 * when the plugin that was in the way fails to load.
 */
typedef enum uct_plugin_state {
    UCT_PLUGIN_AVAILABLE,
    UCT_PLUGIN_LOADED,
    UCT_PLUGIN_REFUSED,
    UCT_PLUGIN_SHADOWED,
    UCT_PLUGIN_REPLACED,
    UCT_PLUGIN_DISABLED
} uct_plugin_state_t;

/* What a scan has found out and what does not change any more. */
typedef struct uct_plugin_info {
    const char *name;               /* of the file where the manifest was not
                                         readable */
    const char *path;               /* the manifest as it was found */
    const char *folder;             /* where it really lies; "" not known */
    const char *library;            /* real path; "" not known */
    const uct_manifest_t *manifest; /* NULL: not readable */
    const uct_search_dir_t *dir;    /* where it was found */
    int priority;                   /* with the administrator's word */
    int bind_now;                   /* the library was linked so */
} uct_plugin_info_t;

/* An override file that took effect, or names no plugin. */
typedef struct uct_plugin_override {
    const char *path;
    const uct_manifest_t *manifest;
    int matched; /* there is a plugin of this name */
} uct_plugin_override_t;

enum {
    /* Log nothing: the caller shows the refusals himself. */
    UCT_PLUGIN_SCAN_QUIET = 1u << 0
};

/* --- Registries -------------------------------------------------------- */

/*
 * The process's own, scanned at the first call. A fault found by the scan is
 * logged once, as a warning; what is merely absent is not.
 */
ucs_status_t uct_plugin_registry_get(uct_plugin_registry_t **registry_p);

/* Forgets the process's own, so that the next get scans again. UCS_ERR_BUSY
 * while a plugin of it is held by uct_plugin_load(). For tests and tools. */
ucs_status_t uct_plugin_registry_reset(void);

/* One of the caller's own; `params` NULL: uct_search_params_default(). */
ucs_status_t uct_plugin_registry_create(const uct_search_params_t *params,
                                        unsigned flags,
                                        uct_plugin_registry_t **registry_p);

/* Unloads what is loaded; nothing of it may be in use. */
void uct_plugin_registry_destroy(uct_plugin_registry_t *registry);

/* --- Asking; loads nothing --------------------------------------------- */

/* All plugins, refused ones too, in order: higher priority first, then the
 * search order. `index` runs from 0; NULL is the end. */
uct_plugin_t *uct_plugin_at(uct_plugin_registry_t *registry, unsigned index);

/* The next in order that is AVAILABLE or LOADED; `previous` NULL: the first. */
uct_plugin_t *uct_plugin_next(uct_plugin_registry_t *registry,
                              const uct_plugin_t *previous);

/* The one that counts for the name, or a refused one, or NULL. */
uct_plugin_t *uct_plugin_find(uct_plugin_registry_t *registry,
                              const char *name);

const uct_plugin_info_t *uct_plugin_info(const uct_plugin_t *plugin);

/* The state now; `refusal` may be NULL and gets code NONE if it is usable. */
uct_plugin_state_t uct_plugin_state(uct_plugin_t *plugin,
                                    uct_refusal_t *refusal);

const char *uct_plugin_state_name(uct_plugin_state_t state);

/* Folders in order, and the administrator's overrides. */
const uct_search_t *uct_plugin_search(const uct_plugin_registry_t *registry);
const uct_plugin_override_t *
uct_plugin_overrides(const uct_plugin_registry_t *registry, unsigned *count_p);

/*
 * Prefixes ("TCP_") of the variables that belong to plugins, loaded or not,
 * refused ones too; ended by NULL. For ucs_config_warn_unknown().
 */
const char *const *
uct_plugin_config_prefixes(const uct_plugin_registry_t *registry);

/*
 * Says in one line why the word of a selection list (a transport's name or
 * alias) leads to nothing usable, and what to do: the plugin that offers it
 * and its refusal, or the nearest word there is. `builtin`, ended by NULL, are
 * words that need no plugin; may be NULL.
 *
 * UCS_OK: some usable plugin offers it, the text is empty.
 * UCS_ERR_UNSUPPORTED: a plugin would offer it, but is refused.
 * UCS_ERR_NO_ELEM: nobody has ever heard of it.
 */
ucs_status_t uct_plugin_explain_word(uct_plugin_registry_t *registry,
                                     const char *word,
                                     const char *const *builtin, char *text,
                                     size_t size);

/* --- Loading ----------------------------------------------------------- */

/*
 * Loads the code, asks the entry point and checks what it says; the second
 * call only counts. Each success wants one uct_plugin_release(). A failure is
 * remembered and told again without another try. `refusal` may be NULL.
 */
ucs_status_t uct_plugin_load(uct_plugin_t *plugin, const ucx_host_t *host,
                             const ucx_plugin_t **descriptor_p,
                             uct_refusal_t *refusal);

/* The code stays in memory until the registry goes. */
void uct_plugin_release(uct_plugin_t *plugin);

#endif
