/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection managers of a worker in the order of
 * UCX_SOCKADDR_TLS_PRIORITY, each opened at its first use. Every component that
 * declares a connection manager is a candidate, even if UCX_TLS does not list
 * it: UCX_TLS selects transports, and a connection manager is not a transport.
 */
#include "ucp/cm/manager.h"

#include "ucp/cm/cm.h"
#include "ucp/cm/listener.h"
#include "ucs/config/config.h"
#include "ucs/debug/log.h"
#include "uct/base/component.h"

#include <stdlib.h>
#include <string.h>

static int is_listed(const ucp_cm_worker_t *cms, uct_component_h component)
{
    unsigned i;

    for (i = 0; i < cms->num; ++i) {
        if (cms->managers[i].component == component) {
            return 1;
        }
    }
    return 0;
}

/* Reports an entry of UCX_SOCKADDR_TLS_PRIORITY that names no connection
 * manager. An entry similar to a known name is probably a typing error: logged
 * as a warning. Others may name a plugin that is not installed on this machine:
 * logged at level diag. */
static void explain_word(const char *word, const char *const *candidates)
{
    const char *nearest = ucs_config_nearest(word, candidates);

    if (nearest != NULL) {
        ucs_warn("UCX_SOCKADDR_TLS_PRIORITY: no plugin connects by \"%s\"; did "
                 "you mean \"%s\"?",
                 word, nearest);
    } else {
        ucs_diag("UCX_SOCKADDR_TLS_PRIORITY: no plugin connects by \"%s\"",
                 word);
    }
}

/* Adds the managers that an entry of UCX_SOCKADDR_TLS_PRIORITY names. */
static void list_word(ucp_cm_worker_t *cms, const char *word,
                      const uct_component_h *components, unsigned num)
{
    const char *candidates[UCP_CM_MAX + 1] = {NULL};
    unsigned count                         = 0, i;
    int is_known                           = 0;

    for (i = 0; (i < num) && (count < UCP_CM_MAX); ++i) {
        const uct_component_decl_t *decl = uct_component_decl(components[i]);

        if (!(decl->flags & UCT_COMPONENT_FLAG_CM)) {
            continue;
        }
        candidates[count++] = decl->name;
        if ((strcmp(word, "*") != 0) && (strcmp(word, decl->name) != 0)) {
            continue;
        }
        is_known = 1;
        if (!is_listed(cms, components[i])) {
            cms->managers[cms->num++].component = components[i];
        }
    }
    if (!is_known) {
        explain_word(word, candidates);
    }
}

ucs_status_t ucp_cm_worker_get(ucp_worker_h worker, ucp_cm_worker_t **cms_p)
{
    const ucs_config_names_array_t *priority =
        &worker->context->options.sockaddr_tls_priority;
    uct_component_h *components;
    ucp_cm_worker_t *cms;
    ucs_status_t status;
    unsigned num, i;

    if (ucp_worker_cm(worker)->cms != NULL) {
        goto out;
    }

    cms = calloc(1, sizeof(*cms));
    if (cms == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    status = uct_query_components(&components, &num);
    if (status != UCS_OK) {
        free(cms);
        return status;
    }

    ucs_list_head_init(&cms->listeners);
    for (i = 0; i < priority->count; ++i) {
        list_word(cms, priority->names[i], components, num);
    }
    uct_release_component_list(components);
    ucp_worker_cm(worker)->cms = cms;
out:
    if (ucp_worker_cm(worker)->cms->num == 0) {
        ucs_error("no installed plugin that UCX_SOCKADDR_TLS_PRIORITY allows"
                  " connects by socket address: see `ucx-plugins list`");
        return UCS_ERR_UNSUPPORTED;
    }
    *cms_p = ucp_worker_cm(worker)->cms;
    return UCS_OK;
}

static ucs_status_t open_uct(ucp_worker_h worker, ucp_cm_manager_t *manager)
{
    ucp_context_h context = worker->context;
    uct_cm_attr_t attr    = {.field_mask = UCT_CM_ATTR_FIELD_MAX_CONN_PRIV};
    uct_cm_config_t *config;
    ucs_status_t status;

    status = uct_cm_config_read(manager->component, context->app_prefix,
                                context->config_file, &config);
    if (status != UCS_OK) {
        return status;
    }

    ucp_context_apply_overrides(context, config);
    status = uct_cm_open(manager->component, worker->uct, config,
                         &manager->uct);
    uct_config_release(config);
    if (status != UCS_OK) {
        return status;
    }

    status = uct_cm_query(manager->uct, &attr);
    if (status != UCS_OK) {
        uct_cm_close(manager->uct);
        manager->uct = NULL;
        return status;
    }
    manager->max_priv = attr.max_conn_priv;
    return UCS_OK;
}

ucs_status_t ucp_cm_manager_open(ucp_worker_h worker, ucp_cm_manager_t *manager)
{
    if ((manager->uct == NULL) && (manager->status == UCS_OK)) {
        manager->status = open_uct(worker, manager);
        if (manager->status != UCS_OK) {
            ucs_diag("the connection manager of %s cannot be opened: %s",
                     uct_component_decl(manager->component)->name,
                     ucs_status_string(manager->status));
        }
    }
    return manager->status;
}

ucs_status_t ucp_cm_manager_of(ucp_worker_h worker, uct_component_h component,
                               ucp_cm_manager_t **manager_p)
{
    ucp_cm_worker_t *cms;
    ucs_status_t status;
    unsigned i;

    status = ucp_cm_worker_get(worker, &cms);
    if (status != UCS_OK) {
        return status;
    }

    for (i = 0; i < cms->num; ++i) {
        if (cms->managers[i].component == component) {
            *manager_p = &cms->managers[i];
            return ucp_cm_manager_open(worker, *manager_p);
        }
    }
    /* UCX_SOCKADDR_TLS_PRIORITY does not list this component */
    return UCS_ERR_UNSUPPORTED;
}

void ucp_cm_cleanup(ucp_worker_h worker)
{
    ucp_cm_worker_t *cms = ucp_worker_cm(worker)->cms;
    unsigned i;

    if (cms == NULL) {
        return;
    }

    while (!ucs_list_is_empty(&cms->listeners)) {
        ucp_listener_end(ucs_list_head(&cms->listeners, ucp_listener_t, link));
    }
    for (i = 0; i < cms->num; ++i) {
        if (cms->managers[i].uct != NULL) {
            uct_cm_close(cms->managers[i].uct);
        }
    }
    free(cms);
    ucp_worker_cm(worker)->cms = NULL;
}
