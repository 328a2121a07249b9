/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configuration objects, which uct_*_config_read returns and users pass back:
 * a header, then the plugin's options structure. ucs/config reads and parses
 * the variables; config_schema.c converts the plugin's table to one of
 * ucs/config.
 */
#include "uct/base/config.h"

#include <stdlib.h>
#include <uct/api/uct.h>

#include "ucs/config/config.h"
#include "uct/base/config_schema.h"

#define UCT_CONFIG_MAGIC 0x7563746366673031ull

typedef struct uct_config_object {
    uint64_t magic; /* UCT_CONFIG_MAGIC, to detect pointers to other objects */
    const uct_config_schema_t *schema; /* NULL: no variables */
    /* options structure, aligned for any type */
    max_align_t options[];
} uct_config_object_t;

/* Returns the object at `config`, or NULL if that is not a configuration
 * object. */
static const uct_config_object_t *uct_config_object(const void *config)
{
    const uct_config_object_t *object = config;

    return ((object != NULL) && (object->magic == UCT_CONFIG_MAGIC)) ? object :
                                                                       NULL;
}

ucs_status_t uct_config_create(const uct_config_schema_t *schema,
                               const char *env_prefix, const char *filename,
                               void **config_p)
{
    const ucs_config_source_t source = {
        .app_prefix = env_prefix,
        .filename   = filename,
    };
    size_t size = (schema == NULL) ? 0 : schema->table.size;
    uct_config_object_t *object;
    ucs_status_t status;

    object = calloc(1, sizeof(*object) + size);
    if (object == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    object->magic  = UCT_CONFIG_MAGIC;
    object->schema = schema;
    if (schema != NULL) {
        status = ucs_config_read(&schema->table, &source, object->options);
        if (status != UCS_OK) {
            free(object);
            return status;
        }
    }

    *config_p = object;
    return UCS_OK;
}

ucs_status_t uct_config_options(const uct_config_schema_t *schema,
                                const void *config, void **own_p,
                                const void **options_p)
{
    const uct_config_object_t *object;
    ucs_status_t status;

    *own_p = NULL;
    if (config == NULL) {
        status = uct_config_create(schema, NULL, NULL, own_p);
        if (status != UCS_OK) {
            return status;
        }
        config = *own_p;
    }

    object = uct_config_object(config);
    if ((object == NULL) || (object->schema != schema)) {
        ucs_error("the configuration object was read for another component or "
                  "transport; read it for the one that is opened");
        return UCS_ERR_INVALID_PARAM;
    }

    *options_p = (schema == NULL) ? NULL : object->options;
    return UCS_OK;
}

void uct_config_release(void *config)
{
    uct_config_object_t *object = (uct_config_object_t *)uct_config_object(
        config);

    if (object == NULL) {
        return;
    }

    if (object->schema != NULL) {
        ucs_config_release(&object->schema->table, object->options);
    }
    object->magic = 0;
    free(object);
}

ucs_status_t uct_config_get(void *config, const char *name, char *value,
                            size_t max)
{
    const uct_config_object_t *object = uct_config_object(config);
    ucs_status_t status;

    if ((object == NULL) || (name == NULL) || (value == NULL) || (max == 0)) {
        return UCS_ERR_INVALID_PARAM;
    }

    if (object->schema == NULL) {
        return UCS_ERR_NO_ELEM;
    }

    status = ucs_config_get(&object->schema->table, object->options, name,
                            value, max);
    /* The UCT API defines no error for a buffer that is too small. The user
     * gets the truncated text. */
    return (status == UCS_ERR_BUFFER_TOO_SMALL) ? UCS_OK : status;
}

ucs_status_t uct_config_modify(void *config, const char *name,
                               const char *value)
{
    uct_config_object_t *object = (uct_config_object_t *)uct_config_object(
        config);

    if ((object == NULL) || (name == NULL) || (value == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    if (object->schema == NULL) {
        return UCS_ERR_NO_ELEM;
    }

    return ucs_config_set(&object->schema->table, object->options, name, value);
}
