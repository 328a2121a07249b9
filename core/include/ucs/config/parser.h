/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of options of programs: structures that are filled in from defaults,
 * environment and ucx.conf.
 *
 *   typedef struct { unsigned depth; char *name; } my_opts_t;
 *   static ucs_config_field_t my_table[] = {
 *       {"DEPTH", "8", "How deep", offsetof(my_opts_t, depth),
 *        UCS_CONFIG_TYPE_UINT},
 *       {"NAME", "x", "Its name", offsetof(my_opts_t, name),
 *        UCS_CONFIG_TYPE_STRING},
 *       {NULL}
 *   };
 *   UCS_CONFIG_DECLARE_TABLE(my_table, "My", "MY_", my_opts_t)
 *
 *   ucs_config_parser_fill_opts(&opts, UCS_CONFIG_GET_TABLE(my_table), "APP_",
 *                               0);
 *
 * reads APP_MY_DEPTH, then APP_DEPTH.
 */
#ifndef UCS_CONFIG_PARSER_H
#define UCS_CONFIG_PARSER_H

#include <stdio.h>
#include <ucs/config/parser_func.h>
#include <ucs/config/types.h>
#include <ucs/datastruct/list.h>
#include <ucs/sys/preprocessor.h>
#include <ucs/sys/string.h>

BEGIN_C_DECLS

/** @addtogroup UCS_CONFIG
 *  @{ */

/** A growing string; opaque. */
typedef struct ucs_string_buffer ucs_string_buffer_t;

/** How values of a type are handled: see parser_func.h. */
typedef struct ucs_config_parser {
    /** Reads a text, like ucs_config_sscanf_int(). */
    int (*read)(const char *buf, void *dest, const void *arg);
    /** Writes a text, like ucs_config_sprintf_int(). */
    int (*write)(char *buf, size_t max, const void *src, const void *arg);
    /** Copies a value, like ucs_config_clone_int(). */
    ucs_status_t (*clone)(const void *src, void *dest, const void *arg);
    /** Releases what a value owns. */
    void (*release)(void *ptr, const void *arg);
    /** Writes which texts are valid. */
    void (*help)(char *buf, size_t max, const void *arg);
    /** Adds to the documentation of an option; may be NULL. */
    void (*doc)(ucs_string_buffer_t *strb, const void *arg);
    const void *arg; /**< last argument of all of them */
} ucs_config_parser_t;

/** Elements of an array. */
typedef struct ucs_config_array {
    size_t elem_size;           /**< bytes of an element */
    ucs_config_parser_t parser; /**< of an element */
} ucs_config_array_t;

/** One option. A table of them ends with a NULL name. */
typedef struct ucs_config_field {
    const char *name;      /**< without prefixes. Of a table: put before the
                              names of its options, may be "" */
    const char *dfl_value; /**< default, as text */
    const char *doc;       /**< help, one or more lines; NULL: hidden */
    size_t offset;         /**< in the structure of options */
    ucs_config_parser_t parser; /**< of its type, an UCS_CONFIG_TYPE_xx */
} ucs_config_field_t;

/** A table of options, in a list of them. */
typedef struct ucs_config_global_list_entry {
    const char *name;          /**< title */
    const char *prefix;        /**< of the names of its options; NULL: none */
    ucs_config_field_t *table; /**< fields */
    size_t size;               /**< of the structure of options */
    ucs_list_link_t list;      /**< link in the list of tables */
    uint8_t flags;             /**< 0 */
} ucs_config_global_list_entry_t;

/** Elements of UCS_CONFIG_TYPE_STRING_ARRAY. */
extern ucs_config_array_t ucs_config_array_string;

#define UCS_CONFIG_PARSER_(_text, _clone, _release, _help, _arg) \
    { \
        ucs_config_sscanf_##_text, ucs_config_sprintf_##_text, \
            ucs_config_clone_##_clone, ucs_config_release_##_release, \
            ucs_config_help_##_help, ucs_config_doc_nop, _arg \
    }

