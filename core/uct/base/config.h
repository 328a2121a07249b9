/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configuration variables of plugins, as tables of ucs/config, and the
 * configuration objects that uct_*_config_read() returns to users.
 */
#ifndef UCT_BASE_CONFIG_H
#define UCT_BASE_CONFIG_H

#include <ucx/config.h>
#include <ucs/type/status.h>

/* A plugin's table after translation and registration. */
typedef struct uct_config_schema uct_config_schema_t;

/*
 * Translates a plugin's table to one of ucs/config, and registers that. `table`
 * may be from an older or newer ABI version. UCS_ERR_INVALID_PARAM, with a log
 * message, for an invalid table. `title` is used in listings; it is copied.
 * `transport`: name of the transport whose variables these are, or NULL. Each
 * variable may also be set with this name as its prefix, for example
 * UCX_RC_VERBS_TIMEOUT instead of UCX_RC_TIMEOUT for the transport rc_verbs.
 */
ucs_status_t uct_config_schema_create(const char *title, const char *transport,
                                      const ucx_config_table_t *table,
                                      uct_config_schema_t **schema_p);
void uct_config_schema_destroy(uct_config_schema_t *schema);

/* Creates a configuration object and reads the variables into it. `env_prefix`
 * and `filename` may be NULL, see ucs_config_source_t. If `schema` is NULL, the
 * object has no variables. The user releases it by uct_config_release(). */
ucs_status_t uct_config_create(const uct_config_schema_t *schema,
                               const char *env_prefix, const char *filename,
                               void **config_p);

/*
 * Returns the options structure in a user's configuration object, in
 * *options_p, to pass it to a plugin with this schema; NULL if `schema` is
 * NULL. If `config` is NULL, creates an object, stores it in *own_p, and
 * returns its options; the caller releases it by uct_config_release().
 * Otherwise *own_p is NULL. UCS_ERR_INVALID_PARAM if the object was created
 * with another schema.
 */
ucs_status_t uct_config_options(const uct_config_schema_t *schema,
                                const void *config, void **own_p,
                                const void **options_p);

#endif
