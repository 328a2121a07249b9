/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of components: built-in ones, then those that usable plugins declare
 * in their manifests. The list itself is in component.c.
 */
#ifndef UCT_BASE_COMPONENT_LIST_H
#define UCT_BASE_COMPONENT_LIST_H

#include <ucx/plugin.h>

#include "uct/base/component.h"

/*
 * Returns the descriptor of a declared component and loads its code if
 * necessary. Called with the component's lock held. Called again only if it has
 * returned UCS_ERR_NO_MEMORY.
 */
typedef ucs_status_t (*uct_component_load_cb_t)(
    void *arg, const uct_component_decl_t *decl,
    const ucx_component_t **desc_p);

/*
 * Returns the handle for a component of this name and plugin. An existing
 * handle is returned with its former declaration; otherwise the declaration is
 * copied to a new handle. A new component without a plugin is on the list at
 * once; a component of a plugin is not, see uct_component_list_set().
 */
ucs_status_t uct_component_add(const uct_component_decl_t *decl,
                               uct_component_load_cb_t load, void *arg,
                               uct_component_h *component_p);

/* Sets which plugins' components are on the list, and their order. Components
 * without a plugin precede them. */
void uct_component_list_set(const uct_component_h *components, unsigned count);

/* Removes a component and frees it; none of its objects may be open. For
 * tests. */
void uct_component_remove(uct_component_h component);

/* Frees all components, unless an object of a component is open. Called by one
 * thread when the library is unloaded; `unload` receives each component whose
 * code is no longer needed. */
typedef void (*uct_component_unload_cb_t)(const uct_component_decl_t *decl);
void uct_component_free_all(uct_component_unload_cb_t unload);

/* Updates the list from the registry of plugins. Loads no code. Fast if nothing
 * has changed. */
ucs_status_t uct_component_list_update(void);

#endif
