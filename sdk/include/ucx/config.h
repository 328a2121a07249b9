/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a plugin declares its configuration variables.
 *
 * The core reads them (environment, ucx.conf, uct_config_modify), checks type
 * and range, fills the plugin's options structure and passes it when it opens a
 * memory domain, an interface or a connection manager.
 */
#ifndef UCX_CONFIG_H
#define UCX_CONFIG_H

#include <ucx/abi.h>

UCX_BEGIN_DECLS

/** Types of variables; the C type of the options' member is in brackets. */
typedef enum {
    UCX_CONFIG_INT,     /**< [int] */
    UCX_CONFIG_UINT,    /**< [unsigned] also "inf" = UINT_MAX */
    UCX_CONFIG_ULONG,   /**< [unsigned long] */
    UCX_CONFIG_DOUBLE,  /**< [double] */
    UCX_CONFIG_BOOL,    /**< [int] y or n */
    UCX_CONFIG_TERNARY, /**< [int] a ucs_ternary_auto_value_t: y n try auto */
    UCX_CONFIG_ON_OFF_AUTO, /**< [int] a ucs_on_off_auto_value_t */
    UCX_CONFIG_STRING,      /**< [char*] owned by the options */
    UCX_CONFIG_ENUM,        /**< [unsigned] an index into `values` */
    UCX_CONFIG_BITMAP,      /**< [unsigned] bit i: values[i] is given */
    UCX_CONFIG_MEMUNITS,    /**< [size_t] bytes: 4k, 1m; inf = SIZE_MAX, auto =
                             *   SIZE_MAX - 1, both allowed even outside the
                             *   range */
    UCX_CONFIG_TIME,        /**< [double] seconds: 10us, 5ms, 2s, inf;
                                auto is negative */
    UCX_CONFIG_BANDWIDTH,   /**< [double] bytes per second: 100MBps, auto = 0 */
    UCX_CONFIG_STRING_LIST, /**< [ucs_config_names_array_t] words, separated by
                             *   commas */
    UCX_CONFIG_ALLOW_LIST,  /**< [ucs_config_allow_list_t] words, separated by
                             *   commas; after a leading ^, words to exclude */
} ucx_config_type_t;

/** Properties of a variable, as bits. */
typedef enum {
    /** The value names a file or a folder. In a program with more privileges
     *  than its user (AT_SECURE) the core ignores the user's environment for
     *  this variable and warns. Since 1.1. */
    UCX_CONFIG_FLAG_PATH = 1u << 0,
} ucx_config_flags_t;

/** One variable. Readers step through `fields` of the table by its field_size,
 *  so that a newer minor version can append members. */
typedef struct ucx_config_field {
    const char *name; /**< Without UCX_ and without the table's
                       *   prefix */
    ucx_config_type_t type;
    size_t offset;             /**< Offset of the member in the options
                                *   structure */
    const char *dflt;          /**< Default, as a user would write it */
    const char *help;          /**< Purpose, unit and range */
    const char *const *values; /**< Names for ENUM and BITMAP, terminated by
                                *   NULL */
    double min, max;           /**< Range of a number; no range if both are
                                *   equal */
    unsigned flags;            /**< UCX_CONFIG_FLAG_*; since 1.1, 0 in older
                                *   plugins */
} ucx_config_field_t;

/** All variables of a memory domain, a transport or a connection manager. */
struct ucx_config_table {
    size_t size;         /**< sizeof(ucx_config_table_t) */
    const char *prefix;  /**< e.g. "TCP_" for UCX_TCP_* */
    size_t options_size; /**< sizeof the structure of the options */
    size_t field_size;   /**< sizeof(ucx_config_field_t) */
    const ucx_config_field_t *fields;
    unsigned num_fields;
};
typedef struct ucx_config_table ucx_config_table_t;

/** Initializes a table with the fields of an array. */
#define UCX_CONFIG_TABLE(_prefix, _options_type, _fields) \
    { \
        .size = sizeof(ucx_config_table_t), .prefix = (_prefix), \
        .options_size = sizeof(_options_type), \
        .field_size = sizeof(ucx_config_field_t), .fields = (_fields), \
        .num_fields = sizeof(_fields) / sizeof(*(_fields)) \
    }

UCX_END_DECLS

#endif