/** The type of an option, last member of its ucs_config_field_t. */
#define UCS_CONFIG_TYPE_STRING \
    UCS_CONFIG_PARSER_(string, string, string, generic, "any text")
#define UCS_CONFIG_TYPE_INT \
    UCS_CONFIG_PARSER_(int, int, nop, generic, "a whole number")
#define UCS_CONFIG_TYPE_UINT \
    UCS_CONFIG_PARSER_(uint, uint, nop, generic, "a whole number, not negative")
#define UCS_CONFIG_TYPE_ULONG \
    UCS_CONFIG_PARSER_(ulong, ulong, nop, generic, \
                       "a whole number, not negative")
#define UCS_CONFIG_TYPE_ULUNITS \
    UCS_CONFIG_PARSER_(ulunits, ulong, nop, generic, \
                       "a whole number, not negative, \"inf\" or \"auto\"")
#define UCS_CONFIG_TYPE_DOUBLE \
    UCS_CONFIG_PARSER_(double, double, nop, generic, "a number")
#define UCS_CONFIG_TYPE_BOOL \
    UCS_CONFIG_PARSER_(bool, int, nop, generic, "y or n")
#define UCS_CONFIG_TYPE_TERNARY \
    UCS_CONFIG_PARSER_(ternary, int, nop, generic, "y, n or try")
#define UCS_CONFIG_TYPE_TERNARY_AUTO \
    UCS_CONFIG_PARSER_(ternary_auto, int, nop, generic, "y, n, try or auto")
#define UCS_CONFIG_TYPE_ON_OFF_AUTO \
    UCS_CONFIG_PARSER_(on_off_auto, int, nop, generic, "on, off or auto")
/* _names: const char *[], ended by NULL */
#define UCS_CONFIG_TYPE_ENUM(_names) \
    UCS_CONFIG_PARSER_(enum, uint, nop, enum, _names)
#define UCS_CONFIG_TYPE_BITMAP(_names) \
    UCS_CONFIG_PARSER_(bitmap, uint, nop, bitmap, _names)
#define UCS_CONFIG_TYPE_MEMUNITS \
    UCS_CONFIG_PARSER_( \
        memunits, ulong, nop, generic, \
        "a size such as 4096, 4k, 1m or 2g, \"inf\" or \"auto\"")
#define UCS_CONFIG_TYPE_TIME \
    UCS_CONFIG_PARSER_(time, double, nop, generic, \
                       "a time such as 10us, 5ms, 1.5s or 1m")
#define UCS_CONFIG_TYPE_BW \
    UCS_CONFIG_PARSER_(bw, double, nop, generic, \
                       "a bandwidth such as 10GBs or 100Gbps")
/* The level of an ucs_log_component_config_t. */
#define UCS_CONFIG_TYPE_LOG_COMP \
    UCS_CONFIG_PARSER_(enum, log_comp, nop, enum, ucs_log_level_names)
#define UCS_CONFIG_TYPE_ALLOW_LIST \
    UCS_CONFIG_PARSER_(allow_list, allow_list, allow_list, allow_list, \
                       &ucs_config_array_string)
/* _array: defined by UCS_CONFIG_DEFINE_ARRAY */
#define UCS_CONFIG_TYPE_ARRAY(_array) \
    UCS_CONFIG_PARSER_(array, array, array, array, &ucs_config_array_##_array)
#define UCS_CONFIG_TYPE_STRING_ARRAY UCS_CONFIG_TYPE_ARRAY(string)
/* The fields of another table, for a structure in this one. */
#define UCS_CONFIG_TYPE_TABLE(_table) \
    UCS_CONFIG_PARSER_(table, table, table, table, _table)

/* Defines the elements of an array: their size, and an UCS_CONFIG_TYPE_*. */
#define UCS_CONFIG_DEFINE_ARRAY(_name, _elem_size, ...) \
    static ucs_config_array_t ucs_config_array_##_name = {_elem_size, \
                                                          __VA_ARGS__}

