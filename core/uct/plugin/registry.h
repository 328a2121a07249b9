/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry: a list of all plugins that a scan of the plugin folders has
 * found, with the state of each. The core (UCT) and the tool `ucx-plugins` find
 * and load plugins by these functions.
 *
 * The scan reads manifests (JSON files that describe plugins) and properties of
 * files; no code of a plugin runs before uct_plugin_load(). Any thread may call
 * these functions.
 */
#ifndef UCT_PLUGIN_REGISTRY_H
#define UCT_PLUGIN_REGISTRY_H

#include <ucx/plugin.h>

#include "uct/plugin/manifest.h"
#include "uct/plugin/search.h"

typedef struct uct_plugin uct_plugin_t;
typedef struct uct_plugin_registry uct_plugin_registry_t;

/*
 *         scan           uct_plugin_load()
 * (file) ------> AVAILABLE --------------> LOADED
 *   |                |
 *   |                +---- load fails ---> REJECTED
 *   +--> REJECTED, SHADOWED, REPLACED, DISABLED
 *
 * A plugin that is REPLACED, or REJECTED for a conflict or a duplicate, becomes
 * AVAILABLE again when the plugin that displaced it fails to load.
 */
typedef enum uct_plugin_state {
    UCT_PLUGIN_AVAILABLE, /* may be loaded */
    UCT_PLUGIN_LOADED,    /* its code is in memory */
    UCT_PLUGIN_REJECTED,  /* unusable for another reason than those below */
    UCT_PLUGIN_SHADOWED,  /* a usable plugin of the same name comes first */
    UCT_PLUGIN_REPLACED,  /* another plugin states that it replaces this one */
    UCT_PLUGIN_DISABLED,  /* by an override of the administrator */
} uct_plugin_state_t;

/* What the scan has found about a plugin. Does not change until the registry
 * is destroyed. */
typedef struct uct_plugin_info {
    const char *name;               /* file name without ".json"; equal to the
                                     * name in the manifest, unless the plugin
                                     * is rejected for the difference */
    const char *path;               /* path of the manifest, as it was found */
    const char *folder;             /* folder of the manifest without symbolic
                                     * links; "" if unknown */
    const char *library;            /* path of the shared object without links;
                                     * "" if it is missing or was rejected */
    const uct_manifest_t *manifest; /* NULL if it is invalid or unreadable */
    const uct_search_dir_t *dir;    /* search folder that contains the
                                     * manifest */
    int priority;                   /* from the manifest, or from an override
                                     * that states a priority */
    int bind_now;                   /* 1: the library is linked with -z now */
} uct_plugin_info_t;

/* An override: a file in which the administrator disables a plugin or changes
 * its priority. */
typedef struct uct_plugin_override {
    const char *path;               /* path of the file */
    const uct_manifest_t *manifest; /* content of the file */
    int matched;                    /* 0: the scan found no plugin of the name
                                     * in the file, so it has no effect */
} uct_plugin_override_t;

enum {
    /* The registry logs no rejections, because the caller shows them itself. */
    UCT_PLUGIN_SCAN_QUIET = 1u << 0,
};

/* --- Registries -------------------------------------------------------- */

/*
 * Returns the registry of the process. The first call creates it and scans the
 * plugin folders. The scan logs faulty plugins as warnings, and plugins that
 * are only disabled, or whose hardware or software is absent, as debug
 * messages.
 */
ucs_status_t uct_plugin_registry_get(uct_plugin_registry_t **registry_p);

/* Frees the registry of the process; the next uct_plugin_registry_get() scans
 * again. Returns UCS_ERR_BUSY, and changes nothing, if a plugin is being loaded
 * or uct_plugin_release() was not called for each uct_plugin_load(). For tests
 * and tools. */
ucs_status_t uct_plugin_registry_reset(void);

/* Creates a registry for the caller, and scans. `params` are the folders to
 * search; if NULL, those of uct_search_params_default() are used. `flags` are
 * UCT_PLUGIN_SCAN_*. */
