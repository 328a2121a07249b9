/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry: all plugins that were found, in order, with the state of each.
 * The core (UCT) and the tools use core/uct/plugin by these functions.
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

/* What the scan has found about a plugin. Does not change until the registry
 * is destroyed. */
typedef struct uct_plugin_info {
    const char *name;               /* derived from the file name if the
                                     * manifest cannot be read */
    const char *path;               /* path of the manifest, as it was found */
    const char *folder;             /* folder of the manifest without links; ""
                                     * if unknown */
    const char *library;            /* path without links; "" if unknown */
    const uct_manifest_t *manifest; /* NULL if it cannot be read */
    const uct_search_dir_t *dir;    /* search folder that contains it */
    int priority;                   /* includes the change by an override */
    int bind_now;                   /* library linked with -z now */
} uct_plugin_info_t;

/* An override file, whether or not a plugin has the name that it states. */
typedef struct uct_plugin_override {
    const char *path;
    const uct_manifest_t *manifest;
    int matched; /* a plugin of this name exists */
} uct_plugin_override_t;

enum {
    /* Log nothing, because the caller shows the rejections itself. */
    UCT_PLUGIN_SCAN_QUIET = 1u << 0,
};

/* --- Registries -------------------------------------------------------- */

/*
 * Returns the registry of the process. The first call scans. Faults that the
 * scan finds are logged once, as warnings; absent hardware or software is not
 * logged.
 */
ucs_status_t uct_plugin_registry_get(uct_plugin_registry_t **registry_p);

/* Frees the registry of the process; the next uct_plugin_registry_get() scans
 * again. UCS_ERR_BUSY while uct_plugin_load() holds a plugin. For tests and
 * tools. */
ucs_status_t uct_plugin_registry_reset(void);

/* Creates a registry for the caller. If `params` is NULL,
 * uct_search_params_default() is used. */
ucs_status_t uct_plugin_registry_create(const uct_search_params_t *params,
                                        unsigned flags,
                                        uct_plugin_registry_t **registry_p);

/* Unloads the code of the plugins and frees the registry. No object of a
 * plugin may be open. */
void uct_plugin_registry_destroy(uct_plugin_registry_t *registry);

/* --- Queries; they load nothing ---------------------------------------- */

/* Returns the plugins, including rejected ones, in order: higher priority
 * first, then the search order. `index` starts at 0; NULL is returned after the
 * last plugin. */
uct_plugin_t *uct_plugin_at(uct_plugin_registry_t *registry, unsigned index);

/* Returns the next plugin that is AVAILABLE or LOADED; the first one if
 * `previous` is NULL. */
uct_plugin_t *uct_plugin_next(uct_plugin_registry_t *registry,
                              const uct_plugin_t *previous);

/* Returns the usable plugin of a name; if there is none, a rejected one, or
 * NULL. */
uct_plugin_t *uct_plugin_find(uct_plugin_registry_t *registry,
                              const char *name);

const uct_plugin_info_t *uct_plugin_info(const uct_plugin_t *plugin);

/* Returns the current state. `rejection` may be NULL; its code is NONE if the
 * plugin is usable. */
uct_plugin_state_t uct_plugin_state(uct_plugin_t *plugin,
                                    uct_rejection_t *rejection);

const char *uct_plugin_state_name(uct_plugin_state_t state);

/* Return the search folders in order, and the administrator's overrides. */
const uct_search_t *uct_plugin_search(const uct_plugin_registry_t *registry);
const uct_plugin_override_t *
uct_plugin_overrides(const uct_plugin_registry_t *registry, unsigned *count_p);

/*
 * Returns the prefixes ("TCP_") of the variables of all plugins, including
 * rejected ones, terminated by NULL. For ucs_config_warn_unknown().
 */
const char *const *
uct_plugin_config_prefixes(const uct_plugin_registry_t *registry);

/*
 * Explains in one line why the word of a selection list (a transport's name or
 * alias) selects nothing usable, and what to do: the text names the plugin that
 * offers the word and why that plugin is rejected, or the most similar word.
 * `builtin` is a list of the words that need no plugin, terminated by NULL; it
 * may be NULL.
 *
 * Returns UCS_OK with an empty text if a usable plugin offers the word,
 * UCS_ERR_UNSUPPORTED if only a rejected plugin offers it, UCS_ERR_NO_ELEM if
 * it is unknown.
 */
ucs_status_t uct_plugin_explain_word(uct_plugin_registry_t *registry,
                                     const char *word,
                                     const char *const *builtin, char *text,
                                     size_t size);

/* --- Loading ----------------------------------------------------------- */

/*
 * Loads the code, calls the entry point and checks its result; a second call
 * only counts the reference. Each success requires one uct_plugin_release(). A
 * failure is stored and returned again without a retry, except for a lack of
 * memory or descriptors. `rejection` may be NULL.
 */
ucs_status_t uct_plugin_load(uct_plugin_t *plugin, const ucx_host_t *host,
                             const ucx_plugin_t **descriptor_p,
                             uct_rejection_t *rejection);

/* Releases a reference. The code stays in memory until the registry is
 * destroyed. */
void uct_plugin_release(uct_plugin_t *plugin);

#endif
