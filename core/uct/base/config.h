/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plugins' variables as tables in the registry of the process, and the objects
 * that uct_*_config_read returns to users.
 */
#ifndef UCT_BASE_CONFIG_H
#define UCT_BASE_CONFIG_H

#include <ucx/config.h>
#include <ucs/type/status.h>

/* A plugin's table after translation and registration. */
typedef struct uct_config_schema uct_config_schema_t;

/*
 * Translates `table`, which may be from an older or newer ABI version, and
 * registers its variables. UCS_ERR_INVALID_PARAM, with a log message, for an
 * invalid table. `title` is used in listings; it is copied. `transport`: the
 * name of the transport, or NULL; the variables may also be set with this name
 * as their prefix (UCX_RC_VERBS_TIMEOUT for UCX_RC_TIMEOUT of rc_verbs).
 */
ucs_status_t uct_config_schema_create(const char *title, const char *transport,
                                      const ucx_config_table_t *table,
                                      uct_config_schema_t **schema_p);
void uct_config_schema_destroy(uct_config_schema_t *schema);

/* Creates a configuration object. If `schema` is NULL, the object has no
 * variables. */
ucs_status_t uct_config_create(const uct_config_schema_t *schema,
                               const char *env_prefix, const char *filename,
                               void **config_p);

/*
 * Returns the options in a caller's configuration object, for a plugin with
 * this schema. If `config` is NULL, creates an object and stores it in *own_p;
 * the caller releases that object. UCS_ERR_INVALID_PARAM if the object was
 * created with another schema.
 */
ucs_status_t uct_config_options(const uct_config_schema_t *schema,
                                const void *config, void **own_p,
                                const void **options_p);

#endif
