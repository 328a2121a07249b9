/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checking layer: UCX_PLUGIN_CHECK puts it between the core and the plugins
 * of a program, and it reports violations of the rules of sdk/ABI.md. It is a
 * library of its own, which is loaded only then: the core calls it through the
 * table below. It replaces slots of the completed tables when a component is
 * loaded. Without the variable, the tables of the plugins are not changed, so
 * that the message path is the same as without this layer.
 */
#ifndef UCT_CHECK_H
#define UCT_CHECK_H

#include <ucx/plugin.h>

typedef struct uct_check_tl uct_check_tl_t;
typedef struct uct_check_iface uct_check_iface_t;
typedef struct uct_check_md uct_check_md_t;

/* First member of the structures to which uct_iface.host, uct_md.host and
 * uct_cm.host refer, so that this folder does not depend on the other members
 * of those structures. Both pointers are NULL if plugins are not checked. */
typedef struct uct_check_host {
    uct_check_iface_t *iface;
    uct_check_md_t *md;
} uct_check_host_t;

/* The table through which the core calls the layer. */
typedef struct uct_check_layer {
    size_t size; /* size of this table; must equal the size that the core
                  * expects */

    /* Called first. `abort_at_finding`: each finding ends the program. */
    void (*start)(int abort_at_finding);

    /* Replaces the slots that the plugin implements (all slots that differ from
     * the defaults) by checking functions. *check_p receives the plugin's own
     * slots. `name` must stay valid. May return UCS_ERR_NO_MEMORY. */
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

    /* As tl_create, for the slots of a memory domain. Release *own_p by
     * free(). */
    ucs_status_t (*md_ops)(ucx_md_ops_t *md_ops, const ucx_md_ops_t *defaults,
                           ucx_md_ops_t **own_p);

    /* Creates the state of one interface. The flags are those that the manifest
     * declares. The interface must be closed before its state is destroyed. May
     * return UCS_ERR_NO_MEMORY. */
    ucs_status_t (*iface_create)(const uct_check_tl_t *tl, uint64_t cap_flags,
                                 uint64_t event_flags,
                                 uct_check_iface_t **check_p);
    void (*iface_destroy)(uct_check_iface_t *check);

    /* Creates the state of one domain. Release it by free(). */
    ucs_status_t (*md_create)(const char *name, const ucx_md_ops_t *own,
                              uint64_t md_flags, uint64_t mem_types,
                              uct_check_md_t **check_p);

    /* These check what slots of components and transports have returned.
     * `declared`: the manifest's device_class. `host` is that of the object's
     * head, which must be `expected`. */
    void (*listed_mds)(const char *who, ucs_status_t status,
                       const uct_md_resource_desc_t *mds, unsigned num_mds);
    void (*listed_devices)(const char *who, uct_device_type_t declared,
                           ucs_status_t status,
                           const ucx_device_desc_t *devices,
                           unsigned num_devices);
    void (*opened)(const char *who, const char *slot, ucs_status_t status,
                   const void *host, const void *expected);
    void (*returned)(const char *who, const char *slot, ucs_status_t status);

    /* Replaces a handler of active messages by a handler that checks from where
     * it is called. */
    void (*am_handler)(uct_check_iface_t *check, uint8_t id,
                       ucx_am_slot_t *slot);

    /* Calls the user's error handler when the plugin reports the failure of an
     * endpoint, and checks the report. */
    ucs_status_t (*failure)(uct_check_iface_t *check,
                            uct_error_handler_t handler, void *arg, uct_ep_h ep,
                            ucs_status_t status);

    /* Runs a progress callback of a plugin, in which callbacks to users are
     * allowed. */
    void (*oneshot)(ucx_oneshot_cb_t cb, void *arg);

    /* Replaces a progress callback of a plugin by a callback that records when
     * it runs. May return UCS_ERR_NO_MEMORY. */
    ucs_status_t (*progress_wrap)(ucx_progress_cb_t *cb_p, void **arg_p);
    /* Stores the id of a wrapped callback. If the id is negative, the callback
     * could not be added, and its wrapper is freed. */
    void (*progress_added)(uct_worker_h worker, void *arg, int id);
    void (*progress_removed)(uct_worker_h worker, int id);
} uct_check_layer_t;

/* The only symbol that the library exports. */
extern const uct_check_layer_t ucx_check_layer;

#endif