ucs_status_t uct_plugin_registry_create(const uct_search_params_t *params,
                                        unsigned flags,
                                        uct_plugin_registry_t **registry_p);

/* Unloads the code of the plugins and frees the registry. Nothing that a plugin
 * has created may be in use. */
void uct_plugin_registry_destroy(uct_plugin_registry_t *registry);

/* --- Queries; they load nothing ---------------------------------------- */

/* Returns the plugin at position `index` (0 is the first), or NULL if there are
 * not so many. Rejected plugins are included. The order is: higher priority
 * first; among equal priorities, the order in which the files were found. A
 * plugin that another one replaces is moved behind that one. */
uct_plugin_t *uct_plugin_at(uct_plugin_registry_t *registry, unsigned index);

/* Returns the next plugin after `previous` that is AVAILABLE or LOADED; the
 * first one if `previous` is NULL. Returns NULL after the last. */
uct_plugin_t *uct_plugin_next(uct_plugin_registry_t *registry,
                              const uct_plugin_t *previous);

/* Returns the usable plugin (AVAILABLE or LOADED) of a name; if there is none,
 * a rejected plugin of the name, or NULL. */
uct_plugin_t *uct_plugin_find(uct_plugin_registry_t *registry,
                              const char *name);

const uct_plugin_info_t *uct_plugin_info(const uct_plugin_t *plugin);

/* Returns the current state. `rejection`, if not NULL, receives why the plugin
 * is not usable; its code is UCT_REJECT_NONE if it is usable. */
uct_plugin_state_t uct_plugin_state(uct_plugin_t *plugin,
                                    uct_rejection_t *rejection);

const char *uct_plugin_state_name(uct_plugin_state_t state);

/* Return the search folders in order, and the array of the administrator's
 * overrides. Both are valid until the registry is destroyed. */
const uct_search_t *uct_plugin_search(const uct_plugin_registry_t *registry);
const uct_plugin_override_t *
uct_plugin_overrides(const uct_plugin_registry_t *registry, unsigned *count_p);

/*
 * Returns the prefixes ("TCP_") of the configuration variables of all plugins,
 * including rejected ones, terminated by NULL. With them,
 * ucs_config_warn_unknown() does not report variables of plugins that are not
 * loaded.
 */
const char *const *
uct_plugin_config_prefixes(const uct_plugin_registry_t *registry);

/*
 * Explains in one line why a word of UCX_TLS (a transport's name or alias)
 * selects no usable transport, and what to do. If a rejected plugin offers the
 * word, the text names the plugin and the reason of its rejection; otherwise
 * the most similar known word. `builtin` lists the words that need no plugin,
 * terminated by NULL; it may be NULL. `text` has `size` bytes.
 *
 * Returns UCS_OK with an empty text if the word is in `builtin` or a usable
 * plugin offers it, UCS_ERR_UNSUPPORTED if only a rejected plugin offers it,
 * UCS_ERR_NO_ELEM if it is unknown.
 */
ucs_status_t uct_plugin_explain_word(uct_plugin_registry_t *registry,
                                     const char *word,
                                     const char *const *builtin, char *text,
                                     size_t size);

/* --- Loading ----------------------------------------------------------- */

/*
 * Loads the plugin's code, calls its entry point with `host` (the core's
 * functions for plugins), and checks the descriptor that the entry point
 * returns. For a plugin that is already loaded, only takes another reference.
 * Each success requires one uct_plugin_release(). A failure is stored, and
 * later calls return it without a retry; but after a lack of memory or
 * descriptors a later call tries again. `rejection` may be NULL.
 */
ucs_status_t uct_plugin_load(uct_plugin_t *plugin, const ucx_host_t *host,
                             const ucx_plugin_t **descriptor_p,
                             uct_rejection_t *rejection);

/* Releases a reference that uct_plugin_load() has taken. The code stays in
 * memory until the registry is destroyed. */
void uct_plugin_release(uct_plugin_t *plugin);

#endif
