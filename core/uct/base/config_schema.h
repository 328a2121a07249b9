/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin's table of variables after its translation to ucs/config
 * (config_schema.c); for config*.c only. */
#ifndef UCT_BASE_CONFIG_SCHEMA_H
#define UCT_BASE_CONFIG_SCHEMA_H

#include "ucs/config/config.h"
#include "ucs/debug/log.h"
#include "uct/base/config.h"

struct uct_config_schema {
    ucs_config_table_t table;   /* registered; points to the members below */
    char *title;                /* heading in listings */
    char *prefix;               /* of the variables, after UCX_ */
    char *also;                 /* name of the transport as a second prefix
                                 * ("RC_VERBS_"), or NULL */
    const char *prefixes[2];    /* table.fallbacks: `also`, NULL */
    unsigned num_fields;        /* number of variables */
    ucs_config_field_t *fields; /* num_fields fields and a terminator */
    ucs_config_range_t *ranges; /* one for each field; not used by fields
                                 * without a range */
};

#endif
