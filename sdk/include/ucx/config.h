/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a plugin declares its configuration variables.
 *
 * The core reads them (environment, ucx.conf, uct_config_modify), checks type
 * and range, fills the plugin's options structure and hands that in when it
 * opens a memory domain, an interface or a connection manager.
 */
#ifndef UCX_CONFIG_H
#define UCX_CONFIG_H

#include <ucx/abi.h>

UCX_BEGIN_DECLS

/** What a variable holds; in brackets the C type of the options' member. */
typedef enum {
    UCX_CONFIG_INT,        /**< [int] */
    UCX_CONFIG_UINT,       /**< [unsigned] also "inf" = UINT_MAX */
    UCX_CONFIG_ULONG,      /**< [unsigned long] */
    UCX_CONFIG_DOUBLE,     /**< [double] */
    UCX_CONFIG_BOOL,       /**< [int] y or n */
    UCX_CONFIG_TERNARY,    /**< [int] a ucs_ternary_auto_value_t: y n try auto */
    UCX_CONFIG_ON_OFF_AUTO,/**< [int] a ucs_on_off_auto_value_t */
    UCX_CONFIG_STRING,     /**< [char*] owned by the options */
    UCX_CONFIG_ENUM,       /**< [unsigned] an index into `values` */
    UCX_CONFIG_BITMAP,     /**< [unsigned] bits by index into `values` */
    UCX_CONFIG_MEMUNITS,   /**< [size_t] bytes: 4k, 1m, inf, auto */
    UCX_CONFIG_TIME,       /**< [double] seconds: 10us, 5ms, 2s, inf;
                                auto is negative */
    UCX_CONFIG_BANDWIDTH,  /**< [double] bytes per second: 100MBps, auto = 0 */
    UCX_CONFIG_STRING_LIST,/**< [ucs_config_names_array_t] comma-separated */
    UCX_CONFIG_ALLOW_LIST  /**< [ucs_config_allow_list_t] with a leading ^ */
} ucx_config_type_t;

/** What is special about a variable; bits. */
typedef enum {
    /** The value names a file or a folder. In a program with privileges that its
     *  user lacks (AT_SECURE) the core ignores the user's environment for it and
     *  warns. Since 1.1. */
    UCX_CONFIG_FLAG_PATH = 1u << 0
} ucx_config_flags_t;

/** One variable. Its table says how long it is (field_size), so that a newer
 *  minor can append members. */
typedef struct ucx_config_field {
    const char        *name;    /**< Without UCX_ and without the prefix */
    ucx_config_type_t type;
    size_t            offset;   /**< In the options structure */
    const char        *dflt;    /**< The default, as a user would write it */
    const char        *help;    /**< What it does, its unit, its range */
    const char *const *values;  /**< NULL-ended names for ENUM and BITMAP */
    double            min, max; /**< Range of a number; equal: no range */
    unsigned          flags;    /**< UCX_CONFIG_FLAG_xx; since 1.1, 0 in older
                                     plugins */
} ucx_config_field_t;

/** All variables of a memory domain, a transport or a connection manager. */
struct ucx_config_table {
    size_t                   size;         /**< sizeof(ucx_config_table_t) */
    const char               *prefix;      /**< e.g. "TCP_" for UCX_TCP_* */
    size_t                   options_size; /**< sizeof the options structure */
    size_t                   field_size;   /**< sizeof(ucx_config_field_t) */
    const ucx_config_field_t *fields;
    unsigned                 num_fields;
};
typedef struct ucx_config_table ucx_config_table_t;

UCX_END_DECLS

#endif
