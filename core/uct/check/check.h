/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checking layer: UCX_PLUGIN_CHECK puts it between the core and the plugins
 * of a program, and it reports every rule of sdk/ABI.md that it sees broken. It
 * replaces slots of the completed tables when a component is loaded. Without
 * the variable, the tables are the plugin's own, and no path of a message
 * differs.
 */
#ifndef UCT_CHECK_H
#define UCT_CHECK_H

#include <ucx/plugin.h>

typedef struct uct_check_tl uct_check_tl_t;
typedef struct uct_check_iface uct_check_iface_t;
typedef struct uct_check_md uct_check_md_t;

/* First member of the core's state behind uct_iface.host and uct_md.host, which
 * this folder does not know. NULL: plugins are not checked. */
typedef struct uct_check_host {
    uct_check_iface_t *iface;
    uct_check_md_t *md;
} uct_check_host_t;

/* Is the layer on? Read once in a process. */
int uct_check_enabled(void);

/* Replaces the slots that the plugin implements (all that differ from the
 * defaults) by checking ones. *check_p receives the plugin's own slots, or NULL
 * if the layer is off. `name` stays valid. UCS_ERR_NO_MEMORY. */
ucs_status_t uct_check_tl_create(const char *name, ucx_iface_ops_t *iface_ops,
                                 const ucx_iface_ops_t *iface_defaults,
                                 ucx_ep_ops_t *ep_ops,
                                 const ucx_ep_ops_t *ep_defaults,
                                 uct_check_tl_t **check_p);
void uct_check_tl_destroy(uct_check_tl_t *check);

/* As uct_check_tl_create(), for the slots of a memory domain. free() releases
 * *own_p. */
ucs_status_t uct_check_md_ops(ucx_md_ops_t *md_ops,
                              const ucx_md_ops_t *defaults,
                              ucx_md_ops_t **own_p);

/* State of one interface. `tl` NULL: the layer is off, *check_p is NULL. The
 * flags are those that the manifest declares. The interface is closed before its
 * state is destroyed. UCS_ERR_NO_MEMORY. */
ucs_status_t uct_check_iface_create(const uct_check_tl_t *tl,
                                    uint64_t cap_flags, uint64_t event_flags,
                                    uct_check_iface_t **check_p);
void uct_check_iface_destroy(uct_check_iface_t *check);

/* State of one domain; `own` NULL: the layer is off. free() releases it. */
ucs_status_t uct_check_md_create(const char *name, const ucx_md_ops_t *own,
                                 uint64_t md_flags, uint64_t mem_types,
                                 uct_check_md_t **check_p);

/* Exchanges a handler of active messages for one that checks where it runs. */
void uct_check_am_handler(uct_check_iface_t *check, uint8_t id,
                          ucx_am_slot_t *slot);

/* Passes the failure of an endpoint, which the plugin reports, to the user's
 * handler. `check` NULL: only that. */
ucs_status_t uct_check_failure(uct_check_iface_t *check,
                               uct_error_handler_t handler, void *arg,
                               uct_ep_h ep, ucs_status_t status);

/* Runs a plugin's callback of progress: callbacks to users may run in it. */
void uct_check_oneshot(ucx_oneshot_cb_t cb, void *arg);

/* Exchanges a plugin's callback of progress for one that marks where it runs;
 * does nothing while the layer is off. UCS_ERR_NO_MEMORY. */
ucs_status_t uct_check_progress_wrap(ucx_progress_cb_t *cb_p, void **arg_p);
/* The wrapped callback has this id; a negative one: it was not added. */
void uct_check_progress_added(uct_worker_h worker, void *arg, int id);
void uct_check_progress_removed(uct_worker_h worker, int id);

#endif
