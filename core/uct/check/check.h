/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checking layer: a library that the core loads only if UCX_PLUGIN_CHECK is
 * set. It reports plugins that break the numbered rules of sdk/ABI.md. The core
 * calls it through the table below. When a component is loaded, the layer
 * replaces slots of the plugin by its own functions; these call the plugin's
 * slots and check arguments and results. Without the variable, no slot is
 * replaced, so that the message path is not slower.
 */
#ifndef UCT_CHECK_H
#define UCT_CHECK_H

#include <ucx/plugin.h>

typedef struct uct_check_tl uct_check_tl_t;
typedef struct uct_check_iface uct_check_iface_t;
typedef struct uct_check_md uct_check_md_t;

/* The state of this layer for an object. It is the first member of the core's
 * structures to which uct_iface.host, uct_md.host and uct_cm.host point; this
 * layer does not know their other members. Both pointers are NULL if plugins
 * are not checked. */
typedef struct uct_check_host {
    uct_check_iface_t *iface; /* of an interface or a connection manager */
    uct_check_md_t *md;       /* of a memory domain */
} uct_check_host_t;

/* The table through which the core calls the layer. */
typedef struct uct_check_layer {
    size_t size; /* bytes of this table; another size means that library and
                  * core are of different versions */

    /* Called once, before all others. `abort_at_finding`: abort() after the
     * report of a broken rule (a finding). */
    void (*start)(int abort_at_finding);

    /* Replaces the slots of a transport that the plugin implements, which are
     * those that differ from the defaults, by checking functions. *check_p
     * receives an object with the original slots. `name`: of the transport, for
     * reports; it must stay valid. May return UCS_ERR_NO_MEMORY. */
    ucs_status_t (*tl_create)(const char *name, ucx_iface_ops_t *iface_ops,
                              const ucx_iface_ops_t *iface_defaults,
                              ucx_ep_ops_t *ep_ops,
                              const ucx_ep_ops_t *ep_defaults,
                              uct_check_tl_t **check_p);

    /* As tl_create, for the slots of connection managers and of their
     * endpoints. The state of each manager is created by iface_create. */
    ucs_status_t (*cm_create)(const char *name, ucx_cm_ops_t *cm_ops,
                              const ucx_cm_ops_t *cm_defaults,
                              ucx_ep_ops_t *ep_ops,
                              const ucx_ep_ops_t *ep_defaults,
                              uct_check_tl_t **check_p);

    /* Releases what tl_create or cm_create returned; NULL is allowed. */
    void (*tl_destroy)(uct_check_tl_t *check);

    /* As tl_create, for the slots of memory domains. *own_p receives a table
     * with the original slots; release it by free(). */
    ucs_status_t (*md_ops)(ucx_md_ops_t *md_ops, const ucx_md_ops_t *defaults,
                           ucx_md_ops_t **own_p);

    /* Creates the state of one interface or connection manager. `tl`: from
     * tl_create or cm_create. The flags are those that the manifest declares; 0
     * for a connection manager. The object must be closed before its state is
     * destroyed. May return UCS_ERR_NO_MEMORY. */
    ucs_status_t (*iface_create)(const uct_check_tl_t *tl, uint64_t cap_flags,
                                 uint64_t event_flags,
                                 uct_check_iface_t **check_p);
    void (*iface_destroy)(uct_check_iface_t *check);

    /* Creates the state of one memory domain. `own`: from md_ops. md_flags and
     * mem_types: as the manifest declares. Release the state by free(). */
    ucs_status_t (*md_create)(const char *name, const ucx_md_ops_t *own,
                              uint64_t md_flags, uint64_t mem_types,
                              uct_check_md_t **check_p);

    /* These four check what slots of components and transports have returned.
     * `who`: name of the component or transport. `declared`: device_class in
     * the manifest. `host`: the member of that name in the object that the slot
     * has opened; it must be equal to `expected`. */
    void (*listed_mds)(const char *who, ucs_status_t status,
                       const uct_md_resource_desc_t *mds, unsigned num_mds);
    void (*listed_devices)(const char *who, uct_device_type_t declared,
                           ucs_status_t status,
                           const ucx_device_desc_t *devices,
                           unsigned num_devices);
    void (*opened)(const char *who, const char *slot, ucs_status_t status,
                   const void *host, const void *expected);
    void (*returned)(const char *who, const char *slot, ucs_status_t status);

    /* Replaces the user's handler of active messages in *slot by one that calls
     * the user's. Unless that has UCT_CB_FLAG_ASYNC, it first checks that the
     * plugin calls it inside one of its functions. */
    void (*am_handler)(uct_check_iface_t *check, uint8_t id,
                       ucx_am_slot_t *slot);

    /* Called when the plugin reports the failure of an endpoint: checks the
     * report, and calls the user's error handler. */
    ucs_status_t (*failure)(uct_check_iface_t *check,
                            uct_error_handler_t handler, void *arg, uct_ep_h ep,
                            ucs_status_t status);

    /* Runs a one-shot callback of a plugin, and records that it runs: inside
     * it, the plugin may call callbacks of the user. */
    void (*oneshot)(ucx_oneshot_cb_t cb, void *arg);

    /* Replaces a progress callback of a plugin, and its argument, by a callback
     * that does the same (a wrapper). May return UCS_ERR_NO_MEMORY. */
    ucs_status_t (*progress_wrap)(ucx_progress_cb_t *cb_p, void **arg_p);

    /* Called when a wrapped callback was added to the worker or removed from
     * it. `arg`: argument of the wrapper. `id`: of the callback in the worker;
     * a negative id means that it could not be added, and frees the wrapper. */
    void (*progress_added)(uct_worker_h worker, void *arg, int id);
    void (*progress_removed)(uct_worker_h worker, int id);
} uct_check_layer_t;

/* The only symbol that the library exports. */
extern const uct_check_layer_t ucx_check_layer;

#endif
