/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of components that uct_query_components() returns: those of the core
 * itself, then those that usable plugins declare in their manifests.
 * component.c stores the list; component_list.c fills it.
 */
#ifndef UCT_BASE_COMPONENT_LIST_H
#define UCT_BASE_COMPONENT_LIST_H

#include <ucx/plugin.h>

#include "uct/base/component.h"

/*
 * Loads the code of a component, if it is not loaded, and returns the
 * component's descriptor. Called with the component's lock held, once for each
 * component; again only after UCS_ERR_NO_MEMORY, of this function or of the
 * code that uses the descriptor.
 */
typedef ucs_status_t (*uct_component_load_cb_t)(
    void *arg, const uct_component_decl_t *decl,
    const ucx_component_t **desc_p);

/* Releases what a call of the load function has taken. Called with the
 * component's lock held if the code cannot be created after a successful load,
 * otherwise when the library is unloaded. */
typedef void (*uct_component_unload_cb_t)(const uct_component_decl_t *decl);

/*
 * Returns the handle for the component with the name and plugin in `decl`. If
 * it exists, its declaration does not change. Otherwise a new handle gets a
 * copy of `decl`. A new component of the core itself (decl->plugin is NULL) is
 * on the list at once; uct_component_list_set() puts a component of a plugin on
 * it. `unload` may be NULL.
 */
ucs_status_t uct_component_add(const uct_component_decl_t *decl,
                               uct_component_load_cb_t load,
                               uct_component_unload_cb_t unload, void *arg,
                               uct_component_h *component_p);

/* Sets which components of plugins are on the list, in this order, after the
 * components of the core itself. */
void uct_component_list_set(const uct_component_h *components, unsigned count);

/* Removes a component and frees it, without a call of its unload function; none
 * of its objects may be open. For tests. */
void uct_component_remove(uct_component_h component);

/* Unloads and frees all components. Does nothing while a memory domain or
 * connection manager of any component is open. Called when the library is
 * unloaded, when no other thread uses it. */
void uct_component_free_all(void);

/* Fills the list from the registry of plugins (uct/plugin/registry.h), which
 * reads the manifests at the first call. Loads no code. */
ucs_status_t uct_component_list_update(void);

#endif