/* Defines an entry for a table, and names it. */
#define UCS_CONFIG_DECLARE_TABLE(_table, _name, _prefix, _type) \
    static ucs_config_global_list_entry_t _table##_config_entry = { \
        _name, _prefix, _table, sizeof(_type), {NULL, NULL}, 0};
#define UCS_CONFIG_GET_TABLE(_table) &_table##_config_entry

/* Keeps an entry in a list while its library is loaded. */
#define UCS_CONFIG_REGISTER_TABLE_ENTRY(_entry, _list) \
    UCS_STATIC_INIT \
    { \
        ucs_list_add_tail(_list, &(_entry)->list); \
    } \
    UCS_STATIC_CLEANUP \
    { \
        ucs_list_del(&(_entry)->list); \
    }

/* Both at once. */
#define UCS_CONFIG_REGISTER_TABLE(_table, _name, _prefix, _type, _list) \
    UCS_CONFIG_DECLARE_TABLE(_table, _name, _prefix, _type) \
    UCS_CONFIG_REGISTER_TABLE_ENTRY(UCS_CONFIG_GET_TABLE(_table), _list)

/**
 * Fills in a structure, which may hold anything before. An option NAME is read
 * from the first variable that is set, in the environment and then in ucx.conf:
 * with env_prefix "APP_UCC_" and the table's prefix "TL_" APP_UCC_TL_NAME,
 * UCC_TL_NAME, APP_UCC_NAME, UCC_NAME; else it has its default.
 *
 * @param [out] opts           Structure; ucs_config_parser_release_opts() ends
 *                             it.
 * @param [in]  entry          Table.
 * @param [in]  env_prefix     Prefix of variables, ending with "_".
 * @param [in]  ignore_errors  A variable with a bad text does not fail the call;
 *                             the option has its default.
 *
 * @return UCS_ERR_INVALID_PARAM for a bad text, after a message; then opts owns
 *         nothing.
 */
ucs_status_t ucs_config_parser_fill_opts(void *opts,
                                         ucs_config_global_list_entry_t *entry,
                                         const char *env_prefix,
                                         int ignore_errors);

/**
 * Copies a structure to one that holds nothing yet. Members that are no options
 * are not changed.
 *
 * @return UCS_OK; UCS_ERR_NO_MEMORY, and @a dst owns nothing
 */
ucs_status_t ucs_config_parser_clone_opts(const void *src, void *dst,
                                          ucs_config_field_t *fields);

/** Releases what a structure owns, not the structure. */
void ucs_config_parser_release_opts(void *opts, ucs_config_field_t *fields);

/**
 * Sets one option.
 *
 * @param [in] prefix  Prefix that the name may begin with; NULL: none.
 *
 * @return UCS_ERR_NO_ELEM if the table has no such option;
 *         UCS_ERR_INVALID_PARAM, after a message, for a bad text: the old value
 *         stays.
 */
ucs_status_t ucs_config_parser_set_value(void *opts, ucs_config_field_t *fields,
                                         const char *prefix, const char *name,
                                         const char *value);

/**
 * Prints a structure as lines NAME=VALUE.
 *
 * @param [in] title         For UCS_CONFIG_PRINT_HEADER.
 * @param [in] table_prefix  Of the table; NULL: none.
 * @param [in] prefix        Of all variables, before it.
 * @param [in] flags         UCS_CONFIG_PRINT_COMMENT_DEFAULT compares texts: a
 *                           default that is written in another way is no comment.
 * @param [in] filter        Only names with this text in them; NULL: all.
 */
void ucs_config_parser_print_opts(FILE *stream, const char *title,
                                  const void *opts, ucs_config_field_t *fields,
                                  const char *table_prefix, const char *prefix,
                                  ucs_config_print_flags_t flags,
                                  const char *filter);

/** @} */

END_C_DECLS

#endif
