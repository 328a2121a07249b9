/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin's configuration table after its translation (config_schema.c); for
 * config*.c only. */
#ifndef UCT_BASE_CONFIG_SCHEMA_H
#define UCT_BASE_CONFIG_SCHEMA_H

#include "ucs/config/config.h"
#include "ucs/debug/log.h"
#include "uct/base/config.h"

struct uct_config_schema {
    ucs_config_table_t table; /* registered */
    char *title;
    char *prefix;
    char *also;              /* the transport's own prefix, or NULL */
    const char *prefixes[2]; /* `also` and a terminator */
    unsigned num_fields;
    ucs_config_field_t *fields; /* num_fields fields and a terminator */
    ucs_config_range_t *ranges; /* one for each field */
};

#endif
