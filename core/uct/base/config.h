/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin's variables as tables of the process's registry, and the objects
 * that uct_*_config_read gives to users.
 */
#ifndef UCT_BASE_CONFIG_H
#define UCT_BASE_CONFIG_H

#include <ucx/config.h>
#include <ucs/type/status.h>

/* A plugin's table, translated and registered. */
typedef struct uct_config_schema uct_config_schema_t;

/*
 * Translates `table`, which may have been built with an older or newer ABI,
 * and makes its names known. UCS_ERR_INVALID_PARAM for a table that makes no
 * sense, after a message. `title` is for listings; copied.
 */
ucs_status_t
uct_config_schema_create(const char *title, const ucx_config_table_t *table,
                         uct_config_schema_t **schema_p);
void uct_config_schema_destroy(uct_config_schema_t *schema);

/* Makes a configuration object; `schema` NULL: one without variables. */
ucs_status_t
uct_config_create(const uct_config_schema_t *schema, const char *env_prefix,
                  const char *filename, void **config_p);

/*
 * The options in a configuration object that a caller handed in, for a plugin
 * that has this schema. If `config` is NULL, one is made, put into *own_p and
 * released by the caller. UCS_ERR_INVALID_PARAM: it is an object of another
 * kind.
 */
ucs_status_t
uct_config_options(const uct_config_schema_t *schema, const void *config,
                   void **own_p, const void **options_p);

#endif
