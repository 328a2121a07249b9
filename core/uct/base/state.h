/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the core stores for memory domains, interfaces and connection managers
 * of plugins: the plugin's objects refer to it by their `host` members. Also
 * the code of a loaded component.
 */
#ifndef UCT_BASE_STATE_H
#define UCT_BASE_STATE_H

#include <pthread.h>
#include <ucs/datastruct/callbackq_compat.h>
#include <ucx/plugin.h>

#include "uct/base/checking.h"
#include "uct/base/component.h"
#include "uct/base/config.h"

/* A transport of a loaded component. */
typedef struct uct_tl {
    ucx_transport_t desc;        /* missing members are set to defaults */
    ucx_iface_ops_t iface_ops;   /* missing slots are set to defaults */
    ucx_ep_ops_t ep_ops;         /* missing slots are set to defaults */
    uct_config_schema_t *config; /* NULL: no variables */
    uct_check_tl_t *check;       /* NULL: plugins are not checked */
} uct_tl_t;

/* The code of a component, created when it is loaded. */
typedef struct uct_code {
    const ucx_component_t *desc; /* the plugin's descriptor */
    ucx_component_t full;        /* copy, with defaults for missing members */
    ucx_md_ops_t md_ops;
    ucx_md_ops_t *check_md_ops; /* original slots; NULL: the plugin is not
                                 * checked */
    int has_cm;
    ucx_cm_ops_t cm_ops;
    ucx_ep_ops_t cm_ep_ops;
    uct_check_tl_t *cm_check;       /* NULL: plugins are not checked */
    uct_config_schema_t *md_config; /* NULL: no variables */
    uct_config_schema_t *cm_config;
    uct_tl_t *tls;
    unsigned num_tls;
} uct_code_t;

/* Completes the tables of a descriptor. A transport without a required slot is
 * skipped with a log message. */
ucs_status_t uct_code_create(const ucx_component_t *desc, uct_code_t **code_p);
void uct_code_destroy(uct_code_t *code);

/* Returns the transport with this name, or NULL. */
const uct_tl_t *uct_code_tl(const uct_code_t *code, const char *name);

/* Returns the declaration of the transport in the manifest. */
const uct_tl_decl_t *uct_tl_declared(uct_md_h md, const uct_tl_t *tl);

/* Returns UCS_ERR_NO_DEVICE if the domain has no such device for the
 * transport. */
ucs_status_t uct_tl_check_device(uct_md_h md, const uct_tl_t *tl,
                                 const char *dev_name);

/* Returns the code, which is loaded if necessary. On failure returns NULL and
 * sets *status_p. */
const uct_code_t *uct_component_code(uct_component_h component,
                                     ucs_status_t *status_p);

/* State of a memory domain; uct_md.host points to it */
typedef struct uct_md_state {
    uct_check_host_t check; /* first member: the checking layer accesses it */
    uct_component_h component;
    const uct_code_t *code;
    ucx_md_attr_t attr;
    pthread_mutex_t lock;              /* protects the members below */
    uct_tl_resource_desc_t *resources; /* As the last call of
                                        * uct_md_query_tl_resources() listed
                                        * them */
    unsigned num_resources;
} uct_md_state_t;

/* Maximum length of each operation; SIZE_MAX for an unsupported one, which the
 * transport's function rejects. */
typedef struct uct_iface_limits {
    size_t am_short;
    size_t am_zcopy;
    size_t am_hdr;
    size_t am_iov;
    size_t put_short;
    size_t put_zcopy;
    size_t put_iov;
    size_t get_short;
    size_t get_bcopy;
    size_t get_zcopy;
    size_t get_iov;
} uct_iface_limits_t;

/* State of an interface; uct_iface.host points to it */
typedef struct uct_iface_state {
    uct_check_host_t check; /* first member: the checking layer accesses it */
    uct_iface_limits_t limits;
    const uct_tl_t *tl;
    uct_error_handler_t err_handler;
    void *err_handler_arg;
    uct_async_event_cb_t async_event_cb;
    void *async_event_arg;
    unsigned progress_flags; /* enabled UCT_PROGRESS_* */
    int progress_safe;       /* progress_id is from
                              * ucs_callbackq_add_safe */
    int progress_id;
    unsigned num_eps;
    ucx_iface_attr_t attr;
} uct_iface_state_t;

_Static_assert((offsetof(uct_md_state_t, check) == 0) &&
                   (offsetof(uct_iface_state_t, check) == 0),
               "the checking layer finds its state behind host pointers");

/* State of a connection manager; uct_cm.host points to it */
typedef struct uct_cm_state {
    uct_check_host_t check; /* first member: the checking layer accesses it */
    uct_component_h component;
} uct_cm_state_t;

static inline uct_md_state_t *uct_md_state(uct_md_h md)
{
    return (uct_md_state_t *)md->host;
}

static inline uct_iface_state_t *uct_iface_state(uct_iface_h iface)
{
    return (uct_iface_state_t *)iface->host;
}

/* Sets the handler of the active message id to one that drops messages. */
void uct_iface_am_reset(uct_iface_h iface, uint8_t id);

/* The services that plugins receive. */
extern const ucx_host_t uct_host;

#endif
