/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What gets on the list of components: what is built in, then what usable
 * plugins promise in their manifests. The list itself is in component.c.
 */
#ifndef UCT_BASE_COMPONENT_LIST_H
#define UCT_BASE_COMPONENT_LIST_H

#include <ucx/plugin.h>

#include "uct/base/component.h"

/*
 * Gives the descriptor of the promised component, loading code if that is what
 * it takes. Called once, with the lock of the component held.
 */
typedef ucs_status_t
(*uct_component_load_cb_t)(void *arg, const uct_component_promise_t *promise,
                           const ucx_component_t **desc_p);

/*
 * The handle for a component of this name and plugin: a new one, or the one
 * that there is already (its promise stays as it was). The promise is copied
 * whole. A new one is not on the list yet, unless it belongs to no plugin.
 */
ucs_status_t uct_component_add(const uct_component_promise_t *promise,
                               uct_component_load_cb_t load, void *arg,
                               uct_component_h *component_p);

/* Says which components of plugins are on the list, and in which order; those
 * without a plugin come before them. */
void uct_component_list_set(const uct_component_h *components, unsigned count);

/* Takes a component out and frees it; nothing of it may be open. For tests. */
void uct_component_remove(uct_component_h component);

/* Frees all components, unless something of any is open. At the unloading of the
 * library, by one thread; `unload` is told whose code is not needed any more. */
typedef void
(*uct_component_unload_cb_t)(const uct_component_promise_t *promise);
void uct_component_free_all(uct_component_unload_cb_t unload);

/* Brings the list up to date; loads nothing. Cheap when nothing changed. */
ucs_status_t uct_component_list_update(void);

#endif
