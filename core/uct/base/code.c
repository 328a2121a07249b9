/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uct_code_t, the code of a component that the core calls: copies of the
 * plugin's tables in which missing slots have defaults, and its variables as
 * tables of the configuration. Created once, when the component is loaded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/debug/log.h"
#include "uct/base/defaults.h"
#include "uct/base/state.h"
#include "uct/base/tables.h"

/* Translates and registers a plugin's table of variables; *schema_p is NULL if
 * `table` is NULL. `owner` and `what` together are its title in listings.
 * `transport`: name of the transport to which the table belongs, or NULL. */
static ucs_status_t uct_code_config(const char *owner, const char *what,
                                    const char *transport,
                                    const ucx_config_table_t *table,
                                    uct_config_schema_t **schema_p)
{
    char title[96];

    if (table == NULL) {
        *schema_p = NULL;
        return UCS_OK;
    }

    snprintf(title, sizeof(title), "%s %s", owner, what);
    return uct_config_schema_create(title, transport, table, schema_p);
}

static void free_checks(uct_check_tl_t *check)
{
    if (check != NULL) {
        uct_checks->tl_destroy(check);
    }
}

/* Checks a transport and completes its tables. Returns UCS_ERR_UNSUPPORTED,
 * after a warning, if the transport is invalid; the caller then skips it. After
 * any error, `tl` owns nothing. */
static ucs_status_t uct_tl_init(uct_tl_t *tl, const char *component,
                                const ucx_transport_t *desc)
{
    const char *missing;
    ucs_status_t status;

    missing = uct_transport_missing_slot(desc);
    if (missing != NULL) {
        ucs_warn("component %s: transport %s is not used, it has no %s; the "
                 "plugin is faulty, ask its vendor",
                 component,
                 ((desc->size >= offsetof(ucx_transport_t, config)) &&
                  (desc->name != NULL)) ?
                     desc->name :
                     "?",
                 missing);
        return UCS_ERR_UNSUPPORTED;
    }

    if (strlen(desc->name) >= UCT_TL_NAME_MAX) {
        ucs_warn("component %s: transport %s is not used, its name is longer "
                 "than %d letters",
                 component, desc->name, UCT_TL_NAME_MAX - 1);
        return UCS_ERR_UNSUPPORTED;
    }

    uct_transport_desc_complete(&tl->desc, desc);
    uct_iface_ops_complete(&tl->iface_ops, desc->iface_ops);
    uct_ep_ops_complete(&tl->ep_ops, desc->ep_ops);
    if (uct_checks != NULL) {
        status = uct_checks->tl_create(desc->name, &tl->iface_ops,
                                       &uct_default_iface_ops, &tl->ep_ops,
                                       &uct_default_ep_ops, &tl->check);
        if (status != UCS_OK) {
            return status;
        }
    }
    status = uct_code_config(desc->name, "transport", desc->name,
                             tl->desc.config, &tl->config);
    if (status != UCS_OK) {
        free_checks(tl->check);
    }
    return status;
}

static ucs_status_t uct_code_init_tls(uct_code_t *code)
{
    const ucx_component_t *full = &code->full;
    ucs_status_t status;
    unsigned i;

    code->tls = calloc((size_t)full->num_transports + 1, sizeof(*code->tls));
    if (code->tls == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    for (i = 0; i < full->num_transports; ++i) {
        status = uct_tl_init(&code->tls[code->num_tls], full->name,
                             full->transports[i]);
        if (status == UCS_OK) {
            ++code->num_tls;
        } else if (status != UCS_ERR_UNSUPPORTED) {
            return status;
        }
    }

    return UCS_OK;
}

static ucs_status_t uct_code_init_cm(uct_code_t *code)
{
    const ucx_cm_ops_t *given = code->full.cm_ops;

    code->has_cm = 1;
    uct_cm_ops_complete(&code->cm_ops, given);
    uct_ep_ops_complete(&code->cm_ep_ops,
                        UCX_TABLE_HAS(given, ep_ops) ? given->ep_ops : NULL);
    code->cm_ops.ep_ops = &code->cm_ep_ops;
    if (uct_checks == NULL) {
        return UCS_OK;
    }
    return uct_checks->cm_create(code->full.name, &code->cm_ops,
                                 &uct_default_cm_ops, &code->cm_ep_ops,
                                 &uct_default_ep_ops, &code->cm_check);
}

/* Sets all members of `code` except `desc`, which the caller has set. The
 * caller destroys the object after an error. */
static ucs_status_t uct_code_init(uct_code_t *code)
{
    ucs_status_t status = UCS_OK;

    uct_component_desc_complete(&code->full, code->desc);
    uct_md_ops_complete(&code->md_ops, code->full.md_ops);
    if (code->full.cm_ops != NULL) {
        status = uct_code_init_cm(code);
    }
    if ((status == UCS_OK) && (uct_checks != NULL)) {
        status = uct_checks->md_ops(&code->md_ops, &uct_default_md_ops,
                                    &code->check_md_ops);
    }
    if (status == UCS_OK) {
        status = uct_code_config(code->full.name, "memory domain", NULL,
                                 code->full.md_config, &code->md_config);
    }
    if (status == UCS_OK) {
        status = uct_code_config(code->full.name, "connection manager", NULL,
                                 code->full.cm_config, &code->cm_config);
    }
    return (status == UCS_OK) ? uct_code_init_tls(code) : status;
}

ucs_status_t uct_code_create(const ucx_component_t *desc, uct_code_t **code_p)
{
    uct_code_t *code;
    ucs_status_t status;

    if (!UCX_TABLE_HAS(desc, name) || (desc->name == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    uct_checks_load();
    code = calloc(1, sizeof(*code));
    if (code == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    code->desc = desc;
    status     = uct_code_init(code);
    if (status != UCS_OK) {
        uct_code_destroy(code);
        return status;
    }

    *code_p = code;
    return UCS_OK;
}

void uct_code_destroy(uct_code_t *code)
{
    unsigned i;

    for (i = 0; i < code->num_tls; ++i) {
        uct_config_schema_destroy(code->tls[i].config);
        free_checks(code->tls[i].check);
    }
    free(code->tls);
    uct_config_schema_destroy(code->cm_config);
    uct_config_schema_destroy(code->md_config);
    free(code->check_md_ops);
    free_checks(code->cm_check);
    free(code);
}

const uct_tl_t *uct_code_tl(const uct_code_t *code, const char *name)
{
    unsigned i;

    for (i = 0; i < code->num_tls; ++i) {
        if (strcmp(code->tls[i].desc.name, name) == 0) {
            return &code->tls[i];
        }
    }

    return NULL;
}
