/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the core stores for memory domains, interfaces and connection managers
 * of plugins. The objects are allocated by the plugin; their `host` members
 * point to the structures here. Also the code of a loaded component.
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

/* The code of a component, created when it is loaded. In the tables of
 * operations (ops), missing slots (function pointers) are set to defaults. */
typedef struct uct_code {
    const ucx_component_t *desc; /* the plugin's descriptor, passed to its
                                  * slots */
    ucx_component_t full;        /* copy; members that the plugin does not have
                                  * are zero */
    ucx_md_ops_t md_ops;         /* slots of memory domains */
    ucx_md_ops_t *check_md_ops;  /* the slots that the checking layer has
                                  * replaced in md_ops; NULL: plugins are not
                                  * checked */
    int has_cm;                  /* the component has a connection manager; the
                                  * next three members are valid */
    ucx_cm_ops_t cm_ops;         /* slots of connection managers */
    ucx_ep_ops_t cm_ep_ops;      /* slots of their endpoints */
    uct_check_tl_t *cm_check;    /* state of the checking layer for cm_ops and
                                  * cm_ep_ops; NULL: plugins are not checked */
    uct_config_schema_t *md_config; /* variables of memory domains; NULL:
                                     * none */
    uct_config_schema_t *cm_config; /* variables of connection managers; NULL:
                                     * none */
    uct_tl_t *tls;                  /* the valid transports */
    unsigned num_tls;               /* length of that array */
} uct_code_t;

/* Creates the code object for a plugin's descriptor. A transport that is
 * invalid, for example without a required slot, is skipped with a warning. */
ucs_status_t uct_code_create(const ucx_component_t *desc, uct_code_t **code_p);
void uct_code_destroy(uct_code_t *code);

/* Returns the transport with this name, or NULL. */
const uct_tl_t *uct_code_tl(const uct_code_t *code, const char *name);

/* Returns what the manifest declares of the transport; a declaration of zeros
 * if the manifest does not contain it. */
const uct_tl_decl_t *uct_tl_declared(uct_md_h md, const uct_tl_t *tl);

/* Returns UCS_OK if the plugin lists the device `dev_name` for this transport
 * and domain, UCS_ERR_NO_DEVICE if it does not. */
ucs_status_t uct_tl_check_device(uct_md_h md, const uct_tl_t *tl,
                                 const char *dev_name);

/* Returns the code of a component, which is loaded if necessary. Returns NULL
 * on failure. *status_p receives the status. */
const uct_code_t *uct_component_code(uct_component_h component,
                                     ucs_status_t *status_p);

/* State of a memory domain; uct_md.host points to it. */
typedef struct uct_md_state {
    uct_check_host_t check; /* must be first: the checking layer accesses it
                             * through uct_md.host */
    uct_component_h component;
    const uct_code_t *code;            /* of that component */
    ucx_md_attr_t attr;                /* as queried when the domain was
                                        * opened */
    pthread_mutex_t lock;              /* protects the members below */
    uct_tl_resource_desc_t *resources; /* result of the last call of
                                        * uct_md_query_tl_resources(), a copy;
                                        * NULL: none yet */
    unsigned num_resources;            /* length of that array */
} uct_md_state_t;

/* Limits of an interface for each operation: lengths in bytes, and numbers of
 * entries for *_iov. SIZE_MAX for an operation that the interface does not
 * support: then the transport's function returns the error. */
typedef struct uct_iface_limits {
    size_t am_short; /* including the header */
    size_t am_zcopy; /* including the header */
    size_t am_hdr;   /* header of am_zcopy */
    size_t am_iov;   /* entries of am_zcopy and am_short_iov */
    size_t put_short;
    size_t put_zcopy;
    size_t put_iov; /* entries of put_zcopy */
    size_t get_short;
    size_t get_bcopy;
    size_t get_zcopy;
    size_t get_iov; /* entries of get_zcopy */
} uct_iface_limits_t;

/* State of an interface; uct_iface.host points to it. */
typedef struct uct_iface_state {
    uct_check_host_t check; /* must be first: the checking layer accesses it
                             * through uct_iface.host */
    uct_iface_limits_t limits;
    const uct_tl_t *tl;
    uct_error_handler_t err_handler; /* the user's, for failed endpoints; NULL:
                                      * none */
    void *err_handler_arg;
    uct_async_event_cb_t async_event_cb; /* the user's, for a wake-up without a
                                          * descriptor; NULL: none */
    void *async_event_arg;
    unsigned progress_flags; /* enabled kinds of progress, UCT_PROGRESS_*; used
                              * by the default slots only */
    int progress_safe;       /* progress_id is from ucs_callbackq_add_safe() */
    int progress_id;         /* of the progress callback in the worker;
                              * UCS_CALLBACKQ_ID_NULL: disabled, or the plugin
                              * has its own progress_enable slot */
    unsigned num_eps;        /* number of endpoints */
    ucx_iface_attr_t attr;   /* as queried when the interface was opened */
} uct_iface_state_t;

_Static_assert((offsetof(uct_md_state_t, check) == 0) &&
                   (offsetof(uct_iface_state_t, check) == 0),
               "the checking layer finds its state behind host pointers");

/* State of a connection manager; uct_cm.host points to it. */
typedef struct uct_cm_state {
    uct_check_host_t check; /* must be first: the checking layer accesses it
                             * through uct_cm.host */
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

/* Sets the handler of the active message id to a function that drops the
 * messages. */
void uct_iface_am_reset(uct_iface_h iface, uint8_t id);

/* The services that plugins receive. */
extern const ucx_host_t uct_host;

#endif
